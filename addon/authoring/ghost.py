"""The ghost: a translucent copy of a body that shows a proposed dance until it is applied or discarded."""

from __future__ import annotations

import bpy
import numpy as np
from mathutils import Matrix

from ..base import bpy_access
from ..base.scene_rigs import RIG_KEY
from ..base.solver_api import errors
from ..base.transaction import all_or_nothing
from ..scene import scores
from ..scene.action import assign_action, curves_of, key_frames
from ..scene.armature import DIGEST_KEY, local_collection, move_sideways, rig_of, shape_objects
from ..scene.colours import plain_material, srgb_to_linear
from ..scene.skin import deform_by, is_skin
from .dance_import import COUNT_PREFIX, ImportedDance, add_dance_action
from .timeline import read_key_roles

GHOST_KEY = "exciting_dance_ghost"
"""Custom property of the ghost's armature object: its body."""
OPERATION_KEY = "exciting_dance_done"
"""Custom property of the ghost's armature object: what was done to the dance, in one word."""
COLOUR, OPACITY = (0.05, 0.55, 0.95), 0.35
"""sRGB and opacity of the ghost."""
NAME = "Ghost"
BESIDE_DISTANCE = 1.1
"""Distance between a ghost and its body, in leg lengths."""
SURFACE_OFFSET = 0.004
"""Offset of a ghost's surfaces, in leg lengths, so that they do not flicker with the body's."""


def find_ghost(scene: bpy.types.Scene, body: bpy.types.Object) -> bpy.types.Object | None:
    """The ghost of a body; None without one."""
    return next((item for item in scene.objects if item.get(GHOST_KEY) == body), None)


def show_ghost(
    context: bpy.types.Context, body: bpy.types.Object, dance: ImportedDance, name: str, *, beside: bool
) -> None:
    """Show a dance as the body's ghost, replacing an earlier ghost; the body is not changed.

    Args:
        context: its scene receives the ghost.
        body: a rig.
        dance: a dance with a motion of that rig.
        name: name of the ghost's action.
        beside: whether the ghost stands beside the body instead of at the same place.
    """
    scene = bpy_access.scene(context)
    earlier = find_ghost(scene, body)
    with all_or_nothing():
        ghost = _static_copy(body)
        collection = bpy.data.collections.new(NAME)
        local_collection(scene, body).children.link(collection)
        collection.objects.link(ghost)
        add_dance_action(scene, body, ghost, dance, name)
        for key in (RIG_KEY, DIGEST_KEY):
            del bpy_access.armature(ghost)[key]
        for shape in shape_objects(body):
            _copy_shape(shape, ghost, collection, SURFACE_OFFSET * rig_of(body).leg_length)
        ghost[GHOST_KEY] = body
        place_ghost(body, ghost, beside=beside)
        for item in collection.objects:
            item.hide_select, item.hide_render = True, True
        ghost.hide_viewport = True  # hides the bones; the shapes on them stay visible
    if earlier is not None:
        remove_ghost(earlier)


def place_ghost(body: bpy.types.Object, ghost: bpy.types.Object, *, beside: bool) -> None:
    """Place a ghost at its body or beside it."""
    ghost.matrix_world = body.matrix_world
    if beside:
        move_sideways(ghost, BESIDE_DISTANCE * rig_of(body).leg_length)


