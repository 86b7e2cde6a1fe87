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
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import shorten

import numpy as np

from ..base.arrays import find_repeated
from ..base.errors import InputError, InvalidValue
from ..storage.atomic import write_atomically
from ..values.motion import Markers
from ..values.wrenches import Wrenches
from .axes_and_units import LENGTH_UNITS, check_extent, resolve_up, to_z_up, up_from_markers
from .plate_columns import check_free_moments, find_plate_columns, has_force_columns
from .text_files import Warn, check_times, ignore_warning, parse_numbers, read_csv_rows, undo_rounding
from .uniform_sampling import resample_rows, resample_wrenches
from .wrench_checks import ForceConvention, check_centres_of_pressure, resolve_force_up

_TITLE = re.compile(r"^(?P<name>[^\[\]]*?)\s*\[(?P<unit>[^\[\]]*)\]$")
SI_FACTORS = {"s": 1.0, "ms": 1e-3, "rad": 1.0, "deg": np.pi / 180.0, "n": 1.0, "kn": 1e3, "nm": 1.0, "nmm": 1e-3,
      "m/s": 1.0, "rad/s": 1.0, "deg/s": np.pi / 180.0, "m/s^2": 1.0, "rad/s^2": 1.0, "kg": 1.0, "1": 1.0, "": 1.0,
      **LENGTH_UNITS}  # fmt: skip
"""Factors to SI."""
FORCE, MOMENT, POINT = ("fx", "fy", "fz"), ("mx", "my", "mz"), ("px", "py", "pz")
AXES = ("x", "y", "z")
SEPARATOR_REMEDY = "Separate the columns by commas, not semicolons, and write decimal points, not commas"
DIGITS = 12
"""Significant digits written, more than any measurement has."""


@dataclass(frozen=True, slots=True)
class CsvTable:
    """A CSV table over time in SI units.

    Attributes:
        names: C columns, time left out.
        units: C units as written.
        times: (N,) [s].
        values: (N, C) in SI; NaN where missing.
        lines: (N,) line number of each row.
    """

    names: tuple[str, ...]
    units: tuple[str, ...]
    times: np.ndarray
    values: np.ndarray
    lines: tuple[int, ...]

    def columns(self, names: Sequence[str]) -> np.ndarray:
        """Some columns (N, len(names))."""
        return self.values[:, [self.names.index(name) for name in names]]


def read_table(path: str | Path, *, resample: bool = True, warn: Warn = ignore_warning) -> CsvTable:
    """Read a CSV file with units in its header, converted to SI.

    Args:
        path: the file.
        resample: rows at non-uniform times (`resample_rows`).
        warn: receives messages about irregularities.

    Raises:
        InputError: no header, a column without unit or with an unknown one, two columns of the same name, a row of
            another length, a cell that is not a number, times out of order.
    """
    if not (kept := list(read_csv_rows(path))):
        raise InputError(path, "has no header", remedy="Start with a row of column names such as 'time [s]'")
    header_line, header = kept[0]
    names, units = _parse_titles(path, header, header_line)
    stamps = [row[0].strip() if row else "" for _, row in kept[1:]]
    table = []
    for line, row in kept[1:]:
        if len(row) != len(names):
            problem = f"the row has {len(row)} cells, the header {len(names)}"
            raise InputError(path, problem, place=f"line {line}", remedy="Keep a missing sample as an empty cell")
        table.append(parse_numbers([cell.strip() for cell in row], path, line, names))
    if not table:
        raise InputError(path, "holds no rows", remedy="Export the trial again")
    values = np.array(table) * np.array([SI_FACTORS[normalise_unit(unit)] for unit in units])
    lines = tuple(line for line, _ in kept[1:])
    times = undo_rounding(values[:, 0], stamps) if normalise_unit(units[0]) == "s" else values[:, 0]
    check_times(times, lines, path)
    rows = values[:, 1:]
    if resample:
        times, rows, lines = resample_rows(path, times, rows, lines, warn, names[1:])
    return CsvTable(names[1:], units[1:], times, rows, lines)


