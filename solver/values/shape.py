"""Shapes of links, for collisions and display, and polygons by which they touch the floor."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from ..base.arrays import Array, ArrayValue, frozen, require_lengths
from ..base.errors import InvalidValue, checked

KINDS = {"capsule": 2, "box": 3, "sphere": 1, "ellipsoid": 3, "mesh": 3}
"""Kinds of shapes and their number of sizes. By definition."""
EQUAL_AXES = 1e-9
"""Relative difference below which axes of an ellipsoid count as equal."""
LEAST_CORNERS = 3
"""By definition: three corners span a surface."""
FLAT = 1e-6
"""Thickness of a mesh over its length up to which it is flat. Of 20 random meshes of 20 corners each, the library of
distances takes all of this thickness, and ends the process at a thousandth of it."""


def sphere_directions(count: int) -> np.ndarray:
    """(count, 3) uniformly distributed unit directions (golden spiral)."""
    height = 1.0 - (2.0 * np.arange(count) + 1.0) / count
    turn = np.pi * (1.0 + np.sqrt(5.0)) * np.arange(count)
    ring = np.sqrt(1.0 - height**2)
    return np.column_stack([ring * np.cos(turn), ring * np.sin(turn), height])


@checked
@dataclass(frozen=True, slots=True)
class Shape:
    """A collision or display shape on a link.

    Attributes:
        link: that carries it.
        kind: ``"capsule"`` (size: radius, half length of the cylinder, along z), ``"box"`` (size: half extents),
            ``"sphere"`` (size: radius), ``"ellipsoid"`` (size: semi-axes) or ``"mesh"`` (size: scale; see vertices).
        size: [m], by kind.
        rotation: (3, 3) shape axes in link axes.
        centre: (3,) [m], link frame.
        vertices: (V, 3) [m], mesh only; empty otherwise.
        faces: (F, 3) indices, mesh only.
    """

    link: str
    kind: str
    size: tuple[float, ...]
    rotation: np.ndarray
    centre: np.ndarray
    vertices: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))
    faces: np.ndarray = field(default_factory=lambda: np.zeros((0, 3), int))

    def __post_init__(self) -> None:
        called = f"shape of link {self.link!r}"
        if self.kind not in KINDS:
            raise InvalidValue(f"{called}: kind {self.kind!r} is none of {', '.join(KINDS)}")
        object.__setattr__(self, "size", tuple(float(s) for s in self.size))
        if len(self.size) != KINDS[self.kind]:
            raise InvalidValue(f"{called}: a {self.kind} has {KINDS[self.kind]} sizes, got {len(self.size)}")
        object.__setattr__(self, "rotation", frozen("shape rotation", self.rotation, (3, 3)))
        object.__setattr__(self, "centre", frozen("shape centre", self.centre, (3,)))
        vertices = np.reshape(np.asarray(self.vertices, float), (-1, 3))
        object.__setattr__(self, "vertices", frozen("shape vertices", vertices, (None, 3)))
        if self.kind == "mesh" and len(vertices) < LEAST_CORNERS:
            raise InvalidValue(f"{called}: a mesh needs {LEAST_CORNERS} vertices or more, got {len(vertices)}")
        require_lengths(called, self.size, self.centre, self.vertices)
        faces = np.array(self.faces, int).reshape(-1, 3)
        if faces.size and not 0 <= faces.min() <= faces.max() < len(vertices):
            raise InvalidValue(f"{called}: a face refers to a vertex outside its {len(vertices)} vertices")
        faces.setflags(write=False)
        object.__setattr__(self, "faces", faces)

    @property
    def is_sphere(self) -> bool:
        """Whether it is a sphere, by kind or as an ellipsoid of equal axes (to `EQUAL_AXES`)."""
        equal = max(self.size) - min(self.size) <= EQUAL_AXES * max(self.size)
        return self.kind == "sphere" or (self.kind == "ellipsoid" and equal)

    @property
    def is_flat(self) -> bool:
        """Whether it is a mesh whose corners span no volume."""
        if self.kind != "mesh":
            return False
        longest, _, thickness = np.linalg.svd(self.vertices - self.vertices.mean(axis=0), compute_uv=False)
        return bool(thickness <= FLAT * longest)

    @property
    def volume(self) -> float:
        """[m^3]; for a mesh the volume enclosed by its triangles (divergence theorem), an estimate if it is open."""
        size = self.size
        if self.kind == "sphere":
            return float(4.0 / 3.0 * np.pi * size[0] ** 3)
        if self.kind == "capsule":
            return float(np.pi * size[0] ** 2 * (2.0 * size[1] + 4.0 / 3.0 * size[0]))
        if self.kind == "box":
            return float(8.0 * np.prod(size))
        if self.kind == "ellipsoid":
            return float(4.0 / 3.0 * np.pi * np.prod(size))
        corners = self.vertices[self.faces] * np.array(size)
        enclosed = np.einsum("fi,fi->f", corners[:, 0], np.cross(corners[:, 1], corners[:, 2]))  # faces f, axes i
        return abs(float(enclosed.sum())) / 6.0


@dataclass(frozen=True, slots=True)
class ContactPolygon(ArrayValue):
    """A flat contact patch on a link, such as a sole.

    Attributes:
        name: of the patch, ``"right_sole"``.
        link: that carries it.
        vertices: (V, 3) [m] in the link frame, counter-clockwise seen from outside the body (from below a sole).
        sole: whether it is the sole of a foot. Other patches (hands, knees) carry load only in contact strips.
        toes: whether toes bend, so that the heel may rise about the ball of the foot.
    """

    name: str
    link: str
    vertices: Annotated[np.ndarray, Array(None, 3)]
    sole: bool = True
    toes: bool = False

    def require_consistent(self) -> None:
        if len(self.vertices) < LEAST_CORNERS:
            raise InvalidValue(
                f"contact patch {self.name!r} has {len(self.vertices)} corners; it needs {LEAST_CORNERS}"
            )

    @property
    def centroid(self) -> np.ndarray:
        """Mean of the vertices (3,) [m], link frame."""
        return self.vertices.mean(axis=0)

    @property
    def outward(self) -> np.ndarray:
        """Unit normal (3,) away from the body, link frame, by the order of the corners."""
        sides = np.roll(self.vertices, -1, axis=0) - self.vertices
        normal = np.cross(sides, np.roll(sides, -1, axis=0)).sum(axis=0)
        return np.asarray(normal / np.linalg.norm(normal))
