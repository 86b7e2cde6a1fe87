"""Curves through keys are evaluated piece by piece."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import BSpline, make_interp_spline

from solver.dynamics.coordinates import to_manifold, unwrap
from solver.rigs import hoap3
from solver.trajectory.curve import FlatCurve


@pytest.mark.parametrize("shuffled", [False, True])
def test_a_curve_and_its_derivatives_are_the_polynomials(shuffled: bool) -> None:
    """At, between and beyond keys, whatever the order of the times, as SciPy evaluates them."""
    rig, generator = hoap3(), np.random.default_rng(1)
    keys = np.array([0.0, 0.7, 1.0, 2.5])
    q = np.tile(rig.neutral, (4, 1))
    q[:, 7:] += 0.3 * generator.standard_normal(q[:, 7:].shape)
    curve = FlatCurve.through_keys(rig, keys, list(q))
    times = np.concatenate([np.linspace(-0.2, 2.7, 101), keys])
    times = generator.permutation(times) if shuffled else np.sort(times)
    inside = np.clip(times, 0.0, 2.5)
    for order, found in enumerate(curve.at(times)):
        np.testing.assert_allclose(found, curve.spline(inside, order), atol=1e-12)


def bent(times: np.ndarray, corners: tuple[float, ...], count: int) -> np.ndarray:
    """Coordinates (N, count) whose jerk changes at once at corners: cubic there, smooth elsewhere."""
    size = 0.1 * np.cos(np.arange(count))
    jerks = [(7.0 + place) * np.maximum(times - corner, 0.0) ** 3 for place, corner in enumerate(corners)]
    return (0.3 * times**2 - 0.2 * times**4 + np.sum(jerks, axis=0))[:, None] * size


@pytest.mark.parametrize("corners", [(0.4,), (0.4137,), (0.4, 0.7), (0.4137, 0.6961)])
@pytest.mark.parametrize("uneven", [False, True])
def test_a_corner_of_the_acceleration_is_kept(corners: tuple[float, ...], uneven: bool) -> None:
    """On a sample or between two, and where samples come closer around it; without a corner it is smoothed."""
    rig, times = hoap3(), np.linspace(0.0, 1.0, 26)
    if uneven:
        times = np.unique(np.concatenate([times, np.linspace(0.32, 0.8, 97).round(9)]).round(9))
    y = bent(times, corners, rig.nv)
    q = to_manifold(rig, y, np.zeros_like(y), np.zeros_like(y)).q
    fine = np.linspace(0.0, 1.0, 1001)
    wanted = bent(fine, corners, rig.nv)
    found, rounded = (FlatCurve.through_samples(rig, times, q, own) for own in (corners, ()))
    np.testing.assert_allclose(found.at(fine)[0], wanted, atol=1e-10)
    kept, lost = (np.abs(curve.at(fine)[2] - _bends(fine, corners, rig.nv)).max() for curve in (found, rounded))
    assert kept < 1e-6
    assert lost > 1000.0 * kept
    np.testing.assert_allclose(found.at(times)[0], y, atol=1e-10)


@pytest.mark.parametrize("corner", [0.24, 0.4, 0.4137, 0.5, 0.61, 0.76])
def test_a_corner_replaces_the_knots_beside_it(corner: float) -> None:
    """Far from the corner every sample has a knot, as without it; beside it as many lack as it has more."""
    rig, times = hoap3(), np.linspace(0.0, 1.0, 26)
    y = bent(times, (corner,), rig.nv)
    q = to_manifold(rig, y, np.zeros_like(y), np.zeros_like(y)).q
    plain, found = (FlatCurve.through_samples(rig, times, q, own).spline for own in ((), (corner,)))
    assert isinstance(plain, BSpline)
    assert isinstance(found, BSpline)
    assert len(found.t) == len(plain.t)
    assert np.isclose(found.t, corner).sum() == 3
    far = np.abs(plain.t - corner) > 2.5 * (times[1] - times[0])
    assert np.isin(plain.t[far], found.t).all()
    others = found.t[~np.isclose(found.t, corner)]
    assert np.isin(others, plain.t).all()


def _bends(times: np.ndarray, corners: tuple[float, ...], count: int) -> np.ndarray:
    """Second derivatives of `bent`."""
    jerks = [6.0 * (7.0 + place) * np.maximum(times - corner, 0.0) for place, corner in enumerate(corners)]
    return (0.6 - 2.4 * times**2 + np.sum(jerks, axis=0))[:, None] * 0.1 * np.cos(np.arange(count))


def test_without_corners_samples_are_met_by_one_spline() -> None:
    """To the last bit that of SciPy."""
    rig, generator = hoap3(), np.random.default_rng(2)
    times = np.linspace(0.0, 1.0, 20)
    y = 0.1 * generator.standard_normal((20, rig.nv))
    q = to_manifold(rig, y, np.zeros_like(y), np.zeros_like(y)).q
    spline = make_interp_spline(times, unwrap(rig, q), k=5)
    found = FlatCurve.through_samples(rig, times, q)
    for order in range(3):
        np.testing.assert_array_equal(found.at(times)[order], spline(times, order))


@pytest.mark.parametrize("count", [2, 3, 5, 6, 7, 9, 12])
@pytest.mark.parametrize(
    "corners", [(0.0, 1.0), (0.01,), (0.5,), (0.4, 0.45), (0.4, 0.42, 0.5), (0.3, 0.3), (0.98, 0.99)]
)
def test_a_corner_with_few_samples_beside_it_is_rounded_off(count: int, corners: tuple[float, ...]) -> None:
    """However few there are, and however near corners are to each other or to an end, every sample is met."""
    rig, generator = hoap3(), np.random.default_rng(3)
    times = np.linspace(0.0, 1.0, count)
    y = 0.1 * generator.standard_normal((count, rig.nv))
    q = to_manifold(rig, y, np.zeros_like(y), np.zeros_like(y)).q
    found = FlatCurve.through_samples(rig, times, q, corners)
    np.testing.assert_allclose(found.at(times)[0], y, atol=1e-9)
    assert np.isfinite(found.at(np.linspace(0.0, 1.0, 101))[2]).all()


@pytest.mark.parametrize("count", [3, 4])
def test_clamped_curves_pass_inner_keys_at_speed(count: int) -> None:
    """Between keys that rise evenly the curve does not stop, however few there are; one at rest stops at each."""
    rig = hoap3()
    q = np.tile(rig.neutral, (count, 1))
    q[:, 7:] += 0.1 * np.arange(count)[:, None]
    times = np.arange(float(count))
    for interpolation, speed in (("clamped", 0.1), ("rest", 0.0)):
        curve = FlatCurve.through_keys(rig, times, list(q), interpolation)
        _, velocity, _ = curve.at(times[1:-1])
        np.testing.assert_allclose(velocity[:, 6:], speed, atol=1e-9)
