"""Paints pictures of the coloured body, one panel per quantity; needs no display."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
from mathutils import Matrix, Vector

from ..base import bpy_access, convert, custom_properties, meshes
from ..base.transaction import all_or_nothing
from ..scene.armature import bone_axes, rig_of, shape_objects
from ..scene.colours import colour_body, plain_material
from ..scene.recording import FORCE_KEY, RECORDING_KEY
from ..scene.scores import read_score
from .legend import make_legend, remove_legends
from .painting.bodies import BodyPainter, to_srgb
from .painting.floor import paint_floor
from .painting.geometry import GeometryReader
from .painting.png import write_png
from .painting.sprites import draw_sprite
from .painting.view import read_view

PICTURED_QUANTITIES = ("mass", "change", "determined")
PANEL_WIDTH, PANEL_HEIGHT = 520, 760
SAMPLING = 3
"""Samples per pixel along each side."""
SAMPLES, SAMPLES_WITHOUT_DENOISER = 24, 192
"""Samples of Cycles, for a picture that the user renders again."""
FORCE_OPACITY = 0.5
"""Opacity of a force's arrow where the body hides it."""
FLOOR_RADIUS = 1.1
"""[m] Half the size of the light on the floor."""
AZIMUTH, ELEVATION = np.radians(38.0), np.radians(9.0)
"""[rad] Direction of the camera from the body's front and from the horizon."""
FIELD_OF_VIEW = np.radians(24.0)
"""[rad] Vertical; narrow, so that proportions are hardly distorted."""
MARGIN_FACTOR = 1.14
"""Size of the picture over size of the body."""
CAMERA_SHIFT = -0.05
"""Horizontal shift of the camera as a fraction of the picture's height; negative moves the body to the right."""
LEGEND_SIZE, LEGEND_LEFT, LEGEND_LOW = 0.28, -0.46, 0.05
"""Height of the colour bar, its left edge from the centre and its lower edge, as fractions of the picture."""
STAGE_NAME = "Stage"
LIGHTS = (("Key", 0.9, 1.9, 210.0, 3.0), ("Fill", -0.6, 0.6, 60.0, 4.0))
"""Name, azimuth from the body's front [rad], height over distance, power [W], size [m]."""
LIGHT_DISTANCE, FLOOR_SIZE, SKY_STRENGTH = 4.0, 30.0, 0.9
SEARCHED_FRAMES = 60


def render_body(
    context: bpy.types.Context,
    armature: bpy.types.Object,
    path: str | Path,
    quantities: tuple[str, ...] = PICTURED_QUANTITIES,
) -> Path:
    """Render a body once per quantity, side by side, in the pose of its motion that differs most from rest.

    Camera, lights, floor and the legend of the first quantity stay in the scene, so that it can be rendered again.

    Returns:
        the picture's path (PNG).
    """
    scene, path = bpy_access.scene(context), Path(path)
    shares = [*read_score(armature, custom_properties.DETERMINED).values()]
    known = [q for q in quantities if q != "determined" or np.isfinite(shares).any()]
    with all_or_nothing():
        scene.frame_set(_most_bent_frame(scene, armature))
        stage = _build_stage(context, armature)
        _set_render_settings(scene)
        remove_legends(scene)
        panels: list[np.ndarray] = []
        for quantity in reversed(known):  # the first quantity comes last because it stays
            remove_legends(scene)
            shown = colour_body(scene, armature, quantity)
            legend = make_legend(stage, shown)
            _attach_to_camera(legend, bpy_access.require(scene.camera, "camera"))
            panels.insert(0, _paint_panel(context, armature, legend))
        write_png(path, np.concatenate(panels, axis=1))
    return path


