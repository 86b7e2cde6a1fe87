"""What it means when trials that were not used are explained no better than by the prior."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..identification.comparison import Comparison

NO_BETTER = 1.1
"""Mean RMSE of trials not used over the prior's: a tenth more or less is what a single walk leaves to chance."""


def unexplained(comparisons: Sequence[Comparison]) -> list[str]:
    """A warning, with its likely cause, where trials not used are explained no better than by the prior."""
    new = [c for c in comparisons if not c.used and np.isfinite(c.ratio).any()]
    ratios = {c.trial: float(np.nanmean(c.ratio)) for c in new}
    if not ratios or not np.mean(list(ratios.values())) > NO_BETTER:
        return []
    listed = ", ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items())
    return [
        f"trials that were not used are explained worse than by the prior (ratio of the RMSE: {listed}): too "
        "little moved to identify a body by (record squats, jumps and arm swings too), or the trials are of several "
        "bodies",
    ]
