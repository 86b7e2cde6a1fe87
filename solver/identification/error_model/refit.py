"""What parameters and plates tell of a motion's errors, and what parameters are without these: each from the other."""

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
    """What was found in some trials.

    Attributes:
        trials: it was fitted to.
        regression: their equations.
        estimate: parameters.
    """

    trials: tuple[Trial, ...]
    regression: Regression
    estimate: Estimate


def refit_with_frequency_weights(
    rig: Rig, fits: Sequence[TrialFit], method: Method, base: int | str
) -> list[tuple[TrialFit, PairedWeights]]:
    """Fits repeated with the frequency weights of their trials, and the weights of the fit and of the prior.

    The prior's weights are estimated from the same trials with the prior's own residuals. A fit whose weights are all
    one is returned as it is, and so is one that fails with its weights.

    Args:
        rig: that moved.
        fits: to whole motions, each of its own trials.
        method: they were made with.
        base: base link, about whose origin the moments are taken.
    """
    learning = _trials_by_name(fits)
    places = {name: place for place, name in enumerate(learning)}
    trials = [[places[trial.name] for trial in fit.trials] for fit in fits]
    prior = fits[0].estimate.prior  # the rig's, of every fit
    doubts = ResidualGrams.from_trials(
        rig, list(learning.values()), [*(fit.estimate.parameters for fit in fits), prior], base
    )
    trusts = [doubts.estimate_frequency_weights(body, own) for body, own in enumerate(trials)]
    of_prior = [doubts.estimate_frequency_weights(len(fits), own) for own in trials]
    doubting = [place for place, trust in enumerate(trusts) if trust.shares is not None or np.any(trust.gains < 1.0)]
    if not doubting:
        return list(zip(fits, map(PairedWeights, trusts, of_prior)))
    parts: list[list[Regression]] = [[] for _ in fits]
    for name, trial in learning.items():
        users = [place for place in doubting if any(own.name == name for own in fits[place].trials)]
        if not users:  # it is only fitted to by those who believe it
            continue
        structure = fits[0].regression.structure
        made = accumulate_frequency_weighted(rig, trial, [trusts[place] for place in users], base, structure)
        for place, regression in zip(users, made):
            parts[place].append(regression)
    again = [_refit(rig, fit, own, method) if own else fit for fit, own in zip(fits, parts)]
    doubts = ResidualGrams.from_trials(rig, list(learning.values()), [fit.estimate.parameters for fit in again], base)
    trusts = [doubts.estimate_frequency_weights(body, own) for body, own in enumerate(trials)]
    return list(zip(again, map(PairedWeights, trusts, of_prior)))


def _refit(rig: Rig, fit: TrialFit, regressions: Sequence[Regression], method: Method) -> TrialFit:
    try:
        return TrialFit(fit.trials, *fit_axis_weights(merge_regressions(regressions), method, rig))
    except SolverError:
        return fit


def _trials_by_name(fits: Sequence[TrialFit]) -> dict[str, Trial]:
    return {trial.name: trial for fit in fits for trial in fit.trials}
