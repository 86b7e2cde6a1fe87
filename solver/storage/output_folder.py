"""Results folders, which appear whole or not at all, and into which one process writes at a time.

New files are written into a hidden folder beside their places. When all are on the disk, the manifest says what is
coming, the files of the previous run are moved away, the new ones into their places, and the manifest is written
last. A failure moves everything back. If the process is killed in between, the manifest and the files disagree, which
a reader reports and the next writer replaces. Files that this program did not write are never replaced, moved or
removed, and no link in the folder is followed.
"""

from __future__ import annotations

import os
import shutil
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import TypeVar

from ..base.arrays import list_names
from ..base.errors import InputError, SolverError
from ..base.termination import note_output, on_stop, uninterrupted
from .atomic import CANNOT_WRITE, WORK_NAME, probe_space, report_os_errors, unused_name
from .lock import Lock, acquire, read_owner
from .manifest import (
    MANIFEST_FILE,
    MANIFEST_KIND,
    Manifest,
    StoredPath,
    current_digest,
    file_digest,
    files_written,
    read_manifest,
)

T = TypeVar("T")
LOCK_FILE = ".exciting_dance.lock"
POLL_INTERVAL, MAX_TRIES = 0.02, 10
"""[s] Time between two attempts to read a folder that another process is changing, and their number."""

_reservations: dict[Path, _Reservation] = {}
_guard = threading.RLock()
"""Re-entrant, because stopping the program releases folders wherever the main thread is."""


@contextmanager
def reserve_folder(
    path: str | Path, names: Iterable[str] = (), extra_files: Mapping[str, str] = MappingProxyType({})
) -> Iterator[None]:
    """Reserve a folder for this process until the block ends, so that results of long work can be written.

    Args:
        path: of the folder; need not exist; a link is resolved once.
        names: of files that will be written there, as far as they are known.
        extra_files: text files, by name, that are written with the results.

    Raises:
        InputError: the folder is not writable, hardly any space is free, another process is writing there, a file that
            this program did not write has one of the names, or the folder's manifest cannot be read.
    """
    with _reserved(Path(path)) as reservation:
        reservation.check((*names, *extra_files))
        reservation.extra_files = extra_files
        yield


def check_reserved_names(path: str | Path, names: Iterable[str]) -> None:
    """Check that files of these names can be written into a folder reserved with `reserve_folder`.

    Raises:
        InputError: as `reserve_folder`.
    """
    with _guard:
        reservation = _reservations.get(_resolve_path(path))
    if reservation is not None:
        reservation.check(tuple(names))


@contextmanager
def write_folder(path: str | Path, *, keep_previous: bool = False) -> Iterator[Path]:
    """A new empty folder to write into; when the block ends without error, its files replace those of the previous run.

    If the block raises, is cancelled or killed, the files in ``path`` are unchanged.

    Args:
        path: of the folder; need not exist; a link is resolved once.
        keep_previous: keep files of the previous run whose names are not written now.

    Raises:
        InputError: as `reserve_folder`; or writing failed, as on a full disk.
    """
    with ExitStack() as stack:
        with _guard:
            reservation = _reservations.get(_resolve_path(path))
            if reservation is None or reservation.new is not None:
                reservation = stack.enter_context(_reserved(Path(path)))
                reservation.check(())
            stack.callback(reservation.remove_work_folder)
            with report_os_errors(path):
                new = reservation.new = unused_name(reservation.real_path) / "new"
                new.mkdir(parents=True)
        with report_os_errors(path, error_numbers=CANNOT_WRITE), _rename_errors(Path(path), new):
            yield new
            for name, text in reservation.extra_files.items():
                (new / name).write_text(text, "utf-8")
        with report_os_errors(path):
            reservation.publish(new, keep_previous=keep_previous)


