"""The camera of a painted picture: from the world to its pixels and back."""

from __future__ import annotations

from dataclasses import dataclass

import bpy
import numpy as np

from ...base import bpy_access, convert


@dataclass(slots=True)
class View:
    """A camera and its picture.

    Attributes:
        size: width and height [px].
        clip: (4, 4) from the world to clip coordinates.
        eye: (3,) [m] position of the camera; for an orthographic one, far behind it.
    """

    size: tuple[int, int]
    clip: np.ndarray
    eye: np.ndarray

    def project(self, points: np.ndarray, sampling: int = 1) -> np.ndarray:
        """Picture coordinates (V, 3) in samples from the upper left corner, and depth; NaN behind the camera."""
        clip = self.clip.astype(points.dtype)
        shown = points @ clip[:, :3].T + clip[:, 3]
        weight = np.where(shown[:, 3] > 1e-6, shown[:, 3], points.dtype.type(np.nan))
        wide, high = sampling * self.size[0], sampling * self.size[1]
        x, y = shown[:, 0] / weight, shown[:, 1] / weight
        return np.stack([0.5 * wide * (1.0 + x), 0.5 * high * (1.0 - y), shown[:, 2] / weight], axis=1)

    def rays(self) -> tuple[np.ndarray, np.ndarray]:
        """Start and direction (H, W, 3) of the ray through each pixel's centre."""
        wide, high = self.size
        x = 2.0 * (np.arange(wide) + 0.5) / wide - 1.0
        y = 1.0 - 2.0 * (np.arange(high) + 0.5) / high
        plane = np.stack([*np.meshgrid(x, y), np.ones((high, wide))], axis=-1)
        back = np.linalg.inv(self.clip)
        ends = []
        for depth in (-1.0, 0.5):
            point = np.concatenate([plane[:, :, :2], depth * plane[:, :, 2:], plane[:, :, 2:]], axis=2) @ back.T
            ends.append(point[:, :, :3] / point[:, :, 3:])
        away = ends[1] - ends[0]
        return ends[0], away / np.linalg.norm(away, axis=2, keepdims=True)


def read_view(scene: bpy.types.Scene, graph: bpy.types.Depsgraph) -> View:
    """The view of a scene's camera."""
    camera = bpy_access.require(scene.camera, "camera")
    wide, high = scene.render.resolution_x, scene.render.resolution_y
    seen = camera.evaluated_get(graph)
    location, rotation, _ = seen.matrix_world.decompose()
    seat = convert.to_array(rotation.to_matrix())
    outward = np.eye(4)
    outward[:3, :3], outward[:3, 3] = seat.T, -seat.T @ np.array(location)
    lens = convert.to_array(seen.calc_matrix_camera(graph, x=wide, y=high))
    assert isinstance(camera.data, bpy.types.Camera)
    eye = np.array(location) + (1e4 * seat[:, 2] if camera.data.type == "ORTHO" else 0.0)
    return View((wide, high), lens @ outward, eye)
