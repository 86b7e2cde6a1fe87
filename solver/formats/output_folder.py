"""A folder of results is replaced as one: everything of the run before, or everything of this one.

A new folder is built beside its place and moved there. One that exists is built within it, in a hidden workshop, and
its files are put in place by moves that a journal lists: a run that is killed between two moves is finished by whoever
of this program reads or writes the folder next. Files that this program did not write are never replaced, moved or
removed.
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
"""[s] A reader waits so long for a replacement to end, which takes milliseconds, and looks so often."""
MAX_TRIES = 10
FOLDER_EXISTS_ERRORS = (errno.EEXIST, errno.ENOTEMPTY, errno.EACCES, errno.EPERM)
"""How systems say that a folder stands where another was to go."""

_reservations: dict[Path, _Reservation] = {}
_guard = threading.RLock()


@contextmanager
def reserve_folder(
    path: str | Path, names: Iterable[str] = (), extra_files: Mapping[str, str] = MappingProxyType({})
) -> Iterator[None]:
    """Keep a folder for this process until the block ends, so that hours of work do not end in a surprise.

    Args:
        path: of the folder; need not exist.
        names: of files that will be written there, as far as they are known.
        extra_files: text files, by name, that are written with the results.

    Raises:
        InputError: nothing can be written there, hardly any space is free, another run writes there now, or a file
            that this program did not write has one of the names.
    """
    with ExitStack() as at_a_stop:
        with uninterrupted():
            claim = _reserve(Path(path))
            at_a_stop.enter_context(on_stop(claim.release))
        try:
            claim.check((*names, *extra_files))
            claim.extra_files = extra_files
            yield
        finally:
            claim.release()


def check_reserved_names(path: str | Path, names: Iterable[str]) -> None:
    """See that files of these names can be written into a folder that is `claimed`.

    Raises:
        InputError: as `claimed`.
    """
    with _guard:
        claim = _reservations.get(_resolve_path(Path(path)))
    if claim is not None:
        claim.check(tuple(names))


@contextmanager
def write_folder(path: str | Path, *, keep_previous: bool = False) -> Iterator[Path]:
    """A new empty folder to write into; when the block ends well, its files replace what this program wrote before.

    When the block raises, is cancelled or killed, ``path`` is as it was.

    Args:
        path: of the folder; need not exist.
        keep_previous: keep the files of the run before whose names are not written now.

    Raises:
        InputError: as `claimed`; or writing failed, as on a full disk.
    """
    with ExitStack() as at_a_stop:
        with uninterrupted(), _guard:
            held = _reservations.get(_resolve_path(Path(path)))
            claim = _reserve(Path(path)) if held is None or held.is_writing else held
            claim.is_writing = True
            if claim is not held:
                at_a_stop.enter_context(on_stop(claim.release))
        try:
            new = claim.work_folder / NEW_FOLDER
            with report_os_errors(path):
                new.mkdir(parents=True)
            with report_os_errors(path, error_numbers=CANNOT_WRITE), _rename_errors(Path(path), new):
                yield new
                for name, text in claim.extra_files.items():
                    (new / name).write_text(text, "utf-8")
            with report_os_errors(path):
                write_manifest(new, read_manifest(claim.real_path) if keep_previous else None)
                with uninterrupted():
                    claim.publish(new, keep_previous=keep_previous)
                    note_output(path)
        finally:
            claim.is_writing = False
            if claim is not held:
                claim.release()
            elif not (claim.work_folder / JOURNAL_FILE).exists():
                shutil.rmtree(new, ignore_errors=True)


def read_consistent(folder: str | Path, read: Callable[[], T]) -> T:
    """What ``read`` returns, all of one run: read again if somebody replaced the folder's files meanwhile.

    Raises:
        InputError: the folder is replaced all the time, or was left half replaced and cannot be written.
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
    raise InputError(folder, "is written again and again", remedy="Wait until the other runs end")


def finish_interrupted(folder: str | Path) -> None:
    """Finish what a killed run had begun to put in place, here or in a folder above; wait for one that is alive.

    Raises:
        InputError: the files cannot be moved, or the other run takes too long.
    """
    until = time.monotonic() + TIMEOUT
    for journal in _pending_journals(Path(folder)):
        workshop = journal.parent
        while journal.exists():
            with report_os_errors(workshop.parent):
                lock = _try_lock(workshop)
                if lock is not None:
                    try:
                        _clean_up(workshop)
                    finally:
                        _release_lock(workshop, lock)
            if lock is None and time.monotonic() > until:
                raise _busy_error(Path(folder), workshop)
            time.sleep(POLL_INTERVAL)


