"""Meshes of triangles, and conversion of polygons to triangles."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

Mesh = tuple[np.ndarray, np.ndarray]
"""Vertices (V, 3), in the file's units, and triangles (F, 3), indices of vertices."""


class MeshError(Exception):
    """A mesh file is wrong; the text is one clause."""


def merge_vertices(vertices: np.ndarray, triangles: np.ndarray) -> Mesh:
    """Merge equal vertices, sort them by their coordinates, and remove unused ones."""
    corners = np.ascontiguousarray(vertices[triangles.reshape(-1)]) + 0.0  # -0 is 0
    rows = corners.view([("", corners.dtype)] * 3).reshape(-1)
    order = np.lexsort(corners.T[::-1])
    new = np.ones(len(order), bool)
    new[1:] = rows[order[1:]] != rows[order[:-1]]
    number = np.empty(len(order), int)
    number[order] = np.cumsum(new) - 1
    return corners[order[new]], number.reshape(-1, 3)


def triangulate_fans(counts: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Triangles (F, 3) of polygons: the first corner of each with every two consecutive ones.

    Args:
        counts: (P,) number of corners of each polygon; polygons with fewer than three are ignored.
        corners: (sum of counts,) indices, one polygon after the other.
    """
    if counts.size and counts.min() < 0:
        raise MeshError("a polygon has a negative number of corners")
    if int(counts.sum()) != len(corners):
        raise MeshError(f"polygons state {int(counts.sum())} corners, but the file holds {len(corners)}")
    own = np.maximum(counts - 2, 0)
    first = np.repeat(np.cumsum(counts) - counts, own)
    step = np.arange(int(own.sum())) - np.repeat(np.cumsum(own) - own, own)
    return corners[np.column_stack([first, first + step + 1, first + step + 2])]


def triangulate_strips(counts: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Triangles (F, 3) of strips: every three consecutive corners, every other one reversed.

    Args:
        counts: (P,) number of corners of each strip.
        corners: (sum of counts,) indices, one strip after the other.
    """
    if int(counts.sum()) != len(corners) or (counts < 0).any():
        raise MeshError(f"strips state {int(counts.sum())} corners, but the file holds {len(corners)}")
    found, start = [np.zeros((0, 3), int)], 0
    for count in counts:
        k = np.arange(max(count - 2, 0))
        found.append(corners[start + np.column_stack([k, k + 1 + k % 2, k + 2 - k % 2])])
        start += count
    return np.concatenate(found)


def join_meshes(meshes: Iterable[Mesh]) -> Mesh:
    """One mesh of several."""
    first, vertices, triangles = 0, [np.zeros((0, 3))], [np.zeros((0, 3), int)]
    for points, faces in meshes:
        vertices.append(points)
        triangles.append(faces + first)
        first += len(points)
    return np.concatenate(vertices), np.concatenate(triangles)
