"""Convex decomposition of meshes whose hulls overlap other links' hulls while every joint is at zero.

The hull of a chest fills the armpits, and the hull of a gripper's bracket fills the space of its finger. One hull per
mesh is enough, and cheaper, if no other link is near. Otherwise convex pieces resolve whether links touch. Pieces are
not used if they are as close as the hulls or overlap too, as in a closed hand, because each distance would then cost up
to sixty-four.

Cuts are planes perpendicular to the principal axes of a part. The cut that reduces the volume of the hulls most is made
first, as long as some of the surface is deep inside the hull. The hulls of the pieces contain the whole surface of the
mesh, whether it is closed or not, so that they are conservative. CoACD, the usual library, took 38 s for one link of a
gripper (8 pieces, 0.24 of the hull's volume) and this module 0.4 s (8 pieces, 0.23).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from ..base.errors import InputError
from ..values.joints import Joint
from ..values.shape import Shape, sphere_directions
from .meshes import MeshSource, convex_hull, load_mesh
from .solids import shape_bounds

MAX_HULL_DISTANCE = 0.005
"""[m] Hulls at a smaller distance overlap."""
MIN_DISTANCE_GAIN = 0.002
"""[m] Pieces replace hulls if they increase the distance by more."""
MIN_JOINTS_BETWEEN, MAX_JOINTS_BETWEEN = 3, 5
"""Numbers of joints between links that are decomposed, such as upper arm and chest. Links with fewer joints between
them move in each other's sockets; links with more come close only by posture, for which conservative hulls are
enough."""
MAX_PIECES = 8
"""Largest number of pieces of one mesh; distances are computed for every pair of pieces of two links. Measured on a
channel and two rings: with half as many their hulls are 5 % to 20 % larger, with twice as many 5 % to 15 % smaller."""
MIN_SAVED_FRACTION = 0.05
"""Smallest reduction of volume, relative to the hull's volume, for which a mesh is decomposed. Measured on a channel
and two rings: half and twice the value give the same pieces."""
MIN_DEPTH = 0.002
"""[m] A part is not cut if its surface is nowhere deeper inside its hull. Measured on a channel and two rings: half and
twice the value give the same pieces."""
CUT_FRACTIONS = (0.15, 0.3, 0.4, 0.5, 0.6, 0.7, 0.85)
"""Positions at which cuts are tried, as fractions of the extent along an axis. Measured on a channel and two rings:
every other one, and twice as many, change the volume of the hulls by 11 % at most."""
MAX_EDGE_FRACTION = 1.0 / 16.0
"""Longer edges, relative to a mesh's extent, are halved, so that triangles are on one side of a cut. Measured on a
channel and two rings: half and twice the value give hulls up to 1 % and 10 % larger."""
MAX_FACES = 6_000
"""Edges of meshes with more triangles are not halved. Measured on a channel and two rings: half and twice the value
change the volume of the hulls by 3 % at most."""
DIRECTION_COUNT = 64
"""Number of directions whose extreme points represent a part while cuts are compared. Measured on a channel and two
rings: half and twice as many give the same pieces."""
MAX_DEPTH_SAMPLES = 2_000
"""Largest number of triangles whose depth is computed. Measured on a channel and two rings: half and twice as many give
the same pieces."""


def decompose_overlapping(
    shapes: Sequence[Shape],
    sources: Sequence[MeshSource | None],
    joints: Sequence[Joint],
    links: Sequence[str],
    rest: tuple[np.ndarray, np.ndarray],
) -> tuple[Shape, ...]:
    """The shapes, with convex pieces in place of the hulls of links that overlap others.

    Args:
        shapes: of all links.
        sources: mesh file of each shape that is the hull of a mesh, else None.
        joints: L, which move the links.
        links: L names.
        rest: axes (L, 3, 3) and origins (L, 3) [m] of the links, every joint at zero.
    """
    from ..engine import convex_hull_solid, solid_distance  # here, so that rigs can be read without an engine

    turns, places = rest
    near = _overlapping_links(shapes, joints, links, rest)
    cut = {link for pair in near for link in pair}
    parts = [
        _decompose(shape, source) if source is not None and shape.link in cut else [shape]
        for shape, source in zip(shapes, sources, strict=True)
    ]
    own: dict[str, list[Any]] = {link: [] for link in cut}
    for part in parts:
        if part[0].link in own:
            k = links.index(part[0].link)
            own[part[0].link] += [convex_hull_solid(_outline_points(piece) @ turns[k].T + places[k]) for piece in part]
    improved: set[str] = set()
    for (one, other), hulls in near.items():
        if (
            not {one, other} <= improved
            and min(solid_distance(a, b) for a in own[one] for b in own[other]) > hulls + MIN_DISTANCE_GAIN
        ):
            improved |= {one, other}
    return tuple(
        each
        for shape, part in zip(shapes, parts, strict=True)
        for each in (part if shape.link in improved else [shape])
    )


def _decompose(shape: Shape, source: MeshSource) -> list[Shape]:
    if source.mesh is None:
        pieces = _decompose_file(str(source.path), tuple(source.scale.tolist()))
    else:
        pieces = decompose_convex(*source.mesh)
    if len(pieces) == 1:
        return [shape]
    try:
        return [convex_hull(shape.link, own @ source.rotation.T + source.position, source.path) for own in pieces]
    except InputError:  # a flat piece has no hull
        return [shape]


@lru_cache(maxsize=64)
def _decompose_file(path: str, scale: tuple[float, ...]) -> list[np.ndarray]:
    """Pieces of a mesh file, cached because left and right links often share their meshes."""
    return decompose_convex(*load_mesh(Path(path), np.array(scale)))


def _overlapping_links(
    shapes: Sequence[Shape], joints: Sequence[Joint], links: Sequence[str], rest: tuple[np.ndarray, np.ndarray]
) -> dict[tuple[str, str], float]:
    """Distance [m] of pairs of links of one limb or coupled mechanism whose hulls are close."""
    from ..engine import convex_hull_solid, solid_distance

    turns, places = rest
    own = [links.index(shape.link) for shape in shapes]
    placed = [_outline_points(shape) @ turns[k].T + places[k] for shape, k in zip(shapes, own)]
    lower, upper = (np.array([f(points, axis=0) for points in placed]).reshape(-1, 3) for f in (np.min, np.max))
    related = _related_links(joints)
    solids: dict[int, Any] = {}
    result: dict[tuple[str, str], float] = {}
    for i, j in combinations(range(len(shapes)), 2):
        if not related[own[i], own[j]]:
            continue
        if (lower[i] > upper[j] + MAX_HULL_DISTANCE).any() or (lower[j] > upper[i] + MAX_HULL_DISTANCE).any():
            continue
        for k in (i, j):
            if k not in solids:
                solids[k] = convex_hull_solid(placed[k])
        if (apart := solid_distance(solids[i], solids[j])) < MAX_HULL_DISTANCE:
            first, second = sorted((own[i], own[j]))
            both = links[first], links[second]
            result[both] = min(apart, result.get(both, np.inf))
    return result


def _related_links(joints: Sequence[Joint]) -> np.ndarray:
    """(L, L) True for pairs of links of one limb or of one coupled mechanism."""
    number = {joint.name: k for k, joint in enumerate(joints)}
    between = np.zeros((len(joints), len(joints)), int)
    mechanism: dict[str, set[int]] = {}
    for link, joint in enumerate(joints[1:], start=1):
        between[link, :link] = between[:link, link] = between[joint.parent, :link] + 1
        if joint.mimic is not None and joint.mimic.source in number:
            source = number[joint.mimic.source]
            mechanism.setdefault(joint.mimic.source, set()).update((link, joint.parent, source, joints[source].parent))
    result = (between >= MIN_JOINTS_BETWEEN) & (between <= MAX_JOINTS_BETWEEN)
    for members in mechanism.values():
        inside = np.ix_(sorted(members), sorted(members))
        result[inside] |= between[inside] >= 2
    return result


def _outline_points(shape: Shape) -> np.ndarray:
    """(V, 3) [m] points that enclose a shape, link axes."""
    if shape.kind == "mesh":
        return shape.vertices
    low, high = shape_bounds(shape)
    return np.array(list(product(*zip(low, high))))


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
