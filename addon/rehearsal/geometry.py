"""Triangles of Blender's objects, as they are drawn."""

from __future__ import annotations

from dataclasses import dataclass

import bpy
import numpy as np

NO_MATERIAL = 0.8, 0.8, 0.8
"""Linear colour of what has no material."""


@dataclass(slots=True)
class Geometry:
    """Triangles of an object.

    Attributes:
        triangles: (T, 3) indices of points.
        colours: (T, 3) linear colour of each triangle.
        points, normals: (V, 3) in the object's axes.
    """

    triangles: np.ndarray
    colours: np.ndarray
    points: np.ndarray
    normals: np.ndarray


def read_triangles(mesh: bpy.types.Mesh) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray]:
    """Vertices and face corners (T, 3) of a mesh's triangles, and their material slots (T,)."""
    mesh.calc_loop_triangles()
    count = len(mesh.loop_triangles)
    vertices, loops, slots = np.empty(3 * count, np.int32), np.empty(3 * count, np.int32), np.empty(count, np.int32)
    mesh.loop_triangles.foreach_get("vertices", vertices)
    mesh.loop_triangles.foreach_get("loops", loops)
    mesh.loop_triangles.foreach_get("material_index", slots)
    return (vertices.reshape(-1, 3), loops.reshape(-1, 3)), slots


def read_rigid(mesh: bpy.types.Mesh, item: bpy.types.Object) -> Geometry:
    """A shape by its face corners, so that edges stay sharp where the mesh's are."""
    (vertices, loops), slots = read_triangles(mesh)
    points, normals = np.empty((len(mesh.vertices), 3), np.float32), np.empty((len(mesh.loops), 3), np.float32)
    mesh.vertices.foreach_get("co", points.ravel())
    mesh.corner_normals.foreach_get("vector", normals.ravel())
    triangles = np.arange(vertices.size).reshape(-1, 3)
    colours = slot_colours(item)[slots]
    return Geometry(triangles, colours, points[vertices.ravel()], normals[loops.ravel()])


def slot_colours(item: bpy.types.Object) -> np.ndarray:
    """Linear colours (slots, 3) of an object's materials."""
    materials = [slot.material for slot in item.material_slots]
    found = [np.array(material.diffuse_color)[:3] if material else NO_MATERIAL for material in materials]
    return np.array(found or [NO_MATERIAL], np.float32)
