"""Equations to be fitted, with the covariance of their errors: noise, and errors that follow posture.

White noise of the motion is not part of it. It biases least squares towards zero, and regression calibration (Carroll
et al., Measurement Error in Nonlinear Models, ch. 4) would correct that if the noise of every direction were known.
But some directions always have more expected than actual noise, and reducing all corrections until those are possible
left a tenth of them or nothing. Instead the cut-off is chosen so that the equations hold more motion than noise.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

TINY = float(np.finfo(float).tiny)
RANK_TOLERANCE = 1e-8
"""Singular values below this fraction of the largest are rounding."""


@dataclass(frozen=True, slots=True)
class EquationsWithErrors:
    """Equations ||factor phi - target||^2 to be fitted, without the residual that no parameters can remove.

    Attributes:
        factor: (k, 10 L), weighted.
        target: (k,), weighted.
        posture_errors: (k, S) errors of the target by S independent errors of the motion that follow posture
            (`posture_errors`); None without them.
        posture_square: mean square of a weighted equation's error due to them.
    """

    factor: np.ndarray
    target: np.ndarray
    posture_errors: np.ndarray | None = None
    posture_square: float = 0.0

    def scaled_posture_errors(self, noise_variance: float) -> np.ndarray:
        """(k, S) posture errors, reduced where they would exceed the variance of an equation's residual, which contains
        them."""
        if self.posture_errors is None:
            return np.zeros((len(self.factor), 0))
        return self.posture_errors * np.sqrt(min(1.0, noise_variance / max(self.posture_square, TINY)))

    def whitening(self, noise_variance: float) -> np.ndarray:
        """(k, k) matrix that makes errors independent with variance one.

        Args:
            noise_variance: of an equation, without the errors that follow posture.
        """
        if self.posture_errors is None:
            return np.eye(len(self.factor)) / np.sqrt(noise_variance)
        errors = self.scaled_posture_errors(noise_variance) / np.sqrt(noise_variance)
        root = np.linalg.cholesky(np.eye(len(errors)) + errors @ errors.T)
        return solve_triangular(root, np.eye(len(root)), lower=True) / np.sqrt(noise_variance)
