"""Points on links, their Jacobians, and the second-order terms of what is fixed to links.

The Jacobian of every point is never built for tracking: `WeightedTree` solves from weights and forces summed link by
link, and the second-order term needs only moments that are summed over subtrees likewise.
"""

from __future__ import annotations

import numpy as np

from ..dynamics import WeightedTree
from ..rig import Rig
from ..so3 import skew

UNIT = np.eye(3)
BLOCK = 18
"""Numbers of a (3, 6) block."""
CROSSED = -skew(np.eye(3)).reshape(3, 9)
"""Takes -sk(f), flat, from f."""


class Kinematics(WeightedTree):
    """Link poses, point positions and their derivatives of one rig at one configuration at a time."""

    def __init__(self, rig: Rig) -> None:
        super().__init__(rig)
        links = len(rig.links)
        self.parents = np.array(rig.parents)
        self.column_link = np.concatenate([np.full(rig.model.joints[k + 1].nv, k) for k in range(links)])
        self.below = rig.below
        """(L, L): [k, l] True where link l is link k or hangs below it."""
        self.moved_by = self.below[self.column_link].T
        """(L, nv): [l, i] True where tangent coordinate i moves link l."""
        same = self.column_link[:, None] == self.column_link
        upper = self.below[np.ix_(self.column_link, self.column_link)] & ~same
        self.shares = upper + 0.5 * same
        """(nv, nv): what counts of a product that is valid where the row's joint is above the column's."""
        self._less = -self.shares
        self.subtrees = self.below.astype(float)
        self.carried = self.subtrees[self.column_link]
        """(nv, L): 1 where a tangent coordinate moves a link."""

    def points(self, links: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        """World positions (P, 3) [m] of points at ``offsets`` (P, 3) [m] on ``links`` (P,)."""
        return (self.rotations[links] @ offsets[:, :, None])[:, :, 0] + self.positions[links]

    def point_jacobians(self, links: np.ndarray, points: np.ndarray) -> np.ndarray:
        """Jacobians (P, 3, nv) of world points (P, 3) that move with ``links`` (P,)."""
        linear, angular = self.jacobian[:3].T, self.jacobian[3:].T
        result = (linear + np.cross(angular, points[:, None, :])) * self.moved_by[links][:, :, None]
        return result.transpose(0, 2, 1)

    def curvature(self, blocks: np.ndarray, carried: np.ndarray | None = None) -> np.ndarray:
        """Second-order term (nv, nv) that turns J'WJ into the exact Hessian of half the weighted squared residuals.

        For coordinates i above j, d2p / di dj = w_i x dp/dj, so the term of points is -w_i . sum_p (dp/dj x w r), again
        summed over subtrees. Two turns made one after the other are half their cross product more than their sum, so
        the term of a moment m is -w_i . (w_j x m) / 2, which is taken off what two turns are priced at together. Within
        a joint all is symmetrised.

        Args:
            blocks: (K, 3, 6) of rows, which may be summed by link: what takes -sum_p (dp/dj x w r) from a twist, its
                linear part first, world. Of points by `bends`; of orientations what they take off two turns.
            carried: (nv, K) 1 where a coordinate moves what a row belongs to; None where rows are links.
        """
        below = ((self.carried if carried is None else carried) @ blocks.reshape(-1, BLOCK)).reshape(-1, 3, 6)
        turned = (below @ self.jacobian.T[:, :, None])[:, :, 0]
        product = self.jacobian[3:].T @ turned.T
        product *= self._less
        return np.asarray(product + product.T)


def bends(moments: np.ndarray, forces: np.ndarray) -> np.ndarray:
    """Blocks (K, 3, 6) of points for `Kinematics.curvature`.

    Args:
        moments: (K, 3, 3) sum of w p r', r the residuals of points p, world.
        forces: (K, 3) sum of w r.
    """
    blocks = np.empty((len(moments), 3, 6))
    blocks[:, :, :3] = (forces @ CROSSED).reshape(-1, 3, 3)
    trace = moments[:, 0, 0] + moments[:, 1, 1] + moments[:, 2, 2]
    np.subtract(moments, trace[:, None, None] * UNIT, out=blocks[:, :, 3:])
    return blocks
