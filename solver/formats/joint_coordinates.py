"""A motion as one named column per joint coordinate, and its writer for tables and other programs."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..coordinates import coordinate_lengths, to_flat
from ..coordinates import coordinate_names as joint_names
from ..errors import InputError
from ..motion import Motion
from ..rig import ROOT_NV, Rig
from .csv_tables import write_table
from .opensim_storage import write_storage

ROOT_NAMES = ("root_tx", "root_ty", "root_tz", "root_rx", "root_ry", "root_rz")
AXES = ("x", "y", "z")
CSV_SUFFIX, STORAGE_SUFFIX = ".csv", ".mot"


def coordinate_names(rig: Rig) -> tuple[str, ...]:
    """Names (nv,): the root's position and rotation vector, then each link's angle or ``LINK_x``, ``_y``, ``_z``."""
    return (*ROOT_NAMES, *(name.replace(" ", "_") for name in joint_names(rig)))


def require_table_suffix(path: str | Path) -> str:
    """The suffix of a table of joint coordinates.

    Raises:
        InputError: another one.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in (CSV_SUFFIX, STORAGE_SUFFIX):
        remedy = f"End it on {CSV_SUFFIX} or {STORAGE_SUFFIX}"
        raise InputError(path, "has no suffix of a table of joint coordinates", remedy=remedy)
    return suffix


def write_coordinates(
    path: str | Path, rig: Rig, motion: Motion, *, degrees: bool, root: bool = True, speeds: bool = False
) -> None:
    """Write joint coordinates over time as a table, atomically.

    Args:
        path: .csv, whose header has the unit of each column, or .mot, OpenSim storage, whose header states degrees.
        rig: that moves.
        motion: of the rig.
        degrees: angles in degrees, otherwise in radians; lengths are in metres.
        root: also write its position and rotation vector.
        speeds: also write columns ``NAME speed`` into a .csv; of a spherical joint the angular velocity, body axes.

    Raises:
        InputError: another suffix, speeds in a .mot, or the file cannot be written.
    """
    suffix, first = require_table_suffix(path), 0 if root else ROOT_NV
    if speeds and suffix == STORAGE_SUFFIX:
        raise InputError(path, "cannot hold speeds", remedy=f"End it on {CSV_SUFFIX}")
    lengths = np.concatenate([np.arange(ROOT_NV) < len(AXES), coordinate_lengths(rig)])[first:]
    names = coordinate_names(rig)[first:]
    scale = np.where(lengths | (not degrees), 1.0, np.degrees(1.0))
    values = to_flat(rig, motion.q)[:, first:] * scale
    if suffix == STORAGE_SUFFIX:
        write_storage(path, motion.times, names, values, in_degrees=degrees)
        return
    units = ["m" if length else "deg" if degrees else "rad" for length in lengths]
    titles = [f"{name} [{unit}]" for name, unit in zip(names, units)]
    if speeds:
        titles += [f"{name} speed [{unit}/s]" for name, unit in zip(names, units)]
        values = np.concatenate([values, motion.v[:, first:] * scale], axis=1)
    write_table(path, motion.times, titles, values)
