"""Distances of many capsules at once: lower bounds that exclude most pairs from the exact distance."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..base.so3 import dot, matrix_product
from ..skeleton.rig import Rig
from .collision_shapes import Capsules, bounding_capsules, collision_shapes
from .link_pairs import LinkPair, collision_pairs

PARALLEL_TOLERANCE = 1e-12
"""Squared sine of the angle (times both squared lengths) below which two axes count as parallel."""


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
        self._half_length = 0.5 * np.linalg.norm(axes, axis=1)
        self._start = matrix_product(turn, capsules.start.T[:, None, :, None])[:, 0]  # (3, S, N)
        self._start += position.transpose(2, 1, 0)[:, capsules.link]
        self._axis = matrix_product(turn, axes.T[:, None, :, None])[:, 0]

    def find_near(self, pairs: np.ndarray, reach: float) -> tuple[np.ndarray, np.ndarray]:
        """Frames and pair indices, (M,) each, sorted by frame, including all pairs of capsules within ``reach`` [m].

        The spheres around the capsules decide.

        Args:
            pairs: (P, 2) of capsules.
            reach: [m].
        """
        first, second = pairs.T
        radius = self._half_length + self.radius
        bound = (radius[first] + radius[second] + reach)[:, None]
        square = np.zeros((len(pairs), self._start.shape[2]))
        for centre in self._start + 0.5 * self._axis:  # (S, N), whole rows are taken
            difference = centre[first]
            difference -= centre[second]
            difference *= difference
            square += difference
        frames, near = np.nonzero((square < bound * bound).T)
        return frames, near

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
