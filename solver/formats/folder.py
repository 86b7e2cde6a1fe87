"""A folder of results appears complete or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import InputError


@contextmanager
def write_folder(path: str | Path) -> Iterator[Path]:
    """A new empty folder beside ``path``; when the block ends well, its files are moved to ``path``.

    A folder that exists keeps its other files; a file of the same name is replaced. When the block raises or is
    cancelled, ``path`` is as it was.

    Raises:
        InputError: the folder cannot be made, or a file stands at its place.
    """
    path = Path(path)
    if path.exists() and not path.is_dir():
        raise InputError(path, "is a file, a folder is needed", remedy="Name another folder")
    made = _make_parents(path.absolute().parent)
    building = path.absolute().parent / f".{path.name}.{secrets.token_hex(4)}.part"
    try:
        building.mkdir()
    except OSError as error:
        _remove_empty(made)
        raise InputError(path, f"cannot be made: {error.strerror}", remedy="Name a folder that is yours") from None
    try:
        yield building
        _move(building, path)
    except BaseException:
        shutil.rmtree(building, ignore_errors=True)
        _remove_empty(made)
        raise


def _make_parents(folder: Path) -> list[Path]:
    """Make a folder and those above it; the ones that were made, innermost first."""
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(folder, f"cannot be made: {error.strerror}", remedy="Name a folder that is yours") from None
    return missing


def _remove_empty(folders: list[Path]) -> None:
    for folder in folders:
        try:
            folder.rmdir()
        except OSError:
            return


def _move(building: Path, path: Path) -> None:
    if not path.exists():
        os.replace(building, path)
        return
    for source in sorted(building.rglob("*")):
        target = path / source.relative_to(building)
        if source.is_dir():
            target.mkdir(exist_ok=True)
        else:
            os.replace(source, target)
    shutil.rmtree(building)
