"""The posture task: where joints rest when no marker says otherwise."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..base.so3 import to_matrix
from ..skeleton.rig import Rig
from ..values.person import GIRDLE

GIRDLE_STIFFNESS = 100.0
"""Factor on the price of a rotation of clavicle or scapula: they stay within 0.2 rad (standard deviation) of rest,
other joints within 2 rad."""
FREE_TWIST = ("right_hand", "left_hand")
"""Links whose rotation about their own z axis is free: the human rig's forearms do not pronate, so its hands do."""


class Posture:
    """Cost of the joints' distance from neutral, smooth everywhere (also where a rotation vector jumps).

    An angle costs its square, of a shoulder girdle `GIRDLE_STIFFNESS` times it. A spherical joint costs half the
    squared distance of each of its axes from neutral, which is the squared rotation while small. Links in
    ``free_twist``, of which the rig may lack some, have a cost for their z axis only, in full.
    """

    def __init__(self, rig: Rig, free_twist: Sequence[str] = FREE_TWIST) -> None:
        joints, places, moves = rig.joints, rig.q_slices, rig.v_slices
        spherical = [j for j in range(1, len(joints)) if joints[j].nq == 4 and joints[j].nv == 3]
        single = [(j, k) for j in range(1, len(joints)) if joints[j].nq == joints[j].nv for k in range(joints[j].nv)]
        self._quaternions = np.array([[places[j].start + k for k in range(4)] for j in spherical], int).reshape(-1, 4)
        self._turns = np.array([[moves[j].start + k for k in range(3)] for j in spherical], int).reshape(-1, 3)
        self._angles = np.array([places[j].start + k for j, k in single], int)
        self._rates = np.array([moves[j].start + k for j, k in single], int)
        self._stiff = np.array([GIRDLE_STIFFNESS if rig.links[j].endswith(GIRDLE) else 1.0 for j, _ in single])
        free = np.array([rig.links[j] in free_twist for j in spherical], bool)
        self._shares = np.where(free[:, None], [0.0, 0.0, 1.0], [0.5, 0.5, 0.5]).reshape(-1, 3)
        """(S, 3): price of each axis."""
        self._size = rig.nv
        ahead, behind = self._shares[:, [1, 2, 0]], self._shares[:, [2, 0, 1]]
        self._skewed, self._doubled = 2.0 * (ahead - behind), 2.0 * (ahead + behind)
        """(S, 3): vee of the turn's matrix with weighted rows, written in its quaternion."""
        self._stiffness = self._shares.sum(axis=1)[:, None, None] * np.eye(3) - self._shares[:, :, None] * np.eye(3)

    def cost(self, q: np.ndarray) -> float:
        """Sum of squared distances from neutral [rad^2]."""
        diagonals = np.diagonal(to_matrix(q[self._quaternions]), axis1=1, axis2=2)
        return float(2.0 * (self._shares * (1.0 - diagonals)).sum() + self._stiff @ q[self._angles] ** 2)

    @property
    def diagonal(self) -> np.ndarray:
        """(nv,) diagonal of the cost's Gauss-Newton matrix, which has no other entries."""
        result = np.zeros(self._size)
        result[self._rates] = self._stiff
        result[self._turns] = np.diagonal(self._stiffness, axis1=1, axis2=2)
        return result

    def restoring_torque(self, q: np.ndarray) -> np.ndarray:
        """(..., nv) towards neutral, of configurations (..., nq): minus half the gradient of the cost."""
        result = np.zeros((*q.shape[:-1], self._size))
        result[..., self._rates] = -self._stiff * q[..., self._angles]
        if len(self._turns):
            turned = q[..., self._quaternions]
            ahead, behind = turned[..., [1, 2, 0]], turned[..., [2, 0, 1]]
            result[..., self._turns] = self._skewed * ahead * behind - self._doubled * turned[..., :3] * turned[..., 3:]
        return result

    def add(self, q: np.ndarray, weight: float, hessian: np.ndarray, gradient: np.ndarray) -> None:
        """Adds the cost's Gauss-Newton terms to J'WJ (nv, nv) and J'Wu (nv,) in place."""
        hessian.flat[:: self._size + 1] += weight * self.diagonal
        gradient += weight * self.restoring_torque(q)
