"""Marker trajectories in TRC text files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from ..base.arrays import find_repeated
from ..base.errors import InputError
from ..options.reading import ReadOptions
from ..signals.trial import Recording
from ..values.motion import Markers
from .axes_and_units import length_in_metres
from .marker_positions import MarkerSource
from .text_files import (
    MISSING_CELLS,
    Warn,
    ignore_warning,
    parse_rate,
    parse_rows,
    read_lines,
    read_rows,
    require_cells,
    resolve_times,
    split_cells,
)
from .trial_names import printable_name

HEADER_LINES = 5
"""By the TRC format."""
KEYS_LINE, VALUES_LINE, NAMES_LINE, AXES_LINE = 2, 3, 4, 5
"""Line numbers, from 1."""
LEADING_COLUMNS = 2
"""Number of columns before the first marker: frame number and time. By the TRC format."""


def read_trc(
    path: str | Path, up: str = "auto", units: str | None = None, *, ragged: bool = False, warn: Warn = ignore_warning
) -> tuple[Markers, str]:
    """Read the markers of a TRC file in metres, z up, and the file's vertical axis.

    A sample is missing (NaN) if a coordinate's cell is empty or ``nan``, or if all three are one number, such as 0 or
    9999999. Rounded time stamps are replaced by uniform ones if these agree with the DataRate. Trajectories without a
    name are called ``unnamed_K``, where K is their place in the file.

    Args:
        path: the file.
        up: the file's vertical axis (``"x" "y" "z" "-x" "-y" "-z"``), or ``"auto"`` to detect it.
        units: ``"mm"``, ``"cm"`` or ``"m"`` to override the header.
        ragged: accept rows that end early; their last markers are missing.
        warn: receives messages about irregularities.

    Raises:
        InputError: not a TRC file, a short or long row, a cell that is not a number, times out of order, an axis or
            unit that contradicts the data, no frames.
    """
    head = list(islice(read_lines(path), HEADER_LINES))
    if len(head) < HEADER_LINES or not head[0].lstrip().lower().startswith("pathfiletype"):
        problem = "is not a TRC file: the first line must start with PathFileType"
        raise InputError(path, problem, place="line 1", remedy="Export the markers as TRC again")
    header = _parse_header(head[KEYS_LINE - 1], head[VALUES_LINE - 1])
    names = _parse_names(path, head[NAMES_LINE - 1], header, warn)
    if (unit := units or header.get("units")) is None:
        raise InputError(path, "no Units in the header", place=f"line {KEYS_LINE}", remedy="State units = m, cm or mm")
    metre = length_in_metres(unit, path)
    _check_axes(path, head[AXES_LINE - 1])
    titles = ["Frame#", "Time", *(f"{name} {axis}" for name in names for axis in "XYZ")]
    cells = require_cells(path, _split_rows(path, titles, ragged), len(titles), "the marker names need")
    rows = parse_rows(path, cells, titles, LEADING_COLUMNS)
    declared = header.get("numframes", "")
    if declared.isdigit() and int(declared) != len(rows.lines):
        warn(f"{Path(path).name}: the header states {declared} frames, but there are {len(rows.lines)}; all are used")
    times = resolve_times(path, rows, parse_rate(path, header.get("datarate", ""), f"line {VALUES_LINE}, DataRate"))
    positions = rows.values.reshape(len(times), len(names), 3)
    return MarkerSource(path, times, names, positions.__getitem__, metre, unit).convert(up, warn)


def read_recording_file(path: Path, options: ReadOptions, motion_up: str | None, warn: Warn) -> tuple[Recording, str]:
    """Read a TRC file; see `file_formats.FileFormat`."""
    markers, up = read_trc(path, options.up, options.units, ragged=options.ragged, warn=warn)
    return Recording(printable_name(path.stem), markers), up


def _parse_header(keys: str, values: str) -> dict[str, str]:
    """Values by key in lower case: in their order or, if some are empty, by their columns."""
    titles, cells = keys.split(), values.split()
    if len(cells) < len(titles):
        titles, cells = split_cells(keys), split_cells(values)
    return {title.lower(): cell for title, cell in zip(titles, cells) if cell}


def _parse_names(path: str | Path, line: str, header: Mapping[str, str], warn: Warn) -> tuple[str, ...]:
    """Names of all trajectories, checked against the header's count, or numbered by their place."""
    cells = [cell.strip('"') for cell in split_cells(line)[LEADING_COLUMNS:]]
    if not (names := tuple(name for name in cells if name)):
        problem = "the line of marker names is empty"
        raise InputError(path, problem, place=f"line {NAMES_LINE}", remedy="Export the markers as TRC again")
    if twice := find_repeated(names):
        problem = f"marker names occur twice: {', '.join(twice)}"
        raise InputError(path, problem, place=f"line {NAMES_LINE}", remedy="Give every marker its own name")
    count = _count_trajectories(path, len(names))
    places = [k for k, name in enumerate(cells) if name]
    if any(place % 3 for place in places):  # not above their columns, so that no name can lack between two others
        places = [3 * k for k in range(len(names))] if places == list(range(len(names))) else []
    if count > len(names) and places and places[-1] < 3 * count:
        named = dict(zip(places, names))
        names = tuple(named.get(3 * k, f"unnamed_{k + 1}") for k in range(count))
        added = [name for name in names if name not in named.values()]
        warn(f"{Path(path).name}: trajectories without a name are called {', '.join(added)}")
    declared = header.get("nummarkers", "")
    if declared.isdigit() and int(declared) != len(names):
        warn(f"{Path(path).name}: the header states {declared} markers, but there are {len(names)}; all are used")
    return names


def _count_trajectories(path: str | Path, named: int) -> int:
    """Number of trajectories that every row has; the number of names unless the rows agree on a larger one."""
    filled = least = 0
    for _, cells in read_rows(path, HEADER_LINES):
        if len(cells) < LEADING_COLUMNS + 3 * named + 3:  # quick for all usual files
            return named
        filled = max([filled, *(k + 1 for k, cell in enumerate(cells) if cell.lower() not in MISSING_CELLS)])
        least = min(least or len(cells), len(cells))
    count, rest = divmod(filled - LEADING_COLUMNS, 3)
    return count if count > named and not rest and least >= filled else named


def _check_axes(path: str | Path, line: str) -> None:
    """Check the order X, Y, Z of the axes in the fifth line, if it is filled in."""
    axes = "".join(cell[:1].upper() for cell in line.split())
    if set(axes) <= set("XYZ") and axes != "XYZ" * (len(axes) // 3):
        shown = " ".join(line.split()[:3])
        problem = f"the axes are not in the order X, Y, Z ({shown} ...)"
        raise InputError(path, problem, place=f"line {AXES_LINE}", remedy="Export each marker's columns as X, Y, Z")


def _split_rows(path: str | Path, titles: Sequence[str], ragged: bool) -> Iterator[tuple[int, list[str]]]:
    """Line numbers and cells of all rows, as many as there are titles."""
    for number, cells in read_rows(path, HEADER_LINES):
        if len(cells) < len(titles):
            if not ragged:
                problem = f"the row has {len(cells)} of {len(titles)} cells and ends before {titles[len(cells)]!r}"
                remedy = "Write a missing sample as an empty cell, or read the file as ragged"
                raise InputError(path, problem, place=f"line {number}", remedy=remedy)
            cells += [""] * (len(titles) - len(cells))
        frame = cells[0] if cells[0].isascii() and cells[0].isdigit() else "0"
        yield number, [frame, *cells[1:]]
