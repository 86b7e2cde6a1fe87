"""Renders pictures of the coloured body, one panel per quantity, with Cycles on the CPU; needs no display."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import bpy
import numpy as np
from mathutils import Matrix, Vector

from . import bpy_access, convert, meshes
from .armature import bone_axes, rig_of, shape_objects
from .colours import colour_body, linear_to_srgb, plain_material, srgb_to_linear
from .inertials import read_inertials
from .legend import make_legend, remove_legends
from .recording import RECORDING_KEY
from .transaction import all_or_nothing

PICTURED_QUANTITIES = ("mass", "change", "determined")
PANEL_WIDTH, PANEL_HEIGHT = 520, 760
SAMPLES, LIGHT_SAMPLES, FLAT_SAMPLES = 24, 3, 8
"""Samples for a picture that the user renders again; for the lighting that all panels share, which is smooth and
denoised (a fifth of the cost of ten more samples); and for flat colours and text, where they only smooth edges."""
BACKGROUND = 0.93
"""sRGB grey of the background."""
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
WHITE_PERCENTILE = 92.0
"""Percentile of the light that counts as white, where colours match the legend exactly."""
SHADOW_STRENGTH = 0.6
"""Strength of the shadow on the floor."""
FLAT_SHADER = {
    "Base Color": (0.0, 0.0, 0.0, 1.0),
    "Specular IOR Level": 0.0,
    "Emission Color": None,
    "Emission Strength": 1.0,
}
"""Shader inputs for exact colours without lighting; None stands for the material's own colour."""
LIGHTS = (("Key", 1.2, 1.3, 210.0, 3.0), ("Fill", -0.6, 0.6, 60.0, 4.0))
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
    known = [q for q in quantities if q != "determined" or read_inertials(armature).determined is not None]
    with all_or_nothing():
        scene.frame_set(_most_bent_frame(scene, armature))
        stage = _build_stage(context, armature)
        _set_render_settings(scene)
        remove_legends(scene)
        light = _render_light(context)
        panels: list[np.ndarray] = []
        for quantity in reversed(known):  # the first quantity comes last because it stays
            remove_legends(scene)
            shown = colour_body(scene, armature, quantity)
            with flat_colours(scene):
                body = _render_array(scene, FLAT_SAMPLES)
            legend = make_legend(stage, shown)
            _attach_to_camera(legend, bpy_access.require(scene.camera, "camera"))
            with render_only(scene, (legend, *legend.children)):
                panels.insert(0, compose_panel(light, body, _render_array(scene, FLAT_SAMPLES)))
        _save_image(np.concatenate(panels, axis=1), path)
    return path


def compose_panel(light: np.ndarray, body: np.ndarray, legend: np.ndarray) -> np.ndarray:
    """Compose a panel (rows, columns, 3) in sRGB from three linear images (rows, columns, 4) with associated alpha.

    Args:
        light: everything white in the scene's light, with shadows on the floor.
        body: the same view in flat colours.
        legend: the legend alone.
    """
    cover = body[:, :, 3:]
    shadow = np.clip((light[:, :, 3:] - cover) / np.maximum(1.0 - cover, 1e-3), 0.0, 1.0) * SHADOW_STRENGTH
    white = np.percentile(light[:, :, :3][cover[:, :, 0] > 0.99], WHITE_PERCENTILE) if (cover > 0.99).any() else 1.0
    lit = body[:, :, :3] * light[:, :, :3] / (white * np.maximum(cover, 1e-3))
    page = np.full(3, srgb_to_linear((BACKGROUND,) * 3)[:3])
    picture = lit + (1.0 - cover) * (1.0 - shadow) * page
    picture = legend[:, :, :3] + (1.0 - legend[:, :, 3:]) * picture
    return linear_to_srgb(np.clip(picture, 0.0, 1.0))


@contextmanager
def flat_colours(scene: bpy.types.Scene) -> Iterator[None]:
    """Within this context all objects have flat colours, and the floor is hidden."""
    shaders = [m.node_tree.nodes["Principled BSDF"] for m in bpy.data.materials if _has_shader(m)]
    kept = [[_input_value(shader, name) for name in FLAT_SHADER] for shader in shaders]
    for shader in shaders:
        colour = _input_value(shader, "Base Color")
        if _input_value(shader, "Emission Strength") == 0.0:
            _move_link(shader, "Base Color", "Emission Color")
            for name, value in FLAT_SHADER.items():
                shader.inputs[name].default_value = colour if value is None else value
    floor = bpy.data.objects["Floor"]
    floor.hide_render = True
    try:
        yield
    finally:
        floor.hide_render = False
        for shader, values in zip(shaders, kept):
            if values[list(FLAT_SHADER).index("Emission Strength")] == 0.0:
                _move_link(shader, "Emission Color", "Base Color")
            for name, value in zip(FLAT_SHADER, values):
                shader.inputs[name].default_value = value


