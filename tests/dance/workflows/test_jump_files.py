"""A repaired jump stays feasible when it is read from its file or from the frames of a scene."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import solver
from benchmarks.figures.jump import CHECKS, RATE, Leap, keyed_jump, measure_flight
from solver.contacts.schedule import Schedule
from solver.dance.authoring.authored_dance import EXACT_FLIGHT_RATE
from solver.dance.authoring.timeline import dance_from_timeline
from solver.dance.workflows.loading import load_authored_dance
from solver.options.authoring import RepairOptions
from solver.rigs import human
from solver.scene.dance_folder import AUTHORED_FILE, MOTION_FILE, SUMMARY_FILE
from solver.scene.motion_record import MOTION
from solver.scene.summary import SUMMARY
from solver.scene.timeline import SceneTimeline, flights_between_strips


@pytest.mark.parametrize(
    "frames", [25.0, 100.0, *(pytest.param(rate, marks=pytest.mark.slow) for rate in (24.0, 30.0, 60.0))]
)
def test_a_repaired_jump_survives_a_scene(frames: float, tmp_path: Path) -> None:
    """In single precision, with take-off and landing between frames: feasible, centre of mass within 0.01 mm of the
    parabola, and nothing remains to repair. Baked onto whole frames it fails.
    """
    jump = keyed_jump(human(1.75, 70.0, "male"), Leap(in_the_air=0.29))
    answer = solver.repair(jump, options=RepairOptions(passes=5), rate=frames)
    assert answer.feasible
    answer.write(tmp_path / "jump", rate=frames)
    for keyed in (
        load_authored_dance(tmp_path / "jump" / AUTHORED_FILE),
        dance_from_timeline(from_scene(tmp_path / "jump", frames)),
    ):
        verdict = solver.check(keyed)
        assert verdict.feasible, verdict.message
        parabola, drift, spin = measure_flight(jump.rig, keyed.motion(RATE), jump)
        assert parabola < 1e-5
        assert drift < 0.005
        assert spin < 0.005
        assert solver.repair(keyed).status == "unchanged"
    baked = solver.check(dance_from_timeline(from_scene(tmp_path / "jump", frames, baked=True)))
    assert baked.checks.get_margin("flight").failed.any()


def test_single_precision_far_from_the_origin(tmp_path: Path) -> None:
    """A jump 5 m away passes every check, one 40 m away fails in less than 5 % of its moments."""
    jump = keyed_jump(human(1.75, 70.0, "male"), Leap(in_the_air=0.29))
    solver.repair(jump, options=RepairOptions(passes=5), rate=24.0).write(tmp_path / "jump", rate=24.0)
    near, far = (solver.check(dance_from_timeline(from_scene(tmp_path / "jump", 24.0, away=x))) for x in (5.0, 40.0))
    assert near.feasible
    assert not far.feasible
    assert far.checks.failed.mean() < 0.05


def from_scene(folder: Path, frames: float, away: float = 0.0, *, baked: bool = False) -> SceneTimeline:
    """A dance as a scene samples it: all samples around its flight, elsewhere those on whole frames.

    Args:
        folder: of the dance.
        frames: a second.
        away: [m] distance of the jump from the origin, where positions are rounded.
        baked: only whole frames, around the flight too.
    """
    record, summary = MOTION.read(folder / MOTION_FILE), SUMMARY.read(folder / SUMMARY_FILE)
    drawn = record.scene
    ((take_off, landing),) = flights_between_strips((strip.start, strip.stop) for strip in summary.strips)
    near = (drawn.times > take_off - 0.1) & (drawn.times < landing + 0.1)
    whole = np.abs(drawn.times * frames - np.round(drawn.times * frames)) < 1e-6
    shown = whole if baked else near | whole
    offset = [away, 0.0, 0.0]
    root, rotations, translations = (
        part[shown].astype(np.float32).astype(float)
        for part in (drawn.root + offset, drawn.rotations, drawn.translations)
    )
    return SceneTimeline(
        "jump", record.rig, drawn.times[shown], root - offset, rotations, translations, summary.keys, summary.strips,
        checks=CHECKS,
    )  # fmt: skip


def test_the_rate_is_doubled_only_with_flights() -> None:
    """A rate is doubled until it is high enough, and kept without flights."""
    keyed = keyed_jump(human(1.75, 70.0, "male"))
    assert keyed.sampling_rate(24.0) == 192.0
    assert keyed.sampling_rate(24.0, EXACT_FLIGHT_RATE) == 768.0
    assert keyed.sampling_rate(100.0) == 200.0
    assert keyed.sampling_rate(500.0) == 500.0
    standing = Schedule.constant(keyed.schedule.phases[0].anchors, keyed.start, keyed.stop)
    assert replace(keyed, schedule=standing).sampling_rate(24.0) == 24.0


def test_strips_are_shortened_at_flights(tmp_path: Path) -> None:
    """Strips are shorter beside a flight by less than a millionth of a second, and nowhere else."""
    jump = keyed_jump(human(1.75, 70.0, "male"))
    solver.repair(jump, options=RepairOptions(passes=1, programs=1)).write(tmp_path / "jump", rate=25.0)
    schedule = dance_from_timeline(from_scene(tmp_path / "jump", 25.0)).schedule
    assert schedule.index_at(np.array([0.85 - 1e-6, 0.85, 1.15, 1.15 + 1e-6])).tolist() == [0, 1, 1, 2]
    assert (schedule.start, schedule.stop) == (0.0, 2.0)


def test_fewer_samples_are_stored_away_from_flights() -> None:
    """Half a second before and after a flight all are stored, elsewhere at least a hundred a second; both ends stay."""
    jump = keyed_jump(human(1.75, 70.0, "male"))
    answer = solver.repair(jump, options=RepairOptions(passes=1, programs=3), rate=24.0)
    assert answer.status != "unchanged"
    samples = answer.dance.samples
    ((take_off, landing),) = jump.flights
    middle = 0.5 * (samples.times[1:] + samples.times[:-1])
    near = (middle > take_off - 0.49) & (middle < landing + 0.49)
    away = (middle < take_off - 0.51) | (middle > landing + 0.51)
    steps = np.diff(samples.times)
    np.testing.assert_allclose(steps[near], 1.0 / 768.0, atol=1e-9)
    assert away.sum() > 50
    np.testing.assert_allclose(steps[away], 4.0 / 768.0, atol=1e-9)
    assert (samples.times[0], samples.times[-1]) == (jump.start, jump.stop)
