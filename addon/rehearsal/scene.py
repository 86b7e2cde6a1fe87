"""Builds a separate scene for a rehearsal video: body, ghost, floor, footprints, light, captions, film."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import bpy
import numpy as np
from mathutils import Matrix, Vector

from ..base import bpy_access, convert
from ..base.solver_api import Rig, errors
from ..scene.action import add_motion_action, set_frame_rate
from ..scene.armature import link_shapes, shape_objects
from ..scene.skin import copy_with_link_slots, deform_by, has_link_materials, is_character_mesh, is_skin, skin_links
from .camera import automatic_camera, copy_camera, mirror_matrix
from .captions import add_captions
from .dance import RehearsedDance
from .film import add_film
from .floor import add_floor, add_footprints
from .materials import (
    GHOST_COLOUR,
    GHOST_COLOUR_ON_FILM,
    LEFT_COLOUR,
    MIDDLE_COLOUR,
    RIGHT_COLOUR,
    body_material,
    exclude_from_light,
    ghost_material,
    key_visibility,
)
from .options import Staging
from .plan import VideoPlan
from .roles import BODY, GHOST, set_role
from .video import COUNTS_KEY

SCENE_NAME = "Rehearsal"
TEMPORARY_STORES = (
    *("scenes", "collections", "objects", "armatures", "meshes", "curves", "materials", "actions", "cameras"),
    *("lights", "worlds", "images", "movieclips"),
)
GHOST_OFFSET = 0.008
"""Displacement of the ghost away from the camera, as a fraction of its distance."""
LIGHT_SETTINGS = -0.6, 1.5, 1.9
"""Azimuth from the camera [rad], height over distance, strength."""
BACKGROUND_GREY = 0.80
"""Linear grey of the background."""
SUN_ANGLE = np.radians(1.0)
"""[rad] Angular size of the light; sharp shadows need few samples."""


@contextmanager
def remove_added_data() -> Iterator[None]:
    """Within this context data may be added to the open file; it is removed afterwards."""
    before = {store: {item.session_uid for item in getattr(bpy.data, store)} for store in TEMPORARY_STORES}
    try:
        yield
    finally:
        made = [
            item
            for store in TEMPORARY_STORES
            for item in getattr(bpy.data, store)
            if item.session_uid not in before[store]
        ]
        bpy.data.batch_remove(made)


def build_scene(body: bpy.types.Object, danced: RehearsedDance, plan: VideoPlan, staging: Staging) -> bpy.types.Scene:
    """Build a scene whose frames 1 to len(plan) are those of the video.

    Args:
        body: armature with the shapes; it is not changed.
        danced: the dance.
        plan: plan of the video.
        staging: appearance of the video.

    Raises:
        InvalidValue: the body has no shapes, or the view has no camera.
        InputError: the film cannot be read.
    """
    if not shape_objects(body):
        raise errors.InvalidValue(f"{body.name!r} has no shapes to show: add the rig again")
    scene = bpy.data.scenes.new(SCENE_NAME)
    set_frame_rate(scene, plan.rate)
    scene.frame_start, scene.frame_end = 1, len(plan)
    scene[COUNTS_KEY] = plan.beats.tolist()
    scene.render.resolution_x, scene.render.resolution_y = staging.size
    scene.render.resolution_percentage = 100
    scene.camera = _choose_camera(danced, plan, staging)
    scene.collection.objects.link(scene.camera)
    stage = bpy.data.objects.new("Stage", None)
    scene.collection.objects.link(stage)
    if staging.mirror:
        stage.matrix_world = convert.to_matrix(mirror_matrix(scene.camera))
    shown = bpy.data.actions.new("Rehearsal shows")
    _add_dancer(scene, stage, body, danced, plan, staging.colours)
    for piece in _add_ghost(
        scene, stage, body, danced, plan, GHOST_COLOUR if staging.film is None else GHOST_COLOUR_ON_FILM
    ):
        key_visibility(shown, piece, np.isfinite(plan.ghosts))
    add_floor(scene, stage, danced, film=staging.film is not None, shadow=not staging.no_shadow)
    add_footprints(scene, stage, danced, plan, shown)
    _add_light(scene)
    add_captions(scene, danced, plan, staging.title, staging.mirror, shown)
    if staging.film is not None:
        add_film(scene, staging.film, plan, mirror=staging.mirror)
    return scene


def _choose_camera(danced: RehearsedDance, plan: VideoPlan, staging: Staging) -> bpy.types.Object:
    if staging.view != "camera":
        return automatic_camera(danced, plan.times, staging.size, behind=staging.view == "behind")
    camera = staging.camera
    if camera is None or not isinstance(camera.data, bpy.types.Camera):
        raise errors.InvalidValue("no camera is chosen: choose a camera, or the view Front")
    return copy_camera(camera)


def _add_dancer(
    scene: bpy.types.Scene,
    stage: bpy.types.Object,
    body: bpy.types.Object,
    danced: RehearsedDance,
    plan: VideoPlan,
    colours: str,
) -> None:
    """Add the dancer with the colours of a `Staging`."""
    sides = {left: "left" for left, _ in danced.rig.pairs} | {right: "right" for _, right in danced.rig.pairs}
    paints = {"left": body_material("Left", LEFT_COLOUR), "right": body_material("Right", RIGHT_COLOUR)}
    middle = body_material("Middle", MIDDLE_COLOUR)
    dancer = _copy_armature(scene, stage, body, danced.rig, "Dancer")
    for shape in shape_objects(body):
        links = skin_links(shape) or [link for link, other in link_shapes(body) if other == shape]
        materials = [paints.get(sides.get(link, ""), middle) for link in links] if colours == "sides" else []
        set_role(_copy_shape(scene, dancer, shape, materials), BODY)
    add_motion_action(scene, dancer, danced.motion(plan.times, _video_times(plan)), "Dancer")


def _add_ghost(
    scene: bpy.types.Scene,
    stage: bpy.types.Object,
    body: bpy.types.Object,
    danced: RehearsedDance,
    plan: VideoPlan,
    colour: tuple[float, float, float],
) -> list[bpy.types.Object]:
    """Add the ghost and return its objects; none if the plan has no ghost."""
    frames = np.flatnonzero(np.isfinite(plan.ghosts))
    if not len(frames):
        return []
    behind = bpy.data.objects.new("Behind", None)
    behind.parent, behind.matrix_basis = (
        stage,
        convert.to_matrix(_ghost_offset_matrix(bpy_access.require(scene.camera, "camera"))),
    )
    scene.collection.objects.link(behind)
    ghost = _copy_armature(scene, behind, body, danced.rig, "Ghost")
    material = ghost_material("Ghost", colour)
    pieces = [_copy_shape(scene, ghost, shape, [material]) for shape in shape_objects(body)]
    for piece in pieces:
        set_role(piece, GHOST)
        exclude_from_light(piece)
    add_motion_action(scene, ghost, danced.motion(plan.ghosts[frames], _video_times(plan)[frames]), "Ghost")
    return pieces


def _video_times(plan: VideoPlan) -> np.ndarray:
    """Times (F,) [s] of the video's frames."""
    return np.arange(len(plan)) / plan.rate


