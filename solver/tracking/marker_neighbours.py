"""Predicts the position of a marker from the markers that move most nearly with it; no rig is needed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..base.errors import InvalidValue
from ..base.so3 import nearest_rotation

NEIGHBOUR_COUNT = 6
"""Markers from which another one is predicted. Measured on a simulated dance of 3 s with gaps and exchanged labels,
whose joint centres are 13.4 mm off: half and twice the value give 12.8 and 12.8 mm."""
MIN_NEIGHBOURS = 3
"""Fewest of them that must be seen at once. Derived: three points determine a rotation."""
SAMPLED_FRAMES = 120
"""Frames from which distances and shapes are learnt. Measured on a simulated dance of 3 s with gaps and exchanged
labels, whose joint centres are 13.4 mm off: half and twice the value end within 0.1 mm."""
DISTANCE_PENALTY = 0.03
"""[m/m] A neighbour a metre further away must keep its distance better by this. Measured on a simulated dance of 3 s
with gaps and exchanged labels, whose joint centres are 13.4 mm off: half and twice the value end within 0.1 mm."""
ROBUST_DISTANCE = 0.015
"""[m] Scale of the robust weights: neighbours further off the shape count less, mislabelled ones hardly. Measured on a
simulated dance of 3 s with gaps and exchanged labels, whose joint centres are 13.4 mm off: half and twice the value
give 13.4 and 9.1 mm."""
SHAPE_ITERATIONS = 3
"""Measured on a simulated dance of 3 s with gaps and exchanged labels, whose joint centres are 13.4 mm off: half and
twice the value give 13.4 and 9.1 mm."""
ROBUST_ITERATIONS = 3
"""Measured on a simulated dance of 3 s with gaps and exchanged labels, whose joint centres are 13.4 mm off: half and
twice the value give 9.1 and 13.4 mm."""
FITS_PER_BATCH = 200_000
"""Rotations that are fitted together."""


@dataclass(frozen=True, slots=True)
class NeighbourShapes:
    """The usual shapes of some markers and their neighbours.

    Attributes:
        columns: (C,) indices of the markers.
        neighbours: (C, K) indices among all markers; -1 where a marker has fewer.
        neighbour_positions: (C, K, 3) [m] in the shape's own axes.
        marker_positions: (C, 3) [m] likewise.
    """

    columns: np.ndarray
    neighbours: np.ndarray
    neighbour_positions: np.ndarray
    marker_positions: np.ndarray

    def predict(self, positions: np.ndarray) -> np.ndarray:
        """Predicted positions (N, C, 3) [m] of the markers among all (N, M, 3); NaN where too few neighbours are
        seen.
        """
        result = np.full((len(positions), len(self.columns), 3), np.nan)
        step = max(FITS_PER_BATCH // max(len(self.columns), 1), 1)
        for start in range(0, len(positions), step):
            part = slice(start, start + step)
            result[part] = self._predict(positions[part])
        return result

    def _predict(self, positions: np.ndarray) -> np.ndarray:
        world, seen = _neighbour_positions(positions, self.neighbours)
        rotation, origin = _fit_robustly(self.neighbour_positions, world, seen)
        result = np.einsum("nmij,mj->nmi", rotation, self.marker_positions) + origin
        result[seen.sum(axis=2) < MIN_NEIGHBOURS] = np.nan
        return result


def learn_shapes(positions: np.ndarray, columns: np.ndarray, excluded: np.ndarray | None = None) -> NeighbourShapes:
    """Shapes of markers (N, M, 3) [m] over a recording, as medians, so that outliers have no effect.

    Args:
        positions: of all markers; NaN where not seen.
        columns: (C,) markers whose shapes are learnt.
        excluded: (C,) for each a marker that must not be its neighbour; -1 or None for none.

    Raises:
        InvalidValue: too few markers for any shape.
    """
    markers = positions.shape[1]
    if markers <= MIN_NEIGHBOURS:
        raise InvalidValue(f"{markers} markers are not enough: each is predicted from {MIN_NEIGHBOURS} or more others")
    sample = positions[np.linspace(0, len(positions) - 1, min(SAMPLED_FRAMES, len(positions))).astype(int)]
    excluded = np.full(len(columns), -1) if excluded is None else excluded
    chosen = _find_neighbours(sample, columns, excluded, min(NEIGHBOUR_COUNT, markers - 1))
    world, seen = _neighbour_positions(sample, chosen)
    sample = sample[:, columns]
    neighbour_positions, marker_positions = _first_shape(sample, world, seen)
    for _ in range(SHAPE_ITERATIONS):
        rotation, origin = _fit_robustly(neighbour_positions, world, seen)
        enough = seen.sum(axis=2) >= MIN_NEIGHBOURS
        local = np.einsum("nmji,nmkj->nmki", rotation, np.where(seen[..., None], world, np.nan) - origin[:, :, None])
        local_markers = np.einsum("nmji,nmj->nmi", rotation, sample - origin)
        local[~enough], local_markers[~enough] = np.nan, np.nan
        neighbour_positions, marker_positions = (
            _median(local, neighbour_positions),
            _median(local_markers, marker_positions),
        )
    return NeighbourShapes(columns, chosen, neighbour_positions, marker_positions)


def _find_neighbours(sample: np.ndarray, columns: np.ndarray, excluded: np.ndarray, count: int) -> np.ndarray:
    """The other markers that keep their distance best (C, count), nearer ones first among equals."""
    score = np.full((len(columns), sample.shape[1]), np.inf)
    for row, marker in enumerate(columns):
        distance = np.linalg.norm(sample - sample[:, marker, None], axis=2)
        known = np.isfinite(distance).sum(axis=0) >= min(MIN_NEIGHBOURS, len(sample))
        known[[marker, excluded[row] if excluded[row] >= 0 else marker]] = False
        score[row, known] = _distance_variation(distance[:, known])
    chosen = np.argsort(score, axis=1)[:, :count]
    return np.where(np.isfinite(np.take_along_axis(score, chosen, axis=1)), chosen, -1)


def _distance_variation(distance: np.ndarray) -> np.ndarray:
    """Range of distances (N, C) over their most similar half, plus a small part of the distance (C,) [m].

    Half of the samples may belong to another marker, exchanged for a while.
    """
    ordered = np.sort(distance, axis=0)  # what is missing comes last
    half = np.maximum(np.isfinite(distance).sum(axis=0) // 2, 1)
    ends = np.arange(len(distance))[:, None] + half
    widths = np.take_along_axis(ordered, np.minimum(ends, len(distance) - 1), axis=0) - ordered
    widths = np.where((ends < len(distance)) & np.isfinite(widths), widths, np.inf)
    best = widths.argmin(axis=0)
    columns = np.arange(distance.shape[1])
    middle = ordered[np.minimum(best + half // 2, len(distance) - 1), columns]
    return np.asarray(widths[best, columns] + DISTANCE_PENALTY * middle)


def _neighbour_positions(positions: np.ndarray, neighbours: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Positions (N, M, K, 3) of neighbours, zero where unseen, and which are seen (N, M, K)."""
    world = positions[:, neighbours]
    seen = np.isfinite(world[..., 0]) & (neighbours >= 0)
    return np.where(seen[..., None], world, 0.0), seen


