"""Checks the vertical moment of plates: sign of the free moment, and crosstalk from the load.

Some laboratories' files contain the free moment on the plate together with the force on the body. The vertical moment
that the motion needs by the prior is fitted to the measured parts,
    predicted Mz = a (moment of the forces) + c (free moment) + constant,
with a = c = 1 in correct files. A free moment of the wrong sign shows c = -1 and a = 1. The alternative, axes that are
rotated or mirrored as a whole, changes the sign of a as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...options.plates import AS_IS, FREE_MOMENT, IGNORE, LOAD_MOMENT, REVERSED
from ...signals.pooling import LEAST_BLOCKS, TWO_SIDED_STDS, blocks_of, fit_blocks, pool
from .finding import CERTAIN_STDS, UNKNOWN_INTERVAL, VERTICAL_MOMENT, Action, Finding, compute_interval
from .trial_wrenches import ComparedTrial

MIN_FRAMES = 20
"""Smallest number of frames: a regression of three coefficients on fewer correlated frames is meaningless."""


@dataclass(frozen=True, slots=True)
class _Factors:
    """Regression of one trial's predicted vertical moment on its measured parts.

    Attributes:
        name: of the trial.
        lever, lever_std: factor a of the moment of the forces.
        free, free_std: factor c of the free moment.
    """

    name: str
    lever: float
    lever_std: float
    free: float
    free_std: float

    @property
    def sign(self) -> int:
        """Sign of the free moment's factor if this trial alone is certain of it, otherwise 0."""
        return int(np.sign(self.free)) if abs(self.free) > CERTAIN_STDS * self.free_std else 0


def check_free_moment(items: Sequence[ComparedTrial], option: str) -> list[tuple[Finding, float | None]]:
    """Check the sign of the free moment by plate layout; each finding with the factor to apply (None: do not use it).

    Args:
        items: trials whose forces are synchronised with the motion.
        option: one of `plate_options.FREE_MOMENTS`.
    """
    if option in (REVERSED, IGNORE):
        return [_report_stated(items, option)] if items else []
    found: list[tuple[Finding, float | None]] = []
    for layout in dict.fromkeys(item.layout for item in items):
        factors = [f for item in items if item.layout == layout and (f := _estimate_factors(item)) is not None]
        for group in _group_by_sign(factors):
            found.append(_build_free_moment_finding(group, option))
    return found


def _estimate_factors(item: ComparedTrial) -> _Factors | None:
    """The factors; None if the trial is too short or has no free moment."""
    used = item.counted_frames(range(VERTICAL_MOMENT + 1))
    free = item.trial.wrenches.free_moments.sum(axis=1)
    if used.sum() < MIN_FRAMES or not np.ptp(free[used]) > 0.0:
        return None
    table = np.column_stack([item.measured[:, VERTICAL_MOMENT] - free, free, np.ones(len(free))])
    value, std = fit_blocks(table, item.predicted[:, VERTICAL_MOMENT], blocks_of(item.trial.motion.times, used))
    return _Factors(item.name, value[0], std[0], value[1], std[1]) if np.isfinite(std).all() else None


def _group_by_sign(factors: Sequence[_Factors]) -> list[list[_Factors]]:
    """Group trials of one layout: one group, or two if some have certain opposite signs; the rest join the larger."""
    signs = [factor.sign for factor in factors]
    if not factors or min(signs) >= 0 or max(signs) <= 0:
        return [list(factors)] if factors else []
    larger = 1 if signs.count(1) >= signs.count(-1) else -1
    one = [factor for factor in factors if factor.sign in (larger, 0)]
    return [one, [factor for factor in factors if factor.sign == -larger]]


def _build_free_moment_finding(group: Sequence[_Factors], option: str) -> tuple[Finding, float]:
    lever, lever_std = pool([f.lever for f in group], [f.lever_std for f in group])
    free, std = pool([f.free for f in group], [f.free_std for f in group])
    names, interval = tuple(f.name for f in group), compute_interval(free, std)
    quantities = f"{free:.2f} ({interval[0]:.2f} to {interval[1]:.2f}, 95 %)"
    axes = f"the moment of the forces with {lever:.2f} ± {TWO_SIDED_STDS * lever_std:.2f}"
    reversed_ = free < -CERTAIN_STDS * std and lever > CERTAIN_STDS * lever_std
    if not reversed_:
        certain = abs(free) > CERTAIN_STDS * std and free > 0.0
        word = "has the right sign" if certain else "has an uncertain sign"
        text = f"the free moment {word}: it enters the vertical moment that the motion needs with {quantities}, {axes}"
        return Finding(
            FREE_MOMENT, names, free, interval, "", Action.NOTHING if certain else Action.UNCERTAIN, text
        ), 1.0
    text = (
        f"the free moment has the wrong sign: it enters the vertical moment that the motion needs with {quantities} "
        f"instead of 1, while {axes} is right, so that the axes are right"
    )
    if option == AS_IS:
        return Finding(FREE_MOMENT, names, free, interval, "", Action.OVERRIDDEN, text), 1.0
    return Finding(FREE_MOMENT, names, free, interval, "", Action.UNDONE, text), -1.0


def _report_stated(items: Sequence[ComparedTrial], option: str) -> tuple[Finding, float | None]:
    text = "the free moment was reversed" if option == REVERSED else "the vertical moment was not used"
    names = tuple(item.name for item in items)
    quantities = f"{text}, as specified by --free-moment {option}"
    finding = Finding(FREE_MOMENT, names, np.nan, UNKNOWN_INTERVAL, "", Action.AS_SPECIFIED, quantities)
    return finding, -1.0 if option == REVERSED else None


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
    quantities = f"{1e3 * lever:.1f} ± {1e3 * TWO_SIDED_STDS * std:.1f} N m per kilonewton of load"
    if abs(lever) <= CERTAIN_STDS * std:
        text = f"the motion shows no vertical moment caused by the load alone: {quantities}"
        return Finding(LOAD_MOMENT, tuple(levers), 1e3 * lever, (low, high), "mm", Action.NOTHING, text), 0.0
    text = f"the load alone causes a vertical moment of {quantities}, as with tilted plates"
    return Finding(
        LOAD_MOMENT, tuple(levers), 1e3 * lever, (low, high), "mm", Action.TAKEN_OFF.unless(overridden), text
    ), 0.0 if overridden else lever


def jackknife_ratio(sums: np.ndarray) -> tuple[float, float]:
    """Ratio of the two columns' totals over blocks (B, 2), and its standard deviation; infinite for too few blocks."""
    total, count = sums.sum(axis=0), len(sums)
    others = total - sums
    if count < LEAST_BLOCKS - 1 or not total[1] or not others[:, 1].all():
        return float("nan"), float("inf")
    left = others[:, 0] / others[:, 1]
    return float(total[0] / total[1]), float(np.sqrt((count - 1) / count * np.sum((left - left.mean()) ** 2)))
