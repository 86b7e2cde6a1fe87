"""Manifest of a results folder: the files that this program wrote there, with a digest of each.

Only these may a later run replace or remove, as long as they are unchanged. A folder whose manifest and files disagree
is unfinished: its writer was killed, or a file was changed since. Reading changes nothing.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Self

from ..base.errors import InputError, InvalidValue
from .codec import FileKind

MAX_NAME_BYTES, MAX_PATH_BYTES = 255, 2000
"""[bytes] Longest name of a file, and longest path below a folder, on all file systems in use."""
MANIFEST_FILE = ".exciting_dance.json"
BLOCK_BYTES = 1 << 20


class StoredPath(str):
    """A path below a folder, with slashes, as files of this program store it.

    Raises:
        InvalidValue: it is absolute, has a drive, a backslash, ``.``, ``..`` or an empty part, or is too long.
    """

    __slots__ = ()

    def __new__(cls, path: str) -> Self:
        parts = path.split("/")
        sound = path.isprintable() and "\\" not in path and path[1:2] != ":" and len(path.encode()) <= MAX_PATH_BYTES
        if not sound or any(part in ("", ".", "..") or len(part.encode()) > MAX_NAME_BYTES for part in parts):
            raise InvalidValue(f"{path[:60]!r} is not the path of a file below its folder")
        return super().__new__(cls, path)


class FileName(StoredPath):
    """A name from a file or the user that becomes the name of a file: a `StoredPath` without a slash.

    Raises:
        InvalidValue: as `StoredPath`, or it has a slash.
    """

    __slots__ = ()

    def __new__(cls, name: str) -> Self:
        if "/" in name:
            raise InvalidValue(f"{name[:60]!r} is not the name of a file")
        return super().__new__(cls, name)


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


@dataclass(frozen=True, slots=True)
class Manifest:
    """What this program wrote into a folder.

    Attributes:
        files: digest of every file of the results, by its path below the folder; a subfolder may have its own manifest.
        former: of files of earlier results that are still there, or are being replaced.
    """

    files: Mapping[StoredPath, str] = field(default_factory=dict)
    former: Mapping[StoredPath, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if MANIFEST_FILE in self.files or MANIFEST_FILE in self.former:
            raise InvalidValue("lists itself")


MANIFEST_KIND = FileKind(Manifest, "exciting dance manifest", remedy="Name another folder, or remove this file")


def read_manifest(folder: Path) -> Manifest | None:
    """The manifest of a folder; None if it has none.

    Raises:
        InputError: it is damaged, of a newer version, or a link.
    """
    path = path_within(folder, MANIFEST_FILE)
    return MANIFEST_KIND.read(path) if os.path.lexists(path) else None


def stored_file(folder: str | Path, name: str) -> Path:
    """The path of a file in a folder that may come from anybody, to be read; it exists if the manifest lists it.

    Raises:
        InputError: it is a link, or the folder is unfinished: the manifest lists another content, or a missing file.
    """
    path, manifest = path_within(folder, name), read_manifest(Path(folder))
    digest = None if manifest is None else manifest.files.get(StoredPath(name))
    if digest is not None and current_digest(Path(folder), name) != digest:
        what = "differs from what was written" if os.path.isfile(path) else "is missing"
        remedy = "Run the command again; or, if you changed the file, copy it into a folder of its own"
        raise InputError(path, f"{what}: the results in its folder are unfinished", remedy=remedy)
    return path


def check_complete(folder: Path) -> frozenset[str]:
    """Check that every file of a folder's manifest is there and unchanged; their names.

    Raises:
        InputError: as `stored_file`.
    """
    manifest = read_manifest(folder) or Manifest()
    return frozenset(stored_file(folder, name).relative_to(folder).as_posix() for name in manifest.files)


def files_written(folder: Path) -> dict[str, set[str]]:
    """Digests that each file may have which this program wrote below a folder; none for a manifest in a subfolder.

    Raises:
        InputError: a manifest is damaged, of a newer version, or a link.
    """
    manifest = read_manifest(folder) or Manifest()
    found: dict[str, set[str]] = {}
    for name, digest in (*manifest.files.items(), *manifest.former.items()):
        found.setdefault(str(name), set()).add(digest)
    for part in [name for name in found if PurePosixPath(name).name == MANIFEST_FILE]:
        below = str(PurePosixPath(part).parent)
        found[part] = set()
        found |= {f"{below}/{name}": digests for name, digests in files_written(path_within(folder, below)).items()}
    return found


def current_digest(folder: Path, name: str) -> str | None:
    """Digest of a file below a folder; None if there is none, or if it is a link or lies behind one."""
    path = Path(os.path.realpath(folder)) / name
    return file_digest(path) if os.path.isfile(path) and Path(os.path.realpath(path)) == path else None


def file_digest(path: Path, *, sync: bool = False) -> str:
    """Digest of a file's content; with ``sync`` the file is flushed to the disk."""
    digest = hashlib.blake2b(digest_size=16)
    with path.open("r+b" if sync else "rb") as stream:
        while block := stream.read(BLOCK_BYTES):
            digest.update(block)
        if sync:
            os.fsync(stream.fileno())
    return digest.hexdigest()
