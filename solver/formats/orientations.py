"""Orientations of segments or inertial measurement units as quaternions over time: CSV tables and OpenSim's .sto.

CSV: ``time [s]`` and for every segment ``NAME.qx [1]``, ``NAME.qy``, ``NAME.qz``, ``NAME.qw``, or ``NAME.q0`` to
``NAME.q3`` (or ``q1`` to ``q4``) in an unknown order. An empty cell is a missing sample. Storage:
``DataType=Quaternion`` in the header, and a cell ``w,x,y,z`` for each unit. Quaternions rotate segment axes to world
axes.

If the order of the components is not stated, only the posture can determine it, because every permutation of a smooth
quaternion is smooth: segments of an upright body are close to the world's axes and far from the half turns that a wrong
order means.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from ..base.errors import InputError, InvalidValue
from ..base.so3 import to_matrix
from ..values.motion import SegmentPoses
from .axes_and_units import resolve_up, to_z_up
from .csv_tables import read_table
from .opensim_storage import TIME, parse_header
from .text_files import TimeTable, Warn, check_times, ignore_warning, parse_rows, read_rows, require_cells, split_cells

ORDERED_TITLES = ("qx", "qy", "qz", "qw")
UNORDERED_TITLES = (("q0", "q1", "q2", "q3"), ("q1", "q2", "q3", "q4"))
QUATERNION_SUFFIXES = frozenset({*ORDERED_TITLES, *UNORDERED_TITLES[0], *UNORDERED_TITLES[1]})
SCALAR_FIRST, SCALAR_LAST = (1, 2, 3, 0), (0, 1, 2, 3)
LENGTH_WARNING, LENGTH_ERROR = 1e-3, 2e-2
"""Errors of a quaternion's length above which a warning is given, and the file refused."""
MIN_SCALAR_MARGIN = 0.15
"""Difference of the median sizes of first and last component from which on the larger one is the scalar part."""
MAX_STEP = np.radians(60.0)
"""[rad] Largest plausible rotation of a segment between two frames."""
DEFAULT_UP = "auto"


def read_orientations_csv(
    path: str | Path, up: str = DEFAULT_UP, *, warn: Warn = ignore_warning
) -> tuple[SegmentPoses, str]:
    """Read segment poses from a table as the module describes, and the vertical axis; z unless stated.

    Raises:
        InputError: malformed table, an incomplete quaternion, one that is not normalised, or an order that neither the
            titles nor the numbers determine.
    """
    table = read_table(path, warn=warn)
    stems = list(
        dict.fromkeys(n.rpartition(".")[0] for n in table.names if n.rpartition(".")[2] in QUATERNION_SUFFIXES)
    )
    quaternions, stated = [], True
    for stem in stems:
        titles = next(
            (t for t in (ORDERED_TITLES, *UNORDERED_TITLES) if all(f"{stem}.{q}" in table.names for q in t)), None
        )
        if titles is None:
            problem = f"segment {stem!r} lacks a component of its quaternion"
            raise InputError(
                path, problem, place="line 1", remedy=f"Give {', '.join(f'{stem}.{q}' for q in ORDERED_TITLES)}"
            )
        stated &= titles == ORDERED_TITLES
        quaternions.append(table.columns([f"{stem}.{q}" for q in titles]))
    if not stems:
        raise InputError(
            path, "no column NAME.qw", place="line 1", remedy="Name the columns NAME.qx [1] ... NAME.qw [1]"
        )
    values = np.stack(quaternions, axis=1)
    order = SCALAR_LAST if stated else _find_order(path, values, warn)
    axis = resolve_up(up, "z", path)
    return _segment_poses(path, table, tuple(stems), values[:, :, order], axis, warn), axis


