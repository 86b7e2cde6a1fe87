"""Scenes as people, scripts and other add-ons leave them: each breaks the whole scene of `dancing_scene` in one way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import bpy
from bpy_extras import anim_utils

from addon.authoring import timeline
from addon.base import bpy_access, scene_rigs
from addon.display import study
from addon.scene import armature, recording

Body = Any
"""An armature object; what Blender's types leave open of it is known here."""
Break = Callable[[Body], object]
CONTEXT: Any = bpy.context
DATA: Any = bpy.data
VERBS: Any = bpy.ops
BROKEN: dict[str, Break] = {}
"""By name; each takes the rig of the whole scene, which is open."""


def broken(name: str) -> Callable[[Break], Break]:
    """Put a way to break a scene into the catalogue."""

    def keep(way: Break) -> Break:
        BROKEN[name] = way
        return way

    return keep


def find_rig() -> Body:
    """The rig of the whole scene, which is open and not yet broken."""
    return next(item for item in DATA.objects if scene_rigs.is_rig(item))


def mode(body: Body, name: str) -> None:
    """Go into a mode of the rig."""
    CONTEXT.view_layer.objects.active = body
    VERBS.object.mode_set(mode=name)


def edit_bones(body: Body, change: Callable[[Any], object]) -> None:
    """Change bones in edit mode, and leave it."""
    mode(body, "EDIT")
    change(body.data.edit_bones)
    mode(body, "OBJECT")


@broken("whole")
def _whole(body: Body) -> None:
    pass


@broken("a bone renamed")
def _rename_bone(body: Body) -> None:
    body.data.bones["left_upper_arm"].name = "arm.L"


@broken("two bones swapped their names")
def _swap_names(body: Body) -> None:
    bones = body.data.bones
    bones["left_upper_arm"].name = "between"
    bones["right_upper_arm"].name = "left_upper_arm"
    bones["between"].name = "right_upper_arm"


@broken("the root bone renamed")
def _rename_root(body: Body) -> None:
    body.data.bones[0].name = "root"


@broken("a bone deleted")
def _delete_bone(body: Body) -> None:
    edit_bones(body, lambda bones: bones.remove(bones["left_upper_arm"]))


@broken("all bones deleted")
def _delete_all_bones(body: Body) -> None:
    edit_bones(body, lambda bones: [bones.remove(bone) for bone in list(bones)])


@broken("a bone added")
def _add_bone(body: Body) -> None:
    def add(bones: Any) -> None:
        bones.new("tail").tail = (0.0, 0.0, 1.0)

    edit_bones(body, add)


@broken("a bone with another parent")
def _reparent(body: Body) -> None:
    edit_bones(body, lambda bones: setattr(bones["left_upper_arm"], "parent", None))


@broken("the rig deleted")
def _delete_rig(body: Body) -> None:
    DATA.objects.remove(body)


@broken("the rig and its armature deleted")
def _delete_armature(body: Body) -> None:
    DATA.armatures.remove(body.data)


@broken("the rig renamed")
def _rename_rig(body: Body) -> None:
    body.name, body.data.name = 'a "name"\\ with [signs]', "\u00fc" * 30


@broken("the rig unlinked from its scene")
def _unlink(body: Body) -> None:
    for collection in list(body.users_collection):
        collection.objects.unlink(body)


@broken("the rig in another scene")
def _move_to_other_scene(body: Body) -> None:
    _unlink(body)
    DATA.scenes.new("Other").collection.objects.link(body)


@broken("the rig hidden")
def _hide(body: Body) -> None:
    body.hide_set(True)


@broken("the rig's collection excluded")
def _exclude_collection(body: Body) -> None:
    name = body.users_collection[0].name
    CONTEXT.view_layer.layer_collection.children[name].exclude = True


@broken("in edit mode")
def _enter_edit_mode(body: Body) -> None:
    mode(body, "EDIT")


@broken("a bone renamed in edit mode")
def _rename_in_edit_mode(body: Body) -> None:
    mode(body, "EDIT")
    body.data.edit_bones["left_upper_arm"].name = "arm.L"


@broken("in pose mode")
def _enter_pose_mode(body: Body) -> None:
    mode(body, "POSE")


@broken("the rig linked from a file")
def _link_rig(body: Body) -> None:
    _link(body.name)


