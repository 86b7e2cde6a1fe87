"""Recordings whose forces do not belong to their motion, made in software from recordings that do; by cause."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from solver.errors import SolverError
from solver.plate_options import PlateOptions
from solver.rig import Rig
from solver.signals import preset_of, shift_wrenches
from solver.study.pipeline import prepare
from solver.study.plates.finding import format_warnings
from solver.study.values import TrialRecord
from solver.wrenches import Wrenches

LATE = 1.0
"""[s]"""
FROZEN = 0.45
"""Share of a trial that stands still, 2 s at most."""
LONGEST = 2.0
OFFSET = 0.15
"""Share of the mean load that is added to plates that are never unloaded."""
LATERAL_SHIFT = 0.04
"""[m] that plates are moved to the side."""
Records = Sequence[TrialRecord]


@dataclass(frozen=True, slots=True)
class Case:
    """One way in which recordings go wrong.

    Attributes:
        name: in words.
        expected: phrases of which one must appear in a message.
        modify: maps correct recordings to wrong ones.
        stated_mass: [kg] stated by the user.
        trials: the least number needed.
    """

    name: str
    expected: tuple[str, ...]
    modify: Callable[[Records], Records]
    stated_mass: float | None = None
    trials: int = 1


def with_forces(change: Callable[[Wrenches], Wrenches]) -> Callable[[Records], Records]:
    """Every recording with its wrenches changed."""
    return lambda records: [
        r if r.recording.wrenches is None
        else replace(r, recording=replace(r.recording, wrenches=change(r.recording.wrenches)))
        for r in records
    ]  # fmt: skip


def rebuilt(wrenches: Wrenches, force: np.ndarray, point: np.ndarray) -> Wrenches:
    """Wrenches of other forces (N, K, 3) at points (N, K, 3), with the same free moments."""
    moment = np.cross(point, force)
    moment[:, :, 2] += wrenches.free_moments
    return replace(wrenches, values=np.concatenate([force, moment], axis=2))


def level(x: float, y: float) -> Callable[[Wrenches], Wrenches]:
    """Horizontal forces times these, at the centres of pressure as they are."""
    return lambda w: rebuilt(w, w.values[:, :, :3] * [x, y, 1.0], np.nan_to_num(w.centres_of_pressure()))


def exchanged_columns(wrenches: Wrenches) -> Wrenches:
    """Fore and sideways force under each other's name."""
    return rebuilt(wrenches, wrenches.values[:, :, [1, 0, 2]], np.nan_to_num(wrenches.centres_of_pressure()))


def lever_twice(wrenches: Wrenches) -> Wrenches:
    """Moments about the origin taken for free moments beside a centre of pressure."""
    return rebuilt(wrenches, wrenches.values[:, :, :3], 2.0 * np.nan_to_num(wrenches.centres_of_pressure()))


def exchanged_plates(wrenches: Wrenches) -> Wrenches:
    """The first two plates stand where the other one is said to be."""
    points = wrenches.centres_of_pressure()
    step = np.nanmedian(points[:, 1], axis=0) - np.nanmedian(points[:, 0], axis=0)
    return wrenches.displaced(np.array([step, -step, *np.zeros((len(wrenches.frames) - 2, 3))]))


def standing_still(wrenches: Wrenches) -> Wrenches:
    """Forces that repeat one sample in the middle of the trial, where plates are loaded."""
    count = min(round(FROZEN * len(wrenches)), round(LONGEST * wrenches.rate))
    start = (len(wrenches) - count) // 2
    start += int(np.argmax(wrenches.total[start:, 2] > 0.5 * wrenches.total[:, 2].mean()))
    values = wrenches.values.copy()
    values[start : start + count] = values[start]
    return replace(wrenches, values=values)


def never_unloaded(wrenches: Wrenches) -> Wrenches:
    """Plates that read a share of the mean load too much, all the time."""
    values = wrenches.values.copy()
    values[:, 0, 2] += OFFSET * float(np.nanmean(wrenches.total[:, 2]))
    return replace(wrenches, values=values)


def each_others_forces(records: Records) -> Records:
    """The forces of the first two trials under each other's name."""
    own = [r for r in records if r.recording.wrenches is not None]
    other = {own[0].name: own[1].recording.wrenches, own[1].name: own[0].recording.wrenches}
    return [
        replace(r, recording=replace(r.recording, wrenches=other.get(r.name, r.recording.wrenches))) for r in records
    ]


def scaled(factor: float) -> Callable[[Wrenches], Wrenches]:
    """All readings in another unit."""
    return lambda w: replace(w, values=w.values * factor)


CASES: tuple[Case, ...] = (
    Case("horizontal forces reversed", ("horizontal forces are reversed",), with_forces(level(-1.0, -1.0))),
    Case("another trial's forces", ("from another trial", "from another recording"), each_others_forces, trials=2),
    Case(
        "forces one second late", (f"{LATE:.2f} s too late", "not synchronised"),
        with_forces(lambda w: shift_wrenches(w, -LATE)),
    ),
    Case("forces frozen for up to 2 s", ("forces are frozen",), with_forces(standing_still)),
    Case("moments about the origin beside a centre of pressure", ("about the origin",), with_forces(lever_twice)),
    Case("two plates exchanged", ("are exchanged",), with_forces(exchanged_plates)),
    Case(
        "free moment reversed", ("free moment has the wrong sign",), with_forces(lambda w: w.with_free_moments(-1.0)),
    ),
    Case(
        "plates elsewhere by 4 cm", ("not at their location",),
        with_forces(lambda w: w.displaced(np.array([0.0, LATERAL_SHIFT, 0.0]))),
    ),
    Case("15 % too much on every plate", ("contradict", "no offset"), with_forces(never_unloaded), stated_mass=0.0),
    Case("forces in kilograms-force", ("kilograms-force",), with_forces(scaled(1.0 / 9.81))),
    Case("a stated mass that every plate contradicts", ("contradict every plate",), list, stated_mass=1.25),
    Case("columns of the horizontal forces exchanged", ("columns of the two",), with_forces(exchanged_columns)),
)  # fmt: skip
"""A stated mass is in shares of the true one; 0 states the true one."""


def prepare_messages(
    rig: Rig, records: Records, stated_mass: float | None = None, options: PlateOptions | None = None
) -> str:
    """Every warning and error of preparing these trials, in one text."""
    try:
        found = prepare(rig, records, preset_of("human_8hz"), stated_mass=stated_mass, plates=options or PlateOptions())
    except SolverError as error:
        return str(error)
    return "\n".join([*format_warnings(found.findings), *found.warnings])


def is_reported(case: Case, rig: Rig, records: Records, mass: float) -> tuple[bool, str]:
    """Whether a case made of good recordings of a body of this mass [kg] " "is reported with its cause; and all
    messages."""
    stated = None if case.stated_mass is None else mass * (case.stated_mass or 1.0)
    text = prepare_messages(rig, case.modify(records), stated)
    return any(words in text for words in case.expected), text
