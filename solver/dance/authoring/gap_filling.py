"""Gaps of an authored dance: free keys between others are filled and repaired; the rest of the dance is unchanged."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from ...base.errors import InvalidValue
from ...base.progress import Progress
from ...contacts.schedule import Phase, Schedule
from ...dynamics.coordinates import joint_coordinates
from ...feasibility import Checks, check_motion
from ...feasibility.check_results import Failure
from ...options.authoring import RepairOptions
from ...trajectory.curve import FlatCurve, sample_times
from .authored_dance import AuthoredDance, Keyframe, Samples
from .exciting_postures import PostureBlend
from .repair import VERIFICATION_FACTOR, Excerpt, RepairedDance, repair_dance

FRACTIONS = (1.0, 0.5, 0.25, 0.0)
"""Fractions of the way to an exciting posture, tried in turn until one is feasible; zero is interpolation."""
PEAK_SPEED_RATIO = 1.875
"""Peak speed of the minimum-jerk motion between two rests, divided by its mean speed. Derived: 15 / 8."""
SHORTEST_PHASE = 0.025
"""[s] A shorter contact phase at an end of a gap is ignored, because scenes round keys and contacts to frames."""
END_MARGIN = 1e-6
"""[s] Distance of a filled gap's samples from its ends, which already are samples."""


@dataclass(frozen=True, slots=True)
class Gap:
    """Free keys between two that are not free.

    Attributes:
        before, after: the keys at its ends, which are kept.
        free: the keys between them, in order.
    """

    before: Keyframe
    after: Keyframe
    free: tuple[Keyframe, ...]


@dataclass(frozen=True, slots=True)
class FilledGap:
    """A filled gap.

    Attributes:
        gap: before it was filled.
        repair: of the filled gap.
        fraction: of the way to the exciting postures.
        failures_at_ends: what the given dance fails in the two keys at the ends, which filling cannot repair.
    """

    gap: Gap
    repair: RepairedDance
    fraction: float
    failures_at_ends: tuple[Failure, ...]

    @property
    def feasible(self) -> bool:
        """Whether every check holds, or fails by no more than in a key at an end of the gap."""
        known: dict[str, float] = {}
        for failure in self.failures_at_ends:
            known[failure.check.name] = min(failure.margin, known.get(failure.check.name, 0.0))
        return all(float(m.smallest.min()) >= known.get(m.name, 0.0) - m.tolerance for m in self.repair.after.margins)


def find_gaps(keyed: AuthoredDance) -> list[Gap]:
    """Runs of free keys with the keys before and after them.

    Raises:
        InvalidValue: no free key, or a free key at an end.
    """
    kept = [number for number, key in enumerate(keyed.keys) if key.role != "free"]
    if len(kept) == len(keyed.keys):
        raise InvalidValue(
            f"dance {keyed.name!r} has no free key to complete: mark a key as free, in Blender by the keyframe type "
            "Breakdown"
        )
    if len(kept) < 2 or kept[0] != 0 or kept[-1] != len(keyed.keys) - 1:
        raise InvalidValue(
            f"the first and the last key of {keyed.name!r} must be fixed or preferred: free keys lie between others"
        )
    return [Gap(keyed.keys[a], keyed.keys[b], keyed.keys[a + 1 : b]) for a, b in pairwise(kept) if b > a + 1]


