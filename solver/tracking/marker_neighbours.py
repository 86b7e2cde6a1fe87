"""Where a marker is to be seen, as the markers that move most nearly with it tell; no rig is needed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import InvalidValue
from ..so3 import nearest_rotation

NEIGHBOUR_COUNT = 6
"""Markers that tell where another one is."""
MIN_NEIGHBOURS = 3
"""Of them must be seen at once."""
SAMPLED_FRAMES = 120
"""Frames from which distances and shapes are learnt."""
DISTANCE_PENALTY = 0.03
"""[m/m] A neighbour that is a metre farther away must keep its distance better by this."""
ROBUST_DISTANCE = 0.015
"""[m] A neighbour that lies farther off the shape counts the less; one that is mislabelled hardly."""
SHAPE_ITERATIONS = 3
ROBUST_ITERATIONS = 3
FITS_PER_BATCH = 200_000
"""Rotations that are fitted at once."""


@dataclass(frozen=True, slots=True)
class NeighbourShapes:
    """The usual shapes of some markers and their neighbours.

    Attributes:
        columns: (C,) which markers.
        neighbours: (C, K) of all markers; -1 where one has fewer.
        neighbour_positions: (C, K, 3) [m] theirs in the shape's own axes.
        marker_positions: (C, 3) [m] the marker's.
    """

    columns: np.ndarray
    neighbours: np.ndarray
    neighbour_positions: np.ndarray
    marker_positions: np.ndarray

    def predict(self, positions: np.ndarray) -> np.ndarray:
        """Where the markers should be (N, C, 3) [m] among all (N, M, 3); NaN where too few neighbours are seen."""
        result = np.full((len(positions), len(self.columns), 3), np.nan)
        step = max(FITS_PER_BATCH // max(len(self.columns), 1), 1)
        for start in range(0, len(positions), step):
            part = slice(start, start + step)
            result[part] = self._predict(positions[part])
        return result

    def _predict(self, positions: np.ndarray) -> np.ndarray:
        world, seen = _neighbour_positions(positions, self.neighbours)
        turn, origin = _fit_robustly(self.neighbour_positions, world, seen)
        result = np.einsum("nmij,mj->nmi", turn, self.marker_positions) + origin
        result[seen.sum(axis=2) < MIN_NEIGHBOURS] = np.nan
        return result


def learn_shapes(positions: np.ndarray, columns: np.ndarray, excluded: np.ndarray | None = None) -> NeighbourShapes:
    """The shapes in which markers (N, M, 3) [m] stay together over a recording; medians, so that errors are outvoted.

    Args:
        positions: of all markers; NaN where not seen.
        columns: (C,) the markers whose shapes are wanted.
        excluded: (C,) for each a marker that is to be no neighbour of it; -1 or None for none.

    Raises:
        InvalidValue: too few markers for any shape.
    """
    markers = positions.shape[1]
    if markers <= MIN_NEIGHBOURS:
        raise InvalidValue(f"{markers} markers are too few: each is predicted from {MIN_NEIGHBOURS} or more others")
    sample = positions[np.linspace(0, len(positions) - 1, min(SAMPLED_FRAMES, len(positions))).astype(int)]
    excluded = np.full(len(columns), -1) if excluded is None else excluded
    chosen = _find_neighbours(sample, columns, excluded, min(NEIGHBOUR_COUNT, markers - 1))
    world, seen = _neighbour_positions(sample, chosen)
    sample = sample[:, columns]
    places, own = _first_shape(sample, world, seen)
    for _ in range(SHAPE_ITERATIONS):
        turn, origin = _fit_robustly(places, world, seen)
        enough = seen.sum(axis=2) >= MIN_NEIGHBOURS
        local = np.einsum("nmji,nmkj->nmki", turn, np.where(seen[..., None], world, np.nan) - origin[:, :, None])
        mine = np.einsum("nmji,nmj->nmi", turn, sample - origin)
        local[~enough], mine[~enough] = np.nan, np.nan
        places, own = _median(local, places), _median(mine, own)
    return NeighbourShapes(columns, chosen, places, own)


def _find_neighbours(sample: np.ndarray, columns: np.ndarray, excluded: np.ndarray, count: int) -> np.ndarray:
    """For some markers the others that keep their distance best (C, count), nearer ones first among equals."""
    score = np.full((len(columns), sample.shape[1]), np.inf)
    for row, marker in enumerate(columns):
        distance = np.linalg.norm(sample - sample[:, marker, None], axis=2)
        known = np.isfinite(distance).sum(axis=0) >= min(MIN_NEIGHBOURS, len(sample))
        known[[marker, excluded[row] if excluded[row] >= 0 else marker]] = False
        score[row, known] = _distance_variation(distance[:, known])
    chosen = np.argsort(score, axis=1)[:, :count]
    return np.where(np.isfinite(np.take_along_axis(score, chosen, axis=1)), chosen, -1)


def _distance_variation(distance: np.ndarray) -> np.ndarray:
    """How little distances (N, C) change over their most alike half, plus a little of how large it is (C,) [m].

    Half of the samples may be of another marker, exchanged for a while.
    """
    ordered = np.sort(distance, axis=0)  # what is missing comes last
    half = np.maximum(np.isfinite(distance).sum(axis=0) // 2, 1)
    starts = np.arange(len(distance))[:, None]
    ends = starts + half
    wide = np.take_along_axis(ordered, np.minimum(ends, len(distance) - 1), axis=0) - ordered
    wide = np.where((ends < len(distance)) & np.isfinite(wide), wide, np.inf)
    best = wide.argmin(axis=0)
    columns = np.arange(distance.shape[1])
    middle = ordered[np.minimum(best + half // 2, len(distance) - 1), columns]
    return np.asarray(wide[best, columns] + DISTANCE_PENALTY * middle)


def _neighbour_positions(positions: np.ndarray, neighbours: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Places (N, M, K, 3) of neighbours, zero where unseen, and which are seen (N, M, K)."""
    world = positions[:, neighbours]
    seen = np.isfinite(world[..., 0]) & (neighbours >= 0)
    return np.where(seen[..., None], world, 0.0), seen