def _paint_panel(context: bpy.types.Context, armature: bpy.types.Object, legend: bpy.types.Object) -> np.ndarray:
    """Paint the body as it is coloured, what was recorded with it, and the legend: (H, W, 3) sRGB, 8 bits."""
    graph = context.evaluated_depsgraph_get()
    view = read_view(bpy_access.scene(context), graph)
    ground, key = (bpy.data.objects[name].evaluated_get(graph) for name in ("Floor", "Key"))
    floor = paint_floor(view, convert.to_array(ground.matrix_world), FLOOR_RADIUS)
    lamp = convert.to_array(key.matrix_world)[:3, 2]
    picture = to_srgb(floor.picture)
    painter = BodyPainter(view, floor, lamp, exact_colours=True, sampling=SAMPLING)
    shown, reader = _pictured_objects(context, armature), GeometryReader()
    casters = reader.gather(shape_objects(armature), graph)  # shadows of markers would look like stains
    painter.paint(picture, floor.picture, reader.gather(shown, graph), casters=casters)
    for item in (item for item in shown if FORCE_KEY in item):
        sprite = draw_sprite(view, item.evaluated_get(graph))
        sprite.opacity *= FORCE_OPACITY
        sprite.blend(picture)
    for item in (legend, *legend.children):
        draw_sprite(view, item.evaluated_get(graph)).blend(picture)
    return picture


def _pictured_objects(context: bpy.types.Context, armature: bpy.types.Object) -> list[bpy.types.Object]:
    """Shapes of the body, and visible markers and forces."""
    recorded = [item for item in context.visible_objects if RECORDING_KEY in item and not item.hide_render]
    return [*shape_objects(armature), *recorded]


def _most_bent_frame(scene: bpy.types.Scene, armature: bpy.types.Object) -> int:
    """The frame whose pose differs most from rest, ignoring the root's movement."""
    if armature.animation_data is None or armature.animation_data.action is None:
        return scene.frame_current
    frames = np.unique(np.linspace(scene.frame_start, scene.frame_end, SEARCHED_FRAMES).round().astype(int))
    bend = []
    for frame in frames:
        scene.frame_set(int(frame))
        turns = (bone.matrix_basis.to_quaternion().angle for bone in armature.pose.bones if bone.parent)
        bend.append(sum(min(turn, 2.0 * np.pi - turn) for turn in turns))
    return int(frames[int(np.argmax(bend))])


def _build_stage(context: bpy.types.Context, armature: bpy.types.Object) -> bpy.types.Collection:
    """Build camera, lights and floor around the body's current pose."""
    scene = context.scene
    old = bpy.data.collections.get(STAGE_NAME)
    if old is not None:
        bpy.data.batch_remove([*old.objects, old])
    stage = bpy.data.collections.new(STAGE_NAME)
    scene.collection.children.link(stage)
    facing = _heading(armature)
    points = _picture_points(context, armature)
    scene.camera = _add_camera(stage, points, facing)
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    for name, azimuth, height, power, size in LIGHTS:
        data = bpy.data.lights.new(name, "AREA")
        assert isinstance(data, bpy.types.AreaLight)
        data.energy, data.size = power, size
        lamp = bpy.data.objects.new(name, data)
        away = np.array([np.cos(facing + azimuth), np.sin(facing + azimuth), height])
        _aim(lamp, middle + LIGHT_DISTANCE * away / np.linalg.norm(away), middle)
        stage.objects.link(lamp)
    mesh = meshes.build_mesh(
        "Floor", [(FLOOR_SIZE * np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]]), [[0, 1, 2, 3]])]
    )
    mesh.materials.append(plain_material("Floor", (0.8, 0.8, 0.8)))
    floor = bpy.data.objects.new("Floor", mesh)
    floor.location = middle[0], middle[1], 0.0
    floor.is_shadow_catcher = True
    floor.hide_viewport = True
    stage.objects.link(floor)
    return stage


def _heading(armature: bpy.types.Object) -> float:
    """Heading of the root link [rad], 0 along world x."""
    rig = rig_of(armature)
    bone = convert.to_array(armature.matrix_world @ armature.pose.bones[rig.links[0]].matrix)[:3, :3]
    forward = bone @ bone_axes(armature, rig)[0, 0]
    return float(np.arctan2(forward[1], forward[0]))


def _picture_points(context: bpy.types.Context, armature: bpy.types.Object) -> np.ndarray:
    """Points (P, 3) [m] that must be in the picture: vertices of shapes, forces and markers."""
    graph = context.evaluated_depsgraph_get()
    clouds = []
    for item in _pictured_objects(context, armature):
        shown = item.evaluated_get(graph)
        matrix, mesh = convert.to_array(shown.matrix_world), bpy_access.mesh(shown)
        vertices = np.empty(3 * len(mesh.vertices))
        mesh.vertices.foreach_get("co", vertices)
        clouds.append(vertices.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3])
    return np.concatenate(clouds) if clouds else np.array([[-0.5, -0.5, 0.0], [0.5, 0.5, 1.8]])


