"""Soles: the flat areas that a foot's shapes stand on."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from ..patch import ContactPolygon
from ..shape import Shape

FLAT_TOLERANCE = 0.0005
"""[m] Points of a foot this near to the lowest plane lie in it: files round, and floors give way."""
MIN_FLAT_FRACTION = 0.2
"""Share of a foot's outline that must be flat: a ball's lowest cap, a point foot, is no sole."""
MIN_LEVEL_COSINE = np.cos(np.radians(35.0))
"""A sole may lean by so much while every joint is at zero."""
MIN_AREA_GAIN = 1.5
"""A leaning face counts where it is this much larger than what is lowest and level."""
MAX_FACES = 6
"""Largest faces that are tried."""
ROUND_KINDS = ("sphere", "capsule", "ellipsoid")
"""Shapes whose lowest points move as they lean."""
REFINEMENTS = 4
"""Times that a leaning plane is laid anew through the lowest points of round shapes, each time nearer to them all."""
REFINEMENT_DISTANCE = 0.02
"""[m] A leaning plane is laid through points this near to it, half as near each time."""
MAX_MARK_SIZE = 0.003
"""[m] A shape no larger than this in a foot with larger ones marks a place: nothing stands on it."""
MIN_SPANNING = 3
"""Specks from which on they may be the corners of a sole."""
MIN_HEIGHT_ABOVE = 0.005
"""[m] What ends this far above a leg's sole does not stand beside it."""
MIN_AREA_RATIO = 0.2
"""Share of the area of a leg's largest sole below which one further up is none: of an ankle, say."""


def find_sole(link: str, rotation: np.ndarray, shapes: Sequence[Shape]) -> ContactPolygon | None:
    """The largest flat area at the bottom of a link's shapes, as a convex polygon; None where nothing is flat.

    Args:
        link: the foot.
        rotation: (3, 3) its axes to world axes at the zero posture.
        shapes: of the rig.
    """
    own = [shape for shape in shapes if shape.link == link]
    if not own:
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
    """Which shapes are kept: all but tiny ones that mark a place of a link, below its sole for example.

    Three or more of them on one link are the corners of what it stands on, and a link may be small altogether.
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
    """Those of the links that look like feet that are feet: not an ankle's axis above the link that has the sole.

    Args:
        feet: links that look like feet.
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


def bottom_points(shape: Shape, down: np.ndarray) -> np.ndarray:
    """(V, 3) [m] points among which the farthest ones of a shape along a direction (3,) are; link axes."""
    if shape.kind == "mesh":
        return shape.vertices
    axes, centre = shape.rotation, shape.centre
    if shape.kind == "box":
        return _corner_signs() * shape.size @ axes.T + centre
    if shape.kind == "ellipsoid":
        size = np.array(shape.size)
        local = axes.T @ down
        return (centre + axes @ (size**2 * local / np.linalg.norm(size * local)))[None]
    ends = np.zeros((1, 3)) if shape.kind == "sphere" else np.outer([-1.0, 1.0], axes[:, 2] * shape.size[1])
    return centre + ends + shape.size[0] * down


def _find_flat_area(shapes: Sequence[Shape], down: np.ndarray) -> tuple[np.ndarray | None, float]:
    """Corners (V, 3) [m] of what lies in the farthest plane along a direction, seen from there, and its area [m^2]."""
    points = np.vstack([bottom_points(shape, down) for shape in shapes])
    depth = points @ down
    low = points[depth >= depth.max() - FLAT_TOLERANCE]
    first, second = _perpendicular_axes(down)
    try:
        hull = ConvexHull(np.column_stack([low @ first, low @ second]))
    except (QhullError, ValueError):
        return None, 0.0
    flat = low + (depth.max() - low @ down)[:, None] * down
    return flat[hull.vertices], float(hull.volume)


def _fit_plane(shapes: Sequence[Shape], down: np.ndarray, level: np.ndarray) -> np.ndarray:
    """The direction (3,) of the plane under round shapes near to one; that direction where none is round."""
    if not any(shape.kind in ROUND_KINDS for shape in shapes):
        return down
    for step in range(REFINEMENTS):
        points = np.vstack([bottom_points(shape, down) for shape in shapes])
        depth = points @ down
        low = points[depth >= depth.max() - REFINEMENT_DISTANCE / 2**step]
        flat = low - low.mean(axis=0)
        spread, axes = np.linalg.svd(flat)[1:]
        if len(low) < MIN_SPANNING or spread[1] < FLAT_TOLERANCE:
            return down
        laid = axes[2] * np.sign(axes[2] @ down)
        if laid @ level < MIN_LEVEL_COSINE:
            return down
        down = laid
    return down


def _downward_faces(points: np.ndarray, level: np.ndarray) -> list[np.ndarray]:
    """Directions (3,) of the largest faces of the points' hull that look nearly down, the largest first."""
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
    """(V, 3) [m] points that hold a shape, link axes."""
    if shape.kind == "mesh":
        return shape.vertices
    size = np.array(shape.size)
    half = size if shape.kind in ("box", "ellipsoid") else np.full(3, size[0])
    if shape.kind == "capsule":
        half = half + np.array([0.0, 0.0, size[1]])
    return _corner_signs() * half @ shape.rotation.T + shape.centre


def _outline_area(points: np.ndarray, down: np.ndarray) -> float:
    """[m^2] of the points' outline seen along a direction."""
    first, second = _perpendicular_axes(down)
    try:
        return float(ConvexHull(np.column_stack([points @ first, points @ second])).volume)
    except (QhullError, ValueError):
        return 0.0


def _perpendicular_axes(down: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two directions (3,) square to another, so that turns from the first to the second are seen along it."""
    first = np.eye(3)[int(np.argmin(np.abs(down)))]
    first = first - (first @ down) * down
    first /= np.linalg.norm(first)
    return first, np.cross(down, first)


def _corner_signs() -> np.ndarray:
    return np.array(np.meshgrid([-1.0, 1.0], [-1.0, 1.0], [-1.0, 1.0])).reshape(3, -1).T
