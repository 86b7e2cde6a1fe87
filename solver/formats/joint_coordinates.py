"""A motion as one named column per joint coordinate, for tables and other programs."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..motion import Motion
from ..pinocchio_loader import pin
from ..rig import ROOT_NV, Rig
from .atomic import write_atomically

ROOT = ("root_tx", "root_ty", "root_tz", "root_rx", "root_ry", "root_rz")
AXES = ("x", "y", "z")


def coordinate_names(rig: Rig) -> tuple[str, ...]:
    """Names (nv,): the root's position and rotation vector, then per link its angle or ``LINK_x``, ``_y``, ``_z``."""
    names = list(ROOT)
    for link in rig.links[1:]:
        count = rig.model.nvs[rig.joint(link)]
        names += [link] if count == 1 else [f"{link}_{AXES[k]}" if count == 3 else f"{link}_{k}" for k in range(count)]
    return tuple(names)


def joint_coordinates(rig: Rig, motion: Motion) -> tuple[tuple[str, ...], np.ndarray]:
    """Names (nv,) and values (N, nv): root position [m, world], root rotation vector [rad, world], joints [rad, m].

    A spherical joint's three values are the rotation vector from neutral, as in `Limits`.
    """
    neutral = rig.neutral
    values = np.empty((len(motion), rig.model.nv))
    for row, q in zip(values, motion.q):
        row[ROOT_NV:] = pin.difference(rig.model, neutral, q)[ROOT_NV:]
        row[:3] = q[:3]
        row[3:ROOT_NV] = pin.log3(pin.Quaternion(q[3:7]).matrix())
    return coordinate_names(rig), values


def write_motion_csv(path: str | Path, times: np.ndarray, names: Sequence[str], values: np.ndarray) -> None:
    """Joint coordinates over time as CSV; the header names the unit of each column."""
    units = ["m" if name in ROOT[:3] else "rad" for name in names]
    with write_atomically(path) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["time [s]", *(f"{name} [{unit}]" for name, unit in zip(names, units))])
        writer.writerows([f"{value:.9g}" for value in row] for row in np.column_stack([times, values]))
