"""Characters as an animator has them in Blender."""

from __future__ import annotations

import bpy
import numpy as np

from solver.character.character import Character


def add_character(character: Character, *, materials: int = 2) -> tuple[bpy.types.Object, bpy.types.Object]:
    """Armature and mesh of a character, the mesh with its own materials; the armature is active."""
    data = bpy.data.armatures.new(character.name)
    armature = bpy.data.objects.new(character.name, data)
    bpy.context.scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    for name, head, tail in zip(character.bones, character.heads, character.tails, strict=True):
        bone = data.edit_bones.new(name)
        bone.head, bone.tail = head.tolist(), tail.tolist()
    for name, parent in zip(character.bones, character.parents, strict=True):
        if parent >= 0:
            data.edit_bones[name].parent = data.edit_bones[character.bones[parent]]
    bpy.ops.object.mode_set(mode="OBJECT")
    mesh = bpy.data.meshes.new("Body")
    mesh.from_pydata(character.vertices.tolist(), [], character.triangles.tolist())
    body = bpy.data.objects.new("Body", mesh)
    bpy.context.scene.collection.objects.link(body)
    for name in character.bones:
        body.vertex_groups.new(name=name)
    for (vertex, bone), weight in zip(character.weighted.tolist(), character.weights.tolist(), strict=True):
        body.vertex_groups[character.bones[bone]].add([vertex], weight, "REPLACE")
    body.parent = armature
    body.modifiers.new("Armature", "ARMATURE").object = armature
    for number in range(materials):
        mesh.materials.append(bpy.data.materials.new(f"Cloth {number}"))
    if materials:
        mesh.polygons.foreach_set("material_index", np.arange(len(mesh.polygons), dtype=np.int32) % materials)
    bpy.context.view_layer.update()
    return armature, body
