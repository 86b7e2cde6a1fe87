"""Table I of bailly2019 in discrete time."""

from __future__ import annotations

import numpy as np
import pytest

from solver.base.errors import InvalidValue
from solver.centroidal.complementary_filters import ComplementarySettings, build_filters

FREQUENCIES = np.linspace(0.01, 99.9, 400)


@pytest.mark.parametrize("damping", [0.5, 1.0, 2.0])
def test_filters_sum_to_one(damping: float) -> None:
    """Low, band and high-pass sum to one at every frequency; the band-pass is that of the paper."""
    settings = ComplementarySettings(damping=damping)
    filters = build_filters(settings, 200.0)
    low, high, rest = (f.response(FREQUENCIES, 200.0) for f in (filters.low, filters.high, filters.high_complement))
    # the analogue variable that the substitution puts in the place of j w, cut-offs moved alike
    s = 2j * 200.0 * np.tan(np.pi * FREQUENCIES / 200.0)
    wl, wh = (2.0 * 200.0 * np.tan(np.pi * cutoff / 200.0) for cutoff in (settings.low, settings.high))
    top = (
        2 * damping * wh * s**3
        + (wh**2 - wl**2 + 4 * damping**2 * wh * wl) * s**2
        + 2 * damping * wl * wh**2 * s
    )  # fmt: skip
    bottom = (s**2 + 2 * damping * wl * s + wl**2) * (s**2 + 2 * damping * wh * s + wh**2)
    np.testing.assert_allclose(low + top / bottom + high, 1.0, atol=1e-12)
    np.testing.assert_allclose(rest + high, 1.0, atol=1e-12)
    momentum = filters.momentum.response(np.array([1e-6, 100.0]), 200.0)
    np.testing.assert_allclose(momentum, [1.0, 0.0], atol=1e-5)


def test_cutoffs_are_exact() -> None:
    """A critically damped second-order low-pass has half its gain at its cut-off, after the substitution too."""
    filters = build_filters(ComplementarySettings(high=60.0), 200.0)
    assert abs(abs(filters.low.response(np.array([1.0]), 200.0)[0]) - 0.5) < 1e-12
    assert abs(abs(filters.high.response(np.array([60.0]), 200.0)[0]) - 0.5) < 1e-12


def test_integrating_twice_and_high_passing_is_one_filter() -> None:
    """The filter of the acceleration is the high-pass of its double trapezoidal integral."""
    filters = build_filters(ComplementarySettings(), 200.0)
    generator = np.random.default_rng(0)
    pushed = generator.standard_normal((1, 500))
    step = 1.0 / 200.0
    pushed[:, 0] = 0.0
    speed = np.cumsum(0.5 * step * (pushed + np.roll(pushed, 1, axis=1) * (np.arange(500) > 0)), axis=1)
    place = np.cumsum(0.5 * step * (speed + np.roll(speed, 1, axis=1) * (np.arange(500) > 0)), axis=1)
    np.testing.assert_allclose(filters.high_twice(pushed), filters.high(place), atol=1e-12)


def test_impossible_filters_are_refused() -> None:
    """Cut-offs that cross, lie beyond half the rate or are not numbers are refused before anything is filtered."""
    with pytest.raises(InvalidValue, match="must lie below the high one"):
        ComplementarySettings(low=30.0)
    with pytest.raises(InvalidValue, match="not below half the sample rate"):
        build_filters(ComplementarySettings(), 50.0)
    with pytest.raises(InvalidValue, match="must be positive"):
        ComplementarySettings(damping=float("nan"))
