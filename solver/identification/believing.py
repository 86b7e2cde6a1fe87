"""What parameters and plates tell of a motion's errors, and what parameters are without these: each from the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import SolverError
from ..rig import Rig
from ..trial import Trial
from .belief import Doubts
from .believed_equations import accumulate_believed
from .estimate import Estimate
from .regression import Regression
from .trust import PairedWeights
from .weighing import Method, joined, weighted


@dataclass(frozen=True, slots=True)
class Fit:
    """What was found in some trials.

    Attributes:
        trials: it was fitted to.
        regression: their equations.
        estimate: parameters.
    """

    trials: tuple[Trial, ...]
    regression: Regression
    estimate: Estimate


def believing(rig: Rig, fits: Sequence[Fit], method: Method, base: int | str) -> list[tuple[Fit, PairedWeights]]:
    """Fits repeated with the frequency weights of their trials, and the weights of the fit and of the prior.

    The prior's weights are estimated from the same trials with the prior's own residuals. A fit whose weights are all
    one is returned as it is, and so is one that fails with its weights.

    Args:
        rig: that moved.
        fits: to whole motions, each of its own trials.
        method: they were made with.
        base: base link, about whose origin the moments are taken.
    """
    learning = _named(fits)
    places = {name: place for place, name in enumerate(learning)}
    trials = [[places[trial.name] for trial in fit.trials] for fit in fits]
    prior = fits[0].estimate.prior  # the rig's, of every fit
    doubts = Doubts.of(rig, list(learning.values()), [*(fit.estimate.parameters for fit in fits), prior], base)
    trusts = [doubts.trust(body, own) for body, own in enumerate(trials)]
    of_prior = [doubts.trust(len(fits), own) for own in trials]
    doubting = [place for place, trust in enumerate(trusts) if trust.shares is not None or np.any(trust.gains < 1.0)]
    if not doubting:
        return list(zip(fits, map(PairedWeights, trusts, of_prior)))
    parts: list[list[Regression]] = [[] for _ in fits]
    for name, trial in learning.items():
        users = [place for place in doubting if any(own.name == name for own in fits[place].trials)]
        if not users:  # it is only fitted to by those who believe it
            continue
        structure = fits[0].regression.structure
        made = accumulate_believed(rig, trial, [trusts[place] for place in users], base, structure)
        for place, regression in zip(users, made):
            parts[place].append(regression)
    again = [_again(rig, fit, own, method) if own else fit for fit, own in zip(fits, parts)]
    doubts = Doubts.of(rig, list(learning.values()), [fit.estimate.parameters for fit in again], base)
    trusts = [doubts.trust(body, own) for body, own in enumerate(trials)]
    return list(zip(again, map(PairedWeights, trusts, of_prior)))


def _again(rig: Rig, fit: Fit, parts: Sequence[Regression], method: Method) -> Fit:
    try:
        return Fit(fit.trials, *weighted(joined(parts), method, rig))
    except SolverError:
        return fit


def _named(fits: Sequence[Fit]) -> dict[str, Trial]:
    return {trial.name: trial for fit in fits for trial in fit.trials}