def _ghost_offset_matrix(camera: bpy.types.Object) -> np.ndarray:
    """Transform (4, 4) that moves objects slightly away from a camera without changing their image.

    Where ghost and body coincide, the body then hides the ghost.
    """
    seat = convert.to_array(camera.matrix_basis)
    assert isinstance(camera.data, bpy.types.Camera)
    away = np.eye(4)
    if camera.data.type == "ORTHO":
        away[2, 3] = -GHOST_OFFSET
    else:
        away[:3, :3] *= 1.0 + GHOST_OFFSET
    return seat @ away @ np.linalg.inv(seat)


def _copy_armature(
    scene: bpy.types.Scene, stage: bpy.types.Object, body: bpy.types.Object, rig: Rig, name: str
) -> bpy.types.Object:
    """Copy the body's armature, without animation and constraints."""
    double = bpy_access.require(body.copy(), "copy")
    double.name = name
    double.animation_data_clear()
    for key in list(double.keys()):
        del double[key]
    for constraint in list(double.constraints):
        double.constraints.remove(constraint)
    double.parent, double.matrix_parent_inverse = stage, Matrix()
    double.matrix_basis = Matrix()
    double.delta_location, double.delta_rotation_euler = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    double.delta_rotation_quaternion, double.delta_scale = (1.0, 0.0, 0.0, 0.0), (1.0, 1.0, 1.0)
    double.hide_render = double.hide_viewport = False
    if bpy_access.armature(double).pose_position != "POSE":
        double.data = bpy_access.armature(double).copy()
        bpy_access.armature(double).pose_position = "POSE"
    scene.collection.objects.link(double)
    for bone in bpy_access.pose_bones(double):
        bone.matrix_basis = Matrix()
    for link, joint in zip(rig.links, rig.joints, strict=True):
        bone = bpy_access.pose_bones(double)[link]
        for constraint in list(bone.constraints):
            bone.constraints.remove(constraint)
        bone.custom_shape = None
        bone.rotation_mode = "XYZ" if joint.hinge else "QUATERNION"
    return double


