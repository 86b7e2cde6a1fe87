"""The sign of the free moment: some laboratories' files hold the couple on the plate beside the force on the body.

With the prior alone the vertical moment that a motion needs is a sum of what was measured,
    predicted Mz = a (lever of the forces) + c (free moment) + constant,
with a = c = 1 where all is right. A free moment of the wrong sign shows c = -1 beside a = 1. Its simplest rival, axes
that are turned or mirrored as a whole, turns a as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...plate_options import AS_IS, FREE_MOMENT, IGNORE, REVERSED
from ...signals.pooled import block_fit, blocks_of, pooled
from .correction import VERTICAL
from .finding import INTERVAL, SIGMAS, UNKNOWN_INTERVAL, Done, Finding, interval_of
from .weighed import Weighed

LEAST_FRAMES = 20
"""A regression of three numbers on fewer correlated frames says nothing."""


@dataclass(frozen=True, slots=True)
class _Factors:
    """How one trial's measured vertical moment enters what its motion needs.

    Attributes:
        name: of the trial.
        lever, lever_std: factor a of the forces' lever.
        free, free_std: factor c of the free moment.
    """

    name: str
    lever: float
    lever_std: float
    free: float
    free_std: float

    @property
    def sign(self) -> int:
        """Of the free moment's factor where this trial alone is certain of it, otherwise 0."""
        return int(np.sign(self.free)) if abs(self.free) > SIGMAS * self.free_std else 0


def free_moment_findings(items: Sequence[Weighed], asked: str) -> list[tuple[Finding, float | None]]:
    """The sign of the free moment by plate layout, each with the factor to apply; None: the moment is not to be used.

    Args:
        items: trials whose forces are on the motion's clock.
        asked: one of `plate_options.FREE_MOMENTS`.
    """
    if asked in (REVERSED, IGNORE):
        return [_stated(items, asked)] if items else []
    found: list[tuple[Finding, float | None]] = []
    for layout in dict.fromkeys(item.layout for item in items):
        factors = [f for item in items if item.layout == layout and (f := _factors(item)) is not None]
        for group in _alike(factors):
            found.append(_judged(group, asked))
    return found


def _factors(item: Weighed) -> _Factors | None:
    """None where the trial tells nothing: too short, or no free moment at all."""
    used = item.counted(range(VERTICAL + 1))
    free = item.trial.wrenches.free_moments.sum(axis=1)
    if used.sum() < LEAST_FRAMES or not np.ptp(free[used]) > 0.0:
        return None
    table = np.column_stack([item.measured[:, VERTICAL] - free, free, np.ones(len(free))])
    blocks = blocks_of(item.trial.motion.times, used)
    value, std = block_fit(table, item.predicted[:, VERTICAL], blocks)
    return _Factors(item.name, value[0], std[0], value[1], std[1]) if np.isfinite(std).all() else None


def _alike(factors: Sequence[_Factors]) -> list[list[_Factors]]:
    """Trials of one layout in one group; two where some are certain of opposite signs, the others join the larger."""
    signs = [factor.sign for factor in factors]
    if not factors or min(signs) >= 0 or max(signs) <= 0:
        return [list(factors)] if factors else []
    larger = 1 if signs.count(1) >= signs.count(-1) else -1
    one = [factor for factor in factors if factor.sign in (larger, 0)]
    return [one, [factor for factor in factors if factor.sign == -larger]]


def _judged(group: Sequence[_Factors], asked: str) -> tuple[Finding, float]:
    lever, lever_std = pooled([f.lever for f in group], [f.lever_std for f in group])
    free, std = pooled([f.free for f in group], [f.free_std for f in group])
    names, interval = tuple(f.name for f in group), interval_of(free, std)
    said = f"{free:.2f} ({interval[0]:.2f} to {interval[1]:.2f}, 95 %)"
    axes = f"the lever of the forces with {lever:.2f} ± {INTERVAL * lever_std:.2f}"
    reversed_ = free < -SIGMAS * std and lever > SIGMAS * lever_std
    if not reversed_:
        certain = abs(free) > SIGMAS * std and free > 0.0
        word = "has the right sign" if certain else "does not tell its sign"
        text = f"the free moment {word}: it enters the vertical moment that the motion needs with {said}, {axes}"
        return Finding(FREE_MOMENT, names, free, interval, "", Done.NOTHING if certain else Done.UNCERTAIN, text), 1.0
    text = (
        f"the free moment has the wrong sign: it enters the vertical moment that the motion needs with {said} instead "
        f"of 1, while {axes} is right, so it is not the axes"
    )
    if asked == AS_IS:
        return Finding(FREE_MOMENT, names, free, interval, "", Done.OVERRULED, text), 1.0
    return Finding(FREE_MOMENT, names, free, interval, "", Done.UNDONE, text), -1.0


def _stated(items: Sequence[Weighed], asked: str) -> tuple[Finding, float | None]:
    text = "the free moment was reversed" if asked == REVERSED else "the vertical moment was not used"
    names = tuple(item.name for item in items)
    said = f"{text}, as --free-moment {asked} says"
    finding = Finding(FREE_MOMENT, names, np.nan, UNKNOWN_INTERVAL, "", Done.STATED, said)
    return finding, -1.0 if asked == REVERSED else None
