"""The rough mass: a standing trial comes before all moving ones; masses that disagree are an error."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from solver.base.errors import InvalidValue
from solver.cli import main
from solver.dance.workflows.export import write_motion_table
from solver.dynamics import ground_wrench
from solver.formats.csv_tables import write_wrenches_csv
from solver.options.plates import MASS, MISMATCH, PlateOptions
from solver.options.study import Settings
from solver.signals import PRESETS, smooth_motion
from solver.signals.trial import Recording
from solver.skeleton.rig import Rig
from solver.study.plates.finding import Action
from solver.study.prepare import prepare
from solver.study.rough_mass import compute_mass_readings, estimate_rough_mass
from solver.study.values import Poses, TrialRecord
from solver.values.motion import Motion
from solver.values.wrenches import Wrenches

PRESET, RATE = PRESETS["human_8hz"], 100.0
FOOT = 0.1
"""[m] Distance to the side, more than from the middle between the feet to one foot."""


def still(rig: Rig, seconds: float) -> Motion:
    """The rig at rest."""
    times = np.arange(0.0, seconds, 1.0 / RATE)
    return smooth_motion(rig, times, np.tile(rig.neutral, (len(times), 1)), PRESET)


def bobbing(rig: Rig, seconds: float) -> Motion:
    """Up and down by 6 cm, arms and legs swinging."""
    times = np.arange(0.0, seconds, 1.0 / RATE)
    q = np.tile(rig.neutral, (len(times), 1))
    q[:, 2] += 0.06 * np.sin(2.0 * np.pi * 0.7 * times)
    q[:, 7:] += 0.2 * np.sin(2.0 * np.pi * 0.4 * times[:, None] + np.arange(q.shape[1] - 7))
    return smooth_motion(rig, times, q, PRESET)


def read(rig: Rig, motion: Motion, factor: float = 1.0, shift: float = 0.0) -> Wrenches:
    """One plate that reads so many times what the motion needs, so far to the side [m], with noise of 0.1 N."""
    wrench = factor * ground_wrench(rig, motion, rig.prior)
    wrench[:, :3] += 0.1 * np.random.default_rng(1).standard_normal((len(motion), 3))
    wrench[:, 3:] += np.cross([0.0, shift, 0.0], wrench[:, :3])
    return Wrenches(motion.times, ("plate",), wrench[:, None])


def record(name: str, motion: Motion, wrenches: Wrenches) -> TrialRecord:
    """A trial whose motion is known."""
    poses = Poses(motion.times, motion.q, np.ones(len(motion), bool))
    return TrialRecord(Recording(name, wrenches=wrenches), given=poses)


@pytest.mark.parametrize("seconds", [0.5, 1.0, 5.0])
def test_a_standing_trial_outranks_whatever_moves(robot: Rig, seconds: float) -> None:
    """A standing trial comes first, however short it is, before a moving one whose tether doubles the reading."""
    standing, moving = still(robot, seconds), bobbing(robot, 8.0)
    trials = [("tethered", moving, read(robot, moving, 2.0)), ("static", standing, read(robot, standing))]
    first, second = compute_mass_readings(robot, trials)
    assert (first.trial, first.is_standing, second.is_standing) == ("static", True, False)
    assert first.mass == pytest.approx(robot.prior.total_mass, rel=1e-3)
    assert second.mass == pytest.approx(2.0 * robot.prior.total_mass, rel=0.03)


def test_a_standing_body_partly_off_the_plate_gives_no_reading(robot: Rig) -> None:
    """One foot on the plate and one next to it: the plate reads half of the mass steadily, which is ignored."""
    standing, moving = still(robot, 5.0), bobbing(robot, 8.0)
    trials = [("half", standing, read(robot, standing, 0.5, FOOT)), ("moving", moving, read(robot, moving))]
    (reading,) = compute_mass_readings(robot, trials)
    assert (reading.trial, reading.mass) == ("moving", pytest.approx(robot.prior.total_mass, rel=0.02))


@pytest.mark.parametrize("factor", [2.0, 1.15], ids=["a tether doubles the load", "a gain of 1.15"])
def test_masses_that_disagree_are_an_error_that_can_be_overridden(robot: Rig, factor: float) -> None:
    """The trial, both masses and the likely causes are named; if overridden, the standing body's mass is used."""
    standing, moving = still(robot, 1.0), bobbing(robot, 8.0)
    records = [record("squat", moving, read(robot, moving, factor)), record("static", standing, read(robot, standing))]
    with pytest.raises(InvalidValue, match=r"squat: .*standing in static: a support.*a tether.*gain.*another person"):
        prepare(robot, records)
    prepared = prepare(robot, records, Settings(plates=PlateOptions(report_only=(MASS, MISMATCH))))
    overridden = [finding for finding in prepared.findings if "standing in static" in finding.text]
    assert [finding.done for finding in overridden] == [Action.OVERRIDDEN]


@pytest.mark.parametrize("factor", [1.05, 1.0, 0.6], ids=["an offset", "as it is", "a chair"])
def test_masses_that_agree_and_missing_support_are_no_error(robot: Rig, factor: float) -> None:
    """Readings that are 5 % larger, or smaller because of unmeasured support, do not contradict a standing trial; one
    second of standing is enough to weigh the body."""
    standing, moving = still(robot, 1.0), bobbing(robot, 8.0)
    records = [record("squat", moving, read(robot, moving, factor)), record("static", standing, read(robot, standing))]
    prepared = prepare(robot, records)
    assert prepared.mass.mass == pytest.approx(robot.prior.total_mass, rel=0.05)


def test_two_standing_trials_of_other_masses_are_an_error(robot: Rig) -> None:
    """With and without a heavy vest: neither mass is preferred silently."""
    standing = still(robot, 2.0)
    records = [record(name, standing, read(robot, standing, factor)) for name, factor in (("vest", 1.2), ("bare", 1.0))]
    with pytest.raises(InvalidValue, match="standing in"):
        prepare(robot, records)


def test_a_run_weighs_its_runner(robot: Rig) -> None:
    """Before any motion is known, stances with three times the weight and flights between them give the mass."""
    times = np.arange(0.0, 6.0, 0.001)
    stance = np.maximum(np.sin(2.0 * np.pi * 1.5 * times), 0.0) * np.pi * 70.0 * 9.81
    values = np.zeros((len(times), 1, 6))
    values[:, 0, 2] = stance
    assert estimate_rough_mass([Recording("run", wrenches=Wrenches(times, ("plate",), values))]) == pytest.approx(
        70.0, rel=0.1
    )


def test_identify_refuses_masses_that_disagree(robot: Rig, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command ends with one error and a status other than 0, and writes nothing."""
    for name, motion, factor in (("static", still(robot, 1.0), 1.0), ("squat", bobbing(robot, 4.0), 2.0)):
        write_motion_table(robot, motion, tmp_path / f"{name}.mot")
        write_wrenches_csv(tmp_path / f"{name}_wrenches.csv", read(robot, motion, factor))
    output = tmp_path / "results"
    files = [str(path) for path in sorted(tmp_path.iterdir())]
    status = main(["identify", *files, "--rig", "hoap3", "--output", str(output)])
    said = capsys.readouterr()
    assert status != 0
    assert said.err.count("error: ") == 1
    assert "squat: the plates read" in said.err
    assert "body mass" not in said.out
    assert not output.exists()
