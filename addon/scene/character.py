"""An animator's own character: reads its bones, surface and weights, and makes its armature a rig."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from mathutils import Matrix

from ..base import bpy_access, convert
from ..base.scene_rigs import find_armatures
from ..base.solver_api import BONE_LINKS, errors
from .action import curves_of
from .armature import bone_axes, store_rig
from .skin import BONE_LINKS_KEY, LINK_ATTRIBUTE, SKIN_KEY, restore_materials
from .toes import drive_bones

if TYPE_CHECKING:
    from ..base.solver_api import Character, Rig, Skeleton

TOLERANCE = 1e-4
"""Largest difference of scales, and of the cosine of a tilt from 1, that is ignored."""
SCALE_TOLERANCE = 1e-3
"""Largest relative difference of a bone's scale from 1 that is ignored: imports round."""
HELPER_DISPLAY = ("WIRE", "BOUNDS")
"""Display types of meshes that are no part of the body, such as collision objects."""
CHANNELS = ("rotation", "scale", "delta")


def find_armature(item: bpy.types.Object | None) -> bpy.types.Object:
    """The armature of a character: the object itself, or the one that deforms it.

    Raises:
        InvalidValue: no armature, several that deform the object, or one that is a rig already.
    """
    found = find_armatures(item)
    if item is None or not found:
        raise errors.InvalidValue("select a character: its armature, or a mesh that the armature deforms (Ctrl P)")
    if len(found) > 1:
        names = " and ".join(armature.name for armature in found)
        raise errors.InvalidValue(
            f"{item.name} is deformed by several armatures, {names}: remove the modifiers of all but one, "
            "or select the armature to use"
        )
    return found[0]


def character_meshes(scene: bpy.types.Scene, armature: bpy.types.Object) -> list[bpy.types.Object]:
    """Visible mesh objects of a character.

    Raises:
        InvalidValue: one is deformed by another armature too, or cannot be changed.
    """
    meshes = [
        item
        for item in scene.objects
        if item.type == "MESH"
        and item.visible_get()
        and item.display_type not in HELPER_DISPLAY
        and armature in find_armatures(item)
    ]
    for item in meshes:
        others = [other.name for other in find_armatures(item) if other != armature]
        if others:
            raise errors.InvalidValue(
                f"{item.name} is deformed by {armature.name} and by {', '.join(others)}: remove one of the modifiers"
            )
        if item.library is not None or bpy_access.mesh(item).library is not None:
            raise errors.InvalidValue(f"{item.name} is linked from another file: make it local, or append it")
        if item.mode == "EDIT":
            raise errors.InvalidValue(f"{item.name} is in edit mode: leave it first (Tab)")
    return meshes


def require_usable(scene: bpy.types.Scene, armature: bpy.types.Object) -> None:
    """Raise an error if an armature cannot become a rig.

    Raises:
        InvalidValue: it is linked, edited, mirrored or scaled unevenly, or one of its bones is scaled.
    """
    data = bpy_access.armature(armature)
    if armature.library is not None or data.library is not None or armature.override_library is not None:
        raise errors.InvalidValue(f"{armature.name} is linked from another file: make it local, or append it")
    if data.is_editmode:
        raise errors.InvalidValue(f"{armature.name} is in edit mode: leave it first (Tab)")
    if not len(data.bones):
        raise errors.InvalidValue(f"{armature.name} has no bones")
    if problem := describe_uneven_scale(armature):
        raise errors.InvalidValue(problem)
    for bone in scaled_bones(armature):
        if bone != scaled_root(armature):
            raise errors.InvalidValue(
                f"{armature.name}: bone {bone.name} is scaled by {' x '.join(f'{s:.3g}' for s in np.array(bone.scale))}"
                "; lengths of a rig are fixed: clear its scale (Alt S), and remove its scale curves"
            )
    if is_transformed(armature):
        if armature.parent is not None:
            raise errors.InvalidValue(
                f"{armature.name} is scaled or tilted with its parent {armature.parent.name}: clear the parent, "
                "keeping the transform (Alt P)"
            )
        if data.users > 1:
            raise errors.InvalidValue(f"{armature.name} shares its bones with another object: make them single-user")
        if any(curve.data_path.startswith(CHANNELS) for curve in curves_of(armature)):
            raise errors.InvalidValue(
                f"the rotation or scale of the object {armature.name} is animated, so it cannot be applied: "
                "delete these curves, or bake them to its bones"
            )


