"""Preparation of trials with known motion: laws on a simulated robot, and a real recording."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from solver.base.errors import InvalidValue
from solver.demo.examples import simulated_robot
from solver.dynamics import predicted_wrench
from solver.options.plates import LAG, PlateOptions
from solver.options.study import Settings
from solver.signals import PRESETS, shift_wrenches, smooth_motion
from solver.signals.trial import Recording
from solver.skeleton.rig import Rig
from solver.study.plates.finding import Action
from solver.study.prepare import prepare
from solver.study.recordings import load
from solver.study.rough_mass import compute_mass_readings
from solver.study.subject_calibration import calibrate
from solver.study.tracking import track_all
from solver.study.values import Poses, TrialRecord
from solver.values.motion import Markers, Motion
from solver.values.wrenches import Wrenches
from solver.workflow.pipeline import identify, identify_motions
from tests.simulated_walk import simulated_walker

PRESET = PRESETS["human_8hz"]
RATE = 100.0
NAMES = ("static1", "squats1")


def swinging(rig: Rig, seconds: float, seed: int) -> Motion:
    """Root fixed in the air, every joint swinging slowly: the only support is fully measured."""
    generator = np.random.default_rng(seed)
    times = np.arange(round(seconds * RATE)) / RATE
    count = rig.nv - 6
    amplitude, frequency, phase = (
        0.3 * generator.random(count),
        0.3 + generator.random(count),
        6.3 * generator.random(count),
    )
    q = np.tile(rig.neutral, (len(times), 1))
    q[:, 7:] = amplitude * np.sin(2 * np.pi * frequency * times[:, None] + phase)
    return smooth_motion(rig, times, q, None)


def recorded(rig: Rig, motion: Motion, lag: float = 0.0) -> Recording:
    """A recording of forces alone."""
    return Recording("swing", wrenches=plates(rig, motion, lag))


def moved(recording: Recording, motion: Motion) -> TrialRecord:
    """A recording whose motion is known."""
    return TrialRecord(recording, given=Poses(motion.times, motion.q, np.ones(len(motion), bool)))


def plates(rig: Rig, motion: Motion, lag: float = 0.0) -> Wrenches:
    """The wrenches of one plate at ten times the rate, with a lag [s]."""
    fine = np.arange(motion.times[0], motion.times[-1], 0.1 / RATE)
    wrench = predicted_wrench(rig, motion, rig.prior, axes="world")
    wrench[:, 3:] += np.cross(motion.q[:, :3], wrench[:, :3])
    from scipy.interpolate import make_interp_spline

    values = make_interp_spline(motion.times, wrench, k=5)(fine)
    return shift_wrenches(Wrenches(fine, ("plate",), values[:, None]), -lag)


@pytest.fixture(scope="module")
def motion(robot: Rig) -> Motion:
    """Eight seconds of it."""
    return swinging(robot, 8.0, 3)


def test_rough_mass_ignores_the_prior(robot: Rig, motion: Motion) -> None:
    """The rough mass is that of the plates, whatever the prior's total."""
    from solver.signals import resample

    wrench = resample(plates(robot, motion), motion.times, PRESET)
    heavy = robot.with_prior(robot.prior.scaled(3.0 * robot.prior.total_mass))
    for prior_rig in (robot, heavy):
        assert compute_mass_readings(prior_rig, [("trial", motion, wrench)])[0].mass == pytest.approx(
            robot.prior.total_mass, rel=0.02
        )


