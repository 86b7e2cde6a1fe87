"""Laws of joint estimates: bends towards plates, maps that trials agree on, and the study that uses them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import solver
from benchmarks.figures.together import left_of, work_of
from solver import InvalidValue, Settings
from solver.dynamics.wrench_slopes import WrenchSlopes
from solver.errors import Cancelled
from solver.report.study_folder import write_study
from solver.study.together.bending import Asked, Spline, bent
from solver.study.together.leading import Lesson, agreed
from solver.study.together.rounds import TogetherOptions, together

FRAMES, RATE, FREEDOMS, CLUES = 300, 100.0, 4, 6
TIMES = np.arange(FRAMES) / RATE


def made(bend: np.ndarray, seed: int, stiffness: float = 1e-6) -> Asked:
    """Frames whose wrenches ask exactly for a bend (N, FREEDOMS), at a price of leaving the markers."""
    draw = np.random.default_rng(seed)
    place, rate, acceleration = (draw.standard_normal((6, FREEDOMS)) * scale for scale in (50.0, 1.0, 10.0))
    slopes = WrenchSlopes(*(np.broadcast_to(each, (FRAMES, 6, FREEDOMS)) for each in (place, rate, acceleration)))
    first = np.gradient(bend, TIMES, axis=0)
    left = bend @ place.T + first @ rate.T + np.gradient(first, TIMES, axis=0) @ acceleration.T
    return Asked(TIMES, np.tile(stiffness * np.eye(FREEDOMS), (FRAMES, 1, 1)), slopes, left, np.ones((FRAMES, 6)))


def wave(seed: int) -> np.ndarray:
    """A bend (N, FREEDOMS) of a few millimetres, still at its ends."""
    draw = np.random.default_rng(seed)
    slow = np.sin(2.0 * np.pi * draw.uniform(0.5, 2.0, FREEDOMS) * TIMES[:, None])
    return 0.005 * np.hanning(FRAMES)[:, None] * slow


def test_wrenches_that_ask_for_a_bend_get_it() -> None:
    """Where markers cost little the bend is the one that the wrenches were made of, found in one step."""
    wanted, spline = wave(0), Spline.over(TIMES[0], TIMES[-1], 0.05)
    found = bent(spline, np.zeros((spline.unknowns, FREEDOMS)), made(wanted, 1))
    np.testing.assert_allclose(spline.values(TIMES, found)[20:-20], wanted[20:-20], atol=2e-4)


def test_markers_hold_a_motion_that_is_dear_to_them() -> None:
    """The dearer the markers, the less the motion is bent."""
    spline = Spline.over(TIMES[0], TIMES[-1], 0.05)
    still = np.zeros((spline.unknowns, FREEDOMS))
    sizes = [np.abs(bent(spline, still, made(wave(0), 1, price))).max() for price in (1e-3, 1e5, 1e9)]
    assert sizes[0] > sizes[1] > sizes[2]
    assert sizes[2] < 1e-4


def test_splines_are_the_curves_they_draw() -> None:
    """Unknowns all alike draw a constant, with no slope."""
    spline = Spline.over(0.0, 3.0, 0.05)
    _, basis = spline.at(TIMES)
    np.testing.assert_allclose(basis.sum(axis=1), np.tile([1.0, 0.0, 0.0], (FRAMES, 1)), atol=1e-9)


def lesson(seed: int, slopes: np.ndarray) -> Lesson:
    """A trial whose bend follows its clues by a map (CLUES, FREEDOMS)."""
    clues = np.tile(wave(seed + 50), 2)[:, :CLUES] * 200.0 + np.tile(wave(seed + 70), 2)[:, -CLUES:] * 100.0
    bend = clues @ slopes
    return Lesson(TIMES, clues, bend, np.ones(FRAMES, bool), made(bend, 1))


def test_a_map_that_trials_share_is_found() -> None:
    """Three trials by one map agree on one that leaves little of a fourth's wrenches."""
    slopes = 0.005 * np.random.default_rng(2).standard_normal((CLUES, FREEDOMS))
    *taught, fourth = (lesson(seed, slopes) for seed in range(4))
    found = agreed(taught)
    assert found is not None
    assert fourth.left(found) < 0.3


