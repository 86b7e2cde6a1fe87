"""What a verb did to a dance, in one small JSON file for a scene: what it says, what fails where, keys and strips.

No dynamics library is needed to read it. SI throughout; times in the dance's own clock; infinite numbers are text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, get_args

from ..check_options import CheckOptions
from ..errors import InvalidValue
from ..formats.codec import FileKind
from .timeline import SceneKey, SceneStrip

Status = Literal[
    "found", "designed", "partial",
    "feasible", "infeasible",
    "unchanged", "repaired", "improved", "failed", "completed", "slowed",
]  # fmt: skip
"""How a verb ended:

- ``excite``: ``found``.
- ``dance``: ``designed``, or ``partial``: fewer postures or poses than requested.
- ``check``, ``retarget``: ``feasible`` or ``infeasible``.
- ``repair``: ``unchanged`` (nothing failed), ``repaired``, ``improved`` (less fails, not nothing), or ``failed``.
- ``complete``: ``completed``, ``improved`` or ``failed``.
- ``slow``: ``slowed``, or ``unchanged`` (slow enough as it is).
"""
INCOMPLETE: frozenset[Status] = frozenset({"partial", "infeasible", "improved", "failed"})
"""Of them, those of a verb that did not do all that was requested."""


@dataclass(frozen=True, slots=True)
class SceneFailure:
    """Where a check fails first.

    Attributes:
        check: its name, ``"joint torque"``.
        item: what fails: a joint coordinate, a patch, a pair of links.
        unit: of the margin.
        margin: what is left; negative beyond the limit.
        time: [s].
        text: the failure in words.
        links: to colour.
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
    """From one posture of a designed dance to the next.

    Attributes:
        name: of the posture to which it leads.
        start, stop: [s].
        score: how hard it is to learn, from 1 to 5.
        difficulty: the same in words, with what makes it hard: ``"4 of 5 fast, far"``.
    """

    name: str
    start: float
    stop: float
    score: int
    difficulty: str


@dataclass(frozen=True, slots=True)
class SceneSummary:
    """What a verb did.

    Attributes:
        verb: ``"repair"``, ``"complete"``, ``"slow"``, ``"check"`` or ``"dance"``.
        status: how it ended.
        feasible: every check holds.
        message: one sentence for people.
        keys: of the dance as it is now.
        strips: likewise.
        failures: the first of every check that fails, earliest first.
        ranges: (start, stop) [s] of every run of failing frames.
        moved: (name, largest, rms) of all that a repair moved, most first: ``"root position"`` [m],
            ``"root rotation"`` and the joint coordinates [rad, or m where they slide].
        problems: what stands in the way, one sentence each.
        notes: what could not be checked or done, one sentence each.
        excitation: condition number of each link's part of the regressor; infinite where not excited; links without
            parameters of their own are left out.
        deviation: median predicted relative standard deviation of the base parameters of each link; likewise.
        duration: [s].
        checks: what the dance was held to.
        moves: of a designed dance, those that are not steps.
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

    def __post_init__(self) -> None:
        for name in ("keys", "strips", "failures", "ranges", "moved", "problems", "notes", "moves"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        for name in ("excitation", "deviation"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))
        if not self.message.strip():
            raise InvalidValue(f"the summary of {self.verb!r} says nothing")
        if self.status not in get_args(Status):
            known = ", ".join(get_args(Status))
            raise InvalidValue(f"the status of {self.verb!r} is {self.status!r}, not one of {known}")
        for start, stop in self.ranges:
            if not stop >= start:
                raise InvalidValue(f"a failing span ends at {stop:g} s before it starts at {start:g} s")

    @property
    def delivered(self) -> bool:
        """Whether the verb did all that was requested."""
        return self.status not in INCOMPLETE


SUMMARY = FileKind(SceneSummary, "exciting dance summary", remedy="Run the verb again with this version")
"""The file of a summary, JSON."""
