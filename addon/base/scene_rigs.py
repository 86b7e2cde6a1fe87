"""Finds the rigs of a scene and the active one. Cheap, because every panel, button and overlay calls it."""

from __future__ import annotations

import bpy

from . import bpy_access

RIG_KEY = "exciting_dance_rig"
"""Custom property of the armature data: the rig as text."""


def is_rig(item: bpy.types.Object) -> bool:
    """Whether an object is an armature that this add-on built."""
    return isinstance(item.data, bpy.types.Armature) and RIG_KEY in item.data


def active_rig(context: bpy.types.Context) -> bpy.types.Object | None:
    """The rig that operators and panels use: the active object, its parent, or the only visible rig."""
    active = context.view_layer.objects.active
    for candidate in (active, active.parent if active else None):
        if candidate is not None and is_rig(candidate):
            return candidate
    rigs = [item for item in find_rigs(bpy_access.scene(context)) if item.visible_get()]
    return rigs[0] if len(rigs) == 1 else None


def find_rigs(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """The rigs of a scene."""
    return [item for item in scene.objects if item.type == "ARMATURE" and is_rig(item)]


def assigning_problem(item: bpy.types.Object | None) -> str:
    """What to do before an object can get another action, as one clause; empty if it can."""
    if item is None or item.animation_data is None or not item.animation_data.use_tweak_mode:
        return ""
    return f"leave tweak mode of the NLA strip of {item.name} (Tab in the NLA editor)"


def is_possible_character(item: bpy.types.Object | None) -> bool:
    """Whether an object is an armature without a rig, or a mesh that one deforms."""
    if item is None:
        return False
    deforming = (m.object for m in item.modifiers if isinstance(m, bpy.types.ArmatureModifier))
    return any(
        found is not None and isinstance(found.data, bpy.types.Armature) and not is_rig(found)
        for found in (item, *deforming)
    )
