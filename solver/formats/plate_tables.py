"""Wrenches of force plates from the columns of a table, a few samples at a time: an hour needs little memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..base.errors import InputError
from ..base.file_arrays import FileRows, every, iterate_slices
from ..values.wrenches import Wrenches
from .axes_and_units import length_in_metres, spread_frames, to_z_up
from .plate_columns import FORCE, MOMENT, POINT, Plates, check_free_moments, has_documented_titles, has_free_moments
from .text_files import TimeTable, Warn
from .uniform_sampling import resample_wrenches
from .wrench_checks import (
    MAX_DISTANCE,
    MISSING_REMEDY,
    SAMPLE,
    ForceConvention,
    check_centres_of_pressure,
    report_missing,
    resolve_force_up,
)

LOADED_FORCE = 30.0
"""[N] Highest force below which programs leave out the centre of pressure. Measured on the recordings of
`axes_and_units.AXIS_DOMINANCE`: twice the value reads the same, half of it takes the metres of one for millimetres."""


def wrenches_of_plates(
    path: str | Path,
    table: TimeTable,
    plates: Plates,
    convention: ForceConvention,
    *,
    missing: str = "error",
    warn: Warn,
) -> tuple[Wrenches, str]:
    """Wrenches about the world origin, z up, and the file's vertical axis; the moment is p x f + m.

    Moments without a centre of pressure are about the origin in columns that have the documented titles; in others
    their reference point is unknown, and they are treated as not measured.

    Args:
        path: of the file.
        table: of forces [N], centres of pressure and free moments in the convention's units.
        plates: columns of each.
        convention: of the numbers.
        missing: ``"error"`` refuses missing samples, ``"keep"`` leaves them NaN.
        warn: receives messages about irregularities.

    Raises:
        InputError: missing samples, or an axis, unit or sign that contradicts the data.
    """
    columns, documented = _PlateColumns(table, plates), has_documented_titles(table.names)
    forces, points, moments = columns.read(every(table.values, spread_frames(len(table.times), SAMPLE).step))
    metre = length_in_metres(convention.units or _guess_unit(path, forces, points, warn), path)
    if not documented and not has_free_moments(table.names):
        for k in np.flatnonzero(columns.with_points):
            check_free_moments(path, list(plates)[k], forces[:, k], metre * moments[:, k])
    axis = resolve_force_up(convention.up, convention.sign * forces.sum(axis=1), path, convention.fallback_up)
    rotation, rows, masks = to_z_up(axis).T, FileRows(), []
    for own in iterate_slices(len(table.times)):
        forces, points, moments = columns.read(table.values[own])
        unloaded = (forces == 0.0).all(axis=2, keepdims=True)
        # The point and the free moment of an unloaded plate are ignored.
        moments = np.where(unloaded & (columns.with_points | (not documented))[:, None], 0.0, moments) * metre
        arms = np.cross(np.where(unloaded, 0.0, points * metre), forces)
        arms[:, documented & ~columns.with_points & columns.with_moments] = 0.0
        rows.add(convention.sign * np.concatenate([forces @ rotation, (arms + moments) @ rotation], axis=2))
        loaded, placed = np.linalg.norm(forces, axis=2) > LOADED_FORCE, np.isfinite(arms + moments).all(axis=2)
        masks.append((np.isnan(forces).any(axis=2), loaded & placed, loaded & ~placed))
    absent, placed, unplaced = map(np.concatenate, zip(*masks))
    row, plate = divmod(int(np.argmax(absent)), len(plates))
    report_missing(path, absent.any(axis=1), f"line {table.lines[row]}, plate {plate + 1}", missing, warn)
    unplaced &= placed.any(axis=0)  # what a plate never has is not missing
    if missing == "error" and unplaced.any():
        row, plate = divmod(int(np.argmax(unplaced)), len(plates))
        problem = "the centre of pressure or the free moment is missing under load"
        place = f"line {table.lines[row]}, plate {plate + 1}"
        raise InputError(path, problem, place=place, remedy=MISSING_REMEDY)
    measured = np.ones((len(table.times), 6), bool)
    known = columns.with_points | (columns.with_moments & documented)
    if without := [name for name, is_known in zip(plates, known) if not is_known]:
        warn(f"{Path(path).name}: no centre of pressure for {', '.join(without)}: moments are treated as not measured")
        measured[:, 3:] = False
    wrenches = Wrenches(table.times, tuple(plates), rows.finish(), measured)
    result = resample_wrenches(path, wrenches, table.lines, missing, warn)
    check_centres_of_pressure(result, path)
    return result, axis


class _PlateColumns:
    """Columns of K plates; ``with_points`` and ``with_moments`` (K,) say which have any."""

    def __init__(self, table: TimeTable, plates: Plates) -> None:
        self.with_points = np.array([POINT in plate for plate in plates.values()])
        self.with_moments = np.array([MOMENT in plate for plate in plates.values()])
        index = table.names.index
        self._columns = [
            np.array([[index(name) for name in plate.get(what, plate[FORCE])] for plate in plates.values()])
            for what in (FORCE, POINT, MOMENT)
        ]

    def read(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Forces, points (NaN for plates without) and moments (0 for plates without) (n, K, 3) of some rows (n, C)."""
        forces, points, moments = (values[:, columns] for columns in self._columns)
        points[:, ~self.with_points] = np.nan
        moments[:, ~self.with_moments] = 0.0
        return forces, points, moments


def _guess_unit(path: str | Path, forces: np.ndarray, points: np.ndarray, warn: Warn) -> str:
    """Unit of centres of pressure (n, K, 3) under forces (n, K, 3) [N]: metres, unless no laboratory is so large."""
    distance = np.linalg.norm(points[np.linalg.norm(forces, axis=2) > LOADED_FORCE], axis=1)
    far = float(np.nanmedian(distance)) if np.isfinite(distance).any() else 0.0
    if far <= MAX_DISTANCE:
        return "m"
    warn(
        f"{Path(path).name}: a centre of pressure {far:.0f} m away is impossible: lengths are taken to be in mm "
        "(--force-units overrules it)"
    )
    return "mm"
