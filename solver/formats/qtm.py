"""Marker trajectories in the .tsv files of Qualisys Track Manager.

Lines ``KEY<tab>VALUE`` state the rate (FREQUENCY) and the marker names (MARKER_NAMES). Each following row holds X, Y
and Z [mm] of every marker, after frame number and time if these were exported; column titles may come before them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from ..base.arrays import find_repeated
from ..base.errors import InputError
from ..values.motion import Markers
from .axes_and_units import length_in_metres
from .marker_positions import MarkerSource
from .text_files import (
    Warn,
    ignore_warning,
    parse_rate,
    parse_rows,
    read_lines,
    read_rows,
    require_cells,
    resolve_times,
    split_at_tabs,
)

FIRST_KEYS = ("FILE_VERSION", "NO_OF_FRAMES", "NO_OF_SAMPLES")
"""Keys of which one begins a file."""
NAMES, RATE, CONTENT = "MARKER_NAMES", "FREQUENCY", "DATA_INCLUDED"
POSITIONS = "3D"
"""Value of DATA_INCLUDED in a file of markers."""
UNIT = "mm"
"""Of all lengths that the program exports."""
LEADING_TITLES = ("Frame", "Time")
"""Columns before the first marker or force, if they were exported."""
FIRST_TITLES = ("frame", "time", "sample", "force_x")
"""Titles of the first column in lower case, if titles were exported; others begin with a marker's name and X."""


def is_qtm(path: Path) -> bool:
    """Whether a .tsv is an export of Qualisys Track Manager.

    Raises:
        InputError: it cannot be read.
    """
    return next((line for line in read_lines(path) if line.strip()), "").split("\t")[0].strip() in FIRST_KEYS


def has_markers(path: Path) -> bool:
    """Whether an export holds trajectories of markers, not 2D data, forces or bodies."""
    header, _ = parse_header(read_lines(path))
    return NAMES in header and header.get(CONTENT, (POSITIONS,))[0] == POSITIONS


def read_qtm(
    path: str | Path, up: str = "auto", units: str | None = None, *, warn: Warn = ignore_warning
) -> tuple[Markers, str]:
    """Markers in metres, z up, and the file's vertical axis.

    A sample is missing (NaN) if a coordinate's cell is empty or ``NULL``, or if all three are one number, such as 0 or
    9999999.

    Args:
        path: the file.
        up: the file's vertical axis, or ``"auto"`` to detect it.
        units: ``"mm"``, ``"cm"`` or ``"m"``, if the file was changed after its export.
        warn: receives messages about irregularities.

    Raises:
        InputError: another content than markers, no names, no rate and no times, a row of another length, a cell that
            is not a number, times out of order, an axis or unit that contradicts the data, no frames.
    """
    header, start = parse_header(read_lines(path))
    content = header.get(CONTENT, (POSITIONS,))[0]
    if content != POSITIONS or NAMES not in header:
        problem = f"holds {content} data, not 3D trajectories of markers" if content != POSITIONS else f"has no {NAMES}"
        remedy = "Export the 3D data as TSV with its header, and forces in files of their own"
        raise InputError(path, problem, place=None if CONTENT not in header else CONTENT, remedy=remedy)
    names = tuple(name for name in header[NAMES] if name)
    if not names or find_repeated(names):
        problem = f"marker names occur twice: {', '.join(find_repeated(names))}" if names else "no marker is named"
        raise InputError(path, problem, place=NAMES, remedy="Give every marker its own name")
    times, values = read_samples(path, start, [f"{name} {axis}" for name in names for axis in "XYZ"], header)
    declared = header.get("NO_OF_FRAMES", ("",))[0]
    if declared.isdigit() and int(declared) != len(times):
        warn(f"{Path(path).name}: the header states {declared} frames, but there are {len(times)}; all are used")
    unit, positions = units or UNIT, values.reshape(len(times), len(names), 3)
    source = MarkerSource(path, times, names, positions.__getitem__, length_in_metres(unit, path), unit)
    return source.convert(up, warn)


def parse_header(lines: Iterable[str]) -> tuple[dict[str, tuple[str, ...]], int]:
    """Values by key, and the index of the first row of data: the first line that begins with no key."""
    header: dict[str, tuple[str, ...]] = {}
    number = 0
    for number, line in enumerate(lines):
        key, *values = [cell.strip() for cell in line.split("\t")]
        if key.lower() in FIRST_TITLES or "X" in key.split():  # titles of columns
            return header, number + 1
        if key and not (key[0].isalpha() and key.isupper()):
            return header, number
        if key:
            header.setdefault(key, tuple(values) or ("",))
        elif any(values):
            return header, number
    return header, number + 1


def read_samples(
    path: str | Path, start: int, titles: Sequence[str], header: Mapping[str, Sequence[str]]
) -> tuple[np.ndarray, np.ndarray]:
    """Times (N,) [s] and values (N, C) as written.

    Args:
        path: of the file.
        start: index of the first row of data.
        titles: of the C columns after frame number and time.
        header: values by key.

    Raises:
        InputError: no rate and no times, a row of another length, a cell that is not a number, times out of order, or
            no rows.
    """
    rate = parse_rate(path, header.get(RATE, ("",))[0], RATE)
    _, first = next(read_rows(path, start, split_at_tabs), (0, []))
    leading = len(LEADING_TITLES) if len(first) >= len(titles) + len(LEADING_TITLES) else 0
    columns = [*LEADING_TITLES[:leading], *titles]
    cells = require_cells(path, read_rows(path, start, split_at_tabs), len(columns), "its columns need")
    rows = parse_rows(path, cells, columns, leading)
    if leading:
        return resolve_times(path, rows, rate), rows.values
    if rate is None:
        remedy = "State it in Hz, or export frame number and time"
        raise InputError(path, "has neither a frame rate nor times", place=RATE, remedy=remedy)
    return np.arange(len(rows.lines)) / rate, rows.values