def read_markers_csv(path: str | Path, up: str = "auto", *, warn: Warn = ignore_warning) -> Markers:
    """Read markers from columns ``NAME.x [mm]``, ``NAME.y``, ``NAME.z``, in metres, z up.

    Raises:
        InputError: malformed table, a marker without all three axes, or an axis or unit that contradicts the data.
    """
    return read_markers_csv_with_up(path, up, warn=warn)[0]


def read_markers_csv_with_up(path: str | Path, up: str = "auto", *, warn: Warn = ignore_warning) -> tuple[Markers, str]:
    """As `read_markers_csv`, with the file's vertical axis."""
    table = read_table(path, warn=warn)
    if not (names := _column_stems(path, table, AXES, "marker")):
        raise InputError(path, "has no column NAME.x", place="line 1", remedy="Name marker columns NAME.x [mm] ...")
    columns = [f"{name}.{axis}" for name in names for axis in AXES]
    positions = table.columns(columns).reshape(-1, len(names), 3)
    check_extent(positions, path, table.units[table.names.index(columns[0])])
    axis = resolve_up(up, up_from_markers(names, positions), path)
    try:
        return Markers(table.times, names, positions @ to_z_up(axis).T), axis
    except InvalidValue as error:
        raise InputError(path, str(error), remedy="Correct the table") from error


def write_markers_csv(path: str | Path, markers: Markers) -> None:
    """Write markers in metres, z up; missing samples as empty cells."""
    titles = [f"{name}.{axis} [m]" for name in markers.names for axis in AXES]
    write_table(path, markers.times, titles, markers.positions.reshape(len(markers), -1))


def read_wrenches_csv(
    path: str | Path, up: str = "auto", *, sign: int = 1, missing: str = "error", warn: Warn = ignore_warning
) -> Wrenches:
    """Read wrenches about the world origin, z up, from columns as the module describes.

    Args:
        path: the file.
        up: the file's vertical axis, or ``"auto"``: that of the mean force.
        sign: 1 if the forces act on the body, -1 if they act on the plates.
        missing: ``"error"`` refuses missing forces, ``"keep"`` leaves them NaN.
        warn: receives messages about irregularities.

    Raises:
        InputError: malformed table, incomplete columns, missing forces, or an axis, unit or sign that contradicts the
            data.
    """
    return read_wrenches_csv_with_up(path, ForceConvention(up, sign=sign), missing=missing, warn=warn)[0]


def read_wrenches_csv_with_up(
    path: str | Path, convention: ForceConvention, *, missing: str = "error", warn: Warn = ignore_warning
) -> tuple[Wrenches, str]:
    """As `read_wrenches_csv`, with the file's vertical axis; the header states the units, not the convention."""
    sign, table, named = convention.sign, *_with_documented_titles(path, read_table(path, resample=False))
    if not (names := _column_stems(path, table, FORCE, "sensor")):
        raise InputError(path, "has no column NAME.fx", place="line 1", remedy="Name force columns NAME.fx [N] ...")
    forces, moments, measured = np.zeros((len(table.times), len(names), 3)), [], True
    for k, name in enumerate(names):
        forces[:, k] = force = sign * table.columns([f"{name}.{axis}" for axis in FORCE])
        point, moment = (_optional_columns(path, table, name, axes) for axes in (POINT, MOMENT))
        if point is not None:
            arm = np.cross(np.where((force == 0.0).all(axis=1, keepdims=True), 0.0, point), force)
            free = (force == 0.0).all(axis=1, keepdims=True)  # the moment of an unloaded plate is ignored
            moments.append(arm if moment is None else arm + sign * np.where(free, 0.0, moment))
            if moment is not None and named:
                check_free_moments(path, name, force, moment)
        elif moment is not None:
            moments.append(sign * moment)
        else:
            measured = False
            moments.append(np.full_like(force, np.nan))
            warn(f"{Path(path).name}: no moment or centre of pressure for {name}: moments are treated as not measured")
    absent = ~np.isfinite(forces).all(axis=(1, 2))
    if absent.any():
        problem = f"{int(absent.sum())} of {len(absent)} force samples are missing"
        if missing == "error":
            place = f"first in line {table.lines[int(np.argmax(absent))]}"
            remedy = "Export the forces again, or leave these samples out: --keep-missing, in Python missing='keep'"
            raise InputError(path, problem, place=place, remedy=remedy)
        warn(f"{Path(path).name}: {problem} and left out")
    axis = resolve_force_up(convention.up, forces.sum(axis=1), path, convention.fallback_up)
    rotation = to_z_up(axis).T
    values = np.concatenate([forces @ rotation, np.stack(moments, axis=1) @ rotation], axis=2)
    known = np.ones((len(values), 6), bool)
    known[:, 3:] = measured
    wrenches = resample_wrenches(path, Wrenches(table.times, names, values, known), table.lines, missing, warn)
    check_centres_of_pressure(wrenches, path)
    return wrenches, axis


