"""The tracker's answers to displaced markers and joint centres are those of the errors' linear responses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from benchmarks.figures.people import draw_person
from solver.dynamics import difference
from solver.tracking import track_markers
from solver.tracking.motion_errors import MotionErrors

FRAMES = 40


def test_the_tracker_answers_a_displaced_skeleton_as_its_errors_say() -> None:
    """Tracked again with attachments and joint centres displaced by a millimetre, the joints move as predicted."""
    person = draw_person(1, {"squats": 3.0})
    calibration, measured = person.calibrated(), person.recordings[1].markers
    assert measured is not None
    rig, attachments, markers = calibration.rig, calibration.attachments, measured.part(0, FRAMES)
    generator = np.random.default_rng(2)
    displacements = 1e-3 * generator.standard_normal((len(attachments), 3))
    centres = 1e-3 * generator.standard_normal((len(rig.links) - 1, 3))
    moved = [replace(each, position=each.position + own) for each, own in zip(attachments, displacements)]
    joints = np.array([joint.position for joint in rig.joints]) + np.vstack([np.zeros(3), centres])
    before = track_markers(rig, attachments, markers)
    after = track_markers(rig.with_joint_positions(joints), moved, markers)
    # a covariance of rank one has one error, the displacement itself
    theta = np.concatenate([centres.reshape(-1), displacements.reshape(-1)])
    errors = MotionErrors.from_attachments(rig, attachments, before.q[0], np.outer(theta, theta))
    (error,) = errors.skeleton
    error = error * np.sign(error[: centres.size] @ centres.reshape(-1))
    predicted = np.concatenate([poses.response @ error for poses in errors.responses(rig, before.q)])
    step = difference(rig, before.q, after.q)
    assert np.linalg.norm(step - predicted) < 0.15 * np.linalg.norm(step)