def _copy_shape(
    scene: bpy.types.Scene, armature: bpy.types.Object, shape: bpy.types.Object, materials: list[bpy.types.Material]
) -> bpy.types.Object:
    """Copy a shape to another armature, with a shared mesh; the last of the materials is for all further slots."""
    mesh = bpy_access.mesh(shape)
    if len(materials) > 1 and is_character_mesh(shape) and not has_link_materials(shape):
        mesh = copy_with_link_slots(shape)
    if materials and not mesh.materials:  # an object material needs a slot of the mesh
        mesh = bpy_access.require(mesh.copy(), "copy")
        mesh.materials.append(None)
    if is_skin(shape):
        piece = bpy_access.require(shape.copy(), "copy")
        piece.name, piece.data = f"{armature.name} {shape.name}", mesh
        deform_by(piece, armature)
    else:
        piece = bpy.data.objects.new(f"{armature.name} {shape.name}", mesh)
        piece.parent, piece.parent_type, piece.parent_bone = armature, "BONE", shape.parent_bone
    piece.matrix_parent_inverse, piece.matrix_basis = shape.matrix_parent_inverse.copy(), shape.matrix_basis.copy()
    scene.collection.objects.link(piece)
    if materials:
        for index, slot in enumerate(piece.material_slots):
            slot.link, slot.material = "OBJECT", materials[min(index, len(materials) - 1)]
    return piece


def _add_light(scene: bpy.types.Scene) -> None:
    camera = bpy_access.require(scene.camera, "camera")
    away = convert.to_array(camera.matrix_basis)[:3, 2]
    heading = float(np.arctan2(away[1], away[0]))
    azimuth, height, strength = LIGHT_SETTINGS
    data = bpy.data.lights.new("Light", "SUN")
    assert isinstance(data, bpy.types.SunLight)
    data.energy, data.angle = strength, float(SUN_ANGLE)
    lamp = bpy.data.objects.new("Light", data)
    toward = Vector((-np.cos(heading + azimuth), -np.sin(heading + azimuth), -height))
    lamp.rotation_euler = toward.to_track_quat("-Z", "Y").to_euler()
    scene.collection.objects.link(lamp)
    world = bpy.data.worlds.new(SCENE_NAME)
    scene.world = world
    if world.node_tree is None:
        world.use_nodes = True
    sky = world.node_tree.nodes["Background"]
    sky.inputs["Color"].default_value, sky.inputs["Strength"].default_value = (
        (BACKGROUND_GREY, BACKGROUND_GREY, BACKGROUND_GREY, 1.0),
        1.0,
    )
    light_path = world.node_tree.nodes.new("ShaderNodeLightPath")  # light from the background would add noise
    world.node_tree.links.new(light_path.outputs["Is Camera Ray"], sky.inputs["Strength"])
    world.cycles.sampling_method = "NONE"  # type: ignore[attr-defined]
