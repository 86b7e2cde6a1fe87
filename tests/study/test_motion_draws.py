"""Laws of the motions drawn from the errors of a tracked motion."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.figures import coverage
from solver.calibration.calibration import CALIBRATION
from solver.dynamics import difference
from solver.signals import smooth_motion
from solver.study.motion_draws import SKELETON, SKIN, draw_motions
from solver.tracking.motion_errors import MotionErrors

FRAMES = 40


@pytest.fixture(scope="module")
def given() -> coverage.Case:
    """A simulated volunteer, measured, calibrated and tracked."""
    return coverage.draw_case(1)


def test_draws_without_errors_are_the_tracked_motion(given: coverage.Case) -> None:
    """Without errors of the skeleton its draws change no pose; those of soft tissue do."""
    known = given.calibration.motion_errors
    assert known is not None
    changes = _largest_changes(given, replace(known, skeleton=0.0 * known.skeleton))
    assert changes[SKELETON] < 1e-6
    assert changes[SKIN] > 1e-3


def test_a_calibration_read_from_a_file_has_the_same_draws(given: coverage.Case, tmp_path: Path) -> None:
    """Whether the calibration was just made or read from its file, the motions are the same."""
    read = CALIBRATION.read(CALIBRATION.write(tmp_path / "calibration.json", given.calibration))
    assert read.motion_errors is not None
    assert given.calibration.motion_errors is not None
    here, there = (_largest_changes(given, each) for each in (given.calibration.motion_errors, read.motion_errors))
    assert min(here.values()) > 1e-3
    assert there == pytest.approx(here, abs=1e-9)


def _largest_changes(given: coverage.Case, errors: MotionErrors) -> dict[str, float]:
    """[rad], [m] Largest change of a coordinate in any draw of each cause, from the tracked motion, filtered alike."""
    record = given.records[0]
    assert record.trial is not None
    assert record.trial.preset is not None
    assert record.poses is not None
    times, q, preset = record.poses.times[:FRAMES], record.poses.q[:FRAMES], record.trial.preset
    filtered, largest = smooth_motion(given.rig, times, q, preset), {SKIN: 0.0, SKELETON: 0.0}
    for cause, _, motion in draw_motions(given.rig, errors, times, q, preset):
        largest[cause] = max(largest[cause], float(np.abs(difference(given.rig, filtered.q, motion.q)).max()))
    return largest
