"""Tracking sample by sample."""

from __future__ import annotations

import numpy as np
import pytest

from solver.base.errors import InvalidValue
from solver.skeleton.rig import Rig
from solver.tracking import Targets, TargetSample, Tracker, TrackingOptions
from tests.tracking.bodies import cloud, seen_from, swinging

RATE = 100.0


@pytest.fixture(scope="module")
def targets(person: Rig) -> Targets:
    return Targets.from_markers(person, cloud(person), seen_from(person, cloud(person), swinging(person, 30)))


def test_too_few_points_keep_the_pose(person: Rig, targets: Targets) -> None:
    """A sample without measurements is marked and moves nothing, and tracking continues after it."""
    tracker = Tracker(person, targets.tasks)
    sample = targets.sample(0)
    assert sample.positions is not None
    nothing = TargetSample(np.full_like(sample.positions, np.nan))
    assert not tracker.step(nothing, 1.0 / RATE).is_tracked
    assert tracker.q is None
    first = tracker.step(sample, 1.0 / RATE)
    held = tracker.step(nothing, 1.0 / RATE)
    assert (first.is_tracked, held.is_tracked) == (True, False)
    np.testing.assert_array_equal(held.q, first.q)
    assert tracker.step(targets.sample(2), 1.0 / RATE).error < 1e-3


def test_a_lost_fit_is_restarted(person: Rig, targets: Targets) -> None:
    """A start far off is replaced as soon as the error is large."""
    tracker = Tracker(person, targets.tasks, TrackingOptions(iterations=1))
    far = person.neutral
    far[:3] += [2.0, 0.0, 0.0]
    far[3:7] = [0.0, 0.0, 1.0, 0.0]
    tracker.start(targets.sample(0), 1.0 / RATE, far)
    step = tracker.step(targets.sample(1), 1.0 / RATE)
    assert step.restarted
    assert step.error < 1e-2


def test_wrong_samples_are_refused(person: Rig, targets: Targets) -> None:
    """Shapes that are not the tasks', a start of another rig and zero time intervals are errors."""
    tracker = Tracker(person, targets.tasks)
    with pytest.raises(InvalidValue, match="positions have shape"):
        tracker.step(TargetSample(np.zeros((3, 3))), 0.01)
    with pytest.raises(InvalidValue, match="rotations have shape"):
        tracker.step(TargetSample(targets.sample(0).positions, np.zeros((1, 3, 3))), 0.01)
    with pytest.raises(InvalidValue, match="dt is 0"):
        tracker.step(targets.sample(0), 0.0)
    with pytest.raises(InvalidValue, match="a start has shape"):
        tracker.start(targets.sample(0), 0.01, np.zeros(9))


def test_a_budget_ends_the_refinement(person: Rig, targets: Targets) -> None:
    """With no time after the first step a sample is that step alone; with enough time it is as without a budget."""
    samples = [targets.sample(k) for k in range(10)]
    hurried, alone, patient, free = (
        Tracker(person, targets.tasks, options)
        for options in (
            TrackingOptions(fade_time=0.0, time_budget=1e-9),
            TrackingOptions.one_pass(),
            TrackingOptions(fade_time=0.0, time_budget=60.0),
            TrackingOptions(fade_time=0.0),
        )
    )
    start = free.step(samples[0], 1.0 / RATE).q
    for tracker in (hurried, alone, patient, free):
        tracker.start(samples[0], 1.0 / RATE, start)
    first = hurried.step(samples[1], 1.0 / RATE)
    np.testing.assert_allclose(first.q, alone.step(samples[1], 1.0 / RATE).q, atol=1e-5)
    assert not first.converged
    assert 0.0 < first.seconds < 1.0
    for sample in samples[1:]:
        np.testing.assert_allclose(patient.step(sample, 1.0 / RATE).q, free.step(sample, 1.0 / RATE).q, atol=1e-9)


def test_jittering_time_stamps_do_not_lose_the_body(person: Rig, targets: Targets) -> None:
    """Pairs of samples a microsecond apart, as a delayed sender stamps them, leave the body at its markers."""
    tracker = Tracker(person, targets.tasks, TrackingOptions.one_pass())
    tracker.start(targets.sample(0), 1.0 / RATE)
    steps = [tracker.step(targets.sample(k), 1e-6 if k % 2 else 2.0 / RATE) for k in range(1, len(targets))]
    assert max(step.error for step in steps) < 0.05
