"""Mesh files of a robot: finding them, reading them, and their convex hulls."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from ..base.errors import InputError
from ..values.shape import Shape
from .mesh_files import read_mesh

SCHEMES = ("package://", "model://")


@dataclass(frozen=True, slots=True)
class MeshSource:
    """A mesh file and its pose in a link.

    Attributes:
        path: of the file.
        scale: (3,).
        rotation: (3, 3) its axes in the link's.
        position: (3,) [m] its origin, link frame.
        mesh: vertices (V, 3) [m] and triangles (F, 3), if the file is not a mesh file (MJCF); else None.
    """

    path: Path
    scale: np.ndarray
    rotation: np.ndarray
    position: np.ndarray
    mesh: tuple[np.ndarray, np.ndarray] | None = None


def resolve_mesh_uri(uri: str, urdf: Path, packages: Sequence[Path]) -> Path | None:
    """Find the file of a mesh URI; None if it does not exist.

    ``package://name/rest`` is searched as ``name/rest`` in every given folder and every parent folder of the URDF, and
    as ``rest`` in those named ``name``. Other paths and ``file://`` URIs are relative to the URDF's folder. Those that
    lead nowhere, as paths of another machine do, are searched in the same way from each of their folders on, and by
    their last folder and name in the given folders.
    """
    scheme = next((each for each in SCHEMES if uri.startswith(each)), "file://")
    path = uri.removeprefix(scheme).replace("\\", "/")
    if scheme == "file://" and os.path.isfile(direct := urdf.parent / path):
        return direct
    parts = [part for part in re.sub(r"\$\(find (.*?)\)", r"\1", path).split("/") if part not in ("", ".", "..")]
    for k in range(len(parts)):
        for folder in (*packages, *urdf.resolve().parents):
            known = folder in packages and scheme == "file://" and k < len(parts) - 1
            if (k == 0 or known or folder.name == parts[k - 1]) and os.path.isfile(folder.joinpath(*parts[k:])):
                return folder.joinpath(*parts[k:])
    return None


def load_mesh(path: Path, scale: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Read vertices (V, 3) [m] and triangles (F, 3) of a mesh file.

    Raises:
        InputError: the file cannot be read.
    """
    vertices, triangles = read_mesh(path)
    return vertices * scale, triangles


def load_hull(link: str, path: Path, scale: np.ndarray) -> Shape:
    """Read the convex hull of a mesh file as a shape in the mesh's frame.

    Raises:
        InputError: the file cannot be read or has no volume.
    """
    return convex_hull(link, load_mesh(path, scale)[0], path)


def convex_hull(link: str, vertices: np.ndarray, path: Path) -> Shape:
    """Convex hull of points (V, 3) [m], triangles facing outward."""
    try:
        result = ConvexHull(vertices)
    except (QhullError, ValueError) as error:
        raise InputError(path, "the mesh is flat or empty") from error
    corners = vertices[result.vertices]
    renumbered = np.full(len(vertices), -1)
    renumbered[result.vertices] = np.arange(len(corners))
    faces = renumbered[result.simplices]
    centre = corners.mean(axis=0)
    normals = np.cross(corners[faces[:, 1]] - corners[faces[:, 0]], corners[faces[:, 2]] - corners[faces[:, 0]])
    # faces f, axes i
    inwards = np.einsum("fi,fi->f", normals, corners[faces[:, 0]] - centre) < 0
    faces[inwards] = faces[inwards][:, ::-1]
    return Shape(link, "mesh", (1.0, 1.0, 1.0), np.eye(3), np.zeros(3), corners, faces)


def cylinder_mesh(link: str, radius: float, length: float, sides: int = 24) -> Shape:
    """A cylinder along z as a closed mesh, since a capsule would have round ends."""
    angles = 2 * np.pi * np.arange(sides) / sides
    ring = np.column_stack([radius * np.cos(angles), radius * np.sin(angles)])
    low, high = (np.column_stack([ring, np.full(sides, z)]) for z in (-length / 2, length / 2))
    vertices = np.vstack([low, high])
    here, there = np.arange(sides), (np.arange(sides) + 1) % sides
    wall = [np.column_stack([here, there, there + sides]), np.column_stack([here, there + sides, here + sides])]
    inner = np.arange(1, sides - 1)
    caps = [
        np.column_stack([np.zeros_like(inner), inner + 1, inner]),
        np.column_stack([np.full_like(inner, sides), inner + sides, inner + 1 + sides]),
    ]
    return Shape(link, "mesh", (1.0, 1.0, 1.0), np.eye(3), np.zeros(3), vertices, np.vstack([*wall, *caps]))
