"""Convex decomposition of meshes whose hulls overlap other links' hulls while every joint is at zero.

The hull of a chest fills the armpits, and the hull of a gripper's bracket fills the space of its finger. One hull per
mesh is enough, and cheaper, if no other link is near. Otherwise convex pieces resolve whether links touch. Pieces are
not used if they are as close as the hulls or overlap too, as in a closed hand, because each distance would then cost up
to sixty-four.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations, product
from typing import Any

import numpy as np

from ..errors import InputError
from ..joints import Joint
from ..shape import Shape
from .convex_decomposition import decompose_convex
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
    from pathlib import Path

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
