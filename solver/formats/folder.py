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
from ..stopping import undoing, whole, wrote
from .atomic import CANNOT_WRITE, LONGEST_NAME, PROBE, check_room, longest_name, refusing
from .lock import LOCK_FILE, Lock, holder, take
from .manifest import files_below, manifest_of, ours_in, seal, stamp
from .replacement import JOURNAL_FILE, NEW, finish, refusal, replace_files, strangers

T = TypeVar("T")
WORKSHOP = ".exciting_dance.part"
PATIENCE, PAUSE = 5.0, 0.02
"""[s] A reader waits so long for a replacement to end, which takes milliseconds, and looks so often."""
TRIES = 10
REFUSED_MOVE = (errno.EEXIST, errno.ENOTEMPTY, errno.EACCES, errno.EPERM)
"""How systems say that a folder stands where another was to go."""

_claims: dict[Path, _Claim] = {}
_guard = threading.RLock()


@contextmanager
def claimed(
    path: str | Path, names: Iterable[str] = (), beside: Mapping[str, str] = MappingProxyType({})
) -> Iterator[None]:
    """Keep a folder for this process until the block ends, so that hours of work do not end in a surprise.

    Args:
        path: of the folder; need not exist.
        names: of files that will be written there, as far as they are known.
        beside: text files, by name, that are written with the results.

    Raises:
        InputError: nothing can be written there, hardly any space is free, another run writes there now, or a file
            that this program did not write has one of the names.
    """
    with ExitStack() as at_a_stop:
        with whole():
            claim = _claim(Path(path))
            at_a_stop.enter_context(undoing(claim.release))
        try:
            claim.check((*names, *beside))
            claim.beside = beside
            yield
        finally:
            claim.release()


def check_names(path: str | Path, names: Iterable[str]) -> None:
    """See that files of these names can be written into a folder that is `claimed`.

    Raises:
        InputError: as `claimed`.
    """
    with _guard:
        claim = _claims.get(_real(Path(path)))
    if claim is not None:
        claim.check(tuple(names))


@contextmanager
def write_folder(path: str | Path, *, adding: bool = False) -> Iterator[Path]:
    """A new empty folder to write into; when the block ends well, its files replace what this program wrote before.

    When the block raises, is cancelled or killed, ``path`` is as it was.

    Args:
        path: of the folder; need not exist.
        adding: keep the files of the run before whose names are not written now.

    Raises:
        InputError: as `claimed`; or writing failed, as on a full disk.
    """
    with ExitStack() as at_a_stop:
        with whole(), _guard:
            held = _claims.get(_real(Path(path)))
            claim = _claim(Path(path)) if held is None or held.building else held
            claim.building = True
            if claim is not held:
                at_a_stop.enter_context(undoing(claim.release))
        try:
            new = claim.workshop / NEW
            with refusing(path):
                new.mkdir(parents=True)
            with refusing(path, only=CANNOT_WRITE), _named(Path(path), new):
                yield new
                for name, text in claim.beside.items():
                    (new / name).write_text(text, "utf-8")
            with refusing(path):
                seal(new, manifest_of(claim.real) if adding else None)
                with whole():
                    claim.deliver(new, adding=adding)
                    wrote(path)
        finally:
            claim.building = False
            if claim is not held:
                claim.release()
            elif not (claim.workshop / JOURNAL_FILE).exists():
                shutil.rmtree(new, ignore_errors=True)


def read_whole(folder: str | Path, read: Callable[[], T]) -> T:
    """What ``read`` returns, all of one run: read again if somebody replaced the folder's files meanwhile.

    Raises:
        InputError: the folder is replaced all the time, or was left half replaced and cannot be written.
    """
    folder = Path(folder)
    for _ in range(TRIES):
        settle(folder)
        before, failed = stamp(folder), None
        try:
            value = read()
        except SolverError as error:
            failed = error
        if stamp(folder) == before and not _journals(folder):
            if failed is not None:
                raise failed
            return value
    raise InputError(folder, "is written again and again", remedy="Wait until the other runs end")


def settle(folder: str | Path) -> None:
    """Finish what a killed run had begun to put in place, here or in a folder above; wait for one that is alive.

    Raises:
        InputError: the files cannot be moved, or the other run takes too long.
    """
    until = time.monotonic() + PATIENCE
    for journal in _journals(Path(folder)):
        workshop = journal.parent
        while journal.exists():
            with refusing(workshop.parent):
                lock = _taken(workshop)
                if lock is not None:
                    try:
                        _tidy(workshop)
                    finally:
                        _leave(workshop, lock)
            if lock is None and time.monotonic() > until:
                raise _busy(Path(folder), workshop)
            time.sleep(PAUSE)


