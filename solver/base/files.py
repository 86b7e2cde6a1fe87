"""Conversion of given paths, and checks of every file before it is read: existence, kind and size."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import TypeAlias

from .errors import InputError, InvalidValue

AnyPath: TypeAlias = str | os.PathLike[str]
Paths: TypeAlias = AnyPath | Iterable[AnyPath]
"""One path or several, as accepted by public functions."""

LARGEST = 4 << 30
"""Largest size of a file in bytes. Chosen on an hour of 60 markers at 100 Hz, which takes less than one gigabyte as
text."""


def as_paths(given: Paths) -> tuple[Path, ...]:
    """The paths given: one (``"walk.trc"``, ``Path("walk.trc")``) or any iterable of them.

    Raises:
        InvalidValue: something that is no path, or an empty one, which would mean the current folder.
    """
    found = []
    for path in (given,) if isinstance(given, str | os.PathLike) or not isinstance(given, Iterable) else given:
        if not isinstance(path, str | os.PathLike) or not isinstance(os.fspath(path), str):
            raise InvalidValue(f"{path!r} is not a path; give a string, a Path, or several of them")
        if not os.fspath(path).strip():
            raise InvalidValue("a path is empty; name a file or a folder")
        found.append(Path(path))
    return tuple(found)


def check_file(path: str | Path, largest: int = LARGEST) -> int:
    """Check a file without opening it, since opening a pipe or a device may block; its size in bytes.

    Raises:
        InputError: missing, a folder, a pipe, a device, an invalid name, empty, or larger than ``largest`` bytes.
    """
    try:
        found = Path(path).stat()
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(path, "the file does not exist", remedy="Check the path") from None
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from None
    if stat.S_ISDIR(found.st_mode):
        raise InputError(path, "is a folder, not a file", remedy="Name one file in it")
    if not stat.S_ISREG(found.st_mode):
        raise InputError(path, "is a pipe or a device, not a file", remedy="Write what it gives to a file first")
    if not found.st_size:
        raise InputError(path, "the file is empty", remedy="Export or copy it again")
    if found.st_size > largest:
        problem = f"is too large ({found.st_size / 2**20:.0f} MB; up to {largest >> 20} MB are read)"
        raise InputError(path, problem, remedy="Check that it is the right file, or cut it into shorter pieces")
    return found.st_size


def first_bytes(path: str | Path, count: int) -> bytes:
    """First ``count`` bytes of a file.

    Raises:
        InputError: no file, unreadable, empty or too large.
    """
    check_file(path)
    try:
        with Path(path).open("rb") as stream:
            return stream.read(count)
    except OSError as error:
        raise unreadable(path, error) from None


def read_bytes(path: str | Path) -> bytes:
    """Content of a file.

    Raises:
        InputError: no file, unreadable, empty or too large.
    """
    check_file(path)
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise unreadable(path, error) from None
    if not content.strip():
        raise InputError(path, "the file is empty", remedy="Export or copy it again")
    return content


def unreadable(path: str | Path, error: Exception) -> InputError:
    """The error of a file that the system does not let us read."""
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return InputError(path, f"cannot be read: {reason}", remedy="Check the path and its permissions")
