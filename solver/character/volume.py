"""The volume that the surfaces of a character enclose, as cells of a grid, also where surfaces are open or overlap.

A cell is inside if at least two of the three lines through it along the axes say so. Along a line a surface that is
entered counts one more layer, and one that is left counts one less. A cell is inside a line's layers if their number
is positive from both ends of the line: a single sheet, such as a cape, or a hole therefore encloses nothing along it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

CELLS_OF_HEIGHT = 240
"""Number of cells along the height of a character. Measured on a simulated character of 62 kg: half and twice as many
change no link's mass by more than 0.70 and 0.22 kg."""
OFFSET = np.array([0.4873, 0.5, 0.5031])
"""Position of the lines in the cells: along y, where left and right of a body are alike, in the middle."""
NEEDED_LINES = 2
CHUNK = 2_000_000
"""Largest number of pairs of triangle and line that are examined together."""


@dataclass(frozen=True, slots=True)
class MeshCells:
    """Cells inside a surface.

    Attributes:
        centres: (C, 3) [m].
        size: [m] edge of a cell.
    """

    centres: np.ndarray
    size: float

    @property
    def volume(self) -> float:
        """[m^3]"""
        return len(self.centres) * self.size**3


def fill_surface(vertices: np.ndarray, triangles: np.ndarray) -> MeshCells:
    """The cells inside a surface.

    Args:
        vertices: (V, 3) [m], z up; a body that is symmetric in y gives symmetric cells.
        triangles: (T, 3) indices; a closed piece of the surface may be turned inside out, and pieces may overlap.
    """
    triangles = orient_outwards(vertices, triangles)
    used = vertices[np.unique(triangles)]
    low, high = used.min(axis=0), used.max(axis=0)
    size = float(high[2] - low[2]) / CELLS_OF_HEIGHT
    counts = np.ceil((high - low) / size).astype(int) + 1
    low[1] -= 0.5 * (counts[1] * size - (high[1] - low[1]))
    votes = np.zeros(counts, np.int8)
    for axis in range(3):
        votes += _inside_along(vertices, triangles, low, size, counts, axis)
    return MeshCells(low + size * (np.argwhere(votes >= NEEDED_LINES) + OFFSET), size)


def orient_outwards(vertices: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Triangles with those of connected pieces reversed that enclose a negative volume."""
    count, (a, b, c) = len(vertices), triangles.T
    graph = sparse.coo_matrix((np.ones(2 * len(a)), (np.r_[a, b], np.r_[b, c])), shape=(count, count))
    piece = connected_components(graph, directed=False)[1][a]
    corners = vertices[triangles] - vertices.mean(axis=0)
    volumes = np.bincount(piece, np.einsum("ti,ti->t", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])))
    return np.where((volumes < 0.0)[piece][:, None], triangles[:, ::-1], triangles)


def _inside_along(
    vertices: np.ndarray, triangles: np.ndarray, low: np.ndarray, size: float, counts: np.ndarray, axis: int
) -> np.ndarray:
    """Whether each cell is inside along the lines of one axis."""
    first, second = [k for k in range(3) if k != axis]
    points = (vertices - low) / size - OFFSET
    layers = np.zeros((*counts[[first, second]], counts[axis] + 1), np.int32)
    flat, along = points[:, [first, second]], points[:, axis]
    corners, depths = flat[triangles], along[triangles]
    start = np.maximum(np.ceil(corners.min(axis=1)).astype(int), 0)
    stop = np.minimum(np.floor(corners.max(axis=1)).astype(int), counts[[first, second]] - 1)
    extent = np.maximum(stop - start + 1, 0)
    pairs = extent.prod(axis=1)
    ends = np.cumsum(pairs)
    begin = 0
    while begin < len(pairs):
        already = ends[begin - 1] if begin else 0
        until = max(int(np.searchsorted(ends, already + CHUNK, side="right")), begin + 1)
        part = slice(begin, until)
        _add_crossings(layers, corners[part], depths[part], start[part], extent[part], pairs[part])
        begin = until
    if axis == 1:  # the normal of the plane x, z points against y
        layers = -layers
    total = layers.sum(axis=2, keepdims=True)
    before = np.cumsum(layers[:, :, :-1], axis=2)
    inside = np.minimum(before, before - total) > 0
    return np.moveaxis(inside, 2, axis)


def _add_crossings(
    layers: np.ndarray,
    corners: np.ndarray,
    depths: np.ndarray,
    start: np.ndarray,
    extent: np.ndarray,
    pairs: np.ndarray,
) -> None:
    """Add +1 where a line enters a surface, and -1 where it leaves one, at the cell after the crossing.

    Args:
        layers: (A, B, C + 1) changed in place.
        corners: (T, 3, 2) corners of the triangles across the lines, in cells.
        depths: (T, 3) along them.
        start: (T, 2) first line of each triangle's bounds.
        extent: (T, 2) number of lines in them.
        pairs: (T,) their product.
    """
    triangle = np.repeat(np.arange(len(pairs)), pairs)
    place = np.arange(len(triangle)) - np.repeat(np.cumsum(pairs) - pairs, pairs)
    line = start[triangle] + np.column_stack(
        [place // np.maximum(extent[triangle, 1], 1), place % np.maximum(extent[triangle, 1], 1)]
    )
    a, b, c = (corners[triangle, k] for k in range(3))
    area = _twice_area(a, b, c)
    parts = np.stack([_twice_area(line, b, c), _twice_area(a, line, c), _twice_area(a, b, line)])
    hit = (area != 0.0) & (np.all(parts >= 0.0, axis=0) & (area > 0.0) | np.all(parts <= 0.0, axis=0) & (area < 0.0))
    area, line = area[hit], line[hit]
    depth = (parts[:, hit] * depths[triangle[hit]].T).sum(axis=0) / area
    cell = np.clip(np.ceil(depth).astype(int), 0, layers.shape[2] - 1)
    np.add.at(layers, (line[:, 0], line[:, 1], cell), np.where(area > 0.0, -1, 1))


def _twice_area(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Twice the signed area (N,) of triangles in a plane."""
    first, second = b - a, c - a
    return np.asarray(first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0])
