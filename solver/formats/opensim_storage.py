"""OpenSim storage files (.mot, .sto): any table over time, and the plate forces in one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..base.arrays import find_repeated
from ..base.errors import InputError
from ..storage.atomic import write_atomically
from ..values.wrenches import Wrenches
from .file_formats import FORCES, JOINTS, SEGMENTS
from .plate_columns import find_plate_columns, has_force_columns, has_only_forces
from .plate_tables import wrenches_of_plates
from .text_files import (
    TimeTable,
    Warn,
    check_times,
    ignore_warning,
    parse_rows,
    read_lines,
    read_rows,
    require_cells,
    split_cells,
    undo_rounding,
)
from .wrench_checks import FOUND_CONVENTION, ForceConvention

COORDINATE_NAMES = re.compile(
    "flexion|extension|[ab]duction|rotation|_angle|tilt|_list|bending|_t[xyz]$", re.IGNORECASE
)
"""Words in the names of joint coordinates of OpenSim's models."""
END_OF_HEADER = "endheader"
TIME = "time"
"""Name of the first column."""
SIMM_ROWS = "datarows"
"""Key in the header of SIMM's motion files, whose angles are always in degrees."""


def read_storage(path: str | Path, *, leave_out_repeated: bool = False, warn: Warn = ignore_warning) -> TimeTable:
    """Read the table of a .mot or .sto file.

    Args:
        path: the file.
        leave_out_repeated: leave out all columns of a name that occurs twice, instead of refusing the file.
        warn: receives messages about irregularities.

    Raises:
        InputError: no table, no time column, a row of another length than the header, a cell that is no
            number, times out of order, no rows, or a repeated name.
    """
    header, labels_at, labels = parse_header(path)
    kind = header.get("datatype", "double").lower()
    if kind != "double":
        remedy = "Export markers as TRC, and forces with a column for each axis"
        raise InputError(path, f"holds values of type {header['datatype']}, which are not read", remedy=remedy)
    names = _column_names(labels)
    if not names or names[0].lower() != TIME:
        problem = f"the first column must be 'time', not {names[0][:40]!r}" if names else "no column names"
        remedy = "Export it again with a time column"
        if names and names[0].lower().startswith(f"{TIME},"):
            problem, remedy = (
                "columns are separated by commas",
                "Export it with tabs, or name it .csv with units in its titles",
            )
        raise InputError(path, problem, place=f"line {labels_at + 1}", remedy=remedy)
    twice = find_repeated(names)
    if twice and not leave_out_repeated:
        problem = f"column names occur twice: {', '.join(twice)}"
        raise InputError(path, problem, place=f"line {labels_at + 1}", remedy="Give every column its own name")
    cells = read_rows(path, labels_at + 1, lambda line: split_cells(line.lstrip()))  # older programs begin with a tab
    rows = parse_rows(path, require_cells(path, cells, len(names), "the column names"), names)
    declared = header.get("nrows", header.get("datarows", ""))
    if declared.isdigit() and int(declared) != len(rows.lines):
        warn(f"{Path(path).name}: the header states {declared} rows, but there are {len(rows.lines)}; all are used")
    times = undo_rounding(rows.leading[:, 0], rows.decimals)
    check_times(times, rows.lines, path)
    kept = [k for k, name in enumerate(names[1:]) if name not in twice]
    values = rows.values[:, kept] if twice else rows.values
    return TimeTable(tuple(names[k + 1] for k in kept), times, values, rows.lines, header=header)


def parse_header(path: str | Path) -> tuple[dict[str, str], int, str]:
    """Entries before the table, keys in lower case, and the index and text of the line of column names.

    Raises:
        InputError: no such line.
    """
    header, labels_at, labels = _find_table(path)
    if labels:
        return header, labels_at, labels
    if labels_at:
        raise InputError(path, "ends after its header", place=f"line {labels_at}", remedy="Export it again")
    problem = f"is not an OpenSim storage file: it has no line {END_OF_HEADER!r}, and no line of column names that "
    raise InputError(path, f"{problem}starts with {TIME!r}", remedy="Export it again as .mot or .sto")


