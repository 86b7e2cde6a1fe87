"""OpenSim storage files (.mot, .sto): any table over time, and the plate forces in one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import numpy as np

from ..base.arrays import Array, ArrayValue, Names, Times, find_repeated
from ..base.errors import InputError
from ..storage.atomic import write_atomically
from ..values.wrenches import Wrenches
from .axes_and_units import length_in_metres, to_z_up
from .plate_columns import check_free_moments, find_plate_columns, has_force_columns, has_free_moments, has_only_forces
from .text_files import Warn, check_times, ignore_warning, parse_numbers, read_lines, split_cells, undo_rounding
from .uniform_sampling import resample_wrenches
from .wrench_checks import MAX_DISTANCE, ForceConvention, check_centres_of_pressure, resolve_force_up

COORDINATE_NAMES = re.compile(
    "flexion|extension|[ab]duction|rotation|_angle|tilt|_list|bending|_t[xyz]$", re.IGNORECASE
)
"""Words in the names of joint coordinates of OpenSim's models."""
LOADED_FORCE = 30.0
"""[N] Highest force below which programs leave out the centre of pressure."""
END_OF_HEADER = "endheader"
TIME = "time"
"""Name of the first column."""
SIMM_ROWS = "datarows"
"""Key in the header of SIMM's motion files, whose angles are always in degrees."""


@dataclass(frozen=True, slots=True)
class Storage(ArrayValue):
    """A table over time as in the file, without conversion of units or axes.

    Attributes:
        names: C column names, time left out.
        times: (N,) [s].
        values: (N, C), NaN where missing.
        header: the ``key=value`` lines before the table, keys in lower case.
        in_degrees: rotations are in degrees.
        lines: (N,) line number of each row in the file, for messages.
    """

    names: Annotated[tuple[str, ...], Names("C")]
    times: Annotated[np.ndarray, Times()]
    values: Annotated[np.ndarray, Array("N", "C", finite=False)]
    header: Mapping[str, str] = field(default_factory=dict)
    in_degrees: bool = False
    lines: tuple[int, ...] = ()

    def column(self, name: str) -> np.ndarray:
        """One column (N,)."""
        return self.values[:, self.names.index(name)]


def read_storage(path: str | Path, *, leave_out_repeated: bool = False, warn: Warn = ignore_warning) -> Storage:
    """Read the table of a .mot or .sto file.

    Args:
        path: the file.
        leave_out_repeated: leave out all columns of a name that occurs twice, instead of refusing the file.
        warn: receives messages about irregularities.

    Raises:
        InputError: no table, no time column, a row of another length than the header, a cell that is no
            number, times out of order, no rows, or a repeated name.
    """
    lines = read_lines(path)
    header, labels_at = parse_header(path, lines)
    kind = header.get("datatype", "double").lower()
    if kind != "double":
        remedy = "Export markers as TRC, and forces with a column for each axis"
        raise InputError(path, f"holds values of type {header['datatype']}, which are not read", remedy=remedy)
    names = _column_names(lines[labels_at])
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
    table, places, stamps = _parse_rows(path, lines, labels_at + 1, names)
    declared = header.get("nrows", header.get("datarows", ""))
    if declared.isdigit() and int(declared) != len(table):
        warn(f"{Path(path).name}: the header states {declared} rows, but there are {len(table)}; all are used")
    times = undo_rounding(table[:, 0], stamps)
    check_times(times, places, path)
    in_degrees = header.get("indegrees", "no").lower() == "yes"
    kept = [k for k, name in enumerate(names) if k and name not in twice]
    return Storage(
        tuple(names[k] for k in kept),
        times,
        table[:, kept],
        header,
        in_degrees,
        tuple(places),
    )


def parse_header(path: str | Path, lines: Sequence[str]) -> tuple[dict[str, str], int]:
    """Entries before the table, keys in lower case, and the index of the line of column names.

    Raises:
        InputError: no such line.
    """
    header, labels_at = _find_table(lines)
    if labels_at is not None:
        return header, labels_at
    if (end := _end_of_header(lines)) is not None:
        raise InputError(path, "ends after its header", place=f"line {end + 1}", remedy="Export it again")
    problem = f"is not an OpenSim storage file: it has no line {END_OF_HEADER!r}, and no line of column names that "
    raise InputError(path, f"{problem}starts with {TIME!r}", remedy="Export it again as .mot or .sto")


def _find_table(lines: Sequence[str]) -> tuple[dict[str, str], int | None]:
    """Entries of the header, and the index of the line of column names.

    That is the first line after ``endheader`` that is not empty or, without ``endheader``, the first that starts with
    ``time``.
    """
    end = _end_of_header(lines)
    rest = range(0 if end is None else end + 1, len(lines))
    labels_at = next((k for k in rest if lines[k].strip() and (end is not None or _starts_with_time(lines[k]))), None)
    return _parse_header_lines(lines[: end if end is not None else labels_at]), labels_at


