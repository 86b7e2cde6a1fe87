"""The skin of a built-in person: one mesh that the armature deforms, a vertex group and a material slot per link."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import bpy
import numpy as np

from ..base import bpy_access, custom_properties
from ..base.solver_api import Rig, bend_toes, fit_body_mesh
from .toes import drive_skin

SKIN_KEY = "exciting_dance_links"
"""Custom property of a skin's mesh object: the names of its links, one a line, in the order of its material slots."""
BONE_LINKS_KEY = "exciting_dance_bone_links"
"""Custom property of a character's mesh object: JSON, the link of each vertex group of a bone."""
LINK_ATTRIBUTE = "exciting_dance_link"
"""Attribute of the faces of a character's mesh: index of their link, in the order of its links."""
OWN_MESH_KEY, OWN_SLOTS_KEY = "exciting_dance_own_mesh", "exciting_dance_own_slots"
"""Custom properties of a character's mesh object while link colours are shown: its own mesh, and the materials of its
object slots by their index."""
SOFT_KEY = "exciting_dance_soft_borders"
"""Custom property of a skin's mesh object: whether colours change gradually between links."""
SOFT_COLOURS = "Soft link colours"
"""Name of the mesh's colour attribute, and of the node that reads it, where colours change gradually."""
DUAL_GROUP = "Preserve volume"
"""Vertex group of the vertices that dual-quaternion skinning moves."""
WEIGHT_STEPS = 255
"""Weights are rounded to so many steps; vertices of equal weight are added to a group together."""


def add_skin(
    armature: bpy.types.Object, rig: Rig, collection: bpy.types.Collection, axes: np.ndarray
) -> bpy.types.Object:
    """Add the skin of a person to its armature.

    Args:
        armature: the rig's armature.
        rig: of a person, whose shapes are stored here; see `solver.scene.body_mesh.has_body_mesh`.
        collection: receives the mesh object.
        axes: (L, 3, 3) of the links' bones, link axes.
    """
    fitted, raised = fit_body_mesh(rig), np.array([0.0, 0.0, rig.standing_height])
    mesh = bpy.data.meshes.new(f"{rig.name} skin")
    faces = np.asarray(fitted.faces)
    sides = np.where(faces[:, 3] == faces[:, 2], 3, 4)
    corners = faces[np.arange(4) < sides[:, None]]
    mesh.vertices.add(len(fitted.vertices))
    mesh.vertices.foreach_set("co", (fitted.vertices + raised).astype(np.float32).ravel())
    mesh.loops.add(len(corners))
    mesh.loops.foreach_set("vertex_index", corners.astype(np.int32))
    mesh.polygons.add(len(sides))
    mesh.polygons.foreach_set("loop_start", (np.cumsum(sides) - sides).astype(np.int32))
    for _ in rig.links:
        mesh.materials.append(None)  # type: ignore[arg-type]
    mesh.polygons.foreach_set("material_index", fitted.face_links.astype(np.int32))
    mesh.polygons.foreach_set("use_smooth", np.ones(len(sides), bool))
    mesh.update(calc_edges=True)
    mesh.validate()
    skin = bpy.data.objects.new(f"{rig.name} skin", mesh)
    collection.objects.link(skin)
    skin[SKIN_KEY] = "\n".join(rig.links)
    for link, weights in zip(rig.links, fitted.weights.T, strict=True):
        _add_group(skin, link, weights)
    _add_modifiers(skin, fitted.dual)
    deform_by(skin, armature)
    bent = {link: vertices + raised for link, vertices in bend_toes(rig, fitted).items()}
    drive_skin(skin, armature, rig, bent, axes)
    return skin


def deform_by(skin: bpy.types.Object, armature: bpy.types.Object) -> None:
    """Parent a skin to an armature that deforms it."""
    skin.parent = armature
    if skin.parent_type != "BONE":  # a character's eyes may be fixed to a bone
        skin.parent_type = "OBJECT"
    for modifier in skin.modifiers:
        if isinstance(modifier, bpy.types.ArmatureModifier):
            modifier.object = armature


def _add_modifiers(skin: bpy.types.Object, dual: np.ndarray) -> None:
    """Add linear skinning, and dual-quaternion skinning of a fraction (V,) of each vertex."""
    skin.modifiers.new("Skin", "ARMATURE")
    _add_group(skin, DUAL_GROUP, dual)
    preserving: Any = skin.modifiers.new("Skin, Preserving Volume", "ARMATURE")
    preserving.use_deform_preserve_volume, preserving.use_multi_modifier = True, True
    preserving.vertex_group = DUAL_GROUP


def is_skin(item: bpy.types.Object) -> bool:
    """Whether a mesh object is the skin of several links."""
    return SKIN_KEY in item


def slot_index(shape: bpy.types.Object, link: str) -> int:
    """Index of the material slot that colours a link on an object of `armature.shapes_of`."""
    links = skin_links(shape)
    return links.index(link) if link in links else 0


def skin_links(shape: bpy.types.Object) -> list[str]:
    """Links of a skin in the order of its material slots; none for other objects."""
    stored = shape.get(SKIN_KEY, "")
    return stored.split("\n") if isinstance(stored, str) and stored else []


def material_of(shape: bpy.types.Object, link: str) -> bpy.types.Material | None:
    """The material that colours a link; None without one."""
    slots, index = shape.material_slots, slot_index(shape, link)
    return slots[index].material if index < len(slots) else None


