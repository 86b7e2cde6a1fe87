"""Separating planes between convex shapes: lower bounds of many distances at once, so that few need to be measured.

A plane with unit normal n (from the first shape to the second) separates them by

    -h1(n) - h2(-n),    h(n) = max over the shape of n . x (its support function),

which is at most their signed distance, for any n. h is tabulated for the directions d_i of the nodes of a grid on the
faces of a cube. Between nodes it is bounded from above: h is convex and positively homogeneous, so that
h(sum w_i d_i) <= sum w_i h(d_i) for w_i >= 0, and bilinear weights of a cell's four nodes are such w. Normals are found
by Gilbert's method: the point of the Minkowski difference that is nearest to zero, one support point at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from ..skeleton.rig import Rig
from ..values.shape import Shape
from .collision_shapes import collision_shapes

GRID_CELLS = 16
"""Cells along an edge of the cube. Measured on spheres of 10 cm, which appear 0.4 mm larger at most, and on flat
sides: 6 %."""
NORMAL_ITERATIONS = 8
"""Normals that are tried."""
DISTANCE_TOLERANCE = 1e-5
"""[m] Bounds exceed a limit by more than this, so that tolerances of measured distances (1e-6) have no effect."""
DEFAULT_NORMAL = np.array([0.0, 0.0, 1.0])
"""First normal if the first guess is zero. By definition."""
GRID_NODES = np.linspace(-1.0, 1.0, GRID_CELLS + 1)
"""Derived: the borders of the cells."""


def support_points(shape: Shape, directions: np.ndarray) -> np.ndarray:
    """Points (D, 3) [m] of a shape that are farthest in directions (D, 3) of any length, link frame."""
    if shape.kind == "mesh":
        points = shape.vertices
        parts = [(directions[k : k + 512] @ points.T).argmax(axis=1) for k in range(0, len(directions), 512)]
        return np.asarray(points[np.concatenate(parts)])
    own, size = directions @ shape.rotation, np.array(shape.size)
    if shape.kind == "box":
        local = np.copysign(size, own)
    elif shape.kind == "ellipsoid":
        local = size * size * own / np.linalg.norm(size * own, axis=1)[:, None]
    else:  # a sphere; for a capsule one at either end
        local = size[0] * own / np.linalg.norm(own, axis=1)[:, None]
        if shape.kind == "capsule":
            local[:, 2] += np.copysign(size[1], own[:, 2])
    return np.asarray(shape.centre + local @ shape.rotation.T)


def support_point_pairs(
    shapes: Sequence[Shape], pairs: np.ndarray, rotations: np.ndarray, positions: np.ndarray, directions: np.ndarray
) -> np.ndarray:
    """Points (M, 2, 3) [m], world: of each pair, the first shape's farthest along a direction, the second's against it.

    Their distance along the direction is the separation by a plane normal to it; a penetration depth if negative.

    Args:
        shapes: convex, or represented by their hulls.
        pairs: (M, 2) indices of the shapes.
        rotations: (M, 2, 3, 3) link axes to world axes.
        positions: (M, 2, 3) [m] link origins, world.
        directions: (M, 3) unit vectors, world.
    """
    along = np.stack([directions, -directions], axis=1)
    own = (rotations.swapaxes(-1, -2) @ along[..., None])[..., 0]
    local = np.empty_like(own)
    for number in np.unique(pairs):
        chosen = pairs == number
        local[chosen] = support_points(shapes[number], own[chosen])
    return np.asarray(positions + (rotations @ local[..., None])[..., 0])


def _grid_directions() -> np.ndarray:
    """(6, C + 1, C + 1, 3) directions to the nodes: faces +x, -x, +y, -y, +z, -z, then the two other axes in turn."""
    nodes = np.empty((6, GRID_CELLS + 1, GRID_CELLS + 1, 3))
    for face in range(6):
        axis = face // 2
        nodes[face, ..., axis] = 1.0 - 2.0 * (face % 2)
        nodes[face, ..., (axis + 1) % 3] = GRID_NODES[:, None]
        nodes[face, ..., (axis + 2) % 3] = GRID_NODES
    return nodes


class SupportFunctions:
    """Tabulated support functions of S shapes.

    Args:
        shapes: convex, or represented by their hulls.
    """

    def __init__(self, shapes: Sequence[Shape]) -> None:
        nodes = _grid_directions().reshape(-1, 3)
        points = [support_points(shape, nodes) for shape in shapes]
        self._points = np.array(points).reshape(-1, 3)
        self._heights = np.array([(nodes * own).sum(axis=1) for own in points]).reshape(-1)
        self._nodes_per_shape = len(nodes)

    def evaluate(self, shapes: np.ndarray, directions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Upper bounds (M,) [m] of support functions, and support points (M, 3) [m] of the nearest grid directions.

        Args:
            shapes: (M,) indices.
            directions: (M, 3) unit vectors, axes of the shapes' links.
        """
        rows = np.arange(len(directions))
        size = np.abs(directions)
        axis = size.argmax(axis=1)
        long = size[rows, axis]
        face = 2 * axis + (directions[rows, axis] < 0.0)
        u = (directions[rows, (axis + 1) % 3] / long + 1.0) * (GRID_CELLS / 2)
        v = (directions[rows, (axis + 2) % 3] / long + 1.0) * (GRID_CELLS / 2)
        i, j = np.minimum(u.astype(int), GRID_CELLS - 1), np.minimum(v.astype(int), GRID_CELLS - 1)
        u, v = u - i, v - j
        node = shapes * self._nodes_per_shape + (face * (GRID_CELLS + 1) + i) * (GRID_CELLS + 1) + j
        known = self._heights
        low = known[node] * (1.0 - v) + known[node + 1] * v
        high = known[node + GRID_CELLS + 1] * (1.0 - v) + known[node + GRID_CELLS + 2] * v
        nearest = node + (u > 0.5) * (GRID_CELLS + 1) + (v > 0.5)
        return long * (low * (1.0 - u) + high * u), self._points[nearest]


