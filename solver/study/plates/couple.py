"""A vertical moment that plates read of the load alone.

Over a while a body's angular momentum about the vertical hardly changes, whatever its inertials: the vertical moment of
the ground about it is zero on average, and what a standing body seems to twist with is the plates'. In one laboratory
six trials of standing, squats, rising and jumps read alike, in proportion to the load and nothing in flight: crosstalk
of the vertical force, as that of plates which stand a little askew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...plate_options import COUPLE
from ...signals.pooling import blocks_of, jackknife_ratio, pool
from .correction import VERTICAL_MOMENT
from .finding import CERTAIN_STDS, TWO_SIDED_STDS, Action, Finding, compute_interval
from .weighed import ComparedTrial

MIN_FRAMES = 20
TRIAL_STD = 0.0003
"""[m] Standard deviation of the load moment per newton between trials of one person on the same plates: nine trials and
halves of three."""


def check_load_moment(
    items: Sequence[ComparedTrial], free_moment_factors: Mapping[str, float | None], overridden: bool
) -> list[tuple[Finding, float]]:
    """Find a vertical moment in proportion to the load, by plate layout, each with the moment per newton [m] to remove.

    Over a while a body's angular momentum about the vertical hardly changes, whatever its inertials are. The mean
    vertical moment of the ground about the body is therefore zero, and any other mean is an error of the plates. In
    one laboratory six trials of standing, squats, rising and jumps show the same moment, in proportion to the load and
    zero in flight: crosstalk of the vertical force, as of plates that are slightly tilted.

    Args:
        items: trials whose forces are synchronised with the motion.
        free_moment_factors: factors of the free moment by trial, 1 if missing; None: the vertical moment is not used.
        overridden: True: correct nothing.
    """
    found = []
    for layout in dict.fromkeys(item.layout for item in items):
        levers = {
            item.name: lever
            for item in items
            if item.layout == layout
            and (lever := _estimate_load_moment(item, free_moment_factors.get(item.name, 1.0))) is not None
        }
        if levers:
            found.append(_build_load_moment_finding(levers, overridden))
    return found


def _estimate_load_moment(item: ComparedTrial, factor: float | None) -> tuple[float, float] | None:
    """Mean unexplained vertical moment divided by the mean load [m], and its standard deviation."""
    used = item.counted_frames(range(VERTICAL_MOMENT + 1))
    if factor is None or used.sum() < MIN_FRAMES:
        return None
    moment = item.measured[:, VERTICAL_MOMENT] + (factor - 1.0) * item.trial.wrenches.free_moments.sum(axis=1)
    sums = [
        (float(np.sum(moment[block] - item.predicted[block, VERTICAL_MOMENT])), float(np.sum(item.measured[block, 2])))
        for block in blocks_of(item.trial.motion.times, used)
    ]
    value, std = jackknife_ratio(np.array(sums))
    return (value, float(np.hypot(std, TRIAL_STD))) if np.isfinite(std) else None


def _build_load_moment_finding(levers: Mapping[str, tuple[float, float]], overridden: bool) -> tuple[Finding, float]:
    values, stds = zip(*levers.values())
    lever, std = pool(values, stds)
    low, high = compute_interval(1e3 * lever, 1e3 * std)
    said = f"{1e3 * lever:.1f} ± {1e3 * TWO_SIDED_STDS * std:.1f} N m per kilonewton of load"
    if abs(lever) <= CERTAIN_STDS * std:
        text = f"the motion shows no vertical moment caused by the load alone: {said}"
        return Finding(COUPLE, tuple(levers), 1e3 * lever, (low, high), "mm", Action.NOTHING, text), 0.0
    text = f"the load alone causes a vertical moment of {said}, as with tilted plates"
    done = Action.OVERRIDDEN if overridden else Action.TAKEN_OFF
    return Finding(COUPLE, tuple(levers), 1e3 * lever, (low, high), "mm", done, text), 0.0 if overridden else lever
