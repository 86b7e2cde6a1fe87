"""Difficulty of each move of a dance, for people who learn it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...coordinates import coordinate_links
from ...rig import ROOT_NV
from .body_parts import body_parts
from .dance import Dance

FAST_JOINT = 4.0
"""[rad/s] Largest joint speed of a person in bonnet2016."""
RATE = 50.0
"""[1/s] Sampling rate of the moves."""
HARDEST = 5
WEIGHTS = {"fast": 0.4, "far": 0.3, "on one foot": 0.3}
"""Components of the difficulty, and their weights."""
MOST_PARTS, MOVING_SHARE = 2, 0.75
"""Number of moving parts of the body that are named, and share of the largest joint motion from which they are."""
REASON_THRESHOLD = 0.6
"""Value of a component from which it is named as a reason."""


@dataclass(frozen=True, slots=True)
class Difficulty:
    """Difficulty of one move.

    Attributes:
        segment: index in the dance.
        score: from 1 to `HARDEST`.
        reasons: what makes it difficult.
        moving: parts of the body that move most, the one with the largest joint motion first.
    """

    segment: int
    score: int
    reasons: tuple[str, ...]
    moving: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.score} of {HARDEST}{' ' * bool(self.reasons)}{', '.join(self.reasons)}"


def rate_moves(dance: Dance) -> tuple[Difficulty, ...]:
    """Rate every move except steps and holds by joint speed, distance from the middle of joint ranges, and support."""
    legged = dance.legged_rig(dance.rig)
    joints = slice(ROOT_NV, dance.rig.nv)
    with np.errstate(invalid="ignore"):  # a joint without limits has no middle and does not count
        middle = 0.5 * (legged.lower[joints] + legged.upper[joints])
    half = 0.5 * (legged.upper[joints] - legged.lower[joints])
    links = coordinate_links(dance.rig)
    parts_of_body = {
        name: [ROOT_NV + k for k, (link,) in enumerate(links) if link in members]
        for name, members in body_parts(dance.rig).items()
    }
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
        ranges = {name: np.ptp(y[:, own], axis=0).max(initial=0.0) for name, own in parts_of_body.items()}
        most = sorted(ranges, key=lambda name: -ranges[name])[:MOST_PARTS]
        moving = tuple(name for name in most if ranges[name] >= MOVING_SHARE * ranges[most[0]])
        result.append(Difficulty(number, 1 + round((HARDEST - 1) * share), reasons, moving))
    return tuple(result)
