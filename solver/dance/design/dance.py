"""A designed dance: its segments, what they are designed for, and what they achieve."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ...base.errors import InvalidValue
from ...contacts.schedule import Phase, Schedule
from ...dynamics.coordinates import Curves
from ...feasibility.check_results import Checks
from ...feasibility.checker import FrameChecker
from ...options.checks import CheckOptions
from ...skeleton.rig import Rig
from ...storage.codec import FileKind
from ...trajectory.legged_rig import LeggedRig
from ...trajectory.segment import DanceSegment
from ...values.motion import Motion

SAME_POSTURE = 1e-6
"""[rad, m] Largest difference between the end of a segment and the start of the next."""


@dataclass(frozen=True, slots=True)
class TraceEntry:
    """One entry of a dance's trace: a phrase or transition and the criterion after it.

    Attributes:
        segment: index of the segment.
        configuration: of the feet.
        criterion: of the design after it: the mean expected deviation, or J_exc (12) of the excited links, including
            all earlier motion of their excitation group.
        straight_criterion: the same for the plain path instead.
        kind: of the segment.
    """

    segment: int
    configuration: str
    criterion: float
    straight_criterion: float
    kind: str


@dataclass(frozen=True, slots=True, repr=False)
class Dance:
    """A designed dance.

    Attributes:
        rig: that dances.
        segments: in order; each starts where the previous one ends.
        checks: that it passes, stored with it.
        step: of the right foot [m] or None, see `LeggedRig`.
        postures: index of every phrase and image, or of the hold of every posture.
        trace: of the phrases or transitions.
        criterion: static J_exc (14) of the postures that are held; NaN without any.
        seed: of the design.
        complete: False if the design was cancelled or something requested is missing.
        notes: what was replaced, slowed down or left out, and why.
        left_out: number of requested postures that are not danced.
        poses: named pose of each of these postures; empty without named poses.
        missing: what was requested and is not danced, and why; one sentence each, also in the notes.
        count: [s] duration of a count; 0 for a dance without counts.
        seconds: [s] that the design took.
    """

    rig: Rig
    segments: tuple[DanceSegment, ...]
    checks: CheckOptions
    step: float | None
    postures: tuple[int, ...] = ()
    trace: tuple[TraceEntry, ...] = ()
    criterion: float = np.nan
    seed: int = 0
    complete: bool = True
    notes: tuple[str, ...] = ()
    left_out: int = 0
    poses: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    count: float = 0.0
    seconds: float = 0.0

    def __post_init__(self) -> None:
        for name in ("segments", "postures", "trace", "notes", "poses", "missing"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if not self.segments:
            raise InvalidValue("a dance needs at least one segment")
        if self.poses and len(self.poses) != len(self.postures):
            raise InvalidValue(f"a dance of {len(self.postures)} postures has {len(self.poses)} names for them")

    def __repr__(self) -> str:
        made = f"{len(self.postures)} postures, {len(self.segments)} segments{'' if self.complete else ', incomplete'}"
        return f"Dance of {self.duration:.2f} s: {made}\n  {self.rig.summary}\n  checks: {self.checks.words}"

    @property
    def starts(self) -> np.ndarray:
        """(S + 1,) [s] Start of each segment, and the end."""
        return np.concatenate([[0.0], np.cumsum([segment.duration for segment in self.segments])])

    @property
    def duration(self) -> float:
        """[s]."""
        return float(self.starts[-1])

    @property
    def schedule(self) -> Schedule:
        """Contact schedule of the feet."""
        starts = self.starts
        return Schedule(tuple(Phase(a, b, s.anchors) for a, b, s in zip(starts, starts[1:], self.segments)))

    def legged_rig(self, rig: Rig) -> LeggedRig:
        """The rig with its legs, as prepared for the design."""
        return LeggedRig(rig, shrink=self.checks.shrink, step=self.step)

    def sample(self, rig: Rig, rate: float, first: int = 0, last: int | None = None) -> Motion:
        """Motion of segments ``first`` to before ``last`` at a rate [1/s], times from the dance's start."""
        if not (np.isfinite(rate) and rate > 0.0):
            raise InvalidValue(f"a dance is sampled at a positive rate, got {rate!r}")
        legged, starts = self.legged_rig(rig), self.starts
        last = len(self.segments) if last is None else last
        begin, end = starts[first], starts[last]
        times = begin + np.arange(int(np.floor((end - begin) * rate + 1e-9)) + 1) / rate
        owner = np.clip(np.searchsorted(starts, times + 1e-12, side="right") - 1, first, last - 1)
        parts: list[Curves] = []
        for number in range(first, last):
            own = times[owner == number] - starts[number]
            if len(own):
                segment = self.segments[number]
                parts.append(segment.evaluate(legged, np.clip(own, 0.0, segment.duration))[1])
        q, v, a = (np.concatenate([getattr(part, name) for part in parts]) for name in ("q", "v", "a"))
        return Motion(times, q, v, a)

    def check(self, rig: Rig, rate: float, options: CheckOptions | None = None) -> list[Checks]:
        """All checks of each segment at a rate [1/s], times from the dance's start."""
        options = self.checks if options is None else options
        legged, checker = self.legged_rig(rig), FrameChecker(rig, self.schedule, options)
        result = []
        for segment, start in zip(self.segments, self.starts):
            times = segment.spline_space.samples(rate)
            _, curves, _ = segment.evaluate(legged, times)
            phase = Schedule((Phase(start - 1.0, start + segment.duration + 1.0, segment.anchors),))
            motion = Motion(start + times, curves.q, curves.v, curves.a)
            result.append(checker.with_schedule(phase).check_frames(motion))
        return result

    def largest_discontinuity(self) -> float:
        """[rad, m] largest difference between the end of a segment and the start of the next, with solved legs."""
        legged = self.legged_rig(self.rig)
        ends = [one.evaluate(legged, np.array([0.0, one.duration]))[0][:, : self.rig.nv] for one in self.segments]
        return max((float(np.abs(a[1] - b[0]).max()) for a, b in pairwise(ends)), default=0.0)


DESIGNED_DANCE = FileKind(Dance, "exciting dance designed dance", remedy="Design the dance again with this version")
"""The file of a designed dance, an archive with the rig; arrays that occur several times are stored once."""