def read_consistent(folder: str | Path, read: Callable[[], T]) -> T:
    """What ``read`` returns, with all files from one run: it is repeated if the files were replaced meanwhile.

    Raises:
        InputError: the folder is replaced again and again.
    """
    manifest, lock = Path(folder) / MANIFEST_FILE, Path(folder) / LOCK_FILE
    for attempt in range(MAX_TRIES):
        before = _content(manifest)
        try:
            value = read()
            if _content(manifest) == before:
                return value
        except SolverError:
            if attempt == MAX_TRIES - 1 or (_content(manifest) == before and not os.path.lexists(lock)):
                raise
        time.sleep(POLL_INTERVAL)
    raise InputError(folder, "is rewritten again and again", remedy="Wait until the other runs end")


@dataclass(eq=False, slots=True)
class _Reservation:
    """A folder that is reserved for this process's results.

    Attributes:
        path: as the user named it.
        real_path: the same, absolute and without links.
        lock: in the folder.
        created: folders that were created for it, innermost first.
        new: folder of new files, within a hidden one, while a block of `write_folder` is open.
        extra_files: text files, by name, that are written with the results.
    """

    path: Path
    real_path: Path
    lock: Lock
    created: tuple[Path, ...]
    new: Path | None = None
    extra_files: Mapping[str, str] = field(default_factory=dict)

    def check(self, names: tuple[str, ...]) -> None:
        """Check that files of these names can be written."""
        if foreign := _foreign_files(self.real_path, map(StoredPath, names), files_written(self.real_path)):
            others = f", as were {list_names(foreign[1:])}" if len(foreign) > 1 else ""
            problem = f"was not written by this program, or was changed since{others}: the results need that name"
            raise InputError(self.path / foreign[0], problem, remedy="Move it away, or name another folder")
        with report_os_errors(self.path):
            probe = unused_name(self.real_path)
            try:
                probe_space(self.real_path, probe)
            finally:
                probe.unlink(missing_ok=True)

    def publish(self, new: Path, *, keep_previous: bool) -> None:
        """Move the new files into place; if that fails, everything is as before."""
        folder, old = self.real_path, new.with_name("old")
        files = {name: file_digest(new / name, sync=True) for name in _list_files(new)}
        previous, ours = read_manifest(folder), files_written(folder)
        if foreign := _foreign_files(folder, files, ours):
            numbered = (folder.with_name(f"{folder.name}-{number}") for number in count(2))
            spare = next(place for place in numbered if not os.path.lexists(place))
            MANIFEST_KIND.write(new / MANIFEST_FILE, Manifest(files))
            shutil.move(new, spare)
            raise InputError(self.path / foreign[0], f"was created meanwhile and was kept; the results are in {spare}")
        now = {StoredPath(name): current_digest(folder, name) for name in ours}
        found = {name: digest for name, digest in now.items() if digest and (digest in ours[name] or not ours[name])}
        replaced = [name for name in found if name in files or not keep_previous]
        if keep_previous and previous is not None:
            files = {**previous.files, **files}
        marked = Manifest(files, {name: digest for name, digest in found.items() if files.get(name) != digest})
        moves = [(folder / name, old / name) for name in replaced]
        moves += [(new / name, folder / name) for name in _list_files(new)]
        with uninterrupted():
            self._write_manifest(marked)
            try:
                _move(moves)
            except OSError:
                self._write_manifest(previous)
                raise
            if marked.former:
                left = {name: digest for name, digest in marked.former.items() if name not in replaced}
                with suppress(InputError):  # the results are complete; the next run writes it
                    self._write_manifest(Manifest(files, left))
            for name in replaced:
                _remove_empty(folder / part for part in PurePosixPath(name).parents if part.parts)
            note_output(self.path)

    def _write_manifest(self, manifest: Manifest | None) -> None:
        assert self.new is not None
        place = self.real_path / MANIFEST_FILE
        if manifest is None:
            place.unlink()
        else:  # written there first: it is no output of its own, which a stop would list
            os.replace(MANIFEST_KIND.write(self.new.with_name("manifest.json"), manifest), place)

    def remove_work_folder(self) -> None:
        """Remove the hidden folder of new or replaced files."""
        if self.new is not None:
            shutil.rmtree(self.new.parent, ignore_errors=True)
            self.new = None

    def release(self) -> None:
        """Remove everything but the results, and end the reservation."""
        with _guard:
            _reservations.pop(self.real_path, None)
        self.remove_work_folder()
        self.lock.release()
        _remove_empty(self.created)