def _first_shape(sample: np.ndarray, world: np.ndarray, seen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of each marker the shape of the frame that shows it with most neighbours, nearest to the middle."""
    middle = np.abs(np.arange(len(sample)) - len(sample) / 2.0) / (2.0 * len(sample))
    best = (seen.sum(axis=2) + 2.0 * np.isfinite(sample[..., 0]) - middle[:, None]).argmax(axis=0)
    markers = np.arange(sample.shape[1])
    places = np.where(seen[best, markers, :, None], world[best, markers], np.nan)
    own = sample[best, markers]
    with np.errstate(invalid="ignore"):
        origin = _mean(places)
    return np.nan_to_num(places - origin[:, None]), np.nan_to_num(own - origin)


def _fit_robustly(places: np.ndarray, world: np.ndarray, seen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """As `_fits`, with little weight on neighbours that lie off the shape."""
    turn, origin = _fit_rigidly(places, world, seen.astype(float))
    for _ in range(ROBUST_ITERATIONS - 1):
        left = np.einsum("nmij,mkj->nmki", turn, places) + origin[:, :, None] - world
        turn, origin = _fit_rigidly(
            places, world, seen / (1.0 + np.einsum("nmki,nmki->nmk", left, left) / ROBUST_DISTANCE**2)
        )
    return turn, origin


def _fit_rigidly(places: np.ndarray, world: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rotations (N, M, 3, 3) and origins (N, M, 3) that bring shapes (M, K, 3) onto places (N, M, K, 3)."""
    total = np.maximum(weights.sum(axis=2), 1e-12)[..., None]
    there = np.einsum("nmk,nmki->nmi", weights, world) / total
    here = np.einsum("nmk,mki->nmi", weights, places) / total
    weighted = weights[..., None] * (world - there[:, :, None])
    turn = nearest_rotation(np.einsum("nmki,mkj->nmij", weighted, places))
    return turn, there - np.einsum("nmij,nmj->nmi", turn, here)


def _median(values: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
    """Medians over the frames of values (N, ...), as before where there are none."""
    known = np.isfinite(values).any(axis=0)
    result = otherwise.copy()
    result[known] = np.nanmedian(values[:, known], axis=0)
    return result


def _mean(places: np.ndarray) -> np.ndarray:
    """Means (M, 3) over what is known of (M, K, 3)."""
    known = np.isfinite(places[..., 0])
    return np.where(known[..., None], places, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)[:, None]
