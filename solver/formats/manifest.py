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

MANIFEST = ".exciting_dance.json"
BLOCK = 1 << 20


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


KIND = FileKind(Manifest, "exciting dance manifest", remedy="Name another folder")


def manifest_of(folder: Path) -> Manifest | None:
    """What this program wrote into a folder; None without a manifest, or with one that tells nothing."""
    try:
        return KIND.read(folder / MANIFEST)
    except InputError:
        return None


def stamp(folder: Path) -> bytes:
    """Differs when somebody has written the folder meanwhile; empty without a manifest."""
    try:
        return (folder / MANIFEST).read_bytes()
    except OSError:
        return b""


def seal(folder: Path, kept: Manifest | None = None) -> None:
    """Write the manifest of a folder's files, which reach the disk before it; ``kept``: what else will be there."""
    parts = [] if kept is None else list(kept.parts)
    files = {} if kept is None else dict(kept.files)
    for name in sorted(files_below(folder)):
        path = folder / name
        if path.name == MANIFEST:
            parts.append(str(PurePosixPath(name).parent))
        else:
            files[name] = content(path, keep=True)
    own = [part for part in dict.fromkeys(parts) if part != "."]
    inside = tuple(f"{part}/" for part in own)
    listed = {name: found for name, found in files.items() if not name.startswith(inside)}
    KIND.write(folder / MANIFEST, Manifest(files=listed, parts=tuple(own)))


def ours_in(folder: Path) -> dict[str, str | None]:
    """Files that this program wrote below a folder and what was in them; None of a manifest, ours by its name."""
    found = manifest_of(folder)
    if found is None:
        return {}
    ours: dict[str, str | None] = {MANIFEST: None, **found.files}
    for part in found.parts:
        ours |= {f"{part}/{name}": digest for name, digest in ours_in(folder / part).items()}
    return ours


def is_as_written(folder: Path, name: str, digest: str | None) -> bool:
    """Whether a file below a folder, and no link to elsewhere, still holds what this program wrote."""
    path = folder / name
    if not os.path.isfile(path) or Path(os.path.realpath(path)) != Path(os.path.realpath(folder)) / name:
        return False
    return digest is None or content(path) == digest


def files_below(folder: Path) -> Iterator[str]:
    """Paths of all files below a folder, relative to it, with slashes."""
    for place, _, names in os.walk(folder):
        for name in names:
            yield (Path(place) / name).relative_to(folder).as_posix()


def content(path: Path, *, keep: bool = False) -> str:
    """What is in a file, in short; ``keep`` sees to it that the file survives a loss of power."""
    digest = hashlib.blake2b(digest_size=16)
    with path.open("r+b" if keep else "rb") as stream:
        while block := stream.read(BLOCK):
            digest.update(block)
        if keep:
            os.fsync(stream.fileno())
    return digest.hexdigest()
