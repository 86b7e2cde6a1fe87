"""Locks that end with their process, and removal of temporary folders that killed processes left.

The operating system releases a lock when its process ends, however it ends, so that a remaining lock file blocks no
one. Process numbers are not used, because another process may get the same number.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

LOCK_FILE = "lock"
"""Name of the lock file in a temporary folder; the process that owns the folder holds the lock."""
MIN_AGE = 60.0
"""[s] A younger temporary folder without a lock file may be about to get one."""
LOCKED_BYTE = 1 << 30
"""Position of the locked byte: after the text, so that others can read the text on systems whose locks forbid
reading."""
MAX_TRIES = 10

_held_paths: set[str] = set()
"""Paths that this process has locked, since the system's locks do not separate threads of one process."""
_guard = threading.RLock()
"""Re-entrant, because stopping the program releases locks wherever the main thread is."""

if sys.platform == "win32":
    import msvcrt

    def _seize(descriptor: int) -> bool:
        os.lseek(descriptor, LOCKED_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _seize(descriptor: int) -> bool:
        # Not flock: forked children inherit its locks, which would then outlive a killed parent.
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, LOCKED_BYTE)
        except OSError as error:
            # On a file system without locks, access cannot be restricted.
            return error.errno not in (errno.EACCES, errno.EAGAIN)
        return True


@dataclass(frozen=True, slots=True)
class Lock:
    """A lock that this process holds until it is released or the process ends.

    Attributes:
        path: of the lock file.
        descriptor: open on it.
    """

    path: Path
    descriptor: int

    def release(self) -> None:
        """Remove the lock file and release the lock."""
        removed = _try_unlink(self.path)  # while locked: whoever opens the path from now on creates a new file
        self.unlock()
        if not removed:
            _try_unlink(self.path)  # Windows cannot remove an open file

    def unlock(self) -> None:
        """Release the lock of a file that remains or was renamed."""
        with _guard:
            if _lock_key(self.path) in _held_paths:
                _held_paths.discard(_lock_key(self.path))
                os.close(self.descriptor)


def acquire(path: Path, owner_text: str = "") -> Lock | None:
    """Lock a file, created if missing; None if another process or thread holds the lock.

    Args:
        path: of the lock file.
        owner_text: stored in it, for `read_owner`.

    Raises:
        OSError: the file cannot be created.
    """
    with _guard:
        for _ in range(MAX_TRIES):
            if _lock_key(path) in _held_paths:
                return None  # opening and closing the file again would release the lock
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
            if not _seize(descriptor):
                os.close(descriptor)
                return None
            if _is_same_file(path, descriptor):
                os.ftruncate(descriptor, 0)
                os.write(descriptor, owner_text.encode("utf-8", errors="replace"))
                _held_paths.add(_lock_key(path))
                return Lock(path, descriptor)
            os.close(descriptor)  # its owner removed it between opening and locking
    return None


def read_owner(path: Path) -> str:
    """The text of a lock's owner; empty if it cannot be read."""
    try:
        return path.read_text("utf-8", errors="replace").strip()
    except OSError:
        return ""


def create_locked_folder(parent: Path, prefix: str) -> tuple[Path, Lock]:
    """A new folder ``parent/prefix????????`` of this process, which `sweep` leaves alone while this process lives.

    Release the lock to keep the folder for good; `discard` both to be rid of it.

    Raises:
        OSError: it cannot be made.
    """
    folder = parent / f"{prefix}{secrets.token_hex(4)}"
    folder.mkdir(mode=0o700)
    lock = acquire(folder / LOCK_FILE)
    assert lock is not None  # no other process knows the name
    return folder, lock


def remove_locked_folder(folder: Path, lock: Lock) -> None:
    """Remove a folder of `create_locked_folder` with its content."""
    shutil.rmtree(folder, ignore_errors=True)
    lock.release()
    with suppress(OSError):
        folder.rmdir()  # Windows cannot remove a locked file or its folder


def remove_abandoned_folders(parent: Path, prefix: str) -> tuple[Path, ...]:
    """Remove the folders of `create_locked_folder` whose processes were killed; the removed folders.

    A folder without lock file was kept on purpose and is not removed.
    """
    ours = re.compile(re.escape(prefix) + "[0-9a-f]{8}")
    swept = []
    for folder in sorted(parent.iterdir()) if parent.is_dir() else ():
        if ours.fullmatch(folder.name) and not folder.is_symlink():
            with suppress(OSError):  # of another user
                if _remove_if_abandoned(folder):
                    swept.append(folder)
    return tuple(swept)


def _remove_if_abandoned(folder: Path) -> bool:
    if (folder / LOCK_FILE).exists():
        lock = acquire(folder / LOCK_FILE)
        if lock is None:
            return False
        lock.release()
        shutil.rmtree(folder, ignore_errors=True)
    elif time.time() - folder.stat().st_mtime > MIN_AGE:
        folder.rmdir()  # killed before it had a lock; fails if another program put files into it
    return not folder.exists()


def _try_unlink(path: Path) -> bool:
    try:
        os.unlink(path)
    except OSError:
        return False
    return True


def _lock_key(path: Path) -> str:
    return os.path.join(os.path.realpath(path.parent), path.name)


def _is_same_file(path: Path, descriptor: int) -> bool:
    """Whether the open file is the one at the path."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except OSError:
        return False
