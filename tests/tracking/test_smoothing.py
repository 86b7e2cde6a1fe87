"""The smoother with noise, gaps, limits and landings."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

from solver.base.errors import InvalidValue
from solver.base.so3 import exp, product, to_quaternion
from solver.dynamics import difference, integrate
from solver.dynamics.coordinates import continuous_quaternions
from solver.rigs import human
from solver.skeleton.rig import Rig
from solver.tracking import Targets, TrackedMotion, TrackingOptions, track_targets
from solver.tracking.joint_limits import LimitStops
from solver.tracking.kinematics import Kinematics
from solver.tracking.smoothing.curves import com_curve, joint_curves, observed_coordinates, retract
from solver.tracking.smoothing.noise import (
    difference_stiffness,
    difference_weights,
    estimate_measurement_noise,
    estimate_process_noise,
    smooth_curves,
)
from solver.tracking.smoothing.smooth import BlockBand, smooth
from solver.values.motion import Markers
from tests.random_motion import mixed_rig
from tests.tracking.bodies import cloud, seen_from, swinging

FRAMES = 120
NOISE = 0.002


@pytest.fixture(scope="module")
def truth(person: Rig) -> np.ndarray:
    return swinging(person, FRAMES)


@pytest.fixture(scope="module")
def noisy(person: Rig, truth: np.ndarray) -> Markers:
    seen = seen_from(person, cloud(person), truth)
    draw = np.random.default_rng(3)
    return Markers(seen.times, seen.names, seen.positions + NOISE * draw.standard_normal(seen.positions.shape))


@pytest.fixture(scope="module")
def tracked(person: Rig, noisy: Markers) -> TrackedMotion:
    return track_targets(person, Targets.from_markers(person, cloud(person), noisy), TrackingOptions())


def spread(rig: Rig, found: np.ndarray, truth: np.ndarray) -> float:
    """Root mean square difference of two motions [rad, m]."""
    return float(np.sqrt(np.mean(difference(rig, found, truth) ** 2)))


def test_a_block_band_solves_as_the_dense_matrix_does() -> None:
    """Blocks added lag by lag, whole or in some columns, make the expected symmetric matrix."""
    draw, count, size, reach = np.random.default_rng(0), 6, 4, 2
    band, dense = BlockBand(count, size, reach), np.zeros((count, size, count, size))
    for lag in range(reach + 1):
        for place in (slice(0, size), slice(1, 3)):
            inner = place.stop - place.start
            blocks = draw.standard_normal((count - lag, inner, inner))
            if lag == 0:
                blocks = blocks @ blocks.swapaxes(1, 2) + 20.0 * np.eye(inner)
            band.add(lag, blocks, place)
            for k, block in enumerate(blocks):
                dense[k + lag, place, k, place] += block
                if lag:
                    dense[k, place, k + lag, place] += block.T
    right = draw.standard_normal((count, size))
    matrix = dense.reshape(count * size, count * size)
    np.testing.assert_allclose(band.solve(right).reshape(-1), np.linalg.solve(matrix, right.reshape(-1)), rtol=1e-10)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_stiffness_is_the_sum_of_squared_differences(order: int) -> None:
    """x' K x is the sum of the squared differences over their variances."""
    draw = np.random.default_rng(order)
    x, variances = draw.standard_normal(30), draw.uniform(0.5, 2.0, 30 - order)
    bands = difference_stiffness(variances, order)
    total = sum(
        (1.0 if lag == 0 else 2.0) * np.sum(bands[lag][: 30 - lag] * x[lag:] * x[: 30 - lag])
        for lag in range(order + 1)
    )
    assert total == pytest.approx(np.sum(np.diff(x, order) ** 2 / variances))
    np.testing.assert_allclose(np.diff(x, order), np.convolve(x, difference_weights(order)[::-1], "valid"))


def test_process_noise_varies_over_time() -> None:
    """A motion that is calm, then wild: the variance follows, and the smoothed curve keeps the wild part."""
    draw, times = np.random.default_rng(6), np.arange(800) / 100.0
    path = np.where(times < 4.0, 0.0, np.sin(2.0 * np.pi * 6.0 * times))
    noise = np.full(800, 0.05**2)
    seen = path + 0.05 * draw.standard_normal(800)
    found = estimate_process_noise([seen[:, None]], [noise], 3, 100.0, 0.06)
    assert found[0, 450:750].mean() > 100.0 * found[0, 50:350].mean()
    x = smooth_curves(seen[None], noise[None], found, 3)[0]
    assert np.std(x[50:350]) < 0.5 * 0.05
    assert np.std((x - path)[450:750]) < 0.05


@pytest.mark.parametrize("make", [lambda: human(1.75, 70.0, "male"), mixed_rig])
def test_curve_derivatives_match_differences(make: object) -> None:
    """Derivatives of every curve agree with finite differences along the tangent coordinates."""
    rig = make()  # type: ignore[operator]
    q = continuous_quaternions(rig, swinging(rig, 3))
    step = 1e-6
    every = np.ones(rig.nv, bool)
    for number, curve in enumerate([*joint_curves(rig, q), com_curve(rig, q, every)]):
        for column in range(curve.columns.start, curve.columns.stop):
            turn = np.zeros(rig.nv)
            turn[column] = step
            moved = continuous_quaternions(rig, integrate(rig, q, turn))
            after = [*joint_curves(rig, moved), com_curve(rig, moved, every)][number]
            slope = curve.derivatives[:, :, column - curve.columns.start]
            np.testing.assert_allclose((after.values - curve.values) / step, slope, atol=1e-5)


