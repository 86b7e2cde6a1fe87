"""Where a rig stands on the floor: beside those that are there, and with what it dances."""

from __future__ import annotations

import bpy
from mathutils import Matrix, Vector

from .authoring.ghost import move_sideways
from .bpy_access import armature as armature_of
from .bpy_access import pose_bones, session_id, view_layer
from .scene_rigs import is_rig

DISTANCE_TOLERANCE = 1e-4
"""[m] by which two may stand nearer than is wanted: places are in single precision."""


def avoid_overlap(context: bpy.types.Context, body: bpy.types.Object, *, ignored: int | None = None) -> None:
    """Step aside as far as no armature in sight is in the way, at rest or with its arms spread.

    Args:
        context: of the scene.
        body: an armature; it stays where it is if there it is in nobody's way.
        ignored: whom the body stands beside already, as `session_id` says.
    """
    layer = view_layer(context)
    layer.update()
    seen = (item for item in layer.objects if item.type == "ARMATURE" and item.data.bones and item.visible_get())
    others = [item for item in seen if item != body and session_id(item) != ignored]
    for other in sorted(others, key=lambda item: floor_position(item).y):
        apart, away = 0.5 * (rest_size(body) + rest_size(other)), floor_position(body) - floor_position(other)
        if away.length < apart - DISTANCE_TOLERANCE:
            move_sideways(body, apart - away.y)
            layer.update()


def floor_position(body: bpy.types.Object) -> Vector:
    """Where on the floor [m] the first bone of an armature is now."""
    return (body.matrix_world @ pose_bones(body)[0].head).to_2d()


def rest_size(body: bpy.types.Object) -> float:
    """How far [m] the bones of an armature reach at rest along an axis of the world: of who stands, the height."""
    world, bones = body.matrix_world, armature_of(body).bones
    ends = [world @ end for bone in bones for end in (bone.head_local, bone.tail_local)]
    return max(max(end[axis] for end in ends) - min(end[axis] for end in ends) for axis in range(3))


def floor_matrix(body: bpy.types.Object | None) -> Matrix:
    """Where on the floor a rig was put, and where it was turned: its object's place without height and tilt."""
    if body is None or not is_rig(body):
        return Matrix.Identity(4)
    place, turn, _ = body.matrix_world.decompose()
    return Matrix.Translation((place.x, place.y, 0.0)) @ Matrix.Rotation(turn.to_euler().z, 4, "Z")