def describe_uneven_scale(armature: bpy.types.Object) -> str:
    """How an armature object is mirrored or stretched and what to do, as one sentence; empty if it is not."""
    axes = convert.to_array(armature.matrix_world)[:3, :3]
    scales, mirrored = np.linalg.norm(axes, axis=0), np.linalg.det(axes) < 0.0
    if not mirrored and scales.min() > TOLERANCE and np.ptp(scales) <= TOLERANCE * scales.max():
        return ""
    how = "mirrored" if mirrored else f"scaled unevenly, by {' x '.join(f'{scale:.3g}' for scale in scales)}"
    return f"{armature.name} is {how}: give it or its parent one positive scale in all axes (sidebar > Item)"


def scaled_bones(armature: bpy.types.Object) -> list[bpy.types.PoseBone]:
    """Bones that are scaled now."""
    return [b for b in bpy_access.pose_bones(armature) if np.abs(np.array(b.scale) - 1.0).max() > SCALE_TOLERANCE]


def scaled_root(armature: bpy.types.Object) -> bpy.types.PoseBone | None:
    """The one bone that scales all bones, as in files that were converted from FBX to glTF; None without one."""
    found = scaled_bones(armature)
    if len(found) != 1 or np.ptp(np.array(found[0].scale)) > SCALE_TOLERANCE * found[0].scale[0]:
        return None
    family = {found[0].name, *(b.name for b in (*found[0].parent_recursive, *found[0].children_recursive))}
    return found[0] if family == set(bpy_access.pose_bones(armature).keys()) else None


def _move_scale_to_object(armature: bpy.types.Object) -> None:
    """Scale the object instead of the bone that scales all bones; nothing moves in the world."""
    root = scaled_root(armature)
    if root is None:
        return
    _use_own_action(armature)
    scale, rest, path = root.scale[0], root.bone.matrix_local, root.path_from_id()
    shift = (1.0 / scale - 1.0) * (rest.to_3x3().inverted() @ rest.translation)
    armature.matrix_basis = armature.matrix_basis @ Matrix.Scale(scale, 4)
    root.location, root.scale = root.location / scale + shift, (1.0, 1.0, 1.0)
    for curve in curves_of(armature):
        if curve.data_path == f"{path}.location":
            _change_keys(curve, 1.0 / scale, shift[curve.array_index])
        elif curve.data_path == f"{path}.scale":
            _change_keys(curve, 0.0, 1.0)


def is_transformed(armature: bpy.types.Object) -> bool:
    """Whether an armature object is scaled or tilted, as after an import of FBX."""
    axes = _axes(armature)
    return bool(np.abs(np.linalg.norm(axes, axis=0) - 1.0).max() > TOLERANCE or axes[2, 2] < 1.0 - TOLERANCE)


def apply_transform(armature: bpy.types.Object) -> None:
    """Apply rotation and uniform scale of an armature object to its bones; nothing moves in the world.

    Locations of bones, also animated ones, are scaled with them. An object that only faces another way is not changed.
    """
    if not is_transformed(armature):
        return
    _move_scale_to_object(armature)
    bpy_access.view_layer(bpy.context).update()
    world = armature.matrix_world.copy()
    location = Matrix.Translation(world.to_translation()[:])
    change = location.inverted() @ world
    scale = world.to_scale()[0]
    for child in armature.children:
        factor = Matrix.Scale(scale, 4) if child.parent_type == "BONE" else change
        child.matrix_parent_inverse = factor @ child.matrix_parent_inverse
    bpy_access.armature(armature).transform(change)
    armature.matrix_basis = location
    armature.delta_location, armature.delta_rotation_euler = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    armature.delta_rotation_quaternion, armature.delta_scale = (1.0, 0.0, 0.0, 0.0), (1.0, 1.0, 1.0)
    for bone in bpy_access.pose_bones(armature):
        bone.location = [scale * x for x in bone.location]
    _scale_locations(armature, scale)


def _scale_locations(armature: bpy.types.Object, scale: float) -> None:
    """Scale the location curves of an armature's bones."""
    if abs(scale - 1.0) <= TOLERANCE:
        return
    _use_own_action(armature)
    for curve in curves_of(armature):
        if curve.data_path.startswith("pose.bones") and curve.data_path.endswith(".location"):
            _change_keys(curve, scale)


