"""Every recording of markers among the real recordings."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from solver.base.errors import InputError
from solver.formats.recording import read_recording
from solver.options.reading import ReadOptions
from solver.values.motion import Markers

SUFFIXES = (".trc", ".c3d", ".npz")


def read_options(path: Path) -> ReadOptions:
    """Those that the format knows."""
    return ReadOptions(ragged=path.suffix.lower() == ".trc")


def marker_files(data: Path) -> tuple[Path, ...]:
    """Files that may hold markers."""
    return tuple(path for path in sorted(data.rglob("*")) if path.suffix.lower() in SUFFIXES)


def marker_recordings(data: Path) -> Iterator[tuple[str, Markers]]:
    """Name and markers of every file that holds some; what no reader accepts is left out."""
    for path in marker_files(data):
        try:
            markers = read_recording(path, read_options(path)).markers
        except InputError:
            continue
        if markers is not None:
            yield path.relative_to(data).as_posix(), markers
