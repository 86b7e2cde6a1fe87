"""Gradient of any criterion of the regressor by the motion, by reverse accumulation.

A criterion of the regressor Y changes by the sum of its weights dJ/dY times the change of Y. The weights are
propagated backwards to each link's pose, velocity and acceleration, then, summed over the links that a joint moves, to
its coordinate and the rates of it. A joint with the motion axis s moves the links behind it as one body. Their
velocities V and accelerations A, in the axes of the links, change by

    coordinate:    dV = Vb x s,  dA = (Vb x s) x (V - Vb) + Ab x s
    speed:         dV = s,       dA = Va x s + s x (V - Vb)
    acceleration:                dA = s

with Vb, Ab of the link before the joint and Va of the one behind it (spatial vectors; gravity is an acceleration).
"""

from __future__ import annotations

import numpy as np

from ..base.so3 import cross, matrix_product, turn_vectors
from ..skeleton.rig import ROOT_NV, Rig
from ..values.inertials import FIRST_MOMENT, GRAVITY_VECTOR, MASS
from ..values.motion import Motion
from .kinematics import LinkMotions, link_motions
from .regressor import STATIC_PARAMETERS, newton_euler_columns
from .workspace import Workspace

AXIAL_INDICES = ((1, 2), (2, 0), (0, 1))
"""Entries of a matrix that its antisymmetric part subtracts, by axis. By definition."""


def regressor_derivatives(rig: Rig, motion: Motion, weights: np.ndarray) -> np.ndarray:
    """Derivatives (3, N, nv) of sum(weights * Y) by tangent coordinates, speeds and accelerations of each frame.

    Args:
        rig: L links.
        motion: N frames.
        weights: (6, 10, L, N) of the entries of `wrench_regressor` about the root, in its axes.
    """
    motions = link_motions(rig, motion)
    rotation, origin = motions.rotation, motions.position
    velocity, acceleration, pose = _backpropagate_to_links(rig, motions, weights[:3, :STATIC_PARAMETERS], weights[3:])
    gravity = np.concatenate([GRAVITY_VECTOR, np.zeros(3)])[:, None, None]
    v = _twists_to_world(rotation, origin, np.concatenate([motions.velocity, motions.omega]))
    spatial = motions.acceleration - cross(motions.omega, motions.velocity)
    a = _twists_to_world(rotation, origin, np.concatenate([spatial, motions.alpha])) - gravity
    behind = [velocity, acceleration, _cross_twist_wrench(v, acceleration), pose]
    for link, parent in reversed(list(enumerate(rig.parents))[1:]):
        for each in behind:
            each[:, parent] += each[:, link]
    return _sum_over_joints(rig, motion, (v, a), behind)