@pytest.mark.parametrize("make", [lambda: human(1.75, 70.0, "male"), mixed_rig])
def test_steps_along_the_curves_are_projected_to_configurations(make: object) -> None:
    """A step along the tangent, projected radially to the sphere, however long, is the returned change."""
    rig = make()  # type: ignore[operator]
    q = continuous_quaternions(rig, swinging(rig, 3))
    steps = 4.0 * np.random.default_rng(4).standard_normal((3, rig.nv))
    after = joint_curves(rig, integrate(rig, q, retract(rig, steps)))
    for before, found in zip(joint_curves(rig, q)[1:], after[1:]):
        wanted = before.values + (before.derivatives @ steps[:, before.columns, None])[:, :, 0]
        if before.values.shape[1] in (2, 4):
            wanted /= np.linalg.norm(wanted, axis=1, keepdims=True)
        sign = np.sign((wanted * found.values).sum(axis=1, keepdims=True))
        np.testing.assert_allclose(found.values * (sign if wanted.shape[1] == 4 else 1.0), wanted, atol=1e-9)


def test_measurement_noise_is_estimated() -> None:
    """White residuals of known size give that size, including the part that a model absorbed."""
    draw = np.random.default_rng(1)
    residuals = 0.0015 * draw.standard_normal((600, 90))
    residuals[100:140, :30] = np.nan
    found = estimate_measurement_noise(residuals * np.sqrt(1.0 - 30.0 / 90.0), 30, 100.0, (4.0, 15.0), 0.1)
    assert found.shape == (600,)
    assert np.median(found) == pytest.approx(0.0015, rel=0.1)


def test_the_smoothed_motion_does_not_depend_on_the_world_axes(
    person: Rig, noisy: Markers, tracked: TrackedMotion
) -> None:
    """The smoothed motion does not depend on where the world's axes point."""
    turn = exp(np.array([0.3, -0.8, 1.1]))
    turned = Markers(noisy.times, noisy.names, noisy.positions @ turn.T)
    q = np.array(tracked.q)
    q[:, :3] = q[:, :3] @ turn.T
    q[:, 3:7] = product(to_quaternion(turn)[None], q[:, 3:7])
    first = smooth(person, Targets.from_markers(person, cloud(person), noisy), tracked)
    second = smooth(person, Targets.from_markers(person, cloud(person), turned), replace(tracked, q=q))
    np.testing.assert_allclose(second.q[:, :3], first.q[:, :3] @ turn.T, atol=1e-6)
    np.testing.assert_allclose(second.errors, first.errors, atol=1e-6)


def test_an_unseen_link_is_bridged(person: Rig, noisy: Markers, truth: np.ndarray) -> None:
    """A hand without markers for a third of a second, started far from its pose, is interpolated without extra
    rotations.
    """
    hand = np.array([name.startswith("left_hand") for name in noisy.names])
    positions = np.array(noisy.positions)
    positions[40:75, hand] = np.nan
    targets = Targets.from_markers(person, cloud(person), Markers(noisy.times, noisy.names, positions))
    held = track_targets(person, targets, TrackingOptions())
    moves = np.flatnonzero(Kinematics(person).link_of_column == person.index("left_hand"))
    away = np.zeros((FRAMES, person.nv))
    away[40:75, moves] = [1.6, 0.4, -1.2]
    found = smooth(person, targets, replace(held, q=integrate(person, held.q, away)))
    left = np.abs(difference(person, found.q, truth))
    assert left[:, moves].max() < 0.1
    assert np.delete(left, moves, axis=1).max() < 0.1


def test_many_frames_together_observe_a_joint(person: Rig, truth: np.ndarray) -> None:
    """A hand with two markers near its axis rotates as all frames together observe, not as in neutral."""
    turned = np.array(truth)
    angle = 0.8 + 0.3 * np.sin(3.0 * np.arange(FRAMES) / 100.0)
    hand = person.index("left_hand")
    moves = np.flatnonzero(Kinematics(person).link_of_column == hand)
    turn = np.zeros((FRAMES, person.nv))
    turn[:, moves] = angle[:, None] * np.array([0.0, 1.0, 0.0])
    turned = integrate(person, turned, turn)
    kept = [a for a in cloud(person) if a.link != "left_hand"]
    first = next(a for a in cloud(person) if a.link == "left_hand")
    pair = [
        replace(first, marker=f"left_hand_{k}", position=np.array([0.005, y, 0.0])) for k, y in ((0, 0.05), (1, 0.0))
    ]
    seen = seen_from(person, [*kept, *pair], turned)
    draw = np.random.default_rng(3)
    noisy = Markers(seen.times, seen.names, seen.positions + NOISE * draw.standard_normal(seen.positions.shape))
    targets = Targets.from_markers(person, [*kept, *pair], noisy)
    start = track_targets(person, targets, TrackingOptions())
    before, after = (
        difference(person, motion, turned)[:, moves] for motion in (start.q, smooth(person, targets, start).q)
    )
    assert np.sqrt(np.mean(after**2)) < 0.8 * np.sqrt(np.mean(before**2))


