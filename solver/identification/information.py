"""Which fraction of each parameter the data determine, and which the prior supplies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import svd

from ..arrays import frozen
from ..errors import InvalidValue
from ..inertials import PER_LINK, InertialParameters
from .weighted_equations import WeightedEquations

RANK_TOLERANCE = 1e-8
"""Singular values below this fraction of the largest are rounding, in parameters divided by their typical size."""
MIN_BLOCKS = 4
"""Least number of blocks from which the correlation of residuals can be estimated."""


@dataclass(frozen=True, slots=True)
class Information:
    """Information of the data on the parameters, which are divided by their prior standard deviation.

    Attributes:
        links: L names.
        determined: (L, 10) in [0, 1], the diagonal of the resolution matrix (H + 1)^-1 H with the data's information H:
            1 where the data alone determine the parameter, 0 where the prior supplies it.
        singular_values: of the scaled factor, descending; those above 1 carry more information than the prior.
        rank: number of them that are not rounding.
    """

    links: tuple[str, ...]
    determined: np.ndarray
    singular_values: np.ndarray
    rank: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "determined", frozen("determined", self.determined, (len(self.links), PER_LINK)))
        object.__setattr__(self, "singular_values", frozen("singular values", self.singular_values, (None,)))


def information(
    regression: WeightedEquations,
    prior_std: np.ndarray,
    *,
    noise: float | None = None,
    tolerance: float = RANK_TOLERANCE,
) -> Information:
    """Fraction of each parameter that the data determine.

    Args:
        regression: accumulated equations.
        prior_std: (L, 10) or (10 L,) standard deviation of the prior, or typical size of each parameter.
        noise: standard deviation of one weighted equation, inflated for correlated residuals, besides errors that
            follow posture. None: the data are taken as exact, and a parameter is determined as far as it lies outside
            the null space.
        tolerance: of the rank.
    """
    scale = np.ravel(np.asarray(prior_std, float))
    equations = regression.equations_with_errors
    _, s, Vt = svd(equations.factor * scale[None, :], full_matrices=False, check_finite=False)
    rank = int(np.sum(s > tolerance * s[0])) if len(s) and s[0] > 0.0 else 0
    share = np.ones(rank)
    if noise is not None:
        whitened = equations.whitening(noise**2) @ equations.factor * scale[None, :]
        _, values, Vt = svd(whitened, full_matrices=False, check_finite=False)
        share = values[:rank] ** 2 / (1.0 + values[:rank] ** 2)
    determined = np.clip(np.sum(share[:, None] * Vt[:rank] ** 2, axis=0), 0.0, 1.0)
    links = tuple(regression.links)
    return Information(links, determined.reshape(len(links), PER_LINK), s, rank)


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
