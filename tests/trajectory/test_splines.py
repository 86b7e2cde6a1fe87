"""Laws of the splines between two states of rest."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from solver.base.errors import InvalidValue
from solver.trajectory.curve import sample_times
from solver.trajectory.splines import Spline, spline_around_flights

ENDS = np.array([[0.3, -1.0], [0.7, 2.0]])


def curve(free: int = 2, duration: float = 2.0, seed: int = 0) -> tuple[Spline, np.ndarray]:
    """A spline with random free control values."""
    spline = Spline(duration, free)
    values = np.random.default_rng(seed).standard_normal((free, 2))
    return spline, spline.control(ENDS[0], ENDS[1], values)


@pytest.mark.parametrize("free", [0, 2, 4, 8])
def test_rest_at_both_ends(free: int) -> None:
    """Every curve starts and stops at the given values with zero velocity and acceleration."""
    spline, control = curve(free)
    s, ds, dds = spline.basis(np.array([0.0, spline.duration])).curves(control)
    np.testing.assert_allclose(s, ENDS, atol=1e-12)
    np.testing.assert_allclose(ds, 0.0, atol=1e-10)
    np.testing.assert_allclose(dds, 0.0, atol=1e-8)


def test_derivatives_are_those_of_the_curve() -> None:
    """Velocity and acceleration matrices equal central differences of the position matrix."""
    spline, control = curve()
    step = 1e-4
    middle = np.linspace(0.1, 1.9, 50)
    before, at, after = (spline.basis(middle + d).curves(control) for d in (-step, 0.0, step))
    np.testing.assert_allclose((after[0] - before[0]) / (2 * step), at[1], atol=1e-6)
    np.testing.assert_allclose((after[1] - before[1]) / (2 * step), at[2], atol=1e-5)


def test_control_values_bound_curve_and_speed() -> None:
    """Between samples too, position and speed stay within the range of their control values."""
    for seed in range(20):
        spline, control = curve(3, seed=seed)
        s, ds, _ = spline.basis(spline.samples(1000.0)).curves(control)
        assert np.all(s <= control.max(axis=0) + 1e-12)
        assert np.all(s >= control.min(axis=0) - 1e-12)
        speeds = spline.speed_controls(control)
        assert np.all(ds <= speeds.max(axis=0) + 1e-9)
        assert np.all(ds >= speeds.min(axis=0) - 1e-9)


def test_refinement_keeps_the_curve() -> None:
    """Knots inserted change the control values, not the curve."""
    spline, control = curve(2)
    finer = Spline(spline.duration, 8)
    times = spline.samples(100.0)
    np.testing.assert_allclose(
        finer.basis(times).position @ (spline.refinement_matrix(finer) @ control),
        spline.basis(times).position @ control,
        atol=1e-11,
    )


def test_straight_path_is_monotone() -> None:
    """The even way between two postures never turns back or overshoots."""
    spline = Spline(5.0, 2)
    s, ds, _ = spline.basis(spline.samples(100.0)).curves(spline.straight_line(ENDS[0], ENDS[1]))
    assert np.all(ds * np.sign(ENDS[1] - ENDS[0]) >= -1e-12)
    assert np.all((s - ENDS[0]) * (ENDS[1] - s) >= -1e-12)


def test_bad_splines_are_refused() -> None:
    """Durations, counts and times that make no curve are errors."""
    for arguments in ((0.0, 2), (-1.0, 2), (1.0, -1), (float("nan"), 2)):
        with pytest.raises(InvalidValue):
            Spline(*arguments)
    for times in ([1.1], [-0.1], [-0.1, 0.5], [0.5, 1.1]):
        with pytest.raises(InvalidValue):
            Spline(1.0).basis(np.array(times))
    with pytest.raises(InvalidValue):
        Spline(1.0, 2).refinement_matrix(Spline(1.0, 3))


def test_a_flight_s_ends_may_be_corners_of_the_acceleration() -> None:
    """|t - take-off|^3 is in the space to rounding; of even knots no spline comes near it."""
    flights, times = [(0.7, 0.95)], np.linspace(0.0, 2.0, 401)
    corner = np.abs(times - 0.7) ** 3
    spline = spline_around_flights(2.0, 0.1, flights, 0.03)
    basis = spline.basis(times).position
    np.testing.assert_allclose(basis.sum(axis=1), 1.0, atol=1e-12)
    control = np.linalg.lstsq(basis, corner, rcond=None)[0]
    np.testing.assert_allclose(basis @ control, corner, atol=1e-10)
    even = Spline(2.0, spline.count - 6).basis(times).position
    assert np.abs(even @ np.linalg.lstsq(even, corner, rcond=None)[0] - corner).max() > 1e-7
    slopes = spline.basis(np.array([0.7 - 1e-6, 0.7 + 1e-6])).acceleration @ control
    np.testing.assert_allclose(slopes, 0.0, atol=1e-4)


def test_samples_between_a_flight_s_knots_integrate_it() -> None:
    """Between two knots, with the weights of Gauss and Legendre, they give the integral of a polynomial of degree 5."""
    spline = spline_around_flights(2.0, 0.1, [(0.7, 0.95)], 0.03)
    points = spline.gauss_points([(0.7, 0.95)], 3).reshape(-1, 3)
    knots = np.unique(spline.knots)
    knots = knots[(knots > 0.7 - 1e-9) & (knots < 0.95 + 1e-9)]
    assert len(points) == len(knots) - 1
    weights = np.array([5.0, 8.0, 5.0]) / 18.0
    found = np.diff(knots) @ (points**5 @ weights)
    assert found == pytest.approx((0.95**6 - 0.7**6) / 6.0, rel=1e-12)


def test_samples_follow_the_knots() -> None:
    """Every knot is one, spaces between knots are even, and at least as many as requested."""
    spline = spline_around_flights(2.0, 0.1, [(0.7, 0.95)], 0.025)
    samples, knots = spline.samples(50.0, 3), np.unique(spline.knots)
    assert np.isin(knots, samples).all()
    assert (np.diff(samples) <= 1.0 / 50.0 + 1e-12).all()
    for start, stop in pairwise(knots):
        inside = samples[(samples >= start) & (samples <= stop)]
        assert len(inside) >= 4
        np.testing.assert_allclose(np.diff(inside), (stop - start) / (len(inside) - 1))


def test_knots_are_as_near_as_needed_and_symmetric_in_time() -> None:
    """Spacing in a flight is the flight's, far from it the largest, and between them it grows by shares."""
    for flights in ([(0.7, 0.96)], [(0.61, 0.8), (1.1, 1.41)]):
        spline = spline_around_flights(2.4, 0.1, flights, 0.025)
        knots = np.unique(spline.knots)
        steps, middles = np.diff(knots), 0.5 * (knots[1:] + knots[:-1])
        away = np.min([np.maximum(np.maximum(a - middles, middles - b), 0.0) for a, b in flights], axis=0)
        assert (steps <= np.minimum(0.1, 0.025 + 0.25 * away + 0.013) + 1e-9).all()
        assert (steps[away == 0.0] > 0.018).all()
        assert steps[[0, -1]].min() > 0.07
        for a, b in flights:
            assert [np.isclose(spline.knots, corner).sum() for corner in (a, b)] == [3, 3]
        mirrored = spline_around_flights(2.4, 0.1, [(2.4 - b, 2.4 - a) for a, b in reversed(flights)], 0.025)
        np.testing.assert_allclose(2.4 - np.array(mirrored.knots)[::-1], spline.knots, atol=1e-9)


def test_samples_include_both_ends_at_the_rate() -> None:
    """As few as the rate allows, and two at least, whatever rounding does to the number of intervals."""
    for duration, rate, count in ((2.0, 50.0, 101), (2.01, 50.0, 102), (0.3, 10.0, 4), (0.01, 10.0, 2)):
        for times in (sample_times(1.0, 1.0 + duration, rate) - 1.0, Spline(duration).samples(rate)):
            assert len(times) == count
            np.testing.assert_allclose(times, np.linspace(0.0, duration, count), atol=1e-12)
