"""Laws of plates whose level axes are rotated or mirrored, simulated and real."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.options.plates import MISMATCH
from solver.signals import GRAVITY
from solver.skeleton.rig import Rig
from solver.study.plates.finding import Action
from solver.study.plates.mismatch import check_mismatch
from solver.study.plates.plate_axes import estimate_plate_rotation
from solver.study.plates.trial_wrenches import ForceMotionPair
from solver.study.prepare import prepare
from solver.study.values import TrialRecord
from solver.values.wrenches import Wrenches

MASS, RATE = 70.0, 100.0
TIMES = np.arange(0.0, 8.0, 1.0 / RATE)
CENTRES = np.array([[0.2, 0.15], [0.2, -0.15]])
ROTATION_WORDS = ["as it is", "90 degrees clockwise", "by 180 degrees", "90 degrees counterclockwise"]


def rotation_by(quarters: int) -> np.ndarray:
    """Rotation (2, 2) by so many times 90 degrees, counterclockwise."""
    return np.linalg.matrix_power(np.array([[0, -1], [1, 0]]), quarters)


def trial(
    levels: tuple[np.ndarray, np.ndarray], *, name: str = "trial", share: float = 0.05, alike: bool = False
) -> ForceMotionPair:
    """A body that sways on two plates, with wrong level axes of each plate (2, 2), about its centre.

    Args:
        levels: matrices that multiply forces and locations of each plate.
        name: of the trial.
        share: amplitude of each plate's level forces, as a fraction of the weight; the forces that the body model needs
            have errors of up to 0.01, slowly varying, and of 0.02, constant.
        alike: the second plate carries the same as the first, rotated by 90 degrees clockwise: rotating one plate back
            is then the same as rotating the other one on.
    """
    values, needed, weight = np.zeros((len(TIMES), 2, 6)), np.zeros((len(TIMES), 6)), MASS * GRAVITY
    for k, (centre, level) in enumerate(zip(CENTRES, levels)):
        phases = np.array([0.0, 1.0, 2.0, 3.0]) + (0.0 if alike else 2.0 * k)
        waves = np.sin(2.0 * np.pi * TIMES[:, None] * [0.5, 0.7, 0.43, 0.91] + phases)
        load = weight * (0.5 + (0.0 if alike else 0.3 - 0.6 * k) * np.sin(2.0 * np.pi * 0.31 * TIMES))
        own = rotation_by(3 * k if alike else 0)
        force = np.column_stack([share * weight * waves[:, [0, 1]] @ own.T, load])
        offset = waves[:, [2, 3]] * [0.04, 0.02] @ own.T
        for total, forces, place in (
            (needed, force, centre + offset),
            (values[:, k], np.column_stack([force[:, :2] @ level.T, load]), centre + offset @ level.T),
        ):
            total[:, :3] += forces
            total[:, 3:] += np.cross(np.column_stack([place, 0.0 * TIMES]), forces)
    rng = np.random.default_rng(3)
    error = np.cumsum(rng.standard_normal((len(TIMES), 2)), axis=0)
    needed[:, :2] += 0.02 * weight + 0.01 * weight * error / np.abs(error).max()
    needed[:, 3] += 0.02 * weight
    wrenches = Wrenches(TIMES, ("left", "right"), values)
    return ForceMotionPair(name, TIMES, needed, np.zeros((len(TIMES), 3)), wrenches)


def trials_with_finding(*items: ForceMotionPair) -> list[str]:
    """Names of the trials whose plates are found to be rotated or mirrored."""
    return [f.trials[0] for f in check_mismatch(items, MASS, 8.0, False) if "level axes" in f.text]


@pytest.mark.parametrize("quarters", range(4))
def test_a_rotation_of_all_plates_is_found(quarters: int) -> None:
    """Simulated: rotated plates give one finding with the rotation; correct plates give none."""
    item = trial((rotation_by(quarters), rotation_by(quarters)))
    found = [f for f in check_mismatch([item], MASS, 8.0, False) if "level axes" in f.text]
    if not quarters:
        assert estimate_plate_rotation(item, MASS) is None
        assert not found
        return
    assert len(found) == 1
    assert ROTATION_WORDS[quarters] in found[0].text
    assert "forces and locations fit" in found[0].text
    assert found[0].done is Action.LEFT_OUT


@pytest.mark.parametrize("quarters", [1, 2, 3])
@pytest.mark.parametrize("plate", [0, 1])
def test_one_rotated_plate_is_named(plate: int, quarters: int) -> None:
    """Simulated: a single rotated plate is named, with the rotation that corrects it."""
    levels = [rotation_by(0), rotation_by(0)]
    levels[plate] = rotation_by(quarters)
    (finding,) = check_mismatch([trial((levels[0], levels[1]))], MASS, 8.0, False)
    assert f"of plate {('left', 'right')[plate]} " in finding.text
    assert ROTATION_WORDS[quarters] in finding.text


def test_a_reflection_is_distinguished_from_a_rotation() -> None:
    """Simulated: mirrored plates are found as mirrored."""
    mirror = estimate_plate_rotation(trial((np.diag([1, -1]), np.diag([1, -1]))), MASS)
    assert mirror.is_decisive
    assert "reversed along y" in mirror.text


def test_moments_alone_are_not_decisive() -> None:
    """Simulated: centres of pressure that move as if a plate were rotated (a tilted frame, a wrong body model) give no
    finding if the level forces follow the motion."""
    item, wrong = (
        trial((rotation_by(0), rotation_by(0)), share=0.01),
        trial((rotation_by(1), rotation_by(0)), share=0.01),
    )
    values = item.wrenches.values.copy()
    values[:, :, 3:5] = wrong.wrenches.values[:, :, 3:5]
    changed = replace(item, wrenches=replace(item.wrenches, values=values))
    fit = estimate_plate_rotation(changed, MASS)
    assert "of plate left" in fit.text
    assert not fit.is_decisive
    assert trials_with_finding(changed) == []


def test_ambiguous_rotations_are_not_decisive() -> None:
    """Simulated: if the rotations of two plates explain the same forces there is no finding; otherwise there is one."""
    for alike in (True, False):
        item = trial((rotation_by(0), rotation_by(1)), alike=alike)
        fit = estimate_plate_rotation(item, MASS)
        assert fit.is_decisive != alike
        assert trials_with_finding(item) == ([] if alike else ["trial"])


def test_another_trial_may_confirm_a_rotation() -> None:
    """Simulated: a squat whose level forces are below the body model's error is not decisive by itself. Another trial
    on the same plates with the same rotation confirms it; one with none, or another rotation, does not."""
    squat = trial((rotation_by(1), rotation_by(1)), name="squat", share=0.004)
    assert trials_with_finding(squat) == []
    for quarters, found in ((1, ["squat", "walk"]), (0, []), (3, ["walk"])):
        assert trials_with_finding(squat, trial((rotation_by(quarters), rotation_by(quarters)), name="walk")) == found


def test_unloaded_plates_give_no_rotation() -> None:
    """Plates that carry nothing have no rotation."""
    item = trial((rotation_by(1), rotation_by(1)))
    empty = replace(item, wrenches=Wrenches(TIMES, ("left", "right"), np.zeros((len(TIMES), 2, 6))))
    assert estimate_plate_rotation(empty, MASS) is None


@pytest.mark.parametrize("quarters", [0, 1, 3])
def test_rotated_plates_of_trials_are_found(walks: tuple[Rig, tuple[TrialRecord, ...]], quarters: int) -> None:
    """A trial with forces rotated about each plate's middle gives a finding; unchanged it does not."""
    rig, records = walks
    own = records[0].recording.wrenches
    assert own is not None
    level, values = rotation_by(quarters), own.values.copy()
    points = own.centres_of_pressure(own.values[:, :, 2] > 100.0)[:, :, :2]
    for k in range(len(own.frames)):
        middle = np.nanmedian(points[:, k], axis=0)
        point = np.column_stack([middle + (points[:, k] - middle) @ level.T, np.zeros(len(own))])
        force = np.column_stack([values[:, k, :2] @ level.T, values[:, k, 2]])
        values[:, k] = np.hstack([force, np.cross(np.nan_to_num(point), force)])
    changed = replace(records[0].recording, wrenches=replace(own, values=values))
    prepared = prepare(rig, [replace(records[0], recording=changed), records[1]])
    rotated = [f for f in prepared.findings if f.kind == MISMATCH and "level axes" in f.text]
    assert [f.trials for f in rotated] == ([(records[0].name,)] if quarters else [])
    assert all(ROTATION_WORDS[quarters] in f.text for f in rotated)
