"""Paths by which a file of this program names another: below their folder, and never out of it."""

from __future__ import annotations

import os
from pathlib import Path

from ..errors import InputError, InvalidValue

MAX_NAME_BYTES, MAX_PATH_BYTES = 255, 2000
"""[bytes] Longest name of a file, and longest path below a folder, on all file systems in use."""


class StoredPath(str):
    """A path below a folder, with slashes, as files of this program store it.

    Raises:
        InvalidValue: it is absolute, has a drive, a backslash, ``.``, ``..`` or an empty part, or is too long.
    """

    __slots__ = ()

    def __new__(cls, path: str) -> StoredPath:
        parts = path.split("/")
        sound = path.isprintable() and "\\" not in path and path[1:2] != ":" and len(path.encode()) <= MAX_PATH_BYTES
        if not sound or any(part in ("", ".", "..") or len(part.encode()) > MAX_NAME_BYTES for part in parts):
            raise InvalidValue(f"{path[:60]!r} is not the path of a file below its folder")
        return super().__new__(cls, path)


def path_within(folder: str | Path, name: str) -> Path:
    """The path of a file below a folder, which need not exist; the folder itself may be a link.

    Raises:
        InputError: the file is a link or lies behind one.
        InvalidValue: as `StoredPath`.
    """
    name, path = StoredPath(name), Path(folder) / name
    if Path(os.path.realpath(path)) != Path(os.path.realpath(folder)) / name:
        raise InputError(path, "is a link, and links in a results folder are not followed", remedy="Put a copy there")
    return path
