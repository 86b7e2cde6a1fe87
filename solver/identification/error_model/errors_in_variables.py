"""Regression calibration: least squares whose regressor is computed from noisy motion.

Y = Y* + E: the computed regressor is the true one plus an error from the motion's noise. The wrench f changes too,
because moments are reduction about a measured point. Plain least squares biases the parameters towards zero by (Y'Y)^-1
E'E, for a recording of any length. Given H = Y'Y and the expected B = E'E, the best linear prediction of Y* from Y is Y
H^-1 (H - B) (Carroll et al., Measurement Error in Nonlinear Models, ch. 4). Fitting with this prediction in place of Y
removes the bias and reduces the weight of directions that are mostly noise. Nothing is subtracted from H, so it stays
positive semi-definite.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import svd

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
    """

    factor: np.ndarray
    target: np.ndarray
    noise_fractions: np.ndarray


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
