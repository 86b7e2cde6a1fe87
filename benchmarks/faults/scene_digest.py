"""All of an open file that an add-on could change, as texts to compare: data-blocks, custom properties, keys, settings.

The add-on's messages in its panels are left out, since refusals appear there. So is what Blender makes of the rest
(bounds, evaluated poses of animated bones stay equal when their keys and the frame do).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy
import numpy as np
from bpy_extras import anim_utils

CONTEXT: Any = bpy.context
STORES = (
    *("scenes", "objects", "collections", "armatures", "meshes", "curves", "materials", "actions", "cameras"),
    *("lights", "worlds", "images", "texts", "node_groups", "libraries"),
)
MESSAGES = "exciting_dance_told"
VOLATILE = {
    *("tag", "dimensions", "matrix_world", "matrix_local", "is_dirty", "is_modified"),
    *("current_line_index", "current_character", "cycles", MESSAGES),
}
DEEPEST = 6
FEW = {
    "Object": (
        *("data", "parent", "parent_type", "parent_bone", "location", "rotation_euler", "rotation_quaternion", "scale"),
        *("rotation_mode", "hide_viewport", "hide_render", "hide_select", "color", "show_in_front", "display_type"),
        *("matrix_parent_inverse", "delta_location", "delta_scale", "instance_collection"),
    ),
    "Mesh": (),
    "Material": ("diffuse_color", "roughness"),
}
"""The fields that are compared of what there is most of; of other data-blocks all are."""


def digest() -> dict[str, str]:
    """Every value by its place."""
    return dict(_every())


def changes(before: dict[str, str], after: dict[str, str]) -> list[str]:
    """Places that differ, with both values."""
    places = [place for place in (*before, *(after.keys() - before.keys())) if before.get(place) != after.get(place)]
    return [f"{place}: {before.get(place, 'nothing')[:80]} -> {after.get(place, 'nothing')[:80]}" for place in places]


def _every() -> Iterator[tuple[str, str]]:
    layer = CONTEXT.view_layer
    yield "active", repr(layer.objects.active and layer.objects.active.name)
    for child in layer.layer_collection.children:
        yield f"layer {child.name}", repr((child.exclude, child.hide_viewport))
    for store in STORES:
        for item in getattr(bpy.data, store):
            yield from _block(f"{store}/{item.name_full}", item)  # local and linked data may share a name
    for item in layer.objects:
        yield f"seen {item.name}", repr((item.hide_get(), item.select_get(), item.mode))


def _block(place: str, item: Any) -> Iterator[tuple[str, str]]:
    kind = item.bl_rna.identifier
    yield from _values(place, item, FEW.get(kind))
    yield from _custom(place, item)
    if kind == "Object":
        yield from _object(place, item)
    elif kind == "Armature":
        for bone in item.bones:
            yield f"{place}/{bone.name}", repr((bone.parent and bone.parent.name, [tuple(row) for row in bone.matrix]))
            yield from _custom(f"{place}/{bone.name}", bone)
    elif kind == "Action":
        yield from _keys(place, item)
    elif kind == "Collection":
        yield f"{place}/members", repr(([one.name for one in item.objects], [one.name for one in item.children]))
    elif kind == "Scene":
        yield f"{place}/markers", repr([(marker.name, marker.frame) for marker in item.timeline_markers])
        yield from _values(f"{place}/render", item.render)
        for name in dir(item):
            if name.startswith("exciting_dance") and name != MESSAGES:
                yield from _values(f"{place}/{name}", getattr(item, name))
    elif kind == "Mesh":
        materials = [one and one.name for one in item.materials]
        yield f"{place}/size", repr((len(item.vertices), len(item.polygons), materials))
    elif kind == "Text":
        yield f"{place}/text", item.as_string()
    elif kind == "Material" and item.node_tree is not None:
        shader = item.node_tree.nodes.get("Principled BSDF")
        if shader is not None:
            yield f"{place}/colour", repr(tuple(shader.inputs["Base Color"].default_value))


def _object(place: str, item: Any) -> Iterator[tuple[str, str]]:
    animation = item.animation_data
    if animation is not None:
        tracks = [(track.name, track.mute, len(track.strips)) for track in animation.nla_tracks]
        slot = animation.action_slot and animation.action_slot.identifier
        yield f"{place}/animation", repr((animation.action and animation.action.name, slot, tracks))
    yield f"{place}/constraints", repr([(one.name, one.mute) for one in item.constraints])
    for bone in item.pose.bones if item.pose else ():
        pose = (bone.rotation_mode, bone.location, bone.scale, bone.rotation_euler, bone.rotation_quaternion)
        values = [part if isinstance(part, str) else tuple(part) for part in pose]
        yield f"{place}/pose/{bone.name}", repr((values, [(one.name, one.mute) for one in bone.constraints]))


def _keys(place: str, action: Any) -> Iterator[tuple[str, str]]:
    yield f"{place}/markers", repr([(marker.name, marker.frame) for marker in action.pose_markers])
    for slot in action.slots:
        bag: Any = anim_utils.action_get_channelbag_for_slot(action, slot)
        curves: Any = () if bag is None else bag.fcurves
        for curve in curves:
            yield f"{place}/{slot.identifier}/{curve.data_path}[{curve.array_index}]", repr(_points(curve))


def _points(curve: Any) -> list[list[float]]:
    count = len(curve.keyframe_points)
    parts: list[np.ndarray] = []
    for name, size, kind in (("co", 2, np.float32), ("type", 1, np.int32), ("interpolation", 1, np.int32)):
        values = np.empty(size * count, kind)
        curve.keyframe_points.foreach_get(name, values)
        parts.append(values)
    return [part.tolist() for part in parts]


def _values(place: str, item: Any, few: tuple[str, ...] | None = None) -> Iterator[tuple[str, str]]:
    for name, kind, readonly in _fields(item.bl_rna):
        if few is not None and name not in few:
            continue
        if name in VOLATILE or (readonly and kind != "POINTER"):
            continue
        value: Any = getattr(item, name, None)
        if kind == "POINTER":
            if isinstance(value, bpy.types.ID):
                yield f"{place}.{name}", value.name
        elif kind == "COLLECTION":
            if place.endswith("exciting_dance"):
                yield f"{place}.{name}", repr([one.path for one in value])
        else:
            yield f"{place}.{name}", repr(value if isinstance(value, (str, int, float, set)) else _plain(value))


FIELDS: dict[str, list[tuple[str, str, bool]]] = {}


def _fields(rna: Any) -> list[tuple[str, str, bool]]:
    """Names of a type's values, their kinds, and whether they only can be read; read once."""
    if rna.identifier not in FIELDS:
        FIELDS[rna.identifier] = [(one.identifier, one.type, one.is_readonly) for one in rna.properties]
    return FIELDS[rna.identifier]


def _custom(place: str, item: Any) -> Iterator[tuple[str, str]]:
    for name in list(item.keys()):
        if name not in item.bl_rna.properties:
            yield f"{place}[{name!r}]", repr(_plain(item[name]))


def _plain(value: Any, depth: int = 0) -> Any:
    if depth > DEEPEST:
        return "..."
    if hasattr(value, "to_dict"):
        return {key: _plain(value[key], depth + 1) for key in value.keys()}  # noqa: SIM118 an IDPropertyGroup
    if isinstance(value, bpy.types.ID):
        return value.name
    if isinstance(value, (str, bytes, int, float, type(None))):
        return value
    try:
        return [_plain(each, depth + 1) for each in value]
    except TypeError:
        return str(type(value))
