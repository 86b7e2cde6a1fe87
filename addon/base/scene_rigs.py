"""Finds the rigs of a scene and the active one. Cheap, because every panel, button and overlay calls it."""

from __future__ import annotations

import bpy
from bpy_extras import anim_utils

from . import bpy_access

RIG_KEY = "exciting_dance_rig"
"""Custom property of the armature data: the rig as text."""
FEWEST_BONES = 7
"""Bones of a body that can be followed: a pelvis and three in each leg."""


def is_rig(item: bpy.types.Object) -> bool:
    """Whether an object is an armature that this add-on built."""
    return isinstance(item.data, bpy.types.Armature) and RIG_KEY in item.data


def active_rig(context: bpy.types.Context) -> bpy.types.Object | None:
    """The rig that operators and panels use: the active object's, or the only visible rig if the active object has no
    armature of its own."""
    active = context.view_layer.objects.active
    own = find_armatures(active)
    for candidate in (*own, active.parent if active else None):
        if candidate is not None and is_rig(candidate):
            return candidate
    rigs = [] if own else [item for item in find_rigs(bpy_access.scene(context)) if item.visible_get()]
    return rigs[0] if len(rigs) == 1 else None


def find_armatures(item: bpy.types.Object | None) -> list[bpy.types.Object]:
    """The armature that an object is, or those that deform it or that it is parented to; empty for others."""
    if item is None or item.type == "ARMATURE":
        return [] if item is None else [item]
    modifiers = [m.object for m in item.modifiers if isinstance(m, bpy.types.ArmatureModifier) and m.show_viewport]
    parents = [item.parent] if item.parent is not None and item.parent.type == "ARMATURE" else []
    return list(dict.fromkeys(found for found in (*modifiers, *parents) if found is not None))


def find_foreign_armature(context: bpy.types.Context) -> bpy.types.Object | None:
    """The active object's armature if this add-on did not build it; None without one."""
    own = find_armatures(context.view_layer.objects.active)
    return own[0] if own and active_rig(context) is None else None


def find_source(context: bpy.types.Context) -> bpy.types.Object | None:
    """The armature whose motion can be retargeted: the active object's, or the active rig, if anything moves it."""
    source = find_foreign_armature(context) or active_rig(context)
    return source if moves(source) and len(source.data.bones) >= FEWEST_BONES else None


def moves(item: bpy.types.Object | None) -> bool:
    """Whether curves, the NLA, drivers, other objects or a parent move an object or its bones."""
    if item is None:
        return False
    animation, bones = item.animation_data, item.pose.bones if item.pose else ()
    if animation is not None:
        strips = animation.use_nla and any(not track.mute and len(track.strips) for track in animation.nla_tracks)
        played, slot = animation.action, animation.action_slot
        bag = (
            anim_utils.action_get_channelbag_for_slot(played, slot) if played is not None and slot is not None else None
        )
        if strips or len(animation.drivers) or (bag is not None and len(bag.fcurves)):
            return True
    followed = (getattr(each, "target", None) for owner in (item, *bones) for each in owner.constraints if each.enabled)
    return any(target not in (None, item) for target in followed) or moves(item.parent)


def has_mesh(scene: bpy.types.Scene, armature: bpy.types.Object) -> bool:
    """Whether a visible mesh follows an armature, which is a character then."""
    return any(
        item.type == "MESH" and armature in find_armatures(item) and item.visible_get() for item in scene.objects
    )


def find_rigs(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """The rigs of a scene."""
    return [item for item in scene.objects if item.type == "ARMATURE" and is_rig(item)]


def assigning_problem(item: bpy.types.Object | None) -> str:
    """What to do before an object can get another action, as one clause; empty if it can."""
    if item is None or item.animation_data is None or not item.animation_data.use_tweak_mode:
        return ""
    return f"leave tweak mode of the NLA strip of {item.name} (Tab in the NLA editor)"
