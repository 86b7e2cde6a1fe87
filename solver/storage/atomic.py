"""Atomic writing of files: an output file appears complete or not at all."""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from ..base.errors import InputError
from ..base.termination import note_output, on_stop, uninterrupted

WORK_NAME = re.compile(r"\.exciting_dance\.[0-9a-f]{8}\.part")
"""Names of files and folders in which outputs are prepared."""
ABANDONED_AGE = 3600.0
"""[s] A temporary file to which nothing was written for so long is one that a killed process left."""
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
    process is killed, a later writer in that folder removes it. A reader sees the old file or the new one, never a
    part. A lone surrogate, as in a file name that is not UTF-8, is written as its escape, which JSON reads back.

    Raises:
        InputError: the folder does not exist, is not writable or is full, or ``path`` cannot be a file.
    """
    target, temporary = _choose_names(Path(path))
    mode = {"mode": "xb"} if binary else {"mode": "x", "encoding": "utf-8", "errors": "backslashreplace", "newline": ""}
    with _removed(temporary):
        with report_os_errors(path):
            stream: IO[Any] = open(temporary, **mode)  # type: ignore[call-overload] # noqa: SIM115
        with report_os_errors(path, error_numbers=CANNOT_WRITE), stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        with report_os_errors(path), uninterrupted():
            os.replace(temporary, target)
            note_output(path)


def check_writable(path: str | Path) -> None:
    """Check that a file can be written, before any work.

    Raises:
        InputError: it cannot be written.
    """
    target, temporary = _choose_names(Path(path))
    with report_os_errors(path), _removed(temporary):
        probe_space(target.parent, temporary)


def probe_space(folder: Path, probe: Path) -> None:
    """Check that a folder's disk has space for results, and write a file there, which the caller removes.

    Raises:
        OSError: hardly any space is free, or nothing can be written.
    """
    space = shutil.disk_usage(folder)
    if space.total > 0 and space.free < MIN_FREE_BYTES:  # some file systems report nothing
        raise OSError(errno.ENOSPC, f"only {space.free / 2**20:.1f} MB of the disk are free")
    probe.write_bytes(bytes(PROBE_BYTES))


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


def unused_name(folder: Path) -> Path:
    """A name that no other file or folder has, for an output that is being prepared."""
    return folder / f".exciting_dance.{secrets.token_hex(4)}.part"


def _choose_names(path: Path) -> tuple[Path, Path]:
    """The target of a path, with links resolved, and an unused name beside it; removes what killed processes left."""
    with report_os_errors(path):
        target = Path(os.path.realpath(path))  # a link is kept, and its target replaced
        if target.exists() and not target.is_file():
            what = "is a folder" if target.is_dir() else "is not a regular file"
            raise InputError(path, f"{what}, a file is needed", remedy="Name another file")
        for other in os.scandir(target.parent):
            if WORK_NAME.fullmatch(other.name):
                with suppress(OSError):  # also of a folder
                    if time.time() - other.stat(follow_symlinks=False).st_mtime > ABANDONED_AGE:
                        os.unlink(other)
        return target, unused_name(target.parent)


@contextmanager
def _removed(temporary: Path) -> Iterator[None]:
    """Removes a temporary file, if it still exists, at the end of the block and on termination."""

    def remove() -> None:
        with suppress(OSError):
            temporary.unlink()

    try:
        with on_stop(remove):
            yield
    finally:
        remove()
