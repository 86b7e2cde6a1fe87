"""Laws of the sign of the free moment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.figures.mismatched import scale_free_moments
from solver.base.errors import InvalidValue
from solver.demo.examples import simulated_robot
from solver.options.plates import AS_IS, FREE_MOMENTS, IGNORE, REVERSED, PlateOptions
from solver.options.study import Settings
from solver.signals import preset_of
from solver.skeleton.rig import Rig
from solver.study.joint_motion import poses_of
from solver.study.plates.finding import Action, Finding
from solver.study.prepare import prepare
from solver.study.recordings import load
from solver.study.subject_calibration import calibrate
from solver.study.tracking import track_all
from solver.study.values import StudyData, TrialRecord
from solver.values.wrenches import Wrenches

PRESET = preset_of("human_8hz")
Body = tuple[Rig, tuple[TrialRecord, ...]]


def plates(seed: int = 0) -> Wrenches:
    """Two plates with random forces, centres of pressure and free moments."""
    generator = np.random.default_rng(seed)
    force = generator.uniform([-80.0, -80.0, 300.0], [80.0, 80.0, 700.0], (50, 2, 3))
    point, couple = generator.uniform(-1.0, 1.0, (2, 50, 2, 3)) * np.array([1.0, 1.0, 0.0])
    couple = np.array([0.0, 0.0, 5.0]) * generator.standard_normal((50, 2, 1))
    return Wrenches(np.arange(50) / 100.0, ("one", "two"), np.dstack([force, np.cross(point, force) + couple]))


def test_the_free_moment_is_the_couple_at_the_centre_of_pressure() -> None:
    """Force F at p with a couple T about the vertical has the free moment T, wherever p lies and the origin is."""
    times = np.arange(2) / 100.0
    force, couple = np.array([30.0, -50.0, 600.0]), np.array([0.0, 0.0, -4.0])
    for point in ([0.0, 0.0, 0.0], [2.0, -1.0, 0.006]):
        moment = np.cross(point, force) + couple
        one = Wrenches(times, ("plate",), np.tile(np.concatenate([force, moment]), (2, 1, 1)))
        assert one.free_moments == pytest.approx(-4.0 * np.ones((2, 1)))


def test_displaced_plates_move_their_centres_of_pressure() -> None:
    """Displaced plates read the same forces and free moments at displaced centres of pressure."""
    before, shift = plates(), np.array([[0.1, -0.2, 0.0], [0.0, 0.3, 0.0]])
    after = before.displaced(shift)
    assert after.free_moments == pytest.approx(before.free_moments)
    assert after.displaced(-shift).values == pytest.approx(before.values)


def test_a_light_plate_has_no_free_moment() -> None:
    """Readings of an unloaded plate are noise."""
    noise = Wrenches(np.arange(9) / 100.0, ("plate",), np.random.default_rng(1).standard_normal((9, 1, 6)))
    assert not noise.free_moments.any()


def reverse_free_moments(records: Sequence[TrialRecord], names: Sequence[str] = ()) -> list[TrialRecord]:
    """Records of these trials (all by default) with the free moment reversed in software."""
    result = []
    for record in records:
        wrenches = record.recording.wrenches
        if wrenches is not None and (not names or record.name in names):
            wrenches = scale_free_moments(wrenches, -1.0)
        result.append(replace(record, recording=replace(record.recording, wrenches=wrenches)))
    return result


def found(prepared: StudyData) -> list[Finding]:
    """Findings about the free moment."""
    return [finding for finding in prepared.findings if finding.kind == "free-moment"]


@pytest.fixture(scope="module")
def robot() -> Body:
    """Simulated."""
    body = simulated_robot()
    recording = body.recordings[0]
    assert recording.joints is not None
    return body.rig, (TrialRecord(recording, given=poses_of(body.rig, recording.joints)),)


def test_a_simulated_reversal_is_found_and_corrected(robot: Body) -> None:
    """Sensors with a reversed free moment give the same trial as correct ones, which are not changed."""
    rig, records = robot
    right, wrong = prepare(rig, records), prepare(rig, reverse_free_moments(records))
    assert found(right) == []
    assert [finding.done for finding in found(wrong)] == [Action.UNDONE]
    assert "wrong sign" in found(wrong)[0].sentence
    one, two = right.records[0].trial, wrong.records[0].trial
    assert two.wrenches.total[two.counted] == pytest.approx(one.wrenches.total[two.counted], abs=0.02)


@pytest.mark.parametrize("choice", FREE_MOMENTS[1:])
def test_the_specified_use_of_the_free_moment_is_applied(robot: Body, choice: str) -> None:
    """Unchanged, reversed or not used: the specified choice is applied, whatever the motion shows."""
    rig, records = robot
    prepared = prepare(rig, reverse_free_moments(records), Settings(plates=PlateOptions(choice)))
    assert found(prepared) == []
    assert (prepared.records[0].plate_errors.plates[:, 18] == (2.0 if choice == REVERSED else 0.0)).all()
    trial = prepared.records[0].trial
    assert trial.wrenches.measured[:, 5].any() == (choice != IGNORE)
    assert trial.wrenches.measured[:, :5].all()


def test_overriding_the_finding_leaves_the_moment_unchanged() -> None:
    """The finding can be overridden, unless the moment's use is specified; unknown words list the choices."""
    assert PlateOptions(report_only=("free-moment",)).free_moment == AS_IS
    assert PlateOptions(REVERSED, ("free-moment",)).free_moment == REVERSED
    for wrong in ({"free_moment": "upside-down"}, {"report_only": ("gravity",)}):
        with pytest.raises(InvalidValue, match="must be one of"):
            PlateOptions(**wrong)  # type: ignore[arg-type]


def test_two_trials_have_the_right_sign(walks: Body) -> None:
    """The files as they are need no correction; both reversed in software are found and corrected."""
    rig, records = walks
    assert found(prepare(rig, records)) == []
    wrong = prepare(rig, reverse_free_moments(records))
    assert [(finding.done, finding.trials) for finding in found(wrong)] == [
        (Action.UNDONE, tuple(record.name for record in records))
    ]


def test_one_wrong_file_among_right_ones_is_found_alone(walks: Body) -> None:
    """Of two trials on the same plates only the one that was reversed in software is named."""
    rig, records = walks
    (wrong,) = found(prepare(rig, reverse_free_moments(records, [records[1].name])))
    assert wrong.trials == (records[1].name,)
    assert not wrong.done.is_silent


def test_the_files_of_one_laboratory_are_reversed(shared_data: Path) -> None:
    """Real, subject_a's squats: the file has the wrong sign; reversed in software it is right."""
    folder = shared_data / "subject_a"
    recordings = load([folder / "markers" / "squats1.trc", folder / "forces" / "squats1.mot"])
    person = calibrate(recordings, sex="female", mass=63.5)
    records = track_all(person, recordings, jobs=1)
    assert [finding.done for finding in found(prepare(person.rig, records))] == [Action.UNDONE]
    assert found(prepare(person.rig, reverse_free_moments(records))) == []
