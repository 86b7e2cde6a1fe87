"""Outputs appear whole or not at all."""

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
"""Bytes of a file's name that the name of its temporary file takes over."""
MIN_FREE_BYTES = 1 << 24
"""Bytes that results need at least."""
PROBE_BYTES = 1 << 16
"""Bytes written to see whether writing is possible at all: quotas and limits show in no other way."""
CANNOT_WRITE = (
    *(errno.ENOSPC, errno.EFBIG, errno.EROFS, errno.EIO, errno.EACCES, errno.ENAMETOOLONG),
    getattr(errno, "EDQUOT", errno.ENOSPC),
)
"""Failures of the place that is written to; any other in the midst of writing is a defect of ours."""
REMEDY = "Name a folder that exists and is yours, on a disk with room"


@contextmanager
def write_atomically(path: str | Path, *, binary: bool = False) -> Iterator[IO[Any]]:
    """An open stream (UTF-8 text with plain line feeds, or bytes) that replaces ``path`` when the block ends well.

    The data goes to a temporary file in the same folder, which is removed when the block raises or is cancelled, and by
    the next writer of ``path`` when this process is killed: a reader sees the old file or the new one, never half of
    one. Half a character, as in a file name that is not UTF-8, is written as its escape, which JSON reads back.

    Raises:
        InputError: the folder does not exist, may not be written or is full; no file can stand there.
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
                    lock.unlock()  # an open file has no other name there
                os.replace(lock.path, target)
                note_output(path)
        except BaseException:
            lock.release()
            raise
        lock.unlock()


def check_writable(path: str | Path) -> None:
    """See that a file can be written, before any work.

    Raises:
        InputError: it cannot.
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
    """See that a folder's disk has room for results.

    Raises:
        OSError: hardly any.
    """
    space = shutil.disk_usage(folder)
    if space.total > 0 and space.free < MIN_FREE_BYTES:  # some file systems tell nothing
        raise OSError(errno.ENOSPC, f"only {space.free / 2**20:.1f} MB of the disk are free")


def longest_temporary_name(path: Path) -> Path:
    """The longest name that a file has while it is written."""
    return path.with_name(f"{_temporary_prefix(path.name)}.{'0' * 8}{PART_SUFFIX}")


@contextmanager
def report_os_errors(path: str | Path, error_numbers: tuple[int, ...] = ()) -> Iterator[None]:
    """What the system refuses, as an error that names the file or folder.

    Args:
        path: as the user named it.
        error_numbers: error numbers that are meant; all by default.

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
    """A locked temporary file, and the place that it is for; those that killed processes left there are removed."""
    with report_os_errors(path):
        target = Path(os.path.realpath(path))  # a link stays, and what it leads to is replaced
        if target.exists() and not target.is_file():
            what = "is a folder" if target.is_dir() else "is no plain file"
            raise InputError(path, f"{what}, a file is needed", remedy="Name another file")
        label = _temporary_prefix(target.name)
        ours = re.compile(re.escape(label) + r"\.[0-9a-f]{8}" + re.escape(PART_SUFFIX))
        for name in os.listdir(target.parent):
            if ours.fullmatch(name):
                with suppress(OSError):
                    if left := acquire(target.parent / name):
                        left.release()
        lock = acquire(target.parent / f"{label}.{secrets.token_hex(4)}{PART_SUFFIX}")
        assert lock is not None  # nobody else knows the name
        return lock, target


def _temporary_prefix(name: str) -> str:
    whole = os.fsencode(name)
    return f".{name if len(whole) <= MAX_NAME_BYTES else hashlib.blake2b(whole, digest_size=8).hexdigest()}"


@contextmanager
def _open_stream(lock: Lock, *, binary: bool) -> Iterator[IO[Any]]:
    """The locked file, open for writing; to close it, or to open it twice, would let go of it."""
    descriptor = lock.descriptor
    stream: IO[Any] = (
        os.fdopen(descriptor, "wb", closefd=False)
        if binary
        else os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace", newline="", closefd=False)
    )
    with stream:
        yield stream