def _end_of_header(lines: Sequence[str]) -> int | None:
    return next((k for k, line in enumerate(lines) if line.strip().lower() == END_OF_HEADER), None)


def _starts_with_time(line: str) -> bool:
    cells = split_cells(line)
    return len(cells) > 1 and cells[0].lower() == TIME


def has_orientations(path: str | Path) -> bool:
    """Whether a storage file holds quaternions."""
    return _read_head(path)[0].get("datatype", "").lower() == "quaternion"


def read_forces(
    path: str | Path,
    up: str = "auto",
    units: str | None = None,
    *,
    sign: int = 1,
    missing: str = "error",
    warn: Warn = ignore_warning,
) -> Wrenches:
    """Read plate forces of a .mot or .sto file as wrenches about the world origin, z up.

    Columns of one plate share a name: force ``..._vx``, centre of pressure ``..._px``, free moment ``..._mx`` or
    ``...torque..._x``, for x, y, z, or as other programs name them (`find_plate_columns`); any number of plates. The
    moment about the origin is p x f + m.

    Args:
        path: the file.
        up: the file's vertical axis, or ``"auto"``: that of the mean force.
        units: unit of the centre of pressure; free moments follow it (N m, N mm). None: metres, or millimetres where
            these would lie outside any laboratory.
        sign: 1 if the columns hold the force of the ground on the body, -1 if they hold that of the body on the plates.
        missing: ``"error"`` refuses missing samples, ``"keep"`` leaves them NaN.
        warn: receives messages about irregularities.

    Raises:
        InputError: not a storage file, no force columns, incomplete plates, missing samples, or an axis, unit or sign
            that contradicts the data.
    """
    return read_forces_with_up(path, ForceConvention(up, units=units, sign=sign), missing=missing, warn=warn)[0]


def read_forces_with_up(
    path: str | Path, convention: ForceConvention, *, missing: str = "error", warn: Warn = ignore_warning
) -> tuple[Wrenches, str]:
    """As `read_forces`, with the file's vertical axis."""
    storage = read_storage(path, warn=warn)
    plates = find_plate_columns(path, storage.names)
    check_missing_forces(path, storage, plates, missing, warn)
    forces, points, moments = (
        _column_vectors(storage, [plate.get(what) for plate in plates.values()]) for what in "vpm"
    )
    for what, vectors in (("centre of pressure", points), ("free moment", moments)):
        _check_loaded(path, storage, forces, (what, vectors), missing)
    metre = length_in_metres(convention.units or _guess_unit(path, forces, points, warn), path)
    # Without columns of a free moment it is zero; an empty cell means zero only while the plate is unloaded.
    none = np.array(["m" not in plate for plate in plates.values()]) | (forces == 0.0).all(axis=2)
    moments = convention.sign * np.where(none[:, :, None], 0.0, moments) * metre
    forces = convention.sign * forces
    if not has_free_moments(storage.names):
        for k, name in enumerate(plates):
            check_free_moments(path, name, forces[:, k], moments[:, k])
    # The centre of pressure of an unloaded plate is ignored.
    arms = np.cross(np.where((forces == 0.0).all(axis=2, keepdims=True), 0.0, points * metre), forces)
    axis = resolve_force_up(convention.up, forces.sum(axis=1), path, convention.fallback_up)
    rotation = to_z_up(axis).T
    values = np.concatenate([forces @ rotation, (arms + moments) @ rotation], axis=2)
    measured = np.ones((len(values), 6), bool)
    if without := [name for name, plate in plates.items() if "p" not in plate]:
        warn(f"{Path(path).name}: no centre of pressure for {', '.join(without)}: moments are treated as not measured")
        measured[:, 3:] = False
    result = resample_wrenches(
        path, Wrenches(storage.times, tuple(plates), values, measured), storage.lines, missing, warn
    )
    check_centres_of_pressure(result, path)
    return result, axis


def _guess_unit(path: str | Path, forces: np.ndarray, points: np.ndarray, warn: Warn) -> str:
    """Unit of centres of pressure (N, K, 3) under forces (N, K, 3) [N]: metres, unless no laboratory is so large."""
    distance = np.linalg.norm(points[np.linalg.norm(forces, axis=2) > LOADED_FORCE], axis=1)
    far = float(np.nanmedian(distance)) if np.isfinite(distance).any() else 0.0
    if far <= MAX_DISTANCE:
        return "m"
    warn(
        f"{Path(path).name}: a centre of pressure {far:.0f} m away is impossible: lengths are taken to be in mm "
        "(--force-units overrules it)"
    )
    return "mm"


