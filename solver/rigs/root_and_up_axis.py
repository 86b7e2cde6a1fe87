"""Vertical axis of a robot's file, and the link that the free flyer moves.

z usually points up; y does in files of game engines and some biomechanical models. The free flyer moves the file's root
link unless both legs are attached to another link, since in many files the root is the trunk, above a waist joint.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..base.errors import InvalidValue
from ..values.joints import rest_poses
from .moving_bodies import REVERSIBLE, MovingBodies, find_moving_bodies, path_to_root
from .urdf_document import UrdfDocument
from .urdf_geometry import ANKLE_NAMES, FOOT_NAMES

UP_CHOICES = ("auto", "y", "z")
"""Vertical axes that may be specified; ``"auto"`` detects it."""
AXIS_DOMINANCE = 2.0
"""The distance from feet to root along the vertical axis must exceed that along the others by this factor. Measured on
the models of `soles.MIN_FLAT_FRACTION`: a tenth and ten times the value find the same axis."""
FILE_TO_WORLD = {"z": np.eye(3), "y": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])}
"""Rotation (3, 3) from a file's axes to the world, by the axis that points up. By definition."""


def find_root_and_up(
    document: UrdfDocument, up: str = "auto", feet: Sequence[str] | None = None
) -> tuple[MovingBodies, str, tuple[str, ...]]:
    """Moving bodies, z up, with the link that carries both legs as root; the file's vertical axis; and notes.

    Args:
        document: as read.
        up: one of `UP_CHOICES`: the vertical axis, or the axis from the feet to the root.
        feet: links of the file that are feet; by their names if None.

    Raises:
        InvalidValue: another axis is specified.
    """
    bodies = find_moving_bodies(document)
    origins = rest_poses(bodies.joints)[1]
    named = _find_feet(bodies, feet)
    up = _find_up(bodies, origins, named, up)
    turned = f"{up} points up in the file: the root link is rotated so that z points up"
    notes: tuple[str, ...] = () if up == "z" else (turned,)
    top = _find_leg_parent(bodies, named)
    if top and all(joint.kind in REVERSIBLE for joint in path_to_root(document, bodies.links[top])):
        root = bodies.links[top]
        notes += (f"the root is {root}, which carries both legs, not the file's {bodies.links[0]}",)
        return place_bodies(document, root, up), up, notes
    return (bodies if up == "z" else place_bodies(document, bodies.links[0], up)), up, notes


def place_bodies(document: UrdfDocument, root: str, up: str) -> MovingBodies:
    """Moving bodies, z up, with a link as root, in whose frame the axes are those of the file.

    Args:
        document: as read.
        root: link that the free flyer moves.
        up: vertical axis of the file.
    """
    bodies = find_moving_bodies(document)
    turn = rest_poses(bodies.joints)[0][bodies.links.index(root)]
    return find_moving_bodies(document, FILE_TO_WORLD[up] @ turn, root)


def _find_feet(bodies: MovingBodies, specified: Sequence[str] | None) -> list[int]:
    """Moving links with the specified bodies, or with bodies named as feet, or else as ankles."""
    merged = [bodies.bodies_by_link[link] for link in bodies.links]
    if specified is not None:
        return [k for k, own in enumerate(merged) if set(own) & set(specified)]
    for pattern in (FOOT_NAMES, ANKLE_NAMES):
        if found := [k for k, own in enumerate(merged) if any(pattern.search(body) for body in own)]:
            return found
    return []


def _find_up(bodies: MovingBodies, origins: np.ndarray, feet: Sequence[int], specified: str) -> str:
    """Axis along which the legs hang from the first links on their chains: a root may lie on the floor."""
    if specified not in UP_CHOICES:
        raise InvalidValue(f"up = {specified!r}, none of {', '.join(UP_CHOICES)}")
    if specified != "auto":
        return specified
    if not feet:
        return "z"
    tops = [chain[min(1, max(0, len(chain) - 2))] for chain in _chains(bodies, feet)]
    way = origins[tops].mean(axis=0) - origins[list(feet)].mean(axis=0)
    return "y" if way[1] > AXIS_DOMINANCE * float(np.hypot(way[0], way[2])) else "z"


def _find_leg_parent(bodies: MovingBodies, feet: Sequence[int]) -> int:
    """Index of the link that carries all feet, each on a separate chain; 0 without one."""
    shared = [links[0] for links in zip(*_chains(bodies, feet)) if len(set(links)) == 1]
    return shared[-1] if shared and shared[-1] not in feet else 0


def _chains(bodies: MovingBodies, feet: Sequence[int]) -> list[list[int]]:
    """Links from the root to each foot."""
    chains = []
    for link in feet:
        chain = [link]
        while chain[-1] > 0:
            chain.append(bodies.joints[chain[-1]].parent)
        chains.append(chain[::-1])
    return chains
