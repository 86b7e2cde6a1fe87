"""Laws of flight phases found from the motion alone."""

from __future__ import annotations

import numpy as np
import pytest

from solver.base.errors import InvalidValue
from solver.signals import GRAVITY, find_flights, shrink_runs

TIMES = np.arange(200) / 100.0


def test_free_fall_is_found_and_a_fast_crouch_is_not() -> None:
    """A flight is found only if the acceleration approaches gravity, and starts where it exceeds half of it."""
    vertical = np.zeros(200)
    vertical[20:60] = -GRAVITY
    vertical[100:140] = -0.7 * GRAVITY
    found = find_flights(TIMES, vertical)
    assert found[20:60].all()
    assert found.sum() == 40


def test_a_wave_of_noise_is_no_flight() -> None:
    """Free fall shorter than the shortest flight is no flight, and neither are unknown accelerations."""
    vertical = np.full(200, np.nan)
    vertical[50:55] = -GRAVITY
    assert not find_flights(TIMES, vertical).any()
    vertical[50:57] = -GRAVITY
    assert find_flights(TIMES, vertical).sum() == 7


def test_lengths_are_checked() -> None:
    """Another number of accelerations than frames is an error."""
    with pytest.raises(InvalidValue, match="199 accelerations for 200 frames"):
        find_flights(TIMES, np.zeros(199))


def test_runs_are_shortened_at_both_ends() -> None:
    """Runs are shortened at both ends, and those shorter than both are removed."""
    mask = np.zeros(20, bool)
    mask[2:10] = mask[13:16] = True
    assert np.flatnonzero(shrink_runs(mask, 2)).tolist() == [4, 5, 6, 7]
