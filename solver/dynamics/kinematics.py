"""Poses, velocities and accelerations of every link over many frames."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..base.errors import InvalidValue
from ..base.file_arrays import CACHED_FRAMES, cut_frames
from ..base.so3 import cross, turn_vectors
from ..engine import FrameDynamics
from ..skeleton.rig import Rig
from ..values.motion import Motion


@dataclass(frozen=True, slots=True)
class LinkMotions:
    """Motion of every link, frames last, so that array arithmetic runs along contiguous memory.

    Attributes:
        rotation: (3, 3, L, N) link axes to world axes.
        position: (3, L, N) [m] link origins, world.
        velocity: (3, L, N) [m/s] of the link origin, link axes.
        omega: (3, L, N) [rad/s] angular velocity, link axes.
        acceleration: (3, L, N) [m/s^2] of the link origin (classical, without gravity), link axes.
        alpha: (3, L, N) [rad/s^2] angular acceleration, link axes.
    """

    rotation: np.ndarray
    position: np.ndarray
    velocity: np.ndarray
    omega: np.ndarray
    acceleration: np.ndarray
    alpha: np.ndarray

    def to_world(self, vectors: np.ndarray) -> np.ndarray:
        """Vectors (3, L, N) of link axes in world axes."""
        return turn_vectors(self.rotation, vectors)


def link_motions(rig: Rig, motion: Motion) -> LinkMotions:
    """Motion of every link of a rig in every frame of a trajectory.

    Raises:
        InvalidValue: the motion has another number of coordinates than the rig.
    """
    require_matching_motion(rig, motion)
    return _evaluate_piece(FrameDynamics(rig.model), motion)


def motion_pieces(rig: Rig, motion: Motion, rows: int = CACHED_FRAMES) -> Iterator[tuple[slice, LinkMotions]]:
    """Some frames at a time, and the motion of the links in them."""
    require_matching_motion(rig, motion)
    dynamics = FrameDynamics(rig.model)
    for frames in cut_frames(len(motion), rows):
        yield frames, _evaluate_piece(dynamics, motion.part(frames.start, frames.stop))


def link_paths(rig: Rig, motion: Motion, links: Sequence[int]) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Rotations (N, 3, 3) and origins (N, 3) [m] of links, world."""
    pieces = [
        (part.rotation[:, :, links].transpose(2, 3, 0, 1), part.position[:, links].transpose(1, 2, 0))
        for _, part in motion_pieces(rig, motion)
    ]
    return list(np.concatenate([a for a, _ in pieces], axis=1)), list(np.concatenate([b for _, b in pieces], axis=1))


def sole_paths(rig: Rig, motion: Motion) -> list[np.ndarray]:
    """Corners (N, V, 3) [m] of each sole, world."""
    poses = link_paths(rig, motion, [rig.index(patch.link) for patch in rig.soles]) if rig.soles else ((), ())
    return [
        patch.vertices @ turns.swapaxes(1, 2) + origins[:, None] for patch, turns, origins in zip(rig.soles, *poses)
    ]


def _evaluate_piece(dynamics: FrameDynamics, motion: Motion) -> LinkMotions:
    parts = dynamics.motions(motion.q, motion.v, motion.a)
    pose, twist, rate = (np.ascontiguousarray(x.transpose(2, 1, 0)) for x in parts)
    columns = pose[:9].reshape(3, 3, *pose.shape[1:])  # (column, row, ...)
    velocity, omega = twist[:3], twist[3:]
    acceleration = rate[:3]
    acceleration += cross(omega, velocity)  # spatial to classical acceleration of the origin
    rotation, position = columns.swapaxes(0, 1), pose[9:]
    return LinkMotions(rotation, position, velocity, omega, acceleration, rate[3:])


def require_matching_motion(rig: Rig, motion: Motion) -> None:
    """Raise `InvalidValue` if a motion does not belong to a rig."""
    got, want = (motion.q.shape[1], motion.v.shape[1]), (rig.nq, rig.nv)
    if got != want:
        raise InvalidValue(f"the motion has (nq, nv) = {got} coordinates, rig {rig.name!r} has {want}")
