"""Distances of many capsules at once: lower bounds that exclude most pairs from the exact distance."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from ..base.so3 import dot, matrix_product
from ..skeleton.rig import Rig
from .collision_shapes import Capsules, bounding_capsules, collision_shapes
from .link_pairs import LinkPair, collision_pairs

PARALLEL_TOLERANCE = 1e-12
"""Squared sine of the angle (times both squared lengths) below which two axes count as parallel."""
MAX_BLOCK, SPEED_SAMPLES = 32, 8
"""Largest number of frames in a block, and number of frames in which speeds are sampled to choose it."""


def segment_distance(
    first: np.ndarray, first_direction: np.ndarray, second: np.ndarray, second_direction: np.ndarray
) -> np.ndarray:
    """Distance (...) [m] of two segments, with start points and directions (..., 3).

    Fastest on arrays whose components come first in memory.
    """
    own, first_direction, other, second_direction = (
        np.moveaxis(part, -1, 0) for part in (first, first_direction, second, second_direction)
    )
    between = own - other
    a, e = dot(first_direction, first_direction), dot(second_direction, second_direction)
    b, c, f = dot(first_direction, second_direction), dot(first_direction, between), dot(second_direction, between)
    determinant = a * e - b * b
    crossing = determinant > PARALLEL_TOLERANCE * a * e
    s = np.where(crossing, np.clip((b * f - c * e) / np.where(crossing, determinant, 1.0), 0.0, 1.0), 0.0)
    t = np.clip(_ratio(b * s + f, e), 0.0, 1.0)
    s = np.clip(_ratio(b * t - c, a), 0.0, 1.0)
    gap = between + s * first_direction - t * second_direction
    return np.asarray(np.sqrt(dot(gap, gap)))


def _ratio(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    return np.where(denominator > 0.0, numerator / np.where(denominator > 0.0, denominator, 1.0), 0.0)


class WorldCapsules:
    """The capsules of a rig in N frames, world axes; frames last in memory, for contiguous array arithmetic."""

    def __init__(self, capsules: Capsules, rotation: np.ndarray, position: np.ndarray) -> None:
        turn = rotation.transpose(2, 3, 1, 0)[:, :, capsules.link]  # (3, 3, S, N)
        self.radius, axes = capsules.radius, capsules.end - capsules.start
        self.half_length = 0.5 * np.linalg.norm(axes, axis=1)
        self._start = matrix_product(turn, capsules.start.T[:, None, :, None])[:, 0]  # (3, S, N)
        self._start += position.transpose(2, 1, 0)[:, capsules.link]
        self._axis = matrix_product(turn, axes.T[:, None, :, None])[:, 0]
        self._links, self._rotation = capsules.link, rotation.transpose(2, 3, 1, 0)

    def find_near(
        self, pairs: np.ndarray, reach: float, measure: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Frames and pair indices, (M,) each, sorted by frame, including all pairs of capsules within ``reach`` [m].

        Frames are tested in blocks. No point of a capsule's axis moves farther from its position in the middle frame of
        a block than one of the axis's ends does. So a pair whose distance in the middle frame exceeds both
        displacements plus the reach stays beyond the reach in the whole block.

        Args:
            pairs: (P, 2) of capsules.
            reach: [m].
            measure: lower bounds [m] for the distances of the shapes in the capsules, in frames (K,) of pairs (K,);
                excludes blocks in which only the capsules are near.
        """
        count, size = self._start.shape[2], self._block_size()
        if not count:
            return np.zeros(0, int), np.zeros(0, int)
        starts = np.arange(0, count, size)
        lengths = np.diff(starts, append=count)
        middles = starts + lengths // 2
        moves = np.concatenate(
            [self._end_displacements(starts[:-1], size), self._end_displacements(starts[-1:], int(lengths[-1]))], axis=1
        )
        first, second = pairs.T
        bound = ((self.half_length + self.radius)[first] + (self.half_length + self.radius)[second] + reach)[:, None]
        bound = bound + moves[first] + moves[second]
        square = np.zeros(bound.shape)
        for centre in self._start[:, :, middles] + 0.5 * self._axis[:, :, middles]:  # (S, B), whole rows are taken
            difference = centre[first]
            difference -= centre[second]
            difference *= difference
            square += difference
        blocks, near = np.nonzero((square < bound * bound).T)
        if size == 1:
            return blocks, near
        own = pairs[near]
        least = self.distances(middles[blocks], own) - moves[own[:, 0], blocks] - moves[own[:, 1], blocks]
        blocks, near = blocks[least < reach], near[least < reach]
        if measure is not None and len(near):  # points off the axis also move by the rotation
            parts = [
                self._rotation_displacements(starts[:-1], size),
                self._rotation_displacements(starts[-1:], int(lengths[-1])),
            ]
            moves += self.radius[:, None] * np.concatenate(parts, axis=1)[self._links]
            own = pairs[near]
            least = measure(middles[blocks], near) - moves[own[:, 0], blocks] - moves[own[:, 1], blocks]
            blocks, near = blocks[least < reach], near[least < reach]
        lengths = lengths[blocks]
        frames = np.repeat(starts[blocks] - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())
        order = np.argsort(frames, kind="stable")
        return frames[order], np.repeat(near, lengths)[order]

    def _block_size(self) -> int:
        """Number of frames in which the fastest capsule moves by about the mean radius."""
        count = self._start.shape[2]
        if count < 2:
            return 1
        seen = np.unique(np.linspace(0, count - 2, SPEED_SAMPLES).astype(int))
        step = self._start[:, :, seen + 1] - self._start[:, :, seen]
        quickest = np.sqrt(dot(step, step)).max(axis=0).mean()
        return int(np.clip(self.radius.mean() / max(quickest, 1e-12), 1, MAX_BLOCK))

    def _end_displacements(self, starts: np.ndarray, size: int) -> np.ndarray:
        """(S, B) [m] largest displacement of a capsule's ends from the middle frame of each block."""
        first, last = (int(starts[0]), int(starts[-1]) + size) if len(starts) else (0, 0)
        blocks = (*self._start.shape[:2], len(starts), size)
        most = np.zeros(blocks[1:])
        start = self._start[:, :, first:last].reshape(blocks)
        stop = start + self._axis[:, :, first:last].reshape(blocks)
        for ends in (start, stop):
            moved = ends - ends[..., size // 2, None]
            np.maximum(most, dot(moved, moved), out=most)
        return np.asarray(np.sqrt(most.max(axis=2)))

    def _rotation_displacements(self, starts: np.ndarray, size: int) -> np.ndarray:
        """(L, B) largest displacement of a link's unit vectors from the middle frame of each block."""
        first, last = (int(starts[0]), int(starts[-1]) + size) if len(starts) else (0, 0)
        turn = self._rotation[..., first:last].reshape(9, self._rotation.shape[2], len(starts), size)
        turned = turn - turn[..., size // 2, None]
        turned *= turned
        return np.asarray(np.sqrt(0.5 * turned.sum(axis=0).max(axis=2)))  # |R - 1| is 2 sqrt 2 sines of half the angle

    def centre_offsets(self, frames: np.ndarray, pairs: np.ndarray) -> np.ndarray:
        """(M, 3) [m] from the centre of the first to that of the second capsule of M pairs (M, 2), in frames (M,)."""
        first, second = pairs.T
        start, along = self._start, self._axis
        return np.asarray(
            start[:, second, frames] - start[:, first, frames]
            + 0.5 * (along[:, second, frames] - along[:, first, frames])
        ).T  # fmt: skip

    def distances(self, frames: np.ndarray, pairs: np.ndarray) -> np.ndarray:
        """Signed distances (M,) [m] of M pairs (M, 2) of capsules, in frames (M,)."""
        first, second = pairs.T
        start, along = self._start, self._axis
        gap = segment_distance(
            start[:, first, frames].T, along[:, first, frames].T, start[:, second, frames].T, along[:, second, frames].T
        )
        return gap - self.radius[first] - self.radius[second]

    def all_distances(self, pairs: np.ndarray) -> np.ndarray:
        """Signed distances (K, N) [m] of K pairs (K, 2) in every frame."""
        first, second = pairs.T
        start, along = self._start, self._axis
        gap = segment_distance(*(part.transpose(1, 2, 0) for part in (start[:, first], along[:, first],
                                                                      start[:, second], along[:, second])))  # fmt: skip
        return gap - (self.radius[first] + self.radius[second])[:, None]


class CapsulePairs:
    """Distances of the capsules around links: lower bounds of the true distances, cheap enough for optimisation.

    Attributes:
        pairs: (P,) pairs of link names, see `collision_pairs`.
    """

    def __init__(self, rig: Rig, pairs: str | Iterable[LinkPair] = "all") -> None:
        self.pairs = collision_pairs(rig, pairs)
        shapes, _ = collision_shapes(rig)
        self._capsules = bounding_capsules(rig, shapes)
        self._shape_pairs, self._owner = build_shape_pairs(rig, self._capsules.link, self.pairs)

    def distances(self, rotation: np.ndarray, position: np.ndarray) -> np.ndarray:
        """Smallest distance (N, P) [m] between the capsules of each pair; infinite for pairs without shapes.

        Args:
            rotation: (N, L, 3, 3) link axes to world axes.
            position: (N, L, 3) [m] link origins.
        """
        values = WorldCapsules(self._capsules, rotation, position).all_distances(self._shape_pairs)
        result = np.full((len(self.pairs), len(rotation)), np.inf)
        for own, owner in zip(values, self._owner):
            np.minimum(result[owner], own, out=result[owner])
        return result.T


def build_shape_pairs(rig: Rig, links: np.ndarray, pairs: Iterable[LinkPair]) -> tuple[np.ndarray, np.ndarray]:
    """Pairs (K, 2) of shape indices for pairs of links, and the index (K,) of the link pair.

    Args:
        rig: with these links.
        links: (S,) link index of each shape.
        pairs: of link names.
    """
    found = [
        (int(i), int(j), number)
        for number, (first, second) in enumerate(pairs)
        for i in np.nonzero(links == rig.index(first))[0]
        for j in np.nonzero(links == rig.index(second))[0]
    ]
    table = np.array(found, int).reshape(-1, 3)
    return table[:, :2], table[:, 2]
