"""Forward kinematics and normal equations of what is fixed to links.

The Jacobian of every point is never built for tracking: the rows of one link are summed into a 6 x 6 matrix about the
world origin, subtrees are summed as the composite-rigid-body algorithm does with inertias, and one product with
Pinocchio's joint Jacobian gives J' W J.
"""

from __future__ import annotations

import numpy as np

from ..dynamics import WeightedTree
from ..rig import Rig


class Kinematics(WeightedTree):
    """Link poses, point positions and normal equations of one rig at one configuration at a time."""

    def __init__(self, rig: Rig) -> None:
        super().__init__(rig)
        links = len(rig.links)
        self.parents = np.array(rig.parents)
        self.column_link = np.concatenate([np.full(rig.model.joints[k + 1].nv, k) for k in range(links)])
        self.below = np.zeros((links, links), bool)
        """(L, L): [k, l] True where link l is link k or hangs below it."""
        for link in range(links):
            above = link
            while above >= 0:
                self.below[above, link] = True
                above = self.parents[above]
        self.moved_by = self.below[self.column_link].T
        """(L, nv): [l, i] True where tangent coordinate i moves link l."""
        self._upper = self.below[np.ix_(self.column_link, self.column_link)]
        self._same = self.column_link[:, None] == self.column_link

    def points(self, links: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        """World positions (P, 3) [m] of points at ``offsets`` (P, 3) [m] on ``links`` (P,)."""
        return (self.rotations[links] @ offsets[:, :, None])[:, :, 0] + self.positions[links]

    def point_jacobians(self, links: np.ndarray, points: np.ndarray) -> np.ndarray:
        """Jacobians (P, 3, nv) of world points (P, 3) that move with ``links`` (P,)."""
        linear, angular = self.jacobian[:3].T, self.jacobian[3:].T
        result = (linear + np.cross(angular, points[:, None, :])) * self.moved_by[links][:, :, None]
        return result.transpose(0, 2, 1)

    def normal_equations(self, sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """J' W J (nv, nv) and J' W u (nv,) from the summed rows of each link.

        Args:
            sums: (L, COLUMNS) as made by `row_sums`, per link.
        """
        composite = self.below @ sums
        matrix = _spatial(composite)[self.column_link]
        jacobian = self.jacobian
        forces = (matrix @ jacobian.T[:, :, None])[:, :, 0]
        product = jacobian.T @ forces.T
        hessian = self._mirrored(product)
        # freedoms i, components j of their spatial force and motion
        gradient = np.einsum("ij,ji->i", composite[self.column_link][:, RIGHT], jacobian)
        return hessian, gradient

    def curvature(self, moments: np.ndarray, sums: np.ndarray) -> np.ndarray:
        """Second-order term (nv, nv) that turns J'WJ into the exact Hessian of half the weighted squared residuals.

        For coordinates i above j, d2p / di dj = w_i x dp/dj, so the term is -w_i . sum_p (dp/dj x w r), again summed
        over subtrees; within a spherical joint it is symmetrised.

        Args:
            moments: (L, 3, 3) sum of w p r' per link, r the residuals.
            sums: (L, COLUMNS) of `row_sums` with the residuals as wanted.
        """
        below = self.below.astype(float)
        pulls = (below @ sums[:, RIGHT][:, :3])[self.column_link]
        matrix = np.tensordot(below, moments, axes=1)[self.column_link]
        linear, angular = self.jacobian[:3].T, self.jacobian[3:].T
        turned = np.cross(linear, pulls) + (matrix @ angular[:, :, None])[:, :, 0]
        turned -= np.trace(matrix, axis1=1, axis2=2)[:, None] * angular
        product = angular @ turned.T
        product = np.where(self._same, 0.5 * (product + product.T), product)
        return -self._mirrored(product)

    def _mirrored(self, product: np.ndarray) -> np.ndarray:
        """Symmetric matrix from entries that are valid where the row's joint is above the column's."""
        return np.where(self._upper, product, np.where(self._upper.T, product.T, 0.0))


POINT_WEIGHT, TURN_WEIGHT = 0, 1
FIRST = slice(2, 5)
SECOND = slice(5, 11)
FORCE, MOMENT = slice(11, 14), slice(14, 17)
RIGHT = slice(FORCE.start, MOMENT.stop)
COLUMNS = 17
"""Columns of `row_sums`: weight w of points and of orientations, w p, w (p'p 1 - p p') as xx yy zz xy xz yz, and the
right-hand side, force-like then moment-like."""


def row_sums(
    selector: np.ndarray,
    points: np.ndarray,
    weights: np.ndarray,
    wanted: np.ndarray,
) -> np.ndarray:
    """Rows of points, summed per link about the world origin.

    Args:
        selector: (L, P) 1 where the link carries the point.
        points: (P, 3) [m] world.
        weights: (P,); zero where not measured.
        wanted: (P, 3) displacement or velocity wanted, world; anything finite where not measured.

    Returns:
        (L, COLUMNS), see there.
    """
    weighted = weights[:, None] * points
    pull = weights[:, None] * wanted
    rows = np.zeros((len(points), COLUMNS))
    rows[:, POINT_WEIGHT] = weights
    rows[:, FIRST] = weighted
    x, y, z = points.T
    xx, yy, zz = (weighted * points).T
    rows[:, SECOND] = np.array(
        [yy + zz, xx + zz, xx + yy, -weighted[:, 0] * y, -weighted[:, 0] * z, -weighted[:, 1] * z]
    ).T
    rows[:, FORCE] = pull
    rows[:, MOMENT] = np.array(
        [y * pull[:, 2] - z * pull[:, 1], z * pull[:, 0] - x * pull[:, 2], x * pull[:, 1] - y * pull[:, 0]]
    ).T
    return selector @ rows


def add_orientation_rows(sums: np.ndarray, links: np.ndarray, weights: np.ndarray, wanted: np.ndarray) -> None:
    """Add rows of orientations to ``sums`` in place: weights (O,), wanted rotation or angular velocity (O, 3) world."""
    np.add.at(sums[:, TURN_WEIGHT], links, weights)
    np.add.at(sums[:, MOMENT], links, weights[:, None] * wanted)


def _spatial(sums: np.ndarray) -> np.ndarray:
    """(L, 6, 6) matrices [[w 1, -[wp]x], [[wp]x, w (p'p 1 - pp') + w_o 1]] of `row_sums`."""
    result = np.zeros((len(sums), 6, 6))
    weight, orientation, moment = sums[:, POINT_WEIGHT], sums[:, TURN_WEIGHT], sums[:, FIRST]
    squares = sums[:, SECOND]
    for axis in range(3):
        result[:, axis, axis] = weight
        result[:, 3 + axis, 3 + axis] = squares[:, axis] + orientation
    for row, column, cross in ((0, 1, 3), (0, 2, 4), (1, 2, 5)):
        result[:, 3 + row, 3 + column] = result[:, 3 + column, 3 + row] = squares[:, cross]
    for first, second, axis, sign in ((0, 1, 2, 1.0), (0, 2, 1, -1.0), (1, 2, 0, 1.0)):
        result[:, first, 3 + second] = result[:, 3 + second, first] = sign * moment[:, axis]
        result[:, second, 3 + first] = result[:, 3 + first, second] = -sign * moment[:, axis]
    return result
