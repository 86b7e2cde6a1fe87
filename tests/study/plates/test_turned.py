"""Laws of plates whose level axes are turned against the motion's, simulated and real."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.plate_options import BELONGING
from solver.rig import Rig
from solver.signals import GRAVITY, preset_of
from solver.study.plates.belonging import belonging_findings
from solver.study.plates.finding import Done
from solver.study.plates.pair import Pair
from solver.study.plates.turned import turned
from solver.study.preparation import prepare
from solver.study.values import TrialRecord
from solver.wrenches import Wrenches

MASS, RATE = 70.0, 100.0
TIMES = np.arange(0.0, 8.0, 1.0 / RATE)
CENTRES = np.array([[0.2, 0.15], [0.2, -0.15]])
IN_WORDS = ["as it is", "quarter clockwise", "by a half", "quarter counterclockwise"]


def turn(quarters: int) -> np.ndarray:
    """(2, 2) counterclockwise."""
    return np.linalg.matrix_power(np.array([[0, -1], [1, 0]]), quarters)


def squat(levels: tuple[np.ndarray, np.ndarray]) -> Pair:
    """A body on two plates that sways like a squat, with level axes of each plate (2, 2) wrong, about its centre.

    Level forces are 2 % of the weight, those that the body model needs wrong by as much.
    """
    waves = np.sin(2.0 * np.pi * TIMES[:, None] * [0.5, 0.7, 0.43, 0.91] + [0.0, 1.0, 2.0, 3.0])
    values = np.zeros((len(TIMES), 2, 6))
    needed = np.zeros((len(TIMES), 6))
    for k, (centre, level) in enumerate(zip(CENTRES, levels)):
        force = np.column_stack([0.01 * MASS * GRAVITY * waves[:, [0, 1]], 0.5 * MASS * GRAVITY + 0.0 * TIMES])
        aside = waves[:, [2, 3]] * [0.04, 0.02]
        for total, forces, place in (
            (needed, force, centre + aside),
            (values[:, k], np.column_stack([force[:, :2] @ level.T, force[:, 2]]), centre + aside @ level.T),
        ):
            total[:, :3] += forces
            total[:, 3:] += np.cross(np.column_stack([place, 0.0 * TIMES]), forces)
    rng = np.random.default_rng(3)
    error = np.cumsum(rng.standard_normal((len(TIMES), 2)), axis=0)
    needed[:, :2] += 0.02 * MASS * GRAVITY + 0.01 * MASS * GRAVITY * error / np.abs(error).max()
    needed[:, 3] += 0.02 * MASS * GRAVITY
    wrenches = Wrenches(TIMES, ("left", "right"), values)
    return Pair("squat", TIMES, needed, np.zeros((len(TIMES), 3)), np.zeros((len(TIMES), 0, 0, 3)), wrenches)


@pytest.mark.parametrize("quarters", range(4))
def test_a_turn_of_all_plates_is_told_and_none_is_not(quarters: int) -> None:
    """Simulated: too small to be told by how much is left, a turn is told by what each of the turns leaves."""
    item = squat((turn(quarters), turn(quarters)))
    found = [f for f in belonging_findings([item], MASS, False) if "level axes" in f.text]
    if not quarters:
        assert turned(item, MASS) is None
        assert not found
        return
    assert len(found) == 1
    assert IN_WORDS[quarters] in found[0].text
    assert "forces and places fit" in found[0].text
    assert found[0].done is Done.LEFT_OUT


def test_one_turned_plate_and_a_mirror_are_told_as_such() -> None:
    """Simulated: the plate is named; plates mirrored against the motion are not called turned."""
    one = turned(squat((turn(0), turn(1))), MASS)
    assert one is not None
    assert "of plate right" in one[0]
    assert IN_WORDS[1] in one[0]
    mirror = turned(squat((np.diag([1, -1]), np.diag([1, -1]))), MASS)
    assert mirror is not None
    assert "reversed along y" in mirror[0]


def test_forces_that_are_not_known_turn_nothing() -> None:
    """Neither plates that carry nobody nor too few frames tell of any turn."""
    item = squat((turn(1), turn(1)))
    empty = replace(item, wrenches=Wrenches(TIMES, ("left", "right"), np.zeros((len(TIMES), 2, 6))))
    assert turned(empty, MASS) is None


@pytest.mark.parametrize("quarters", [0, 1, 3])
def test_real_runs_tell_how_their_plates_are_turned(runner: tuple[Rig, tuple[TrialRecord, ...]], quarters: int) -> None:
    """Real, subject_e: run200 with forces turned about each plate's middle is told; untouched it is not."""
    rig, records = runner
    own = records[0].recording.wrenches
    assert own is not None
    level, values = turn(quarters), own.values.copy()
    points = own.centres_of_pressure(own.values[:, :, 2] > 100.0)[:, :, :2]
    for k in range(len(own.frames)):
        middle = np.nanmedian(points[:, k], axis=0)
        point = np.column_stack([middle + (points[:, k] - middle) @ level.T, np.zeros(len(own))])
        force = np.column_stack([values[:, k, :2] @ level.T, values[:, k, 2]])
        values[:, k] = np.hstack([force, np.cross(np.nan_to_num(point), force)])
    spoiled = replace(records[0].recording, wrenches=replace(own, values=values))
    prepared = prepare(rig, [replace(records[0], recording=spoiled), records[1]], preset_of("human_8hz"))
    told = [f for f in prepared.findings if f.kind == BELONGING and "level axes" in f.text]
    assert [f.trials for f in told] == ([("run200",)] if quarters else [])
    assert all(IN_WORDS[quarters] in f.text for f in told)
