"""Integrates the root's rotation as in rapetti2020 (14)-(15), as an alternative to the exact integration on the
manifold.
"""

from __future__ import annotations

import numpy as np

from ..so3 import nearest_rotation, skew, to_matrix, to_quaternion


class BaumgarteRoot:
    """Root rotation as a matrix integrated with rapetti2020 (14)-(15)."""

    def __init__(self, quaternion: np.ndarray, gain: float) -> None:
        self.gain = gain
        self.restart(quaternion)

    def restart(self, quaternion: np.ndarray) -> None:
        """Takes the rotation of a quaternion xyzw (4,)."""
        self.matrix = to_matrix(quaternion)

    def advance(self, rotation_step: np.ndarray) -> np.ndarray:
        """Quaternion xyzw after the angular step ``turn`` (3,) [rad] in root axes.

        R' = R (S(w) + A), A = rho / 2 ((R'R)^-1 - 1), one explicit Euler step.
        """
        correction = 0.5 * self.gain * (np.linalg.inv(self.matrix.T @ self.matrix) - np.eye(3))
        self.matrix = self.matrix + self.matrix @ (skew(rotation_step) + correction)
        return to_quaternion(nearest_rotation(self.matrix))

    @property
    def drift(self) -> float:
        """|R'R - 1|: distance of the matrix from a rotation."""
        return float(np.linalg.norm(self.matrix.T @ self.matrix - np.eye(3)))
