"""Motions in the formats of humanoid robotics: a table of configurations, and an archive of body states.

The table has no header. Each row is a frame: root position [m], root quaternion x y z w, then the joints [rad, m] in
the robot's order; the rate is part of the file's name. The archive has the arrays that motion-tracking policies are
trained on: ``fps``, ``joint_pos``, ``joint_vel``, ``body_pos_w``, ``body_quat_w`` (w x y z), ``body_lin_vel_w``,
``body_ang_vel_w``, ``joint_names`` and ``body_names``. World z up. Joint coordinates of files without joint names are
numbered in the order of their rig.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from ..base.errors import InputError
from ..base.so3 import continuous_signs, to_quaternion
from ..dynamics import link_motions
from ..dynamics.coordinates import joint_coordinates
from ..skeleton.rig import ROOT_NV, Rig
from ..storage.atomic import write_atomically
from ..storage.npz_archive import write_archive
from ..values.motion import POSE, UNIT_QUATERNION, JointCoordinates, Motion, coordinate_numbers
from .joint_coordinates import coordinate_names, joints_from_arrays
from .npz_arrays import NpzArrays
from .text_files import parse_rows, read_csv_rows, require_cells

_RATE_IN_NAME = re.compile(r"[_\-. ](\d+(?:\.\d+)?)hz$", re.I)
"""Pattern of the rate in the name of a table."""
BODY_STATE_KEYS = frozenset({"joint_pos", "body_pos_w", "body_quat_w"})
DIGITS = 9
"""Significant digits of the table."""


def is_humanoid_table(path: Path) -> bool:
    """Whether a .csv is a humanoid's table: its first row holds only numbers, and a unit quaternion in columns 4 to 7.

    The quaternion is checked by the reader if the name states a rate.

    Raises:
        InputError: it cannot be read.
    """
    _, first = next(read_csv_rows(path), (0, []))
    try:
        values = np.array([float(cell) for cell in first])
    except ValueError:
        return False
    if len(values) <= POSE or not np.isfinite(values).all():
        return False
    off = abs(float(np.linalg.norm(values[3:POSE])) - 1.0)
    return _RATE_IN_NAME.search(path.stem) is not None or off <= UNIT_QUATERNION


def read_humanoid_table(path: str | Path, rate: float | None = None, angles: str | None = None) -> JointCoordinates:
    """Read joint coordinates and root poses of a table without header; joints are numbered in the order of their rig.

    Args:
        path: the file.
        rate: [1/s] frames a second; None: from the file's name.
        angles: ``"deg"`` or ``"rad"``; None: rad.

    Raises:
        InputError: no rate is given or in the file's name, a row of another length or with a cell that is not a number,
            fewer than eight columns, or root quaternions whose length is not 1.
    """
    if rate is None:
        stated = _RATE_IN_NAME.search(Path(path).stem)
        rate = 0.0 if stated is None else float(stated[1])
    if not rate > 0.0:
        problem = "neither the table nor its name states how many frames a second it has"
        remedy = "State it (--frame-rate 30, or frame_rate in a script), or name the file NAME_100hz.csv"
        raise InputError(path, problem, remedy=remedy)
    width = len(next(read_csv_rows(path), (0, []))[1])
    if width <= POSE:
        problem = f"has {width} columns without titles, too few for a root pose ({POSE}) and joints"
        raise InputError(path, problem, remedy="Give each row root position [m], quaternion x y z w, joints [rad, m]")
    titles = [f"column {k + 1}" for k in range(width)]
    rows = parse_rows(path, require_cells(path, read_csv_rows(path), width, "the first one"), titles, POSE)
    root = np.array(rows.leading)
    lengths = np.linalg.norm(root[:, 3:], axis=1)
    off = np.abs(lengths - 1.0) > UNIT_QUATERNION
    if off.any():
        row = int(np.argmax(off))
        problem = f"columns 4 to 7 hold a quaternion of length {lengths[row]:.4g}, not 1"
        remedy = "Give each row root position [m], root quaternion x y z w, then the joints"
        raise InputError(path, problem, place=f"line {rows.lines[row]}", remedy=remedy)
    root[:, 3:] /= lengths[:, None]
    times = np.arange(len(root)) / rate
    return joints_from_arrays(path, times, coordinate_numbers(width - POSE), rows.values, root, angles)


def has_body_states(arrays: NpzArrays) -> bool:
    """Whether an archive holds body states."""
    return set(arrays.by_name) >= BODY_STATE_KEYS


def read_body_states(arrays: NpzArrays, angles: str | None = None) -> JointCoordinates:
    """Joint coordinates and root poses of an archive of body states, whose first body is the root.

    Without ``joint_names`` the joints are numbered in the order of their rig.

    Raises:
        InputError: an array is missing or of a wrong shape, or holds invalid quaternions.
    """
    values = arrays.real_array("joint_pos", 2)
    place, turn = arrays.real_array("body_pos_w", 3), arrays.real_array("body_quat_w", 3)
    frames, bodies = len(values), place.shape[1]
    if place.shape != (frames, bodies, 3) or turn.shape != (frames, bodies, 4) or not bodies:
        problem = f"body_pos_w has shape {place.shape} and body_quat_w {turn.shape}, for {frames} rows of joint_pos"
        raise InputError(arrays.path, problem, remedy="Write (frames, bodies, 3) and (frames, bodies, 4)")
    names = arrays.strings("joint_names") if "joint_names" in arrays.by_name else coordinate_numbers(values.shape[1])
    root = np.concatenate([place[:, 0], np.roll(turn[:, 0], -1, axis=1)], axis=1)
    times = np.arange(frames) / arrays.positive_number("fps")
    return joints_from_arrays(arrays.path, times, names, values, root, angles)


def table_name(name: str, rate: float) -> str:
    """The name of a table, which states its rate [1/s]: ``walk_100hz.csv``."""
    return f"{name}_{rate:g}hz.csv".replace(" ", "_")


def write_humanoid_table(path: str | Path, rig: Rig, motion: Motion) -> None:
    """Write a motion as a table without header, atomically."""
    root = np.array(motion.q[:, :POSE])
    root[:, 3:] = continuous_signs(root[:, 3:])
    values = np.concatenate([root, joint_coordinates(rig, motion.q)], axis=1)
    with write_atomically(path) as stream:
        np.savetxt(stream, values, fmt=f"%.{DIGITS}g", delimiter=",")


def write_body_states(path: str | Path, rig: Rig, motion: Motion) -> None:
    """Write a motion as an archive of joint and body states, atomically."""
    links = link_motions(rig, motion)
    turns = continuous_signs(to_quaternion(links.rotation.transpose(3, 2, 0, 1)))
    arrays = {
        "fps": np.array(motion.rate),
        "joint_names": np.array(coordinate_names(rig)[ROOT_NV:]),
        "body_names": np.array(rig.links),
        "joint_pos": joint_coordinates(rig, motion.q),
        "joint_vel": motion.v[:, ROOT_NV:],
        "body_pos_w": links.position.transpose(2, 1, 0),
        "body_quat_w": np.roll(turns, 1, axis=2),
        "body_lin_vel_w": links.to_world(links.velocity).transpose(2, 1, 0),
        "body_ang_vel_w": links.to_world(links.omega).transpose(2, 1, 0),
    }
    with write_atomically(path, binary=True) as stream:
        write_archive(stream, {name: np.ascontiguousarray(value) for name, value in arrays.items()}, {})
