"""Margins of joint angles, speeds and torques: bonnet2016 (15), (18)."""

from __future__ import annotations

import numpy as np

from ..coordinates import Curves, coordinate_names, joint_coordinates
from ..rig import ROOT_NV, Rig
from ..scene.labels import display_name


def angle_margins(rig: Rig, q: np.ndarray) -> np.ndarray:
    """Distance (N, nv - 6) [rad] of each joint coordinate to its nearer limit; negative beyond it, (15)."""
    coordinates = joint_coordinates(rig, q)
    return np.minimum(coordinates - rig.limits.lower, rig.limits.upper - coordinates)


def speed_margins(rig: Rig, v: np.ndarray) -> np.ndarray:
    """Speed (N, nv - 6) [rad/s] left to each joint's limit, (18)."""
    return rig.limits.speed - np.abs(v[:, ROOT_NV:])


def angle_margin_derivatives(rig: Rig, curves: Curves) -> np.ndarray:
    """Slopes (N, nv - 6) of `angle_margins`, each by its coordinate: one where the lower limit is nearer, or minus."""
    coordinates = joint_coordinates(rig, curves.q)
    return np.where(coordinates - rig.limits.lower < rig.limits.upper - coordinates, 1.0, -1.0)


def speed_margin_derivatives(rig: Rig, curves: Curves) -> np.ndarray:
    """Slopes (N, nv - 6) of `speed_margins`, each by its joint's speed."""
    return -np.sign(curves.v[:, ROOT_NV:])


def torque_margins(rig: Rig, torques: np.ndarray) -> np.ndarray:
    """Share (N, nv - 6) of each joint's torque limit that is left, 1 - |torque| / limit, (15); 1 without a limit.

    Args:
        torques: (N, nv - 6) [N m].
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        used = np.abs(torques) / rig.limits.torque
    return 1.0 - np.nan_to_num(used, nan=0.0, posinf=np.inf)


def missing_limits(rig: Rig) -> tuple[str, ...]:
    """What cannot be checked because the rig states no limit, one sentence each."""
    names = np.array(coordinate_names(rig))
    said = []
    for what, limit in (
        ("torque", rig.limits.torque),
        ("speed", rig.limits.speed),
        ("angle", np.minimum(-rig.limits.lower, rig.limits.upper)),
    ):
        free = names[~np.isfinite(limit)]
        if len(free):
            which = "any joint" if len(free) == len(names) else ", ".join(display_name(name) for name in free)
            said.append(f"Rig {rig.name!r} states no {what} limit for {which}: not checked there")
    return tuple(said)
