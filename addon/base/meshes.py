"""Shapes as mesh data: capsules, boxes, spheres, ellipsoids, arrows, triangles from files."""

from __future__ import annotations

import bpy
import numpy as np

from .solver_api import Shape

SEGMENTS = 32
RINGS = 10
"""Rings of a hemisphere."""
RING_STEPS, TUBE_STEPS, TUBE_RADIUS = 48, 6, 0.02
"""Rings of an ellipsoid: corners along a ring, corners of its cross-section, and tube radius over ring radius."""


def shape_geometry(shape: Shape) -> tuple[np.ndarray, list]:
    """Vertices (V, 3) [m] in link axes and faces of a shape."""
    if shape.kind == "mesh":
        vertices, faces = shape.vertices * np.broadcast_to(shape.size or 1.0, 3), shape.faces.tolist()
    elif shape.kind == "capsule":
        radius, half = shape.size
        vertices, faces = _unit_sphere(split=True)
        vertices = radius * vertices + half * np.sign(vertices[:, 2:]) * np.array([0.0, 0.0, 1.0])
    elif shape.kind == "box":
        vertices, faces = _rounded_cube()
        vertices = vertices * np.array(shape.size)
    else:
        vertices, faces = _unit_sphere()
        vertices = vertices * np.broadcast_to(shape.size, 3)
    return vertices @ shape.rotation.T + shape.centre, faces


def build_mesh(name: str, parts: list[tuple[np.ndarray, list]], *, smooth: bool = True) -> bpy.types.Mesh:
    """Build one mesh from several geometries."""
    vertices: list = []
    faces: list = []
    for points, polygons in parts:
        faces += [[corner + len(vertices) for corner in polygon] for polygon in polygons]
        vertices += np.asarray(points).tolist()
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(vertices, [], faces)
    if smooth:
        mesh.polygons.foreach_set("use_smooth", [True] * len(mesh.polygons))
    mesh.validate()
    mesh.update()
    return mesh


def sphere_mesh(name: str, radius: float) -> bpy.types.Mesh:
    """A sphere with few faces; radius in [m]."""
    vertices, faces = _unit_sphere(12, 4)
    return build_mesh(name, [(radius * vertices, faces)])


def rings_mesh(name: str) -> bpy.types.Mesh:
    """Three great circles of the unit sphere as thin tubes, to be scaled to the semi-axes of an ellipsoid."""
    around = np.linspace(0.0, 2.0 * np.pi, RING_STEPS, endpoint=False)
    across = np.linspace(0.0, 2.0 * np.pi, TUBE_STEPS, endpoint=False)
    out = 1.0 + TUBE_RADIUS * np.cos(across)
    circle = np.stack([np.outer(np.cos(around), out), np.outer(np.sin(around), out),
                       np.tile(TUBE_RADIUS * np.sin(across), (RING_STEPS, 1))], axis=2)  # fmt: skip
    steps = [(r, k) for r in range(RING_STEPS) for k in range(TUBE_STEPS)]
    corners = ((0, 0), (1, 0), (1, 1), (0, 1))
    faces = [[(r + i) % RING_STEPS * TUBE_STEPS + (k + j) % TUBE_STEPS for i, j in corners] for r, k in steps]
    return build_mesh(name, [(np.roll(circle.reshape(-1, 3), turn, axis=1), faces) for turn in range(3)])


def arrow_mesh(name: str) -> bpy.types.Mesh:
    """An arrow of length 1 along +z from the origin."""
    shaft, head, neck = 0.018, 0.05, 0.85
    outline = np.array([(0.0, 0.0), (shaft, 0.0), (shaft, neck), (head, neck), (0.0, 1.0)])
    angles = np.linspace(0.0, 2.0 * np.pi, 16, endpoint=False)
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    vertices = [[radius * c[0], radius * c[1], z] for radius, z in outline for c in circle]
    return build_mesh(name, [(np.array(vertices), _quad_bands(len(outline), len(angles)))], smooth=False)


def bone_mesh(name: str, radius: float) -> bpy.types.Mesh:
    """A bone of length 1 along +y from the origin, as Blender draws them: thickest, ``radius`` [m], at a tenth."""
    around = [(radius, 0.1, 0.0), (0.0, 0.1, radius), (-radius, 0.1, 0.0), (0.0, 0.1, -radius)]
    faces = [[end, 1 + k, 1 + (k + 1) % 4] for end in (0, 5) for k in range(4)]
    return build_mesh(name, [(np.array([(0.0, 0.0, 0.0), *around, (0.0, 1.0, 0.0)]), faces)], smooth=False)


def _unit_sphere(segments: int = SEGMENTS, rings: int = RINGS, *, split: bool = False) -> tuple[np.ndarray, list]:
    """The unit sphere. ``split`` doubles the equator, so that moving the halves apart makes a capsule."""
    polar = np.linspace(0.0, 0.5 * np.pi, rings + 1)
    upper = np.cos(polar)
    upper[-1] = 1e-9 if split else 0.0  # the sign distinguishes the halves
    lower = -upper[::-1] if split else -upper[-2::-1]
    heights = np.concatenate([upper, lower])
    radii = np.sqrt(np.clip(1.0 - heights**2, 0.0, 1.0))
    angles = np.linspace(0.0, 2.0 * np.pi, segments, endpoint=False)
    top, bottom = np.array([[0.0, 0.0, 1.0]]), np.array([[0.0, 0.0, -1.0]])
    body = [[r * np.cos(a), r * np.sin(a), z] for r, z in zip(radii[1:-1], heights[1:-1]) for a in angles]
    bands = len(heights) - 2
    faces: list = [[0, 1 + k, 1 + (k + 1) % segments] for k in range(segments)]
    faces += [[corner + 1 for corner in face[::-1]] for face in _quad_bands(bands, segments)]
    last, end = 1 + (bands - 1) * segments, 1 + bands * segments
    faces += [[end, last + (k + 1) % segments, last + k] for k in range(segments)]
    return np.concatenate([top, np.array(body), bottom]), faces


def _rounded_cube(steps: int = 10) -> tuple[np.ndarray, list]:
    """The cube of half extent 1 with rounded edges."""
    grid = np.sin(np.linspace(-0.5 * np.pi, 0.5 * np.pi, steps + 1))  # denser at the edges, where the surface bends
    vertices: list = []
    faces: list = []
    for axis in range(3):
        for side in (-1.0, 1.0):
            first = len(vertices)
            for a in grid:
                for b in grid:
                    point = np.empty(3)
                    point[axis], point[(axis + 1) % 3], point[(axis + 2) % 3] = side, a, b
                    vertices.append(_round_point(point))
            for i in range(steps):
                for j in range(steps):
                    corner = first + i * (steps + 1) + j
                    quad = [corner, corner + steps + 1, corner + steps + 2, corner + 1]
                    faces.append(quad if side > 0 else quad[::-1])
    return np.array(vertices), faces


def _round_point(point: np.ndarray, radius: float = 0.2) -> np.ndarray:
    """Move a point of the cube's surface to the cube with rounded edges."""
    inner = np.clip(point, radius - 1.0, 1.0 - radius)
    outward = point - inner
    return inner + radius * outward / np.linalg.norm(outward)


def _quad_bands(rows: int, columns: int) -> list:
    return [
        [r * columns + k, r * columns + (k + 1) % columns, (r + 1) * columns + (k + 1) % columns, (r + 1) * columns + k]
        for r in range(rows - 1)
        for k in range(columns)
    ]
