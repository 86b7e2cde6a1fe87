"""Kinematics of a rig in many frames at once: poses of its links, and their derivatives.

Pinocchio computes one configuration in a few microseconds, and its Jacobians take a hundred more; arithmetic on all
frames together costs a tenth of that. Coordinates are those of limits: root position and rotation, then hinges' angles
and rotation vectors, so that every limit is a bound on a number.

Joints at the same depth are computed together, whatever branch they are on, so that a few frames cost little as well.
Hinges use frames whose third axis is the hinge axis: a rotation then mixes the other two columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

import numpy as np

from ...base.errors import InvalidValue
from ...base.so3 import Exponential, cross, matrix_product, rotation_between
from ...dynamics.coordinates import ROOT_NQ, ball_joints, configurations, joint_slices
from ...skeleton.rig import ROOT_NV, Rig
from ...values.joints import Joint

REVOLUTE, PRISMATIC, SPHERICAL = "turning", "sliding", "round"
FRAME_KINDS = {
    "revolute": REVOLUTE,
    "continuous": REVOLUTE,
    "universal": REVOLUTE,
    "prismatic": PRISMATIC,
    "spherical": SPHERICAL,
}
"""Kind of the frames of a joint, one frame for each of its axes."""
UP = np.array([0.0, 0.0, 1.0])
"""By definition."""
ROOT_FRAME = -1
"""Index of the root's frame before frames are sorted. By definition."""


@dataclass(frozen=True, slots=True)
class BatchFrames:
    """Frames of a `BatchKinematics` in N frames of time, which are the last axis.

    Attributes:
        rotations: (S, 3, 3, N) axes, world.
        positions: (S, 3, N) [m] origins, world.
        axes: (nv, 3, N) rotation axis of each coordinate, world; zero for a translation.
        axis_points: (nv, 3, N) [m] a point on that axis.
        slide_axes: (nv, 3, N) translation axis of each coordinate, world; zero for a rotation. None if only the root
            translates.
    """

    rotations: np.ndarray
    positions: np.ndarray
    axes: np.ndarray
    axis_points: np.ndarray
    slide_axes: np.ndarray | None


@dataclass(frozen=True, slots=True)
class _Level:
    """Frames of one kind at the same depth.

    Attributes:
        kind: of their motion.
        indices: of the frames.
        parents: (K,) indices of the parent frames.
        rest_frames: (K, 1, 4, 3) axes at zero in the parent frame, a row each; then the position.
        columns: (K,) or (K, 3) their coordinates.
    """

    kind: str
    indices: slice
    parents: np.ndarray
    rest_frames: np.ndarray
    columns: np.ndarray


class _Frame(NamedTuple):
    """One of them, before sorting."""

    level: int
    kind: str
    parent: int
    rest_frame: np.ndarray
    columns: np.ndarray


