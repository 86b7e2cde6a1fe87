"""Placement of rigs on the floor without overlap."""

from __future__ import annotations

from collections.abc import Iterator

import bpy
from mathutils import Matrix, Vector

from ..base.bpy_access import armature as armature_of
from ..base.bpy_access import pose_bones, session_id, view_layer
from ..base.scene_rigs import is_rig
from .armature import move_sideways
from .recording import RECORDING_KEY

LARGEST_OBSTACLE = 2.0
"""Largest extent of an object that a body avoids, in sizes of the body: a larger one is a stage or a room."""
LARGEST_ARMATURE = 20.0
"""The same of an armature: a larger one is in centimetres, as a BVH at the importer's own scale. A person is four
times as large as a small robot."""
DISTANCE_TOLERANCE = 1e-4
"""[m] Tolerance of distances, because Blender stores locations in single precision."""


def avoid_overlap(context: bpy.types.Context, body: bpy.types.Object, *, ignored: int | None = None) -> None:
    """Move an armature sideways until it overlaps no other visible armature or mesh, also with arms spread.

    Args:
        context: of the scene.
        body: an armature; it stays in place if nothing overlaps.
        ignored: session id of an armature that is ignored because the body was already placed beside it.
    """
    layer = view_layer(context)
    layer.update()
    visible = (item for item in layer.objects if item.type == "ARMATURE" and item.data.bones and item.visible_get())
    armatures = [
        (floor_position(item), rest_size(item)) for item in visible if item != body and session_id(item) != ignored
    ]
    size = rest_size(body)
    others = [found for found in armatures if found[1] <= LARGEST_ARMATURE * size]
    others += [mesh for mesh in _mesh_places(layer, body) if mesh[1] <= LARGEST_OBSTACLE * size]
    for place, extent in sorted(others, key=lambda found: found[0].y):
        distance, offset = 0.5 * (size + extent), floor_position(body) - place
        if offset.length < distance - DISTANCE_TOLERANCE:
            move_sideways(body, distance - offset.y)
            layer.update()


def _mesh_places(layer: bpy.types.ViewLayer, body: bpy.types.Object) -> Iterator[tuple[Vector, float]]:
    """Position (2,) [m] and extent [m] on the floor of every visible mesh below the top of a body, except of rigs."""
    top = max((body.matrix_world @ bone.head_local).z for bone in armature_of(body).bones)
    for item in layer.objects:
        if item.type == "MESH" and item.parent is None and RECORDING_KEY not in item and item.visible_get():
            corners = [item.matrix_world @ Vector(corner) for corner in item.bound_box]
            low, high = (Vector([choose(axis) for axis in zip(*corners, strict=True)]) for choose in (min, max))
            if low.z < top:
                yield 0.5 * (low + high).to_2d(), max(high.x - low.x, high.y - low.y)


def floor_position(body: bpy.types.Object) -> Vector:
    """Position (2,) [m] of an armature's first bone, projected to the floor."""
    return (body.matrix_world @ pose_bones(body)[0].head).to_2d()


def rest_size(body: bpy.types.Object) -> float:
    """Largest extent [m] of an armature's bones in rest pose along a world axis: the height of a standing body."""
    world, bones = body.matrix_world, armature_of(body).bones
    ends = [world @ end for bone in bones for end in (bone.head_local, bone.tail_local)]
    return max(max(end[axis] for end in ends) - min(end[axis] for end in ends) for axis in range(3))


def floor_matrix(body: bpy.types.Object | None) -> Matrix:
    """Location and heading of a rig's object on the floor, without height and tilt."""
    if body is None or not is_rig(body):
        return Matrix.Identity(4)
    location, rotation, _ = body.matrix_world.decompose()
    return Matrix.Translation((location.x, location.y, 0.0)) @ Matrix.Rotation(rotation.to_euler().z, 4, "Z")