def _with_documented_titles(path: str | Path, table: CsvTable) -> tuple[CsvTable, bool]:
    """A table of wrenches with the documented column titles, and whether titles of other programs were translated."""
    if any(name.rpartition(".")[2] in FORCE for name in table.names) or not has_force_columns(table.names):
        return table, False
    titles: dict[str, str] = {}
    for plate, groups in find_plate_columns(path, table.names).items():
        for what, letters in (("v", FORCE), ("p", POINT), ("m", MOMENT)):
            if what in groups and not (what == "m" and "p" not in groups):  # else the reference point is unknown
                titles |= {column: f"{plate}.{letter}" for column, letter in zip(groups[what], letters)}
    return replace(table, names=tuple(titles.get(name, name) for name in table.names)), True


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
    if ends & set(FORCE) or ends & set(AXES):
        return "forces" if ends & set(FORCE) else "markers"
    newtons = [match["name"] for match in titles if normalise_unit(match["unit"]) in ("n", "kn")]
    if has_force_columns(newtons):
        return "forces"
    return "joints" if {"rad", "deg"} & {normalise_unit(match["unit"]) for match in titles} else None


def write_wrenches_csv(path: str | Path, wrenches: Wrenches) -> None:
    """Write forces [N] and moments about the world origin [N m], z up; missing samples as empty cells."""
    units = {axis: "N" if axis in FORCE else "N m" for axis in FORCE + MOMENT}
    titles = [f"{name}.{axis} [{unit}]" for name in wrenches.frames for axis, unit in units.items()]
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
    """A unit without spaces, dots and case: 'N m', 'N.m' and 'Nm' are one."""
    return unit.strip().lower().replace(" ", "").replace(".", "").replace("*", "")


def _column_stems(path: str | Path, table: CsvTable, suffixes: Sequence[str], what: str) -> tuple[str, ...]:
    """Names before the suffixes; each must have all of them."""
    stems = list(dict.fromkeys(n.rpartition(".")[0] for n in table.names if n.rpartition(".")[2] in suffixes))
    for stem in stems:
        if lacking := [f"{stem}.{suffix}" for suffix in suffixes if f"{stem}.{suffix}" not in table.names]:
            problem = f"{what} {stem!r} lacks the columns {', '.join(lacking)}"
            raise InputError(path, problem, place="line 1", remedy="Give all three axes")
    return tuple(stems)


def _optional_columns(path: str | Path, table: CsvTable, name: str, axes: Sequence[str]) -> np.ndarray | None:
    """Three columns of a sensor (N, 3); None if it has none of them."""
    if not any(f"{name}.{axis}" in table.names for axis in axes):
        return None
    if lacking := [f"{name}.{axis}" for axis in axes if f"{name}.{axis}" not in table.names]:
        problem = f"sensor {name!r} lacks the columns {', '.join(lacking)}"
        raise InputError(path, problem, place="line 1", remedy="Give all three axes")
    return table.columns([f"{name}.{axis}" for axis in axes])
