"""Triangles of Blender's objects, as they are drawn."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import bpy
import numpy as np

from ...base import bpy_access, convert
from ...scene.skin import SOFT_COLOURS, SOFT_KEY, is_character_mesh, is_skin

NO_MATERIAL = 0.8, 0.8, 0.8
"""Linear colour of what has no material."""


@dataclass(slots=True)
class Geometry:
    """Triangles of an object.

    Attributes:
        triangles: (T, 3) indices of points.
        colours: (T, 3) linear colour of each triangle.
        points, normals: (V, 3) in the object's axes.
        two_sided: (T,) whether the triangle is seen from behind, too: surfaces that may be open or inside out.
    """

    triangles: np.ndarray
    colours: np.ndarray
    points: np.ndarray
    normals: np.ndarray
    two_sided: np.ndarray


_NONE = np.zeros((0, 3), np.float32)
NOTHING = Geometry(np.zeros((0, 3), np.int32), _NONE, _NONE, _NONE, np.zeros(0, bool))


class GeometryReader:
    """Reads the triangles of objects; those that do not change are kept for the next frame."""

    def __init__(self) -> None:
        self._rigid: dict[str, Geometry] = {}
        self._faces: dict[str, tuple[np.ndarray, np.ndarray]] = {}

    def gather(self, items: Iterable[bpy.types.Object], graph: bpy.types.Depsgraph) -> Geometry:
        """All triangles of mesh objects, in the world."""
        parts, count = [], 0
        for item in items:
            seen = item.evaluated_get(graph)
            own = self._read(item, seen)
            place = convert.to_array(seen.matrix_world).astype(np.float32)
            turn = np.linalg.inv(place[:3, :3]).T
            triangles = own.triangles + count
            if np.linalg.det(turn) < 0.0:
                triangles = triangles[:, ::-1]
            points = own.points @ place[:3, :3].T + place[:3, 3]
            parts.append(Geometry(triangles, own.colours, points, own.normals @ turn.T, own.two_sided))
            count += len(points)
        if not parts:
            return NOTHING
        return Geometry(*(np.concatenate([getattr(p, n) for p in parts]) for n in Geometry.__slots__))

    def _read(self, item: bpy.types.Object, seen: bpy.types.Object) -> Geometry:
        """Triangles of an object in its own axes."""
        if item.name in self._rigid:
            return self._rigid[item.name]
        mesh = bpy_access.mesh(seen)
        if not item.modifiers:
            self._rigid[item.name] = _read_rigid(mesh, item)
            return self._rigid[item.name]
        if item.name not in self._faces:
            triangles, slots = read_triangles(mesh)
            soft = _soft_colours(item, mesh)
            colours = _slot_colours(item)[slots] if soft is None else soft[triangles[0]].mean(axis=1)
            self._faces[item.name] = triangles[0], colours
        faces, colours = self._faces[item.name]
        points, normals = np.empty((len(mesh.vertices), 3), np.float32), np.empty((len(mesh.vertices), 3), np.float32)
        mesh.vertices.foreach_get("co", points.ravel())
        mesh.vertex_normals.foreach_get("vector", normals.ravel())
        closed = is_skin(item) and not is_character_mesh(item)
        return Geometry(faces, colours, points, normals, np.full(len(faces), not closed))


def read_triangles(mesh: bpy.types.Mesh) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray]:
    """Vertices and face corners (T, 3) of a mesh's triangles, and their material slots (T,)."""
    mesh.calc_loop_triangles()
    count = len(mesh.loop_triangles)
    vertices, loops, slots = np.empty(3 * count, np.int32), np.empty(3 * count, np.int32), np.empty(count, np.int32)
    mesh.loop_triangles.foreach_get("vertices", vertices)
    mesh.loop_triangles.foreach_get("loops", loops)
    mesh.loop_triangles.foreach_get("material_index", slots)
    return (vertices.reshape(-1, 3), loops.reshape(-1, 3)), slots


def _read_rigid(mesh: bpy.types.Mesh, item: bpy.types.Object) -> Geometry:
    """A shape by its face corners, so that edges stay sharp where the mesh's are."""
    (vertices, loops), slots = read_triangles(mesh)
    points, normals = np.empty((len(mesh.vertices), 3), np.float32), np.empty((len(mesh.loops), 3), np.float32)
    mesh.vertices.foreach_get("co", points.ravel())
    mesh.corner_normals.foreach_get("vector", normals.ravel())
    triangles = np.arange(vertices.size).reshape(-1, 3)
    colours = _slot_colours(item)[slots]
    both = np.ones(len(triangles), bool)
    return Geometry(triangles, colours, points[vertices.ravel()], normals[loops.ravel()], both)


def _slot_colours(item: bpy.types.Object) -> np.ndarray:
    """Linear colours (slots, 3) of an object's materials."""
    materials = [slot.material for slot in item.material_slots]
    found = [np.array(material.diffuse_color)[:3] if material else NO_MATERIAL for material in materials]
    return np.array(found or [NO_MATERIAL], np.float32)


def _soft_colours(item: bpy.types.Object, mesh: bpy.types.Mesh) -> np.ndarray | None:
    """Linear colours (V, 3) of a skin whose colours change gradually between links; None for others."""
    attribute = mesh.color_attributes.get(SOFT_COLOURS) if item.get(SOFT_KEY, False) else None
    if attribute is None or len(attribute.data) != len(mesh.vertices):
        return None
    values = np.empty((len(mesh.vertices), 4), np.float32)
    attribute.data.foreach_get("color", values.ravel())
    return values[:, :3]