@lru_cache(maxsize=8)
def get_support_functions(rig: Rig) -> SupportFunctions:
    """Support functions of a rig's collision shapes."""
    return SupportFunctions(collision_shapes(rig)[0])


def find_separated(
    supports: SupportFunctions,
    pairs: np.ndarray,
    rotations: tuple[np.ndarray, np.ndarray],
    origin_offsets: np.ndarray,
    first_guess: np.ndarray,
    limits: np.ndarray,
) -> np.ndarray:
    """(M,) True where a plane is found that separates two shapes by more than a limit.

    Args:
        supports: of all shapes.
        pairs: (M, 2) indices of the shapes.
        rotations: link axes (M, 3, 3) of either to world axes.
        origin_offsets: (M, 3) [m] from the first shape's link origin to the second's, world.
        first_guess: (M, 3) [m] from some point of the first shape to one of the second, world; gives the first normal.
        limits: (M,) [m].
    """
    done = np.zeros(len(pairs), bool)
    left, limit, nearest = np.arange(len(pairs)), limits + DISTANCE_TOLERANCE, first_guess
    (first, second), (one, two) = pairs.T, rotations
    for _ in range(NORMAL_ITERATIONS):
        length = np.sqrt((nearest * nearest).sum(axis=1))
        n = np.where(length[:, None] > 0.0, nearest / np.maximum(length, DISTANCE_TOLERANCE)[:, None], DEFAULT_NORMAL)[
            :, None
        ]
        own, top = supports.evaluate(first, (n @ one)[:, 0])
        other, bottom = supports.evaluate(second, -(n @ two)[:, 0])
        far = (n[:, 0] * origin_offsets).sum(axis=1) - own - other > limit
        done[left[far]] = True
        to = origin_offsets + (two @ bottom[..., None] - one @ top[..., None])[..., 0]
        along = to - nearest  # the nearest point becomes the point of this segment that is nearest to zero
        share = -(along * nearest).sum(axis=1) / np.maximum((along * along).sum(axis=1), DISTANCE_TOLERANCE**2)
        nearest = nearest + np.clip(share, 0.0, 1.0)[:, None] * along
        keep = ~far & (length > DISTANCE_TOLERANCE)
        left, first, second, one, two, origin_offsets, limit, nearest = (
            values[keep] for values in (left, first, second, one, two, origin_offsets, limit, nearest)
        )
        if not len(left):
            break
    return done
