"""Which objects of a scene are rigs, and which one is meant. Cheap: every panel, button and overlay asks first."""

from __future__ import annotations

import bpy

from . import bpy_access as typed

RIG_KEY = "exciting_dance_rig"
"""Custom property of the armature data: the rig by value, as text."""


def is_rig(item: bpy.types.Object) -> bool:
    """Whether an object is an armature that this add-on made."""
    return isinstance(item.data, bpy.types.Armature) and RIG_KEY in item.data


def active_rig(context: bpy.types.Context) -> bpy.types.Object | None:
    """The rig that the user means: the active object, its parent, or the only rig of the scene."""
    active = context.view_layer.objects.active
    for candidate in (active, active.parent if active else None):
        if candidate is not None and is_rig(candidate):
            return candidate
    rigs = [item for item in find_rigs(typed.scene(context)) if item.visible_get()]
    return rigs[0] if len(rigs) == 1 else None


def find_rigs(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """The rigs of a scene."""
    return [item for item in scene.objects if item.type == "ARMATURE" and is_rig(item)]
