"""Distances between shapes, by Wolfe's algorithm, and depths of overlaps, by Qhull and FCL.

Spheres and capsules are measured from their centres and axes, less their radii, which holds for depths too: a radius
adds the same in every direction. FCL is used for depths of ellipsoids and large meshes alone: it stops early on curved
surfaces that are apart (errors up to 1e-3 m), and ends the process where flat faces or edges of an overlap coincide.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from math import copysign, sqrt
from typing import Any

import numpy as np
from scipy.optimize import nnls
from scipy.spatial import ConvexHull

from ..base.errors import MissingDependency
from ..values.shape import Shape
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
"""[m] Cores nearer than this overlap."""
DISTANCE_ERROR = 1e-7
"""[m] Largest error of a distance between solids that are apart."""
MAX_STEPS = 200
"""Steps of Wolfe's algorithm: more than thirty have not been seen."""
MANY = 2000
"""Differences of corners beyond which their hull takes longer (5 ms) than a search by FCL."""
Vector = tuple[float, float, float]
Support = Callable[[float, float, float], Vector]
"""The farthest point of a solid in a direction, in plain numbers, which are several times faster than small arrays."""


@dataclass(frozen=True, slots=True)
class Solid:
    """A convex solid: all points within a radius of its core.

    Attributes:
        core: FCL's geometry of the core.
        radius: [m] 0 where the core has a volume; else the core is a point or a segment.
        corners: (V, 3) [m] of the core, solid's axes; none of an ellipsoid.
        support: the farthest point of the core in a direction, solid's axes.
    """

    core: Any
    radius: float
    corners: np.ndarray
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
    corners = [tuple(corner) for corner in vertices.tolist()]
    return Solid(body, 0.0, vertices, lambda *direction: corners[int((vertices @ direction).argmax())])


def solid_of(shape: Shape) -> Solid:
    """The solid of a shape, without its pose."""
    size = tuple(float(each) for each in shape.size)
    if shape.is_sphere:
        return Solid(fcl.Sphere(0.0), size[0], np.zeros((1, 3)), lambda x, y, z: (0.0, 0.0, 0.0))
    if shape.kind == "capsule":
        radius, half = size
        axis, ends = fcl.Capsule(0.0, 2.0 * half), np.array([[0.0, 0.0, half], [0.0, 0.0, -half]])
        return Solid(axis, radius, ends, lambda x, y, z: (0.0, 0.0, copysign(half, z)))
    if shape.kind == "box":
        a, b, c = size
        box = fcl.Box(2.0 * a, 2.0 * b, 2.0 * c)
        corners = np.array(list(product((-1.0, 1.0), repeat=3))) * size
        return Solid(box, 0.0, corners, lambda x, y, z: (copysign(a, x), copysign(b, y), copysign(c, z)))
    if shape.kind == "ellipsoid":
        return Solid(fcl.Ellipsoid(*size), 0.0, np.zeros((0, 3)), _ellipsoid_support(*size))
    return convex_hull_solid(shape.vertices)


def _ellipsoid_support(a: float, b: float, c: float) -> Support:
    """Of semi-axes [m]."""

    def support(x: float, y: float, z: float) -> Vector:
        u, v, w = a * x, b * y, c * z
        scale = 1.0 / sqrt(u * u + v * v + w * w)
        return a * u * scale, b * v * scale, c * w * scale

    return support


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
    start, stop = _nearest_points(one, first, other, second)
    distance = float(np.linalg.norm(stop - start))
    if distance > TOUCHING:
        normal = (stop - start) / distance
    elif one.radius and other.radius:
        axes = [turn @ np.ptp(solid.corners, axis=0) for solid, (turn, _) in ((one, first), (other, second))]
        normal = np.linalg.svd(axes)[2][2]  # to both axes, which may be parallel or zero
    elif 0 < len(one.corners) * len(other.corners) <= MANY:
        distance, start, stop, normal = _polytope_overlap(one, first, other, second)
    else:
        distance, start, stop = _smooth_overlap(one, first, other, second)
        length = float(np.linalg.norm(start - stop))
        normal = (start - stop) / length if length > 0.0 else np.full(3, np.nan)
    start, stop = start + one.radius * normal, stop - other.radius * normal
    return distance - one.radius - other.radius, start, stop, normal


