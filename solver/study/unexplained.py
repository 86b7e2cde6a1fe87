"""What it means when trials that were not used are explained no better than by the prior."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..identification.comparison import Comparison
from ..rig import GRAVITY

MAX_RATIO = 1.1
"""Largest accepted ratio of the RMSE on trials not used to the prior's: on a single walk it varies by a tenth by
chance."""
PLATE_ERROR = 0.002
"""Error of force plates, as a fraction of the body weight and in metres of the centre of pressure: 1.4 N and 1.4 N m
for an adult of 70 kg. Slow motions cause forces no larger than that, and their ratio is then random."""


def warn_if_worse_than_prior(comparisons: Sequence[Comparison], mass: float) -> list[str]:
    """A warning with its likely cause if trials that were not used are predicted worse than by the prior; else none.

    Args:
        comparisons: of all trials.
        mass: of the body [kg].
    """
    new = [c for c in comparisons if not c.used and np.isfinite(c.ratio).any()]
    ratios = {c.trial: _mean_ratio(c, PLATE_ERROR * mass * GRAVITY) for c in new}
    if not ratios or not np.mean(list(ratios.values())) > MAX_RATIO:
        return []
    listed = ", ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items())
    return [
        f"trials that were not used are explained worse than by the prior (ratio of the RMSE: {listed}): the motion "
        "excites too little of the body (also record squats, jumps and arm swings), or the trials are of several "
        "bodies",
    ]


def _mean_ratio(comparison: Comparison, plates: float) -> float:
    """Mean over axes of the ratio of the RMSE to the prior's, with the plates' error [N, N m] added to both."""
    identified, prior = (np.hypot(fit.rmse, plates) for fit in (comparison.identified, comparison.prior))
    return float(np.nanmean(identified / prior))
