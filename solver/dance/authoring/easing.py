"""Ease the start and the end of a dance.

A timeline's curves often leave a rest with a step in acceleration. The zero-moment point then jumps in the first
instant, and no displacement that keeps a fixed posture avoids it. Time is therefore eased near such an end: the same
postures follow in the same order, the acceleration at the end is zero, and after the easing the original times apply.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...contacts.schedule import SAME_TIME
from ...dynamics.coordinates import to_manifold
from ...feasibility import Check, CheckOptions, Checks, check_motion
from ...feasibility.messages import plural_names
from ...trajectory.curve import sample_times
from ...values.motion import Motion
from .authored_dance import AuthoredDance, Samples

EASING_DURATION = 0.25
"""[s] Longest time within which an end is eased."""
SHORTEST_EASING = 0.1
"""[s] A shorter easing would make the motion more abrupt."""
EASING_RATE = 120.0
"""[1/s] Sampling rate within an easing."""
AT_REST = 0.05
"""[rad/s, m/s] Speed up to which a dance counts as starting or ending at rest."""


def ease_ends(keyed: AuthoredDance, options: CheckOptions | None = None) -> tuple[AuthoredDance, tuple[str, ...]]:
    """Ease those ends of a dance that are at rest but accelerate beyond what balance or joints allow.

    Args:
        keyed: a dance; one without samples has no acceleration at its ends and is returned unchanged.
        options: of the checks that the ends must pass.

    Returns:
        The dance, and a note for each end that was eased.
    """
    if keyed.samples is None:
        return keyed, ()
    curve, ends = keyed.curve(), np.array([keyed.start, keyed.stop])
    motion = curve.motion(keyed.rig, ends)
    still = np.zeros_like(motion.v)
    moving, posture = (
        check_motion(keyed.rig, each, keyed.schedule, options)
        for each in (motion, Motion(ends, motion.q, still, still))
    )
    spans, notes = [0.0, 0.0], []
    for end, name in ((0, "starts"), (1, "ends")):
        failed = [check for check in _failing_checks(moving, end) if check not in _failing_checks(posture, end)]
        span, why = _easing_duration(keyed, end), " and ".join(plural_names(failed))
        if failed and np.abs(motion.v[end]).max() <= AT_REST and span >= SHORTEST_EASING:
            spans[end] = span
            notes.append(f"{name} more gently, within {span:.2f} s of {ends[end]:.2f} s, because {why} failed there")
    if not notes:
        return keyed, ()
    times = _sample_times(keyed, spans)
    y = curve.at(ease_times(times, keyed.start, keyed.stop, spans[0], spans[1]))[0]
    nothing = np.zeros_like(y)
    return replace(keyed, samples=Samples(times, to_manifold(keyed.rig, y, nothing, nothing).q)), tuple(notes)


def ease_times(times: np.ndarray, start: float, stop: float, first: float, last: float) -> np.ndarray:
    """Original times (N,) [s] of the postures shown at times (N,) [s].

    Times are eased within ``first`` [s] of the start and ``last`` [s] of the end. At an eased end the derivative of the
    original time is zero, so a curve at rest there has no acceleration. Where the easing ends, the derivative is one
    and the second derivative zero.
    """
    result = np.array(times, float)
    if first > 0.0:
        near = times < start + first
        result[near] = start + first * _ease((times[near] - start) / first)
    if last > 0.0:
        near = times > stop - last
        result[near] = stop - last * _ease((stop - times[near]) / last)
    return result


def _ease(u: np.ndarray) -> np.ndarray:
    """From 0 with slope 0 to 1 with slope 1 and second derivative 0."""
    return u**2 * (3.0 - 3.0 * u + u**2)


def _failing_checks(checks: Checks, frame: int) -> list[Check]:
    return [margin.check for margin in checks.margins if margin.check.eases_when_slower and margin.failed[frame]]


def _easing_duration(keyed: AuthoredDance, end: int) -> float:
    """[s] How long an end may be eased: up to the next fixed key, and at most half the dance."""
    edge = (keyed.start, keyed.stop)[end]
    away = [abs(key.time - edge) for key in keyed.keys if key.role == "fixed"]
    return min([EASING_DURATION, 0.5 * (keyed.stop - keyed.start), *(gap for gap in away if gap > SAME_TIME)])


def _sample_times(keyed: AuthoredDance, spans: list[float]) -> np.ndarray:
    """Sample times: dense within the easings, as given between them."""
    assert keyed.samples is not None
    given, (first, last) = keyed.samples.times, spans
    lower, upper = keyed.start + first, keyed.stop - last
    parts = [given[(given > lower + SAME_TIME) & (given < upper - SAME_TIME)]]
    parts += [sample_times(keyed.start, lower, EASING_RATE)] if first else [np.array([keyed.start])]
    parts += [sample_times(upper, keyed.stop, EASING_RATE)] if last else [np.array([keyed.stop])]
    times = np.unique(np.concatenate(parts))
    return times[np.concatenate([[True], np.diff(times) > SAME_TIME])]
