"""Collision shapes of a rig, and bounding capsules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..base.arrays import list_names
from ..base.errors import InvalidValue
from ..engine import Solid, solid_of
from ..skeleton.rig import Rig
from ..values.shape import Shape

LIMB_RATIO = 1.5
"""A box longer than this many times its second side is fitted by a capsule."""
MIN_SHAPELESS_MASS = 0.5
"""If links without shapes have at least this share of the mass, their shapes are assumed to be missing."""
MIN_HALF_EXTENT = 1e-4
"""[m] Boxes with a smaller half extent have no shape."""
CAPSULE_KINDS = ("capsule", "sphere")
"""Shapes that are their own bounding capsule."""


@lru_cache(maxsize=8)
def collision_shapes(rig: Rig) -> tuple[tuple[Shape, ...], tuple[str, ...]]:
    """The rig's shapes and notes. If most of its links have none, shapes are fitted to their bounding boxes.

    A few links without shapes among many with shapes are axes of compound joints, or lie inside other links.
    """
    shaped = {shape.link for shape in rig.shapes}
    bare = [k for k, link in enumerate(rig.links) if link not in shaped]
    if shaped and rig.masses[bare].sum() < MIN_SHAPELESS_MASS * rig.prior.total_mass:
        heavy = [rig.links[k] for k in bare if rig.masses[k] > 0.0]
        note = f"Not checked for collisions because they have no shapes: {', '.join(heavy)}"
        return rig.shapes, (note,) if heavy else ()
    found = [shape for shape in [fit_shape(rig.links[k], *rig.boxes[k]) for k in bare] if shape is not None]
    notes: tuple[str, ...] = ()
    if found:
        which = "every link" if len(found) == len(rig.links) else ", ".join(shape.link for shape in found)
        notes = (f"Collision shapes fitted to the bounding boxes of {which}",)
    return (*rig.shapes, *found), notes


def fit_shape(link: str, lower: np.ndarray, upper: np.ndarray) -> Shape | None:
    """Capsule for a long box with corners (3,) [m], else a box; None without extent.

    The capsule touches the box's faces and cuts its edges off, as a limb does.
    """
    half = (upper - lower) / 2.0
    centre = (upper + lower) / 2.0
    if half.min() < MIN_HALF_EXTENT:
        return None
    order = np.argsort(half)
    if half[order[2]] < LIMB_RATIO * half[order[1]]:
        return Shape(link, "box", tuple(half), np.eye(3), centre)
    radius = float(half[order[1]])
    rotation = np.eye(3)[:, [(order[2] + 1) % 3, (order[2] + 2) % 3, order[2]]]
    return Shape(link, "capsule", (radius, float(half[order[2]]) - radius), rotation, centre)


@lru_cache(maxsize=8)
def collision_solids(rig: Rig) -> tuple[Solid, ...]:
    """The engine's solids of a rig's collision shapes, cached because convex hulls take a tenth of a second.

    Raises:
        InvalidValue: a mesh is flat, which may end the process instead of giving a distance.
    """
    shapes = collision_shapes(rig)[0]
    if flat := [shape.link for shape in shapes if shape.is_flat]:
        raise InvalidValue(
            f"meshes of {list_names(flat)} are flat, so distances to them are unknown: give them thickness"
        )
    return tuple(map(solid_of, shapes))


@dataclass(frozen=True, slots=True)
class Capsules:
    """Bounding capsules of S shapes.

    Attributes:
        link: (S,) index of the link.
        start, end: (S, 3) [m] ends of the axis, link frame.
        radius: (S,) [m].
        exact: (S,) True if the shape is a capsule or a sphere.
    """

    link: np.ndarray
    start: np.ndarray
    end: np.ndarray
    radius: np.ndarray
    exact: np.ndarray


def bounding_capsules(rig: Rig, shapes: Sequence[Shape]) -> Capsules:
    """Capsules that contain the shapes of a rig."""
    axes = [_capsule_axis(shape) for shape in shapes]
    return Capsules(
        np.array([rig.index(shape.link) for shape in shapes], int),
        np.array([axis[0] for axis in axes]).reshape(-1, 3),
        np.array([axis[1] for axis in axes]).reshape(-1, 3),
        np.array([axis[2] for axis in axes]),
        np.array([shape.kind in CAPSULE_KINDS for shape in shapes], bool),
    )


def _capsule_axis(shape: Shape) -> tuple[np.ndarray, np.ndarray, float]:
    rotation, centre, size = shape.rotation, shape.centre, shape.size
    if shape.kind == "sphere":
        return centre, centre, size[0]
    if shape.kind == "capsule":
        reach = rotation[:, 2] * size[1]
        return centre - reach, centre + reach, size[0]
    if shape.kind == "mesh":
        local = shape.vertices @ rotation
        lower, upper = local.min(axis=0), local.max(axis=0)
        centre, half = rotation @ (lower + upper) / 2.0, (upper - lower) / 2.0
    else:
        half = np.array(size)
    order = np.argsort(half)
    direction = rotation[:, order[2]]
    if shape.kind == "ellipsoid":  # with these ends the second radius contains the whole ellipsoid
        reach, radius = half[order[2]] - half[order[1]], half[order[1]]
    else:
        reach, radius = half[order[2]], np.hypot(half[order[0]], half[order[1]])
    return centre - direction * reach, centre + direction * reach, float(radius)


def lowest_points(shape: Shape, rotation: np.ndarray, position: np.ndarray) -> np.ndarray:
    """Height (N,) [m] of a shape's lowest point, from the rotation (N, 3, 3) and position (N, 3) of its link."""
    row, height = rotation[:, 2].T, position[:, 2]  # the vertical in link axes, (3, N)
    if shape.kind == "mesh":
        return np.asarray((shape.vertices @ row).min(axis=0) + height)
    centre = shape.centre @ row + height
    size = np.array(shape.size)
    if shape.kind == "sphere":
        return np.asarray(centre - size[0])
    if shape.kind == "capsule":
        return np.asarray(centre - size[0] - size[1] * np.abs(shape.rotation[:, 2] @ row))
    down = shape.rotation.T @ row  # in shape axes
    if shape.kind == "box":
        return np.asarray(centre - size @ np.abs(down))
    return np.asarray(centre - np.linalg.norm(down * size[:, None], axis=0))
