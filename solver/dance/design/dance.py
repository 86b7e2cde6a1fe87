"""A dance: stretches one after another, what they were made for, and what they achieve."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from ...contacts.schedule import Phase, Schedule
from ...coordinates import Curves
from ...errors import InvalidValue
from ...feasibility.check import FrameChecker
from ...feasibility.margins import Checks
from ...feasibility.options import CheckOptions
from ...motion import Motion
from ...rig import Rig
from ...trajectory.legged_rig import Dancer
from ...trajectory.segment import Stretch

SAME_POSTURE = 1e-6
"""[rad, m] by which the end of a stretch may differ from the start of the next."""


@dataclass(frozen=True, slots=True)
class Step:
    """One entry of a dance's trace: a transition and the criterion it reached.

    Attributes:
        stretch: index of the stretch.
        group: foot configuration.
        criterion: J_exc (12) of the group's excited links after it, with everything their stream danced before.
        plain: the same had the plain way been taken.
        kind: of the stretch.
    """

    stretch: int
    group: str
    criterion: float
    plain: float
    kind: str


@dataclass(frozen=True, slots=True)
class Dance:
    """A dance as plain data.

    Attributes:
        rig: parameters from which `rigs.build` makes the rig.
        stretches: in order; each starts where the one before stopped.
        shrink, step: support polygon's shrinking and the step of the right foot [m] or None, see `Dancer`.
        postures: index of the hold of every optimal posture.
        trace: of the transitions.
        criterion: static J_exc (14) of the postures.
        seed: of the design.
        complete: False when the design was cancelled or had to leave something out.
        notes: what was replaced, slowed down or left out, and why.
        report: numbers about the design, by name.
    """

    rig: Mapping[str, object]
    stretches: tuple[Stretch, ...]
    shrink: float
    step: float | None
    postures: tuple[int, ...] = ()
    trace: tuple[Step, ...] = ()
    criterion: float = np.nan
    seed: int = 0
    complete: bool = True
    notes: tuple[str, ...] = ()
    report: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("stretches", "postures", "trace", "notes"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        for name in ("rig", "report"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))
        if not self.stretches:
            raise InvalidValue("a dance needs at least one stretch")

    def __reduce__(self) -> tuple[type[Dance], tuple[object, ...]]:
        values = [getattr(self, name) for name in self.__dataclass_fields__]
        return Dance, tuple(dict(v) if isinstance(v, MappingProxyType) else v for v in values)

    @property
    def starts(self) -> np.ndarray:
        """(S + 1,) [s] when each stretch starts, and the end."""
        return np.concatenate([[0.0], np.cumsum([stretch.duration for stretch in self.stretches])])

    @property
    def duration(self) -> float:
        """[s]."""
        return float(self.starts[-1])

    @property
    def schedule(self) -> Schedule:
        """When which foot stands where."""
        starts = self.starts
        return Schedule(tuple(Phase(a, b, s.anchors) for a, b, s in zip(starts, starts[1:], self.stretches)))

    def dancer(self, rig: Rig) -> Dancer:
        """The rig prepared as it was for the design."""
        return Dancer(rig, shrink=self.shrink, step=self.step)

    def sample(self, rig: Rig, rate: float, first: int = 0, last: int | None = None) -> Motion:
        """Motion of stretches ``first`` to before ``last`` at a rate [1/s], times from the dance's start."""
        if not (np.isfinite(rate) and rate > 0.0):
            raise InvalidValue(f"a dance is sampled at a positive rate, got {rate!r}")
        dancer, starts = self.dancer(rig), self.starts
        last = len(self.stretches) if last is None else last
        begin, end = starts[first], starts[last]
        times = begin + np.arange(int(np.floor((end - begin) * rate + 1e-9)) + 1) / rate
        owner = np.clip(np.searchsorted(starts, times + 1e-12, side="right") - 1, first, last - 1)
        parts: list[Curves] = []
        for number in range(first, last):
            own = times[owner == number] - starts[number]
            if len(own):
                stretch = self.stretches[number]
                parts.append(stretch.frames(dancer, np.clip(own, 0.0, stretch.duration))[1])
        q, v, a = (np.concatenate([getattr(part, name) for part in parts]) for name in ("q", "v", "a"))
        return Motion(times, q, v, a)

    def check(self, rig: Rig, rate: float, options: CheckOptions | None = None) -> list[Checks]:
        """All checks of every stretch at a rate [1/s], times from the dance's start."""
        options = CheckOptions(shrink=self.shrink) if options is None else options
        dancer, checker = self.dancer(rig), FrameChecker(rig, self.schedule, options)
        result = []
        for stretch, start in zip(self.stretches, self.starts):
            times = stretch.spline.samples(rate)
            _, curves, _ = stretch.frames(dancer, times)
            phase = Schedule((Phase(start - 1.0, start + stretch.duration + 1.0, stretch.anchors),))
            motion = Motion(start + times, curves.q, curves.v, curves.a)
            result.append(checker.with_schedule(phase).check_frames(motion))
        return result

    def largest_jump(self) -> float:
        """[rad, m] largest difference between the end of a stretch and the start of the next."""
        return max(
            (float(np.abs(a.stop - b.start).max()) for a, b in zip(self.stretches, self.stretches[1:])), default=0.0
        )
