"""Laws of the wrench error caused by soft-tissue motion and joint-centre error."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.figures import coverage
from solver.calibration.calibration_file import CALIBRATION
from solver.calibration.error_draws import CalibrationErrorDraws
from solver.dynamics import difference
from solver.identification.identify import IdentifyOptions, identify_trials
from solver.identification.result import SKELETON, SKIN
from solver.study.soft_tissue_error import _TrackedBody, compute_soft_tissue_errors
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
    assert markers is not None
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


def test_a_calibration_without_deviations_causes_no_wrench_error(given: coverage.Case) -> None:
    """Samples that move no joint centre and no marker change no wrench; those of a real calibration do."""
    found = identify_trials(given.rig, given.trials, IdentifyOptions(cross_validate=False, jobs=1, bootstrap=0))
    known = given.calibration.error_draws
    assert known is not None
    still = replace(
        given.calibration, error_draws=replace(known, prior=0.0 * known.prior[:1], soft_tissue=known.soft_tissue[:1])
    )
    (first, *_) = compute_soft_tissue_errors(given.rig, still, given.records[:1], found)
    assert np.nanmax(np.abs(first.errors[SKELETON])) < 1e-6
    assert np.nanmax(np.abs(first.errors[SKIN])) > 0.1


def test_a_calibration_read_from_a_file_causes_the_same_wrench_errors(given: coverage.Case, tmp_path: Path) -> None:
    """Skin and skeleton widen the intervals alike whether the calibration was just made or read from its file."""
    read = CALIBRATION.read(CALIBRATION.write(tmp_path / "calibration.json", given.calibration))
    found = identify_trials(given.rig, given.trials, IdentifyOptions(cross_validate=False, jobs=1, bootstrap=0))
    here, there = (
        compute_soft_tissue_errors(given.rig, each, given.records[:1], found) for each in (given.calibration, read)
    )
    for cause in (SKIN, SKELETON):
        assert np.nanmax(np.abs(here[0].errors[cause])) > 0.1
        np.testing.assert_allclose(there[0].errors[cause], here[0].errors[cause], atol=1e-9)
