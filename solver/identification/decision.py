"""Whether recordings decide a body's masses, or the result should stay at the prior scaled to the body's mass.

An identified body must be worth more than the one that is known without a recording. Three findings say that it is not,
and none of them needs a tuned threshold:

* No trial moves the body. The wrench of a standing body depends on one point, its centre of mass, which any masses can
  produce.
* Moving trials that were not used are explained no better than by the prior. What was fitted are then errors of the
  trials used.
* More than half of the masses are decided by bounds. A bound is chosen, not measured; where most masses end on one, the
  data point to values that are not plausible, which are errors of the model.

Methods of publications return what they find; the default method returns the prior.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ..inertials import MASS
from ..rig import GRAVITY, Rig
from ..signals import is_still
from ..trial import Trial
from .bounds import NAME_SEPARATOR, PARAMETER_COLUMNS, PARAMETER_PATTERN
from .comparison import PLATE_ERROR, Comparison, mean_ratio_beyond
from .estimate import Estimate


def find_undecided_reason(
    rig: Rig, trials: Sequence[Trial], tested: Iterable[Trial], estimate: Estimate, comparisons: Sequence[Comparison]
) -> str:
    """Why the recordings do not decide the masses, as a clause; empty if they do.

    Args:
        rig: of the trials.
        trials: that were used.
        tested: trials, or halves of one, that were left out in turn.
        estimate: from all trials that were used.
        comparisons: of all trials; those used are ignored.
    """
    if not any(moves(rig, trial) for trial in trials):
        return "no trial moves the body, and standing shows nothing but its centre of mass"
    moving = {trial.name for trial in tested if moves(rig, trial)}
    plates = PLATE_ERROR * estimate.parameters.total_mass * GRAVITY
    unseen = [c for c in comparisons if not c.used and c.trial in moving]
    ratios = [mean_ratio_beyond(c, plates) for c in unseen]
    if unseen and np.mean(ratios) >= 1.0:
        listed = ", ".join(f"{c.trial} {ratio:.2f}" for c, ratio in zip(unseen, ratios))
        return (
            f"trials that were not used are explained no better than by the prior (ratio of the RMSE: {listed}); the "
            "motion excites too little of the body (also record squats, jumps and arm swings), or the trials are of "
            "several bodies"
        )
    bounded = count_mass_bounds(estimate.at_bounds)
    if 2 * bounded > len(rig.links):
        return f"bounds, not the data, decide {bounded} of {len(rig.links)} masses"
    return ""


def moves(rig: Rig, trial: Trial) -> bool:
    """Whether the body does more than stand quietly in the frames that count."""
    return not is_still(rig, trial.motion.q[trial.counted])


def count_mass_bounds(names: Iterable[str]) -> int:
    """Number of active rows that bound masses; one that compares left with right decides one mass of two."""
    phrases = (name.partition(NAME_SEPARATOR)[2] for name in names)
    matches = (PARAMETER_PATTERN.match(phrase) for phrase in phrases)
    return sum(PARAMETER_COLUMNS[match[1]] == (MASS,) for match in matches if match)