def test_trials_that_contradict_each_other_lead_nothing() -> None:
    """Where each trial has a map of its own, and where nothing is taught, there is none."""
    draw = np.random.default_rng(4)
    contrary = [lesson(seed, 0.005 * draw.standard_normal((CLUES, FREEDOMS))) for seed in range(4)]
    assert agreed(contrary) is None
    assert agreed([]) is None
    assert agreed([replace(contrary[0], taught=np.zeros(FRAMES, bool))]) is None


def test_nonsense_is_refused() -> None:
    """Options that hide what a map is learnt from, joints instead of markers, and spreads of nothing."""
    with pytest.raises(InvalidValue, match="--flight-only"):
        Settings(together=True, flight_only=True)
    with pytest.raises(InvalidValue, match="--soft"):
        Settings(together=True, soft=3.0)
    with pytest.raises(InvalidValue, match="positive"):
        TogetherOptions(force=0.0)
    robot = solver.simulated_robot()
    with pytest.raises(InvalidValue, match="markers"):
        solver.identify_study(robot.recordings, rig=robot.rig, settings=Settings(together=True, bootstrap=0))


def test_rounds_leave_less_of_the_wrenches_for_little_of_the_markers(shared_data: Path) -> None:
    """Together, motion and inertials explain a real run's plates far better, its markers nearly as well."""
    work = work_of([shared_data / "subject_e" / f"run200{kind}" for kind in (".trc", ".mot")], "male")
    before = work.prepared(work.records)
    after, found = together(replace(work, choices=TogetherOptions(rounds=1)))
    first, last = left_of(before, work.identified(before)), left_of(after, found)
    assert last[0] < 0.5 * first[0]
    assert last[2] < first[2] + 0.5
    assert found.estimate.satisfies == "consistent"


def test_a_study_keeps_the_map_that_led_it(shared_data: Path, tmp_path: Path) -> None:
    """What led the motion of a study is written, and a comparison leads the motion of another trial by it."""
    recordings = solver.load([shared_data / "subject_e"])
    settings = Settings(together=True, bootstrap=0, cross_validate=False)
    study = solver.identify_study(recordings[:1], sex="male", settings=settings)
    assert study.lead is not None
    write_study(study, tmp_path / "out")
    told = json.loads((tmp_path / "out" / "result.json").read_text())["details"]["lead"]
    np.testing.assert_allclose(np.array(told), study.lead)
    assert study.calibration is not None
    assert study.identification is not None
    parameters, prior = study.identification.parameters, study.identification.prior
    led, plain = (
        solver.compare_study(recordings[1:], study.calibration, parameters, prior, Settings(lead=lead))[0][0]
        for lead in (tuple(map(tuple, told)), None)
    )
    assert led.identified.rmse[1] < plain.identified.rmse[1]


def test_hidden_trials_are_told_one_by_one_and_can_be_cancelled() -> None:
    """While trials are hidden in turn, progress names each and goes on; who cancels there is heard (simulated)."""
    recordings = solver.simulated_person().recordings[:2]
    settings = Settings(together=True, bootstrap=0)
    told: list[tuple[float, str]] = []

    def listening(fraction: float, message: str) -> None:
        told.append((fraction, message))
        if len([words for _, words in told if words.startswith("explaining")]) == 2:
            raise Cancelled("enough")

    with pytest.raises(Cancelled):
        solver.identify_study(recordings, sex="male", height=1.76, settings=settings, progress=listening)
    assert [words for _, words in told if words.startswith("explaining")] == [
        f"explaining {name} by the others" for name in [recording.name for recording in recordings]
    ]
    fractions = [fraction for fraction, _ in told]
    assert fractions == sorted(fractions)


def test_trials_without_forces_say_so() -> None:
    """Markers alone identify nothing and lead nowhere: the reason is that no trial has forces (simulated)."""
    recordings = [replace(recording, wrenches=None) for recording in solver.simulated_person().recordings[:2]]
    study = solver.identify_study(recordings, sex="male", height=1.76, settings=Settings(together=True, bootstrap=0))
    assert study.identification is None
    assert any("no trial has forces" in warning for warning in study.warnings)
    assert not any("agree on nothing" in warning for warning in study.warnings)
