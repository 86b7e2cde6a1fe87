"""Joint and flat coordinates of a rig: their names, and the way from configurations to coordinates and back.

A dance is planned in flat coordinates: root position [m, world], root rotation vector [rad, world], then the joint
coordinates of `Limits` (angle of a hinge, rotation vector of a spherical joint).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .errors import InvalidValue
from .pinocchio_loader import pin
from .rig import ROOT_NV, Rig
from .so3 import Exponential, cross, quaternion_log

ROOT_NQ = ROOT_NV + 1
"""Numbers of the root in q: position and quaternion."""


@dataclass(frozen=True, slots=True)
class Curves:
    """Frames of a motion on the manifold: q (N, nq), v (N, nv), a (N, nv), as in `Motion`."""

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray


def to_manifold(rig: Rig, y: np.ndarray, dy: np.ndarray, ddy: np.ndarray) -> Curves:
    """Motion of flat coordinates (N, nv) with their time derivatives.

    Raises:
        InvalidValue: a joint type without rule.
    """
    model = rig.model
    q, v, a = np.zeros((len(y), model.nq)), np.zeros((len(y), model.nv)), np.zeros((len(y), model.nv))
    root = Exponential(y[:, 3:6])
    turn, (omega, alpha) = root.matrix, root.rates(dy[:, 3:6], ddy[:, 3:6])
    q[:, :3], q[:, 3:7] = y[:, :3], root.quaternion
    v[:, :3] = np.einsum("nij,ni->nj", turn, dy[:, :3])
    a[:, :3] = np.einsum("nij,ni->nj", turn, ddy[:, :3]) - cross(omega.T, v[:, :3].T).T
    v[:, 3:6], a[:, 3:6] = omega, alpha
    for name, joint in zip(list(model.names)[2:], list(model.joints)[2:]):
        at, span = joint.idx_q, slice(joint.idx_v, joint.idx_v + joint.nv)
        if joint.nq == joint.nv:
            q[:, at : at + joint.nq], v[:, span], a[:, span] = y[:, span], dy[:, span], ddy[:, span]
        elif joint.shortname() == "JointModelSpherical":
            turned = Exponential(y[:, span])
            q[:, at : at + 4] = turned.quaternion
            v[:, span], a[:, span] = turned.rates(dy[:, span], ddy[:, span])
        else:
            raise InvalidValue(f"joint {name!r} of type {joint.shortname()} cannot dance: no rule for its coordinates")
    return Curves(q, v, a)


def flat_rates(rig: Rig, y: np.ndarray, v: np.ndarray, a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Time derivatives (N, nv) of flat coordinates y (N, nv) with velocity v and acceleration a: undoes `to_manifold`.

    Raises:
        np.linalg.LinAlgError: a rotation vector is a full turn long, where it has no rates.
    """
    dy, ddy = np.array(v, float), np.array(a, float)
    turn = Exponential(y[:, 3:6]).matrix
    dy[:, :3] = np.einsum("nij,nj->ni", turn, v[:, :3])  # n frames, i axes of the world, j axes of the root
    ddy[:, :3] = np.einsum("nij,nj->ni", turn, a[:, :3] + cross(v[:, 3:6].T, v[:, :3].T).T)
    for columns in rotation_columns(rig):
        vectors = Exponential(y[:, columns])
        jacobian = vectors.right_jacobian
        dy[:, columns] = np.linalg.solve(jacobian, v[:, columns, None])[:, :, 0]
        drift = vectors.rates(dy[:, columns])[1]
        ddy[:, columns] = np.linalg.solve(jacobian, (a[:, columns] - drift)[:, :, None])[:, :, 0]
    return dy, ddy


def to_flat(rig: Rig, q: np.ndarray) -> np.ndarray:
    """Flat coordinates (nv,) of one configuration (nq,)."""
    q = np.asarray(q, float)
    y = pin.difference(rig.model, rig.neutral, q)
    y[:3] = q[:3]
    y[3:6] = quaternion_log(q[3:7])
    return y


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
            result[:, into] = quaternion_log(values)
        else:
            if differences is None:
                differences = np.array([rig.coordinates(row) for row in q]).reshape(len(q), -1)
            result[:, into] = differences[:, into]
    return result


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


SINGULAR = 1.9 * np.pi
"""[rad] length at which a rotation vector's chart comes near its end, one full turn."""


def unwrapped(rig: Rig, q: Sequence[np.ndarray] | np.ndarray) -> np.ndarray:
    """Flat coordinates (N, nv) of configurations, each rotation vector the one nearest to its predecessor.

    Raises:
        InvalidValue: a rotation comes near a full turn, where rotation vectors end.
    """
    rows = np.array(q, float)
    for part in _quaternions(rig):
        rows[:, part] /= np.linalg.norm(rows[:, part], axis=1, keepdims=True)
    y = np.concatenate([rows[:, :3], quaternion_log(rows[:, 3:7]), joint_coordinates(rig, rows)], axis=1)
    for columns in rotation_columns(rig):
        steps = np.linalg.norm(np.diff(y[:, columns], axis=0), axis=1)
        jumps = np.flatnonzero(steps >= np.pi)  # before the first of these every vector is the nearest already
        for frame in range(jumps[0] + 1 if len(jumps) else len(y), len(y)):
            y[frame, columns] = nearest_turn(y[frame, columns], y[frame - 1, columns])
        far = np.linalg.norm(y[:, columns], axis=1) > SINGULAR
        if far.any():
            raise InvalidValue(
                f"frame {int(np.argmax(far))} of the dance has turned nearly once around since its start: "
                "turn back, or cut the dance there and start it anew"
            )
    return y


def rotation_columns(rig: Rig) -> list[slice]:
    """Where rotation vectors lie in the flat coordinates."""
    joints = [j for j in list(rig.model.joints)[2:] if j.shortname() == "JointModelSpherical"]
    return [slice(3, ROOT_NV), *(slice(j.idx_v, j.idx_v + 3) for j in joints)]


def nearest_turn(vector: np.ndarray, goal: np.ndarray) -> np.ndarray:
    """The rotation vector (3,) [rad] of the same rotation that comes nearest to a goal (3,)."""
    angle = float(np.linalg.norm(vector))
    if angle < 1e-9:
        axis, far = goal, float(np.linalg.norm(goal))
        turns = round(far / (2.0 * np.pi))
        return vector if not turns else axis / far * 2.0 * np.pi * turns
    axis = vector / angle
    return vector + axis * 2.0 * np.pi * round(float(axis @ goal - angle) / (2.0 * np.pi))


def _quaternions(rig: Rig) -> list[slice]:
    joints = [j for j in list(rig.model.joints)[2:] if j.shortname() == "JointModelSpherical"]
    return [slice(3, 7), *(slice(j.idx_q, j.idx_q + 4) for j in joints)]
