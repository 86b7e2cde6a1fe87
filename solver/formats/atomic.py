"""Outputs appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from ..errors import InputError

READABLE_BY_ALL = 0o666


@contextmanager
def write_atomically(path: str | Path, *, binary: bool = False) -> Iterator[IO[Any]]:
    """An open stream (UTF-8 text with plain line feeds, or bytes) that replaces ``path`` when the block ends well.

    The data goes to a temporary file in the same folder, which is removed when the block raises or is cancelled:
    a reader sees the old file or the new one, never half of one.

    Raises:
        InputError: the folder does not exist or may not be written.
    """
    path = Path(path)
    try:
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(
            path, f"cannot be written: {reason}", remedy="Name a folder that exists and is yours"
        ) from None
    stream: IO[Any] = (
        os.fdopen(descriptor, "wb") if binary else os.fdopen(descriptor, "w", encoding="utf-8", newline="")
    )
    try:
        with stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(name, READABLE_BY_ALL & ~_umask())
        try:
            os.replace(name, path)
        except OSError as error:
            reason = error.strerror or str(error)
            raise InputError(path, f"cannot be replaced: {reason}", remedy="Name a file, not a folder") from None
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise


def _umask() -> int:
    """The process's file mode mask; the only portable way to read it is to set it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
