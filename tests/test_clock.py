"""Laws of interpolation between uneven time stamps."""

from __future__ import annotations

import numpy as np

from solver.base.clock import LOST, interpolate, uniform_times

RNG = np.random.default_rng(5)
TIMES = np.cumsum(RNG.uniform(0.008, 0.013, 300))
GRID, EVEN = uniform_times(TIMES)


def test_parabolas_are_interpolated_exactly() -> None:
    """Constants, lines and parabolas are interpolated exactly from uneven samples, except in the outer intervals."""
    values = np.column_stack([np.ones_like(TIMES), TIMES, 3.0 * TIMES**2 - TIMES])
    inner = GRID[2:-2]
    assert not EVEN
    found = interpolate(TIMES, values, inner)
    np.testing.assert_allclose(found, np.column_stack([np.ones_like(inner), inner, 3.0 * inner**2 - inner]), atol=1e-12)


def test_a_sine_of_three_hertz_is_accurate_to_a_thousandth() -> None:
    """The error of a sine decreases with the fourth power of the step, far below that of linear interpolation."""
    values = np.sin(2.0 * np.pi * 3.0 * TIMES)[:, None]
    exact = np.sin(2.0 * np.pi * 3.0 * GRID)[3:-3]
    curve = np.abs(interpolate(TIMES, values, GRID)[3:-3, 0] - exact).max()
    line = np.abs(np.interp(GRID, TIMES, values[:, 0])[3:-3] - exact).max()
    assert curve < 1e-3
    assert curve < 0.2 * line


def test_lost_samples_are_not_interpolated() -> None:
    """Between samples too far apart, and next to missing ones, the result is NaN; elsewhere it is finite."""
    times = np.delete(np.arange(100) * 0.01, [40, 41])
    values = np.ones((len(times), 1))
    values[10] = np.nan
    grid, _ = uniform_times(times)
    missing = np.flatnonzero(np.isnan(interpolate(times, values, grid)[:, 0]))
    assert missing.tolist() == [10, 40, 41]
    assert np.diff(times).max() > LOST * 0.01
