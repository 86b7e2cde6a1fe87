"""Slower where it must be: time scaling that keeps speeds, torques and balance, bonnet2016's duration T_F.

Dancing a span between two rests f times as long divides its speeds by f and its accelerations by f^2, and nothing
jumps because it begins and ends at rest. For speeds the factor is exact, f = max |v| / limit; what depends on
accelerations changes monotonically towards standing still, and its factor is bisected.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from ...contacts.schedule import Phase, Schedule
from ...errors import InvalidValue
from ...feasibility import CheckOptions, check_motion, coordinate_names
from ...motion import Motion
from ...rig import ROOT_NV, Rig
from ...scene.labels import display_name
from .authored_dance import AuthoredDance, Samples

AT_REST = (1e-4, 1e-2)
"""[rad/s or m/s, per s again] below which a frame is at rest: a change of pace there cannot be seen."""
MAX_FACTOR = 8.0
"""A span that fails even so slowly fails standing still."""
PRECISION = 1e-3


@dataclass(frozen=True, slots=True)
class RetimedSpan:
    """One span between rests.

    Attributes:
        start, stop: [s] before.
        factor: its duration after over before.
        reason: what asked for it: a joint, a check, or nothing; and what slowing down cannot help.
    """

    start: float
    stop: float
    factor: float
    reason: str


@dataclass(frozen=True, slots=True)
class TimeScaling:
    """A change of pace: time after (K,) [s] of times before (K,), straight in between."""

    before: np.ndarray
    after: np.ndarray

    def __call__(self, times: np.ndarray) -> np.ndarray:
        """Times after the change."""
        return np.interp(times, self.before, self.after)

    def retime_schedule(self, schedule: Schedule) -> Schedule:
        """The contact schedule at the new pace; what lies outside the dance is moved along."""
        edges = [schedule.phases[0].start, *(phase.stop for phase in schedule.phases)]
        moved = [self._extrapolate(edge) for edge in edges]
        phases = [Phase(a, b, phase.anchors) for phase, a, b in zip(schedule.phases, moved, moved[1:])]
        return Schedule(tuple(phases), schedule.ground)

    def _extrapolate(self, time: float) -> float:
        inside = float(np.clip(time, self.before[0], self.before[-1]))
        return float(self(np.array([inside]))[0]) + time - inside


@dataclass(frozen=True, slots=True)
class RetimedMotion:
    """A motion at a new pace.

    Attributes:
        motion: with the same configurations.
        scaling: of it.
        spans: what was done to each.
    """

    motion: Motion
    scaling: TimeScaling
    spans: tuple[RetimedSpan, ...]


def scale_time(motion: Motion, factor: float) -> Motion:
    """The whole motion ``factor`` times as long: speeds over factor, accelerations over its square.

    Raises:
        InvalidValue: a factor that is not positive.
    """
    if not (np.isfinite(factor) and factor > 0.0):
        raise InvalidValue(f"a motion cannot last {factor!r} times as long")
    times = motion.times[0] + factor * (motion.times - motion.times[0])
    return Motion(times, motion.q, motion.v / factor, motion.a / factor**2)


def speed_factor(rig: Rig, motion: Motion) -> tuple[float, str]:
    """max |v| / limit over frames and joints, and the joint; above one the motion must last so many times as long."""
    joints = np.abs(motion.v[:, ROOT_NV:]).max(axis=0, initial=0.0)
    share = joints / rig.limits.speed
    worst = int(np.argmax(share)) if len(share) else 0
    return (float(share[worst]), coordinate_names(rig)[worst]) if len(share) else (0.0, "")


def retime(
    rig: Rig, motion: Motion, schedule: Schedule | None = None, options: CheckOptions | None = None
) -> RetimedMotion:
    """The motion with each span between rests as much slower as its limits need; never faster.

    Args:
        rig: whose limits.
        motion: to be slowed down; its frames must sample it densely.
        schedule: keep torques, balance and friction on it too; speeds only without.
        options: of those checks.
    """
    edges = _find_rests(motion)
    spans: list[RetimedSpan] = []
    before, after = [motion.times[0]], [motion.times[0]]
    v, a = np.array(motion.v), np.array(motion.a)
    for first, last in pairwise(edges):
        part = motion.part(first, last + 1)
        factor, joint = speed_factor(rig, part)
        reason = f"speed of {display_name(joint)}" if factor > 1.0 else ""
        factor = max(factor, 1.0)
        if schedule is not None:
            factor, reason = _factor_for_balance(rig, part, schedule, options or CheckOptions(), factor, reason)
        v[first : last + 1] = part.v / factor
        a[first : last + 1] = part.a / factor**2
        spans.append(RetimedSpan(float(part.times[0]), float(part.times[-1]), factor, reason))
        before.append(part.times[-1])
        after.append(after[-1] + factor * (part.times[-1] - part.times[0]))
    pace = TimeScaling(np.array(before), np.array(after))
    return RetimedMotion(Motion(pace(motion.times), motion.q, v, a), pace, tuple(spans))


def retime_dance(keyed: AuthoredDance, scaling: TimeScaling) -> AuthoredDance:
    """The authored dance at a new pace: keys, samples and contact strips."""
    samples = keyed.samples
    return replace(
        keyed,
        keys=tuple(replace(key, time=float(scaling(np.array([key.time]))[0])) for key in keyed.keys),
        schedule=scaling.retime_schedule(keyed.schedule),
        samples=None if samples is None else Samples(scaling(samples.times), samples.q),
    )


def _find_rests(motion: Motion) -> list[int]:
    """Frames that part the motion: its ends, and the first and last of every run at rest."""
    rest = (np.abs(motion.v).max(axis=1) < AT_REST[0]) & (np.abs(motion.a).max(axis=1) < AT_REST[1])
    turns = np.flatnonzero(np.diff(np.concatenate([[False], rest, [False]]).astype(int)))
    frames = {0, len(motion) - 1, *turns[::2].tolist(), *(turns[1::2] - 1).tolist()}
    return sorted(frames)


def _factor_for_balance(
    rig: Rig, part: Motion, schedule: Schedule, options: CheckOptions, least: float, reason: str
) -> tuple[float, str]:
    failed = _failing_checks(rig, part, schedule, options, least)
    if not failed:
        return least, reason
    if still := _failing_checks(rig, part, schedule, options, MAX_FACTOR):
        return least, f"{reason + '; ' if reason else ''}{', '.join(still)} fails however slowly"
    low, high = least, MAX_FACTOR
    while high - low > PRECISION * low:
        middle = float(np.sqrt(low * high))
        if _failing_checks(rig, part, schedule, options, middle):
            low = middle
        else:
            high = middle
    return high, ", ".join(failed)


def _failing_checks(rig: Rig, part: Motion, schedule: Schedule, options: CheckOptions, factor: float) -> list[str]:
    """Dynamic checks that the span fails when it lasts so many times as long; its frames keep their contacts."""
    pace = TimeScaling(part.times[[0, -1]], part.times[0] + factor * (part.times[[0, -1]] - part.times[0]))
    checks = check_motion(rig, scale_time(part, factor), pace.retime_schedule(schedule), options)
    return [margin.name for margin in checks.margins if margin.check.eases_when_slower and margin.failed.any()]