def _backpropagate_to_links(
    rig: Rig, motions: LinkMotions, force: np.ndarray, moment: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weights (6, L, n) of every link's velocity, acceleration and pose, world axes, about the world origin.

    Args:
        rig: L links.
        motions: of the links.
        force: (3, 4, L, n) weights of the force rows.
        moment: (3, 10, L, n) weights of the moment rows.
    """
    columns = newton_euler_columns(motions, GRAVITY_VECTOR, 0, "link")
    wx, wy, wz = motions.omega
    # weights of forces, including those through the lever of the link
    whole = force + cross(moment[:, :STATIC_PARAMETERS], columns.position[:, None])
    inverse = columns.rotation.swapaxes(0, 1)
    local, turning = matrix_product(inverse, whole), matrix_product(inverse, moment[:, MASS + 1 :])
    square, lever, inertia = local[:, FIRST_MOMENT], turning[:, :3], turning[:, 3:]
    both = square + square.swapaxes(0, 1)
    trace = square[0, 0] + square[1, 1] + square[2, 2]
    by_a = local[:, MASS] - _axial_weights(lever)
    by_alpha, by_omega = (
        _axial_weights(square),
        turn_vectors(both, motions.omega) - 2.0 * trace * motions.omega,
    )
    i = inertia  # rows of the moment, entries xx xy yy xz yz zz
    by_alpha += [i[0, 0] + i[1, 1] + i[2, 3], i[0, 1] + i[1, 2] + i[2, 4], i[0, 3] + i[1, 4] + i[2, 5]]
    xx, yy, zz = i[2, 1] - i[1, 3], i[0, 4] - i[2, 1], i[1, 3] - i[0, 4]
    xy = i[0, 3] - i[1, 4] - i[2, 0] + i[2, 2]
    xz = i[1, 0] - i[0, 1] - i[1, 5] + i[2, 4]
    yz = i[0, 5] - i[0, 2] + i[1, 1] - i[2, 3]
    by_omega += [
        2.0 * wx * xx + wy * xy + wz * xz,
        2.0 * wy * yy + wx * xy + wz * yz,
        2.0 * wz * zz + wx * xz + wy * yz,
    ]
    velocity = np.concatenate([cross(by_a, motions.omega), by_omega + cross(motions.velocity, by_a)])
    acceleration = np.concatenate([by_a, by_alpha])
    rows = columns.force, columns.moment
    lifted = cross(rows[0], moment[:, :STATIC_PARAMETERS]).sum(axis=1)
    turned = cross(rows[0], force).sum(axis=1) + cross(rows[1], moment).sum(axis=1)
    rotation, origin = motions.rotation, motions.position
    pose = _wrenches_to_world(rotation[:, :, :1], origin[:, :1], np.concatenate([lifted, turned]))
    return _wrenches_to_world(rotation, origin, velocity), _wrenches_to_world(rotation, origin, acceleration), pose


def _sum_over_joints(
    rig: Rig, motion: Motion, twists: tuple[np.ndarray, np.ndarray], behind: list[np.ndarray]
) -> np.ndarray:
    """Derivatives (3, N, nv) from weights (6, L, n) summed over each link and its descendants."""
    s = np.ascontiguousarray(Workspace(rig).evaluate_batch(motion.q)[2].transpose(2, 1, 0))
    owner = np.repeat(np.arange(len(rig.links)), [joint.nv for joint in rig.joints])
    parent = np.array(rig.parents)[owner]
    (v, a), first = twists, parent < 0
    before, after, rate = v[:, parent], v[:, owner], a[:, parent]
    before[:, first] = 0.0
    rate[:, first] = -np.concatenate([GRAVITY_VECTOR, np.zeros(3)])[:, None, None]
    at = 0
    for joint in rig.joints:
        if joint.kind == "universal":  # two revolute joints in series
            speed, gain = motion.v[:, at], motion.a[:, at]
            rate[:, at + 1] += s[:, at] * gain + _cross_twists(before[:, at], s[:, at]) * speed
            before[:, at + 1] += s[:, at] * speed
            after[:, at] = before[:, at + 1]
        at += joint.nv
    velocity, acceleration, turned, pose = (each[:, owner] for each in behind)
    turn, lag = _cross_twists(after, s), _cross_twists(before, s)
    result = np.empty((3, rig.nv, len(motion)))
    result[0] = _dot(velocity, lag) + _dot(lag, turned)
    result[0] += _dot(acceleration, _cross_twists(before, lag) + _cross_twists(rate, s))
    result[0, ROOT_NV:] += _dot(pose[:, ROOT_NV:], s[:, ROOT_NV:])
    result[1] = _dot(velocity, s) + _dot(acceleration, turn + lag) + _dot(s, turned)
    result[2] = _dot(acceleration, s)
    return result.swapaxes(1, 2)


def _axial_weights(matrices: np.ndarray) -> np.ndarray:
    """Weights (3, ...) of a vector from weights (3, 3, ...) of its skew-symmetric matrix."""
    return np.array([matrices[k, j] - matrices[j, k] for j, k in AXIAL_INDICES])


def _twists_to_world(rotation: np.ndarray, origin: np.ndarray, twists: np.ndarray) -> np.ndarray:
    """Twists (6, L, n) of link axes in world axes, about the world origin."""
    linear, angular = turn_vectors(rotation, twists[:3]), turn_vectors(rotation, twists[3:])
    return np.concatenate([linear + cross(origin, angular), angular])


def _wrenches_to_world(rotation: np.ndarray, origin: np.ndarray, wrenches: np.ndarray) -> np.ndarray:
    """Wrenches (6, L, n) of link axes in world axes, about the world origin."""
    force, moment = (
        turn_vectors(rotation, wrenches[:3]),
        turn_vectors(rotation, wrenches[3:]),
    )
    return np.concatenate([force, moment + cross(origin, force)])


def _cross_twists(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Spatial cross product (6, ...) of twists."""
    angular = cross(left[3:], right[3:])
    return np.concatenate([cross(left[3:], right[:3]) + cross(left[:3], right[3:]), angular])


def _cross_twist_wrench(twist: np.ndarray, wrench: np.ndarray) -> np.ndarray:
    """Spatial cross product (6, ...) of twists and wrenches."""
    force = cross(twist[3:], wrench[:3])
    return np.concatenate([force, cross(twist[3:], wrench[3:]) + cross(twist[:3], wrench[:3])])


def _dot(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return np.einsum("i...,i...->...", left, right)