def test_rough_mass_survives_missing_support(robot: Rig, motion: Motion) -> None:
    """An unmeasured support in a third of the trial does not lower the rough mass."""
    from solver.signals import resample

    wrench = resample(plates(robot, motion), motion.times, PRESET)
    values = wrench.values.copy()
    values[: len(values) // 3] *= 0.4
    partly = replace(wrench, values=values)
    assert compute_mass_readings(robot, [("trial", motion, partly)])[0].mass == pytest.approx(
        robot.prior.total_mass, rel=0.02
    )


@pytest.mark.parametrize("lag", [0.0, 0.012, -0.007])
def test_the_lag_of_the_plates_is_removed(robot: Rig, motion: Motion, lag: float) -> None:
    """Plates with a lag of some milliseconds give the same trial as plates without a lag."""
    late, timely = (prepare(robot, [moved(recorded(robot, motion, value), motion)]) for value in (lag, 0.0))
    assert late.lag.seconds == pytest.approx(lag, abs=5e-4)
    (lag_finding,) = [finding for finding in late.findings if finding.kind == LAG]
    assert lag_finding.evidence == pytest.approx(1e3 * late.lag.seconds)
    assert lag_finding.done is (Action.TAKEN_OFF if lag else Action.NOTHING)
    one, two = late.records[0].trial, timely.records[0].trial
    both = one.counted & two.counted
    assert (
        np.abs(one.wrenches.total[both, :3] - two.wrenches.total[both, :3]).max() < 0.02 * robot.prior.total_mass * 9.81
    )


def test_an_overridden_lag_is_kept(robot: Rig, motion: Motion) -> None:
    """If the lag is overridden, the wrenches keep the file's times, and the finding says so."""
    late = [moved(recorded(robot, motion, 0.012), motion)]
    kept = prepare(robot, late, Settings(plates=PlateOptions(report_only=(LAG,))))
    removed = prepare(robot, late)
    assert [finding.done for finding in kept.findings if finding.kind == LAG] == [Action.OVERRIDDEN]
    assert kept.records[0].plate_errors.lag == 0.0
    assert removed.records[0].plate_errors.lag == pytest.approx(0.012, abs=0.002)
    one, two = kept.records[0].trial, removed.records[0].trial
    both = one.counted & two.counted
    vertical = one.wrenches.total[:, 2]
    shifted = np.interp(one.wrenches.times + 0.012, one.wrenches.times, vertical)  # the file's forces, brought forwards
    error = np.abs(shifted - two.wrenches.total[:, 2])[both][5:-5]
    change = np.abs(vertical - two.wrenches.total[:, 2])[both][5:-5]
    assert error.max() < 0.2 * change.max()


def test_the_prior_is_scaled_to_the_plates(robot: Rig, motion: Motion) -> None:
    """A prior that is too heavy is scaled to the mass that the plates measure, with the same centres of mass."""
    heavy = robot.with_prior(robot.prior.scaled(1.04 * robot.prior.total_mass))
    found = prepare(heavy, [moved(recorded(robot, motion), motion)])
    assert found.rig.prior.total_mass == pytest.approx(robot.prior.total_mass, rel=0.005)
    assert found.rig.prior.coms == pytest.approx(robot.prior.coms)


def test_a_trial_without_motion_is_refused(robot: Rig, motion: Motion) -> None:
    """Forces without a motion are an error that names the trial."""
    with pytest.raises(InvalidValue, match="swing"):
        prepare(robot, [TrialRecord(recorded(robot, motion))])


def test_without_forces_there_is_a_study_without_result(robot: Rig, motion: Motion) -> None:
    """A study without forces has motions but no identification."""
    study = identify_motions(robot, [moved(Recording("swing"), motion)])
    assert study.identified is None
    assert study.mass is None
    assert study.record("swing").motion is not None


def test_a_simulated_robot_from_files_to_result(tmp_path: Path) -> None:
    """Six seconds of a robot's own data: physically consistent, and better than the prior."""
    robot = simulated_robot()
    robot.write(tmp_path)
    study = identify(load([tmp_path]), rig=robot.rig, settings=Settings(no_cross_validation=True))
    assert study.identification.estimate.satisfies == "consistent"
    (comparison,) = study.identification.comparisons
    assert np.mean(comparison.ratio_to_unweighted) < 0.8
    assert study.identification.parameters.total_mass == pytest.approx(robot.truth.total_mass, rel=0.01)


def test_a_recording_with_other_markers_is_left_out() -> None:
    """Of another subject, or of a marker set that shares no name, it is passed on without motion and named."""
    static = simulated_walker().recordings[0]
    calibration = calibrate([static], sex="male", mass=72.8)
    names = tuple(f"other_{k}" for k in range(len(static.markers.names)))
    cut = Recording("run", Markers(static.markers.times[:20], names, static.markers.positions[:20]))
    records = track_all(calibration, [static, cut])
    assert records[0].tracked is not None
    assert records[1].tracked is None
    assert any("run" in warning and "left out" in warning for warning in records[1].recording.warnings)


def test_a_real_squat_from_files_to_result(shared_data: Path) -> None:
    """Four seconds of a real squat, calibrated on standing alone: the result is physical and better than the prior."""
    folder = shared_data / "subject_a"
    markers = [folder / "markers" / f"{name}.trc" for name in NAMES]
    recordings = load(markers + [folder / "forces" / f"{name}.mot" for name in NAMES])
    cut = tuple(
        Recording(r.name, r.markers.part(0, 400), r.wrenches.part(0, 400))
        for r in recordings
        if r.markers is not None and r.wrenches is not None
    )
    study = identify(cut, sex="female", static=("static1",), settings=Settings(no_cross_validation=True))
    assert study.mass.mass == pytest.approx(60.05, abs=0.4)  # what these two trials read; see the data's own notes
    assert study.identification.estimate.satisfies == "consistent"
    squat = next(c for c in study.identification.comparisons if c.trial == "squats1")
    assert np.mean(squat.ratio) < 0.8
