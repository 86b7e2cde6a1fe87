"""Sequential design: information of earlier recordings in the objective, and the expected gain of a longer dance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...errors import InvalidValue
from ...identification.excitation.expected_deviations import DESIGN_RATE, ExpectedDeviations
from ...inertials import PER_LINK
from ...motion import Motion
from ...rig import Rig
from .dance import Dance

MORE_SECONDS = 10.0
"""[s] Additional duration whose gain is predicted."""
MOVING_KINDS = ("exciting", "straight", "step")
"""Kinds of segments with motion."""


def recorded_information(rig: Rig, objective: ExpectedDeviations, motions: Sequence[Motion]) -> np.ndarray:
    """Information (1, B, B) of recordings for the objective; a second counts the same at any sampling rate.

    Raises:
        InvalidValue: a recording of another rig, or of a single frame.
    """
    total = np.zeros_like(objective.prior_matrices)
    for motion in motions:
        if len(motion) < 2:
            raise InvalidValue("a recording of a single frame has no speeds and no information for the design")
        total += objective.motion_matrices(rig, motion)[0] * DESIGN_RATE / motion.rate
    return total


@dataclass(frozen=True, slots=True)
class MoreTime:
    """Expected gain of `MORE_SECONDS` of a dance's most informative segments, danced again.

    Attributes:
        seconds: [s] their duration.
        segments: their names, the most informative first.
        gain: fraction by which the geometric mean of the deviations falls.
        link: of the base parameter with the largest gain.
        largest_gain: fraction by which its deviation falls.
    """

    seconds: float
    segments: tuple[str, ...]
    gain: float
    link: str
    largest_gain: float

    def __str__(self) -> str:
        names = ", ".join(dict.fromkeys(self.segments))
        return (
            f"{self.seconds:.0f} s more ({names} again) would lower the deviations by {100 * self.gain:.1f} % on "
            f"geometric average, by {100 * self.largest_gain:.1f} % at most ({self.link})"
        )


def predict_more_time(
    dance: Dance, objective: ExpectedDeviations, recorded: np.ndarray | None = None
) -> MoreTime | None:
    """Expected gain of repeating the most informative segments for `MORE_SECONDS`; None if nothing moves."""
    legged, parts = dance.legged_rig(dance.rig), []
    total = objective.prior_matrices + (0.0 if recorded is None else recorded)
    for segment in dance.segments:
        times = segment.spline_space.samples(DESIGN_RATE)[:-1]
        curves = segment.evaluate(legged, times)[1]
        found = objective.motion_matrices(dance.rig, Motion(times, curves.q, curves.v, curves.a))[0]
        total = total + found
        if segment.kind in MOVING_KINDS:
            parts.append((segment, found))
    if not parts:
        return None
    before = np.log(objective.deviations(total))
    seconds, names, after = 0.0, [], before
    while seconds < MORE_SECONDS:
        trials = [np.log(objective.deviations(total + found)) for _, found in parts]
        lasting = np.array([segment.duration for segment, _ in parts])
        best = int(np.argmax([(after - trial).mean() for trial in trials] / lasting))
        segment, found = parts[best]
        total, after, seconds = total + found, trials[best], seconds + segment.duration
        names.append(segment.name)
    change = 1.0 - np.exp(after - before)
    most = int(np.argmax(change))
    link = objective.structure.links[objective.structure.independent[most] // PER_LINK]
    return MoreTime(seconds, tuple(names), float(1.0 - np.exp((after - before).mean())), link, float(change[most]))