def _polytope_overlap(
    one: Solid, first: Pose, other: Solid, second: Pose
) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
    """As `measure`, of two cores with corners that overlap: the face of their differences' hull nearest to zero."""
    starts, stops = (solid.corners @ turn.T + place for solid, (turn, place) in ((one, first), (other, second)))
    differences = (starts[:, None] - stops).reshape(-1, 3)
    *normal, distance = max(ConvexHull(differences).equations.tolist(), key=lambda plane: plane[3])
    heights = differences @ normal
    near = np.flatnonzero(heights >= heights.max() - TOUCHING)
    shares = nnls(
        np.vstack([differences[near].T, np.ones(len(near))]), np.array([*np.multiply(normal, -distance), 1.0])
    )[0]
    return distance, shares @ starts[near // len(stops)], shares @ stops[near % len(stops)], np.array(normal)


def _smooth_overlap(one: Solid, first: Pose, other: Solid, second: Pose) -> tuple[float, np.ndarray, np.ndarray]:
    """FCL's signed distance [m] and nearest points (3,) of two cores that overlap."""
    cores = [fcl.CollisionObject(solid.core, fcl.Transform(*pose)) for solid, pose in ((one, first), (other, second))]
    result = fcl.DistanceResult()
    distance = fcl.distance(*cores, fcl.DistanceRequest(True, True), result)
    start, stop = result.nearest_points
    return float(distance), np.array(start), np.array(stop)


def _nearest_points(one: Solid, first: Pose, other: Solid, second: Pose) -> tuple[np.ndarray, np.ndarray]:
    """Nearest points (3,), (3,) [m] of two cores, world; nearer than `TOUCHING` if the cores touch or overlap.

    The point of least norm among their differences (Wolfe 1976), in the first solid's axes. A plane between the points
    proves that the cores are nowhere nearer.

    Args:
        one, other: solids.
        first, second: their poses.
    """
    (a, b, c), (d, e, f), (g, h, i) = (first[0].T @ second[0]).tolist()
    p, q, r = (first[0].T @ (second[1] - first[1])).tolist()

    def farthest(x: float, y: float, z: float) -> tuple[Vector, Vector, Vector]:
        """The difference of the cores that is least along a direction, and its points of both."""
        start = one.support(-x, -y, -z)
        u, v, w = other.support(a * x + d * y + g * z, b * x + e * y + h * z, c * x + f * y + i * z)
        stop = a * u + b * v + c * w + p, d * u + e * v + f * w + q, g * u + h * v + i * w + r
        return (start[0] - stop[0], start[1] - stop[1], start[2] - stop[2]), start, stop

    corners = [farthest(-p, -q, -r) if p or q or r else farthest(1.0, 0.0, 0.0)]
    shares = [1.0]
    for _ in range(MAX_STEPS):
        nearest = _mix(shares, [corner[0] for corner in corners])
        length = sqrt(_dot(nearest, nearest))
        if length <= TOUCHING:
            break
        corner = farthest(*nearest)
        if length - _dot(nearest, corner[0]) / length < DISTANCE_ERROR or corner in corners:
            break
        corners.append(corner)
        shares = _reduce(corners, [*shares, 0.0])
    starts, stops = (_mix(shares, [corner[side] for corner in corners]) for side in (1, 2))
    return first[0] @ starts + first[1], first[0] @ stops + first[1]


def _reduce(corners: list[tuple[Vector, Vector, Vector]], shares: list[float]) -> list[float]:
    """Shares of the least difference in the corners' hull; corners without a share are removed in place."""
    while True:
        wanted = _affine_shares([corner[0] for corner in corners])
        if min(wanted) > 0.0:
            return wanted
        steps = [own / (own - aim) if aim <= 0.0 < own - aim else 1.0 for own, aim in zip(shares, wanted)]
        step = min(steps)
        leaving = min((n for n, aim in enumerate(wanted) if aim <= 0.0), key=steps.__getitem__)
        shares = [own + step * (aim - own) for own, aim in zip(shares, wanted)]
        del corners[leaving], shares[leaving]
        total = sum(shares)
        shares = [share / total for share in shares]


def _affine_shares(points: list[Vector]) -> list[float]:
    """Coefficients that sum to one of the point of least norm in the affine hull of one to four points."""
    if len(points) == 1:
        return [1.0]
    a, *others = points
    edges = [(x - a[0], y - a[1], z - a[2]) for x, y, z in others]
    along = [-_dot(a, edge) for edge in edges]
    if len(edges) == 1:
        shares = [along[0] / _dot(edges[0], edges[0])]
    elif len(edges) == 2:
        e, f = edges
        ee, ef, ff = _dot(e, e), _dot(e, f), _dot(f, f)
        size = ee * ff - ef * ef
        shares = [(along[0] * ff - along[1] * ef) / size, (along[1] * ee - along[0] * ef) / size]
    else:
        e, f, g = edges
        sides = _cross(f, g), _cross(g, e), _cross(e, f)
        size = -_dot(e, sides[0])
        shares = [_dot(a, side) / size for side in sides]
    return [1.0 - sum(shares), *shares]


def _mix(shares: list[float], points: list[Vector]) -> Vector:
    x = y = z = 0.0
    for share, point in zip(shares, points):
        x, y, z = x + share * point[0], y + share * point[1], z + share * point[2]
    return x, y, z


def _dot(a: Vector, b: Vector) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _cross(a: Vector, b: Vector) -> Vector:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


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
        poses = self._dynamics.poses(q)[:, self._links[shapes]]
        turn = poses[:, :, :9].reshape(*poses.shape[:2], 3, 3).swapaxes(2, 3)
        return turn @ self._turns[shapes], (turn @ self._centres[shapes][..., None])[..., 0] + poses[:, :, 9:]
