"""Conservation of momentum between the knots of a flight, with a small allowance at single samples.

The wrench that an airborne body lacks, force and moment about the centre of mass, is the rate of its momentum error. A
spline has one control value per knot for each coordinate of the root. This suffices to make the mean of the missing
wrench between two knots zero, so that the momentum is right at all knots, but not at every sample in between.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from ..feasibility import check_table
from .limit_values import LimitValues

GAUSS_POINTS = 3
"""Gauss-Legendre points between two knots: their weighted mean is exact for polynomials of fifth degree. Derived: n
points are exact up to degree 2 n - 1."""
MEAN_UNIT = 0.01
"""Scale of the mean missing wrench: share of the weight, and of the weight times the body's size."""
SAMPLE_ALLOWANCES = np.repeat([0.1, 0.003], 3)
"""Shares of the allowed missing wrench that single samples may have, for force and moment. The momentum varies by them
between two knots."""
MEAN_TOLERANCE = 1e-6
"""Share of the weight that may be missing in the mean: in 0.3 s it changes the velocity by 3e-6 m/s."""


class FlightMomentum:
    """Limits on the mean missing wrench in the S intervals between the knots of flights.

    Args:
        times: (N,) [s] samples of a trajectory.
        gauss: (S `GAUSS_POINTS`,) [s] those between knots of its flights, see `UnevenSpline.gauss_points`.
        lacking: allowed missing wrench, as a share of the weight.
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
        """Limits at samples with those of the means added, and with an allowance at the flight's own samples."""
        columns = self._columns(values.names)
        eased = np.array(values.values)
        eased[np.ix_(self._gauss_samples, columns)] += self._allowance
        return replace(values, values=eased, means=self._mean_margins(values.values, columns))

    def select_limits(self, names: np.ndarray, near: np.ndarray) -> np.ndarray:
        """(N, G) True for near limits, and for all limits that enter means."""
        selected = np.array(near)
        selected[np.ix_(self._gauss_samples, self._columns(names))] = True
        return selected

    def _mean_margins(self, values: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """(S 12,) margins of the means, in `MEAN_UNIT`, from all limits (N, G)."""
        sides = values[np.ix_(self._gauss_samples, columns)].reshape(self._spans, GAUSS_POINTS, 2, len(columns) // 2)
        missing = 0.5 * self._scale * (sides[:, :, 1] - sides[:, :, 0])  # both sides have the same limit
        mean = np.einsum("g,sgk->sk", self._weights, missing)
        return MEAN_TOLERANCE / MEAN_UNIT - np.concatenate([mean, -mean], axis=1).ravel()

    def mean_rows(self, names: np.ndarray, samples: np.ndarray, limits: np.ndarray) -> sparse.csr_array:
        """(S 12, R) map from derivatives of limits (R,), by number, at samples (R,), to those of the means."""
        columns = self._columns(names)
        number = np.full(len(names), -1)
        number[columns] = np.arange(len(columns))
        used = np.flatnonzero((self._gauss_index[samples] >= 0) & (number[limits] >= 0))
        span, sample = np.divmod(self._gauss_index[samples[used]], GAUSS_POINTS)
        found = self._scale * self._weights[sample], (span * len(columns) + number[limits[used]], used)
        return sparse.csr_array(found, shape=(self._spans * len(columns), len(samples)))

    def _columns(self, names: np.ndarray) -> np.ndarray:
        return np.flatnonzero(names == self._check.name)