def apply_ghost(context: bpy.types.Context, body: bpy.types.Object) -> bpy.types.Action:
    """Apply a ghost's action to its body; the body's earlier action stays in the file under another name.

    Returns:
        the earlier action, whose name the new one gets.

    Raises:
        InvalidValue: there is no ghost.
    """
    ghost = find_ghost(bpy_access.scene(context), body)
    if ghost is None:
        raise errors.InvalidValue(f"{body.name!r} has no ghost to apply: balance or complete its dance first")
    moving = bpy_access.require(ghost.animation_data, "animation of the ghost")
    made, slot = bpy_access.require(moving.action, "action of the ghost"), moving.action_slot
    excited = scores.read_stored_scores(made)
    old, before = body.animation_data.action if body.animation_data else None, list(read_key_roles(body))
    assign_action(body, made, slot)
    for key in list(ghost.keys()):
        if key.startswith("on floor: "):
            body[key] = ghost[key]
    if excited is not None:
        scores.write_scores(body, *excited)
    remove_ghost(ghost)
    scene, after = bpy_access.scene(context), list(read_key_roles(body))
    counts = [marker for marker in scene.timeline_markers if marker.name.startswith(COUNT_PREFIX)]
    for marker in counts if len(before) == len(after) else []:  # a slower dance has the same keys at other frames
        marker.frame = round(float(np.interp(marker.frame, before, after)))
    ends = [key_frames(curve)[-1] for curve in curves_of(body) if len(curve.keyframe_points)]
    scene.frame_end = max(scene.frame_end, round(max(ends)))
    if old is None:
        return made
    name = old.name
    if old.library is None:  # a linked action keeps its name and stays in its file
        old.name, old.use_fake_user = f"{name} before", True
    made.name = name
    return old


def discard_ghost(context: bpy.types.Context, body: bpy.types.Object) -> None:
    """Remove the ghost and its action."""
    ghost = find_ghost(bpy_access.scene(context), body)
    if ghost is not None:
        made = ghost.animation_data.action if ghost.animation_data else None
        remove_ghost(ghost)
        if made is not None and made.users == 0:
            bpy.data.actions.remove(made)


def remove_ghost(ghost: bpy.types.Object) -> None:
    """Remove a ghost's objects and their data; its action stays."""
    data, collections = bpy_access.armature(ghost), list(ghost.users_collection)
    meshes = [bpy_access.mesh(shape) for shape in ghost.children]
    bpy.data.batch_remove([*ghost.children, ghost])
    bpy.data.batch_remove([data, *(mesh for mesh in meshes if not mesh.users)])
    bpy.data.batch_remove([collection for collection in collections if not collection.objects])
    material = bpy.data.materials.get(NAME)
    if material is not None and not material.users:
        bpy.data.materials.remove(material)


def _static_copy(body: bpy.types.Object) -> bpy.types.Object:
    """A copy with the same bones and rotation modes, but without constraints, animation and parent."""
    ghost = bpy_access.local_copy(body)
    ghost.name, ghost.data = f"{body.name} {NAME.lower()}", bpy_access.armature(body).copy()
    ghost.parent = None
    ghost.animation_data_clear()
    for bone in bpy_access.pose_bones(ghost):
        bone.matrix_basis = Matrix()  # also of a character's bones that are no links
    for owner in (ghost, *bpy_access.pose_bones(ghost)):
        for constraint in list(owner.constraints):
            owner.constraints.remove(constraint)
    return ghost


def _copy_shape(
    shape: bpy.types.Object, ghost: bpy.types.Object, collection: bpy.types.Collection, offset: float
) -> None:
    made = bpy_access.local_copy(shape)
    made.name = f"{shape.name} {NAME.lower()}"
    collection.objects.link(made)
    back = shape.matrix_parent_inverse.copy()
    made.parent = ghost
    made.matrix_parent_inverse = back  # setting the parent resets it
    if is_skin(made):
        deform_by(made, ghost)
    if not made.material_slots:
        made.data = bpy_access.mesh(shape).copy()
        bpy_access.mesh(made).materials.append(_ghost_material())
    made.color = (*srgb_to_linear(COLOUR)[:3], OPACITY)  # type: ignore[assignment]
    for slot in made.material_slots:
        slot.link, slot.material = "OBJECT", _ghost_material()
    outside: bpy.types.DisplaceModifier = made.modifiers.new("Outside the body", "DISPLACE")  # type: ignore[assignment]
    outside.strength, outside.mid_level = offset, 0.0


def _ghost_material() -> bpy.types.Material:
    found = bpy.data.materials.get(NAME)
    if found is None:
        found = plain_material(NAME, COLOUR, alpha=OPACITY)
        if hasattr(found, "surface_render_method"):
            found.surface_render_method = "BLENDED"
    return found
