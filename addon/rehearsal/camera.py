"""Camera of a rehearsal video: the user's camera, or one that shows the whole dance."""

from __future__ import annotations

import bpy
import numpy as np
from mathutils import Vector

from ..base import convert
from .dance import RehearsedDance

AZIMUTH, ELEVATION = np.radians(8.0), np.radians(15.0)
"""[rad] Slightly from the side, so that arms and legs are visible; high enough to see the feet on the floor."""
FIELD_OF_VIEW = np.radians(28.0)
"""[rad] Vertical field of view."""
HEIGHT_FRACTION, WIDTH_FRACTION, VERTICAL_OFFSET = 0.74, 0.86, 0.015
"""Fractions of the picture that the dance may fill between the captions, and vertical offset of its centre."""
MAX_SAMPLES = 200
CLIP_START = 0.05


def automatic_camera(
    dance: RehearsedDance, times: np.ndarray, size: tuple[int, int], *, behind: bool
) -> bpy.types.Object:
    """Build a camera that shows every posture of a dance between the captions.

    Args:
        dance: the dance.
        times: (F,) [s] times of the dance that are shown.
        size: picture size in pixels.
        behind: whether the camera is behind the body instead of in front.
    """
    moments = np.unique(times)[:: max(1, len(np.unique(times)) // MAX_SAMPLES)]
    rotations, origins = dance.links_at(moments)
    rig = dance.rig
    corners = np.array([[[box[i, 0], box[j, 1], box[k, 2]] for i in (0, 1) for j in (0, 1) for k in (0, 1)]
                        for box in rig.boxes])  # fmt: skip
    # moments f, links l, corners c, axes i of the world, axes j of the link
    points = (np.einsum("flij,lcj->flci", rotations, corners) + origins[:, :, None]).reshape(-1, 3)
    forward = rotations[0, 0, :, 0]
    heading = float(np.arctan2(forward[1], forward[0])) + AZIMUTH + np.pi * behind
    data = bpy.data.cameras.new("Rehearsal camera")
    data.sensor_fit, data.angle, data.clip_start = "VERTICAL", FIELD_OF_VIEW, CLIP_START
    camera = bpy.data.objects.new("Rehearsal camera", data)
    back = np.array([np.cos(heading) * np.cos(ELEVATION), np.sin(heading) * np.cos(ELEVATION), np.sin(ELEVATION)])
    right = np.cross([0.0, 0.0, 1.0], back)
    right /= np.linalg.norm(right)
    up = np.cross(back, right)
    tangent = np.tan(0.5 * FIELD_OF_VIEW)
    tall, wide = tangent * HEIGHT_FRACTION, tangent * size[0] / size[1] * WIDTH_FRACTION
    spans = {axis: (points @ vector).tolist() for axis, vector in (("right", right), ("up", up), ("back", back))}
    middle = sum(
        (0.5 * (min(spans[axis]) + max(spans[axis])) * vector
         for axis, vector in (("right", right), ("up", up), ("back", back))),
        np.zeros(3),
    )  # fmt: skip
    offsets = points - middle
    depth = offsets @ back
    distance = max((np.abs(offsets @ up) / tall + depth).max(), (np.abs(offsets @ right) / wide + depth).max())
    position = middle + distance * back - 2.0 * VERTICAL_OFFSET * tangent * distance * up
    camera.location = Vector(position.tolist())
    camera.rotation_euler = Vector((-back).tolist()).to_track_quat("-Z", "Y").to_euler()
    data.clip_end = 100.0 * float(distance)
    return camera


def copy_camera(camera: bpy.types.Object) -> bpy.types.Object:
    """A copy of the user's camera at its current place, without depth of field."""
    data = camera.data.copy()
    assert isinstance(data, bpy.types.Camera)
    data.dof.use_dof = False
    data.animation_data_clear()
    copied = bpy.data.objects.new("Rehearsal camera", data)
    location, rotation, _ = camera.matrix_world.decompose()
    copied.location, copied.rotation_euler = location, rotation.to_euler()
    return copied


def mirror_matrix(camera: bpy.types.Object) -> np.ndarray:
    """Reflection (4, 4) that swaps left and right in a camera's picture; ignores the camera's scale."""
    seat = convert.to_array(camera.matrix_basis)
    return seat @ np.diag([-1.0, 1.0, 1.0, 1.0]) @ np.linalg.inv(seat)


def picture_frame(
    scene: bpy.types.Scene, camera: bpy.types.Object, distance: float
) -> tuple[float, float, float, float]:
    """Centre (x, y), width and height [m] of the picture at a distance from a camera, in camera axes."""
    data = camera.data
    assert isinstance(data, bpy.types.Camera)
    corners = np.array(data.view_frame(scene=scene), float)
    if data.type != "ORTHO":
        corners = corners * (distance / -corners[:, 2:])
    low, high = corners.min(axis=0), corners.max(axis=0)
    x, y = 0.5 * (low + high)[:2]
    return float(x), float(y), float(high[0] - low[0]), float(high[1] - low[1])