class BatchKinematics:
    """The tree of a rig, prepared for many frames."""

    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        slices = joint_slices(rig)
        for joint, _, _ in slices[1:]:
            if joint.kind not in FRAME_KINDS:
                raise InvalidValue(f"joint {joint.name!r} has the unsupported kind {joint.kind}")
        owner = np.concatenate([np.full(moves.stop - moves.start, k) for k, (_, _, moves) in enumerate(slices)])
        self.coordinate_moves_link = rig.descendants[owner].T
        """(L, nv) True where a coordinate moves a link."""
        self._moving = [np.flatnonzero(own) for own in self.coordinate_moves_link]
        self._slides = any(FRAME_KINDS[joint.kind] == PRISMATIC for joint, _, _ in slices[1:])
        self._sort_levels(slices)

    def _sort_levels(self, places: list[tuple[Joint, slice, slice]]) -> None:
        """Sorts the frames of all joints into levels."""
        found: list[_Frame] = []
        last = {0: (ROOT_FRAME, 0, np.eye(3))}  # of each link: its last frame, its level and its rotation
        for link, (joint, _, moves) in enumerate(places[1:], start=1):
            kind, (at, level, turn) = FRAME_KINDS[joint.kind], last[joint.parent]
            columns = np.arange(moves.start, moves.stop)
            rotation, position = joint.rotation, joint.position
            for k, axis in enumerate(joint.axes if kind != SPHERICAL else UP[None]):
                own = rotation_between(UP, axis) if kind != SPHERICAL else np.eye(3)
                way = np.concatenate([(turn.T @ rotation @ own).T, (turn.T @ position)[None]])
                level += 1
                found.append(_Frame(level, kind, at, way, columns if kind == SPHERICAL else columns[k]))
                at, turn, rotation, position = len(found) - 1, own, np.eye(3), np.zeros(3)
            last[link] = at, level, turn
        order = sorted(range(len(found)), key=lambda k: (found[k].level, found[k].kind))
        in_stance = np.empty(len(found) + 1, int)
        in_stance[[*order, ROOT_FRAME]] = [*range(1, len(found) + 1), 0]
        self._size, self._levels, first = len(in_stance), [], 1
        for (_, kind), alike in groupby([found[k] for k in order], key=lambda frame: (frame.level, frame.kind)):
            frames = list(alike)
            span = slice(first, first + len(frames))
            parents = in_stance[[frame.parent for frame in frames]]
            ways = np.array([frame.rest_frame for frame in frames])[:, None]
            self._levels.append(_Level(kind, span, parents, ways, np.array([frame.columns for frame in frames])))
            first = span.stop
        self._of_links = in_stance[[last[link][0] for link in range(len(places))]]
        self._turns = np.array([last[link][2] for link in range(len(places))])
        """(L, 3, 3) axes of each link's last frame, in the link."""
        self._of_columns = np.zeros(self.rig.nv, int)
        for each in self._levels:
            self._of_columns[each.columns] = np.arange(each.indices.start, each.indices.stop).reshape(
                -1, *[1] * (each.columns.ndim - 1)
            )

    def forward(self, root_rotations: np.ndarray, y: np.ndarray) -> BatchFrames:
        """Frames of all links at coordinates.

        Args:
            root_rotations: (N, 3, 3) axes of the root, world.
            y: (N, nv) [m, rad] root position (3), zeros (3), joint coordinates.
        """
        count = len(y)
        rotations, positions = np.empty((self._size, 3, 3, count)), np.empty((self._size, 3, count))
        rotations[0], positions[0] = root_rotations.transpose(1, 2, 0), y[:, :3].T
        columns = np.ascontiguousarray(y.T)
        sines, cosines = np.sin(columns), np.cos(columns)
        rounds = []
        for level in self._levels:
            base = level.rest_frames @ rotations[level.parents]
            np.add(positions[level.parents], base[:, :, 3], out=positions[level.indices])
            own = rotations[level.indices]
            if level.kind == REVOLUTE:
                sine, cosine = sines[level.columns, None], cosines[level.columns, None]
                first, second = base[:, :, 0], base[:, :, 1]
                np.add(cosine * first, sine * second, out=own[:, :, 0])
                np.subtract(cosine * second, sine * first, out=own[:, :, 1])
                own[:, :, 2] = base[:, :, 2]
            elif level.kind == PRISMATIC:
                own[:] = base[:, :, :3]
                positions[level.indices] += own[:, :, 2] * columns[level.columns, None]
            else:
                exponential = Exponential(y[:, level.columns])
                after = matrix_product(base[:, :, :3].transpose(1, 2, 0, 3), exponential.matrix.transpose(2, 3, 1, 0))
                own[:] = after.transpose(2, 0, 1, 3)
                spun = matrix_product(after, exponential.right_jacobian.transpose(2, 3, 1, 0))
                rounds.append((level.columns, spun.transpose(2, 1, 0, 3)))
        axes = rotations[self._of_columns, :, 2]
        for moves, spun in rounds:
            axes[moves] = spun
        axes[:ROOT_NV] = np.eye(ROOT_NV, 3, -3)[:, :, None]
        slides = self._slide_axes(axes) if self._slides else None
        return BatchFrames(rotations, positions, axes, positions[self._of_columns], slides)

    def _slide_axes(self, axes: np.ndarray) -> np.ndarray:
        """Translation axes of the coordinates; sets their rotation axes to zero."""
        slides = np.zeros_like(axes)
        slides[:3] = np.eye(3)[:, :, None]
        for level in self._levels:
            if level.kind == PRISMATIC:
                slides[level.columns] = axes[level.columns]
                axes[level.columns] = 0.0
        return slides

    def link_rotations(self, frames: BatchFrames, links: np.ndarray) -> np.ndarray:
        """Axes (N, K, 3, 3) of links (K,), world."""
        own = frames.rotations[self._of_links[links]].transpose(3, 0, 1, 2)
        return np.asarray(own @ self._turns[links].swapaxes(1, 2))

    def link_origins(self, frames: BatchFrames, link: int) -> np.ndarray:
        """Origin (3, N) [m] of a link, world."""
        return np.asarray(frames.positions[self._of_links[link]])

    def link_poses(self, placed: BatchFrames, links: np.ndarray, frames: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Axes (..., 3, 3) and origins (..., 3) [m] of single links (...) in single frames (...), world."""
        own = self._of_links[links]
        rotations = placed.rotations[own, :, :, frames] @ self._turns[links].swapaxes(-1, -2)
        return rotations, placed.positions[own, :, frames]

    def directional_jacobians(
        self, placed: BatchFrames, links: np.ndarray, frames: np.ndarray, points: np.ndarray, directions: np.ndarray
    ) -> np.ndarray:
        """(M, nv) derivatives of points (M, 3) [m], world, of single links in single frames, along directions (M,
        3).
        """
        axes, origins = (values[:, :, frames].transpose(2, 0, 1) for values in (placed.axes, placed.axis_points))
        result = (axes * np.cross(points[:, None] - origins, directions[:, None])).sum(axis=2)
        if placed.slide_axes is None:
            result[:, :3] = directions
        else:
            result += (placed.slide_axes[:, :, frames].transpose(2, 0, 1) * directions[:, None]).sum(axis=2)
        return np.asarray(result * self.coordinate_moves_link[links])

    def jacobian(self, frames: BatchFrames, link: int, point: np.ndarray) -> np.ndarray:
        """(N, 3, nv) of points (3, N) [m], world, that move with a link."""
        moving = self._moving[link]
        lever = point[:, None] - frames.axis_points[moving].swapaxes(0, 1)
        moved = cross(frames.axes[moving].swapaxes(0, 1), lever)
        if frames.slide_axes is None:
            moved[:, :3] = np.eye(3)[:, :, None]
        else:
            moved += frames.slide_axes[moving].swapaxes(0, 1)
        result = np.zeros((point.shape[1], 3, frames.axes.shape[0]))
        result[:, :, moving] = moved.transpose(2, 0, 1)
        return result


def to_configurations(rig: Rig, quaternions: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Configurations (N, nq) of the root's quaternions (N, 4) and coordinates (N, nv), see
    `BatchKinematics.forward`.
    """
    q = configurations(rig, y, Exponential(ball_joints(rig).of(y)))
    q[:, 3:ROOT_NQ] = quaternions
    return q
