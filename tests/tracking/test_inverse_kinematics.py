"""The dynamical inverse kinematics of rapetti2020."""

from __future__ import annotations

import numpy as np
import pytest

from solver.base.errors import InvalidValue
from solver.base.so3 import exp as exp_so3
from solver.dynamics import difference, integrate
from solver.skeleton.rig import Rig
from solver.tracking import Targets, TrackingOptions, track_markers
from solver.tracking.inverse_kinematics import InverseKinematics, rotation_error
from solver.tracking.tasks import fade_weights
from solver.values.motion import Markers
from tests.tracking.bodies import cloud, farthest, seen_from, swinging

FREE = TrackingOptions(posture_weight=1e-12, damping=1e-12, limits=False, fade_time=0.0)


def test_rotation_error_is_in_inertial_axes() -> None:
    """A body rotated a little about a world axis has that rotation as its error in world axes, whatever its
    attitude.
    """
    modelled = exp_so3(np.array([0.4, -1.1, 0.8]))
    turn = np.array([1e-4, -2e-4, 3e-4])
    np.testing.assert_allclose(rotation_error(modelled, exp_so3(turn) @ modelled), turn, atol=1e-11)


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


def test_an_unstable_gain_is_refused() -> None:
    """K dt of 2 or more never converges."""
    with pytest.raises(InvalidValue, match="unstable"):
        TrackingOptions(gain=2.0)
