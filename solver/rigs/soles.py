"""Soles: flat areas at the bottom of a foot's shapes."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from ..values.shape import ContactPolygon, Shape
from .solids import bottom_points, corner_signs

FLAT_TOLERANCE = 0.0005
"""[m] Tolerance of points in the lowest plane of a foot, since files are rounded and floors are soft. Measured on the
models of `MIN_FLAT_FRACTION`: half and twice the value move corners of one sole, by 0.5 and 3.3 mm, and no other."""
MIN_FLAT_FRACTION = 0.2
"""Smallest flat fraction of a foot's outline; the lowest cap of a ball, a point foot, is not a sole. Measured on eight
models of people, humanoids and arms in URDF, MJCF and OpenSim: a tenth and twice the value find the same soles, ten
times none."""
MIN_LEVEL_COSINE = np.cos(np.radians(35.0))
"""Cosine of the largest inclination of a sole while every joint is at zero."""
MIN_AREA_GAIN = 1.5
"""An inclined face is used if its area exceeds that of the lowest level face by this factor. Measured on the models of
`MIN_FLAT_FRACTION`: a tenth and ten times the value find the same soles."""
MAX_FACES = 6
"""Number of largest faces that are examined. Measured on the models of `MIN_FLAT_FRACTION`: half and twice as many find
the same soles."""
ROUND_KINDS = ("sphere", "capsule", "ellipsoid")
"""Shapes whose lowest points change with the inclination."""
REFINEMENTS = 4
"""Number of times that an inclined plane is fitted to the lowest points of round shapes. Measured on the models of
`MIN_FLAT_FRACTION`: half and twice as many find the same soles."""
REFINEMENT_DISTANCE = 0.02
"""[m] An inclined plane is fitted to points at this distance, halved at each refinement. Measured on the models of
`MIN_FLAT_FRACTION`: half and twice the value find the same soles."""
MAX_MARK_SIZE = 0.003
"""[m] A shape of at most this size in a foot with larger ones marks a point and carries no load. Measured on the models
of `MIN_FLAT_FRACTION`: half and twice the value find the same soles."""
MIN_SPANNING = 3
"""Smallest number of such marks that may be the corners of a sole. Derived: three corners span an area."""
MIN_HEIGHT_ABOVE = 0.005
"""[m] A face that is higher above a leg's sole by more does not touch the floor with it. Measured on the models of
`MIN_FLAT_FRACTION`: half and twice the value find the same soles."""
MIN_AREA_RATIO = 0.2
"""A higher face with a smaller area, relative to a leg's largest sole, is not a sole but, for example, an ankle.
Measured on the models of `MIN_FLAT_FRACTION`: half the value finds the same soles, twice changes those of one
person."""


def find_sole(link: str, rotation: np.ndarray, shapes: Sequence[Shape]) -> ContactPolygon | None:
    """Find the largest flat area at the bottom of a link's shapes, as a convex polygon; None without one.

    Args:
        link: the foot.
        rotation: (3, 3) its axes to world axes at the zero posture.
        shapes: of the rig.
    """
    if not (own := [shape for shape in shapes if shape.link == link]):
        return None
    level = -rotation[2]
    best, area = _find_flat_area(own, level)
    outline = np.vstack([_bounding_points(shape) for shape in own])
    for direction in _downward_faces(outline, level):
        found, size = _find_flat_area(own, _fit_plane(own, direction, level))
        if size > MIN_AREA_GAIN * area:
            best, area = found, size
    if best is None or area < MIN_FLAT_FRACTION * _outline_area(outline, level):
        return None
    return ContactPolygon(f"{link}_sole", link, best)


def find_bearing_shapes(shapes: Sequence[Shape]) -> list[bool]:
    """Whether each shape can bear load: all but tiny ones that mark a point of a link, for example below its sole.

    Three or more tiny shapes on one link are corners of a sole, and a link may consist of tiny shapes only.
    """
    sizes = [float(np.ptp(_bounding_points(shape), axis=0).max()) for shape in shapes]
    tiny = [shape.link for shape, size in zip(shapes, sizes) if size <= MAX_MARK_SIZE]
    large = {shape.link for shape, size in zip(shapes, sizes) if size > MAX_MARK_SIZE}
    lost = {link for link in large if 0 < tiny.count(link) < MIN_SPANNING}
    return [size > MAX_MARK_SIZE or shape.link not in lost for shape, size in zip(shapes, sizes)]


def select_feet(
    feet: Sequence[str],
    soles: Sequence[ContactPolygon | None],
    rest: tuple[np.ndarray, np.ndarray],
    links: Sequence[str],
    below: Sequence[Collection[str]],
) -> list[str]:
    """Select the feet among candidate links: not an ankle's axis above the link that has the sole.

    Args:
        feet: candidate links.
        soles: of each, where it has one.
        rest: axes (L, 3, 3) and origins (L, 3) [m] of the links, every joint at zero.
        links: L names.
        below: of each foot the links that hang on it.
    """
    turns, origins = rest
    result = []
    for link, own in zip(feet, soles):
        k = links.index(link)
        height = np.inf if own is None else float((own.vertices @ turns[k][2]).mean() + origins[k, 2])
        area = 0.0 if own is None else _outline_area(own.vertices, -turns[k][2])
        others = [
            (float((sole.vertices @ turns[n][2]).mean() + origins[n, 2]), _outline_area(sole.vertices, -turns[n][2]))
            for other, sole, hung in zip(feet, soles, below)
            for n in [links.index(other)]
            if sole is not None and other != link and (other in below[feet.index(link)] or link in hung)
        ]
        if not any(size * MIN_AREA_RATIO > area and floor + MIN_HEIGHT_ABOVE < height for floor, size in others):
            result.append(link)
    return result


def _find_flat_area(shapes: Sequence[Shape], down: np.ndarray) -> tuple[np.ndarray | None, float]:
    """Corners (V, 3) [m] of the flat face that is farthest along a direction, seen from there, and its area [m^2]."""
    points = np.vstack([bottom_points(shape, down) for shape in shapes])
    depth = points @ down
    low = points[depth >= depth.max() - FLAT_TOLERANCE]
    first, second = _perpendicular_axes(down)
    try:
        hull = ConvexHull(np.column_stack([low @ first, low @ second]))
    except (QhullError, ValueError):
        return None, 0.0
    return (low + (depth.max() - low @ down)[:, None] * down)[hull.vertices], float(hull.volume)


def _fit_plane(shapes: Sequence[Shape], down: np.ndarray, level: np.ndarray) -> np.ndarray:
    """Fit the normal (3,) of a plane below round shapes, starting from a direction; unchanged without round shapes."""
    if not any(shape.kind in ROUND_KINDS for shape in shapes):
        return down
    for step in range(REFINEMENTS):
        points = np.vstack([bottom_points(shape, down) for shape in shapes])
        depth = points @ down
        low = points[depth >= depth.max() - REFINEMENT_DISTANCE / 2**step]
        spread, axes = np.linalg.svd(low - low.mean(axis=0))[1:]
        if len(low) < MIN_SPANNING or spread[1] < FLAT_TOLERANCE:
            return down
        laid = axes[2] * np.sign(axes[2] @ down)
        if laid @ level < MIN_LEVEL_COSINE:
            return down
        down = laid
    return down


def _downward_faces(points: np.ndarray, level: np.ndarray) -> list[np.ndarray]:
    """Normals (3,) of the largest nearly downward faces of the points' hull, the largest first."""
    try:
        hull = ConvexHull(points)
    except (QhullError, ValueError):
        return []
    normals = hull.equations[:, :3]
    corners = points[hull.simplices]
    areas = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    steep = normals @ level >= MIN_LEVEL_COSINE
    named, which = np.unique(normals[steep].round(2), axis=0, return_inverse=True)
    if not len(named):
        return []
    sizes = np.bincount(which.reshape(-1), areas[steep])
    return [named[k] / np.linalg.norm(named[k]) for k in np.argsort(-sizes)[:MAX_FACES]]


def _bounding_points(shape: Shape) -> np.ndarray:
    """(V, 3) [m] points whose hull contains a shape, link axes."""
    if shape.kind == "mesh":
        return shape.vertices
    size = np.array(shape.size)
    half = size if shape.kind in ("box", "ellipsoid") else np.full(3, size[0])
    if shape.kind == "capsule":
        half = half + np.array([0.0, 0.0, size[1]])
    return corner_signs() * half @ shape.rotation.T + shape.centre


def _outline_area(points: np.ndarray, down: np.ndarray) -> float:
    """[m^2] Area of the points' outline along a direction."""
    first, second = _perpendicular_axes(down)
    try:
        return float(ConvexHull(np.column_stack([points @ first, points @ second])).volume)
    except (QhullError, ValueError):
        return 0.0


def _perpendicular_axes(down: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two unit vectors (3,) perpendicular to a direction; the three form a right-handed frame."""
    first = np.eye(3)[int(np.argmin(np.abs(down)))]
    first = first - (first @ down) * down
    first /= np.linalg.norm(first)
    return first, np.cross(down, first)