@broken("an override of a linked rig")
def _override_library(body: Body) -> None:
    item = _link(body.name)
    own = item.override_create(remap_local_usages=True)
    CONTEXT.view_layer.objects.active = own


@broken("an override of a linked rig and its armature")
def _override_hierarchy(body: Body) -> None:
    _override(body)


@broken("an override that is not editable")
def _override_for_the_system(body: Body) -> None:
    _override(body).override_library.is_system_override = True


@broken("an override with a local action")
def _override_with_local_action(body: Body) -> None:
    own = _override(body)
    slot = own.animation_data.action_slot.identifier
    own.animation_data.action = bpy_access.local_copy(own.animation_data.action)
    own.animation_data.action_slot = own.animation_data.action.slots[slot]


@broken("the action linked from a file")
def _link_action(body: Body) -> None:
    linked = DATA.filepath
    VERBS.wm.save_as_mainfile(filepath=str(Path(linked).with_name("copy.blend")))
    with DATA.libraries.load(linked, link=True) as (_, wanted):
        wanted.actions = [body.animation_data.action.name]
    slot = body.animation_data.action_slot.identifier
    body.animation_data.action = wanted.actions[0]
    body.animation_data.action_slot = wanted.actions[0].slots[slot]


@broken("only the armature linked")
def _link_armature(body: Body) -> None:
    name, armature_name, path = body.name, body.data.name, DATA.filepath
    VERBS.wm.read_factory_settings(use_empty=True)
    with DATA.libraries.load(path, link=True) as (_, wanted):
        wanted.armatures = [armature_name]
    own = DATA.objects.new(name, wanted.armatures[0])
    CONTEXT.scene.collection.objects.link(own)
    CONTEXT.view_layer.objects.active = own


@broken("an instance of a linked collection")
def _instance_collection(body: Body) -> None:
    collection = _link_collection(body)
    empty = DATA.objects.new("Instance", None)
    empty.instance_type, empty.instance_collection = "COLLECTION", collection
    CONTEXT.scene.collection.objects.link(empty)
    CONTEXT.view_layer.objects.active = empty


def _override(body: Body) -> Body:
    """Override a linked collection with the rig, as Object > Library Override > Make does."""
    name = body.name
    collection = _link_collection(body)
    CONTEXT.scene.collection.children.link(collection)
    own = collection.override_hierarchy_create(CONTEXT.scene, CONTEXT.view_layer, do_fully_editable=True)
    item = next(item for item in own.all_objects if item.name == name)
    CONTEXT.view_layer.objects.active = item
    return item


def _link_collection(body: Body) -> Any:
    """A linked collection that holds the rig and its meshes."""
    members = [body, *body.children_recursive]
    collection = DATA.collections.new("Character")
    for item in members:
        collection.objects.link(item)
    path = str(Path(DATA.filepath).with_name("character.blend"))
    DATA.libraries.write(path, {collection})
    VERBS.wm.read_factory_settings(use_empty=True)
    with DATA.libraries.load(path, link=True) as (_, wanted):
        wanted.collections = ["Character"]
    return wanted.collections[0]


def _link(name: str) -> Body:
    path = DATA.filepath
    VERBS.wm.read_factory_settings(use_empty=True)
    with DATA.libraries.load(path, link=True) as (_, wanted):
        wanted.objects = [name]
    item = wanted.objects[0]
    CONTEXT.scene.collection.objects.link(item)
    CONTEXT.view_layer.objects.active = item
    return item


@broken("scaled a hundredfold")
def _scale(body: Body) -> None:
    body.scale = (100.0,) * 3


@broken("mirrored by a negative scale")
def _mirror(body: Body) -> None:
    body.scale = (-1.0, 1.0, 1.0)


@broken("scaled to nothing")
def _flatten(body: Body) -> None:
    body.scale = (0.0,) * 3


@broken("parented to a scaled empty")
def _parent_rig(body: Body) -> None:
    empty = DATA.objects.new("Empty", None)
    CONTEXT.scene.collection.objects.link(empty)
    empty.scale = (2.0, 1.0, 1.0)
    body.parent = empty


@broken("a copy with the same armature")
def _copy_rig(body: Body) -> None:
    other = body.copy()
    CONTEXT.scene.collection.objects.link(other)
    CONTEXT.view_layer.objects.active = other


@broken("its meshes deleted")
def _delete_meshes(body: Body) -> None:
    for item in [item for item in DATA.objects if item.type == "MESH"]:
        DATA.objects.remove(item)