@dataclass(eq=False, slots=True)
class _Claim:
    """A folder that this process keeps for its results.

    Attributes:
        path: as the user named it.
        real: the same, absolute and without links.
        workshop: where results are built.
        lock: of the workshop.
        made: folders that were made for it, innermost first.
        building: a block is open.
        beside: text files, by name, that are written with the results.
    """

    path: Path
    real: Path
    workshop: Path
    lock: Lock
    made: tuple[Path, ...] = ()
    building: bool = False
    beside: Mapping[str, str] = field(default_factory=dict)

    def check(self, names: tuple[str, ...]) -> None:
        """See that files of these names can be written."""
        if strange := strangers(self.real, names, ours_in(self.real)):
            raise refusal(self.path, strange)
        with refusing(self.path):
            check_room(self.workshop)
            probe = self.workshop / "probe"
            try:
                probe.write_bytes(bytes(PROBE))
            finally:
                probe.unlink(missing_ok=True)
            for name in names:
                with suppress(FileNotFoundError):
                    os.lstat(longest_name(self.workshop / NEW / name))

    def deliver(self, new: Path, *, adding: bool) -> None:
        """Put what was built in place."""
        if self.workshop.parent == self.real:
            self._replace(self.workshop, adding=adding)
            return
        try:
            os.rename(new, self.real)
        except OSError as error:
            if error.errno not in REFUSED_MOVE or not self.real.is_dir():
                raise
            self._deliver_within(new, adding=adding)

    def _deliver_within(self, new: Path, *, adding: bool) -> None:
        """Somebody made the folder since the work began."""
        workshop = self.real / WORKSHOP
        lock = _taken(workshop)
        if lock is None:
            raise _busy(self.path, workshop)
        try:
            shutil.move(new, workshop / NEW)
            self._replace(workshop, adding=adding)
        finally:
            _leave(workshop, lock)

    def _replace(self, workshop: Path, *, adding: bool) -> None:
        names = tuple(files_below(workshop / NEW))
        if strange := strangers(self.real, names, ours_in(self.real)):
            aside = _free_name(self.real)
            shutil.move(workshop / NEW, aside)
            raise InputError(self.path / strange[0], f"came there meanwhile and was kept; the results are in {aside}")
        replace_files(self.real, workshop, adding=adding)

    def release(self) -> None:
        """Leave nothing but the results."""
        with _guard:
            _claims.pop(self.real, None)
        if not (self.workshop / JOURNAL_FILE).exists():
            _tidy(self.workshop)
        _leave(self.workshop, self.lock)
        with suppress(OSError):
            for folder in self.made:
                folder.rmdir()


def _claim(path: Path) -> _Claim:
    """Keep a folder, and finish or sweep what a killed run left of it."""
    with refusing(path), _guard:
        real = _real(path)
        if real.exists() and not real.is_dir():
            raise InputError(path, "is a file, a folder is needed", remedy="Name another folder")
        if real in _claims:
            raise InputError(path, "is being written by this very process", remedy="Name another folder")
        made = _make_parents(real.parent)
        try:
            claim = _locked(path, real, made)
        except BaseException:
            _remove(made)
            raise
        _claims[real] = claim
        return claim


def _locked(path: Path, real: Path, made: tuple[Path, ...]) -> _Claim:
    for _ in range(TRIES):
        inside, beside = real / WORKSHOP, _beside(real)
        exists = real.is_dir()
        workshop = inside if exists else beside
        lock = _taken(workshop)
        if lock is None:
            raise _busy(path, workshop)
        if real.is_dir() != exists:  # another run ended, or somebody made the folder
            _leave(workshop, lock)
            continue
        try:
            if exists and beside.is_dir():  # of a run that began without the folder
                other = _taken(beside)
                if other is None:
                    raise _busy(path, beside)
                _tidy(beside)
                _leave(beside, other)
            _tidy(workshop)
        except BaseException:
            _leave(workshop, lock)
            raise
        return _Claim(path, real, workshop, lock, made)
    raise InputError(path, "is made and removed by others all the time", remedy="Name another folder")


def _taken(workshop: Path) -> Lock | None:
    """The lock of a workshop; None while another run has it."""
    words = f"process {os.getpid()} on {socket.gethostname()} since {time.strftime('%H:%M')}"
    for _ in range(TRIES):
        workshop.mkdir(exist_ok=True)
        with suppress(FileNotFoundError):  # its holder left, and removed it
            return take(workshop / LOCK_FILE, words)
    return None


def _leave(workshop: Path, lock: Lock) -> None:
    lock.release()
    with suppress(OSError):
        workshop.rmdir()


def _tidy(workshop: Path) -> None:
    """Finish a replacement that was begun, and remove whatever else a killed run left."""
    if (workshop / JOURNAL_FILE).exists():
        finish(workshop.parent, workshop)
    for left in sorted(workshop.iterdir()) if workshop.is_dir() else ():
        if left.is_dir() and not left.is_symlink():
            shutil.rmtree(left, ignore_errors=True)
        elif left.name != LOCK_FILE:
            left.unlink()


def _journals(folder: Path) -> list[Path]:
    """Journals of replacements that are not finished, of a folder and of those it lies in."""
    real = _real(folder)
    places = (place / WORKSHOP / JOURNAL_FILE for place in (real, *real.parents))
    return [journal for journal in places if os.path.exists(journal)]


def _busy(path: Path, workshop: Path) -> InputError:
    who = holder(workshop / LOCK_FILE) or "another process"
    return InputError(path, f"is being written by {who}", remedy="Wait until it ends, or name another folder")


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _beside(real: Path) -> Path:
    name = os.fsencode(real.name)
    short = real.name if len(name) <= LONGEST_NAME else hashlib.blake2b(name, digest_size=8).hexdigest()
    return real.parent / f".{short}{WORKSHOP}"


def _free_name(real: Path) -> Path:
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
        _remove(missing)
        raise
    return missing


def _remove(folders: Iterable[Path]) -> None:
    """Remove empty folders, up to the first that is not."""
    with suppress(OSError):
        for folder in folders:
            folder.rmdir()


@contextmanager
def _named(path: Path, new: Path) -> Iterator[None]:
    """Errors of files that are being built name the place where they were to be."""
    try:
        yield
    except InputError as error:
        if not error.path.is_relative_to(new):
            raise
        there = path / error.path.relative_to(new)
        raise InputError(there, error.problem, place=error.place, remedy=error.remedy) from None
