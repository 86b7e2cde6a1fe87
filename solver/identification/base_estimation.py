"""Least-squares base parameters with standard deviations: bonnet2016 (6), (7)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from ..base.errors import InvalidValue
from .base_parameters import BaseParameters, from_factor
from .regression import Regression
from .triangular import triangular_factor

DATA_TOLERANCE = 1e-6
"""A column of the regressor is dependent if less than this fraction of it lies outside the span of the others."""
WELL_KNOWN = 0.10
"""Base parameters with a larger relative standard deviation do not enter a quadratic program's equalities, bonnet2016
II.C."""


@dataclass(frozen=True, slots=True)
class BaseEstimate:
    """Least-squares base parameters.

    Attributes:
        base: which combinations: the rig's base parameters, or fewer if the motion excites fewer.
        values: (B,) phi_b, in the units of the independent parameter.
        white_std: (B,) standard deviations if the residuals were white noise.
        inflation: ratio of the spread between blocks of time to that of white noise, a factor on standard deviations;
            below one if the blocks agree better than white noise would.
        noise: root mean square of the weighted residual per degree of freedom; 1 if the weights are right.
    """

    base: BaseParameters
    values: np.ndarray
    white_std: np.ndarray
    inflation: float
    noise: float

    @property
    def std(self) -> np.ndarray:
        """(B,) standard deviations corrected for correlated residuals, never smaller than those of white noise."""
        return self.white_std * max(self.inflation, 1.0)

    def relative_std(self, corrected: bool = True) -> np.ndarray:
        """(B,) standard deviation over absolute value, corrected for correlated residuals or as of white noise; 0.1 is
        10 %."""
        with np.errstate(divide="ignore"):
            return (self.std if corrected else self.white_std) / np.abs(self.values)

    def well_known(self, limit: float = WELL_KNOWN, corrected: bool = True) -> np.ndarray:
        """(B,) True where the relative standard deviation is at most ``limit``."""
        return self.relative_std(corrected) <= limit


def excited_base_parameters(regression: Regression, tolerance: float = DATA_TOLERANCE) -> BaseParameters:
    """Base parameters of the recorded motion: all of the rig's if the motion excites them, otherwise fewer."""
    structure = regression.structure
    columns = regression.factor[:, structure.independent]
    length = np.linalg.norm(columns, axis=0)
    if len(columns) >= len(structure) and length.all():
        smallest = np.linalg.svd(columns / length, compute_uv=False)[-1]
        if smallest > tolerance:  # then no column lies that close to the others' span
            return structure
    found = from_factor(regression.links, regression.factor, tolerance)
    return structure if len(found) == len(structure) else found


def estimate_base(regression: Regression) -> BaseEstimate:
    """Weighted least-squares base parameters phi_b = (W' P W)^-1 W' P F, bonnet2016 (7) corrected.

    The covariance for white noise is sigma^2 (W' P W)^-1. Residuals of motion are not white, so the gradient of each
    block of time is compared with what white noise would give (a sandwich estimate, summed over all directions). With
    few blocks for many parameters this is still too optimistic.

    Raises:
        InvalidValue: fewer equations than unknowns, or equations of flights, whose right-hand sides are zero.
    """
    if regression.residual_cost == 0.0 and not regression.target.any():
        raise InvalidValue(
            "flights without forces determine base parameters only up to a factor: use `flight.null_space`"
        )
    base = excited_base_parameters(regression)
    count = len(base)
    freedom = regression.rows - count
    if freedom <= 0:
        raise InvalidValue(f"{regression.rows} equations are too few for {count} base parameters")
    factor = triangular_factor(np.column_stack([regression.factor[:, base.independent], regression.target]))
    upper = factor[:count, :count]
    values = solve_triangular(upper, factor[:count, count])
    noise = np.sqrt((regression.residual_cost + np.sum(factor[count:, count] ** 2)) / freedom)
    white = noise * np.linalg.norm(solve_triangular(upper, np.eye(count)), axis=1)
    columns = np.searchsorted(regression.structure.independent, base.independent)
    phi = np.zeros(len(regression.structure))
    phi[columns] = values
    own = regression.block_gradients(phi)[:, columns]
    gradients, blocks = solve_triangular(upper, own.T, trans="T"), len(own)
    gradient_square = np.sum(gradients**2) * blocks / max(blocks - 1, 1)
    inflation = float(np.sqrt(gradient_square / count) / noise) if noise > 0.0 else 1.0
    return BaseEstimate(base, values, white, inflation, float(noise))
