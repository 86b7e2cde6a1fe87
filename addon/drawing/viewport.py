"""Aims the 3D views at objects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import bpy
import numpy as np

from ..base import bpy_access, convert
from ..base.interpreter import ROOT
from ..scene.action import curves_of, frame_range

SENSOR = 72.0
"""[mm] Sensor width of a 3D view: twice that of a camera (36 mm)."""
MARGIN_FACTOR = 1.15
"""Size of the view over size of the framed objects."""
STARTUP_CUBE = "Cube"
"""Name of the cube in Blender's startup file; its half size is 1 m."""
WORKSPACE, WORKSPACE_FILE = "Dance", ROOT / "assets" / "workspace.blend"
"""Name of the workspace and of the tab; the file that `packaging/workspace.py` makes for the zip."""
DRAWING_TIME = 0.5
"""[s] in which Blender has drawn a new screen."""
SMALLEST_RADIUS = 0.1
"""[m] Smallest radius that is framed."""
VIEWED_FRAMES = 25
"""Frames, evenly spread over the scene's range, in which a moving object is framed: one who turns back is not lost."""


def frame_objects(context: bpy.types.Context, items: Iterable[bpy.types.Object]) -> None:
    """Move every 3D view so that it shows all of these objects while they move, from the same direction.

    Camera views stay.
    """
    bpy_access.view_layer(context).update()
    frames = np.linspace(*frame_range(bpy_access.scene(context)), VIEWED_FRAMES)
    found = [bounding_points(item) + moved for item in items for moved in keyed_path(item, frames)]
    if not found:
        return
    points = np.concatenate(found)
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    radius = max(float(np.linalg.norm(points - middle, axis=1).max()), SMALLEST_RADIUS)
    for space, region in _views_3d(context):
        aim_view(space, middle, radius, (region.width, region.height), _covered_width(context, space, region))


def start_posing(context: bpy.types.Context, body: bpy.types.Object) -> None:
    """Make a rig active, enter Pose Mode, except without a window, where nobody poses, and show the tab."""
    layer = bpy_access.view_layer(context)
    active = layer.objects.active
    if active is not None and active.mode != "OBJECT" and bpy.ops.object.mode_set.poll():  # type: ignore[call-arg]
        bpy.ops.object.mode_set(mode="OBJECT")
    for item in layer.objects.selected:
        item.select_set(False)
    body.select_set(True)
    layer.objects.active = body
    if not bpy.app.background and bpy.ops.object.mode_set.poll():  # type: ignore[call-arg]
        bpy.ops.object.mode_set(mode="POSE")
    open_tab()


def hide_startup_cube(context: bpy.types.Context) -> None:
    """Hide the cube of Blender's startup file, in which a body at the origin would be.

    Only an unchanged cube is hidden, and only in a window: no other object of the user is touched.
    """
    cube = None if bpy.app.background else bpy_access.view_layer(context).objects.get(STARTUP_CUBE)
    if cube is not None and cube.visible_get() and is_startup_cube(cube):
        cube.hide_set(True)


def is_startup_cube(item: bpy.types.Object) -> bool:
    """Whether an object is the cube of Blender's startup file, and nobody changed it."""
    if item.name != STARTUP_CUBE or not isinstance(item.data, bpy.types.Mesh) or item.mode != "OBJECT":
        return False
    if item.modifiers or item.animation_data or item.parent or item.children or len(item.data.vertices) != 8:
        return False
    corners = convert.to_array(item.matrix_world) @ np.c_[np.array(item.bound_box), np.ones(8)].T
    return bool(np.array_equal(np.abs(corners[:3]), np.ones((3, 8))))


def fit_timelines(context: bpy.types.Context) -> None:
    """Show the scene's whole range in the timelines."""
    for area in _timelines(context):
        region = next(region for region in area.regions if region.type == "WINDOW")
        with context.temp_override(window=context.window, area=area, region=region):
            if bpy.ops.action.view_all.poll():  # type: ignore[call-arg]
                bpy.ops.action.view_all()


def open_workspace(context: bpy.types.Context) -> None:
    """Show the workspace Dance, and the tab in it."""
    found, window = bpy.data.workspaces.get(WORKSPACE), bpy_access.require(context.window, "window")
    if found is None:
        bpy.ops.workspace.append_activate(idname=WORKSPACE, filepath=str(WORKSPACE_FILE))
    else:
        window.workspace = found
    bpy.app.timers.register(open_tab, first_interval=DRAWING_TIME)


