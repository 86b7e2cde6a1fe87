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
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

LOCK_FILE = "lock"
"""Name of the lock file in a temporary folder; the process that owns the folder holds the lock."""
MAX_TRIES = 10

if sys.platform == "win32":
    import msvcrt

    def _seize(descriptor: int) -> bool:
        os.lseek(descriptor, 1 << 30, os.SEEK_SET)  # after the text, which a lock would keep others from reading
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        os.lseek(descriptor, 0, os.SEEK_SET)
        return True

else:
    import fcntl

    def _seize(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            return error.errno not in (errno.EACCES, errno.EAGAIN)  # a file system without locks restricts nobody
        return True


@dataclass(eq=False, slots=True)
class Lock:
    """A lock that this process holds until it is released or the process ends.

    Attributes:
        path: of the lock file.
        descriptor: open on it; None once released.
    """

    path: Path
    descriptor: int | None

    def release(self) -> None:
        """Remove the lock file and release the lock; a second time does nothing."""
        descriptor, self.descriptor = self.descriptor, None
        if descriptor is None:
            return
        with suppress(OSError):
            os.unlink(self.path)  # while locked: whoever opens the path from now on creates a new file
        os.close(descriptor)
        if sys.platform == "win32":  # where an open file cannot be removed
            with suppress(OSError):
                os.unlink(self.path)


def acquire(path: Path, owner_text: str = "") -> Lock | None:
    """Lock a file, created with its folder if missing; None if another process, or lock of this one, holds it.

    Args:
        path: of the lock file.
        owner_text: stored in it, for `read_owner`.

    Raises:
        OSError: the file cannot be created, or is not a file of this folder alone.
    """
    for _ in range(MAX_TRIES):
        if os.path.islink(path) or (os.path.isfile(path) and os.lstat(path).st_nlink > 1):
            raise OSError(errno.ELOOP, f"{path.name} is a link")
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
        except FileNotFoundError:
            continue  # another process, which released the folder, removed it
        if not _seize(descriptor):
            os.close(descriptor)
            return None
        with suppress(OSError):
            if os.path.samestat(os.stat(path), os.fstat(descriptor)):
                os.ftruncate(descriptor, 0)
                os.write(descriptor, owner_text.encode("utf-8", errors="replace"))
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
    """A new folder ``parent/prefix????????`` of this process, which others leave alone while this process lives.

    Release the lock to keep the folder for good; `remove_locked_folder` removes both.

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
    ours, removed = re.compile(re.escape(prefix) + "[0-9a-f]{8}"), []
    for folder in sorted(parent.iterdir()) if parent.is_dir() else ():
        if ours.fullmatch(folder.name) and not folder.is_symlink() and (folder / LOCK_FILE).exists():
            with suppress(OSError):  # of another user
                if (lock := acquire(folder / LOCK_FILE)) is not None:
                    remove_locked_folder(folder, lock)
                    removed.append(folder)
    return tuple(removed)