def read_orientations_storage(
    path: str | Path, up: str = DEFAULT_UP, *, warn: Warn = ignore_warning
) -> tuple[SegmentPoses, str]:
    """Read segment poses from an OpenSim orientation file, and the vertical axis; y unless stated.

    Raises:
        InputError: no header, a cell that is not a quaternion, one that is not normalised, or times out of order.
    """
    _, at, labels = parse_header(path)
    names = split_cells(labels)
    if len(names) < 2 or names[0].lower() != TIME:
        raise InputError(path, "names no time and no units", place=f"line {at + 1}", remedy="Export it again")
    titles = [names[0], *(f"{name} {part}" for name in names[1:] for part in "wxyz")]
    cells = require_cells(path, read_rows(path, at + 1), len(names))
    rows = parse_rows(path, _split_quaternions(path, cells), titles)
    check_times(rows.leading[:, 0], rows.lines, path)
    table = TimeTable(tuple(titles[1:]), rows.leading[:, 0], rows.values, rows.lines)
    axis = resolve_up(up, "y", path)
    quaternions = rows.values.reshape(len(rows.lines), -1, 4)[:, :, SCALAR_FIRST]
    return _segment_poses(path, table, names[1:], quaternions, axis, warn), axis


def _split_quaternions(path: str | Path, rows: Iterable[tuple[int, list[str]]]) -> Iterator[tuple[int, list[str]]]:
    """Line numbers, and time and components of rows."""
    for number, cells in rows:
        parts = [cells[0]]
        for cell in cells[1:]:
            four = cell.split(",")
            if len(four) != 4 and cell.lower() not in ("", "nan"):
                problem = f"{cell[:40]!r} is not a quaternion w,x,y,z"
                raise InputError(path, problem, place=f"line {number}", remedy="Export it again")
            parts += four if len(four) == 4 else [""] * 4
        yield number, [part.strip() for part in parts]


def _segment_poses(
    path: str | Path, table: TimeTable, names: Sequence[str], quaternions: np.ndarray, axis: str, warn: Warn
) -> SegmentPoses:
    """Segment poses from quaternions (N, B, 4) xyzw, with checks of their length and continuity."""
    with np.errstate(over="ignore"):
        length = np.linalg.norm(quaternions, axis=2)
    off = np.abs(length - 1.0)
    if (off > LENGTH_ERROR).any():
        frame, segment = map(int, np.unravel_index(int(np.nan_to_num(off, nan=-1.0).argmax()), off.shape))
        problem = f"the quaternion of {names[segment]!r} has length {length[frame, segment]:.4g}, not 1"
        raise InputError(path, problem, place=f"line {table.lines[frame]}", remedy="Export unit quaternions")
    if (off > LENGTH_WARNING).any():
        warn(f"{Path(path).name}: quaternions up to {np.nanmax(off):.1g} off their length 1 were normalised")
    rotations = to_matrix(quaternions / length[:, :, None])
    turned = np.einsum("nbij,nbij->nb", rotations[1:], rotations[:-1])
    far = np.nan_to_num(turned, nan=3.0) < 1.0 + 2.0 * np.cos(MAX_STEP)
    if far.any():
        frame, segment = map(int, np.unravel_index(int(np.argmax(far)), far.shape))
        warn(f"{Path(path).name}: {names[segment]} rotates by more than {np.degrees(MAX_STEP):.0f} degrees in one "
             f"frame ({int(far.sum())} times, first at {table.times[frame + 1]:.3f} s)")  # fmt: skip
    try:
        return SegmentPoses(table.times, tuple(names), to_z_up(axis) @ rotations)
    except InvalidValue as error:
        raise InputError(path, str(error), remedy="Correct the file") from error


def _find_order(path: str | Path, values: np.ndarray, warn: Warn) -> tuple[int, ...]:
    """Which of four unnamed columns are x, y, z and w."""
    first, last = (
        float(np.nanmedian(np.abs(values[:, :, k]))) if np.isfinite(values[:, :, k]).any() else 0.0 for k in (0, 3)
    )
    if abs(first - last) < MIN_SCALAR_MARGIN:
        problem = (
            "the order of its quaternions is unknown: neither the first nor the last component looks like the scalar"
        )
        raise InputError(path, problem, place="line 1", remedy="Name the columns NAME.qx, NAME.qy, NAME.qz, NAME.qw")
    words, order = ("first", SCALAR_FIRST) if first > last else ("last", SCALAR_LAST)
    warn(f"{Path(path).name}: the order of the quaternions is not stated; the scalar part is assumed to be {words}")
    return order
