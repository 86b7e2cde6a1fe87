"""Key reduction: cubics through few keys stay within the tolerance of every sample."""

from __future__ import annotations

import numpy as np
import pytest

from solver.base.errors import InvalidValue
from solver.scene.key_reduction import hermite_cubic, select_keys


@pytest.mark.parametrize("tolerance", [1e-1, 1e-2, 1e-3, 1e-5])
def test_no_sample_is_farther_away_than_the_tolerance(tolerance: float) -> None:
    """It holds for rough and smooth channels together, at uneven frames."""
    random = np.random.default_rng(5)
    frames = np.cumsum(random.uniform(0.5, 1.5, 300))
    values = np.stack([np.sin(0.05 * frames), random.normal(0.0, 0.02, 300), np.abs(frames - 150.0) / 100.0], axis=1)
    kept = select_keys(frames, values, tolerance)
    assert np.linalg.norm(hermite_cubic(frames, values, kept) - values, axis=1).max() <= tolerance


def test_a_line_needs_its_ends_and_a_wave_a_few_keys_each_period() -> None:
    """The number of keys follows the curvature."""
    frames = np.arange(200.0)
    assert select_keys(frames, 3.0 - 0.2 * frames[:, None], 1e-9).tolist() == [0, 199]
    assert len(select_keys(frames, np.sin(2.0 * np.pi * frames / 50.0)[:, None], 0.01)) < 30


def test_a_tolerance_must_be_positive() -> None:
    """Without a tolerance every frame would be a key."""
    with pytest.raises(InvalidValue, match="positive"):
        select_keys(np.arange(5.0), np.zeros((5, 1)), 0.0)
