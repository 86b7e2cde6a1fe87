"""Changes to the scene that are applied completely or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import bpy

from . import bpy_access

STORES = (
    *("objects", "collections", "armatures", "meshes", "curves", "materials"),
    *("actions", "cameras", "lights", "worlds", "images"),
)
RENDER = ("engine", "film_transparent", "resolution_x", "resolution_y", "resolution_percentage", "filepath")
SCENE = ("frame_start", "frame_end", "camera", "world")
Undo = Callable[[], object]


@contextmanager
def all_or_nothing() -> Iterator[None]:
    """If the block raises an error, remove all data-blocks that it added and restore what it changed.

    Restored are: custom properties of objects, armatures and bones, colours of materials, assigned actions, visibility,
    active object and selection, and the scene's frame range, frame rate, camera and render settings.
    """
    before = {store: {item.session_uid for item in getattr(bpy.data, store)} for store in STORES}
    undo = [*_undo_scene(), *_undo_objects(), *_undo_armatures(), *_undo_materials()]
    try:
        yield
    except BaseException:
        for store in STORES:
            made = [item for item in getattr(bpy.data, store) if item.session_uid not in before[store]]
            bpy.data.batch_remove(made)
        for step in undo:
            step()
        raise


def _undo_scene() -> Iterator[Undo]:
    scene, layer = bpy_access.scene(bpy.context), bpy_access.view_layer(bpy.context)
    yield _restore_attributes(scene.render, ("fps", "fps_base", *RENDER))
    yield _restore_attributes(scene, SCENE)
    yield partial(scene.frame_set, scene.frame_current, subframe=scene.frame_subframe)
    for child in layer.layer_collection.children:
        yield _restore_attributes(child, ("exclude",))
    for item in layer.objects:
        yield partial(item.hide_set, item.hide_get())
        yield partial(item.select_set, item.select_get())
    yield _restore_attributes(layer.objects, ("active",))


def _undo_objects() -> Iterator[Undo]:
    for item in bpy.data.objects:
        yield _restore_properties(item)
        yield _restore_attributes(item, ("hide_render", "hide_viewport"))
        if item.animation_data is not None:
            yield _restore_attributes(item.animation_data, ("action", "action_slot"))
        elif item.type == "ARMATURE":
            yield item.animation_data_clear


def _undo_armatures() -> Iterator[Undo]:
    for armature in bpy.data.armatures:
        yield _restore_properties(armature)
        for bone in armature.bones:
            yield _restore_properties(bone)


def _undo_materials() -> Iterator[Undo]:
    for material in bpy.data.materials:
        yield _restore_attributes(material, ("diffuse_color",))
        shader = material.node_tree.nodes.get("Principled BSDF") if material.node_tree else None
        if shader is not None:
            yield _restore_attributes(shader.inputs["Base Color"], ("default_value",))


def _restore_attributes(owner: object, names: tuple[str, ...]) -> Undo:
    """A function that restores the current values of these attributes."""
    values = {name: _to_plain(getattr(owner, name)) for name in names}

    def undo() -> None:
        for name, value in values.items():
            if _to_plain(getattr(owner, name)) != value:
                setattr(owner, name, value)

    return undo


def _restore_properties(owner: bpy.types.ID | bpy.types.Bone) -> Undo:
    """A function that restores the current custom properties of an owner, with their units."""
    values = _stored_values(owner)
    units = {name: owner.id_properties_ui(name).as_dict() for name, value in values.items() if _is_numeric(value)}

    def undo() -> None:
        now = _stored_values(owner)
        for name in now.keys() - values.keys():
            del owner[name]
        for name, value in values.items():
            if name not in now or now[name] != value:
                owner[name] = value
            if name in units:
                owner.id_properties_ui(name).update(**units[name])

    return undo


def _stored_values(owner: bpy.types.ID | bpy.types.Bone) -> dict[str, object]:
    """Custom properties that are numbers, lists of numbers or texts, the types that this add-on writes."""
    found = {name: _to_plain(owner[name]) for name in list(owner.keys())}
    return {name: value for name, value in found.items() if isinstance(value, (int, float, str, list))}


def _to_plain(value: object) -> object:
    """A copy of a value; Blender's arrays become lists."""
    if hasattr(value, "to_list"):  # an array of a custom property
        return value.to_list()
    if isinstance(value, bpy.types.bpy_prop_array):
        return list(value)  # type: ignore[call-overload]
    return value


def _is_numeric(value: object) -> bool:
    return isinstance(value, (int, float)) or (isinstance(value, list) and all(isinstance(x, float) for x in value))
