"""Time scaling that slows a dance where speeds, torques or balance require it, bonnet2016's duration T_F.

A span between two rests that lasts f times as long has speeds divided by f and accelerations divided by f^2. It starts
and ends at rest, so there is no discontinuity. For speed limits the factor is exact, f = max |v| / limit. Quantities
that depend on accelerations change monotonically towards rest, and their factor is found by bisection.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from ...contacts.schedule import Phase, Schedule
from ...feasibility import CheckOptions, check_motion, coordinate_names
from ...scene.labels import display_name
from ...skeleton.rig import ROOT_NV, Rig
from ...values.motion import Motion
from .authored_dance import AuthoredDance, Samples

AT_REST = (1e-4, 1e-2)
"""[rad/s or m/s; rad/s^2 or m/s^2] Speed and acceleration below which a frame is at rest."""
MAX_FACTOR = 8.0
"""Largest factor tried; a span that fails at it fails at rest."""
PRECISION = 1e-3


@dataclass(frozen=True, slots=True)
class RetimedSpan:
    """A span between two rests.

    Attributes:
        start, stop: [s] before retiming.
        factor: ratio of its duration after to before.
        reason: the joint or check that required it, or empty; and checks that slowing down cannot repair.
    """

    start: float
    stop: float
    factor: float
    reason: str


@dataclass(frozen=True, slots=True)
class TimeScaling:
    """A piecewise linear time scaling: times after (K,) [s] of times before (K,) [s], and how each span was scaled."""

    before: np.ndarray
    after: np.ndarray
    spans: tuple[RetimedSpan, ...] = ()

    def __call__(self, times: np.ndarray) -> np.ndarray:
        """Scaled times."""
        return np.interp(times, self.before, self.after)

    def retime_schedule(self, schedule: Schedule) -> Schedule:
        """The scaled contact schedule; phases outside the dance are shifted with its ends."""
        edges = [schedule.phases[0].start, *(phase.stop for phase in schedule.phases)]
        moved = [self._extrapolate(edge) for edge in edges]
        phases = [Phase(a, b, phase.anchors) for phase, a, b in zip(schedule.phases, moved, moved[1:])]
        return Schedule(tuple(phases), schedule.ground)

    def _extrapolate(self, time: float) -> float:
        inside = float(np.clip(time, self.before[0], self.before[-1]))
        return float(self(np.array([inside]))[0]) + time - inside


def scale_time(motion: Motion, factor: float) -> Motion:
    """The whole motion ``factor`` times as long: speeds divided by the factor, accelerations by its square."""
    times = motion.times[0] + factor * (motion.times - motion.times[0])
    return Motion(times, motion.q, motion.v / factor, motion.a / factor**2)


def speed_factor(rig: Rig, motion: Motion) -> tuple[float, str]:
    """max |v| / limit over frames and joints, and the joint; above 1, the motion must last longer by this factor."""
    share = np.abs(motion.v[:, ROOT_NV:]).max(axis=0, initial=0.0) / rig.limits.speed
    worst = int(np.argmax(share)) if len(share) else 0
    return (float(share[worst]), coordinate_names(rig)[worst]) if len(share) else (0.0, "")


def retime(
    rig: Rig, motion: Motion, schedule: Schedule | None = None, options: CheckOptions | None = None
) -> TimeScaling:
    """Slow each span between rests as much as its limits require; never speed it up.

    Args:
        rig: with the limits.
        motion: to slow down; its frames must sample it densely.
        schedule: if given, torques, balance and friction with these contacts must hold too; None: speeds only.
        options: of these checks.
    """
    edges = _find_rests(motion)
    spans: list[RetimedSpan] = []
    before, after = [motion.times[0]], [motion.times[0]]
    for first, last in pairwise(edges):
        part = motion.part(first, last + 1)
        factor, joint = speed_factor(rig, part)
        reason = f"speed of {display_name(joint)}" if factor > 1.0 else ""
        factor = max(factor, 1.0)
        if schedule is not None:
            factor, reason = _factor_for_balance(rig, part, schedule, options or CheckOptions(), factor, reason)
        spans.append(RetimedSpan(float(part.times[0]), float(part.times[-1]), factor, reason))
        before.append(part.times[-1])
        after.append(after[-1] + factor * (part.times[-1] - part.times[0]))
    return TimeScaling(np.array(before), np.array(after), tuple(spans))


def retime_dance(keyed: AuthoredDance, scaling: TimeScaling) -> AuthoredDance:
    """The authored dance with scaled time: keys, samples and contact strips."""
    samples = keyed.samples
    return replace(
        keyed,
        keys=tuple(replace(key, time=float(scaling(np.array([key.time]))[0])) for key in keyed.keys),
        schedule=scaling.retime_schedule(keyed.schedule),
        samples=None if samples is None else Samples(scaling(samples.times), samples.q),
    )


def _find_rests(motion: Motion) -> list[int]:
    """Frames that divide the motion: its ends, and the first and last frame of every run at rest."""
    rest = (np.abs(motion.v).max(axis=1) < AT_REST[0]) & (np.abs(motion.a).max(axis=1) < AT_REST[1])
    turns = np.flatnonzero(np.diff(np.concatenate([[False], rest, [False]]).astype(int)))
    return sorted({0, len(motion) - 1, *turns[::2].tolist(), *(turns[1::2] - 1).tolist()})


def _factor_for_balance(
    rig: Rig, part: Motion, schedule: Schedule, options: CheckOptions, least: float, reason: str
) -> tuple[float, str]:
    failed = _failing_checks(rig, part, schedule, options, least)
    if not failed:
        return least, reason
    if still := _failing_checks(rig, part, schedule, options, MAX_FACTOR):
        return least, f"{reason + '; ' if reason else ''}{', '.join(still)} fails at any speed"
    low, high = least, MAX_FACTOR
    while high - low > PRECISION * low:
        middle = float(np.sqrt(low * high))
        if _failing_checks(rig, part, schedule, options, middle):
            low = middle
        else:
            high = middle
    return high, ", ".join(failed)


def _failing_checks(rig: Rig, part: Motion, schedule: Schedule, options: CheckOptions, factor: float) -> list[str]:
    """Dynamic checks that the span fails when it lasts ``factor`` times as long; its frames keep their contacts."""
    pace = TimeScaling(part.times[[0, -1]], part.times[0] + factor * (part.times[[0, -1]] - part.times[0]))
    checks = check_motion(rig, scale_time(part, factor), pace.retime_schedule(schedule), options)
    return [margin.name for margin in checks.margins if margin.check.eases_when_slower and margin.failed.any()]
