"""Distances between shapes, by FCL.

FCL stops early on curved surfaces that are apart (errors up to 1e-3 m) and now and then on parallel faces. Spheres and
capsules are therefore measured from their centres and axes, less their radii, and whatever a plane between the nearest
points does not prove is measured again by Wolfe's algorithm.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial import ConvexHull

from ..errors import MissingDependency
from ..shape import Shape
from .numpy_frames import FrameDynamics
from .numpy_model import Model

try:
    import fcl
except ImportError as error:
    raise MissingDependency(
        "neither Pinocchio nor FCL is installed in this Python: `pip install pin` (Linux, macOS) or "
        "`pip install python-fcl` (also Windows)"
    ) from error

TOUCHING = 1e-9
"""[m] Cores nearer than this are measured as whole solids."""
DISTANCE_ERROR = 1e-7
"""[m] Largest error of a distance between solids that are apart."""
MAX_STEPS = 200
"""Steps of Wolfe's algorithm: more than twenty have not been seen."""
Support = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, slots=True)
class Solid:
    """A convex solid: all points within a radius of its core.

    Attributes:
        core: FCL's geometry of the core.
        radius: [m].
        whole: FCL's geometry of the solid.
        support: the farthest point (3,) of the core in a direction (3,), solid's axes.
    """

    core: Any
    radius: float
    whole: Any
    support: Support


def convex_hull_solid(points: np.ndarray) -> Solid:
    """The convex hull of points (V, 3) [m]."""
    hull = ConvexHull(points)
    vertices = np.ascontiguousarray(points[hull.vertices])
    numbers = np.zeros(len(points), int)
    numbers[hull.vertices] = np.arange(len(vertices))
    faces = numbers[hull.simplices]
    first, second, third = vertices[faces].swapaxes(0, 1)
    inwards = (np.cross(second - first, third - first) * hull.equations[:, :3]).sum(axis=1) < 0.0
    faces[inwards] = faces[inwards][:, ::-1]
    body = fcl.Convex(vertices, len(faces), np.column_stack([np.full(len(faces), 3), faces]).ravel())
    return Solid(body, 0.0, body, lambda direction: vertices[int((vertices @ direction).argmax())])


def solid_of(shape: Shape) -> Solid:
    """The solid of a shape, without its pose."""
    size = np.array(shape.size)
    if shape.kind == "sphere":
        return Solid(fcl.Sphere(0.0), size[0], fcl.Sphere(size[0]), lambda direction: np.zeros(3))
    if shape.kind == "capsule":
        core, whole = (fcl.Capsule(radius, 2.0 * size[1]) for radius in (0.0, size[0]))
        return Solid(core, size[0], whole, lambda direction: np.array([0.0, 0.0, np.copysign(size[1], direction[2])]))
    if shape.kind == "box":
        box = fcl.Box(*(2.0 * size))
        return Solid(box, 0.0, box, lambda direction: np.copysign(size, direction))
    if shape.kind == "ellipsoid":
        body, squares = fcl.Ellipsoid(*size), size**2
        return Solid(body, 0.0, body, lambda direction: squares * direction / np.sqrt(squares @ direction**2))
    return convex_hull_solid(shape.vertices)


def solid_distance(one: Solid, other: Solid) -> float:
    """Signed distance [m] between two solids whose points are in the same axes."""
    still = np.eye(3), np.zeros(3)
    return measure(one, still, other, still)[0]


Pose = tuple[np.ndarray, np.ndarray]


def measure(one: Solid, first: Pose, other: Solid, second: Pose) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
    """Signed distance [m], nearest points (3,) of both, and normal (3,) from the first to the second.

    Args:
        one, other: solids.
        first, second: their axes (3, 3) and origins (3,) [m], world.
    """
    distance, start, stop = _query(one.core, first, other.core, second)
    if distance > TOUCHING:
        start, stop = _nearest_points(one, first, other, second, (start, stop))
        distance = float(np.linalg.norm(stop - start))
        if distance > TOUCHING:
            normal = (stop - start) / np.linalg.norm(stop - start)
            start, stop = start + one.radius * normal, stop - other.radius * normal
            return distance - one.radius - other.radius, start, stop, normal
    if one.radius or other.radius:
        distance, start, stop = _query(one.whole, first, other.whole, second)
    gap = start - stop if distance < 0.0 else stop - start
    length = float(np.linalg.norm(gap))
    return distance, start, stop, gap / length if length > 0.0 else np.full(3, np.nan)


def _query(one: Any, first: Pose, other: Any, second: Pose) -> tuple[float, np.ndarray, np.ndarray]:
    """FCL's signed distance [m] and nearest points (3,)."""
    result = fcl.DistanceResult()
    distance = fcl.distance(
        fcl.CollisionObject(one, fcl.Transform(*first)),
        fcl.CollisionObject(other, fcl.Transform(*second)),
        fcl.DistanceRequest(True, True),
        result,
    )
    start, stop = result.nearest_points
    return float(distance), np.array(start), np.array(stop)