class GapFiller:
    """Fills the gaps of one dance.

    Args:
        dance: with the checks that must hold.
        repairing: of the repair; the time limit applies to all gaps together, the limit of programs to each.
        rate: [1/s] of the samples in the gaps.
    """

    def __init__(self, keyed: AuthoredDance, repairing: RepairOptions, rate: float) -> None:
        self.dance, self.checks, self._repair_options, self._rate = keyed, keyed.checks, repairing, rate
        self._deadline = time.monotonic() + repairing.seconds
        self._given_curve = keyed.curve()

    def interpolate(self, gap: Gap) -> np.ndarray:
        """Interpolated configurations (K, nq) of the free keys."""
        return self._curve(gap, {}).motion(self.dance.rig, np.array([key.time for key in gap.free])).q

    def fill(
        self,
        gap: Gap,
        interpolated: Mapping[float, np.ndarray],
        blends: Mapping[float, PostureBlend],
        largest_fraction: float,
        remaining_gaps: int,
        progress: Progress,
    ) -> FilledGap:
        """Fill and repair a gap with the largest feasible fraction of the exciting postures.

        Args:
            gap: to fill.
            interpolated: interpolated configuration of each free key, by time.
            blends: towards exciting postures, by time of the key.
            largest_fraction: of the way to the exciting postures.
            remaining_gaps: gaps that share the remaining time.
            progress: receives the progress.
        """
        shares = [largest_fraction * share for share in FRACTIONS] if blends else [0.0]
        until = time.monotonic() + (self._deadline - time.monotonic()) / remaining_gaps
        beside = self._failures_at_ends(gap)
        tried: list[FilledGap] = []
        for number, share in enumerate(shares):
            q = {key.time: blends[key.time].at(share) if share and key.time in blends else interpolated[key.time]
                 for key in gap.free}  # fmt: skip
            if share and self._too_fast(gap, q):
                continue
            patience = (until - time.monotonic()) / (len(shares) - number)
            found = repair_dance(self._excerpt(gap, q), self.checks, replace(self._repair_options, seconds=patience),
                           rate=self._rate, progress=progress)  # fmt: skip
            tried.append(FilledGap(gap, found, share, beside))
            if tried[-1].feasible:
                return tried[-1]
        return min(tried, key=lambda filled: filled.repair.violation)

    def splice(self, filled: Sequence[FilledGap]) -> AuthoredDance:
        """The dance with the repaired gaps; its other samples are unchanged."""
        keyed = self.dance
        if keyed.samples is None:
            times = sample_times(keyed.start, keyed.stop, self._rate)
            samples = Samples(times, self._given_curve.motion(keyed.rig, times).q)
        else:
            samples = keyed.samples
        times, q = np.array(samples.times), np.array(samples.q)
        keys = {key.time: key for key in keyed.keys}
        for gap, found in ((each.gap, each.repair) for each in filled):
            outside = (times <= gap.before.time + END_MARGIN) | (times >= gap.after.time - END_MARGIN)
            at = found.motion.times
            inside = (at > gap.before.time + END_MARGIN) & (at < gap.after.time - END_MARGIN)
            times = np.concatenate([times[outside], at[inside]])
            order = np.argsort(times, kind="stable")
            times, q = times[order], np.concatenate([q[outside], found.motion.q[inside]])[order]
            keys |= {key.time: key for key in found.dance.keys[1:-1]}
        return replace(keyed, keys=tuple(keys[time] for time in sorted(keys)), samples=Samples(times, q))

    def check(self, keyed: AuthoredDance) -> Checks:
        """Checks of a whole dance at the verification rate."""
        fine = sample_times(keyed.start, keyed.stop, VERIFICATION_FACTOR * self._repair_options.rate)
        return check_motion(keyed.rig, keyed.curve().motion(keyed.rig, fine), keyed.schedule, self.checks)

    def _failures_at_ends(self, gap: Gap) -> tuple[Failure, ...]:
        times = np.array([gap.before.time, gap.after.time])
        checks = check_motion(
            self.dance.rig, self._given_curve.motion(self.dance.rig, times), self.dance.schedule, self.checks
        )
        return checks.first_failures

    def _curve(self, gap: Gap, q: Mapping[float, np.ndarray]) -> FlatCurve:
        """The curve through postures (nq,) at times within a gap; it continues the dance smoothly at both ends."""
        ends = self._given_curve.motion(self.dance.rig, np.array([gap.before.time, gap.after.time]))
        times = [gap.before.time, *q, gap.after.time]
        postures = [ends.q[0], *q.values(), ends.q[1]]
        return FlatCurve.through_keys(
            self.dance.rig, np.array(times), postures, self.dance.interpolation, (ends.v, ends.a)
        )

    def _excerpt(self, gap: Gap, q: Mapping[float, np.ndarray]) -> Excerpt:
        schedule, start, stop = self.dance.schedule, gap.before.time, gap.after.time
        spans = [(phase.anchors, max(phase.start, start), min(phase.stop, stop)) for phase in schedule.phases]
        long = [(anchors, first, last) for anchors, first, last in spans if last - first > SHORTEST_PHASE]
        edges = [start, *(first for _, first, _ in long[1:]), stop]
        phases = [Phase(first, last, anchors) for (anchors, _, _), (first, last) in zip(long, pairwise(edges))]
        keys = [replace(gap.before, role="fixed"), *(replace(key, q=q[key.time]) for key in gap.free),
                replace(gap.after, role="fixed")]  # fmt: skip
        part = replace(self.dance, keys=tuple(keys), schedule=Schedule(tuple(phases), schedule.ground), samples=None)
        return Excerpt(part, self._curve(gap, q))

    def _too_fast(self, gap: Gap, q: Mapping[float, np.ndarray]) -> bool:
        """Whether some joint exceeds its speed limit between two postures, at rest in each."""
        times = np.array([gap.before.time, *q, gap.after.time])
        angles = joint_coordinates(self.dance.rig, np.array([gap.before.q, *q.values(), gap.after.q]))
        speeds = PEAK_SPEED_RATIO * np.abs(np.diff(angles, axis=0)) / np.diff(times)[:, None]
        return bool((speeds > self.dance.rig.limits.speed).any())