def _find_table(path: str | Path) -> tuple[dict[str, str], int, str]:
    """Entries of the header, and the index and text of the line of column names; empty if there is none.

    That is the first line after ``endheader`` that is not empty or, without ``endheader``, the first that starts with
    ``time``.
    """
    lines = (k for k, line in enumerate(read_lines(path), 1) if line.strip().lower() == END_OF_HEADER)
    start, header = next(lines, 0), dict[str, str]()
    for k, line in enumerate(read_lines(path)):
        if k >= start and line.strip() and (start or _starts_with_time(line)):
            return header, k, line
        if k < start - 1 or not start:
            header |= _parse_header_line(line)
    return header, start, ""


def _starts_with_time(line: str) -> bool:
    cells = split_cells(line)
    return len(cells) > 1 and cells[0].lower() == TIME


def read_forces(
    path: str | Path,
    convention: ForceConvention = FOUND_CONVENTION,
    *,
    missing: str = "error",
    warn: Warn = ignore_warning,
) -> tuple[Wrenches, str]:
    """Read plate forces of a .mot or .sto file as wrenches about the world origin, z up; and the file's vertical axis.

    Columns of one plate share a name: force ``..._vx``, centre of pressure ``..._px``, free moment ``..._mx`` or
    ``...torque..._x``, for x, y, z, or as other programs name them (`find_plate_columns`); any number of plates. The
    moment about the origin is p x f + m.

    Args:
        path: the file.
        convention: of its numbers.
        missing: ``"error"`` refuses missing samples, ``"keep"`` leaves them NaN.
        warn: receives messages about irregularities.

    Raises:
        InputError: not a storage file, no force columns, incomplete plates, missing samples, or an axis, unit or sign
            that contradicts the data.
    """
    table = read_storage(path, warn=warn)
    plates = find_plate_columns(path, table.names)
    return wrenches_of_plates(path, table, plates, convention, missing=missing, warn=warn)


def storage_kinds(path: str | Path) -> tuple[str, ...]:
    """Kinds of data in a storage file, by its header and columns; none if it is not of a trial.

    Columns beside those of forces are joint angles by their names, or because SIMM wrote the file; then forces with
    repeated columns do not count. Joint angles alone have a known unit.
    """
    header, _, labels = _find_table(path)
    names = _column_names(labels)
    if header.get("datatype", "").lower() == "quaternion":
        return (SEGMENTS,)
    if not has_force_columns(names):
        return (JOINTS,) if "indegrees" in header or SIMM_ROWS in header else ()
    if has_only_forces(names) or not (SIMM_ROWS in header or any(map(COORDINATE_NAMES.search, names))):
        return (FORCES,)
    return (JOINTS, FORCES) if len(set(names)) == len(names) else (JOINTS,)


def _column_names(line: str) -> list[str]:
    """Column names of a line; older programs begin it with spaces and end it with a tab."""
    names = split_cells(line.lstrip())
    while names and not names[-1]:
        names.pop()
    return names


def write_storage(
    path: str | Path, times: np.ndarray, names: Sequence[str], values: np.ndarray, *, in_degrees: bool = False
) -> None:
    """Write a table over time as .mot or .sto, atomically.

    Args:
        path: of the file.
        times: (N,) [s].
        names: C column names.
        values: (N, C) as written into the file.
        in_degrees: what the header states about rotations.
    """
    template = "\t".join(["%.12g"] * (len(names) + 1)) + "\n"
    with write_atomically(path) as stream:
        stream.write(f"{Path(path).stem}\nversion=1\nnRows={len(times)}\nnColumns={len(names) + 1}\n")
        stream.write(f"inDegrees={'yes' if in_degrees else 'no'}\n{END_OF_HEADER}\n")
        stream.write("\t".join(["time", *names]) + "\n")
        for time, row in zip(times, np.asarray(values, float), strict=True):
            stream.write(template % (time, *row.tolist()))


def _parse_header_line(line: str) -> dict[str, str]:
    """Entry ``key=value``, or ``key value`` in older files."""
    key, equals, value = line.strip().partition("=")
    if not equals:
        key, _, value = line.strip().partition(" ")
    return {key.strip().lower(): value.strip()}
