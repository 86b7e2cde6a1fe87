"""Joint and flat coordinates of a rig: their names, and conversions between configurations and coordinates.

Dances are planned in flat coordinates: root position [m, world], root rotation vector [rad, world], then the joint
coordinates of `Limits` (angle of a hinge, rotation vector of a spherical joint).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..base import so3
from ..base.arrays import take_ownership
from ..base.errors import InvalidValue
from ..base.file_arrays import CACHED_FRAMES, cut_frames
from ..base.so3 import Exponential, cross, quaternion_log
from ..skeleton.rig import Rig
from ..values.joints import ROOT_NV, Joint
from ..values.motion import Motion
from . import difference

ROOT_NQ = ROOT_NV + 1
"""Entries of the root in q: position and quaternion. By definition."""


@dataclass(frozen=True, slots=True)
class Curves:
    """Frames of a motion on the manifold: q (N, nq), v (N, nv), a (N, nv), as in `Motion`."""

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray

    def motion(self, times: np.ndarray) -> Motion:
        """The motion at times (N,) [s]; it takes ownership of the arrays, which become read-only."""
        return Motion(times, take_ownership(self.q), take_ownership(self.v), take_ownership(self.a))


def to_manifold(rig: Rig, y: np.ndarray, dy: np.ndarray, ddy: np.ndarray) -> Curves:
    """Motion of flat coordinates (N, nv) with their time derivatives.

    Raises:
        InvalidValue: an unsupported joint type.
    """
    if len(y) <= CACHED_FRAMES:
        return _piece_of(rig, y, dy, ddy)
    q, v, a = np.empty((len(y), rig.nq)), np.empty(y.shape), np.empty(y.shape)
    for cut in cut_frames(len(y)):
        part = _piece_of(rig, y[cut], dy[cut], ddy[cut])
        q[cut], v[cut], a[cut] = part.q, part.v, part.a
    return Curves(q, v, a)


def _piece_of(rig: Rig, y: np.ndarray, dy: np.ndarray, ddy: np.ndarray) -> Curves:
    """`to_manifold` of at most `CACHED_FRAMES` frames."""
    balls = ball_joints(rig)
    turns = Exponential(balls.of(y))
    q = configurations(rig, y, turns)
    omega, alpha = turns.rates(balls.of(dy), balls.of(ddy))
    v, a = np.array(dy, float), np.array(ddy, float)
    v[:, balls.moves], a[:, balls.moves] = omega, alpha
    turn = turns.matrix[:, 0]
    # frames n, axes i of the world, axes j of the root
    v[:, :3] = np.einsum("nij,ni->nj", turn, dy[:, :3])
    a[:, :3] = np.einsum("nij,ni->nj", turn, ddy[:, :3]) - cross(omega[:, 0].T, v[:, :3].T).T
    return Curves(q, v, a)


def static_motion(rig: Rig, y: np.ndarray) -> Curves:
    """Motion of constant flat coordinates (N, nv), without velocity and acceleration."""
    none = np.zeros(y.shape)
    return Curves(configurations(rig, y, Exponential(ball_joints(rig).of(y))), none, none)


@dataclass(frozen=True, slots=True)
class BallJoints:
    """Indices of the root and the spherical joints, which are converted together for speed, and of the other joints.

    Attributes:
        into: (k, 4) indices of their quaternions in q.
        moves: (k, 3) in v.
        single: indices in q and v of joints with equal coordinates in both.
        circles: of continuous joints, with cosine and sine in q.
        others: indices in v of joints that have no flat coordinates.
    """

    into: np.ndarray
    moves: np.ndarray
    single: tuple[np.ndarray, np.ndarray]
    circles: tuple[tuple[slice, slice], ...]
    others: tuple[slice, ...]

    def of(self, y: np.ndarray) -> np.ndarray:
        """Their entries (N, k, 3) in flat coordinates (N, nv), frames last in memory for speed."""
        return y.T[self.moves.T].transpose(2, 1, 0)


@lru_cache(maxsize=32)
def ball_joints(rig: Rig) -> BallJoints:
    joints = joint_slices(rig)[1:]
    balls = [(np.r_[place], np.r_[span]) for joint, place, span in joints if joint.kind == "spherical"]
    single = [(np.r_[place], np.r_[span]) for joint, place, span in joints if joint.nq == joint.nv]
    none = np.zeros(0, int)
    return BallJoints(
        np.array([np.arange(3, ROOT_NQ), *(place for place, _ in balls)]),
        np.array([np.arange(3, ROOT_NV), *(span for _, span in balls)]),
        (
            np.concatenate([none, *(place for place, _ in single)]),
            np.concatenate([none, *(span for _, span in single)]),
        ),
        tuple((place, span) for joint, place, span in joints if joint.kind == "continuous"),
        tuple(span for joint, _, span in joints if joint.kind == "free"),
    )


def configurations(rig: Rig, y: np.ndarray, turns: Exponential) -> np.ndarray:
    """(N, nq) of flat coordinates (N, nv) and the rotation vectors (N, k, 3) of root and spherical joints."""
    balls = ball_joints(rig)
    if balls.others:
        raise InvalidValue(f"rig {rig.name!r} has joints with several coordinates that dances cannot use")
    q = np.zeros((len(y), rig.nq))
    q[:, :3] = y[:, :3]
    q[:, balls.into] = turns.quaternion
    q[:, balls.single[0]] = y[:, balls.single[1]]
    for place, span in balls.circles:
        q[:, place] = np.concatenate([np.cos(y[:, span]), np.sin(y[:, span])], axis=1)
    return q


def flat_rates(rig: Rig, y: np.ndarray, v: np.ndarray, a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Derivatives dy, ddy (N, nv) of flat coordinates y (N, nv) with velocity v, acceleration a: inverse `to_manifold`.

    Raises:
        np.linalg.LinAlgError: a rotation vector is a full turn long, where its derivatives are undefined.
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
    """Flat coordinates (..., nv) of configurations (..., nq), every rotation vector at most half a turn long."""
    q = np.asarray(q, float)
    return np.concatenate([q[..., :3], quaternion_log(q[..., 3:ROOT_NQ]), joint_coordinates(rig, q)], axis=-1)


def joint_slices(rig: Rig) -> list[tuple[Joint, slice, slice]]:
    """Each joint, the root's first, with its slices of q and of v."""
    return list(zip(rig.joints, rig.q_slices, rig.v_slices, strict=True))


