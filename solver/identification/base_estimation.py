"""Base parameters from data alone, with their standard deviations: bonnet2016 (6), (7)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from ..errors import InvalidValue
from .base_parameters import BaseParameters, from_factor
from .regression import Regression
from .triangular import triangular_factor

DATA_TOLERANCE = 1e-6
"""A column of the data's regressor is dependent when less than this share of it lies outside the others' span."""
WELL_KNOWN = 0.10
"""Base parameters with a larger relative standard deviation are left out of a QP's equality rows, bonnet2016 II.C."""


@dataclass(frozen=True, slots=True)
class BaseEstimate:
    """Least-squares base parameters.

    Attributes:
        base: which combinations: the rig's structure, or fewer when the motion excites fewer.
        values: (B,) phi_b, in the units of the kept parameter.
        white_std: (B,) standard deviations if the residuals were white noise.
        inflation: how much larger the spread between blocks of time is than white noise would make it, as a factor
            on standard deviations; below one when the blocks agree better than chance.
        noise: root mean square of the weighted residual per degree of freedom; 1 when the weights are right.
    """

    base: BaseParameters
    values: np.ndarray
    white_std: np.ndarray
    inflation: float
    noise: float

    @property
    def std(self) -> np.ndarray:
        """(B,) standard deviations corrected for correlated residuals, never smaller than the white ones."""
        return self.white_std * max(self.inflation, 1.0)

    def relative_std(self, corrected: bool = True) -> np.ndarray:
        """(B,) standard deviation over absolute value; with white noise if not ``corrected``. 0.1 stands for 10 %."""
        with np.errstate(divide="ignore"):
            return (self.std if corrected else self.white_std) / np.abs(self.values)

    def well_known(self, limit: float = WELL_KNOWN, corrected: bool = True) -> np.ndarray:
        """(B,) True where the relative standard deviation is at most ``limit``."""
        return self.relative_std(corrected) <= limit


def excited_base_parameters(regression: Regression, tolerance: float = DATA_TOLERANCE) -> BaseParameters:
    """Base parameters of the recorded motion: the rig's own when it excites all, else fewer."""
    structure = regression.structure
    kept = regression.factor[:, structure.independent]
    length = np.linalg.norm(kept, axis=0)
    if len(kept) >= len(structure) and length.all():
        smallest = np.linalg.svd(kept / length, compute_uv=False)[-1]
        if smallest > tolerance:  # then no column can lie that close to the others' span
            return structure
    found = from_factor(regression.links, regression.factor, tolerance)
    return structure if len(found) == len(structure) else found


def estimate_base(regression: Regression, tolerance: float = DATA_TOLERANCE) -> BaseEstimate:
    """Weighted least-squares base parameters phi_b = (W' P W)^-1 W' P F, bonnet2016 (7) as it should read.

    The white-noise standard deviation is sigma^2 (W' P W)^-1. Residuals of motion are not white, so the gradient of
    each block of time is compared with what white noise would give (a sandwich estimate, summed over all
    directions). With few blocks for many parameters this still promises too much; the bootstrap is the judge.

    Raises:
        InvalidValue: fewer equations than unknowns, or equations of flights, whose right-hand sides are zero.
    """
    if regression.residual_cost == 0.0 and not regression.target.any():
        raise InvalidValue("flights without forces tell base parameters only up to a factor: see `flight.null_space`")
    base = excited_base_parameters(regression, tolerance)
    count = len(base)
    freedom = regression.rows - count
    if freedom <= 0:
        raise InvalidValue(f"{regression.rows} equations are too few for {count} base parameters")
    factor = triangular_factor(np.column_stack([regression.factor[:, base.independent], regression.target]))
    upper = factor[:count, :count]
    values = solve_triangular(upper, factor[:count, count])
    noise = np.sqrt((regression.residual_cost + np.sum(factor[count:, count] ** 2)) / freedom)
    inverse = solve_triangular(upper, np.eye(count))
    white = noise * np.linalg.norm(inverse, axis=1)
    gradients = solve_triangular(upper, _block_gradients(regression, base, values), trans="T")
    blocks = gradients.shape[1]
    spread = np.sum(gradients**2) * blocks / max(blocks - 1, 1)
    inflation = float(np.sqrt(spread / count) / noise) if noise > 0.0 else 1.0
    return BaseEstimate(base, values, white, inflation, float(noise))


def _block_gradients(regression: Regression, base: BaseParameters, values: np.ndarray) -> np.ndarray:
    """W' P (W phi_b - F) of each block taken (B, blocks)."""
    structure = regression.structure
    kept = np.searchsorted(structure.independent, base.independent)
    phi = np.zeros(len(structure))
    phi[kept] = values
    taken = [(n, t) for n, t in zip(regression.counts, regression.weighted_blocks) if n]
    size = len(structure)
    gradients = [np.sqrt(n) * (t[:, :size].T @ (t[:, :size] @ phi - t[:, size])) for n, t in taken]
    return np.array(gradients).T[kept]
