"""Uneven time stamps: values in between are those of smooth curves, and nothing is made up where samples were lost."""

from __future__ import annotations

import numpy as np

from solver.clock import LOST, interpolate, uniform_times

RNG = np.random.default_rng(5)
TIMES = np.cumsum(RNG.uniform(0.008, 0.013, 300))
GRID, EVEN = uniform_times(TIMES)


def test_parabolas_are_interpolated_exactly() -> None:
    """Uneven samples of a constant, a line and a parabola give them at even times, except in the outer intervals."""
    values = np.column_stack([np.ones_like(TIMES), TIMES, 3.0 * TIMES**2 - TIMES])
    inner = GRID[2:-2]
    assert not EVEN
    found = interpolate(TIMES, values, inner)
    np.testing.assert_allclose(found, np.column_stack([np.ones_like(inner), inner, 3.0 * inner**2 - inner]), atol=1e-12)


def test_a_swing_of_three_hertz_is_kept_to_a_thousandth() -> None:
    """The error of a sine falls with the fourth power of the step: far below that of straight lines between samples."""
    values = np.sin(2.0 * np.pi * 3.0 * TIMES)[:, None]
    exact = np.sin(2.0 * np.pi * 3.0 * GRID)[3:-3]
    curve = np.abs(interpolate(TIMES, values, GRID)[3:-3, 0] - exact).max()
    line = np.abs(np.interp(GRID, TIMES, values[:, 0])[3:-3] - exact).max()
    assert curve < 1e-3
    assert curve < 0.2 * line


def test_where_samples_were_lost_nothing_is_made_up() -> None:
    """Between samples that lie too far apart, and beside missing ones, the result is missing; elsewhere it is whole."""
    times = np.delete(np.arange(100) * 0.01, [40, 41])
    values = np.ones((len(times), 1))
    values[10] = np.nan
    grid, _ = uniform_times(times)
    missing = np.flatnonzero(np.isnan(interpolate(times, values, grid)[:, 0]))
    assert missing.tolist() == [10, 40, 41]
    assert np.diff(times).max() > LOST * 0.01
