"""Distribution of the total wrench over hands, knees and feet: the smallest contact wrenches that add up to it.

Between two soles a rule by the distance to the zero-moment point is used (`contact_forces.load_shares`). With more
contacts, or other patches, no such rule keeps every centre of pressure within its patch. Then the wrenches solve

    min sum_p |f_p|^2 + |m_p / l_p|^2   with   sum_p [f_p, m_p + c_p x f_p] = w   and   w_p in the cone of patch p,

with l_p the patch's size, as equal springs would. The cone of a patch is that of Caron, Pham and Nakamura (ICRA 2015,
see `yaw_margins_by_side`): it pushes, its centre of pressure lies within its corners, and it neither slides nor turns.
Without the cones the solution is linear in w. Frames in which it violates a cone are least-distance problems, solved by
non-negative least squares (Lawson and Hanson, Solving Least Squares Problems, 1974, chapter 23). If no wrenches satisfy
all cones, the violation is as small as possible, and the checks report it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..base.so3 import skew
from ..contacts.support import SupportPolygon
from .contact_forces import cone_rows

CONE_TOLERANCE = 1e-9
"""Violation of a cone, over the weight, that counts as rounding."""
INFEASIBLE_TOLERANCE = 1e-9
"""A least-distance problem has no solution if its dual residual, of order one otherwise, is below this."""
VIOLATION_WEIGHT = 1e3
"""Weight of cone violations against forces, if the cones cannot be satisfied."""


@dataclass(frozen=True, slots=True)
class LoadDistribution:
    """Friction cones of P planted patches, and the least-squares distribution without them.

    Attributes:
        centres: (P, 3) [m] of the patches, world.
        sizes: (P,) [m] that moments are divided by.
        least_squares: (P, 6, 6) wrench about each centre per unit of the total about the world's origin.
        null_space: (6 P, 6 P - 6) orthonormal forces, and moments over size, with zero sum.
        cone_rows: (R, 6 P) times forces, and moments over size: not negative within the cones.
        edge_rows: (P, E, 6) times a patch's wrench about its centre: load at each edge of its outline [N]. Unused
            rows repeat the first.
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
        """From the patches of a contact phase.

        Args:
            centres: (P, 3) [m] of the patches, world.
            outlines: of the patches.
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
            rows = np.concatenate([edges[number], cone_rows(axes[number], half_lengths[number], friction)])
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
        """(N, P) [N] smallest load at an edge of each patch: the patch's load if it is centred.

        Args:
            loads: (N, P, 6) from `distribute`.
        """
        about = loads.copy()
        about[:, :, 3:] -= np.cross(self.centres, loads[:, :, :3])
        # frames n, patches p, edges e, components i
        sides = np.einsum("pei,npi->npe", self.edge_rows, about).min(axis=2, initial=np.inf)
        return np.minimum(sides, loads[:, :, 2])


def _shortest_or_relaxed(rows: np.ndarray, floor: np.ndarray) -> np.ndarray:
    """Shortest x (n,) with rows (R, n) @ x >= floor (R,); with the smallest violation if there is none."""
    found = _least_distance(rows, floor)
    if found is None:
        found = _least_distance(np.column_stack([rows, np.full(len(rows), 1.0 / VIOLATION_WEIGHT)]), floor)
        # always feasible, since violations are variables; far from the cones rounding may hide it
        found = np.zeros(rows.shape[1]) if found is None else found[:-1]
    return found


def _least_distance(rows: np.ndarray, floor: np.ndarray) -> np.ndarray | None:
    """Shortest x with rows @ x >= floor, from the residual of non-negative least squares; None if infeasible."""
    from scipy.optimize import nnls

    matrix = np.vstack([rows.T, floor])
    target = np.zeros(len(matrix))
    target[-1] = 1.0
    residual = matrix @ nnls(matrix, target, maxiter=20 * len(floor))[0] - target
    return None if -residual[-1] < INFEASIBLE_TOLERANCE else np.asarray(-residual[:-1] / residual[-1])


def _edge_rows(outline: SupportPolygon, centre: np.ndarray) -> np.ndarray:
    """(E, 6) times a wrench about the centre: load times distance of the centre of pressure from each edge.

    The distance is relative to that of the centre.
    """
    inside = outline.edge_distances(centre[None, :2])[0]
    rows = np.zeros((len(inside), 6))
    rows[:, 2] = 1.0
    rows[:, 3], rows[:, 4] = outline.normals[:, 1] / inside, -outline.normals[:, 0] / inside
    return rows
