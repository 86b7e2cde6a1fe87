"""What it means when trials that were not used are explained no better than by the prior."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..identification.comparison import Comparison
from ..rig import GRAVITY

MAX_RATIO = 1.1
"""Mean RMSE of trials not used over the prior's: a tenth more or less is what a single walk leaves to chance."""
PLATE_ERROR = 0.002
"""Error of force plates themselves, as a share of the body's weight and as metres of the centre of pressure: 1.4 N and
1.4 N m of an adult of 70 kg. Slow motions need forces no larger than that, and then chance makes the ratio."""


def warn_if_worse_than_prior(comparisons: Sequence[Comparison], mass: float) -> list[str]:
    """A warning, with its likely cause, where trials not used are explained no better than by the prior.

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
        f"trials that were not used are explained worse than by the prior (ratio of the RMSE: {listed}): too "
        "little moved to identify a body by (record squats, jumps and arm swings too), or the trials are of several "
        "bodies",
    ]


def _mean_ratio(comparison: Comparison, plates: float) -> float:
    """Mean over axes of the RMSE over the prior's, both with an error of the plates [N, N m] besides."""
    identified, prior = (np.hypot(fit.rmse, plates) for fit in (comparison.identified, comparison.prior))
    return float(np.nanmean(identified / prior))