def open_tab() -> None:
    """Open the sidebars of the 3D views, and the tab Dance in those that show one of Blender's own."""
    for space, _ in _views_3d(bpy.context):
        space.show_region_ui = True
    bpy.app.timers.register(_choose_tab, first_interval=DRAWING_TIME)


def _choose_tab() -> None:
    """Show the tab Dance in the sidebars, which must have been drawn."""
    for space, _ in _views_3d(bpy.context):
        area = next(area for area in bpy.context.screen.areas if area.spaces.active == space)
        sidebar = next(region for region in area.regions if region.type == "UI")
        if sidebar.active_panel_category in ("Item", "Tool", "View"):
            sidebar.active_panel_category = WORKSPACE


def _timelines(context: bpy.types.Context) -> Iterator[bpy.types.Area]:
    """Timelines and Dope Sheets of the window."""
    areas = context.window.screen.areas if context.window is not None else ()
    return (area for area in areas if area.type == "DOPESHEET_EDITOR")


def bounding_points(item: bpy.types.Object) -> np.ndarray:
    """Points (P, 3) [m] in the world that bound an object at the current frame: bounding box, or bones."""
    world = convert.to_array(item.matrix_world)
    if isinstance(item.data, bpy.types.Armature):
        bones = bpy_access.pose_bones(item)
        local = np.array([end for bone in bones for end in (bone.head, bone.tail)]).reshape(-1, 3)
    else:
        local = np.array(item.bound_box).reshape(-1, 3)
    return local @ world[:3, :3].T + world[:3, 3]


def keyed_path(item: bpy.types.Object, frames: np.ndarray) -> np.ndarray:
    """How far an object, or an armature's root bone, is keyed from its current place in frames (F,): (F, 3) [m]."""
    owner: bpy.types.Object | bpy.types.PoseBone = item
    path, axes = "location", np.eye(3)
    if isinstance(item.data, bpy.types.Armature) and item.data.bones:
        owner = bpy_access.pose_bones(item)[0]
        path = owner.path_from_id(path)
        axes = convert.to_array(item.matrix_world @ item.data.bones[0].matrix_local)[:3, :3]
    here, away = np.array(owner.location), np.zeros((len(frames), 3))
    for curve in curves_of(item):
        if curve.data_path == path:
            away[:, curve.array_index] = [curve.evaluate(frame) for frame in frames] - here[curve.array_index]
    return away @ axes.T


def _covered_width(context: bpy.types.Context, space: bpy.types.SpaceView3D, region: bpy.types.Region) -> int:
    """[px] Width of a view that its sidebar covers, on the right."""
    area = next(area for area in context.window.screen.areas if area.spaces.active == space)
    sidebars = [other for other in area.regions if other.type == "UI" and other.width > 1]
    return max((region.x + region.width - other.x for other in sidebars if other.x > region.x), default=0)


def aim_view(
    space: bpy.types.SpaceView3D, middle: np.ndarray, radius: float, size: tuple[int, int], covered: int = 0
) -> None:
    """Aim a view at a sphere, which is then in the middle of what is not covered.

    Args:
        space: the view.
        middle: centre (3,) [m] of the sphere.
        radius: radius of the sphere [m].
        size: width and height of the view [px].
        covered: width [px] on the right that something covers.
    """
    view = bpy_access.require(space.region_3d, "view")
    if view.view_perspective == "CAMERA":
        return
    half = 0.5 * SENSOR / space.lens / max(*size, 1)  # tangent of half the field of view, for one pixel
    narrow = half * min(size[0] - covered, size[1])
    if narrow > 0.0:
        view.view_distance = MARGIN_FACTOR * radius * float(np.hypot(1.0, 1.0 / narrow))
    rightward = convert.to_array(view.view_rotation.to_matrix())[:, 0]
    view.view_location = (middle + covered * half * view.view_distance * rightward).tolist()


def _views_3d(context: bpy.types.Context) -> Iterator[tuple[bpy.types.SpaceView3D, bpy.types.Region]]:
    """The 3D views of the window with their main regions."""
    areas = context.window.screen.areas if context.window is not None else ()
    for area in areas:
        if area.type == "VIEW_3D":
            region = next(region for region in area.regions if region.type == "WINDOW")
            assert isinstance(area.spaces.active, bpy.types.SpaceView3D)
            yield area.spaces.active, region
