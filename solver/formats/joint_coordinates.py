"""Joint coordinates as named columns, with or without the root's pose: CSV, OpenSim storage and NumPy archives.

CSV (see `csv_tables`): ``NAME [rad]`` or ``NAME [deg]`` for a revolute joint, ``NAME [m]`` (cm, mm) for a prismatic
one; a spherical joint has ``NAME_x``, ``NAME_y``, ``NAME_z``, its rotation vector from neutral.
The root's pose in the world, z up: ``root_tx``, ``root_ty``, ``root_tz`` [m] and either its rotation vector
``root_rx``, ``root_ry``, ``root_rz`` [rad] or its quaternion ``root_qx``, ``root_qy``, ``root_qz``, ``root_qw`` [1].
Columns ``NAME speed [rad/s]`` only serve as a check of the angles: velocities are computed from the angles, with the
filter that is also applied to the forces. Columns ``NAME torque [N m]``, or ``[N]`` where a joint slides, are not read.

Storage files (.mot, .sto) have the same columns without units: ``inDegrees`` states the unit of rotations, translations
are in metres. An archive (.npz) holds ``joints`` (C,) names, ``angles`` (N, C) [rad, m], ``joint_times`` (N,) or
``joint_rate``, and optionally ``root`` (N, 7), position [m] and quaternion xyzw.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from ..base.errors import InputError, InvalidValue
from ..base.so3 import quaternion_exp
from ..dynamics.coordinates import coordinate_lengths, to_flat
from ..dynamics.coordinates import coordinate_names as joint_names
from ..skeleton.rig import ROOT_NV, Rig
from ..values.motion import JointCoordinates, Motion
from .csv_tables import SI_FACTORS, normalise_unit, read_table, write_table
from .opensim_storage import SIMM_ROWS, read_storage, write_storage
from .plate_columns import KNOWN_NAMES, find_plate_columns, has_force_columns
from .text_files import Warn, ignore_warning

ROOT_POSITION, ROOT_ROTATION, ROOT_QUATERNION = (
    ("root_tx", "root_ty", "root_tz"),
    ("root_rx", "root_ry", "root_rz"),
    ("root_qx", "root_qy", "root_qz", "root_qw"),
)
SPEED_SUFFIX, TORQUE_SUFFIX = " speed", " torque"
ANGLE_UNITS, LENGTH_UNITS = ("deg", "rad"), ("m", "cm", "mm")
MAX_SPEED_RATIO = 2.0
"""Factor by which stated speeds and the derivatives of the angles may differ."""
AXES = ("x", "y", "z")
CSV_SUFFIX, STORAGE_SUFFIX = ".csv", ".mot"


def read_joints_csv(path: str | Path, *, warn: Warn = ignore_warning) -> JointCoordinates:
    """Read joint coordinates from a table as the module describes.

    Raises:
        InputError: malformed table, a unit of neither angle nor length, an incomplete root pose, or units that
            contradict the numbers.
    """
    table = read_table(path, warn=warn)
    columns, speeds = {}, {}
    for name, unit, values in zip(table.names, table.units, table.values.T):
        unit = normalise_unit(unit)
        if "/s" in unit:
            speeds[name.removesuffix(SPEED_SUFFIX)] = values
        elif name.endswith(TORQUE_SUFFIX):
            continue
        elif unit in ANGLE_UNITS:
            columns[name] = (values, "rad")
        elif unit in LENGTH_UNITS:
            columns[name] = (values, "m")
        elif name in ROOT_QUATERNION and SI_FACTORS[unit] == 1.0:
            columns[name] = (values, "rad")
        else:
            problem = f"column {name!r} has the unit {unit!r}, which is neither an angle nor a length"
            raise InputError(path, problem, place="line 1", remedy="Give joint angles in deg or rad")
    found = _assemble(path, table.times, columns)
    _check_speeds(path, found, speeds)
    return found


def read_joints_storage(
    path: str | Path, angles: str | None = None, *, warn: Warn = ignore_warning
) -> JointCoordinates:
    """Read joint coordinates from a .mot or .sto file.

    Args:
        path: the file.
        angles: ``"deg"`` or ``"rad"``, if the header's ``inDegrees`` is missing or wrong.
        warn: receives messages about irregularities.

    Raises:
        InputError: not a storage file, no unit of the angles, an incomplete root pose, or numbers that contradict it.
    """
    storage = read_storage(path, leave_out_repeated=True, warn=warn)
    stated = {"yes": "deg", "no": "rad"}.get(storage.header.get("indegrees", "").lower())
    if stated is None and SIMM_ROWS in storage.header:
        stated = "deg"
    unit = angles or stated
    if unit not in ANGLE_UNITS:
        problem = "does not state whether its angles are in degrees" if angles is None else f"angles = {angles!r}"
        remedy = "Write inDegrees=yes or inDegrees=no into its header, or state the unit (angles = deg or rad)"
        remedy += f"; if it holds forces, use known column names: {KNOWN_NAMES}"
        raise InputError(path, problem, remedy=remedy)
    plates = find_plate_columns(path, storage.names) if has_force_columns(storage.names) else {}
    forces = {name for plate in plates.values() for names in plate.values() for name in names}
    columns = {name: (storage.column(name), f"{unit} or m") for name in storage.names if name not in forces}
    for name in ROOT_POSITION + ROOT_QUATERNION:
        if name in columns:
            columns[name] = (columns[name][0], "m")
    for name in ROOT_ROTATION:
        if name in columns:
            columns[name] = (columns[name][0] * SI_FACTORS[unit], "rad")
    return _assemble(path, storage.times, columns)


def joints_from_arrays(
    path: str | Path,
    times: np.ndarray,
    names: tuple[str, ...],
    values: np.ndarray,
    root: np.ndarray | None,
    angles: str | None,
) -> JointCoordinates:
    """Joint coordinates from an archive's arrays, see `JointCoordinates`; in rad unless ``angles`` is ``"deg"``."""
    if values.shape != (len(times), len(names)):
        problem = f"angles has shape {values.shape}, but there are {len(times)} times and {len(names)} joints"
        raise InputError(path, problem, place="array angles", remedy="Write one row per frame and one column per joint")
    return JointCoordinates(times, names, values, (f"{angles or 'rad'} or m",) * len(names), root)


