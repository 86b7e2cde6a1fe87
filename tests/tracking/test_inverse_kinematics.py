"""The dynamical inverse kinematics of rapetti2020."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.dynamics import difference, integrate
from solver.skeleton.rig import Rig
from solver.tracking import Targets, Tracker, TrackingOptions, track_markers
from solver.tracking.inverse_kinematics import InverseKinematics
from solver.tracking.tasks import fade_weights
from solver.tracking.tracker import BaumgarteRoot
from solver.values.motion import Markers
from tests.tracking.bodies import cloud, farthest, seen_from, swinging

FREE = TrackingOptions(posture_weight=1e-12, damping=1e-12, limits=False, fade_time=0.0)


@pytest.mark.parametrize("gain", [0.3, 1.0, 1.6])
def test_each_step_leaves_one_minus_the_gain_of_the_error(person: Rig, gain: float) -> None:
    """With still targets the error shrinks by 1 - K dt a step."""
    q = swinging(person, 2)[0]
    markers = seen_from(person, cloud(person), np.array([q, q]))
    options = TrackingOptions(gain=gain, posture_weight=1e-12, damping=1e-12, limits=False, fade_time=0.0)
    targets = Targets.from_markers(person, cloud(person), markers)
    engine = InverseKinematics(person, targets.tasks, options)
    start = integrate(person, q, 1e-4 * np.random.default_rng(0).normal(size=person.nv))
    after = engine.correction(start, np.zeros(person.nv), targets.sample(0), targets.sample(1), 0.01)
    np.testing.assert_allclose(difference(person, q, after), (1.0 - gain) * difference(person, q, start), atol=2e-7)


def test_moving_targets_are_followed_without_lag(person: Rig) -> None:
    """From a perfect pose one step with a small gain reaches the next targets: their motion enters once."""
    q = swinging(person, 2)
    markers = seen_from(person, cloud(person), q)
    options = TrackingOptions(gain=0.1, posture_weight=1e-12, damping=1e-12, limits=False, fade_time=0.0)
    targets = Targets.from_markers(person, cloud(person), markers)
    engine = InverseKinematics(person, targets.tasks, options)
    reached = engine.correction(q[0], np.zeros(person.nv), targets.sample(0), targets.sample(1), 0.01)
    moved = np.abs(difference(person, q[0], q[1])).max()
    assert np.abs(difference(person, reached, q[1])).max() < 0.05 * moved


def test_missing_markers_have_no_weight(person: Rig) -> None:
    """A marker that is missing changes nothing, and its error is NaN."""
    q = swinging(person, 20)
    attachments = cloud(person, per_link=4)
    markers = seen_from(person, attachments, q)
    positions = markers.positions.copy()
    positions[5:12, 7] = np.nan
    positions[9, 20:22] = np.nan
    gappy = Markers(markers.times, markers.names, positions)
    tracked = track_markers(person, attachments, gappy, FREE)
    assert farthest(person, tracked.q, q) < 1e-6
    assert np.isnan(tracked.errors[5:12, 7]).all()
    assert np.isfinite(tracked.errors[:5, 7]).all()


def test_weights_fade_only_near_gaps() -> None:
    """Full weight away from gaps and at the recording's ends, none in gaps, in between 3 s^2 - 2 s^3 of the time to the
    nearest missing sample.
    """
    positions, frames = np.zeros((50, 2, 3)), np.arange(50)
    positions[[20, 21, 23], 1] = np.nan
    away = np.abs(frames[:, None] - [20, 21, 23]).min(axis=1) / 5.0
    expected = np.where(away < 1.0, 3.0 * away**2 - 2.0 * away**3, 1.0)
    np.testing.assert_allclose(
        fade_weights(frames / 100.0, positions, 0.05), np.column_stack([np.ones(50), expected]), atol=1e-12
    )
    np.testing.assert_array_equal(fade_weights(frames / 100.0, positions, 0.0)[:, 1], away > 0.0)


def test_long_steps_are_damped_as_little_as_is_needed(person: Rig) -> None:
    """Of all dampings the first with which no angle changes by more than .6 rad, by the dense equations; refining steps
    are shortened to that.
    """
    attachments = [replace(each, weight=0.2 + 0.1 * k) for k, each in enumerate(cloud(person, per_link=1))]
    q = swinging(person, 1)
    targets = Targets.from_markers(person, attachments, seen_from(person, attachments, q))
    engine, used = InverseKinematics(person, targets.tasks, replace(FREE, posture_weight=1e-6)), set()
    for size in (0.03, 0.3, 1.0, 3.0):
        start = integrate(person, q[0], size * np.random.default_rng(1).normal(size=person.nv))
        matrix, gradient = engine.normal_equations(start, targets.sample(0))
        dampings = [0.0, 1e-3, 1e-2, 1e-1, 1.0]
        steps = [
            np.linalg.solve(matrix + share * attachments[-1].weight * np.eye(person.nv), gradient) for share in dampings
        ]
        chosen = next((k for k, step in enumerate(steps) if np.abs(step[3:]).max() <= 0.6), 4)
        torques = 1e-6 * engine.posture.restoring_torque(start)
        np.testing.assert_allclose(engine._solve_free(start, torques), steps[chosen], rtol=1e-6, atol=1e-9)
        used.add(chosen)
        assert np.abs(engine.refinement(start, targets.sample(0), 0.01)[3:]).max() <= 0.6 + 1e-12
    assert len(used) > 2


@pytest.mark.parametrize(("every", "noise", "most"), [(1, 0.0, 106), (1, 0.01, 616), (10, 0.01, 54)])
def test_frames_converge_in_few_steps(
    person: Rig, monkeypatch: pytest.MonkeyPatch, every: int, noise: float, most: int
) -> None:
    """Steps and factorised Hessians of a smooth motion, also with noise and at a tenth of the frames."""
    attachments = cloud(person)
    markers = seen_from(person, attachments, swinging(person, 100)[::every], 100.0 / every)
    positions = markers.positions + noise * np.random.default_rng(0).normal(size=markers.positions.shape)
    targets = Targets.from_markers(person, attachments, replace(markers, positions=positions))
    tracker, calls = Tracker(person, targets.tasks, TrackingOptions(fade_time=0.0)), list[str]()
    for name in ("refinement", "_build_newton"):
        method = getattr(tracker.solver, name)
        monkeypatch.setattr(
            tracker.solver,
            name,
            lambda *rest, name=name, method=method: (calls.append(name), method(*rest))[1],  # type: ignore[func-returns-value]
        )
    steps = [tracker.step(targets.sample(k), 0.01 * every) for k in range(len(targets))]
    assert all(step.converged for step in steps)
    assert len(calls) <= most


def test_normal_equations_are_sums_over_the_markers(person: Rig) -> None:
    """With weights, shares near a gap, a missing marker and a bound on the pull of far ones, by their Jacobians."""
    rng, attachments = np.random.default_rng(4), cloud(person)
    attachments = [
        replace(each, weight=weight) for each, weight in zip(attachments, rng.uniform(0.2, 2.0, len(attachments)))
    ]
    q, options = swinging(person, 5), replace(FREE, huber_distance=0.04, posture_weight=1e-2, damping=1e-3)
    targets = Targets.from_markers(person, attachments, seen_from(person, attachments, q))
    task, shares = targets.tasks.positions, rng.uniform(0.1, 1.0, len(attachments))
    sample = replace(
        targets.sample(4, shares), positions=targets.positions.positions[4] + 0.03 * rng.normal(size=(len(shares), 3))
    )
    sample.positions[2] = np.nan
    engine = InverseKinematics(person, targets.tasks, options)
    matrix, gradient = engine.normal_equations(q[0], sample)
    engine.kinematics.update_kinematics(q[0])
    points = engine.kinematics.points(task.links, task.offsets)
    jacobian, off = engine.kinematics.point_jacobians(task.links, points), np.nan_to_num(sample.positions - points)
    sizes = np.linalg.norm(off, axis=1)
    assert 0.1 < np.mean(sizes > 0.04) < 0.9
    weights = (
        task.weights * shares * np.minimum(1.0, 0.04 / np.maximum(sizes, 1e-12)) * np.isfinite(sample.positions[:, 0])
    )
    expected = np.einsum("pai,p,paj->ij", jacobian, weights, jacobian) + np.diag(1e-2 * engine.posture.diagonal + 1e-3)
    np.testing.assert_allclose(matrix, expected, atol=1e-9)
    torques = 1e-2 * engine.posture.restoring_torque(q[0])
    np.testing.assert_allclose(gradient, np.einsum("pai,p,pa->i", jacobian, weights, off) + torques, atol=1e-9)
    measured = weights > 0.0
    assert engine.errors(q[0], sample) == (pytest.approx(np.sqrt(np.mean(sizes[measured] ** 2))), 0.0)


def test_baumgarte_term_restores_a_rotation() -> None:
    """A matrix that has drifted from orthonormal comes back, and one that has not stays a rotation."""
    root = BaumgarteRoot(np.array([0.0, 0.0, 0.0, 1.0]))
    root.matrix = root.matrix + 0.02 * np.random.default_rng(5).normal(size=(3, 3))
    drifts = []
    for _ in range(6):
        root.advance(np.zeros(3))
        drifts.append(root.drift)
    assert drifts[-1] < 1e-6 < drifts[0]


def test_baumgarte_and_manifold_integration_agree(person: Rig) -> None:
    """The paper's integrator follows the exact one to second order in the step."""
    markers = seen_from(person, cloud(person), swinging(person, 50))
    options = TrackingOptions(iterations=0, integrator="baumgarte", fade_time=0.0)
    theirs, ours = (
        track_markers(person, cloud(person), markers, options),
        track_markers(person, cloud(person), markers, TrackingOptions.one_pass()),
    )
    assert farthest(person, theirs.q, ours.q) < 2e-3
    assert 0.0 < theirs.drift < 1e-2
    assert ours.drift == 0.0
