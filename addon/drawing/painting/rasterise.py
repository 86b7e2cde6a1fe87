"""Draws triangles into a picture with NumPy: without display or graphics card, at a cost that follows what is drawn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

DEPTH_STEPS = 65_535
"""Depths are sorted in so many steps between the nearest and the farthest fragment."""
SMALLEST_AREA = 1e-9
"""[px²] Triangles that are smaller are not drawn."""


@dataclass(frozen=True, slots=True)
class Fragments:
    """Samples of a picture that triangles cover, the nearest triangle of each.

    Attributes:
        samples: (F,) index of the sample, row by row from the top.
        triangles: (F,) index of the triangle.
        weights: (F, 3) barycentric coordinates.
        depths: (F,) interpolated depth.
    """

    samples: np.ndarray
    triangles: np.ndarray
    weights: np.ndarray
    depths: np.ndarray

    def take(self, chosen: np.ndarray) -> Fragments:
        """Some of the fragments, by a mask (F,)."""
        return Fragments(self.samples[chosen], self.triangles[chosen], self.weights[chosen], self.depths[chosen])

    def interpolate(self, values: np.ndarray, triangles: np.ndarray) -> np.ndarray:
        """Values (V, K) of vertices at the fragments (F, K), for the triangles (T, 3) that were rasterised."""
        corners = triangles[self.triangles]
        found: np.ndarray = self.weights[:, :1] * values[corners[:, 0]]
        for k in (1, 2):
            found += self.weights[:, k : k + 1] * values[corners[:, k]]
        return found


def front_faces(points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Whether triangles (T, 3) with points (V, 2 or 3) in a picture, y down, run anticlockwise as it is seen (T,)."""
    return doubled_areas(points, triangles) < 0.0


def doubled_areas(points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Twice the signed areas (T,) of triangles in the picture; positive if clockwise, because y points down."""
    x, y = points[:, 0][triangles], points[:, 1][triangles]
    area: np.ndarray = (x[:, 1] - x[:, 0]) * (y[:, 2] - y[:, 0]) - (x[:, 2] - x[:, 0]) * (y[:, 1] - y[:, 0])
    return area


def rasterise(points: np.ndarray, triangles: np.ndarray, size: tuple[int, int]) -> Fragments:
    """Find the samples that triangles cover, each with its nearest triangle.

    Args:
        points: (V, 3) x to the right and y down in samples, whose centres are at halves, and depth, larger for farther.
        triangles: (T, 3) indices of points.
        size: width and height of the picture in samples.
    """
    wide, high = size
    areas = doubled_areas(points, triangles)
    used = np.flatnonzero(np.abs(areas) > SMALLEST_AREA)
    (x0, x1, x2), (y0, y1, y2), (z0, z1, z2) = _by_axis(points, triangles[used])
    first = np.clip(np.ceil(_least(y0, y1, y2) - 0.5), 0, high).astype(np.int32)
    last = np.clip(np.ceil(_most(y0, y1, y2) - 0.5), 0, high).astype(np.int32)
    span, row = _count_up(last - first, first)
    left, right = _row_ends((x0, x1, x2), (y0, y1, y2), span, row + np.float32(0.5))
    start = np.clip(np.ceil(left - 0.5), 0, wide).astype(np.int32)
    stop = np.clip(np.ceil(right - 0.5), 0, wide).astype(np.int32)
    piece, column = _count_up(np.maximum(stop - start, 0), start)
    face, line = span[piece], row[piece]
    area = areas[used]
    down_x = ((z1 - z0) * (y2 - y0) - (z2 - z0) * (y1 - y0)) / area
    down_y = ((z2 - z0) * (x1 - x0) - (z1 - z0) * (x2 - x0)) / area
    # from the triangle's centre, where rounding is smallest
    middle_x, middle_y, middle_z = (x0 + x1 + x2) / 3.0, (y0 + y1 + y2) / 3.0, (z0 + z1 + z2) / 3.0
    right_of, below = column + np.float32(0.5) - middle_x[face], line + np.float32(0.5) - middle_y[face]
    depth = middle_z[face] + down_x[face] * right_of + down_y[face] * below
    depth = np.clip(depth, _least(z0, z1, z2)[face], _most(z0, z1, z2)[face])
    nearest = _nearest(line, column, depth)
    face, right_of, below = face[nearest], right_of[nearest], below[nearest]
    inverse = 1.0 / area
    third_x, third_y = (y0 - y1) * inverse, (x1 - x0) * inverse
    second_x, second_y = (y2 - y0) * inverse, (x0 - x2) * inverse
    weights = np.empty((len(face), 3), points.dtype)
    weights[:, 1] = second_x[face] * right_of + second_y[face] * below + 1.0 / 3.0
    weights[:, 2] = third_x[face] * right_of + third_y[face] * below + 1.0 / 3.0
    weights[:, 0] = 1.0 - weights[:, 1] - weights[:, 2]
    return Fragments(line[nearest] * wide + column[nearest], used[face], weights, depth[nearest])


def _by_axis(points: np.ndarray, triangles: np.ndarray) -> list[list[np.ndarray]]:
    """For each axis the coordinates (T,) of each corner."""
    return [[points[:, axis][triangles[:, k]] for k in range(3)] for axis in range(points.shape[1])]


def _least(one: np.ndarray, other: np.ndarray, third: np.ndarray) -> np.ndarray:
    return np.minimum(np.minimum(one, other), third)


def _most(one: np.ndarray, other: np.ndarray, third: np.ndarray) -> np.ndarray:
    return np.maximum(np.maximum(one, other), third)


def _count_up(counts: np.ndarray, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Owner and value of every number in the ranges of lengths (N,) that begin at starts (N,)."""
    owner = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    before = np.cumsum(counts, dtype=np.int32) - counts
    return owner, np.arange(len(owner), dtype=np.int32) + (starts - before)[owner]


def _row_ends(
    x: tuple[np.ndarray, ...], y: tuple[np.ndarray, ...], owner: np.ndarray, height: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Left and right ends (S,) of rows at heights (S,) in their triangles."""
    left = np.full(len(owner), np.inf, height.dtype)
    right = -left
    for one, other in ((0, 1), (1, 2), (2, 0)):
        rise = y[other] - y[one]
        slope = (x[other] - x[one]) / np.where(rise == 0.0, 1.0, rise)
        low, high = np.minimum(y[one], y[other]), np.maximum(y[one], y[other])
        crosses = (height >= low[owner]) & (height < high[owner])
        at = x[one][owner] + slope[owner] * (height - y[one][owner])
        left = np.where(crosses, np.minimum(left, at), left)
        right = np.where(crosses, np.maximum(right, at), right)
    empty = left > right
    return np.where(empty, 0.0, left), np.where(empty, 0.0, right)


def _nearest(line: np.ndarray, column: np.ndarray, depth: np.ndarray) -> np.ndarray:
    """Index of the nearest fragment of each covered sample."""
    if not len(line):
        return np.zeros(0, np.int32)
    low, high = float(depth.min()), float(depth.max())
    steps = ((high - depth) * (DEPTH_STEPS / max(high - low, 1e-12))).astype(np.uint16)  # sorted by radix
    order = np.argsort(steps, kind="stable").astype(np.int32)
    top, left = int(line.min()), int(column.min())
    wide, tall = int(column.max()) + 1 - left, int(line.max()) + 1 - top
    place = (line - top) * wide + (column - left)
    owner = np.full(wide * tall, -1, np.int32)
    owner[place[order]] = order  # the last one, which is the nearest, stays
    return owner[owner >= 0]
