"""Laws of the vertical moment that plates read in proportion to the load."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from solver.options.plates import LOAD_MOMENT, KnownLayout, KnownPlates, PlateOptions
from solver.options.study import Settings
from solver.rig import Rig
from solver.signals import preset_of
from solver.signals.pooling import LEAST_BLOCKS
from solver.study.pipeline import prepare
from solver.study.plates.finding import Action, Finding, PlateCorrection
from solver.study.plates.known_plates import collect_known_plates
from solver.study.plates.vertical_moment import jackknife_ratio
from solver.study.recordings import load
from solver.study.subject_calibration import calibrate
from solver.study.tracking import track_all
from solver.study.values import Study, TrialRecord
from solver.wrenches import Wrenches

PRESET = preset_of("human_8hz")
LEVER = 0.004
USUAL = PlateOptions()
Body = tuple[Rig, TrialRecord]


def prepared(robot: Body, lever: float, options: PlateOptions = USUAL) -> Study:
    """The robot's trial with sensors that read a moment of ``lever`` times their load."""
    rig, record = robot
    wrenches = record.recording.wrenches
    askew = replace(record.recording, wrenches=wrenches.without_couple(-lever))
    return prepare(rig, [replace(record, recording=askew)], Settings(plates=options))


def found(prepared: Study) -> list[Finding]:
    """Findings about the load moment."""
    return [finding for finding in prepared.findings if finding.kind == LOAD_MOMENT]


def moments(prepared: Study) -> np.ndarray:
    """Vertical, as it enters the equations."""
    trial = prepared.records[0].trial
    return trial.wrenches.total[trial.counted, 5]


def test_a_moment_of_the_load_is_found_and_removed(robot: Body) -> None:
    """Sensors that read 4 N m for every kilonewton give the trial that right ones give, within the interval."""
    right, wrong = prepared(robot, 0.0), prepared(robot, LEVER)
    assert [finding.done for finding in found(right)] == [Action.NOTHING]
    (finding,) = found(wrong)
    assert finding.done is Action.TAKEN_OFF
    assert finding.interval[0] < 1e3 * LEVER < finding.interval[1]
    assert wrong.records[0].plate_correction.couple == pytest.approx(1e-3 * finding.evidence)
    before, after = (
        np.abs(moments(prepared(robot, LEVER, PlateOptions(report_only=(LOAD_MOMENT,)))) - moments(right)),
        np.abs(moments(wrong) - moments(right)),
    )
    assert after.mean() < 0.1 * before.mean()


def test_an_overridden_load_moment_is_reported_only(robot: Body) -> None:
    """If the finding is overridden, the moment is not changed."""
    left = prepared(robot, LEVER, PlateOptions(report_only=(LOAD_MOMENT,)))
    assert [finding.done for finding in found(left)] == [Action.OVERRIDDEN]
    assert left.records[0].plate_correction.couple == 0.0


def test_a_known_load_moment_is_used(robot: Body) -> None:
    """A trial on known plates is corrected by the load moment of the identified trials, not by its own."""
    frames = robot[1].recording.wrenches.frames  # type: ignore[union-attr]
    known = KnownPlates((KnownLayout(frames, 1.0, (0.0, 0.0, 0.0), couple=LEVER),))
    assert prepared(robot, 0.0, PlateOptions(known=known)).records[0].plate_correction.couple == LEVER
    assert collect_known_plates([(frames, PlateCorrection(couple=LEVER))], None) == known


def test_only_the_vertical_moment_is_corrected() -> None:
    """The vertical moment changes by the lever times each sensor's own load, and nothing else does."""
    values = np.random.default_rng(0).standard_normal((5, 2, 6))
    before = Wrenches(np.arange(5) / 100.0, ("one", "two"), values)
    after = PlateCorrection(couple=LEVER).apply(before)
    assert np.array_equal(after.values[:, :, :5], before.values[:, :, :5])
    assert before.values[:, :, 5] - after.values[:, :, 5] == pytest.approx(LEVER * values[:, :, 2])


def test_the_jackknife_std_of_a_ratio() -> None:
    """Blocks with the same ratio give a standard deviation of zero, too few blocks an infinite one."""
    blocks = np.array([[2.0, 1.0], [4.0, 2.0], [6.0, 3.0], [2.0, 1.0]])
    assert jackknife_ratio(blocks) == pytest.approx((2.0, 0.0))
    least = LEAST_BLOCKS - 1  # a ratio has one coefficient less than the line for which the blocks are counted
    assert np.isinf([jackknife_ratio(blocks[:count])[1] for count in range(least)]).all()
    assert np.isfinite(jackknife_ratio(blocks[:least])).all()
    even = np.column_stack([[1.0, 3.0, 1.0, 3.0], np.ones(4)])
    value, std = jackknife_ratio(even)
    assert (value, std) == pytest.approx((2.0, np.std(even[:, 0], ddof=1) / 2.0))


def test_standing_and_squats_of_one_laboratory_show_it(shared_data: Path) -> None:
    """Real, subject_a's standing, squats and rising: about -1.3 N m per kilonewton on the same plates."""
    folder = shared_data / "subject_a"
    names = ("static1", "squats1", "STS1")
    files = [
        folder / kind / f"{name}{end}" for name in names for kind, end in (("markers", ".trc"), ("forces", ".mot"))
    ]
    recordings = load(files)
    person = calibrate(recordings, sex="female", mass=63.5)
    (finding,) = found(prepare(person.rig, track_all(person, recordings, jobs=1)))
    assert finding.done is Action.TAKEN_OFF
    assert -1.8 < finding.evidence < -0.9
