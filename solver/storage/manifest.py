"""Manifest of the files that this program wrote into a folder; only these may it replace or remove.

The manifest is a file beside the results. It holds a digest of every file, so that a file which was changed or replaced
no longer counts as written by this program.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from ..errors import InputError, InvalidValue
from .codec import FileKind

MANIFEST_FILE = ".exciting_dance.json"
BLOCK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Manifest:
    """What one run wrote into a folder.

    Attributes:
        run: random identifier of the run.
        files: digest of every file, by its path relative to the folder.
        parts: subfolders that have a manifest of their own.
    """

    run: str = field(default_factory=lambda: secrets.token_hex(8))
    files: Mapping[str, str] = field(default_factory=dict)
    parts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in (*self.files, *self.parts):
            place = PurePosixPath(name)
            if not place.parts or place.is_absolute() or ".." in place.parts or ":" in place.parts[0]:
                raise InvalidValue(f"{name!r} is not below the folder")


MANIFEST_KIND = FileKind(Manifest, "exciting dance manifest", remedy="Name another folder")


def read_manifest(folder: Path) -> Manifest | None:
    """The manifest of a folder; None if it is missing or cannot be read."""
    try:
        return MANIFEST_KIND.read(folder / MANIFEST_FILE)
    except InputError:
        return None


def manifest_bytes(folder: Path) -> bytes:
    """Content of the manifest file, which differs after every write of the folder; empty without a manifest."""
    try:
        return (folder / MANIFEST_FILE).read_bytes()
    except OSError:
        return b""


def write_manifest(folder: Path, previous: Manifest | None = None) -> None:
    """Write the manifest of a folder's files, after they have reached the disk.

    Args:
        folder: of the files.
        previous: manifest of files that will be in the folder too.
    """
    parts = [] if previous is None else list(previous.parts)
    files = {} if previous is None else dict(previous.files)
    for name in sorted(list_files(folder)):
        path = folder / name
        if path.name == MANIFEST_FILE:
            parts.append(str(PurePosixPath(name).parent))
        else:
            files[name] = file_digest(path, sync=True)
    own = [part for part in dict.fromkeys(parts) if part != "."]
    inside = tuple(f"{part}/" for part in own)
    listed = {name: found for name, found in files.items() if not name.startswith(inside)}
    MANIFEST_KIND.write(folder / MANIFEST_FILE, Manifest(files=listed, parts=tuple(own)))


def files_written(folder: Path) -> dict[str, str | None]:
    """Digests of the files that this program wrote below a folder; None for a manifest, which its name identifies."""
    found = read_manifest(folder)
    if found is None:
        return {}
    ours: dict[str, str | None] = {MANIFEST_FILE: None, **found.files}
    for part in found.parts:
        ours |= {f"{part}/{name}": digest for name, digest in files_written(folder / part).items()}
    return ours


def is_unchanged(folder: Path, name: str, digest: str | None) -> bool:
    """Whether a file below a folder, not a link to elsewhere, still has the content that this program wrote."""
    path = folder / name
    if not os.path.isfile(path) or Path(os.path.realpath(path)) != Path(os.path.realpath(folder)) / name:
        return False
    return digest is None or file_digest(path) == digest


def list_files(folder: Path) -> Iterator[str]:
    """Paths of all files below a folder, relative to it, with slashes."""
    for place, _, names in os.walk(folder):
        for name in names:
            yield (Path(place) / name).relative_to(folder).as_posix()


def file_digest(path: Path, *, sync: bool = False) -> str:
    """Digest of a file's content; with ``sync`` the file is flushed to the disk."""
    digest = hashlib.blake2b(digest_size=16)
    with path.open("r+b" if sync else "rb") as stream:
        while block := stream.read(BLOCK_BYTES):
            digest.update(block)
        if sync:
            os.fsync(stream.fileno())
    return digest.hexdigest()
