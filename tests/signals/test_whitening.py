"""Laws of rows whitened by the covariance of noisy positions."""

from __future__ import annotations

import numpy as np
import pytest

from solver.base.errors import InvalidValue
from solver.signals import whiten

RATE, CORNER = 100.0, 2.0


def test_errors_of_noisy_positions_become_independent_and_equal() -> None:
    """The covariance of white noise in positions and accelerations is transformed to the unit matrix."""
    count = 30
    differences = np.diff(np.eye(count + 2), 2, axis=0)
    covariance = np.eye(count) + differences @ differences.T * (RATE / (2.0 * np.pi * CORNER)) ** 4
    operator = whiten(np.eye(count), RATE, CORNER).T
    np.testing.assert_allclose(operator @ covariance @ operator.T, np.eye(count), atol=1e-9)


def test_far_below_the_corner_rows_are_unchanged() -> None:
    """With exact positions a row is unchanged."""
    rows = np.random.default_rng(0).standard_normal((3, 20))
    np.testing.assert_allclose(whiten(rows, RATE, 1e4), rows, atol=1e-4)


def test_least_squares_on_whitened_rows_is_optimal() -> None:
    """A constant acceleration has the error of a parabola fitted to the noisy positions, a quarter of that of their
    mean second difference.
    """
    count, draws = 40, 400
    times = np.arange(-1, count + 1) / RATE
    places = np.random.default_rng(1).standard_normal((draws, count + 2))
    rows = np.diff(places, 2, axis=1) * RATE**2
    column = whiten(np.ones((1, count)), RATE, 0.05)[0]
    found = whiten(rows, RATE, 0.05) @ column / (column @ column)
    parabola = 2.0 * np.polyfit(times, places.T, 2)[0]
    assert np.std(found) == pytest.approx(np.std(parabola), rel=0.01)
    assert np.std(found) < 0.25 * np.std(rows.mean(axis=1))


def test_a_corner_is_positive() -> None:
    """A corner frequency of zero is an error."""
    with pytest.raises(InvalidValue, match="corner"):
        whiten(np.ones((1, 5)), RATE, 0.0)
