"""Estimation of frequency weights from fitted parameters, and of parameters from equations with these weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...errors import SolverError
from ...rig import Rig
from ...trial import Trial
from ..estimate import Estimate
from ..regression import Regression
from .axis_weights import Method, fit_axis_weights, merge_regressions
from .frequency_weighted_equations import accumulate_frequency_weighted
from .frequency_weights import PairedWeights
from .weight_estimation import ResidualGrams


@dataclass(frozen=True, slots=True)
class TrialFit:
    """Parameters fitted to some trials.

    Attributes:
        trials: to which the parameters were fitted.
        regression: accumulated equations of these trials.
        estimate: the parameters.
    """

    trials: tuple[Trial, ...]
    regression: Regression
    estimate: Estimate


def refit_with_frequency_weights(
    rig: Rig, fits: Sequence[TrialFit], method: Method, base: int | str
) -> list[tuple[TrialFit, PairedWeights]]:
    """Fits repeated with the frequency weights of their trials, and the weights of the fit and of the prior.

    The prior's weights are estimated from the same trials with the prior's own residuals. A fit whose weights are all
    one is returned unchanged, and so is one whose repetition fails.

    Args:
        rig: of the trials.
        fits: without frequency weights, each to its own trials.
        method: identification method of the fits.
        base: base link, about whose origin the moments are taken.
    """
    trials_by_name = _trials_by_name(fits)
    index_by_name = {name: index for index, name in enumerate(trials_by_name)}
    trials = [[index_by_name[trial.name] for trial in fit.trials] for fit in fits]
    prior = fits[0].estimate.prior  # the rig's, of every fit
    residuals = ResidualGrams.from_trials(
        rig, list(trials_by_name.values()), [*(fit.estimate.parameters for fit in fits), prior], base
    )
    weights = [residuals.estimate_frequency_weights(body, own) for body, own in enumerate(trials)]
    prior_weights = [residuals.estimate_frequency_weights(len(fits), own) for own in trials]
    weighted = [
        index
        for index, own_weights in enumerate(weights)
        if own_weights.shares is not None or np.any(own_weights.gains < 1.0)
    ]
    if not weighted:
        return list(zip(fits, map(PairedWeights, weights, prior_weights)))
    regressions: list[list[Regression]] = [[] for _ in fits]
    for name, trial in trials_by_name.items():
        users = [index for index in weighted if any(own.name == name for own in fits[index].trials)]
        if not users:  # only used by fits without frequency weights
            continue
        structure = fits[0].regression.structure
        accumulated = accumulate_frequency_weighted(rig, trial, [weights[index] for index in users], base, structure)
        for index, regression in zip(users, accumulated):
            regressions[index].append(regression)
    refits = [_refit(rig, fit, own, method) if own else fit for fit, own in zip(fits, regressions)]
    residuals = ResidualGrams.from_trials(
        rig, list(trials_by_name.values()), [fit.estimate.parameters for fit in refits], base
    )
    weights = [residuals.estimate_frequency_weights(body, own) for body, own in enumerate(trials)]
    return list(zip(refits, map(PairedWeights, weights, prior_weights)))


def _refit(rig: Rig, fit: TrialFit, regressions: Sequence[Regression], method: Method) -> TrialFit:
    try:
        return TrialFit(fit.trials, *fit_axis_weights(merge_regressions(regressions), method, rig))
    except SolverError:
        return fit


def _trials_by_name(fits: Sequence[TrialFit]) -> dict[str, Trial]:
    return {trial.name: trial for fit in fits for trial in fit.trials}
