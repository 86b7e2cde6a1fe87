"""Simple solids: shapes on links, their inertias, boxes around them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..base.so3 import rotation_between
from ..values.shape import Shape

UP = np.array([0.0, 0.0, 1.0])
"""Axis of capsules and segments before they are rotated. By definition."""


def capsule(link: str, start: Sequence[float] | np.ndarray, end: Sequence[float] | np.ndarray, radius: float) -> Shape:
    """Capsule with sphere centres ``start`` and ``end`` (3,) [m]; a sphere if they coincide."""
    start, end = np.asarray(start, float), np.asarray(end, float)
    length = float(np.linalg.norm(end - start))
    if length < 1e-9:
        return Shape(link, "sphere", (radius,), np.eye(3), start)
    return Shape(link, "capsule", (radius, length / 2), rotation_between(UP, end - start), (start + end) / 2)


def box(link: str, lower: Sequence[float] | np.ndarray, upper: Sequence[float] | np.ndarray) -> Shape:
    """Axis-aligned box between two corners (3,) [m]."""
    lower, upper = np.asarray(lower, float), np.asarray(upper, float)
    return Shape(link, "box", tuple((upper - lower) / 2), np.eye(3), (lower + upper) / 2)


def ellipsoid(link: str, centre: Sequence[float] | np.ndarray, semi_axes: Sequence[float] | np.ndarray) -> Shape:
    """Ellipsoid with its semi-axes (3,) [m] along the link axes."""
    return Shape(link, "ellipsoid", tuple(np.asarray(semi_axes, float)), np.eye(3), np.asarray(centre, float))


def shape_bounds(shape: Shape) -> np.ndarray:
    """(2, 3) [m] lower and upper corner of a shape, link axes."""
    rotation, size = shape.rotation, shape.size
    if shape.kind == "mesh":
        return np.array([shape.vertices.min(axis=0), shape.vertices.max(axis=0)])
    if shape.kind == "sphere":
        reach = np.full(3, size[0])
    elif shape.kind == "capsule":
        reach = np.abs(rotation[:, 2]) * size[1] + size[0]
    elif shape.kind == "box":
        reach = np.abs(rotation) @ np.array(size)
    else:
        reach = np.sqrt((rotation * np.array(size)) ** 2 @ np.ones(3))
    return np.array([shape.centre - reach, shape.centre + reach])


def bottom_points(shape: Shape, down: np.ndarray) -> np.ndarray:
    """(V, 3) [m] points that include the extreme points of a shape along a direction (3,); link axes."""
    if shape.kind == "mesh":
        return shape.vertices
    axes, centre = shape.rotation, shape.centre
    if shape.kind == "box":
        return corner_signs() * shape.size @ axes.T + centre
    if shape.kind == "ellipsoid":
        size = np.array(shape.size)
        local = axes.T @ down
        return (centre + axes @ (size**2 * local / np.linalg.norm(size * local)))[None]
    ends = np.zeros((1, 3)) if shape.kind == "sphere" else np.outer([-1.0, 1.0], axes[:, 2] * shape.size[1])
    return centre + ends + shape.size[0] * down


def corner_signs() -> np.ndarray:
    """(8, 3) signs of the corners of a box."""
    return np.array(np.meshgrid([-1.0, 1.0], [-1.0, 1.0], [-1.0, 1.0])).reshape(3, -1).T


def box_inertia(mass: float, sides: Sequence[float] | np.ndarray) -> np.ndarray:
    """Inertia (3, 3) [kg m^2] about the centre of a solid box with full sides (3,) [m]."""
    squares = np.asarray(sides, float) ** 2
    return np.diag(mass / 12.0 * (squares.sum() - squares))
