"""Links that lie in the hulls of others while every joint is at zero: their meshes are taken apart.

A hull of a chest fills the armpits, one of a gripper's bracket the room of its finger. Where nothing is near, one hull
a mesh is enough and cheaper; where something is, pieces tell whether it touches.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations, product

import numpy as np

from ..errors import InputError
from ..joints import Joint
from ..shape import Shape
from .meshes import MeshSource, gap, hull, load_mesh, solid
from .pieces import convex_pieces
from .solids import bounds

NEAR = 0.005
"""[m] Hulls nearer than this nestle."""
LEAST, MOST = 3, 5
"""Joints between links that are near by their build and yet may hit each other, as an upper arm and the chest. Closer
ones turn in each other's sockets; others are brought together by posture, where hulls are cautious and enough."""


def in_pieces(
    shapes: Sequence[Shape],
    sources: Sequence[MeshSource | None],
    joints: Sequence[Joint],
    links: Sequence[str],
    rest: tuple[np.ndarray, np.ndarray],
) -> tuple[Shape, ...]:
    """The shapes, with convex pieces in the place of the hulls of links that nestle with others.

    Args:
        shapes: of all links.
        sources: of each the mesh file that it is the hull of, if it is.
        joints: L, which move the links.
        links: L names.
        rest: axes (L, 3, 3) and origins (L, 3) [m] of the links, every joint at zero.
    """
    nestled = _nestled(shapes, joints, links, rest)
    result: list[Shape] = []
    for shape, source in zip(shapes, sources, strict=True):
        result += _pieces(shape, source) if source is not None and shape.link in nestled else [shape]
    return tuple(result)


def _pieces(shape: Shape, source: MeshSource) -> list[Shape]:
    if source.drawn is None:
        pieces = _of_file(str(source.path), tuple(source.scale.tolist()))
    else:
        pieces = convex_pieces(*source.drawn)
    if len(pieces) == 1:
        return [shape]
    try:
        return [hull(shape.link, own @ source.rotation.T + source.position, source.path) for own in pieces]
    except InputError:  # a flat piece has no hull
        return [shape]


@lru_cache(maxsize=64)
def _of_file(path: str, scale: tuple[float, ...]) -> list[np.ndarray]:
    """Both sides of a robot often share their meshes."""
    from pathlib import Path

    return convex_pieces(*load_mesh(Path(path), np.array(scale)))


def _nestled(
    shapes: Sequence[Shape], joints: Sequence[Joint], links: Sequence[str], rest: tuple[np.ndarray, np.ndarray]
) -> set[str]:
    """Links whose hulls come near others' of the same limb or of the same coupled mechanism."""
    turns, places = rest
    own = [links.index(shape.link) for shape in shapes]
    placed = [_corners(shape) @ turns[k].T + places[k] for shape, k in zip(shapes, own)]
    lower, upper = (np.array([f(points, axis=0) for points in placed]).reshape(-1, 3) for f in (np.min, np.max))
    asked = _related(joints)
    solids: dict[int, object] = {}
    result: set[str] = set()
    for i, j in combinations(range(len(shapes)), 2):
        both = {shapes[i].link, shapes[j].link}
        if not asked[own[i], own[j]] or both <= result:
            continue
        if (lower[i] > upper[j] + NEAR).any() or (lower[j] > upper[i] + NEAR).any():
            continue
        for k in (i, j):
            if k not in solids:
                solids[k] = solid(placed[k])
        if gap(solids[i], solids[j]) < NEAR:
            result |= both
    return result


def _related(joints: Sequence[Joint]) -> np.ndarray:
    """(L, L) True for links of one limb, and for those that one coupled mechanism moves or carries."""
    number = {joint.name: k for k, joint in enumerate(joints)}
    between = np.zeros((len(joints), len(joints)), int)
    mechanism: dict[str, set[int]] = {}
    for link, joint in enumerate(joints[1:], start=1):
        between[link, :link] = between[:link, link] = between[joint.parent, :link] + 1
        if joint.mimic is not None and joint.mimic.source in number:
            source = number[joint.mimic.source]
            mechanism.setdefault(joint.mimic.source, set()).update((link, joint.parent, source, joints[source].parent))
    result = (between >= LEAST) & (between <= MOST)
    for members in mechanism.values():
        inside = np.ix_(sorted(members), sorted(members))
        result[inside] |= between[inside] >= 2
    return result


def _corners(shape: Shape) -> np.ndarray:
    """(V, 3) [m] points around a shape, link axes."""
    if shape.kind == "mesh":
        return shape.vertices
    low, high = bounds(shape)
    return np.array(list(product(*zip(low, high))))
