"""Distances of capsules, many at once: lower bounds that leave few pairs for the exact distance."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..rig import Rig
from .pairs import LinkPair, collision_pairs
from .shapes import Capsules, bounding_capsules, collision_shapes

PARALLEL = 1e-12
"""Squared sine of the angle (times both squared lengths) below which two axes count as parallel."""


def segment_distance(first: np.ndarray, along: np.ndarray, second: np.ndarray, across: np.ndarray) -> np.ndarray:
    """Distance (M,) [m] of segments first + s along and second + t across, s and t in [0, 1]; all (M, 3)."""
    between = first - second
    a, e = (along * along).sum(axis=1), (across * across).sum(axis=1)
    b, c, f = (along * across).sum(axis=1), (along * between).sum(axis=1), (across * between).sum(axis=1)
    determinant = a * e - b * b
    crossing = determinant > PARALLEL * a * e
    s = np.where(crossing, np.clip((b * f - c * e) / np.where(crossing, determinant, 1.0), 0.0, 1.0), 0.0)
    t = np.clip(_ratio(b * s + f, e), 0.0, 1.0)
    s = np.clip(_ratio(b * t - c, a), 0.0, 1.0)
    gap = between + s[:, None] * along - t[:, None] * across
    return np.sqrt((gap * gap).sum(axis=1))


def _ratio(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    return np.where(denominator > 0.0, numerator / np.where(denominator > 0.0, denominator, 1.0), 0.0)


class PlacedCapsules:
    """The capsules of a rig in N frames, in the world."""

    def __init__(self, capsules: Capsules, rotation: np.ndarray, position: np.ndarray) -> None:
        turn, shift = rotation[:, capsules.link], position[:, capsules.link]
        self.radius = capsules.radius
        self.start = np.matmul(turn, capsules.start[:, :, None])[..., 0] + shift  # (N, S, 3)
        self.along = np.matmul(turn, (capsules.end - capsules.start)[:, :, None])[..., 0]
        self.centre = self.start + 0.5 * self.along
        self.half = 0.5 * np.linalg.norm(capsules.end - capsules.start, axis=1)

    def near(self, pairs: np.ndarray, reach: float) -> tuple[np.ndarray, np.ndarray]:
        """Frames and pair numbers, (M,) each, whose bounding balls come within ``reach`` [m]."""
        first, second = pairs.T
        bound = (self.half + self.radius)[first] + (self.half + self.radius)[second] + reach
        square = np.zeros((len(pairs), len(self.centre)))
        for centre in np.ascontiguousarray(self.centre.transpose(2, 1, 0)):  # (S, N), whole rows of which are taken
            difference = centre[first]
            difference -= centre[second]
            difference *= difference
            square += difference
        frames, near = np.nonzero((square < (bound * bound)[:, None]).T)
        return frames, near

    def between(self, frames: np.ndarray, pairs: np.ndarray) -> np.ndarray:
        """(M, 3) [m] from the middle of the first to that of the second of M pairs (M, 2), each in its frame (M,)."""
        first, second = pairs.T
        return np.asarray(self.centre[frames, second] - self.centre[frames, first])

    def distances(self, frames: np.ndarray, pairs: np.ndarray) -> np.ndarray:
        """Signed distance (M,) [m] of M pairs (M, 2) of capsules, each in its frame (M,)."""
        first, second = pairs.T
        gap = segment_distance(
            self.start[frames, first], self.along[frames, first], self.start[frames, second], self.along[frames, second]
        )
        return gap - self.radius[first] - self.radius[second]


class CapsulePairs:
    """Distances of the capsules around links: never more than the true distance, and cheap for an optimiser.

    Attributes:
        pairs: (P,) pairs of link names, see `collision_pairs`.
    """

    def __init__(self, rig: Rig, pairs: str | Iterable[LinkPair] = "all") -> None:
        self.pairs = collision_pairs(rig, pairs)
        shapes, _ = collision_shapes(rig)
        self._capsules = bounding_capsules(rig, shapes)
        self._shape_pairs, self._owner = shape_pairs(rig, self._capsules.link, self.pairs)

    def distances(self, rotation: np.ndarray, position: np.ndarray) -> np.ndarray:
        """Smallest distance (N, P) [m] of each pair's capsules; infinite for a pair without shapes.

        Args:
            rotation: (N, L, 3, 3) link axes to world axes.
            position: (N, L, 3) [m] link origins.
        """
        placed = PlacedCapsules(self._capsules, rotation, position)
        frames, count = len(rotation), len(self._shape_pairs)
        rows = np.repeat(np.arange(frames), count)
        values = placed.distances(rows, np.tile(self._shape_pairs, (frames, 1))).reshape(frames, count)
        result = np.full((frames, len(self.pairs)), np.inf)
        for column, owner in enumerate(self._owner):
            np.minimum(result[:, owner], values[:, column], out=result[:, owner])
        return result


def shape_pairs(rig: Rig, links: np.ndarray, pairs: Iterable[LinkPair]) -> tuple[np.ndarray, np.ndarray]:
    """Pairs (K, 2) of shape numbers for pairs of links, and which link pair each belongs to (K,).

    Args:
        rig: whose link names the pairs hold.
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
