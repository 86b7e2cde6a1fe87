"""Set off and come to rest gently.

A timeline's curves often leave a rest with full acceleration. Who stands there cannot: the zero-moment point would jump
in the first instant, and no displacement that keeps a fixed posture helps. So time itself is eased near such an end:
the same postures in the same order, begun without acceleration, and after a moment where they were.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...contacts.schedule import SAME_TIME
from ...coordinates import to_manifold
from ...feasibility import Check, CheckOptions, Checks, check_motion
from ...feasibility.messages import plural_names
from ...motion import Motion
from ...trajectory.curve import sample_times
from .authored_dance import AuthoredDance, Samples

EASING_DURATION = 0.25
"""[s] within which time is eased."""
SHORTEST_EASING = 0.1
"""[s] below which easing would only make the motion more abrupt."""
EASING_RATE = 120.0
"""[1/s] of the samples within."""
AT_REST = 0.05
"""[rad/s, m/s] Speed up to which a dance counts as beginning at rest."""


def ease_ends(keyed: AuthoredDance, options: CheckOptions | None = None) -> tuple[AuthoredDance, tuple[str, ...]]:
    """The dance with those ends eased that are at rest but accelerate beyond what balance or joints allow.

    Args:
        keyed: a dance; one without samples rests at both ends already and is returned as it is.
        options: of the checks that the ends must hold.

    Returns:
        The dance, and a sentence for each end that was eased.
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
    for end, name in ((0, "sets off"), (1, "comes to rest")):
        failed = [check for check in _failing_checks(moving, end) if check not in _failing_checks(posture, end)]
        span, why = _easing_duration(keyed, end), " and ".join(plural_names(failed))
        if failed and np.abs(motion.v[end]).max() <= AT_REST and span >= SHORTEST_EASING:
            spans[end] = span
            notes.append(f"{name} more gently, within {span:.2f} s of {ends[end]:.2f} s: there {why} failed")
    if not notes:
        return keyed, ()
    times = _sample_times(keyed, spans)
    y = curve.at(ease_times(times, keyed.start, keyed.stop, spans[0], spans[1]))[0]
    nothing = np.zeros_like(y)
    return replace(keyed, samples=Samples(times, to_manifold(keyed.rig, y, nothing, nothing).q)), tuple(notes)


def ease_times(times: np.ndarray, start: float, stop: float, first: float, last: float) -> np.ndarray:
    """Times (N,) of which postures are shown at times (N,) [s], eased within ``first`` and ``last`` [s] of the ends.

    At an eased end time stands still for an instant, so a curve at rest there has no acceleration either; where the
    easing ends, pace and change of pace are those of the clock.
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
    """From 0 with slope 0 to 1 with slope 1 and no curvature."""
    return u**2 * (3.0 - 3.0 * u + u**2)


def _failing_checks(checks: Checks, frame: int) -> list[Check]:
    return [margin.check for margin in checks.margins if margin.check.eases_when_slower and margin.failed[frame]]


def _easing_duration(keyed: AuthoredDance, end: int) -> float:
    """How long an end may be eased: no fixed key may be shown at another time, and half the dance belongs to each."""
    edge = (keyed.start, keyed.stop)[end]
    away = [abs(key.time - edge) for key in keyed.keys if key.role == "fixed"]
    return min([EASING_DURATION, 0.5 * (keyed.stop - keyed.start), *(gap for gap in away if gap > SAME_TIME)])


def _sample_times(keyed: AuthoredDance, spans: list[float]) -> np.ndarray:
    """Dense within the spans, as given between."""
    assert keyed.samples is not None
    given, (first, last) = keyed.samples.times, spans
    lower, upper = keyed.start + first, keyed.stop - last
    parts = [given[(given > lower + SAME_TIME) & (given < upper - SAME_TIME)]]
    parts += [sample_times(keyed.start, lower, EASING_RATE)] if first else [np.array([keyed.start])]
    parts += [sample_times(upper, keyed.stop, EASING_RATE)] if last else [np.array([keyed.stop])]
    times = np.unique(np.concatenate(parts))
    return times[np.concatenate([[True], np.diff(times) > SAME_TIME])]
