"""Accelerations made of noisy places, weighed by their own noise: generalised least squares over a short stretch.

White noise of places becomes, twice differentiated, a noise of accelerations that grows with the square of the
frequency; skin and a model that do not quite fit add one that does not. Both are equal at a corner frequency. Rows
divided by the root of that covariance have independent errors: below the corner they count as accelerations, above it
as places, whose second differences tell little. Unlike a low-pass this needs nothing beyond the stretch's ends, where a
low-pass makes up a reflection: to it belong all linear combinations of the stretch's rows and no others.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cholesky_banded, solve_banded

from ..errors import InvalidValue

ORDER = 2
"""Derivatives from places to accelerations."""


def whiten(values: np.ndarray, rate: float, corner: float) -> np.ndarray:
    """Rows of accelerations with independent errors of equal size, on which least squares is the best linear estimate.

    C^(-1/2) values with C = 1 + D D' (rate / (2 pi corner))^4, D the second differences of places that reach one sample
    beyond either end. Every column passes the same operator, so equations that hold between columns still do.

    Args:
        values: (C, n) consecutive samples of C signals, time last.
        rate: samples per second.
        corner: [Hz] above which the noise of places is the larger.

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
    root = cholesky_banded(band, lower=True)
    return np.ascontiguousarray(solve_banded((ORDER, 0), root, values.T).T)
