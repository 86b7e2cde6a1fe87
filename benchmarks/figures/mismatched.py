"""Recordings whose forces do not belong to their motion, made in software from recordings that do; by cause."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from solver.base.errors import SolverError
from solver.options.plates import PlateOptions
from solver.options.study import Settings
from solver.signals import shift_wrenches
from solver.skeleton.rig import Rig
from solver.study.plates.finding import format_warnings
from solver.study.prepare import prepare
from solver.study.values import TrialRecord
from solver.values.wrenches import Wrenches

LATE = 1.0
"""[s]"""
FROZEN = 0.45
"""Share of a trial with frozen forces, 2 s at most."""
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
    """Change the wrenches of every recording."""
    return lambda records: [
        r if r.recording.wrenches is None
        else replace(r, recording=replace(r.recording, wrenches=change(r.recording.wrenches)))
        for r in records
    ]  # fmt: skip


def scale_free_moments(wrenches: Wrenches, factor: float) -> Wrenches:
    """Multiply free moments; forces and centres of pressure stay."""
    values = wrenches.values.copy()
    values[:, :, 5] += (factor - 1.0) * wrenches.free_moments
    return replace(wrenches, values=values)


def replace_forces(wrenches: Wrenches, force: np.ndarray, point: np.ndarray) -> Wrenches:
    """Wrenches of other forces (N, K, 3) at points (N, K, 3), with the same free moments."""
    moment = np.cross(point, force)
    moment[:, :, 2] += wrenches.free_moments
    return replace(wrenches, values=np.concatenate([force, moment], axis=2))


def scale_horizontal_forces(x: float, y: float) -> Callable[[Wrenches], Wrenches]:
    """Scale horizontal forces at unchanged centres of pressure."""
    return lambda w: replace_forces(w, w.values[:, :, :3] * [x, y, 1.0], np.nan_to_num(w.centres_of_pressure()))


def exchange_columns(wrenches: Wrenches) -> Wrenches:
    """Exchange the columns of the two horizontal forces."""
    return replace_forces(wrenches, wrenches.values[:, :, [1, 0, 2]], np.nan_to_num(wrenches.centres_of_pressure()))


def double_lever_arm(wrenches: Wrenches) -> Wrenches:
    """Store moments about the origin as free moments beside a centre of pressure."""
    return replace_forces(wrenches, wrenches.values[:, :, :3], 2.0 * np.nan_to_num(wrenches.centres_of_pressure()))


def exchange_plates(wrenches: Wrenches) -> Wrenches:
    """Exchange the locations of the first two plates."""
    points = wrenches.centres_of_pressure()
    step = np.nanmedian(points[:, 1], axis=0) - np.nanmedian(points[:, 0], axis=0)
    return wrenches.displaced(np.array([step, -step, *np.zeros((len(wrenches.frames) - 2, 3))]))


def freeze_forces(wrenches: Wrenches) -> Wrenches:
    """Repeat one sample of the forces in the middle of the trial, where plates are loaded."""
    count = min(round(FROZEN * len(wrenches)), round(LONGEST * wrenches.rate))
    start = (len(wrenches) - count) // 2
    start += int(np.argmax(wrenches.total[start:, 2] > 0.5 * wrenches.total[:, 2].mean()))
    values = wrenches.values.copy()
    values[start : start + count] = values[start]
    return replace(wrenches, values=values)


def add_constant_load(wrenches: Wrenches) -> Wrenches:
    """Add a share of the mean load to the plates, all the time."""
    values = wrenches.values.copy()
    values[:, 0, 2] += OFFSET * float(np.nanmean(wrenches.total[:, 2]))
    return replace(wrenches, values=values)


def exchange_forces(records: Records) -> Records:
    """Exchange the forces of the first two trials."""
    own = [r for r in records if r.recording.wrenches is not None]
    other = {own[0].name: own[1].recording.wrenches, own[1].name: own[0].recording.wrenches}
    return [
        replace(r, recording=replace(r.recording, wrenches=other.get(r.name, r.recording.wrenches))) for r in records
    ]


def scale_readings(factor: float) -> Callable[[Wrenches], Wrenches]:
    """Scale all readings, as another unit does."""
    return lambda w: replace(w, values=w.values * factor)


CASES: tuple[Case, ...] = (
    Case("horizontal forces reversed", ("horizontal forces are "
            "reversed",), with_forces(scale_horizontal_forces(-1.0, -1.0))),
    Case("another trial's forces", ("from another trial", "from another recording"), exchange_forces, trials=2),
    Case(
        "forces one second late", (f"{LATE:.2f} s too late", "not synchronised"),
        with_forces(lambda w: shift_wrenches(w, -LATE)),
    ),
    Case("forces frozen for up to 2 s", ("forces are frozen",), with_forces(freeze_forces)),
    Case("moments about the origin with a centre of pressure", ("about the origin",), with_forces(double_lever_arm)),
    Case("two plates exchanged", ("are exchanged", "not at their location"), with_forces(exchange_plates)),
    Case(
        "free moment reversed", ("free moment has the wrong sign",), with_forces(lambda w: scale_free_moments(w, -1.0)),
    ),
    Case(
        "plates elsewhere by 4 cm", ("not at their location",),
        with_forces(lambda w: w.displaced(np.array([0.0, LATERAL_SHIFT, 0.0]))),
    ),
    Case("15 % too much on every plate", ("contradict", "no offset"), with_forces(add_constant_load), stated_mass=0.0),
    Case("forces in kilograms-force", ("kilograms-force",), with_forces(scale_readings(1.0 / 9.81))),
    Case("a stated mass that every plate contradicts", ("contradict every plate",), list, stated_mass=1.25),
    Case("columns of the horizontal forces exchanged", ("columns of the two",), with_forces(exchange_columns)),
)  # fmt: skip
"""A stated mass is in shares of the true one; 0 states the true one."""


def prepare_messages(
    rig: Rig, records: Records, stated_mass: float | None = None, options: PlateOptions | None = None
) -> str:
    """Every warning and error of preparing these trials, in one text."""
    try:
        found = prepare(rig, records, Settings(plates=options or PlateOptions()), stated_mass=stated_mass)
    except SolverError as error:
        return str(error)
    return "\n".join([*format_warnings(found.findings), *found.warnings])


def is_reported(case: Case, rig: Rig, records: Records, mass: float) -> tuple[bool, str]:
    """Whether a case made of good recordings of a body of this mass [kg] is reported with its cause; and all
    messages."""
    stated = None if case.stated_mass is None else mass * (case.stated_mass or 1.0)
    text = prepare_messages(rig, case.modify(records), stated)
    return any(words in text for words in case.expected), text