def _nearest_points(
    one: Solid, first: Pose, other: Solid, second: Pose, guess: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Nearest points of two cores that are apart: the point of least norm among their differences (Wolfe 1976).

    The guess is returned if a plane proves that the cores are no nearer.

    Args:
        one, other: solids.
        first, second: their poses.
        guess: (3,), (3,) points of both that are about the nearest.
    """

    def farthest(direction: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        (turn, place), (other_turn, other_place) = first, second
        start = turn @ one.support(-(direction @ turn)) + place
        return start, other_turn @ other.support(direction @ other_turn) + other_place

    difference = guess[0] - guess[1]
    pairs = [farthest(difference)]
    length = float(np.linalg.norm(difference))
    if length - float(difference @ (pairs[0][0] - pairs[0][1])) / length < DISTANCE_ERROR:
        return guess
    shares = np.ones(1)
    for _ in range(MAX_STEPS):
        points = np.array([start - stop for start, stop in pairs])
        nearest = shares @ points
        length = float(np.linalg.norm(nearest))
        pair = farthest(nearest)
        if length - float(nearest @ (pair[0] - pair[1])) / length < DISTANCE_ERROR:
            break
        pairs.append(pair)
        points, shares = np.vstack([points, pair[0] - pair[1]]), np.append(shares, 0.0)
        while True:
            wanted = _affine_shares(points)
            if (wanted > 0.0).all():
                shares = wanted
                break
            falling = wanted <= 0.0
            share = min(1.0, float((shares[falling] / np.maximum(shares - wanted, 1e-300)[falling]).min()))
            shares = shares + share * (wanted - shares)
            kept = shares > 1e-15
            if kept.all():
                kept[int(np.where(falling, shares, np.inf).argmin())] = False
            pairs = [each for each, keep in zip(pairs, kept) if keep]
            points, shares = points[kept], shares[kept] / shares[kept].sum()
    starts, stops = (np.array(side) for side in zip(*pairs))
    return shares @ starts, shares @ stops


def _affine_shares(points: np.ndarray) -> np.ndarray:
    """Coefficients (K,) that sum to one of the point of least norm in the affine hull of points (K, 3)."""
    edges = points[1:] - points[0]
    if not len(edges):
        return np.ones(1)
    if len(edges) == 1:
        share = float(-(points[0] @ edges[0]) / (edges[0] @ edges[0]))
        return np.array([1.0 - share, share])
    shares = np.linalg.lstsq(edges.T, -points[0], rcond=None)[0]
    return np.concatenate([[1.0 - shares.sum()], shares])


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
        self._dynamics, self._solids = FrameDynamics(model), tuple(solids)
        self._links, self._pairs = np.asarray(links, int), np.asarray(pairs, int).reshape(-1, 2)
        in_links = [shape.kind == "mesh" for shape in shapes]  # vertices of meshes are in the link's frame
        self._turns = np.array([np.eye(3) if own else shape.rotation for shape, own in zip(shapes, in_links)])
        self._centres = np.array([np.zeros(3) if own else shape.centre for shape, own in zip(shapes, in_links)])

    def distances(self, q: np.ndarray, frames: np.ndarray, pairs: np.ndarray) -> np.ndarray:
        """Signed distances (M,) [m] of pairs (M,) at configurations q (N, nq) of frames (M,)."""
        return self.nearest_points(q, frames, pairs)[0]

    def nearest_points(
        self, q: np.ndarray, frames: np.ndarray, pairs: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """`distances`, nearest points (M, 2, 3) [m] and normals (M, 3) from the first shape to the second, world."""
        distances, points, normals = np.empty(len(frames)), np.empty((len(frames), 2, 3)), np.empty((len(frames), 3))
        used, rows = np.unique(frames, return_inverse=True)
        shapes, kinds = np.unique(self._pairs[pairs], return_inverse=True)
        turns, places = self._place_shapes(q[used], shapes)
        kinds = kinds.reshape(-1, 2)
        for entry, (row, (first, second)) in enumerate(zip(rows.tolist(), kinds.tolist())):
            distances[entry], points[entry, 0], points[entry, 1], normals[entry] = measure(
                self._solids[shapes[first]],
                (turns[row, first], places[row, first]),
                self._solids[shapes[second]],
                (turns[row, second], places[row, second]),
            )
        return distances, points, normals

    def _place_shapes(self, q: np.ndarray, shapes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Axes (N, S, 3, 3) and origins (N, S, 3) [m] of shapes (S,) in the world."""
        links = self._links[shapes]
        poses = self._dynamics.poses(q)[:, links]
        turn = poses[:, :, :9].reshape(*poses.shape[:2], 3, 3).swapaxes(2, 3)
        return turn @ self._turns[shapes], (turn @ self._centres[shapes][..., None])[..., 0] + poses[:, :, 9:]
