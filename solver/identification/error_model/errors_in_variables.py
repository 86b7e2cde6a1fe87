"""Regression calibration: least squares whose regressor is computed from noisy motion.

Y = Y* + E: the computed regressor is the true one plus an error from the motion's noise. The wrench f changes too,
because moments are reduction about a measured point. Plain least squares biases the parameters towards zero by (Y'Y)^-1
E'E, for a recording of any length. Given H = Y'Y and the expected B = E'E, the best linear prediction of Y* from Y is Y
H^-1 (H - B) (Carroll et al., Measurement Error in Nonlinear Models, ch. 4). Fitting with this prediction in place of Y
removes the bias and reduces the weight of directions that are mostly noise. Nothing is subtracted from H, so it stays
positive semi-definite.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import lstsq, solve_triangular, svd

TINY = float(np.finfo(float).tiny)
RANK_TOLERANCE = 1e-8
"""Singular values below this fraction of the largest are rounding."""
MAX_NOISE_FRACTION = 0.8
"""Largest fraction of noise that is accepted. Expected noise differs from actual noise; where a fraction would exceed
this limit, all fractions are reduced by the same factor, as in Fuller's modification."""


@dataclass(frozen=True, slots=True)
class CalibratedEquations:
    """Equations ||factor phi - target||^2 to be fitted, without the residual that no parameters can remove.

    Attributes:
        factor: (k, 10 L), weighted.
        target: (k,), weighted.
        noise_fractions: (r,) in [0, `MAX_NOISE_FRACTION`] fraction of each principal direction that is noise of the
            motion, descending; empty if the noise is unknown.
        posture_errors: (k, S) errors of the target by S independent errors of the motion that follow posture
            (`posture_errors`); None without them.
        posture_square: mean square of a weighted equation's error due to them.
    """

    factor: np.ndarray
    target: np.ndarray
    noise_fractions: np.ndarray
    posture_errors: np.ndarray | None = None
    posture_square: float = 0.0

    def with_posture_errors(self, gradients: np.ndarray, square: float) -> CalibratedEquations:
        """These equations with errors that follow posture.

        Args:
            gradients: (10 L, S) errors Y'e of the right-hand side of the normal equations before calibration.
            square: mean square of a weighted equation's error.
        """
        errors = lstsq(self.factor.T, gradients, cond=RANK_TOLERANCE, check_finite=False)[0]
        if len(self.noise_fractions):  # calibration scaled the factor by 1 - fraction, not the target
            errors *= (1.0 - self.noise_fractions)[:, None]
        return replace(self, posture_errors=errors, posture_square=square)

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


def calibrate_equations(equations: np.ndarray, noise: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Calibrated factor (r, n), target (r,) and noise fractions (r,).

    Args:
        equations: (m, n + 1) factor of [Y f].
        noise: (k, n + 1) factor of the expected [E, e]'[E, e]: the change of Y and f with the motion's noise.
    """
    U, s, Vt = svd(equations[:, :-1], full_matrices=False, check_finite=False)
    rank = int(np.sum(s > RANK_TOLERANCE * s[0])) if len(s) and s[0] > 0.0 else 0
    U, s, Vt = U[:, :rank], s[:rank], Vt[:rank]
    # in coordinates in which H is the identity, the eigenvalues of B are the noise fractions
    whitened = noise[:, :-1] @ (Vt.T / s)
    fractions, directions = np.linalg.eigh(whitened.T @ whitened)
    fractions, directions = fractions.clip(0.0)[::-1], directions[:, ::-1]
    reduction = min(1.0, MAX_NOISE_FRACTION / max(float(fractions.max(initial=0.0)), MAX_NOISE_FRACTION))
    fractions = reduction * fractions
    target = directions.T @ (U.T @ equations[:, -1] - reduction * (whitened.T @ noise[:, -1]))
    factor = (1.0 - fractions)[:, None] * (directions.T @ (s[:, None] * Vt))
    return factor, target, fractions
