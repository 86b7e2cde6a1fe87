"""Trials whose plates, right when unloaded, read another weight than the same plates in the other trials."""

from __future__ import annotations

import numpy as np

from ...calibration.body_mass import AGREEMENT_TOLERANCE, MassEstimate
from ...plate_options import MASS
from .finding import CERTAIN_STDS, Action, Finding, compute_interval

MIN_TRIALS = 3
"""Smallest number of trials with unloaded plates from which the gain of one of them can be checked."""


def check_gains(estimate: MassEstimate, overridden: bool) -> tuple[list[Finding], dict[str, float]]:
    """Find trials whose plates have another gain than in the other trials; and the factors that correct it, by trial.

    A reading that is right without a load and wrong under load is a gain, not an offset.
    """
    shown = [trial for trial in estimate.trials if trial.unloaded is not None]
    found, factors = [], {}
    for trial in shown if len(shown) >= MIN_TRIALS else ():
        weighed, std = trial.apparent_mass, float(np.hypot(trial.std, estimate.std))
        if abs(weighed - estimate.mass) <= max(CERTAIN_STDS * std, AGREEMENT_TOLERANCE * estimate.mass):
            continue
        gain, spread = weighed / estimate.mass, std / estimate.mass
        low, high = compute_interval(gain, spread)
        text = (
            f"the plates read {weighed:.1f} kg for {estimate.mass:.1f} kg under load and zero without load: a gain of "
            f"{gain:.3f} ({low:.3f} to {high:.3f}, 95 %) relative to the other trials"
        )
        done = Action.OVERRIDDEN if overridden else Action.TAKEN_OFF
        found.append(Finding(MASS, (trial.name,), gain, (low, high), "", done, text))
        if not overridden:
            factors[trial.name] = 1.0 / gain
    return found, factors
