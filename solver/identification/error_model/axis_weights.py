"""How much each axis counts: as much as what is left of it is small.

Trials do not: where each counted as its own residual allowed, jumps drowned standing and squats less, and plates of
trials left out were explained a little better (.656 of the prior's instead of .661), but the angular momentum of
flights left out, of which no plate had told, worse (9.5 instead of 8.3 N m; one person).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...rig import Rig
from ..estimate import Estimate
from ..regression import Regression

WEIGHT_ITERATIONS = 2
"""Weights follow from residuals and residuals from weights; two rounds settle them within a few per cent."""
ROUNDING = 1e-6
"""Share of the prior's largest error below which a residual is rounding."""

Method = Callable[[Regression], Estimate]


def fit_axis_weights(regression: Regression, method: Method, rig: Rig) -> tuple[Regression, Estimate]:
    """Weighted least squares: axes weigh by the residuals that the method leaves, starting from the prior's."""
    regression = regression.with_weights(_axis_weights(regression, rig, None))
    estimate = method(regression)
    for _ in range(WEIGHT_ITERATIONS):
        regression = regression.with_weights(_axis_weights(regression, rig, estimate))
        estimate = method(regression)
    return regression, estimate


def merge_regressions(regressions: Sequence[Regression]) -> Regression:
    """All equations in one."""
    result = regressions[0]
    for part in regressions[1:]:
        result = result.merge(part)
    return result


def _axis_weights(regression: Regression, rig: Rig, estimate: Estimate | None) -> np.ndarray:
    """One over the residual's spread; data without noise have none, and then the wrench's own size stands in."""
    parameters = rig.prior if estimate is None else estimate.parameters
    rmse = regression.axis_rmse(parameters)
    return np.nan_to_num(1.0 / np.maximum(rmse, _residual_floor(regression, rig)), nan=0.0)


def _residual_floor(regression: Regression, rig: Rig) -> float:
    return ROUNDING * float(np.nanmax(np.append(regression.axis_rmse(rig.prior), np.finfo(float).tiny)))
