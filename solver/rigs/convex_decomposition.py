"""Approximate convex decomposition of meshes, for links that are close to parts of a hull which the mesh does not fill.

Cuts are planes perpendicular to the principal axes of a part. The cut that reduces the volume of the hulls most is made
first, as long as some of the surface is deep inside the hull. The hulls of the pieces contain the whole surface of the
mesh, whether it is closed or not, so that they are conservative. CoACD, the usual library, took 38 s for one link of a
gripper (8 pieces, 0.24 of the hull's volume) and this module 0.4 s (8 pieces, 0.23).
"""

from __future__ import annotations

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from ..shape import sphere_directions

MAX_PIECES = 8
"""Largest number of pieces of one mesh; distances are computed for every pair of pieces of two links."""
MIN_SAVED_FRACTION = 0.05
"""Smallest reduction of volume, relative to the hull's volume, for which a mesh is decomposed."""
MIN_DEPTH = 0.002
"""[m] A part is not cut if its surface is nowhere deeper inside its hull."""
CUT_FRACTIONS = (0.15, 0.3, 0.4, 0.5, 0.6, 0.7, 0.85)
"""Positions at which cuts are tried, as fractions of the extent along an axis."""
MAX_EDGE_FRACTION = 1.0 / 16.0
"""Longer edges, relative to a mesh's extent, are halved, so that triangles are on one side of a cut."""
MAX_FACES = 6_000
"""Edges of meshes with more triangles are not halved."""
DIRECTION_COUNT = 64
"""Number of directions whose extreme points represent a part while cuts are compared."""
MAX_DEPTH_SAMPLES = 2_000
"""Largest number of triangles whose depth is computed."""


def decompose_convex(vertices: np.ndarray, faces: np.ndarray) -> list[np.ndarray]:
    """Points (V, 3) of the pieces whose hulls contain a mesh; a single piece if no cut is worthwhile.

    Args:
        vertices: (V, 3) [m].
        faces: (F, 3) indices.

    Example:
        >>> import numpy as np
        >>> from solver.rigs.convex_decomposition import decompose_convex
        >>> box = np.array([(x, y, z) for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
        >>> sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
        >>> faces = np.array([t for a, b, c, d in sides for t in ((a, b, c), (a, c, d))])
        >>> slab = np.array([3.0, 1.0, 1.0])
        >>> two = np.vstack([box * slab, box * slab[::-1]])  # an L shape is not convex
        >>> len(decompose_convex(two, np.vstack([faces, faces + 8]))) > 1
        True
    """
    points, triangles = _halve_long_edges(np.asarray(vertices, float), np.asarray(faces, int))
    parts = [_Part(points, triangles)]
    while len(parts) < MAX_PIECES:
        best = max(parts, key=lambda part: part.saved_volume)
        if best.before_cut is None:
            break
        at = parts.index(best)
        parts[at : at + 1] = [_Part(points, best.faces[best.before_cut]), _Part(points, best.faces[~best.before_cut])]
    pieces = [part.points for part in parts]
    held = float(sum(_hull_volume(piece) for piece in pieces))
    return pieces if held < (1.0 - MIN_SAVED_FRACTION) * _hull_volume(points) else [points]


class _Part:
    """Triangles of a mesh and the best cut through them.

    Attributes:
        faces: (F, 3) indices.
        points: (V, 3) [m] their corners.
        before_cut: (F,) True for triangles before the cut; None without a cut.
        saved_volume: [m^3] by which the hulls of both sides are smaller than one hull.
    """

    def __init__(self, points: np.ndarray, faces: np.ndarray) -> None:
        self.faces, self.points = faces, _used_points(points, faces)
        self.saved_volume = -np.inf
        self.before_cut: np.ndarray | None = None
        centres = points[faces].mean(axis=1)
        try:
            hull = ConvexHull(self.points)
        except (QhullError, ValueError):
            return
        seen = centres[:: len(centres) // MAX_DEPTH_SAMPLES + 1]
        depth = -(seen @ hull.equations[:, :3].T + hull.equations[:, 3]).max(axis=1)
        if depth.max() <= MIN_DEPTH:
            return
        least = np.inf
        for axis in np.linalg.eigh(np.cov(self.points.T))[1].T:
            along = centres @ axis
            start, stop = along.min(), along.max()
            for share in CUT_FRACTIONS:
                side = along < start + share * (stop - start)
                if not side.any() or side.all():
                    continue
                volume = sum(_hull_volume(_extreme_points(_used_points(points, faces[own]))) for own in (side, ~side))
                if volume < least:
                    least, self.before_cut = volume, side
        if self.before_cut is not None:
            self.saved_volume = hull.volume - sum(
                _hull_volume(_used_points(points, faces[own])) for own in (self.before_cut, ~self.before_cut)
            )


def _used_points(points: np.ndarray, faces: np.ndarray) -> np.ndarray:
    used = np.zeros(len(points), bool)
    used[faces] = True
    return points[used]


def _halve_long_edges(points: np.ndarray, faces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The mesh with long edges halved until all are short."""
    longest = MAX_EDGE_FRACTION * float(np.ptp(points, axis=0).max())
    while len(faces) < MAX_FACES:
        corners = points[faces]
        edges = np.linalg.norm(corners - np.roll(corners, -1, axis=1), axis=2)  # (F, 3), from each corner to the next
        long = edges.max(axis=1) > longest
        if not long.any():
            break
        rows, first = np.flatnonzero(long), edges.argmax(axis=1)[long]
        a, b, c = (faces[rows, (first + k) % 3] for k in range(3))
        middle = len(points) + np.arange(len(rows))
        points = np.vstack([points, (points[a] + points[b]) / 2.0])
        faces = np.vstack([faces[~long], np.column_stack([a, middle, c]), np.column_stack([middle, b, c])])
    return points, faces


def _extreme_points(points: np.ndarray) -> np.ndarray:
    """The extreme points along uniformly distributed directions."""
    if len(points) <= DIRECTION_COUNT:
        return points
    return points[np.unique((_DIRECTIONS @ points.T).argmax(axis=1))]


def _hull_volume(points: np.ndarray) -> float:
    """[m^3] Volume of the hull of points; 0 if it is flat."""
    try:
        return float(ConvexHull(points).volume)
    except (QhullError, ValueError):
        return 0.0


_DIRECTIONS = sphere_directions(DIRECTION_COUNT)
