"""Minimum distances between links, as rows that push two links apart along the direction between them.

The nearest points are fixed to the links, and the direction to the world: for small changes of the pose the distance is
that between two planes. Links that were far enough apart have no row until they come nearer. Links that were too near
are moved to the minimum distance from both sides, because steps that overshoot would alternate with steps back.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .batch_kinematics import BatchFrames, BatchKinematics

SEPARATION_WEIGHT = 1e3
"""Weight of a metre of missing distance: below that of the feet, above all others."""


@dataclass(frozen=True, slots=True)
class SeparationRows:
    """Pairs of links in N frames.

    Attributes:
        frames: (M,) frame of each, in order.
        links: (M, 2) indices.
        points: (M, 2, 3) [m] nearest points, in the links' frames.
        normals: (M, 3) from the first link to the second, world.
        min_distances: (M,) [m]
        too_near: (M,) True where they were nearer.
    """

    frames: np.ndarray
    links: np.ndarray
    points: np.ndarray
    normals: np.ndarray
    min_distances: np.ndarray
    too_near: np.ndarray

    def select(self, chosen: np.ndarray | slice, count: int) -> SeparationRows:
        """Pairs in some of the N frames."""
        new_indices = np.full(count, -1)
        frames = np.arange(count)[chosen]
        new_indices[frames] = np.arange(len(frames))
        own = new_indices[self.frames]
        kept = own >= 0
        rest = (self.links, self.points, self.normals, self.min_distances, self.too_near)
        return SeparationRows(own[kept], *(values[kept] for values in rest))

    def add(self, tree: BatchKinematics, batch_frames: BatchFrames, hessian: np.ndarray, gradient: np.ndarray) -> None:
        """Adds the rows of pairs that are too near to systems (N, nv, nv), (N, nv)."""
        rotations, positions = tree.link_poses(batch_frames, self.links, self.frames[:, None])
        points = positions + (rotations @ self.points[..., None])[..., 0]
        missing = self.min_distances - ((points[:, 1] - points[:, 0]) * self.normals).sum(axis=1)
        some = np.flatnonzero((missing > 0.0) | self.too_near)
        if not len(some):
            return
        frames, normals = self.frames[some], self.normals[some]
        first, second = (
            tree.directional_jacobians(batch_frames, self.links[some, k], frames, points[some, k], normals)
            for k in range(2)
        )
        rows = second - first
        # the rows of a frame are stacked, so that each frame needs one product
        own, starts, counts = np.unique(frames, return_index=True, return_counts=True)
        beside = np.zeros((len(own), int(counts.max()), rows.shape[1] + 1))
        number = np.repeat(np.arange(len(own)), counts)
        beside[number, np.arange(len(frames)) - starts[number], :-1] = rows
        beside[number, np.arange(len(frames)) - starts[number], -1] = missing[some]
        jacobian, rest = beside[:, :, :-1], beside[:, :, -1:]
        gradient[own] += SEPARATION_WEIGHT * (rest.swapaxes(1, 2) @ jacobian)[:, 0]
        hessian[own] += SEPARATION_WEIGHT * (jacobian.swapaxes(1, 2) @ jacobian)