def _use_own_action(armature: bpy.types.Object) -> None:
    """Let an armature play a copy of an action that others use too."""
    animation = armature.animation_data
    if animation is not None and animation.action and animation.action.users > 1 + animation.action.use_fake_user:
        slot = animation.action_slot.identifier if animation.action_slot else ""
        animation.action = animation.action.copy()
        animation.action_slot = next((s for s in animation.action.slots if s.identifier == slot), None)


def _change_keys(curve: bpy.types.FCurve, factor: float, shift: float = 0.0) -> None:
    """Multiply the values of a curve by a factor, and add a shift."""
    for point in curve.keyframe_points:
        for handle in (point.co, point.handle_left, point.handle_right):
            handle[1] = factor * handle[1] + shift
    curve.update()


def read_skeleton(scene: bpy.types.Scene, armature: bpy.types.Object) -> Skeleton:
    """Bones of a character in rest pose, in metres with z up, and which of them deform a mesh.

    Raises:
        InvalidValue: no mesh follows the armature.
    """
    from ..base.solver_api import Skeleton

    bones = bpy_access.armature(armature).bones
    change = _change(armature)
    names = [bone.name for bone in bones]
    index = {name: k for k, name in enumerate(names)}
    deforming = np.zeros(len(names), bool)
    for item in _require_meshes(scene, armature):
        if item.parent == armature and item.parent_type == "BONE" and item.parent_bone in index:
            deforming[index[item.parent_bone]] = True
        for group in item.vertex_groups:
            if group.name in index and bones[group.name].use_deform:
                deforming[index[group.name]] = True
    return Skeleton(
        names,
        [-1 if bone.parent is None else index[bone.parent.name] for bone in bones],
        _transform(change, [bone.head_local for bone in bones]),
        _transform(change, [bone.tail_local for bone in bones]),
        deforming,
    )


def _change(armature: bpy.types.Object) -> np.ndarray:
    """(4, 4) from armature space to that after `apply_transform`, which has metres and z up."""
    if not is_transformed(armature):
        return np.eye(4)
    world = np.eye(4)
    world[:3, :3] = _axes(armature)
    return world


def _axes(armature: bpy.types.Object) -> np.ndarray:
    """(3, 3) of the world in armature space, scaled with the bone that scales all bones."""
    root = scaled_root(armature)
    return convert.to_array(armature.matrix_world)[:3, :3] * (1.0 if root is None else root.scale[0])


def _transform(matrix: np.ndarray, points: Iterable[Any]) -> np.ndarray:
    return np.array([tuple(point) for point in points], float).reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]


def _require_meshes(scene: bpy.types.Scene, armature: bpy.types.Object) -> list[bpy.types.Object]:
    meshes = character_meshes(scene, armature)
    if not meshes:
        raise errors.InvalidValue(
            f"{armature.name} deforms no visible mesh: show its mesh, or bind a mesh to it (Ctrl P, With Automatic "
            "Weights)"
        )
    return meshes


def read_character(context: bpy.types.Context, armature: bpy.types.Object) -> Character:
    """Bones, surface and weights of a character in rest pose, with all modifiers of its meshes.

    Raises:
        InvalidValue: no mesh follows the armature.
    """
    from ..base.solver_api import Character

    scene, data = bpy_access.scene(context), bpy_access.armature(armature)
    skeleton, meshes = read_skeleton(scene, armature), _require_meshes(scene, armature)
    shown, data.pose_position = data.pose_position, "REST"
    try:
        graph = context.evaluated_depsgraph_get()
        graph.update()
        world = _change(armature) @ np.linalg.inv(convert.to_array(armature.matrix_world))
        parts = [_read_surface(item, graph, world, list(skeleton.bones), data) for item in meshes]
    finally:
        data.pose_position = shown
    counts = np.cumsum([0, *(len(vertices) for vertices, _, _, _ in parts)])
    return Character(
        armature.name,
        tuple(skeleton.bones),
        tuple(skeleton.parents),
        skeleton.heads,
        skeleton.tails,
        np.concatenate([vertices for vertices, _, _, _ in parts]),
        np.concatenate([faces + first for (_, faces, _, _), first in zip(parts, counts)]),
        np.concatenate([pairs + np.array([first, 0]) for (_, _, pairs, _), first in zip(parts, counts)]),
        np.concatenate([weights for _, _, _, weights in parts]),
    )


