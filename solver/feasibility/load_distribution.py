"""How hands, knees and feet share the load: the smallest forces that the floor can give and that do what is needed.

Between two feet a rule of the distance to the zero-moment point decides. Of more contacts, or of others than soles, no
rule keeps every centre of pressure within its patch, so the wrenches are those of least squares,

    min sum_p |f_p|^2 + |m_p / l_p|^2   with   sum_p [f_p, m_p + c_p x f_p] = w   and   w_p in the cone of patch p,

with l_p the patch's size: alike springs would share alike. A patch's cone is that of Caron, Pham and Nakamura (ICRA
2015, see `twist`) as the checks have it: it pushes, its centre of pressure lies within its corners, and it neither
slides nor turns. What the equation alone gives is linear in w; frames in which that leaves a cone
are least-distance programmes, solved by non-negative least squares (Lawson and Hanson, Solving Least Squares
Problems, 1974, chapter 23). Where no forces would do, cones are left by as little as possible, and the checks say so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.optimize import nnls

from ..contacts.support import SupportPolygon
from ..so3 import skew

CONE_TOLERANCE = 1e-9
"""Share of the weight by which a cone is left to rounding."""
INFEASIBLE_TOLERANCE = 1e-9
"""Norm of the residual, beside one, below which a programme has no solution."""
VIOLATION_WEIGHT = 1e3
"""Weight of leaving a cone beside forces, where it must be."""


@dataclass(frozen=True, slots=True)
class LoadDistribution:
    """The cones of P planted patches, and what the equation alone gives.

    Attributes:
        centres: (P, 3) [m] of the patches, world.
        sizes: (P,) [m] by which moments count as forces.
        least_squares: (P, 6, 6) wrench about each centre per unit of the total about the world's origin.
        null_space: (6 P, 6 P - 6) forces and moments over their size that add up to nothing, orthonormal.
        cone_rows: (R, 6 P) rows that are not negative while every patch stays as it is; of forces and moments over
            size.
        edge_rows: (P, E, 6) of a patch's wrench about its centre: load on the side of each edge of its outline [N];
            unused ones repeat the first.
    """

    centres: np.ndarray
    sizes: np.ndarray
    least_squares: np.ndarray
    null_space: np.ndarray
    cone_rows: np.ndarray
    edge_rows: np.ndarray

    @staticmethod
    def from_patches(
        centres: np.ndarray,
        outlines: Sequence[SupportPolygon],
        axes: np.ndarray,
        half_lengths: np.ndarray,
        friction: float,
    ) -> LoadDistribution:
        """Prepare a phase.

        Args:
            centres: (P, 3) [m] of the patches, world.
            outlines: of each.
            axes: (P, 2, 2) their horizontal axes.
            half_lengths: (P, 2) [m] half lengths along these.
            friction: mu of Coulomb's cone.
        """
        count = len(centres)
        size = np.linalg.norm(half_lengths, axis=1)
        adding = np.zeros((6, 6 * count))
        for number, (centre, long) in enumerate(zip(centres, size)):
            own = slice(6 * number, 6 * number + 6)
            adding[:, own] = np.block([[np.eye(3), np.zeros((3, 3))], [skew(centre), long * np.eye(3)]])
        even = np.linalg.pinv(adding).reshape(count, 6, 6)
        even[:, 3:] *= size[:, None, None]
        free = np.linalg.svd(adding)[2][6:].T
        edges = [_edge_rows(outline, centre) for outline, centre in zip(outlines, centres)]
        most = max(len(each) for each in edges)
        cone = np.zeros((0, 6 * count))
        for number in range(count):
            rows = np.concatenate([edges[number], _friction_rows(axes[number], half_lengths[number], friction)])
            rows[:, 3:] *= size[number]
            rows /= np.linalg.norm(rows, axis=1)[:, None]
            cone = np.concatenate([cone, np.kron(np.eye(count)[number], rows)])
        filled = [np.concatenate([each, np.repeat(each[:1], most - len(each), axis=0)]) for each in edges]
        return LoadDistribution(centres, size, even, free, cone, np.array(filled))

    def distribute(self, total: np.ndarray, weight: float) -> np.ndarray:
        """Wrench (N, P, 6) under each patch, world axes about the world origin; they add up to the total.

        Args:
            total: (N, 6) world axes, about the world origin.
            weight: [N].
        """
        # frames n, patches p, components i of a patch's wrench, components j of the total
        own = np.einsum("pij,nj->npi", self.least_squares, total)
        scaled = own.copy()
        scaled[:, :, 3:] /= self.sizes[:, None]
        flat = scaled.reshape(len(total), 6 * len(self.centres))
        left = flat @ self.cone_rows.T
        tight = self.cone_rows @ self.null_space
        for frame in np.flatnonzero(left.min(axis=1, initial=0.0) < -CONE_TOLERANCE * weight):
            flat[frame] += self.null_space @ _shortest_or_relaxed(tight, -left[frame] / weight) * weight
        own = flat.reshape(scaled.shape)
        own[:, :, 3:] = own[:, :, 3:] * self.sizes[:, None] + np.cross(self.centres, own[:, :, :3])
        return own

    def edge_loads(self, loads: np.ndarray) -> np.ndarray:
        """(N, P) [N] least load on the side of any edge of each patch: its load where it is pressed in its middle.

        Args:
            loads: (N, P, 6) as `wrenches` gives them.
        """
        about = loads.copy()
        about[:, :, 3:] -= np.cross(self.centres, loads[:, :, :3])
        # frames n, patches p, edges e, components i
        sides = np.einsum("pei,npi->npe", self.edge_rows, about).min(axis=2, initial=np.inf)
        return np.minimum(sides, loads[:, :, 2])


def _shortest_or_relaxed(rows: np.ndarray, floor: np.ndarray) -> np.ndarray:
    """The shortest vector (n,) with rows (R, n) times it at least ``floor`` (R,); else the nearest to that."""
    found = _least_distance(rows, floor)
    if found is None:
        found = _least_distance(np.column_stack([rows, np.full(len(rows), 1.0 / VIOLATION_WEIGHT)]), floor)
        assert found is not None  # whatever is missing can be given up
        found = found[:-1]
    return found


def _least_distance(rows: np.ndarray, floor: np.ndarray) -> np.ndarray | None:
    """Least distance programming: the residual of one of non-negative least squares points to it."""
    matrix = np.vstack([rows.T, floor])
    target = np.zeros(len(matrix))
    target[-1] = 1.0
    residual = matrix @ nnls(matrix, target, maxiter=20 * len(floor))[0] - target
    if -residual[-1] < INFEASIBLE_TOLERANCE:
        return None
    return np.asarray(-residual[:-1] / residual[-1])


def _edge_rows(outline: SupportPolygon, centre: np.ndarray) -> np.ndarray:
    """(E, 6) of a wrench about the centre: distance of the centre of pressure from each edge times the load, over that
    of the centre."""
    inside = outline.edge_distances(centre[None, :2])[0]
    rows = np.zeros((len(inside), 6))
    rows[:, 2] = 1.0
    rows[:, 3], rows[:, 4] = outline.normals[:, 1] / inside, -outline.normals[:, 0] / inside
    return rows


def _friction_rows(axes: np.ndarray, half_lengths: np.ndarray, friction: float) -> np.ndarray:
    """(13, 6) that a wrench about the centre pushes (1), slides not (4) and turns not (8): as `twist` has it."""
    up, pushed = np.eye(6)[2], np.zeros((2, 6))
    pushed[:, :2] = axes
    tilted, yaw = np.zeros((2, 6)), np.eye(6)[5]
    tilted[:, 3:5] = axes
    rows = [up, *(friction * up + sign * way for way in pushed for sign in (1.0, -1.0))]
    mu, (x, y) = friction / np.sqrt(2.0), half_lengths
    most = mu * (x + y) * up
    for turn, one, other in product((1.0, -1.0), repeat=3):
        first, second = y * pushed[0] + turn * mu * tilted[0], x * pushed[1] + turn * mu * tilted[1]
        rows.append(most - turn * yaw - one * first - other * second)
    return np.array(rows)
