"""How far skin and skeleton may have led wrenches: poses answer as the tracker does."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.figures import coverage
from solver.calibration.deviations import Deviations
from solver.dynamics import difference
from solver.identification.identify import IdentifyOptions, identify
from solver.identification.result import SKELETON, SKIN
from solver.study.led_aside import _Body, led_aside
from solver.tracking import track
from solver.tracking.track import attached_targets

FRAMES = 40


@pytest.fixture(scope="module")
def given() -> coverage.Case:
    """A simulated volunteer, measured, calibrated and tracked."""
    return coverage.case(1)


def test_poses_answer_to_other_marker_places_as_the_tracker_does(given: coverage.Case) -> None:
    """Tracked again with markers fastened elsewhere by a millimetre, the joints move as the linear answer says."""
    record, attachments = given.records[0], given.calibration.attachments
    markers = record.recording.markers
    assert markers is not None
    markers = markers.part(0, FRAMES)
    before = track(given.rig, attachments, markers)
    names = tuple(each.marker for each in attachments)
    aside = 1e-3 * np.random.default_rng(2).standard_normal((len(names), 3))
    moved = [replace(each, position=each.position + own) for each, own in zip(attachments, aside)]
    after = track(given.rig, moved, markers)
    points = np.concatenate([np.zeros((len(given.rig.links) - 1, 3)), aside])[None]
    targets, _ = attached_targets(given.rig, attachments, markers)
    body = _Body.of(given.rig, targets, before.q)
    told = body.steps(Deviations(names, np.zeros((0, *points.shape[1:])), points))[SKELETON][0]
    step = difference(given.rig, before.q, after.q)
    assert np.linalg.norm(step - told) < 0.15 * np.linalg.norm(step)


def test_a_calibration_without_doubts_leads_nothing_aside(given: coverage.Case) -> None:
    """Draws that move no joint centre and no marker leave every wrench as it was; those of a real one do not."""
    found = identify(given.rig, given.trials, IdentifyOptions(cross_validate=False, jobs=1, bootstrap=0))
    known = given.calibration.deviations
    assert known is not None
    still = replace(
        given.calibration, deviations=replace(known, skeleton=0.0 * known.skeleton[:1], skin=known.skin[:1])
    )
    (first, *_) = led_aside(given.rig, still, given.records[:1], found)
    assert np.nanmax(np.abs(first.errors[SKELETON])) < 1e-6
    assert np.nanmax(np.abs(first.errors[SKIN])) > 0.1
