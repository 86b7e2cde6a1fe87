"""Laws of the motions drawn from the errors of a tracked motion."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.figures.people import draw_person
from solver.calibration.calibration import CALIBRATION, Calibration
from solver.dynamics import difference
from solver.signals import preset_of, smooth_motion
from solver.study.motion_draws import SKELETON, SKIN, draw_motions
from solver.tracking import TrackedMotion, track_markers
from solver.tracking.motion_errors import MotionErrors

FRAMES = 40


@pytest.fixture(scope="module")
def given() -> tuple[Calibration, TrackedMotion]:
    """A simulated person, measured, calibrated and tracked."""
    person = draw_person(1, {"squats": 3.0})
    calibration, markers = person.calibrated(), person.recordings[1].markers
    assert markers is not None
    return calibration, track_markers(calibration.rig, calibration.attachments, markers.part(0, FRAMES))


def test_draws_without_errors_are_the_tracked_motion(given: tuple[Calibration, TrackedMotion]) -> None:
    """Without errors of the skeleton its draws change no pose; those of soft tissue do."""
    known = given[0].motion_errors
    assert known is not None
    changes = _largest_changes(given, replace(known, skeleton=0.0 * known.skeleton))
    assert changes[SKELETON] < 1e-6
    assert changes[SKIN] > 1e-3


def test_a_calibration_read_from_a_file_has_the_same_draws(
    given: tuple[Calibration, TrackedMotion], tmp_path: Path
) -> None:
    """Whether the calibration was just made or read from its file, the motions are the same."""
    read = CALIBRATION.read(CALIBRATION.write(tmp_path / "calibration.json", given[0]))
    assert read.motion_errors is not None
    assert given[0].motion_errors is not None
    here, there = (_largest_changes(given, each) for each in (given[0].motion_errors, read.motion_errors))
    assert min(here.values()) > 1e-3
    assert there == pytest.approx(here, abs=1e-9)


def _largest_changes(given: tuple[Calibration, TrackedMotion], errors: MotionErrors) -> dict[str, float]:
    """[rad], [m] Largest change of a coordinate in any draw of each cause, from the tracked motion, filtered alike."""
    rig, times, q, preset = given[0].rig, given[1].times, given[1].q, preset_of("human_8hz")
    filtered, largest = smooth_motion(rig, times, q, preset), {SKIN: 0.0, SKELETON: 0.0}
    for cause, _, motion in draw_motions(rig, errors, times, q, preset):
        largest[cause] = max(largest[cause], float(np.abs(difference(rig, filtered.q, motion.q)).max()))
    return largest
