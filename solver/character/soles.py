"""Soles of a character: the outline of the lowest part of each foot."""

from __future__ import annotations

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from ..patch import ContactPolygon

SOLE_FRACTION = 0.012
"""Height above a foot's lowest point, as a fraction of the character's height, up to which it touches the floor."""
CORNERS = 8
"""Largest number of corners of a sole."""


def find_character_sole(
    name: str, link: str, points: np.ndarray, height: float, frame: tuple[np.ndarray, np.ndarray]
) -> ContactPolygon | None:
    """The sole of a foot; None if its lowest part is not an area.

    Args:
        name: of the patch.
        link: the foot.
        points: (V, 3) [m] of the foot's surface in rest pose.
        height: [m] of the character.
        frame: axes (3, 3) and origin (3,) [m] of the link in rest pose.
    """
    floor = float(points[:, 2].min())
    flat = points[points[:, 2] <= floor + SOLE_FRACTION * height, :2]
    try:
        outline = flat[ConvexHull(flat).vertices]
    except (QhullError, ValueError):
        return None
    angles = 2.0 * np.pi * np.arange(CORNERS) / CORNERS
    directions = np.column_stack([np.cos(angles), np.sin(angles)])
    corners = list(dict.fromkeys((outline @ directions.T).argmax(axis=0).tolist()))
    kept = outline[sorted(corners)][::-1]  # counter-clockwise from below
    rotation, origin = frame
    world = np.column_stack([kept, np.full(len(kept), floor)])
    return ContactPolygon(name, link, (world - origin) @ rotation) if len(kept) >= 3 else None