def _add_camera(stage: bpy.types.Collection, points: np.ndarray, facing: float) -> bpy.types.Object:
    """Add a camera that sees all points, with the body to the right of the legend."""
    data = bpy.data.cameras.new("Camera")
    data.sensor_fit, data.angle, data.shift_x = "VERTICAL", FIELD_OF_VIEW, CAMERA_SHIFT
    camera = bpy.data.objects.new("Camera", data)
    stage.objects.link(camera)
    azimuth = facing + AZIMUTH
    back = np.array([np.cos(azimuth) * np.cos(ELEVATION), np.sin(azimuth) * np.cos(ELEVATION), np.sin(ELEVATION)])
    right = np.cross([0.0, 0.0, 1.0], back)
    right /= np.linalg.norm(right)
    up = np.cross(back, right)
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    middle = middle + sum(axis * 0.5 * (((points - middle) @ axis).max() + ((points - middle) @ axis).min()) for axis in (right, up))  # fmt: skip # noqa: E501
    away = points - middle
    tall = np.tan(0.5 * FIELD_OF_VIEW) / MARGIN_FACTOR
    wide = tall * (PANEL_WIDTH / PANEL_HEIGHT - 2.0 * abs(CAMERA_SHIFT))  # the body is beside the middle
    distance = max((np.abs(away @ up) / tall + away @ back).max(), (np.abs(away @ right) / wide + away @ back).max())
    _aim(camera, middle + distance * back, middle)
    return camera


def _aim(item: bpy.types.Object, position: np.ndarray, target: np.ndarray) -> None:
    item.location = Vector(position.tolist())
    item.rotation_euler = Vector((target - position).tolist()).to_track_quat("-Z", "Y").to_euler()


def _attach_to_camera(legend: bpy.types.Object, camera: bpy.types.Object) -> None:
    """Attach a legend to the picture's lower left corner."""
    height = 2.0 * np.tan(0.5 * FIELD_OF_VIEW)  # of the picture at a distance of 1 m
    width = height * PANEL_WIDTH / PANEL_HEIGHT
    legend.parent = camera
    legend.matrix_parent_inverse = Matrix()
    legend.rotation_euler = (0.0, 0.0, 0.0)
    legend.scale = (LEGEND_SIZE * height,) * 3
    legend.location = (
        (LEGEND_LEFT + CAMERA_SHIFT * PANEL_HEIGHT / PANEL_WIDTH) * width,
        (LEGEND_LOW - 0.5) * height,
        -1.0,
    )


def has_denoiser() -> bool:
    """Whether this Blender's Cycles can remove noise; Debian's cannot."""
    try:
        import _cycles  # type: ignore[import-not-found]
    except ImportError:
        return False
    return bool(getattr(_cycles, "with_openimagedenoise", False))


def _set_render_settings(scene: bpy.types.Scene) -> None:
    render = scene.render
    render.engine, render.film_transparent = "CYCLES", True  # type: ignore[assignment]
    render.resolution_x, render.resolution_y, render.resolution_percentage = PANEL_WIDTH, PANEL_HEIGHT, 100
    render.image_settings.file_format, render.image_settings.color_mode = "PNG", "RGBA"
    cycles = scene.cycles  # type: ignore[attr-defined]
    denoiser = has_denoiser()
    cycles.device, cycles.samples = "CPU", SAMPLES if denoiser else SAMPLES_WITHOUT_DENOISER
    cycles.use_denoising, cycles.denoising_prefilter = denoiser, "FAST"
    cycles.max_bounces, cycles.use_light_tree = 0, False  # white objects on a white background need no indirect light
    if hasattr(cycles, "denoising_quality"):
        cycles.denoising_quality = "FAST"
    scene.view_settings.view_transform = "Standard"  # colours must match the legend exactly
    world = scene.world or bpy.data.worlds.new("World")
    scene.world = world
    if world.node_tree is None:
        world.use_nodes = True
    sky = world.node_tree.nodes["Background"]
    sky.inputs["Color"].default_value, sky.inputs["Strength"].default_value = (1.0, 1.0, 1.0, 1.0), SKY_STRENGTH