def test_limits_are_never_violated(person: Rig, noisy: Markers) -> None:
    """Joints whose markers go beyond a limit stop at it, at every frame and exactly."""
    tight = np.full(person.nv - 6, 0.1)
    upper = np.where(person.limits.upper > 1.0, 0.9, tight)
    narrow = replace(person, limits=replace(person.limits, lower=-tight, upper=upper))
    targets = Targets.from_markers(narrow, cloud(person), noisy)
    found = smooth(narrow, targets, track_targets(narrow, targets, TrackingOptions()))
    places = LimitStops(narrow).coordinates(found.q)
    assert (places >= narrow.limits.lower - 1e-12).all()
    assert (places <= narrow.limits.upper + 1e-12).all()
    assert np.isfinite(found.errors).all()


def test_blocks_give_the_whole_solution(
    person: Rig, noisy: Markers, tracked: TrackedMotion, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A recording solved in blocks equals the one solved at once: frames beyond the margin have no influence."""
    module = import_module("solver.tracking.smoothing.smooth")
    targets = Targets.from_markers(person, cloud(person), noisy)
    whole = smooth(person, targets, tracked)
    monkeypatch.setattr(module, "FRAMES_PER_BLOCK", 40)
    monkeypatch.setattr(module, "MARGIN_FRAMES", 50)
    parts = smooth(person, targets, tracked)
    assert spread(person, parts.q, whole.q) < 0.02 * spread(person, tracked.q, whole.q)


def test_unsuitable_recordings_are_returned_with_a_warning(person: Rig, noisy: Markers, tracked: TrackedMotion) -> None:
    """A recording of few frames, or with uneven intervals, is returned as tracked, with the reason."""
    few = slice(0, 8)
    targets = Targets.from_markers(person, cloud(person), Markers(noisy.times[few], noisy.names, noisy.positions[few]))
    short = track_targets(person, targets, TrackingOptions())
    assert "fewer than" in smooth(person, targets, short).warnings[-1]
    times = np.array(noisy.times)
    times[60:] += 0.5
    uneven = Targets.from_markers(person, cloud(person), Markers(times, noisy.names, noisy.positions))
    result = smooth(person, uneven, replace(tracked, times=times))
    assert "evenly" in result.warnings[-1]
    np.testing.assert_array_equal(result.q, tracked.q)


def test_unsolvable_recordings_are_returned_with_the_cause(person: Rig, noisy: Markers) -> None:
    """An invalid coordinate makes the equations unsolvable: the tracked motion is returned, with the reason."""
    positions = np.array(noisy.positions[:40])
    positions[20, 5] = 1e60
    targets = Targets.from_markers(person, cloud(person), Markers(noisy.times[:40], noisy.names, positions))
    start = track_targets(person, targets, TrackingOptions())
    found = smooth(person, targets, start)
    np.testing.assert_array_equal(found.q, start.q)
    np.testing.assert_array_equal(found.errors, start.errors)
    assert found.warnings[:-1] == start.warnings
    assert found.warnings[-1].startswith("not smoothed")
    assert "frames 0 to 39: the normal equations are not positive definite" in found.warnings[-1]


def test_wrong_input_is_refused(person: Rig, noisy: Markers, tracked: TrackedMotion) -> None:
    """A motion of other targets is an error."""
    part = Targets.from_markers(person, cloud(person), Markers(noisy.times[:50], noisy.names, noisy.positions[:50]))
    with pytest.raises(InvalidValue, match="50 frames"):
        smooth(person, part, tracked)


def test_unobserved_coordinates_are_not_moved_for_the_centre_of_mass(person: Rig, truth: np.ndarray) -> None:
    """A head without markers, or with markers of no weight or never seen, does not move at a landing."""
    landing = np.array(truth[:80])
    landing[:, 2] += np.where(np.arange(80) < 40, 0.1 * np.arange(80) / 40.0, 0.1)
    attachments = [replace(a, weight=0.0) if a.marker == "head_0" else a for a in cloud(person)]
    seen = seen_from(person, attachments, landing)
    positions = seen.positions + NOISE * np.random.default_rng(3).standard_normal(seen.positions.shape)
    unseen = np.array([a.link == "head" and a.weight > 0.0 for a in attachments])
    positions[:, unseen] = np.nan
    targets = Targets.from_markers(person, attachments, Markers(seen.times, seen.names, positions))
    start = track_targets(person, targets, TrackingOptions())
    moved = difference(person, start.q, smooth(person, targets, start).q)
    own = ~observed_coordinates(person, targets)
    np.testing.assert_array_equal(own, Kinematics(person).link_of_column == person.index("head"))
    assert np.abs(moved[:, own]).max() < 1e-6
    assert np.abs(moved[:, ~own]).max() > 1e-3
