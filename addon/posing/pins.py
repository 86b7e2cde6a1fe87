"""Points by which a body is dragged, and pinned ones, which stay in place; they are stored on the armature."""

from __future__ import annotations

import bpy
import numpy as np
from mathutils import Vector

from ..base import bpy_access
from ..base.change_cache import cached_until_change
from ..base.solver_api import find_handles
from ..scene.armature import bone_axes, rig_of

PINS_KEY = "exciting_dance_pins"
"""Custom property of the armature object: pinned points (3,) [m], link axes, by link."""


def pinned_points(body: bpy.types.Object) -> dict[str, np.ndarray]:
    """Pinned points (3,) [m] in link axes by link; of bones that no longer exist there are none."""
    stored = body.get(PINS_KEY)
    if not hasattr(stored, "items"):
        return {}
    bones = bpy_access.pose_bones(body)
    points = {name: np.array(point, float) for name, point in stored.items() if name in bones}
    return {name: point for name, point in points.items() if point.shape == (3,) and np.isfinite(point).all()}


def toggle_pin(body: bpy.types.Object, link: str, point: np.ndarray) -> bool:
    """Pin a point (3,) of a link, or remove its pin; whether it is pinned now."""
    points = pinned_points(body)
    if link in points:
        del points[link]
    else:
        points[link] = np.asarray(point, float)
    if points:
        body[PINS_KEY] = {name: place.tolist() for name, place in points.items()}
    elif PINS_KEY in body:
        del body[PINS_KEY]
    return link in points


def handle_points(body: bpy.types.Object) -> dict[str, Vector]:
    """Points of a rig's handles in the axes of their bones, by link."""
    return cached_until_change("handles", body, lambda: _find_points(body), kinds=("ARMATURE",))


def handle_point(body: bpy.types.Object, link: str) -> np.ndarray:
    """The point (3,) [m] of a link, link axes, by which it is dragged: that of its handle, or its origin.

    Raises:
        UnknownLink: the bone is no link of the rig.
    """
    rig = rig_of(body)
    rig.index(link)
    return find_handles(rig).get(link, np.zeros(3))


def _find_points(body: bpy.types.Object) -> dict[str, Vector]:
    rig = rig_of(body)
    axes = bone_axes(body, rig)
    return {link: Vector((axes[rig.index(link)].T @ point).tolist()) for link, point in find_handles(rig).items()}
