"""Which files of a folder this program wrote: only those may it ever replace or remove.

The manifest stands beside the results. It knows every file by what was in it, so that a file that somebody changed, or
put in the place of one of ours, is no longer ours.
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
        run: differs from run to run.
        files: what was in every file, by its path below the folder.
        parts: folders below that have a manifest of their own.
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
    """What this program wrote into a folder; None without a manifest, or with one that tells nothing."""
    try:
        return MANIFEST_KIND.read(folder / MANIFEST_FILE)
    except InputError:
        return None


def manifest_bytes(folder: Path) -> bytes:
    """Differs when somebody has written the folder meanwhile; empty without a manifest."""
    try:
        return (folder / MANIFEST_FILE).read_bytes()
    except OSError:
        return b""


def write_manifest(folder: Path, previous: Manifest | None = None) -> None:
    """Write the manifest of a folder's files, which reach the disk before it; ``kept``: what else will be there."""
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
    """Files that this program wrote below a folder and what was in them; None of a manifest, ours by its name."""
    found = read_manifest(folder)
    if found is None:
        return {}
    ours: dict[str, str | None] = {MANIFEST_FILE: None, **found.files}
    for part in found.parts:
        ours |= {f"{part}/{name}": digest for name, digest in files_written(folder / part).items()}
    return ours


def is_unchanged(folder: Path, name: str, digest: str | None) -> bool:
    """Whether a file below a folder, and no link to elsewhere, still holds what this program wrote."""
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
    """What is in a file, in short; ``keep`` sees to it that the file survives a loss of power."""
    digest = hashlib.blake2b(digest_size=16)
    with path.open("r+b" if sync else "rb") as stream:
        while block := stream.read(BLOCK_BYTES):
            digest.update(block)
        if sync:
            os.fsync(stream.fileno())
    return digest.hexdigest()
