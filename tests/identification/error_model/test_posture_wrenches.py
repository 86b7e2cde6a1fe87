"""Laws of the wrench errors that follow posture."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.dynamics import ground_wrench, integrate
from solver.dynamics.coordinates import continuous_coordinates
from solver.identification.error_model import posture_wrenches as module
from solver.identification.error_model.posture_wrenches import posture_wrenches
from solver.signals import smooth_motion
from solver.skeleton.rig import Rig
from solver.tracking.motion_errors import MotionErrors
from solver.values.inertials import InertialParameters
from solver.values.motion import Motion
from tests.identification.bodies import small_rig

SMALL = 1e-3
RATE = 200.0
EDGE = 4
"""Frames at either end where the spline of a changed motion is not that of the motion."""


@pytest.fixture(scope="module")
def rig() -> Rig:
    """A small body with inertias that are not those of its symmetry axes."""
    return small_rig()


@pytest.fixture(scope="module")
def motion(rig: Rig) -> Motion:
    """Half a second of all coordinates, the root's too."""
    generator = np.random.default_rng(3)
    phases, sizes = generator.uniform(0.0, 6.0, rig.nv), generator.uniform(0.1, 0.4, rig.nv)
    times = np.arange(0.0, 0.5, 1.0 / RATE)
    path = sizes * np.sin(2.0 * np.pi * 1.2 * times[:, None] + phases)
    return smooth_motion(rig, times, np.array([integrate(rig, rig.neutral, step) for step in path]), None)


def moment_about_root(wrench: np.ndarray, motion: Motion) -> np.ndarray:
    """Wrenches (N, 6) about the world origin, moved to the tracked root."""
    moved = wrench.copy()
    moved[:, 3:] -= np.cross(motion.q[:, :3], wrench[:, :3])
    return moved


def test_an_error_is_the_wrench_of_the_true_motion_less_that_of_the_tracked_one(
    rig: Rig, motion: Motion, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Inverse dynamics of the body, moved as the tracker answers soft tissue or a joint centre, agree."""
    monkeypatch.setattr(module, "TIME_STEP", 1.0 / RATE)
    errors = MotionErrors.of_rig(rig)
    errors = replace(errors, posture=motion.q[7])
    found = posture_wrenches(rig, motion, errors)
    joints, skeleton = 3 * (len(rig.links) - 1), len(errors.skeleton)
    tissues = found.values.shape[2] - skeleton
    response = np.concatenate([poses.response for poses in errors.responses(rig, motion.q)])
    still = moment_about_root(ground_wrench(rig, motion, rig.prior), motion)

    # soft tissue under the trunk, with the head's angle: the first coordinate beside the first link
    angle = continuous_coordinates(rig, motion.q)[:, 0] - continuous_coordinates(rig, motion.q[7:8])[:, 0]
    for axis in (0, 4):
        pull = np.zeros(response.shape[2])
        pull[joints : joints + 6] = errors.soft_tissue[0][:, axis]
        step = SMALL * angle[:, None] * (response @ pull)
        moved = smooth_motion(rig, motion.times, integrate(rig, motion.q, step), None)
        true = moment_about_root(ground_wrench(rig, moved, rig.prior), motion)
        compare((true - still)[found.frames] / SMALL, found.values[:, :, axis])

    for row in (0, skeleton - 1):
        error = errors.skeleton[row]
        shift = np.vstack([np.zeros(3), error[:joints].reshape(-1, 3)])
        other = rig.with_joint_positions(np.array([joint.position for joint in rig.joints]) + SMALL * shift)
        step = SMALL * (response @ error)
        moved = smooth_motion(other, motion.times, integrate(rig, motion.q, step), None)
        true = moment_about_root(ground_wrench(other, moved, rig.prior), motion)
        # constant displacements are other parameters of the tracked body
        changed = InertialParameters(rig.links, rig.prior.values + SMALL * found.origins[row])
        same = moment_about_root(ground_wrench(rig, motion, changed), motion)
        compare((true - same)[found.frames] / SMALL, found.values[:, :, tissues + row])


def compare(expected: np.ndarray, found: np.ndarray) -> None:
    """Equal, but for differences of the splines and of the second order."""
    size = np.abs(expected[EDGE:-EDGE]).max(axis=0)
    assert size.min() > 1e-4
    assert np.abs(expected - found)[EDGE:-EDGE].max(axis=0) == pytest.approx(0.0, abs=2e-2 * size.max())


def test_long_motions_have_no_more_samples(rig: Rig, motion: Motion, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of a long motion are left out, and the others stand for them; a motion of two frames has none."""
    monkeypatch.setattr(module, "TIME_STEP", 1.0 / RATE)
    monkeypatch.setattr(module, "CHUNK_FRAMES", 12)
    whole = posture_wrenches(rig, motion, MotionErrors.of_rig(rig))
    monkeypatch.setattr(module, "MAX_SAMPLES", len(motion) // 2)
    half = posture_wrenches(rig, motion, MotionErrors.of_rig(rig))
    assert np.array_equal(whole.frames, np.arange(1, len(motion) - 1))
    assert half.stride * len(half.frames) == pytest.approx(len(motion), rel=0.2)
    np.testing.assert_allclose(half.values, whole.values[half.frames - 1])
    assert not len(posture_wrenches(rig, motion.part(0, 2), MotionErrors.of_rig(rig)).frames)
