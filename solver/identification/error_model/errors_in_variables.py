"""Least squares whose equations are made of noisy motion: regression calibration.

Y = Y* + E: the measured regressor is the true one plus what the motion's noise makes of it, and f too changes with the
motion, because moments are taken about a measured point. Least squares then finds parameters that are drawn towards
zero by (Y'Y)^-1 E'E, however long the recording is. Given H = Y'Y and the expected B = E'E, the best linear guess of
Y* from Y is Y H^-1 (H - B) (Carroll et al., Measurement Error in Nonlinear Models, ch. 4). Fitting with the guess in
the place of Y undoes the bias, and lets a direction count the less the more of what is seen in it is noise: no
subtraction from H, so no negative squares.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import svd

RANK_TOLERANCE = 1e-8
"""Singular values below this share of the largest are rounding."""
MAX_NOISE_FRACTION = 0.8
"""Largest share of noise that is believed. Expected noise is not quite the noise that happened, and a share above one
says how far they are apart; all shares are then taken as too large alike, as in Fuller's modification."""


@dataclass(frozen=True, slots=True)
class CalibratedEquations:
    """Equations ||factor phi - target||^2 to be fitted; what no parameters can remove is left out.

    Attributes:
        factor: (k, 10 L), weighted.
        target: (k,), weighted.
        noise_fractions: (r,) in [0, `MOST`] of what is seen in each principal direction that is the motion's noise,
            descending; empty when the noise is unknown.
    """

    factor: np.ndarray
    target: np.ndarray
    noise_fractions: np.ndarray


def calibrate_equations(equations: np.ndarray, noise: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Calibrated factor (r, n), target (r,) and shares of noise (r,).

    Args:
        equations: (m, n + 1) factor of [Y f].
        noise: (k, n + 1) factor of the expected [E, e]'[E, e], by which Y and f change when the motion's noise does.
    """
    U, s, Vt = svd(equations[:, :-1], full_matrices=False, check_finite=False)
    rank = int(np.sum(s > RANK_TOLERANCE * s[0])) if len(s) and s[0] > 0.0 else 0
    U, s, Vt = U[:, :rank], s[:rank], Vt[:rank]
    # in coordinates in which H is one, B has the shares of noise as eigenvalues
    whitened = noise[:, :-1] @ (Vt.T / s)
    shares, directions = np.linalg.eigh(whitened.T @ whitened)
    shares, directions = shares.clip(0.0)[::-1], directions[:, ::-1]
    taken = min(1.0, MAX_NOISE_FRACTION / max(float(shares.max(initial=0.0)), MAX_NOISE_FRACTION))
    shares = taken * shares
    target = directions.T @ (U.T @ equations[:, -1] - taken * (whitened.T @ noise[:, -1]))
    factor = (1.0 - shares)[:, None] * (directions.T @ (s[:, None] * Vt))
    return factor, target, shares