@contextmanager
def _reserved(path: Path) -> Iterator[_Reservation]:
    with ExitStack() as stack:
        with uninterrupted():
            reservation = _reserve(path)
            stack.callback(reservation.release)
            stack.enter_context(on_stop(reservation.release))
        yield reservation


def _reserve(path: Path) -> _Reservation:
    """Reserve a folder; remove the hidden folders that killed processes left in it."""
    with report_os_errors(path), _guard:
        real = _resolve_path(path)
        if real.exists() and not real.is_dir():
            raise InputError(path, "is a file, a folder is needed", remedy="Name another folder")
        if real in _reservations:
            raise InputError(path, "is already being written by this process", remedy="Name another folder")
        created = tuple(folder for folder in (real, *real.parents) if not folder.exists())
        try:
            words = f"process {os.getpid()} on {socket.gethostname()} since {time.strftime('%H:%M')}"
            if (lock := acquire(real / LOCK_FILE, words)) is None:
                problem = f"is being written by {read_owner(real / LOCK_FILE) or 'another process'}"
                raise InputError(path, problem, remedy="Wait until it ends, or name another folder")
        except BaseException:
            _remove_empty(created)
            raise
        reservation = _reservations[real] = _Reservation(path, real, lock, created)
        for left in real.iterdir():
            if WORK_NAME.fullmatch(left.name):
                shutil.rmtree(left, ignore_errors=True)  # refuses links
                with suppress(OSError):
                    left.unlink(missing_ok=True)
        return reservation


def _foreign_files(folder: Path, names: Iterable[str], ours: Mapping[str, set[str]]) -> tuple[str, ...]:
    """Existing files that block files of these names and were not written by this program, or were changed since."""
    known = {name.casefold(): digests for name, digests in ours.items()}  # one file to some file systems
    found = []
    for name in names:
        for part in (str(part) for part in PurePosixPath(name).parents if part.parts):
            if os.path.lexists(folder / part) and not _is_real_folder(folder / part):
                found.append(part)
        if os.path.lexists(folder / name):
            digest, digests = current_digest(folder, name), known.get(name.casefold(), {""})
            if digest is None or (digests and digest not in digests and PurePosixPath(name).name != MANIFEST_FILE):
                found.append(name)
    return tuple(dict.fromkeys(found))


def _is_real_folder(path: Path) -> bool:
    return os.path.isdir(path) and Path(os.path.realpath(path)) == path


def _move(moves: Iterable[tuple[Path, Path]]) -> None:
    """Move files; if one cannot be moved, all are moved back.

    Raises:
        OSError: a file cannot be moved.
    """
    done = []
    try:
        for source, target in moves:
            target.parent.mkdir(parents=True, exist_ok=True)
            os.replace(source, target)
            done.append((source, target))
    except OSError:
        for source, target in reversed(done):
            os.replace(target, source)
        raise


def _list_files(folder: Path) -> list[StoredPath]:
    """Paths of all files below a folder."""
    found = ((Path(place) / name).relative_to(folder) for place, _, names in os.walk(folder) for name in names)
    return sorted(StoredPath(path.as_posix()) for path in found)


def _content(path: Path) -> bytes:
    """Content of a file; empty without it."""
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _resolve_path(path: str | Path) -> Path:
    return Path(os.path.realpath(path))


def _remove_empty(folders: Iterable[Path]) -> None:
    """Remove empty folders, up to the first that is not empty."""
    with suppress(OSError):
        for folder in folders:
            folder.rmdir()


@contextmanager
def _rename_errors(path: Path, new: Path) -> Iterator[None]:
    """Name in errors the final file instead of the temporary one."""
    try:
        yield
    except InputError as error:
        if not error.path.is_relative_to(new):
            raise
        where = path / error.path.relative_to(new)
        raise InputError(where, error.problem, place=error.place, remedy=error.remedy) from error