@broken("a mesh became a curve, another lost its link")
def _change_shapes(body: Body) -> None:
    shapes = list(armature.shapes_of(body).values())
    link = shapes[0][armature.LINK_KEY]
    DATA.objects.remove(shapes[0])
    curve = DATA.objects.new("curve", DATA.curves.new("curve", "CURVE"))
    CONTEXT.scene.collection.objects.link(curve)
    curve[armature.LINK_KEY], curve.parent = link, body
    shapes[1][armature.LINK_KEY] = "nowhere"


@broken("materials without their shader")
def _remove_shaders(body: Body) -> None:
    for material in DATA.materials:
        if material.node_tree is not None:
            material.node_tree.nodes.clear()
    shapes: list[Any] = list(armature.shapes_of(body).values())[:3]
    for shape in shapes:
        shape.data.materials[0] = None


@broken("no active object")
def _deactivate(body: Body) -> None:
    CONTEXT.view_layer.objects.active = None


@broken("no camera, world or markers")
def _remove_camera(body: Body) -> None:
    scene = CONTEXT.scene
    scene.camera, scene.world = None, None
    scene.timeline_markers.clear()


@broken("the action deleted")
def _delete_action(body: Body) -> None:
    DATA.actions.remove(body.animation_data.action)


@broken("an empty action")
def _empty_the_action(body: Body) -> None:
    body.animation_data.action = DATA.actions.new("empty")


@broken("no animation data")
def _clear_animation(body: Body) -> None:
    body.animation_data_clear()


@broken("NaN and infinite keys")
def _insert_nan_keys(body: Body) -> None:
    for number, curve in enumerate(_curves(body)):
        curve.keyframe_points[0].co.y = (float("nan"), float("inf"), -1e30)[number % 3]


@broken("keys at huge frames")
def _insert_far_keys(body: Body) -> None:
    for curve in list(_curves(body))[:4]:
        curve.keyframe_points.insert(1_000_000.0, 0.0)
        curve.keyframe_points.insert(-1_000_000.0, 0.0)


@broken("curves without keys")
def _remove_keys(body: Body) -> None:
    for curve in _curves(body):
        curve.keyframe_points.clear()


@broken("drivers that fail")
def _add_failing_drivers(body: Body) -> None:
    bone = body.pose.bones["left_upper_arm"]
    bone.driver_add("rotation_euler", 0).driver.expression = "1/0"
    bone.driver_add("location", 0).driver.expression = "nothing_of_this_name"


@broken("the action of another slot")
def _assign_other_slot(body: Body) -> None:
    action = body.animation_data.action
    body.animation_data.action_slot = action.slots.new(id_type="OBJECT", name="other")


@broken("an action without a slot")
def _clear_slot(body: Body) -> None:
    body.animation_data.action_slot = None


@broken("the dance only in the NLA")
def _push_to_nla(body: Body) -> None:
    animation = body.animation_data
    track = animation.nla_tracks.new()
    track.strips.new("dance", 1, animation.action)
    animation.action = None


@broken("zero frames")
def _clear_frame_range(body: Body) -> None:
    _remove_keys(body)
    scene = CONTEXT.scene
    scene.frame_end = scene.frame_start = 1


@broken("negative frames")
def _use_negative_frames(body: Body) -> None:
    scene = CONTEXT.scene
    CONTEXT.preferences.edit.use_negative_frames = True
    scene.use_preview_range = True
    scene.frame_preview_start, scene.frame_preview_end = -20, -10
    scene.frame_current = -15


@broken("one frame a second")
def _lower_frame_rate(body: Body) -> None:
    CONTEXT.scene.render.fps = 1


@broken("240 frames a second over 1.001")
def _raise_frame_rate(body: Body) -> None:
    CONTEXT.scene.render.fps, CONTEXT.scene.render.fps_base = 240, 1.001


@broken("the file was never saved")
def _make_unsaved(body: Body) -> None:
    name = body.name
    path = DATA.filepath
    VERBS.wm.read_factory_settings(use_empty=True)
    with DATA.libraries.load(path) as (_, wanted):
        wanted.objects = [name]
    CONTEXT.scene.collection.objects.link(wanted.objects[0])
    CONTEXT.view_layer.objects.active = wanted.objects[0]


@broken("the texts edited and deleted")
def _delete_texts(body: Body) -> None:
    for text in list(DATA.texts):
        DATA.texts.remove(text)


