"""Poses of many frames at once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.dynamics import integrate
from solver.skeleton.rig import Rig
from solver.tracking import Targets, Tracker, TrackingOptions, track_targets
from solver.tracking.batch_solver import BatchSolver
from solver.tracking.recording_poses import FRAMES_PER_BLOCK, TargetSamples
from solver.values.motion import Markers
from tests.tracking.bodies import cloud, farthest, seen_from, swinging

RATE = 200.0
NOISE = 0.003
"""[m] Of markers, which no pose fits then."""
EACH = TrackingOptions(time_budget=3600.0)
"""Has every frame followed: a budget is each frame's own."""


def noisy(rig: Rig, q: np.ndarray, seed: int = 0) -> Markers:
    """Markers of a motion, with noise."""
    seen = seen_from(rig, cloud(rig), q, RATE)
    return replace(
        seen, positions=seen.positions + NOISE * np.random.default_rng(seed).normal(size=seen.positions.shape)
    )


def targets_of(rig: Rig, markers: Markers) -> Targets:
    return Targets.from_markers(rig, cloud(rig), markers)


def test_a_batch_converges_to_the_poses_of_sequential_tracking(person: Rig) -> None:
    """Frames solved between tracked ones have the poses of sequential tracking, at joint limits too."""
    q = swinging(person, 160, rate=RATE)
    knee = person.q_slices[person.index("left_shank")].start
    q[:, knee] = np.linspace(0.4, -0.5, 160)
    targets = targets_of(person, noisy(person, q))
    together, each = track_targets(person, targets, TrackingOptions()), track_targets(person, targets, EACH)
    low = person.limits.lower[person.v_slices[person.index("left_shank")].start - 6]
    assert (each.q[:, knee] < low + 1e-6).sum() > 40
    assert together.converged.all()
    assert farthest(person, together.q, each.q) < 1e-5
    np.testing.assert_allclose(together.errors, each.errors, atol=1e-7)


def test_gaps_are_treated_as_in_sequential_tracking(person: Rig) -> None:
    """Frames with too few markers, also at the start, and markers near gaps give the same poses."""
    seen = noisy(person, swinging(person, 120, rate=RATE))
    positions = seen.positions.copy()
    positions[:7] = positions[60:75] = np.nan
    positions[30:41, 5] = positions[100:, 9] = np.nan
    targets = targets_of(person, replace(seen, positions=positions))
    together, each = track_targets(person, targets, TrackingOptions()), track_targets(person, targets, EACH)
    np.testing.assert_array_equal(together.is_tracked, each.is_tracked)
    assert farthest(person, together.q, each.q) < 1e-5
    assert together.warnings == each.warnings


def test_blocks_do_not_change_the_result(person: Rig) -> None:
    """A recording of several blocks has the same poses and weight factors as in one block."""
    few = swinging(person, 50, rate=RATE)
    q = np.tile(np.concatenate([few, few[::-1]]), (12, 1))[: FRAMES_PER_BLOCK + 90]
    seen = noisy(person, q)
    positions = seen.positions.copy()
    positions[FRAMES_PER_BLOCK - 5 : FRAMES_PER_BLOCK + 5, 3] = np.nan
    targets = targets_of(person, replace(seen, positions=positions))
    whole = track_targets(person, targets, TrackingOptions())
    first = FRAMES_PER_BLOCK - 40
    part = targets_of(person, replace(seen, positions=positions).part(first, len(seen)))
    assert farthest(person, whole.q[first:], track_targets(person, part, TrackingOptions()).q) < 1e-5
    shares = TargetSamples(targets, 0.1).weight_factors(0, len(targets))
    part_of_them = TargetSamples(targets, 0.1).weight_factors(FRAMES_PER_BLOCK, FRAMES_PER_BLOCK + 60)
    assert part_of_them is not None
    np.testing.assert_array_equal(part_of_them, shares[FRAMES_PER_BLOCK : FRAMES_PER_BLOCK + 60])


def test_the_equations_are_the_derivatives_of_the_cost(person: Rig) -> None:
    """Gradient and Hessian agree with finite differences of the sum of squares."""
    targets = targets_of(person, noisy(person, swinging(person, 3, rate=RATE)))
    options = TrackingOptions(posture_weight=0.0, damping=0.0, limits=False)
    many = BatchSolver(Tracker(person, targets.tasks, options).solver)
    measured, weights = targets.positions.positions[:1], np.ones((1, len(targets.positions.task.names)))
    q, tiny = swinging(person, 1, seed=3), 1e-3
    (matrix,), (slope,), _ = many._equations(q, measured, weights)
    for step in np.random.default_rng(1).normal(size=(5, person.nv)):
        at = [integrate(person, q, sign * tiny * step[None]) for sign in (-1.0, 0.0, 1.0)]
        below, here, above = (0.5 * weights.size * many._equations(x, measured, weights)[2][0] ** 2 for x in at)
        assert (above - below) / (2.0 * tiny) == pytest.approx(-slope @ step, rel=1e-4)
        assert (above - 2.0 * here + below) / tiny**2 == pytest.approx(step @ matrix @ step, rel=1e-4)
