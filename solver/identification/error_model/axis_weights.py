"""Weights of the six wrench axes: one over the standard deviation of their residuals.

Trials are not weighted by their residuals. On one person this explained unused trials slightly better (0.661 to 0.656
of the prior's residual) but flights, in which no plate measures, worse (angular momentum rate 9.5 instead of 8.3 N m).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...rig import Rig
from ..estimate import Estimate
from ..regression import Regression

WEIGHT_ITERATIONS = 2
"""Weights follow from residuals and residuals from weights; two iterations determine them within a few per cent."""
ROUNDING = 1e-6
"""Residual, as a fraction of the prior's largest one, that is attributed to rounding."""

Method = Callable[[Regression], Estimate]


def fit_axis_weights(regression: Regression, method: Method, rig: Rig) -> tuple[Regression, Estimate]:
    """Weighted least squares: the weights follow from the residuals of the method, starting with the prior's
    residuals."""
    regression = regression.with_weights(_axis_weights(regression, rig, None))
    estimate = method(regression)
    for _ in range(WEIGHT_ITERATIONS):
        regression = regression.with_weights(_axis_weights(regression, rig, estimate))
        estimate = method(regression)
    return regression, estimate


def merge_regressions(regressions: Sequence[Regression]) -> Regression:
    """One regression with the equations of all."""
    result = regressions[0]
    for part in regressions[1:]:
        result = result.merge(part)
    return result


def _axis_weights(regression: Regression, rig: Rig, estimate: Estimate | None) -> np.ndarray:
    """One over the residual's standard deviation; exact data use a fraction of the prior's residual instead."""
    parameters = rig.prior if estimate is None else estimate.parameters
    rmse = regression.axis_rmse(parameters)
    return np.nan_to_num(1.0 / np.maximum(rmse, _residual_floor(regression, rig)), nan=0.0)


def _residual_floor(regression: Regression, rig: Rig) -> float:
    return ROUNDING * float(np.nanmax(np.append(regression.axis_rmse(rig.prior), np.finfo(float).tiny)))
