"""Laws of the motions drawn from the errors of a calibration."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.figures import coverage
from solver.calibration.calibration import CALIBRATION, Calibration
from solver.calibration.error_draws import CalibrationErrorDraws
from solver.dynamics import difference
from solver.signals import smooth_motion
from solver.study.motion_draws import SKELETON, SKIN, _TrackedBody, draw_motions
from solver.tracking import track_markers
from solver.tracking.track import targets_from_attachments

FRAMES = 40


@pytest.fixture(scope="module")
def given() -> coverage.Case:
    """A simulated volunteer, measured, calibrated and tracked."""
    return coverage.draw_case(1)


def test_poses_respond_to_displaced_markers_as_the_tracker_does(given: coverage.Case) -> None:
    """Tracked again with attachments displaced by a millimetre, the joints move as the linear response predicts."""
    record, attachments = given.records[0], given.calibration.attachments
    markers = record.recording.markers
    markers = markers.part(0, FRAMES)
    before = track_markers(given.rig, attachments, markers)
    names = tuple(each.marker for each in attachments)
    displacement = 1e-3 * np.random.default_rng(2).standard_normal((len(names), 3))
    moved = [replace(each, position=each.position + own) for each, own in zip(attachments, displacement)]
    after = track_markers(given.rig, moved, markers)
    points = np.concatenate([np.zeros((len(given.rig.links) - 1, 3)), displacement])[None]
    targets, _ = targets_from_attachments(given.rig, attachments, markers)
    body = _TrackedBody.from_configurations(given.rig, targets, before.q)
    predicted = body.pose_changes(CalibrationErrorDraws(names, np.zeros((0, *points.shape[1:])), points))[SKELETON][0]
    step = difference(given.rig, before.q, after.q)
    assert np.linalg.norm(step - predicted) < 0.15 * np.linalg.norm(step)


def test_draws_without_deviations_are_the_tracked_motion(given: coverage.Case) -> None:
    """Draws that move no joint centre and no marker change no pose; those of a real calibration do."""
    known = given.calibration.error_draws
    assert known is not None
    still = replace(
        given.calibration, error_draws=replace(known, prior=0.0 * known.prior[:1], soft_tissue=known.soft_tissue[:1])
    )
    changes = _largest_changes(given, still)
    assert changes[SKELETON] < 1e-6
    assert changes[SKIN] > 1e-3


def test_a_calibration_read_from_a_file_has_the_same_draws(given: coverage.Case, tmp_path: Path) -> None:
    """Whether the calibration was just made or read from its file, the motions are the same."""
    read = CALIBRATION.read(CALIBRATION.write(tmp_path / "calibration.json", given.calibration))
    here, there = _largest_changes(given, given.calibration), _largest_changes(given, read)
    assert min(here.values()) > 1e-3
    assert there == pytest.approx(here, abs=1e-9)


def _largest_changes(given: coverage.Case, calibration: Calibration) -> dict[str, float]:
    """[rad], [m] Largest change of a coordinate in any draw of each cause, from the tracked motion, filtered alike."""
    record = given.records[0]
    markers, trial = record.recording.markers, record.trial
    assert trial.preset is not None
    tracked = track_markers(given.rig, calibration.attachments, markers.part(0, FRAMES))
    targets, _ = targets_from_attachments(given.rig, calibration.attachments, markers.part(0, FRAMES))
    filtered = smooth_motion(given.rig, targets.times, tracked.q, trial.preset)
    largest = {SKIN: 0.0, SKELETON: 0.0}
    for cause, _, motion in draw_motions(given.rig, calibration, targets, tracked.q, trial.preset):
        change = float(np.abs(difference(given.rig, filtered.q, motion.q)).max())
        largest[cause] = max(largest[cause], change)
    return largest
