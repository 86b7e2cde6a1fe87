"""Atomic replacement of a folder of results: a reader sees all files of the previous run, or all files of this one.

A new folder is built beside its final path and then moved there. In an existing folder, new files are built in a hidden
work folder inside it and then moved into place; a journal lists the moves. If the process is killed between two moves,
the next process of this program that reads or writes the folder finishes them. Files that this program did not write
are never replaced, moved or removed.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from ..errors import InputError, SolverError
from ..termination import note_output, on_stop, uninterrupted
from .atomic import (
    CANNOT_WRITE,
    MAX_NAME_BYTES,
    PROBE_BYTES,
    check_free_space,
    longest_temporary_name,
    report_os_errors,
)
from .file_replacement import (
    JOURNAL_FILE,
    NEW_FOLDER,
    find_foreign_files,
    finish_replacement,
    foreign_file_error,
    replace_files,
)
from .lock import LOCK_FILE, Lock, acquire, read_owner
from .manifest import files_written, list_files, manifest_bytes, read_manifest, write_manifest

T = TypeVar("T")
WORK_FOLDER = ".exciting_dance.part"
TIMEOUT, POLL_INTERVAL = 5.0, 0.02
"""[s] Time for which a reader waits for a replacement, which takes milliseconds, and how often it checks."""
MAX_TRIES = 10
FOLDER_EXISTS_ERRORS = (errno.EEXIST, errno.ENOTEMPTY, errno.EACCES, errno.EPERM)
"""Error numbers of a move to a path that already is a folder."""

_reservations: dict[Path, _Reservation] = {}
_guard = threading.RLock()


@contextmanager
def reserve_folder(
    path: str | Path, names: Iterable[str] = (), extra_files: Mapping[str, str] = MappingProxyType({})
) -> Iterator[None]:
    """Reserve a folder for this process until the block ends, so that results of long work can be written.

    Args:
        path: of the folder; need not exist.
        names: of files that will be written there, as far as they are known.
        extra_files: text files, by name, that are written with the results.

    Raises:
        InputError: the folder is not writable, hardly any space is free, another process is writing there, or a file
            that this program did not write has one of the names.
    """
    with ExitStack() as at_a_stop:
        with uninterrupted():
            reservation = _reserve(Path(path))
            at_a_stop.enter_context(on_stop(reservation.release))
        try:
            reservation.check((*names, *extra_files))
            reservation.extra_files = extra_files
            yield
        finally:
            reservation.release()


def check_reserved_names(path: str | Path, names: Iterable[str]) -> None:
    """Check that files of these names can be written into a folder reserved with `claimed`.

    Raises:
        InputError: as `claimed`.
    """
    with _guard:
        reservation = _reservations.get(_resolve_path(Path(path)))
    if reservation is not None:
        reservation.check(tuple(names))


@contextmanager
def write_folder(path: str | Path, *, keep_previous: bool = False) -> Iterator[Path]:
    """A new empty folder to write into; when the block ends without error, its files replace those of the previous run.

    If the block raises, is cancelled or killed, ``path`` is unchanged.

    Args:
        path: of the folder; need not exist.
        keep_previous: keep files of the previous run whose names are not written now.

    Raises:
        InputError: as `reserve_folder`; or writing failed, as on a full disk.
    """
    with ExitStack() as at_a_stop:
        with uninterrupted(), _guard:
            reserved = _reservations.get(_resolve_path(Path(path)))
            reservation = _reserve(Path(path)) if reserved is None or reserved.is_writing else reserved
            reservation.is_writing = True
            if reservation is not reserved:
                at_a_stop.enter_context(on_stop(reservation.release))
        try:
            new = reservation.work_folder / NEW_FOLDER
            with report_os_errors(path):
                new.mkdir(parents=True)
            with report_os_errors(path, error_numbers=CANNOT_WRITE), _rename_errors(Path(path), new):
                yield new
                for name, text in reservation.extra_files.items():
                    (new / name).write_text(text, "utf-8")
            with report_os_errors(path):
                write_manifest(new, read_manifest(reservation.real_path) if keep_previous else None)
                with uninterrupted():
                    reservation.publish(new, keep_previous=keep_previous)
                    note_output(path)
        finally:
            reservation.is_writing = False
            if reservation is not reserved:
                reservation.release()
            elif not (reservation.work_folder / JOURNAL_FILE).exists():
                shutil.rmtree(new, ignore_errors=True)


def read_consistent(folder: str | Path, read: Callable[[], T]) -> T:
    """What ``read`` returns, with all files from one run: it is repeated if the files were replaced meanwhile.

    Raises:
        InputError: the folder is replaced again and again, or an interrupted replacement cannot be finished.
    """
    folder = Path(folder)
    for _ in range(MAX_TRIES):
        finish_interrupted(folder)
        before, failed = manifest_bytes(folder), None
        try:
            value = read()
        except SolverError as error:
            failed = error
        if manifest_bytes(folder) == before and not _pending_journals(folder):
            if failed is not None:
                raise failed
            return value
    raise InputError(folder, "is rewritten again and again", remedy="Wait until the other runs end")


def finish_interrupted(folder: str | Path) -> None:
    """Finish the interrupted replacement of a killed process, here or in a parent folder; wait for a running one.

    Raises:
        InputError: the files cannot be moved, or the other process takes too long.
    """
    until = time.monotonic() + TIMEOUT
    for journal in _pending_journals(Path(folder)):
        work_folder = journal.parent
        while journal.exists():
            with report_os_errors(work_folder.parent):
                lock = _try_lock(work_folder)
                if lock is not None:
                    try:
                        _clean_up(work_folder)
                    finally:
                        _release_lock(work_folder, lock)
            if lock is None and time.monotonic() > until:
                raise _busy_error(Path(folder), work_folder)
            time.sleep(POLL_INTERVAL)


@dataclass(eq=False, slots=True)
class _Reservation:
    """A folder that is reserved for this process's results.

    Attributes:
        path: as the user named it.
        real_path: the same, absolute and without links.
        work_folder: where results are built.
        lock: of the work_folder.
        created: folders that were created for it, innermost first.
        is_writing: a block of `write_folder` is open.
        extra_files: text files, by name, that are written with the results.
    """

    path: Path
    real_path: Path
    work_folder: Path
    lock: Lock
    created: tuple[Path, ...] = ()
    is_writing: bool = False
    extra_files: Mapping[str, str] = field(default_factory=dict)

    def check(self, names: tuple[str, ...]) -> None:
        """Check that files of these names can be written."""
        if foreign := find_foreign_files(self.real_path, names, files_written(self.real_path)):
            raise foreign_file_error(self.path, foreign)
        with report_os_errors(self.path):
            check_free_space(self.work_folder)
            probe = self.work_folder / "probe"
            try:
                probe.write_bytes(bytes(PROBE_BYTES))
            finally:
                probe.unlink(missing_ok=True)
            for name in names:
                with suppress(FileNotFoundError):
                    os.lstat(longest_temporary_name(self.work_folder / NEW_FOLDER / name))

    def publish(self, new: Path, *, keep_previous: bool) -> None:
        """Move the new files into place."""
        if self.work_folder.parent == self.real_path:
            self._replace(self.work_folder, keep_previous=keep_previous)
            return
        try:
            os.rename(new, self.real_path)
        except OSError as error:
            if error.errno not in FOLDER_EXISTS_ERRORS or not self.real_path.is_dir():
                raise
            self._publish_within(new, keep_previous=keep_previous)

    def _publish_within(self, new: Path, *, keep_previous: bool) -> None:
        """As `publish`, if the folder was created meanwhile."""
        work_folder = self.real_path / WORK_FOLDER
        lock = _try_lock(work_folder)
        if lock is None:
            raise _busy_error(self.path, work_folder)
        try:
            shutil.move(new, work_folder / NEW_FOLDER)
            self._replace(work_folder, keep_previous=keep_previous)
        finally:
            _release_lock(work_folder, lock)

    def _replace(self, work_folder: Path, *, keep_previous: bool) -> None:
        names = tuple(list_files(work_folder / NEW_FOLDER))
        if foreign := find_foreign_files(self.real_path, names, files_written(self.real_path)):
            spare = _unused_name(self.real_path)
            shutil.move(work_folder / NEW_FOLDER, spare)
            raise InputError(self.path / foreign[0], f"was created meanwhile and was kept; the results are in {spare}")
        replace_files(self.real_path, work_folder, keep_previous=keep_previous)

    def release(self) -> None:
        """Remove everything but the results, and end the reservation."""
        with _guard:
            _reservations.pop(self.real_path, None)
        if not (self.work_folder / JOURNAL_FILE).exists():
            _clean_up(self.work_folder)
        _release_lock(self.work_folder, self.lock)
        with suppress(OSError):
            for folder in self.created:
                folder.rmdir()


def _reserve(path: Path) -> _Reservation:
    """Reserve a folder; finish or remove what a killed process left in it."""
    with report_os_errors(path), _guard:
        real = _resolve_path(path)
        if real.exists() and not real.is_dir():
            raise InputError(path, "is a file, a folder is needed", remedy="Name another folder")
        if real in _reservations:
            raise InputError(path, "is already being written by this process", remedy="Name another folder")
        created = _make_parents(real.parent)
        try:
            reservation = _lock_folder(path, real, created)
        except BaseException:
            _remove_empty(created)
            raise
        _reservations[real] = reservation
        return reservation


def _lock_folder(path: Path, real: Path, created: tuple[Path, ...]) -> _Reservation:
    for _ in range(MAX_TRIES):
        inside, beside = real / WORK_FOLDER, _sibling_work_folder(real)
        exists = real.is_dir()
        work_folder = inside if exists else beside
        lock = _try_lock(work_folder)
        if lock is None:
            raise _busy_error(path, work_folder)
        if real.is_dir() != exists:  # another process finished or created the folder
            _release_lock(work_folder, lock)
            continue
        try:
            if exists and beside.is_dir():  # of a process that started before the folder existed
                other = _try_lock(beside)
                if other is None:
                    raise _busy_error(path, beside)
                _clean_up(beside)
                _release_lock(beside, other)
            _clean_up(work_folder)
        except BaseException:
            _release_lock(work_folder, lock)
            raise
        return _Reservation(path, real, work_folder, lock, created)
    raise InputError(path, "is repeatedly created and removed by other processes", remedy="Name another folder")


def _try_lock(work_folder: Path) -> Lock | None:
    """Lock a work folder; None while another process holds the lock."""
    words = f"process {os.getpid()} on {socket.gethostname()} since {time.strftime('%H:%M')}"
    for _ in range(MAX_TRIES):
        work_folder.mkdir(exist_ok=True)
        with suppress(FileNotFoundError):  # its owner has just removed it
            return acquire(work_folder / LOCK_FILE, words)
    return None


def _release_lock(work_folder: Path, lock: Lock) -> None:
    lock.release()
    with suppress(OSError):
        work_folder.rmdir()


def _clean_up(work_folder: Path) -> None:
    """Finish an interrupted replacement, and remove what else a killed process left."""
    if (work_folder / JOURNAL_FILE).exists():
        finish_replacement(work_folder.parent, work_folder)
    for left in sorted(work_folder.iterdir()) if work_folder.is_dir() else ():
        if left.is_dir() and not left.is_symlink():
            shutil.rmtree(left, ignore_errors=True)
        elif left.name != LOCK_FILE:
            left.unlink()


def _pending_journals(folder: Path) -> list[Path]:
    """Journals of unfinished replacements, of a folder and its parents."""
    real = _resolve_path(folder)
    places = (place / WORK_FOLDER / JOURNAL_FILE for place in (real, *real.parents))
    return [journal for journal in places if os.path.exists(journal)]


def _busy_error(path: Path, work_folder: Path) -> InputError:
    who = read_owner(work_folder / LOCK_FILE) or "another process"
    return InputError(path, f"is being written by {who}", remedy="Wait until it ends, or name another folder")


def _resolve_path(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _sibling_work_folder(real: Path) -> Path:
    name = os.fsencode(real.name)
    short = real.name if len(name) <= MAX_NAME_BYTES else hashlib.blake2b(name, digest_size=8).hexdigest()
    return real.parent / f".{short}{WORK_FOLDER}"


def _unused_name(real: Path) -> Path:
    """An unused name beside a folder."""
    number = 2
    while os.path.lexists(free := real.with_name(f"{real.name}-{number}")):
        number += 1
    return free


def _make_parents(folder: Path) -> tuple[Path, ...]:
    """Create a folder and its parents; the folders that were created, innermost first."""
    missing = tuple(place for place in (folder, *folder.parents) if not place.exists())
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        _remove_empty(missing)
        raise
    return missing


def _remove_empty(folders: Iterable[Path]) -> None:
    """Remove empty folders, up to the first that is not empty."""
    with suppress(OSError):
        for folder in folders:
            folder.rmdir()


@contextmanager
def _rename_errors(path: Path, new: Path) -> Iterator[None]:
    """Errors about files in the work folder name their final paths."""
    try:
        yield
    except InputError as error:
        if not error.path.is_relative_to(new):
            raise
        there = path / error.path.relative_to(new)
        raise InputError(there, error.problem, place=error.place, remedy=error.remedy) from None