@dataclass(eq=False, slots=True)
class _Reservation:
    """A folder that this process keeps for its results.

    Attributes:
        path: as the user named it.
        real_path: the same, absolute and without links.
        work_folder: where results are built.
        lock: of the workshop.
        created: folders that were made for it, innermost first.
        is_writing: a block is open.
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
        """See that files of these names can be written."""
        if strange := find_foreign_files(self.real_path, names, files_written(self.real_path)):
            raise foreign_file_error(self.path, strange)
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
        """Put what was built in place."""
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
        """Somebody made the folder since the work began."""
        workshop = self.real_path / WORK_FOLDER
        lock = _try_lock(workshop)
        if lock is None:
            raise _busy_error(self.path, workshop)
        try:
            shutil.move(new, workshop / NEW_FOLDER)
            self._replace(workshop, keep_previous=keep_previous)
        finally:
            _release_lock(workshop, lock)

    def _replace(self, work_folder: Path, *, keep_previous: bool) -> None:
        names = tuple(list_files(work_folder / NEW_FOLDER))
        if strange := find_foreign_files(self.real_path, names, files_written(self.real_path)):
            aside = _unused_name(self.real_path)
            shutil.move(work_folder / NEW_FOLDER, aside)
            raise InputError(self.path / strange[0], f"came there meanwhile and was kept; the results are in {aside}")
        replace_files(self.real_path, work_folder, keep_previous=keep_previous)

    def release(self) -> None:
        """Leave nothing but the results."""
        with _guard:
            _reservations.pop(self.real_path, None)
        if not (self.work_folder / JOURNAL_FILE).exists():
            _clean_up(self.work_folder)
        _release_lock(self.work_folder, self.lock)
        with suppress(OSError):
            for folder in self.created:
                folder.rmdir()


def _reserve(path: Path) -> _Reservation:
    """Keep a folder, and finish or sweep what a killed run left of it."""
    with report_os_errors(path), _guard:
        real = _resolve_path(path)
        if real.exists() and not real.is_dir():
            raise InputError(path, "is a file, a folder is needed", remedy="Name another folder")
        if real in _reservations:
            raise InputError(path, "is being written by this very process", remedy="Name another folder")
        made = _make_parents(real.parent)
        try:
            claim = _lock_folder(path, real, made)
        except BaseException:
            _remove_empty(made)
            raise
        _reservations[real] = claim
        return claim


def _lock_folder(path: Path, real: Path, made: tuple[Path, ...]) -> _Reservation:
    for _ in range(MAX_TRIES):
        inside, beside = real / WORK_FOLDER, _sibling_work_folder(real)
        exists = real.is_dir()
        workshop = inside if exists else beside
        lock = _try_lock(workshop)
        if lock is None:
            raise _busy_error(path, workshop)
        if real.is_dir() != exists:  # another run ended, or somebody made the folder
            _release_lock(workshop, lock)
            continue
        try:
            if exists and beside.is_dir():  # of a run that began without the folder
                other = _try_lock(beside)
                if other is None:
                    raise _busy_error(path, beside)
                _clean_up(beside)
                _release_lock(beside, other)
            _clean_up(workshop)
        except BaseException:
            _release_lock(workshop, lock)
            raise
        return _Reservation(path, real, workshop, lock, made)
    raise InputError(path, "is made and removed by others all the time", remedy="Name another folder")


def _try_lock(work_folder: Path) -> Lock | None:
    """The lock of a workshop; None while another run has it."""
    words = f"process {os.getpid()} on {socket.gethostname()} since {time.strftime('%H:%M')}"
    for _ in range(MAX_TRIES):
        work_folder.mkdir(exist_ok=True)
        with suppress(FileNotFoundError):  # its holder left, and removed it
            return acquire(work_folder / LOCK_FILE, words)
    return None


def _release_lock(work_folder: Path, lock: Lock) -> None:
    lock.release()
    with suppress(OSError):
        work_folder.rmdir()


def _clean_up(work_folder: Path) -> None:
    """Finish a replacement that was begun, and remove whatever else a killed run left."""
    if (work_folder / JOURNAL_FILE).exists():
        finish_replacement(work_folder.parent, work_folder)
    for left in sorted(work_folder.iterdir()) if work_folder.is_dir() else ():
        if left.is_dir() and not left.is_symlink():
            shutil.rmtree(left, ignore_errors=True)
        elif left.name != LOCK_FILE:
            left.unlink()


def _pending_journals(folder: Path) -> list[Path]:
    """Journals of replacements that are not finished, of a folder and of those it lies in."""
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
    """A name beside a folder that nothing has yet."""
    number = 2
    while os.path.lexists(free := real.with_name(f"{real.name}-{number}")):
        number += 1
    return free


def _make_parents(folder: Path) -> tuple[Path, ...]:
    """Make a folder and those above it; the ones that were made, innermost first."""
    missing = tuple(place for place in (folder, *folder.parents) if not place.exists())
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        _remove_empty(missing)
        raise
    return missing


def _remove_empty(folders: Iterable[Path]) -> None:
    """Remove empty folders, up to the first that is not."""
    with suppress(OSError):
        for folder in folders:
            folder.rmdir()


@contextmanager
def _rename_errors(path: Path, new: Path) -> Iterator[None]:
    """Errors of files that are being built name the place where they were to be."""
    try:
        yield
    except InputError as error:
        if not error.path.is_relative_to(new):
            raise
        there = path / error.path.relative_to(new)
        raise InputError(there, error.problem, place=error.place, remedy=error.remedy) from None
