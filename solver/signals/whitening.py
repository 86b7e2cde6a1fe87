"""Whitens accelerations derived from noisy positions: generalised least squares over a short interval.

White noise of positions, differentiated twice, grows with the square of the frequency. Soft tissue and model errors add
noise that does not. Both are equal at a corner frequency. Rows multiplied by the inverse square root of that covariance
have independent errors: below the corner they weigh as accelerations, above it as positions, whose second differences
have little information. Unlike a low-pass this needs no samples beyond the interval's ends, where a low-pass
extrapolates by a reflection: the result is a linear combination of the interval's rows only.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cholesky_banded, solve_banded

from ..base.errors import InvalidValue

ORDER = 2
"""Order of the derivative from positions to accelerations. By definition."""


def whiten(values: np.ndarray, rate: float, corner: float) -> np.ndarray:
    """Rows of accelerations with independent errors of equal variance, for which least squares is optimal.

    C^(-1/2) values with C = 1 + D D' (rate / (2 pi corner))^4, where D are second differences of positions from one
    sample before to one after the interval. All signals pass the same operator, so equations between them still hold.

    Args:
        values: (C, n) consecutive samples of C signals, time last.
        rate: samples per second.
        corner: [Hz] frequency above which the noise of positions dominates.

    Returns:
        (C, n), in the units of the values.

    Raises:
        InvalidValue: rate or corner is not positive.
    """
    if not (rate > 0.0 and corner > 0.0):
        raise InvalidValue(f"the rate ({rate:g} /s) and the corner ({corner:g} Hz) must be positive")
    count = values.shape[1]
    share = (rate / (2.0 * np.pi * corner)) ** (2 * ORDER)
    band = np.empty((ORDER + 1, count))  # D D' is Toeplitz: 6, -4, 1
    band[:] = share * np.array([6.0, -4.0, 1.0])[:, None]
    band[0] += 1.0
    return np.ascontiguousarray(solve_banded((ORDER, 0), cholesky_banded(band, lower=True), values.T).T)