def _assemble(path: str | Path, times: np.ndarray, columns: Mapping[str, tuple[np.ndarray, str]]) -> JointCoordinates:
    """Joint coordinates from named columns (N,) with units; columns of the root become its pose."""
    root = _root_poses(path, columns)
    joints = [name for name in columns if name not in ROOT_POSITION + ROOT_ROTATION + ROOT_QUATERNION]
    if not joints:
        raise InputError(path, "holds no joint coordinate", remedy="Title columns 'NAME [rad]' or 'NAME [deg]'")
    values = np.column_stack([columns[name][0] for name in joints])
    try:
        return JointCoordinates(times, tuple(joints), values, tuple(columns[name][1] for name in joints), root)
    except InvalidValue as error:
        raise InputError(path, str(error), remedy="Correct the file") from error


def _root_poses(path: str | Path, columns: Mapping[str, tuple[np.ndarray, str]]) -> np.ndarray | None:
    """Poses (N, 7) of the root; None without columns of it."""
    if not any(name in columns for name in ROOT_POSITION + ROOT_ROTATION + ROOT_QUATERNION):
        return None
    way = ROOT_QUATERNION if ROOT_QUATERNION[0] in columns else ROOT_ROTATION
    lacking = [name for name in ROOT_POSITION + way if name not in columns]
    if lacking or any(name in columns for name in (ROOT_ROTATION if way is ROOT_QUATERNION else ROOT_QUATERNION)):
        problem = f"the root's pose lacks {', '.join(lacking)}" if lacking else "the root has two rotations"
        remedy = f"Give {', '.join(ROOT_POSITION)} and either {', '.join(ROOT_ROTATION)} or "
        remedy += f"{', '.join(ROOT_QUATERNION)}, or none of them"
        raise InputError(path, problem, remedy=remedy)
    for names, unit in ((ROOT_POSITION, "m"), (ROOT_ROTATION, "rad")):
        if wrong := [name for name in names if name in columns and columns[name][1] != unit]:
            problem = f"column {wrong[0]!r} is not {'a length' if unit == 'm' else 'an angle'}"
            raise InputError(
                path, problem, remedy="Give the root's position in m and its rotation vector in rad or deg"
            )
    place, turn = (np.column_stack([columns[name][0] for name in names]) for names in (ROOT_POSITION, way))
    if way is ROOT_ROTATION:
        turn = quaternion_exp(turn)
    return np.concatenate([place, turn], axis=1)


def _check_speeds(path: str | Path, joints: JointCoordinates, speeds: Mapping[str, Sequence[float]]) -> None:
    """Refuse speeds that are not the derivatives of their angles."""
    slopes, stated = [], []
    for name, values in zip(joints.names, joints.values.T):
        if name in speeds and len(joints) > 2:
            slopes.append(np.gradient(values, joints.times))
            stated.append(np.asarray(speeds[name]))
    if not slopes:
        return
    known = np.isfinite(slopes) & np.isfinite(stated)
    slope, speed = np.array(slopes)[known], np.array(stated)[known]
    if not (slope @ slope > 0.0 and speed @ speed > 0.0):
        return
    ratio = float(np.sqrt((speed @ speed) / (slope @ slope)))
    if not 1.0 / MAX_SPEED_RATIO < ratio < MAX_SPEED_RATIO:
        problem = f"its speeds are {ratio:.3g} times as large as the derivatives of its angles"
        raise InputError(path, problem, remedy="Check the units of both, or remove the speeds")


def coordinate_names(rig: Rig) -> tuple[str, ...]:
    """Names (nv,): the root's position and rotation vector, then each link's angle or ``LINK_x``, ``_y``, ``_z``."""
    return (*ROOT_POSITION, *ROOT_ROTATION, *(name.replace(" ", "_") for name in joint_names(rig)))


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


def write_coordinates(  # noqa: PLR0913
    path: str | Path, rig: Rig, motion: Motion, *, degrees: bool, root: bool = True, speeds: bool = False,
    torques: np.ndarray | None = None,
) -> None:  # fmt: skip
    """Write joint coordinates over time as a table, atomically.

    Args:
        path: .csv, whose header has the unit of each column, or .mot, OpenSim storage, whose header states degrees.
        rig: that moves.
        motion: of the rig.
        degrees: angles in degrees, otherwise in radians; lengths are in metres.
        root: also write its position and rotation vector.
        speeds: also write columns ``NAME speed`` into a .csv; of a spherical joint the angular velocity, body axes.
        torques: (N, nv - 6) [N m] of the joints, also written as columns ``NAME torque``.

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
    if torques is not None:
        units = ["N" if length else "N m" for length in coordinate_lengths(rig)]
        titles += [f"{name}{TORQUE_SUFFIX} [{unit}]" for name, unit in zip(coordinate_names(rig)[ROOT_NV:], units)]
        values = np.concatenate([values, torques], axis=1)
    write_table(path, motion.times, titles, values)
