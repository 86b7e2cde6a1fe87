"""What the 3D views look at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import bpy
import numpy as np

from . import bpy_access as typed
from . import convert

SENSOR = 72.0
"""[mm] Width of the picture at the focal length of a 3D view's lens: Blender shows twice a camera's 36 mm."""
MARGIN_FACTOR = 1.15
"""Space around what is framed, as a factor of its size."""
SMALLEST_RADIUS = 0.1
"""[m] Half the size that is framed at least."""


def frame_objects(context: bpy.types.Context, items: Iterable[bpy.types.Object]) -> None:
    """Let every 3D view show these objects whole, from where it looks; a view through a camera stays as it is."""
    typed.view_layer(context).update()
    points = np.array([point for item in items for point in bounding_points(item)])
    if not len(points):
        return
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    radius = max(float(np.linalg.norm(points - middle, axis=1).max()), SMALLEST_RADIUS)
    for space, region in _views_3d(context):
        aim_view(space, middle, radius, (region.width, region.height))


def bounding_points(item: bpy.types.Object) -> np.ndarray:
    """Points (P, 3) [m], world, that hold an object at the present frame: its bounding box, or an armature's bones."""
    world = convert.to_array(item.matrix_world)
    if isinstance(item.data, bpy.types.Armature):
        bones = typed.pose_bones(item)
        local = np.array([end for bone in bones for end in (bone.head, bone.tail)]).reshape(-1, 3)
    else:
        local = np.array(item.bound_box).reshape(-1, 3)
    return local @ world[:3, :3].T + world[:3, 3]


def aim_view(space: bpy.types.SpaceView3D, middle: np.ndarray, radius: float, size: tuple[int, int]) -> None:
    """Let a view look at a ball.

    Args:
        space: the view.
        middle: (3,) [m] of the ball.
        radius: [m]
        size: width and height of the view [px].
    """
    view = typed.require(space.region_3d, "view")
    if view.view_perspective == "CAMERA":
        return
    narrow = 0.5 * SENSOR / space.lens * min(size) / max(*size, 1)  # tangent of half the angle of the shorter side
    view.view_location = middle.tolist()
    view.view_distance = (
        MARGIN_FACTOR * radius * float(np.hypot(1.0, 1.0 / narrow)) if narrow > 0.0 else view.view_distance
    )


def _views_3d(context: bpy.types.Context) -> Iterator[tuple[bpy.types.SpaceView3D, bpy.types.Region]]:
    """The 3D views of the window, and the region that each draws into."""
    areas = context.window.screen.areas if context.window is not None else ()
    for area in areas:
        if area.type == "VIEW_3D":
            region = next(region for region in area.regions if region.type == "WINDOW")
            assert isinstance(area.spaces.active, bpy.types.SpaceView3D)
            yield area.spaces.active, region
