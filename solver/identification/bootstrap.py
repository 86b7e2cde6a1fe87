"""Block bootstrap: residuals of neighbouring frames are correlated, so whole blocks of time are resampled."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..base.errors import InvalidValue, SolverError
from ..base.parallel import parallel_map
from ..base.progress import Progress, silent
from ..values.inertials import symmetric_entries
from .estimate import Estimate
from .regression import Regression
from .result import Uncertainty
from .weighted_equations import MIN_BLOCKS


def bootstrap(
    regression: Regression,
    solve: Callable[[Regression], Estimate],
    *,
    samples: int = 60,
    seed: int = 0,
    jobs: int | None = None,
    progress: Progress = silent,
) -> Uncertainty:
    """Standard deviations and 95 % intervals of the parameters.

    Args:
        regression: with its blocks of consecutive frames.
        solve: the identification method as used for the result itself.
        samples: how many resamplings to solve.
        seed: of the draws; the same seed gives the same result.
        jobs: joblib's number of workers; None leaves it to joblib's configuration.
        progress: receives progress.

    Raises:
        InvalidValue: fewer than `MIN_BLOCKS` blocks.
        SolverError: fewer than half of the samples could be solved.
    """
    blocks = len(regression.blocks)
    if blocks < MIN_BLOCKS:
        raise InvalidValue(f"{blocks} blocks of frames are too few for a bootstrap; give longer or more recordings")
    draws = np.random.default_rng(seed).multinomial(blocks, np.full(blocks, 1.0 / blocks), size=samples)
    progress(0.0, f"bootstrap: {samples} samples of {blocks} blocks")
    found = parallel_map(_solve_sample, ((regression, draw, solve) for draw in draws), jobs, threads=True)
    estimates = [estimate for estimate in found if estimate is not None]
    if len(estimates) < samples / 2:
        raise SolverError(f"only {len(estimates)} of {samples} bootstrap samples could be solved")
    values = np.array([estimate.parameters.values for estimate in estimates])
    coms = np.array([estimate.parameters.coms for estimate in estimates])
    inertias = np.array([symmetric_entries(estimate.parameters.inertias_at_com) for estimate in estimates])
    lower, upper = np.quantile(values, [0.025, 0.975], axis=0)
    progress(1.0, "bootstrap done")
    std, com_std, inertia_std = (sample_values.std(axis=0, ddof=1) for sample_values in (values, coms, inertias))
    return Uncertainty(len(estimates), blocks, std, lower, upper, com_std, inertia_std)


def _solve_sample(
    regression: Regression, counts: np.ndarray, solve: Callable[[Regression], Estimate]
) -> Estimate | None:
    try:
        return solve(regression.resample(counts))
    except SolverError:
        return None
