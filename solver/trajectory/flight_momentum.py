"""Momentum kept from knot to knot of a flight, where single samples may lack a little.

What a body in the air lacks of free fall, force and moment about its centre of mass, is the rate of its momentum. A
spline has one control value a knot to spend on each coordinate of the root: enough for that lack to vanish in the mean
between two knots, so that momentum is the same at all of them, but not at every sample in between.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from ..feasibility import check_table
from .limit_values import LimitValues

GAUSS_POINTS = 3
"""Samples between two knots, at Gauss-Legendre points: their weighted mean is that of any fifth-degree polynomial."""
MEAN_UNIT = 0.01
"""Of the weight, and of its moment at the body's size: what counts as one in the mean between two knots."""
SAMPLE_ALLOWANCES = np.repeat([0.1, 0.003], 3)
"""Shares of what a flight may lack that are left to each of these samples, of force and of moment: momentum sways by
them between two knots, and it throws a body upwards far more than it turns it."""
MEAN_TOLERANCE = 1e-6
"""As much of the weight may be lacking in the mean: in 0.3 s that changes a body's velocity by 3e-6 m/s."""


class FlightMomentum:
    """Means over the spans between a flight's knots of what is missing there.

    Args:
        times: (N,) [s] at which a trajectory is sampled.
        gauss: (S `GAUSS_POINTS`,) [s] those of them that lie between knots of its flights, see
            `UnevenSpline.gauss_points`.
        lacking: of the weight, what a flight may lack.
    """

    def __init__(self, times: np.ndarray, gauss: np.ndarray, lacking: float) -> None:
        self._gauss_samples = np.abs(times[:, None] - gauss).argmin(axis=0)
        self._spans = len(gauss) // GAUSS_POINTS
        self._weights = 0.5 * np.polynomial.legendre.leggauss(GAUSS_POINTS)[1]
        self._gauss_index = np.full(len(times), -1)
        self._gauss_index[self._gauss_samples] = np.arange(len(gauss))
        (self._check,) = (c for c in check_table.CHECKS if c.applies_when == "airborne" and c.smooth_limit is not None)
        assert self._check.smooth_limit is not None
        self._scale = self._check.smooth_limit.scale / MEAN_UNIT
        self._allowance = np.tile(SAMPLE_ALLOWANCES, 2) * lacking / self._check.smooth_limit.scale

    def add_means(self, values: LimitValues) -> LimitValues:
        """Limits at the samples with those of the means, which leave the flight's own samples more."""
        columns = self._columns(values.names)
        eased = np.array(values.values)
        eased[np.ix_(self._gauss_samples, columns)] += self._allowance
        return replace(values, values=eased, means=self._mean_margins(values.values, columns))

    def select_limits(self, names: np.ndarray, near: np.ndarray) -> np.ndarray:
        """(N, G) True for limits that are near, and for all of those that means are of."""
        asked = np.array(near)
        asked[np.ix_(self._gauss_samples, self._columns(names))] = True
        return asked

    def _mean_margins(self, values: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """(S 12,) what is left of the means, in `UNIT`, of limits (N, G) some columns of which are the flight's."""
        sides = values[np.ix_(self._gauss_samples, columns)].reshape(self._spans, GAUSS_POINTS, 2, len(columns) // 2)
        missing = 0.5 * self._scale * (sides[:, :, 1] - sides[:, :, 0])  # both sides have the same limit
        mean = np.einsum("g,sgk->sk", self._weights, missing)
        return MEAN_TOLERANCE / MEAN_UNIT - np.concatenate([mean, -mean], axis=1).ravel()

    def mean_rows(self, names: np.ndarray, samples: np.ndarray, limits: np.ndarray) -> sparse.csr_array:
        """(S 12, R) that makes the means' slopes of those of limits (R,), by number, at samples (R,)."""
        columns = self._columns(names)
        number = np.full(len(names), -1)
        number[columns] = np.arange(len(columns))
        used = np.flatnonzero((self._gauss_index[samples] >= 0) & (number[limits] >= 0))
        span, sample = np.divmod(self._gauss_index[samples[used]], GAUSS_POINTS)
        found = self._scale * self._weights[sample], (span * len(columns) + number[limits[used]], used)
        return sparse.csr_array(found, shape=(self._spans * len(columns), len(samples)))

    def _columns(self, names: np.ndarray) -> np.ndarray:
        return np.flatnonzero(names == self._check.name)