def _first_shape(sample: np.ndarray, world: np.ndarray, seen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The shape of each marker in the frame that shows it with most neighbours, nearest to the middle."""
    middle = np.abs(np.arange(len(sample)) - len(sample) / 2.0) / (2.0 * len(sample))
    best = (seen.sum(axis=2) + 2.0 * np.isfinite(sample[..., 0]) - middle[:, None]).argmax(axis=0)
    markers = np.arange(sample.shape[1])
    positions = np.where(seen[best, markers, :, None], world[best, markers], np.nan)
    own = sample[best, markers]
    with np.errstate(invalid="ignore"):
        origin = _mean(positions)
    return np.nan_to_num(positions - origin[:, None]), np.nan_to_num(own - origin)


def _fit_robustly(shapes: np.ndarray, world: np.ndarray, seen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """As `_fit_rigidly`, with little weight on neighbours that lie off the shape."""
    rotation, origin = _fit_rigidly(shapes, world, seen.astype(float))
    for _ in range(ROBUST_ITERATIONS - 1):
        residuals = np.einsum("nmij,mkj->nmki", rotation, shapes) + origin[:, :, None] - world
        rotation, origin = _fit_rigidly(
            shapes, world, seen / (1.0 + np.einsum("nmki,nmki->nmk", residuals, residuals) / ROBUST_DISTANCE**2)
        )
    return rotation, origin


def _fit_rigidly(shapes: np.ndarray, world: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rotations (N, M, 3, 3) and origins (N, M, 3) that map shapes (M, K, 3) to positions (N, M, K, 3)."""
    total = np.maximum(weights.sum(axis=2), 1e-12)[..., None]
    there = np.einsum("nmk,nmki->nmi", weights, world) / total
    here = np.einsum("nmk,mki->nmi", weights, shapes) / total
    weighted = weights[..., None] * (world - there[:, :, None])
    rotation = nearest_rotation(np.einsum("nmki,mkj->nmij", weighted, shapes))
    return rotation, there - np.einsum("nmij,nmj->nmi", rotation, here)


def _median(values: np.ndarray, previous: np.ndarray) -> np.ndarray:
    """Medians over the frames of values (N, ...); the previous value where there are none."""
    known = np.isfinite(values).any(axis=0)
    result = previous.copy()
    result[known] = np.nanmedian(values[:, known], axis=0)
    return result


def _mean(places: np.ndarray) -> np.ndarray:
    """Means (M, 3) over the known entries of (M, K, 3)."""
    known = np.isfinite(places[..., 0])
    return np.where(known[..., None], places, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)[:, None]
