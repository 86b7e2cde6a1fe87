"""Atomic writing of files: an output file appears complete or not at all."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
import shutil
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from ..errors import InputError
from ..termination import note_output, on_stop, uninterrupted
from .lock import Lock, acquire

PART_SUFFIX = ".part"
MAX_NAME_BYTES = 200
"""[bytes] A longer file name is hashed in the name of its temporary file."""
MIN_FREE_BYTES = 1 << 24
"""[bytes] Free disk space that results need at least."""
PROBE_BYTES = 1 << 16
"""[bytes] Written to test whether writing is possible, since quotas and limits show in no other way."""
CANNOT_WRITE = (
    *(errno.ENOSPC, errno.EFBIG, errno.EROFS, errno.EIO, errno.EACCES, errno.ENAMETOOLONG),
    getattr(errno, "EDQUOT", errno.ENOSPC),
)
"""Errors caused by the disk or folder that is written to; any other error while writing is a bug of this program."""
REMEDY = "Name a folder that exists and is yours, on a disk with room"


@contextmanager
def write_atomically(path: str | Path, *, binary: bool = False) -> Iterator[IO[Any]]:
    """An open stream (UTF-8 text with line feeds, or bytes) that replaces ``path`` when the block ends without error.

    The data goes to a temporary file in the same folder. It is removed when the block raises or is cancelled; if this
    process is killed, the next writer of ``path`` removes it. A reader sees the old file or the new one, never part of
    one. A lone surrogate, as in a file name that is not UTF-8, is written as its escape, which JSON reads back.

    Raises:
        InputError: the folder does not exist, is not writable or is full, or ``path`` cannot be a file.
    """
    with ExitStack() as at_a_stop:
        with uninterrupted():
            lock, target = _create_temporary(Path(path))
            at_a_stop.enter_context(on_stop(lock.release))
        try:
            with report_os_errors(path, error_numbers=CANNOT_WRITE), _open_stream(lock, binary=binary) as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            with report_os_errors(path), uninterrupted():
                if sys.platform == "win32":
                    lock.unlock()  # Windows cannot rename an open file
                os.replace(lock.path, target)
                note_output(path)
        except BaseException:
            lock.release()
            raise
        lock.unlock()


def check_writable(path: str | Path) -> None:
    """Check that a file can be written, before any work.

    Raises:
        InputError: it cannot be written.
    """
    with uninterrupted():
        lock, target = _create_temporary(Path(path))
        try:
            with report_os_errors(path):
                check_free_space(target.parent)
                os.write(lock.descriptor, bytes(PROBE_BYTES))
        finally:
            lock.release()


def check_free_space(folder: Path) -> None:
    """Check that a folder's disk has space for results.

    Raises:
        OSError: hardly any space is free.
    """
    space = shutil.disk_usage(folder)
    if space.total > 0 and space.free < MIN_FREE_BYTES:  # some file systems report nothing
        raise OSError(errno.ENOSPC, f"only {space.free / 2**20:.1f} MB of the disk are free")


def longest_temporary_name(path: Path) -> Path:
    """The longest name that a file has while it is being written."""
    return path.with_name(f"{_temporary_prefix(path.name)}.{'0' * 8}{PART_SUFFIX}")


@contextmanager
def report_os_errors(path: str | Path, error_numbers: tuple[int, ...] = ()) -> Iterator[None]:
    """Raise errors of the operating system as an `InputError` that names the file or folder.

    Args:
        path: as the user named it.
        error_numbers: that are converted; all by default.

    Raises:
        InputError: instead of an OSError.
    """
    try:
        yield
    except OSError as error:
        if error_numbers and error.errno not in error_numbers:
            raise
        raise InputError(path, f"cannot be written: {error.strerror or error}", remedy=REMEDY) from None


def _create_temporary(path: Path) -> tuple[Lock, Path]:
    """Create a locked temporary file for a target; remove those that killed processes left.

    Returns:
        the lock, and the target with links resolved.
    """
    with report_os_errors(path):
        target = Path(os.path.realpath(path))  # a link is kept, and its target replaced
        if target.exists() and not target.is_file():
            what = "is a folder" if target.is_dir() else "is not a regular file"
            raise InputError(path, f"{what}, a file is needed", remedy="Name another file")
        label = _temporary_prefix(target.name)
        ours = re.compile(re.escape(label) + r"\.[0-9a-f]{8}" + re.escape(PART_SUFFIX))
        for name in os.listdir(target.parent):
            if ours.fullmatch(name):
                with suppress(OSError):
                    if left := acquire(target.parent / name):
                        left.release()
        lock = acquire(target.parent / f"{label}.{secrets.token_hex(4)}{PART_SUFFIX}")
        assert lock is not None  # no other process knows the name
        return lock, target


def _temporary_prefix(name: str) -> str:
    whole = os.fsencode(name)
    return f".{name if len(whole) <= MAX_NAME_BYTES else hashlib.blake2b(whole, digest_size=8).hexdigest()}"


@contextmanager
def _open_stream(lock: Lock, *, binary: bool) -> Iterator[IO[Any]]:
    """The locked file, open for writing; closing it or opening it twice would release the lock."""
    descriptor = lock.descriptor
    stream: IO[Any] = (
        os.fdopen(descriptor, "wb", closefd=False)
        if binary
        else os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace", newline="", closefd=False)
    )
    with stream:
        yield stream