@contextmanager
def render_only(scene: bpy.types.Scene, items: tuple[bpy.types.Object, ...]) -> Iterator[None]:
    """Within this context only these objects are rendered."""
    hidden = [item for item in scene.objects if item not in items and item.type != "CAMERA" and not item.hide_render]
    for item in hidden:
        item.hide_render = True
    try:
        yield
    finally:
        for item in hidden:
            item.hide_render = False


def _render_light(context: bpy.types.Context) -> np.ndarray:
    """Render everything in white: the lighting, which all panels share."""
    white = plain_material("White", (1.0, 1.0, 1.0))
    layer = context.view_layer
    layer.material_override = white
    try:
        return _render_array(bpy_access.scene(context), LIGHT_SAMPLES, denoise=True)
    finally:
        layer.material_override = None
        bpy.data.materials.remove(white)


def _render_array(scene: bpy.types.Scene, samples: int, *, denoise: bool = False) -> np.ndarray:
    """Render to an array (rows, columns, 4), linear, with associated alpha, bottom row first."""
    render, cycles = scene.render, scene.cycles  # type: ignore[attr-defined]
    before = cycles.samples, cycles.use_denoising, render.image_settings.file_format, render.filepath
    cycles.samples, cycles.use_denoising, render.image_settings.file_format = samples, denoise, "OPEN_EXR"
    try:
        with tempfile.TemporaryDirectory() as folder:
            render.filepath = str(Path(folder) / "shot.exr")
            bpy.ops.render.render(write_still=True)
            image = bpy.data.images.load(render.filepath)
            width, height = (image.size[side] for side in (0, 1))  # type: ignore[index]
            values = np.empty(width * height * 4, np.float32)
            image.pixels.foreach_get(values)
            bpy.data.images.remove(image)
    finally:
        cycles.samples, cycles.use_denoising, render.image_settings.file_format, render.filepath = before
    return values.reshape(height, width, 4)


def _has_shader(material: bpy.types.Material) -> bool:
    return material.node_tree is not None and "Principled BSDF" in material.node_tree.nodes


def _move_link(shader: bpy.types.Node, name: str, other: str) -> None:
    """Move the link of an input, if it has one, to another input of the shader."""
    tree = shader.id_data
    assert isinstance(tree, bpy.types.NodeTree)
    for link in shader.inputs[name].links or ():
        source = bpy_access.require(link.from_socket, "source of a node's link")
        tree.links.remove(link)
        tree.links.new(source, shader.inputs[other])


def _input_value(shader: bpy.types.Node, name: str) -> float | tuple[float, ...]:
    value = shader.inputs[name].default_value  # type: ignore[attr-defined]
    return value if isinstance(value, float) else tuple(value)


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
    recorded = [item for item in context.visible_objects if RECORDING_KEY in item and not item.hide_render]
    for item in (*shape_objects(armature), *recorded):
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


def _set_render_settings(scene: bpy.types.Scene) -> None:
    render = scene.render
    render.engine, render.film_transparent = "CYCLES", True  # type: ignore[assignment]
    render.resolution_x, render.resolution_y, render.resolution_percentage = PANEL_WIDTH, PANEL_HEIGHT, 100
    render.image_settings.file_format, render.image_settings.color_mode = "PNG", "RGBA"
    cycles = scene.cycles  # type: ignore[attr-defined]
    cycles.device, cycles.samples = "CPU", SAMPLES
    cycles.use_denoising, cycles.denoising_prefilter = True, "FAST"
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


def _save_image(picture: np.ndarray, path: Path) -> None:
    image = bpy.data.images.new("picture", picture.shape[1], picture.shape[0])
    image.pixels.foreach_set(np.dstack([picture, np.ones(picture.shape[:2])]).astype(np.float32).ravel())  # type: ignore[arg-type]
    image.filepath_raw, image.file_format = str(path), "PNG"
    image.save()
    bpy.data.images.remove(image)