def _read_surface(
    item: bpy.types.Object,
    graph: bpy.types.Depsgraph,
    world: np.ndarray,
    bones: list[str],
    data: bpy.types.Armature,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Vertices (V, 3) [m], triangles (T, 3), and vertex and bone (W, 2) of the weights (W,) of a mesh object."""
    shown = item.evaluated_get(graph)
    mesh = shown.to_mesh()
    try:
        points = np.empty(3 * len(mesh.vertices))
        mesh.vertices.foreach_get("co", points)
        vertices = _transform(world @ convert.to_array(shown.matrix_world), points.reshape(-1, 3))
        mesh.calc_loop_triangles()
        faces = np.empty(3 * len(mesh.loop_triangles), np.int32)
        mesh.loop_triangles.foreach_get("vertices", faces)
        if item.parent_type == "BONE" and item.parent_bone in bones:
            pairs = np.column_stack([np.arange(len(vertices)), np.full(len(vertices), bones.index(item.parent_bone))])
            return vertices, faces.reshape(-1, 3).astype(int), pairs, np.ones(len(vertices))
        columns = {
            group.index: bones.index(group.name)
            for group in item.vertex_groups
            if group.name in bones and data.bones[group.name].use_deform
        }
        found = [
            (vertex.index, columns[entry.group], entry.weight)
            for vertex in mesh.vertices
            for entry in vertex.groups
            if entry.group in columns and entry.weight > 0.0
        ]
    finally:
        shown.to_mesh_clear()
    entries = np.array(found, float).reshape(-1, 3)
    return vertices, faces.reshape(-1, 3).astype(int), entries[:, :2].astype(int), entries[:, 2]


def attach_rig(context: bpy.types.Context, armature: bpy.types.Object, rig: Rig) -> None:
    """Store a character's rig on its armature, and mark its meshes with the links that their faces follow."""
    meshes = character_meshes(bpy_access.scene(context), armature)
    for item in meshes:
        if item.parent is None:
            item.parent = armature
            item.matrix_parent_inverse = armature.matrix_world.inverted()
    apply_transform(armature)
    bpy_access.view_layer(context).update()
    bone_links = dict(rig.provenance[BONE_LINKS])  # type: ignore[call-overload]
    for item in meshes:
        if item.parent == armature:
            _mark_mesh(item, rig, bone_links)
    store_rig(armature, rig)
    animated = {curve.data_path for curve in curves_of(armature)}
    posed = [bone for bone in bpy_access.pose_bones(armature) if bone.name not in rig.links]
    still = {bone.name for bone in posed if not any(bone.path_from_id() in path for path in animated)}
    drive_bones(armature, rig, still, bone_axes(armature, rig))


def _mark_mesh(item: bpy.types.Object, rig: Rig, bone_links: dict[str, str]) -> None:
    restore_materials(item)
    mesh = bpy_access.mesh(item)
    if item.parent_type == "BONE":
        bone_links = {"": bone_links.get(item.parent_bone, rig.links[0])}
    columns = {
        group.index: rig.links.index(bone_links[group.name]) for group in item.vertex_groups if group.name in bone_links
    }
    weights = np.zeros((len(mesh.vertices), len(rig.links)))
    if "" in bone_links:
        weights[:, rig.links.index(bone_links[""])] = 1.0
    for row, vertex in zip(weights, mesh.vertices):
        for entry in vertex.groups:
            if entry.group in columns:
                row[columns[entry.group]] += entry.weight
    corners, owners = np.empty(len(mesh.loops), np.int32), np.empty(len(mesh.polygons), np.int32)
    mesh.loops.foreach_get("vertex_index", corners)
    mesh.polygons.foreach_get("loop_total", owners)
    faces = np.repeat(np.arange(len(mesh.polygons)), owners)
    sums = np.zeros((len(mesh.polygons), len(rig.links)))
    np.add.at(sums, faces, weights[corners])
    attribute: Any = mesh.attributes.get(LINK_ATTRIBUTE) or mesh.attributes.new(LINK_ATTRIBUTE, "INT", "FACE")
    attribute.data.foreach_set("value", sums.argmax(axis=1).astype(np.int32))
    mesh.update()
    item[SKIN_KEY], item[BONE_LINKS_KEY] = "\n".join(rig.links), json.dumps(bone_links)
