"""Points on links, their Jacobians, and the second-order terms of quantities fixed to links.

Tracking never builds the Jacobian of every point: `WeightedTree` solves from weights and forces summed link by link,
and the second-order term needs only moments that are summed over subtrees likewise.
"""

from __future__ import annotations

import numpy as np

from ..base.so3 import skew
from ..dynamics import WeightedTree
from ..skeleton.rig import Rig

IDENTITY = np.eye(3)
"""By definition."""
BLOCK_SIZE = 36
"""Entries of a matrix between two twists. By definition."""
NEGATIVE_SKEW = -skew(np.eye(3)).reshape(3, 9)
"""Maps f to -sk(f), flattened. By definition."""


class Kinematics(WeightedTree):
    """Link poses, point positions and their derivatives of one rig at one configuration at a time."""

    def __init__(self, rig: Rig) -> None:
        super().__init__(rig)
        links = len(rig.links)
        self.parents = np.array(rig.parents)
        self.link_of_column = np.repeat(np.arange(links), [joint.nv for joint in rig.joints])
        self.descendants = rig.descendants
        """(L, L): [k, l] True where link l is link k or a descendant of it."""
        self.moved_by = self.descendants[self.link_of_column].T
        """(L, nv): [l, i] True where tangent coordinate i moves link l."""
        same = self.link_of_column[:, None] == self.link_of_column
        upper = self.descendants[np.ix_(self.link_of_column, self.link_of_column)] & ~same
        self.pair_weights = upper + 0.5 * same
        """(nv, nv): weights of a product that is valid if the row's joint is above the column's."""
        self.subtree_matrix = self.descendants.astype(float)
        self.moves_link = self.subtree_matrix[self.link_of_column]
        """(nv, L): 1 where a tangent coordinate moves a link."""

    def points(self, links: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        """World positions (P, 3) [m] of points at ``offsets`` (P, 3) [m] on ``links`` (P,)."""
        return (self.rotations[links] @ offsets[:, :, None])[:, :, 0] + self.positions[links]

    def point_jacobians(self, links: np.ndarray, points: np.ndarray) -> np.ndarray:
        """Jacobians (P, 3, nv) of world points (P, 3) that move with ``links`` (P,)."""
        linear, angular = self.jacobian[:3].T, self.jacobian[3:].T
        result = (linear + np.cross(angular, points[:, None, :])) * self.moved_by[links][:, :, None]
        return result.transpose(0, 2, 1)

    def equations(self, row_terms: np.ndarray, carried: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The exact Hessian (nv, nv) of half the weighted squared residuals, and minus its gradient (nv,).

        For coordinates i above j, d2p / di dj = w_i x dp/dj, so a point adds -w_i . (dp/dj x w r) to the Gauss-Newton
        matrix. The composition of two rotations differs from their sum by half their cross product. Both terms are
        products of the two coordinates' twists with a matrix per row, summed over what j moves; within a joint
        everything is symmetrised.

        Args:
            row_terms: (K, 42) of each row: its force and moment about the world's origin, world axes, and that matrix
                (6, 6), linear parts first.
            carried: (nv, K) 1 where a coordinate moves the row's link.
        """
        twists = self.jacobian.T
        below = carried @ row_terms
        gradient = (below[:, :6] * twists).sum(axis=1)
        product = twists @ (below[:, 6:].reshape(-1, 6, 6) @ twists[:, :, None])[:, :, 0].T
        product *= self.pair_weights
        return product + product.T, gradient

    def curvature(self, moments: np.ndarray, forces: np.ndarray) -> np.ndarray:
        """Second-order term (nv, nv) of points that turns J'WJ into the exact Hessian, see `equations`.

        Args:
            moments: (L, 3, 3) sum of w p r' per link, r the residuals of points p, world.
            forces: (L, 3) sum of w r per link.
        """
        trace = moments[:, 0, 0] + moments[:, 1, 1] + moments[:, 2, 2]
        blocks = np.empty((len(moments), 3, 6))
        blocks[:, :, :3] = (forces @ NEGATIVE_SKEW).reshape(-1, 3, 3)
        blocks[:, :, 3:] = moments - trace[:, None, None] * IDENTITY
        below = (self.subtree_matrix @ blocks.reshape(-1, 18)).reshape(-1, 3, 6)[self.link_of_column]
        products = (below @ self.jacobian.T[:, :, None])[:, :, 0]
        product = (self.jacobian[3:].T @ products.T) * self.pair_weights
        return -(product + product.T)
