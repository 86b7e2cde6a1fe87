"""Paints pictures of the coloured body, one panel per quantity; needs no display."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
from mathutils import Matrix, Vector

from ..base import bpy_access, convert, custom_properties
from ..base.transaction import all_or_nothing
from ..scene.armature import bone_axes, rig_of, shape_objects
from ..scene.colours import colour_body
from ..scene.recording import FORCE_KEY, RECORDING_KEY
from ..scene.scores import read_score
from .legend import make_legend, remove_legend
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
LAMP_AZIMUTH, LAMP_SLOPE = 0.9, 1.9
"""[rad] Direction of the lamp from the body's front, and its height over its distance."""
SEARCHED_FRAMES = 60


def render_body(
    context: bpy.types.Context,
    armature: bpy.types.Object,
    path: str | Path,
    quantities: tuple[str, ...] = PICTURED_QUANTITIES,
) -> Path:
    """Render a body once per quantity, side by side, in the pose of its motion that differs most from rest.

    Afterwards the first quantity colours the body; nothing else in the scene is changed.

    Returns:
        the picture's path (PNG).
    """
    scene, path = bpy_access.scene(context), Path(path)
    shares = [*read_score(armature, custom_properties.DETERMINED).values()]
    known = [q for q in quantities if q != "determined" or np.isfinite(shares).any()]
    render, frame = scene.render, (scene.frame_current, scene.frame_subframe)
    before = scene.camera, render.resolution_x, render.resolution_y
    panels: list[np.ndarray] = []
    with all_or_nothing():
        scene.frame_set(_most_bent_frame(scene, armature))
        points = _picture_points(context, armature)
        camera = _add_camera(scene, points, _heading(armature))
        scene.camera, render.resolution_x, render.resolution_y = camera, PANEL_WIDTH, PANEL_HEIGHT
        for quantity in reversed(known):  # the first quantity comes last because it stays
            legend = make_legend(scene.collection, colour_body(scene, armature, quantity))
            _attach_to_camera(legend, camera)
            panels.insert(0, _paint_panel(context, armature, legend, 0.5 * (points.min(axis=0) + points.max(axis=0))))
            remove_legend(legend)
        write_png(path, np.concatenate(panels, axis=1))
    bpy.data.batch_remove([camera, bpy_access.require(camera.data, "camera")])
    scene.camera, render.resolution_x, render.resolution_y = before
    scene.frame_set(frame[0], subframe=frame[1])
    return path


def _paint_panel(
    context: bpy.types.Context, armature: bpy.types.Object, legend: bpy.types.Object, middle: np.ndarray
) -> np.ndarray:
    """Paint the body as it is coloured, what was recorded with it, and the legend: (H, W, 3) sRGB, 8 bits.

    Args:
        context: of the scene.
        armature: of the body.
        legend: of its colours.
        middle: (3,) [m] of what is painted.
    """
    graph = context.evaluated_depsgraph_get()
    view, ground = read_view(bpy_access.scene(context), graph), np.eye(4)
    ground[:2, 3] = middle[:2]
    floor = paint_floor(view, ground, FLOOR_RADIUS)
    azimuth = _heading(armature) + LAMP_AZIMUTH
    lamp = np.array([np.cos(azimuth), np.sin(azimuth), LAMP_SLOPE])
    picture = to_srgb(floor.picture)
    painter = BodyPainter(view, floor, lamp / np.linalg.norm(lamp), exact_colours=True, sampling=SAMPLING)
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


def _add_camera(scene: bpy.types.Scene, points: np.ndarray, facing: float) -> bpy.types.Object:
    """Add a camera that sees all points, with the body to the right of the legend."""
    data = bpy.data.cameras.new("Camera")
    data.sensor_fit, data.angle, data.shift_x = "VERTICAL", FIELD_OF_VIEW, CAMERA_SHIFT
    camera = bpy.data.objects.new("Camera", data)
    scene.collection.objects.link(camera)
    azimuth = facing + AZIMUTH
    back = np.array([np.cos(azimuth) * np.cos(ELEVATION), np.sin(azimuth) * np.cos(ELEVATION), np.sin(ELEVATION)])
    right = np.array([-np.sin(azimuth), np.cos(azimuth), 0.0])
    up = np.cross(back, right)
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    middle = middle + sum(axis * 0.5 * (((points - middle) @ axis).max() + ((points - middle) @ axis).min()) for axis in (right, up))  # fmt: skip # noqa: E501
    away = points - middle
    tall = np.tan(0.5 * FIELD_OF_VIEW) / MARGIN_FACTOR
    wide = tall * (PANEL_WIDTH / PANEL_HEIGHT - 2.0 * abs(CAMERA_SHIFT))  # the body is beside the middle
    distance = max((np.abs(away @ up) / tall + away @ back).max(), (np.abs(away @ right) / wide + away @ back).max())
    camera.location = Vector((middle + distance * back).tolist())
    camera.rotation_euler = Vector((-back).tolist()).to_track_quat("-Z", "Y").to_euler()
    return camera


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