@broken("the recordings' objects deleted")
def _delete_recordings(body: Body) -> None:
    for collection in [one for one in DATA.collections if recording.RECORDING_KEY in one]:
        for item in list(collection.objects):
            DATA.objects.remove(item)


@broken("the study's folder missing")
def _delete_study_folder(body: Body) -> None:
    body[study.STUDY_KEY] = "//nowhere/at all"


@broken("the ghost's armature deleted")
def _no_ghost(body: Body) -> None:
    for item in [item for item in DATA.objects if "exciting_dance_ghost" in item]:
        DATA.armatures.remove(item.data)


@broken("the ghost's action deleted")
def _still_ghost(body: Body) -> None:
    for item in [item for item in DATA.objects if "exciting_dance_ghost" in item]:
        DATA.actions.remove(item.animation_data.action)


@broken("no recording on the list, none in the scene")
def _empty_list(body: Body) -> None:
    CONTEXT.scene.exciting_dance.files.clear()
    CONTEXT.scene.exciting_dance.file_index = 7


@broken("the list points past its end")
def _past_end(body: Body) -> None:
    CONTEXT.scene.exciting_dance["file_index"] = 9


@broken("other rotation modes")
def _rotation_modes(body: Body) -> None:
    for number, bone in enumerate(body.pose.bones):
        bone.rotation_mode = ("AXIS_ANGLE", "ZYX", "QUATERNION")[number % 3]


def _curves(body: Body) -> Iterator[bpy.types.FCurve]:
    animation = body.animation_data
    bag: Any = anim_utils.action_get_channelbag_for_slot(animation.action, animation.action_slot)
    yield from bag.fcurves


GARBAGE: dict[str, object] = {
    "a number": 7,
    "NaN": float("nan"),
    "a huge number": 1e300,
    "words": "not this",
    "nothing": "",
    "a million letters": "x" * 1_000_000,
    "bytes": b"\xff\x00\xfe",
    "an empty list": [],
    "three numbers": [1.0, float("inf"), float("nan")],
    "a group": {"mass": {"value": [1.0, 2.0]}, "version": 99},
    "deep JSON": "[" * 5000 + "]" * 5000,
    "JSON of another kind": '{"kind": "exciting dance rig", "version": 99}',
    "JSON with a huge number": '{"mass": 1e999, "shrink": 123456789012345678901234567890}',
    "a list of JSON": "[1, 2, 3]",
    "true": True,
}
"""What custom properties may hold instead of what the add-on wrote."""


def _fill(value: object, *, truncate: bool = False) -> Break:
    """What puts a value into every custom property of the add-on, wherever it keeps one."""

    def put(body: Body) -> None:
        owners = [body, body.data, *body.data.bones, *DATA.objects, *DATA.collections, *DATA.actions]
        for owner in owners:
            for name in [name for name in owner.keys() if name not in owner.bl_rna.properties]:  # noqa: SIM118
                old = owner[name]
                if truncate and isinstance(old, str):
                    owner[name] = old[: len(old) // 2]
                elif not truncate:
                    del owner[name]  # Blender refuses another type for some properties that exist
                    owner[name] = value
        if not truncate:
            for patch in ("left_sole", "right_sole"):
                body[timeline.CONTACT_PREFIX + patch] = value

    return put


for _name, _value in GARBAGE.items():
    BROKEN[f"custom properties: {_name}"] = _fill(_value)
BROKEN["custom properties: truncated"] = _fill(None, truncate=True)


@broken("the rig's text of another rig")
def _other_rig(body: Body) -> None:
    from solver.rigs import human

    armature.store_rig(body, human(1.75, 70.0, "male"))


@broken("the rig's digest missing")
def _no_digest(body: Body) -> None:
    del body.data[armature.DIGEST_KEY]


@broken("bones without inertials")
def _no_inertials(body: Body) -> None:
    for bone in list(body.data.bones)[::2]:
        for name in list(bone.keys()):
            del bone[name]


@broken("negative and NaN masses on the bones")
def _negative_masses(body: Body) -> None:
    for number, bone in enumerate(body.data.bones):
        bone["mass"] = (-1.0, float("nan"), 0.0, 1e30)[number % 4]


def open_broken(whole: Path, name: str) -> None:
    """Open the whole scene and break it."""
    VERBS.wm.open_mainfile(filepath=str(whole))
    BROKEN[name](find_rig())
