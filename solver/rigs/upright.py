"""Which axis of a robot's file points up: z by the field's habit, y where an engine or a biomechanist wrote it."""

from __future__ import annotations

import numpy as np

from ..errors import InvalidValue
from .urdf_geometry import ANKLE, FOOT
from .urdf_tree import MovingBodies

UP = ("auto", "y", "z")
"""Axes that may be stated, and finding out."""
DOMINANT = 2.0
"""The axis from the feet to the root is the one along which they are this much farther apart than along the others."""
TURNED = {"z": np.eye(3), "y": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])}
"""(3, 3) axes of a file in the world, by the axis that points up."""


def upright(bodies: MovingBodies, origins: np.ndarray, stated: str = "auto") -> str:
    """The axis that points up: the stated one, or that from what is called feet to the root.

    Args:
        bodies: as the file has them.
        origins: (L, 3) [m] of the moving links, every joint at zero, the file's axes.
        stated: one of `UP`.

    Raises:
        InvalidValue: another axis is stated.
    """
    if stated not in UP:
        raise InvalidValue(f"up is {stated!r}, none of {', '.join(UP)}")
    if stated != "auto":
        return stated
    merged = bodies.merged
    for pattern in (FOOT, ANKLE):
        feet = [k for k, link in enumerate(bodies.links) if any(pattern.search(body) for body in merged[link])]
        if feet:
            return _axis(origins[0] - origins[feet].mean(axis=0))
    return "z"


def _axis(way: np.ndarray) -> str:
    across = float(np.hypot(way[0], way[2]))
    return "y" if way[1] > DOMINANT * across else "z"
