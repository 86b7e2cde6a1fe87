"""Distances between shapes, by coal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from ..values.shape import Shape, sphere_directions
from .pinocchio_loader import pin
from .pinocchio_model import Model, data_of

Solid: TypeAlias = "pin.coal.CollisionGeometry"
FEW_CORNERS = 250
"""Corners with which no corner can have more than coal's 255 neighbours. Measured on a ball of 1,000 corners:
the hull is smaller by 0.8 % of its size at most."""
TOLERANCE = 1e-7
"""[m] At which coal's searches stop. Its default, 1e-6, leaves 1.4e-6 between ellipsoids that are apart."""
MAX_STEPS = 256
"""Steps of the search for the depth of an overlap. After coal's 64 some depths of ellipsoids are wrong by 6e-3 m; after
256 none is by 1e-6 m, measured on 6,000 random pairs of all shapes."""


COARSE_TOLERANCE = 1e-6
"""[m] Tolerance of the search for the depth where it fails with the finer one, which coal answers with `FAILED`. Seen
on the torso and the forearm of a person, in one of 900 frames of an overlap."""
FAILED = -np.finfo(float).max
"""[m] Distance that coal returns if its search for the depth of an overlap does not converge. Seen in that frame."""


def distance_request(tolerance: float = TOLERANCE) -> Any:
    """Coal's request for a distance; its default tolerances are too loose for curved solids."""
    request = pin.coal.DistanceRequest()
    request.epa_max_iterations = MAX_STEPS
    request.epa_tolerance = request.gjk_tolerance = tolerance
    return request


def convex_hull_solid(points: np.ndarray) -> Solid:
    """The convex hull of points (V, 3) [m]; of `FEW_CORNERS` if one has more neighbours than coal can count."""
    try:
        return _hull(points)
    except RuntimeError:
        return _hull(points[np.unique((points @ sphere_directions(FEW_CORNERS).T).argmax(axis=0))])


def _hull(points: np.ndarray) -> Solid:
    corners = pin.coal.StdVec_Vec3s()
    corners.extend([np.array(point) for point in points])
    return pin.coal.Convex.convexHull(corners, False, "Qt")


def solid_of(shape: Shape) -> Solid:
    """The solid of a shape, without its pose."""
    coal, size = pin.coal, shape.size
    if shape.kind == "capsule":
        return coal.Capsule(size[0], 2.0 * size[1])
    if shape.is_sphere:
        return coal.Sphere(size[0])
    if shape.kind == "box":
        return coal.Box(*(2.0 * s for s in size))
    if shape.kind == "ellipsoid":
        return coal.Ellipsoid(*size)
    return convex_hull_solid(shape.vertices)


def solid_distance(one: Solid, other: Solid) -> float:
    """Signed distance [m] between two solids whose points are in the same axes."""
    coal = pin.coal
    still = coal.Transform3s.Identity()
    return float(coal.distance(one, still, other, still, distance_request(), coal.DistanceResult()))


class ShapeDistances:
    """Distances between pairs of shapes on the links of a model.

    Args:
        model: with L links.
        shapes: S of them.
        solids: (S,) of the shapes, from `solid_of`.
        links: (S,) index of each shape's link.
        pairs: (P, 2) of shape indices.
    """

    def __init__(
        self, model: Model, shapes: Sequence[Shape], solids: Sequence[Solid], links: np.ndarray, pairs: np.ndarray
    ) -> None:
        self._model, self._data, self._shapes = model, data_of(model), pin.GeometryModel()
        for number, (shape, solid, link) in enumerate(zip(shapes, solids, links, strict=True)):
            inside = shape.kind == "mesh"  # vertices of meshes are in the link's frame
            pose = pin.SE3.Identity() if inside else pin.SE3(np.array(shape.rotation), np.array(shape.centre))
            self._shapes.addGeometryObject(pin.GeometryObject(f"{number} {shape.link}", int(link) + 1, pose, solid))
        for first, second in pairs:
            self._shapes.addCollisionPair(pin.CollisionPair(int(first), int(second)))
        self._placed = self._shapes.createData()
        for number in range(len(self._placed.distanceRequests)):  # defaults start from the last result
            self._placed.distanceRequests[number] = distance_request()

    def distances(self, q: np.ndarray, frames: np.ndarray, pairs: np.ndarray) -> np.ndarray:
        """Signed distances (M,) [m] of pairs (M,) at configurations q (N, nq) of frames (M,)."""
        result = np.empty(len(frames))
        model, data, shapes, placed = self._model, self._data, self._shapes, self._placed
        at, place = -1, pin.updateGeometryPlacements
        for entry, (frame, pair) in enumerate(zip(frames.tolist(), pairs.tolist())):
            if frame != at:
                place(model, data, shapes, placed, q[frame])
                at = frame
            result[entry] = self._measure(pair).min_distance
        return result

    def nearest_points(
        self, q: np.ndarray, frames: np.ndarray, pairs: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """`distances`, nearest points (M, 2, 3) [m] and normals (M, 3) from the first shape to the second, world."""
        distances, points, normals = np.empty(len(frames)), np.empty((len(frames), 2, 3)), np.empty((len(frames), 3))
        model, data, shapes, placed = self._model, self._data, self._shapes, self._placed
        at, place = -1, pin.updateGeometryPlacements
        for entry, (frame, pair) in enumerate(zip(frames.tolist(), pairs.tolist())):
            if frame != at:
                place(model, data, shapes, placed, q[frame])
                at = frame
            found = self._measure(pair)
            distances[entry], normals[entry] = found.min_distance, found.normal
            points[entry, 0], points[entry, 1] = found.getNearestPoint1(), found.getNearestPoint2()
        return distances, points, normals

    def _measure(self, pair: int) -> Any:
        """Coal's result for a pair of the shapes as they are placed."""
        found = pin.computeDistance(self._shapes, self._placed, pair)
        if found.min_distance == FAILED:
            self._placed.distanceRequests[pair] = distance_request(COARSE_TOLERANCE)
            found = pin.computeDistance(self._shapes, self._placed, pair)
            self._placed.distanceRequests[pair] = distance_request()
        return found
