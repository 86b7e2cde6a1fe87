"""The summary of a job with a dance, a small JSON file for a scene: message, failures, keys and strips.

Reading it needs no dynamics library. SI units; times from the dance's start; infinite numbers are text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, get_args

from ..base.errors import InvalidValue
from ..options.checks import CheckOptions
from ..storage.codec import FileKind
from .timeline import SceneKey, SceneStrip

Status = Literal[
    "found", "designed", "partial",
    "feasible", "infeasible",
    "unchanged", "repaired", "improved", "failed", "completed", "slowed",
]  # fmt: skip
"""Status of a job, by command:

- ``excite``: ``found``.
- ``dance``: ``designed``, or ``partial``: fewer postures or poses than requested.
- ``check``, ``retarget``: ``feasible`` or ``infeasible``.
- ``repair``: ``unchanged`` (nothing failed), ``repaired``, ``improved`` (less fails), or ``failed``.
- ``complete``: ``completed``, ``improved`` or ``failed``.
- ``slow``: ``slowed``, or ``unchanged`` (slow enough already).
"""
INCOMPLETE: frozenset[Status] = frozenset({"partial", "infeasible", "improved", "failed"})
"""Statuses of a job that did not do all that was requested."""


@dataclass(frozen=True, slots=True)
class SceneFailure:
    """The first failure of a check.

    Attributes:
        check: its name, ``"joint torque"``.
        item: what fails: a joint coordinate, a patch, a pair of links.
        unit: of the margin.
        margin: to the limit, in the unit; negative beyond it.
        time: [s].
        text: the failure in words.
        links: that it concerns.
    """

    check: str
    item: str
    unit: str
    margin: float
    time: float
    text: str
    links: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SceneMove:
    """A move from one posture of a designed dance to the next.

    Attributes:
        name: of the posture at its end.
        start, stop: [s].
        score: difficulty, from 1 to 5.
        difficulty: the same in words, with the reasons: ``"4 of 5 fast, far"``.
        moving: parts of the body that move most, such as ``"right_arm"``.
    """

    name: str
    start: float
    stop: float
    score: int
    difficulty: str
    moving: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SceneSummary:
    """The summary of a job.

    Attributes:
        verb: command of the job: ``"repair"``, ``"complete"``, ``"slow"``, ``"check"`` or ``"dance"``.
        status: of the job.
        feasible: every check holds.
        message: the result in one sentence.
        keys: of the dance after the job.
        strips: contact strips of the dance after the job.
        failures: the first of every check that fails, earliest first.
        ranges: (start, stop) [s] of every run of failing frames.
        moved: (name, largest, rms) of what a repair moved, largest first: ``"root position"`` [m],
            ``"root rotation"`` and the joint coordinates [rad, or m where they slide].
        problems: what prevents the job, one sentence each.
        notes: what could not be checked or done, one sentence each.
        excitation: condition number of each link's part of the regressor; infinite if not excited; links without base
            parameters of their own are omitted.
        deviation: median predicted relative standard deviation of the base parameters of each link; likewise.
        duration: [s].
        checks: of the dance.
        moves: of a designed dance, except steps.
        counts: (time [s], number within the phrase) of every count of a designed dance.
    """

    verb: str
    status: Status
    feasible: bool
    message: str
    keys: tuple[SceneKey, ...] = ()
    strips: tuple[SceneStrip, ...] = ()
    failures: tuple[SceneFailure, ...] = ()
    ranges: tuple[tuple[float, float], ...] = ()
    moved: tuple[tuple[str, float, float], ...] = ()
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    excitation: Mapping[str, float] = field(default_factory=dict)
    deviation: Mapping[str, float] = field(default_factory=dict)
    duration: float = 0.0
    checks: CheckOptions = field(default_factory=CheckOptions)
    moves: tuple[SceneMove, ...] = ()
    counts: tuple[tuple[float, int], ...] = ()

    def __post_init__(self) -> None:
        for name in ("keys", "strips", "failures", "ranges", "moved", "problems", "notes", "moves", "counts"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        for name in ("excitation", "deviation"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))
        if not self.message.strip():
            raise InvalidValue(f"the summary of {self.verb!r} has no message")
        if self.status not in get_args(Status):
            known = ", ".join(get_args(Status))
            raise InvalidValue(f"the status of {self.verb!r} is {self.status!r}, not one of {known}")
        for start, stop in self.ranges:
            if not stop >= start:
                raise InvalidValue(f"a failing span ends at {stop:g} s before it starts at {start:g} s")

    @property
    def delivered(self) -> bool:
        """Whether the job did all that was requested."""
        return self.status not in INCOMPLETE


SUMMARY = FileKind(SceneSummary, "exciting dance summary", remedy="Run the verb again with this version")
"""The file of a summary, JSON."""