def with_mimic_joints(rig: Rig, y: np.ndarray) -> np.ndarray:
    """Flat coordinates (..., nv) with the positions of mimic joints computed from their sources."""
    places = {joint.name: moves for joint, _, moves in joint_slices(rig)}
    y, waiting = np.array(y, float), {joint.name: joint.mimic for joint in rig.joints if joint.mimic is not None}
    while ready := [name for name, mimic in waiting.items() if mimic.source not in waiting]:
        for name in ready:
            mimic = waiting.pop(name)
            if mimic.source in places:
                y[..., places[name]] = mimic.multiplier * y[..., places[mimic.source]] + mimic.offset
    return y


def joint_coordinates(rig: Rig, q: np.ndarray) -> np.ndarray:
    """Joint coordinates (..., nv - 6) [rad, m] of configurations (..., nq), relative to neutral as in `Limits`.

    The angle of a hinge, the length of a slide, the rotation vector of a spherical joint (at most half a turn).
    """
    q = np.asarray(q, float)
    if rig.nq - ROOT_NQ == rig.nv - ROOT_NV:  # every coordinate is an entry of q
        return np.array(q[..., ROOT_NQ:])
    result, balls = np.empty((*q.shape[:-1], rig.nv)), ball_joints(rig)
    result[..., balls.single[1]] = q[..., balls.single[0]]
    if len(balls.into) > 1:  # all at once, frames last in memory
        result[..., balls.moves[1:]] = quaternion_log(q.T[balls.into[1:].T].T)
    for place, span in balls.circles:
        result[..., span] = np.arctan2(q[..., place][..., 1:], q[..., place][..., :1])
    for span in balls.others:
        result[..., span] = difference(rig, rig.neutral, q)[..., span]
    return result[..., ROOT_NV:]


