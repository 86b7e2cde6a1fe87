"""Information in accumulated equations: rank, noise, and how many correlated equations count as one."""

from __future__ import annotations

import numpy as np
from scipy.linalg import svd

from ..errors import InvalidValue
from ..inertials import InertialParameters
from .weighted_equations import WeightedEquations

RANK_TOLERANCE = 1e-8
"""Singular values below this fraction of the largest are rounding, in parameters divided by their typical size."""
MIN_BLOCKS = 4
"""Least number of blocks from which the correlation of residuals can be estimated."""


def singular_values(
    regression: WeightedEquations, scale: np.ndarray, tolerance: float = RANK_TOLERANCE
) -> tuple[np.ndarray, int, np.ndarray]:
    """Singular values of the equations, descending, the number of them that are not rounding, and the share (L, 10) of
    each parameter outside the null space: what exact data determine without a prior.

    Args:
        regression: accumulated equations.
        scale: (L, 10) typical size of each parameter.
        tolerance: of the rank, as a fraction of the largest value.
    """
    _, values, Vt = svd(regression.factor * np.ravel(scale), full_matrices=False, check_finite=False)
    rank = int(np.sum(values > tolerance * values[0])) if len(values) and values[0] > 0.0 else 0
    return values, rank, np.sum(Vt[:rank] ** 2, axis=0).reshape(len(regression.links), -1)


def noise_variance(regression: WeightedEquations, parameters: InertialParameters) -> float:
    """Mean square of a weighted residual; 1 if the weights are one over the standard deviations."""
    residual = regression.factor @ parameters.vector - regression.target
    return float((residual @ residual + regression.residual_cost) / max(1, count_weighted_rows(regression)))


def count_weighted_rows(regression: WeightedEquations) -> int:
    """Number of equations on axes with a weight above zero."""
    return int(regression.axis_rows[regression.weights > 0.0].sum())


def data_inflation(regression: WeightedEquations, parameters: InertialParameters) -> float:
    """Number of correlated equations that carry the information of one independent equation, at least 1.

    Residuals of neighbouring frames are correlated, so N equations carry less information than N independent ones. The
    gradient of each block of time is compared with what white noise would give (a sandwich estimate): the ratio of the
    variances, averaged over the directions that the data determine. The data's cost is divided by it.

    Args:
        regression: with its blocks.
        parameters: near the solution.

    Raises:
        InvalidValue: fewer than `MIN_BLOCKS` blocks.
    """
    taken = regression.counts > 0
    counts = regression.counts[taken]
    total = float(counts.sum())
    if total < MIN_BLOCKS:
        raise InvalidValue(f"{len(counts)} blocks of frames are too few to estimate the correlation of the residuals")
    gradients = regression.block_gradients(parameters)[taken]
    gradients = (gradients - counts @ gradients / total) * np.sqrt(counts)[:, None]
    _, s, Vt = regression.base_decomposition
    rank = int(np.sum(s > RANK_TOLERANCE * s[0]))
    whitened = (gradients @ Vt[:rank].T) / s[:rank]
    variance = float(np.sum(whitened**2)) / rank * total / (total - 1.0)
    return max(1.0, variance / noise_variance(regression, parameters))
