"""How hard each move of a dance is, for people who learn it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...rig import ROOT_NV
from .dance import Dance

FAST_JOINT = 4.0
"""[rad/s] A joint as fast as this is as fast as a person is asked for (bonnet2016)."""
RATE = 50.0
"""[1/s] at which moves are looked at."""
HARDEST = 5
WEIGHTS = {"fast": 0.4, "far": 0.3, "on one foot": 0.3}
"""What makes a move hard, and its share."""
REASON_THRESHOLD = 0.6
"""Of a part, from which it is named."""


@dataclass(frozen=True, slots=True)
class Difficulty:
    """Of one move.

    Attributes:
        segment: index in the dance.
        score: from 1 to `HARDEST`.
        reasons: what makes it hard.
    """

    segment: int
    score: int
    reasons: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.score} of {HARDEST}{' ' * bool(self.reasons)}{', '.join(self.reasons)}"


def rate_moves(dance: Dance) -> tuple[Difficulty, ...]:
    """Of every move but steps and holds: how fast its fastest joint turns, how near to its end the farthest comes."""
    legged = dance.legged_rig(dance.rig)
    joints = slice(ROOT_NV, dance.rig.nv)
    with np.errstate(invalid="ignore"):  # a joint without limits has no middle, and is never far from it
        middle = 0.5 * (legged.lower[joints] + legged.upper[joints])
    half = 0.5 * (legged.upper[joints] - legged.lower[joints])
    brisk = np.minimum(legged.speed[joints], FAST_JOINT)
    result = []
    for number, segment in enumerate(dance.segments):
        if segment.kind not in ("exciting", "straight"):
            continue
        y, curves, _ = segment.evaluate(legged, segment.spline_space.samples(RATE))
        with np.errstate(invalid="ignore"):
            far = np.nan_to_num(np.abs(y[:, joints] - middle) / half).max()
        parts = {
            "fast": (np.abs(curves.v[:, joints]) / brisk).max(),
            "far": far,
            "on one foot": float(len(segment.anchors) == 1),
        }
        share = sum(WEIGHTS[name] * min(float(part), 1.0) for name, part in parts.items())
        reasons = tuple(name for name, part in parts.items() if part >= REASON_THRESHOLD)
        result.append(Difficulty(number, 1 + round((HARDEST - 1) * share), reasons))
    return tuple(result)
