"""Margins of joint angles, speeds and torques: bonnet2016 (15), (18)."""

from __future__ import annotations

import numpy as np

from ...rig import ROOT_NV, Rig

ROOT_NQ = 7
"""Configuration numbers of the free flyer."""
SMALL_ANGLE = 1e-12
"""Below this sine of half the angle a quaternion's rotation vector is twice its vector part."""


def joint_coordinates(rig: Rig, q: np.ndarray) -> np.ndarray:
    """Joint coordinates (N, nv - 6) of configurations (N, nq), as `Rig.coordinates` row by row."""
    neutral = rig.neutral
    if rig.model.nq - ROOT_NQ == rig.model.nv - ROOT_NV:  # every coordinate is its own difference
        return q[:, ROOT_NQ:] - neutral[ROOT_NQ:]
    result = np.empty((len(q), rig.model.nv - ROOT_NV))
    differences = None
    for joint in list(rig.model.joints)[2:]:
        into = slice(joint.idx_v - ROOT_NV, joint.idx_v - ROOT_NV + joint.nv)
        values = q[:, joint.idx_q : joint.idx_q + joint.nq]
        if joint.nq == joint.nv:
            result[:, into] = values - neutral[joint.idx_q : joint.idx_q + joint.nq]
        elif joint.shortname() == "JointModelSpherical":
            result[:, into] = rotation_vectors(values)
        else:
            if differences is None:
                differences = np.array([rig.coordinates(row) for row in q]).reshape(len(q), -1)
            result[:, into] = differences[:, into]
    return result


def angle_margins(rig: Rig, q: np.ndarray) -> np.ndarray:
    """Distance (N, nv - 6) [rad] of each joint coordinate to its nearer limit; negative beyond it, (15)."""
    coordinates = joint_coordinates(rig, q)
    return np.minimum(coordinates - rig.limits.lower, rig.limits.upper - coordinates)


def speed_margins(rig: Rig, v: np.ndarray) -> np.ndarray:
    """Speed (N, nv - 6) [rad/s] left to each joint's limit, (18)."""
    return rig.limits.speed - np.abs(v[:, ROOT_NV:])


def torque_margins(rig: Rig, torques: np.ndarray) -> np.ndarray:
    """Share (N, nv - 6) of each joint's torque limit that is left, 1 - |torque| / limit, (15); 1 without a limit.

    Args:
        torques: (N, nv - 6) [N m].
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        used = np.abs(torques) / rig.limits.torque
    return 1.0 - np.nan_to_num(used, nan=0.0, posinf=np.inf)


def coordinate_names(rig: Rig) -> tuple[str, ...]:
    """(nv - 6) names: the link moved, with the axis where its joint has several."""
    names = []
    for joint, link in zip(list(rig.model.joints)[2:], rig.links[1:]):
        names += [link] if joint.nv == 1 else [f"{link} {axis}" for axis in "xyzuvw"[: joint.nv]]
    return tuple(names)


def coordinate_links(rig: Rig) -> tuple[tuple[str, ...], ...]:
    """(nv - 6) the link each coordinate moves."""
    joints = list(rig.model.joints)[2:]
    return tuple((link,) for joint, link in zip(joints, rig.links[1:]) for _ in range(joint.nv))


def unlimited(rig: Rig) -> tuple[str, ...]:
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
            which = "any joint" if len(free) == len(names) else ", ".join(free)
            said.append(f"Rig {rig.name!r} states no {what} limit for {which}: not checked there")
    return tuple(said)


def rotation_vectors(quaternions: np.ndarray) -> np.ndarray:
    """Rotation vectors (N, 3) [rad], at most half a turn long, of unit quaternions xyzw (N, 4)."""
    vector, scalar = quaternions[:, :3], quaternions[:, 3]
    sine = np.linalg.norm(vector, axis=1)
    angle = 2.0 * np.arctan2(sine, np.abs(scalar))
    factor = np.where(sine > SMALL_ANGLE, angle / np.maximum(sine, SMALL_ANGLE), 2.0)
    return vector * (factor * np.where(scalar < 0.0, -1.0, 1.0))[:, None]