def continuous_coordinates(rig: Rig, q: np.ndarray) -> np.ndarray:
    """`joint_coordinates` (N, nv - 6) of a motion (N, nq) with continuous rotation vectors."""
    result = joint_coordinates(rig, q)
    for columns in rotation_columns(rig)[1:]:
        own = slice(columns.start - ROOT_NV, columns.stop - ROOT_NV)
        result[:, own] = so3.unwrap(result[:, own])
    return result


def coordinate_names(rig: Rig) -> tuple[str, ...]:
    """(nv - 6) names: the link moved, with the axis if its joint has several coordinates."""
    names = []
    for joint, link in zip(rig.joints[1:], rig.links[1:]):
        names += [link] if joint.nv == 1 else [f"{link} {axis}" for axis in "xyzuvw"[: joint.nv]]
    return tuple(names)


def coordinate_links(rig: Rig) -> tuple[tuple[str, ...], ...]:
    """(nv - 6) the link that each coordinate moves."""
    return tuple((link,) for joint, link in zip(rig.joints[1:], rig.links[1:]) for _ in range(joint.nv))


def coordinate_lengths(rig: Rig) -> np.ndarray:
    """(nv - 6) True where a coordinate is a length [m]; all others are angles [rad]."""
    return np.array([joint.kind == "prismatic" for joint in rig.joints[1:] for _ in range(joint.nv)], bool)


SINGULAR = 1.9 * np.pi
"""[rad] Length of a rotation vector that is close to the singularity at one full turn. Derived: 5 % before it."""


def unwrap(rig: Rig, q: Sequence[np.ndarray] | np.ndarray) -> np.ndarray:
    """Flat coordinates (N, nv) of configurations, with continuous rotation vectors.

    Raises:
        InvalidValue: a rotation vector comes close to its singularity at a full turn.
    """
    rows = np.array(q, float)
    for part in quaternion_columns(rig):
        rows[:, part] /= np.linalg.norm(rows[:, part], axis=1, keepdims=True)
    y = to_flat(rig, rows)
    for joint, _, moves in joint_slices(rig):
        if joint.kind == "continuous":
            y[:, moves] = np.unwrap(y[:, moves], axis=0)
    for columns in rotation_columns(rig):
        y[:, columns] = so3.unwrap(y[:, columns])
        far = np.linalg.norm(y[:, columns], axis=1) > SINGULAR
        if far.any():
            raise InvalidValue(
                f"frame {int(np.argmax(far))} of the dance has a rotation of almost a full turn since its start: "
                "turn back, or cut the dance there and start a new one"
            )
    return y


def continuous_quaternions(rig: Rig, q: np.ndarray) -> np.ndarray:
    """The same configurations (N, nq) with continuous signs of every quaternion."""
    q = np.array(q, float)
    for own in quaternion_columns(rig):
        q[:, own] = so3.continuous_signs(q[:, own])
    return q


def rotation_columns(rig: Rig) -> list[slice]:
    """Slices of rotation vectors in the flat coordinates, the root's first."""
    return [slice(3, ROOT_NV), *(moves for joint, _, moves in joint_slices(rig) if joint.kind == "spherical")]


def quaternion_columns(rig: Rig) -> list[slice]:
    """Slices of quaternions in q, the root's first."""
    kinds = ("free", "spherical")
    return [slice(into.stop - 4, into.stop) for joint, into, _ in joint_slices(rig) if joint.kind in kinds]
