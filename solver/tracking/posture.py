"""Where joints rest when no marker says otherwise, and how far they are from their limits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..dynamics import difference
from ..rig import ROOT_NV, Rig
from ..so3 import inverse_right_jacobian, to_matrix, vee


class Posture:
    """Pull of the joints towards neutral, smooth everywhere (also where a rotation vector jumps).

    An angle costs its square; a spherical joint costs half the squared distance of each of its axes from neutral,
    which is the squared turn while small. Links in ``free_twist`` pay only for their z axis, fully.
    """

    def __init__(self, rig: Rig, free_twist: Sequence[str] = ()) -> None:
        joints = rig.model.joints
        moving = range(2, rig.model.njoints)
        spherical = [j for j in moving if joints[j].nq == 4 and joints[j].nv == 3]
        single = [j for j in moving if joints[j].nq == 1]
        self._quaternions = np.array([[joints[j].idx_q + k for k in range(4)] for j in spherical], int).reshape(-1, 4)
        turns = np.array([[joints[j].idx_v + k for k in range(3)] for j in spherical], int).reshape(-1, 3)
        self._turns, self._rows, self._columns = turns, turns[:, :, None], turns[:, None, :]
        self._angles = np.array([joints[j].idx_q for j in single], int)
        self._rates = np.array([joints[j].idx_v for j in single], int)
        free = np.array([rig.links[j - 1] in free_twist for j in spherical], bool)
        self._shares = np.where(free[:, None], [0.0, 0.0, 1.0], [0.5, 0.5, 0.5]).reshape(-1, 3)
        """(S, 3): price of each axis."""
        self._stiffness = self._shares.sum(axis=1)[:, None, None] * np.eye(3) - self._shares[:, :, None] * np.eye(3)

    def cost(self, q: np.ndarray) -> float:
        """Sum of squared distances from neutral [rad^2]."""
        diagonals = np.diagonal(to_matrix(q[self._quaternions]), axis1=1, axis2=2)
        return float(2.0 * (self._shares * (1.0 - diagonals)).sum() + (q[self._angles] ** 2).sum())

    def add(self, q: np.ndarray, weight: float, hessian: np.ndarray, gradient: np.ndarray) -> None:
        """Add the pull's Gauss-Newton terms to J'WJ (nv, nv) and J'Wu (nv,) in place."""
        hessian[self._rates, self._rates] += weight
        gradient[self._rates] -= weight * q[self._angles]
        if len(self._turns):
            hessian[self._rows, self._columns] += weight * self._stiffness
            spread = self._shares[:, :, None] * to_matrix(q[self._quaternions])
            gradient[self._turns] -= 2.0 * weight * vee(spread)


class JointLimits:
    """Joint limits as bounds on a step, by rapetti2020 (12)-(13)."""

    def __init__(self, rig: Rig, limit_speed: float) -> None:
        self._rig, self._neutral = rig, rig.neutral
        self.lower, self.upper = rig.limits.lower, rig.limits.upper
        self._speed = np.where(np.isfinite(rig.limits.speed), rig.limits.speed, limit_speed)
        moving = list(rig.model.joints)[2:]
        first = [joint.idx_v - ROOT_NV for joint in moving if joint.nq == 4 and joint.nv == 3]
        self._spherical = np.add.outer(np.array(first, int), np.arange(3))
        self.any = bool(np.isfinite(self.lower).any() or np.isfinite(self.upper).any())

    def rows(self, q: np.ndarray, step: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """G (nv - 6, nv - 6), lowest and highest change of the joint coordinates in one step of ``step`` seconds.

        The slope k of (12) is 1 / (speed bound x step), the steepest with which a step never passes the limit; a
        configuration beyond a limit is led back as fast as it would be stopped on the other side. Rotation vectors of
        spherical joints change by the inverse of SO(3)'s right Jacobian times the angular step: the rows of G. Of the
        two rotation vectors of one orientation (t and t - 2 pi along the same axis) the one nearer to the limits
        counts, so that a joint allowed to turn by nearly half a turn does not jump out of its limits beyond it.
        """
        coordinates = self._coordinates(q)
        matrix = np.eye(len(coordinates))
        places = self._spherical
        if len(places):
            matrix[places[:, :, None], places[:, None, :]] = inverse_right_jacobian(coordinates[places])
        reach = self._speed * step
        low = -np.tanh((coordinates - self.lower) / reach) * reach
        high = np.tanh((self.upper - coordinates) / reach) * reach
        return matrix, low, high

    def excess(self, q: np.ndarray) -> np.ndarray:
        """(nv - 6,) [rad, m] by which joint coordinates of a configuration (nq,) leave their ranges, 0 inside."""
        coordinates = self._coordinates(q)
        return np.maximum(0.0, np.maximum(self.lower - coordinates, coordinates - self.upper))

    def _coordinates(self, q: np.ndarray) -> np.ndarray:
        coordinates = difference(self._rig, self._neutral, q)[ROOT_NV:]
        places = self._spherical
        if len(places):
            coordinates[places] = nearest_turns(coordinates[places], self.lower[places], self.upper[places])
        return np.asarray(coordinates)


def nearest_turns(vectors: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """The rotation vectors (S, 3) [rad] of the same orientations that lie nearer to the boxes lower..upper (S, 3)."""
    angles = np.linalg.norm(vectors, axis=1, keepdims=True)
    others = vectors * (1.0 - 2.0 * np.pi / np.maximum(angles, 1.0))
    outside = [np.maximum(lower - v, 0.0) + np.maximum(v - upper, 0.0) for v in (vectors, others)]
    nearer = (outside[1] ** 2).sum(axis=1) < (outside[0] ** 2).sum(axis=1)
    return np.where((nearer & (angles[:, 0] > 1.0))[:, None], others, vectors)
