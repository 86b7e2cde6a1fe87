"""How a robot of a file stands: which of its axes points up, and which link the free flyer moves.

z points up by the field's habit, y where an engine or a biomechanist wrote the file. The free flyer moves the file's
root unless both legs hang on another link: many files begin with the trunk, below which a waist turns.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..errors import InvalidValue
from ..joints import rest_of
from .urdf_document import UrdfDocument
from .urdf_geometry import ANKLE, FOOT
from .urdf_tree import REVERSIBLE, MovingBodies, moving_bodies, way_up

UP = ("auto", "y", "z")
"""Axes that may be stated, and finding out."""
DOMINANT = 2.0
"""The axis from the feet to the root is the one along which they are this much farther apart than along the others."""
TURNED = {"z": np.eye(3), "y": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])}
"""(3, 3) axes of a file in the world, by the axis that points up."""


def standing_bodies(
    document: UrdfDocument, up: str = "auto", feet: Sequence[str] | None = None
) -> tuple[MovingBodies, str, tuple[str, ...]]:
    """What moves, z up, below the link from which both legs part; the file's axis that points up; what was done.

    Args:
        document: as read.
        up: one of `UP`: the stated axis, or that from what is called feet to the root.
        feet: links of the file that are feet; by their names if None.

    Raises:
        InvalidValue: another axis is stated.
    """
    bodies = moving_bodies(document)
    turns, origins = rest_of(bodies.joints)
    named = _feet(bodies, feet)
    up = _up(origins, named, up)
    turned = f"{up} points up in the file: the root link is turned so that z does"
    notes: tuple[str, ...] = () if up == "z" else (turned,)
    top = _parting(bodies, named)
    if top and all(joint.kind in REVERSIBLE for joint in way_up(document, bodies.links[top])):
        root = bodies.links[top]
        notes += (f"the root is {root}, from which both legs part, not the file's {bodies.links[0]}",)
        return moving_bodies(document, TURNED[up] @ turns[top], root), up, notes
    return (bodies if up == "z" else moving_bodies(document, TURNED[up])), up, notes


def _feet(bodies: MovingBodies, stated: Sequence[str] | None) -> list[int]:
    """Moving links that hold the stated bodies, or those called feet, or else ankles."""
    merged = [bodies.merged[link] for link in bodies.links]
    if stated is not None:
        return [k for k, own in enumerate(merged) if set(own) & set(stated)]
    for pattern in (FOOT, ANKLE):
        if found := [k for k, own in enumerate(merged) if any(pattern.search(body) for body in own)]:
            return found
    return []


def _up(origins: np.ndarray, feet: Sequence[int], stated: str) -> str:
    if stated not in UP:
        raise InvalidValue(f"up is {stated!r}, none of {', '.join(UP)}")
    if stated != "auto":
        return stated
    if not feet:
        return "z"
    way = origins[0] - origins[list(feet)].mean(axis=0)
    return "y" if way[1] > DOMINANT * float(np.hypot(way[0], way[2])) else "z"


def _parting(bodies: MovingBodies, feet: Sequence[int]) -> int:
    """The link that carries all feet, each on a chain of its own."""
    ways = []
    for link in feet:
        way = [link]
        while way[-1] > 0:
            way.append(bodies.joints[way[-1]].parent)
        ways.append(way[::-1])
    shared = [links[0] for links in zip(*ways) if len(set(links)) == 1]
    return shared[-1] if shared and shared[-1] not in feet else 0