def show_link_materials(shape: bpy.types.Object) -> None:
    """Give a character's mesh object a copy of its mesh with a material slot for each link; others are not changed.

    The object's own mesh and materials stay in the file; `restore_materials` shows them again.
    """
    if not is_character_mesh(shape) or OWN_MESH_KEY in shape:
        return
    slots = {str(k): slot.material for k, slot in enumerate(shape.material_slots) if slot.link == "OBJECT"}
    for index in slots:
        shape.material_slots[int(index)].link = "DATA"
    coloured = copy_with_link_slots(shape)
    shape[OWN_MESH_KEY], shape[OWN_SLOTS_KEY] = bpy_access.mesh(shape), slots
    shape.data = coloured


def copy_with_link_slots(shape: bpy.types.Object) -> bpy.types.Mesh:
    """A copy of a character's mesh with an empty material slot for each of its links."""
    own = bpy_access.mesh(shape)
    coloured = bpy_access.require(own.copy(), "copy")
    coloured.name = f"{own.name} link colours"
    coloured.materials.clear()
    for _ in skin_links(shape):
        coloured.materials.append(None)  # type: ignore[arg-type]
    indices = np.zeros(len(coloured.polygons), np.int32)
    attribute: Any = coloured.attributes.get(LINK_ATTRIBUTE)
    if attribute is not None:
        attribute.data.foreach_get("value", indices)
    coloured.polygons.foreach_set("material_index", indices)
    return coloured


def restore_materials(shape: bpy.types.Object) -> None:
    """Show a character's own mesh and materials again, and remove those of the link colours."""
    own = shape.get(OWN_MESH_KEY)
    if not isinstance(own, bpy.types.Mesh):
        return
    coloured, slots = bpy_access.mesh(shape), dict(shape.get(OWN_SLOTS_KEY, {}).items())
    materials = {material for material in coloured.materials if material is not None}
    shape.data = own
    for index, material in slots.items():
        if int(index) < len(shape.material_slots):
            slot = shape.material_slots[int(index)]
            slot.link, slot.material = "OBJECT", material
    del shape[OWN_MESH_KEY], shape[OWN_SLOTS_KEY]
    if not coloured.users:
        bpy.data.meshes.remove(coloured)
    bpy.data.batch_remove([material for material in materials if not material.users])


def is_character_mesh(shape: bpy.types.Object) -> bool:
    """Whether a mesh object belongs to a character, so that it has materials of its own."""
    return BONE_LINKS_KEY in shape


def has_link_materials(shape: bpy.types.Object) -> bool:
    """Whether a character's mesh object shows link colours in place of its own materials."""
    return OWN_MESH_KEY in shape


def soften_borders(rigs: Iterable[bpy.types.Object], soft: bool) -> None:
    """Give the skins of rigs soft or sharp borders."""
    for child in [child for rig in rigs for child in rig.children if is_skin(child)]:
        child[SOFT_KEY] = soft
        update_borders(child)


def update_borders(skin: bpy.types.Object) -> None:
    """Show the colours of a skin's materials with sharp borders, or blended by the weights of the links.

    Blended colours are the mesh's active colour attribute too, which solid views show with the colour Attribute. A
    linked mesh keeps sharp borders.
    """
    mesh = bpy_access.mesh(skin)
    soft = bool(skin.get(SOFT_KEY, False)) and mesh.library is None
    if soft:
        colours = np.array([_material_colour(slot.material) for slot in skin.material_slots])
        attribute: Any = mesh.color_attributes.get(SOFT_COLOURS)
        if attribute is None:
            attribute = mesh.color_attributes.new(SOFT_COLOURS, "FLOAT_COLOR", "POINT")
        attribute.data.foreach_set("color", (_read_weights(skin) @ colours).astype(np.float32).ravel())
        mesh.color_attributes.active_color = attribute
    for material in {slot.material for slot in skin.material_slots if slot.material is not None}:
        tree = material.node_tree
        shader = tree.nodes.get("Principled BSDF") if tree is not None and material.library is None else None
        if tree is None or shader is None:
            continue
        node = tree.nodes.get(SOFT_COLOURS)
        if node is not None and not soft:
            tree.nodes.remove(node)
        elif node is None and soft:
            added: Any = tree.nodes.new("ShaderNodeVertexColor")
            added.name = added.layer_name = SOFT_COLOURS
            tree.links.new(added.outputs["Color"], shader.inputs["Base Color"])


def _material_colour(material: bpy.types.Material | None) -> np.ndarray:
    return np.array([0.8, 0.8, 0.8, 1.0] if material is None else material.diffuse_color)


def _read_weights(skin: bpy.types.Object) -> np.ndarray:
    """Weights (V, L) of a skin's vertices, in the order of its material slots; each row adds up to 1."""
    vertices, slots = bpy_access.mesh(skin).vertices, len(skin.material_slots)
    links, link_of = skin_links(skin), custom_properties.read_object(skin, BONE_LINKS_KEY)
    groups = ((group.index, link_of.get(group.name, group.name)) for group in skin.vertex_groups)
    columns = {index: links.index(link) for index, link in groups if link in links}
    weights = np.zeros((len(vertices), slots))
    for row, vertex in zip(weights, vertices):
        for entry in vertex.groups:
            if columns.get(entry.group, slots) < slots:  # slots may have been removed
                row[columns[entry.group]] += entry.weight
    return weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-9)


def _add_group(skin: bpy.types.Object, name: str, weights: np.ndarray) -> None:
    """Add a vertex group with weights (V,)."""
    group, steps = skin.vertex_groups.new(name=name), np.round(WEIGHT_STEPS * np.asarray(weights)).astype(int)
    order = np.argsort(steps, kind="stable")
    values, starts = np.unique(steps[order], return_index=True)
    for value, indices in zip(values.tolist(), np.split(order, starts[1:])):
        if value:
            group.add(indices.tolist(), value / WEIGHT_STEPS, "REPLACE")