def _check_loaded(
    path: str | Path, storage: Storage, forces: np.ndarray, found: tuple[str, np.ndarray], missing: str
) -> None:
    """Refuse missing values of a quantity (its name, (N, K, 3)) while its plate (N, K, 3) [N] is loaded."""
    what, vectors = found
    known = np.isfinite(vectors).all(axis=2)
    absent = (np.linalg.norm(forces, axis=2) > LOADED_FORCE) & ~known & known.any(axis=0)
    if missing == "error" and absent.any():
        row, plate = (int(i) for i in np.argwhere(absent)[0])
        problem = f"the {what} is missing under {np.linalg.norm(forces[row, plate]):.0f} N"
        remedy = "Export it again, or leave these samples out: --keep-missing, in Python missing='keep'"
        raise InputError(path, problem, place=f"line {storage.lines[row]}, plate {plate + 1}", remedy=remedy)


def has_forces(path: str | Path) -> bool:
    """Whether a storage file is of forces, by its columns; the same suffix also serves joint angles."""
    header, names = _read_head(path)
    return has_force_columns(names) and not _has_angles(header, names)


def has_forces_beside_angles(path: str | Path) -> bool:
    """Whether a storage file has forces beside joint angles, as of SIMM; repeated columns do not count."""
    header, names = _read_head(path)
    return len(set(names)) == len(names) and has_force_columns(names) and _has_angles(header, names)


def _has_angles(header: Mapping[str, str], names: Sequence[str]) -> bool:
    """Whether columns beside those of forces are joint angles, by their names or because SIMM wrote the file."""
    return not has_only_forces(names) and (SIMM_ROWS in header or any(map(COORDINATE_NAMES.search, names)))


def has_trial(path: str | Path) -> bool:
    """Whether a storage file has force columns or orientations, or joint angles whose unit is known."""
    header, names = _read_head(path)
    return has_force_columns(names) or "indegrees" in header or SIMM_ROWS in header or has_orientations(path)


def _read_head(path: str | Path) -> tuple[dict[str, str], list[str]]:
    """Header and column names, without checking the rest of the file."""
    lines = read_lines(path)
    header, labels_at = _find_table(lines)
    return header, [] if labels_at is None else _column_names(lines[labels_at])


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


def check_missing_forces(
    path: str | Path, storage: Storage, plates: Mapping[str, Mapping[str, tuple[str, ...]]], missing: str, warn: Warn
) -> None:
    """Refuse, or warn of, missing force samples."""
    if missing not in ("error", "keep"):
        raise InputError(path, f"missing = {missing!r} is unknown", remedy="Choose error or keep")
    names = [name for plate in plates.values() for name in plate["v"]]
    absent = np.isnan(np.column_stack([storage.column(name) for name in names]))
    if not absent.any():
        return
    row, column = (int(i) for i in np.argwhere(absent)[0])
    if missing == "error":
        problem = f"{int(absent.any(axis=1).sum())} of {len(absent)} force samples are missing"
        place = f"first in line {storage.lines[row]}, column {names[column]!r}"
        remedy = "Export the forces again, or leave these samples out: --keep-missing, in Python missing='keep'"
        raise InputError(path, problem, place=place, remedy=remedy)
    warn(f"{Path(path).name}: {int(absent.any(axis=1).sum())} of {len(absent)} force samples are missing and left out")


def _parse_header_lines(lines: Sequence[str]) -> dict[str, str]:
    """Entries ``key=value``, or ``key value`` in older files."""
    result = {}
    for line in lines:
        key, equals, value = line.strip().partition("=")
        if not equals:
            key, _, value = line.strip().partition(" ")
        result[key.strip().lower()] = value.strip()
    return result


def _parse_rows(
    path: str | Path, lines: Sequence[str], start: int, names: Sequence[str]
) -> tuple[np.ndarray, list[int], list[str]]:
    """Table (N, 1 + C), line numbers and time stamps as written."""
    rows, places, stamps = [], [], []
    for number, line in enumerate(lines[start:], start + 1):
        if not line.strip():
            continue
        cells = split_cells(line.lstrip())  # older programs begin rows with a tab
        if len(cells) < len(names) or any(cells[len(names) :]):
            problem = f"the row has {len(cells)} cells, the column names {len(names)}"
            raise InputError(path, problem, place=f"line {number}", remedy="Export it again; the row is damaged")
        rows.append(parse_numbers(cells[: len(names)], path, number, names))
        places.append(number)
        stamps.append(cells[0])
    if not rows:
        raise InputError(path, "holds no rows", remedy="Export the trial again")
    return np.array(rows), places, stamps


def _column_vectors(storage: Storage, columns: Sequence[tuple[str, ...] | None]) -> np.ndarray:
    """(N, K, 3) of K column triples; NaN where a plate has none."""
    absent = np.full((len(storage.times), 3), np.nan)
    return np.stack(
        [absent if three is None else np.column_stack([storage.column(n) for n in three]) for three in columns], axis=1
    )
