"""CSV tables over time: markers and wrenches, and reading and writing of any table.

The first row has the name of every column with its unit in brackets: ``time [s], LASI.x [mm], LASI.y [mm], LASI.z
[mm]``. The first column is the time; an empty cell is a missing sample; empty lines and lines that start with ``#`` are
skipped.

- markers: ``NAME.x [m]`` with .x .y .z for every marker; m, cm or mm;
- wrenches: ``NAME.fx [N]`` with .fx .fy .fz, and either moments about the world origin ``NAME.mx [N m]``, or centre of
  pressure ``NAME.px [m]`` with an optional free moment ``NAME.mx``; without either only forces are measured. Names of
  other programs (``FP1_Fx [N]``, see `find_plate_columns`) are known too, moments only together with a centre of
  pressure;
- orientations: ``NAME.qx [1]`` with .qx .qy .qz .qw, see `orientations`;
- joint coordinates: ``NAME [deg]`` or ``NAME [rad]``, see `joint_coordinates`.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from textwrap import shorten

import numpy as np

from ..base.arrays import find_repeated
from ..base.errors import InputError
from ..base.file_arrays import map_slices
from ..storage.atomic import write_atomically
from ..values.motion import Markers
from ..values.wrenches import Wrenches
from .axes_and_units import LENGTH_UNITS
from .marker_positions import MarkerSource
from .plate_columns import find_plate_columns, has_documented_titles, has_force_columns
from .plate_tables import wrenches_of_plates
from .text_files import (
    TimeTable,
    Warn,
    check_times,
    ignore_warning,
    parse_rows,
    read_csv_rows,
    require_cells,
    undo_rounding,
)
from .uniform_sampling import resample_rows
from .wrench_checks import FOUND_CONVENTION, ForceConvention

_TITLE = re.compile(r"^(?P<name>[^\[\]]*?)\s*\[(?P<unit>[^\[\]]*)\]$")
SI_FACTORS = {"s": 1.0, "ms": 1e-3, "rad": 1.0, "deg": np.pi / 180.0, "n": 1.0, "kn": 1e3, "nm": 1.0, "nmm": 1e-3,
      "m/s": 1.0, "rad/s": 1.0, "deg/s": np.pi / 180.0, "m/s2": 1.0, "rad/s2": 1.0, "kg": 1.0, "1": 1.0, "": 1.0,
      **LENGTH_UNITS}  # fmt: skip
"""Factors to SI. By definition."""
AXES = ("x", "y", "z")
SEPARATOR_REMEDY = "Separate the columns by commas, not semicolons, and write decimal points, not commas"
DIGITS = 12
"""Significant digits written, more than any measurement has."""


def read_table(path: str | Path, *, resample: bool = True, warn: Warn = ignore_warning) -> TimeTable:
    """Read a CSV file with units in its header, converted to SI.

    Args:
        path: the file.
        resample: rows at non-uniform times (`resample_rows`).
        warn: receives messages about irregularities.

    Raises:
        InputError: no header, a column without unit or with an unknown one, two columns of the same name, a row of
            another length, a cell that is not a number, times out of order.
    """
    rows = read_csv_rows(path)
    if (first := next(rows, None)) is None:
        raise InputError(path, "has no header", remedy="Start with a row of column names such as 'time [s]'")
    names, units = _parse_titles(path, first[1], first[0])
    parsed = parse_rows(path, require_cells(path, rows, len(names)), names)
    factors = np.array([SI_FACTORS[normalise_unit(unit)] for unit in units])
    times, lines, values = factors[0] * parsed.leading[:, 0], parsed.lines, parsed.values
    if (factors != 1.0).any():
        values = map_slices(len(lines), lambda own: parsed.values[own] * factors[1:])
    if factors[0] == 1.0:
        times = undo_rounding(times, parsed.decimals)
    check_times(times, lines, path)
    if resample:
        times, values, lines = resample_rows(path, times, values, lines, warn, names[1:])
    return TimeTable(names[1:], times, values, lines, units[1:])


def read_markers_csv(path: str | Path, up: str = "auto", *, warn: Warn = ignore_warning) -> tuple[Markers, str]:
    """Read markers from columns ``NAME.x [mm]``, ``NAME.y``, ``NAME.z``, in metres, z up, and the file's vertical axis.

    Raises:
        InputError: malformed table, a marker without all three axes, or an axis or unit that contradicts the data.
    """
    table = read_table(path, warn=warn)
    if not (names := _marker_names(path, table)):
        raise InputError(path, "has no column NAME.x", place="line 1", remedy="Name marker columns NAME.x [mm] ...")
    columns = np.array([[table.names.index(f"{name}.{axis}") for axis in AXES] for name in names])
    unit = table.units[columns[0, 0]]
    return MarkerSource(path, table.times, names, lambda own: table.values[own][:, columns], 1.0, unit).convert(
        up, warn
    )


def write_markers_csv(path: str | Path, markers: Markers) -> None:
    """Write markers in metres, z up; missing samples as empty cells."""
    titles = [f"{name}.{axis} [m]" for name in markers.names for axis in AXES]
    write_table(path, markers.times, titles, markers.positions.reshape(len(markers), -1))


def read_wrenches_csv(
    path: str | Path,
    convention: ForceConvention = FOUND_CONVENTION,
    *,
    missing: str = "error",
    warn: Warn = ignore_warning,
) -> tuple[Wrenches, str]:
    """Read wrenches about the world origin, z up, from columns as the module describes; and the file's vertical axis.

    Args:
        path: the file.
        convention: of its numbers; the header states their units.
        missing: ``"error"`` refuses missing forces, ``"keep"`` leaves them NaN.
        warn: receives messages about irregularities.

    Raises:
        InputError: malformed table, incomplete columns, missing forces, or an axis, unit or sign that contradicts the
            data.
    """
    table = read_table(path, resample=False)
    plates = find_plate_columns(path, table.names)
    return wrenches_of_plates(path, table, plates, replace(convention, units="m"), missing=missing, warn=warn)


def table_kind(path: str | Path) -> str | None:
    """``"forces"``, ``"markers"``, ``"segments"``, ``"joints"`` or None, by the column titles of a CSV file.

    Raises:
        InputError: they are separated by semicolons.
    """
    line, header = next(read_csv_rows(path), (0, []))
    kind = _kind_by_titles(header)
    if kind is None and _kind_by_titles(",".join(header).split(";")) is not None:
        raise InputError(path, "its columns are separated by semicolons", place=f"line {line}", remedy=SEPARATOR_REMEDY)
    return kind


def _kind_by_titles(header: Sequence[str]) -> str | None:
    """Kind of data by the titles of columns."""
    titles = [match for match in map(_TITLE.match, (cell.strip() for cell in header)) if match]
    ends = {end for stem, _, end in (match["name"].rpartition(".") for match in titles) if stem}
    if any({"q2", "q3", lone} <= ends for lone in ("q1", "q0", "q4")) or {"qx", "qw"} & ends:
        return "segments"
    if has_documented_titles([match["name"] for match in titles]):
        return "forces"
    if ends & set(AXES):
        return "markers"
    if has_force_columns([match["name"] for match in titles if normalise_unit(match["unit"]) in ("n", "kn")]):
        return "forces"
    return "joints" if {"rad", "deg"} & {normalise_unit(match["unit"]) for match in titles} else None


def write_wrenches_csv(path: str | Path, wrenches: Wrenches) -> None:
    """Write forces [N] and moments about the world origin [N m], z up; missing samples as empty cells."""
    units = {"f": "N", "m": "N m"}
    titles = [f"{name}.{what}{axis} [{units[what]}]" for name in wrenches.frames for what in units for axis in AXES]
    write_table(path, wrenches.times, titles, wrenches.values.reshape(len(wrenches), -1))


def write_table(path: str | Path, times: np.ndarray, titles: Sequence[str], values: np.ndarray) -> None:
    """Write a table over time: ``time [s]`` and the titles, values (N, C) as given, NaN as an empty cell."""
    template = ",".join([f"%.{DIGITS}g"] * (len(titles) + 1)) + "\n"
    with write_atomically(path) as stream:
        csv.writer(stream, lineterminator="\n").writerow(["time [s]", *titles])
        for time, row in zip(times, np.asarray(values, float), strict=True):
            stream.write((template % (time, *row.tolist())).replace("nan", ""))


def _parse_titles(path: str | Path, header: Sequence[str], line: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names and units of a header row."""
    names, units = [], []
    for number, cell in enumerate(header, 1):
        if (match := _TITLE.match(cell.strip())) is None:
            problem = f"the title of column {number}, {shorten(cell, 60)!r}, has no unit"
            remedy = "Title columns like 'time [s]', 'LASI.x [mm]'"
            if ";" in cell:
                remedy = SEPARATOR_REMEDY
            raise InputError(path, problem, place=f"line {line}", remedy=remedy)
        if normalise_unit(match["unit"]) not in SI_FACTORS:
            known = ", ".join(unit for unit in SI_FACTORS if unit)
            problem = f"column {match['name']!r} has the unknown unit {match['unit']!r}"
            raise InputError(path, problem, place=f"line {line}", remedy=f"Known units: {known}")
        names.append(match["name"].strip())
        units.append(match["unit"].strip())
    if names[0].lower() != "time" or normalise_unit(units[0]) not in ("s", "ms"):
        problem = f"the first column is {header[0].strip()!r}"
        raise InputError(path, problem, place=f"line {line}", remedy="It must be 'time [s]'")
    if twice := find_repeated(names):
        problem = f"columns occur twice: {', '.join(twice)}"
        raise InputError(path, problem, place=f"line {line}", remedy="Give every column its own name")
    return tuple(names), tuple(units)


def normalise_unit(unit: str) -> str:
    """A unit without spaces, dots, carets and case: "N m", "N.m" and "Nm" are one, and so are "m/s2" and "m/s^2"."""
    return unit.strip().lower().replace(" ", "").replace(".", "").replace("*", "").replace("^", "")


def _marker_names(path: str | Path, table: TimeTable) -> tuple[str, ...]:
    """Names before the axes; each must have all of them."""
    stems = list(dict.fromkeys(n.rpartition(".")[0] for n in table.names if n.rpartition(".")[2] in AXES))
    for stem in stems:
        if lacking := [f"{stem}.{axis}" for axis in AXES if f"{stem}.{axis}" not in table.names]:
            problem = f"marker {stem!r} lacks the columns {', '.join(lacking)}"
            raise InputError(path, problem, place="line 1", remedy="Give all three axes")
    return tuple(stems)
