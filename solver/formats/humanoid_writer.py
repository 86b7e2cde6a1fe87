"""Writers of motions in the formats of humanoid robotics: a table of configurations, and an archive of body states.

The table has no header. Each row is a frame: root position [m], root quaternion x y z w, then the joints [rad, m] in
the robot's order; the rate is part of the file's name. The archive has the arrays that motion-tracking policies are
trained
on: ``fps``, ``joint_pos``, ``joint_vel``, ``body_pos_w``, ``body_quat_w`` (w x y z), ``body_lin_vel_w``,
``body_ang_vel_w``, ``joint_names`` and ``body_names``. World z up.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..coordinates import joint_coordinates
from ..dynamics import link_motions
from ..motion import POSE, Motion
from ..rig import ROOT_NV, Rig
from ..so3 import continuous_signs, to_quaternion
from ..storage.atomic import write_atomically
from ..storage.npz_archive import write_archive
from .joint_coordinates import coordinate_names

DIGITS = 9
"""Significant digits of the table."""


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
