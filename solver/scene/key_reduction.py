"""Reduction of keys: cubics through few keys of a sampled curve stay within a tolerance of every sample."""

from __future__ import annotations

import numpy as np

from ..base.errors import InvalidValue


def central_slopes(frames: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Slopes (N, C) per frame of values (N, C), by central differences."""
    return np.gradient(values, frames, axis=0) if len(frames) > 1 else np.zeros_like(values)


def hermite_cubic(frames: np.ndarray, values: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """Values (N, C) of cubic Hermite splines through some samples, with the slopes of the samples.

    Args:
        frames: (N,) rising.
        values: (N, C) samples.
        keys: (K,) increasing indices of samples, with the first and the last.
    """
    place = np.clip(np.searchsorted(keys, np.arange(len(frames)), side="right") - 1, 0, len(keys) - 2)
    before, after = keys[place], keys[place + 1]
    length = (frames[after] - frames[before])[:, None]
    s = ((frames - frames[before])[:, None]) / length
    slopes = central_slopes(frames, values)
    rest = (3.0 - 2.0 * s) * s**2
    bent = length * (s * (1.0 - s) ** 2 * slopes[before] - s**2 * (1.0 - s) * slopes[after])
    return (1.0 - rest) * values[before] + rest * values[after] + bent


def select_keys(frames: np.ndarray, values: np.ndarray, tolerance: float) -> np.ndarray:
    """Indices (K,) of keys: the sample with the largest error is added until all errors are within the tolerance.

    Args:
        frames: (N,) rising.
        values: (N, C) of channels with common keys.
        tolerance: on the Euclidean distance between a sample and the cubic, in the unit of the values.

    Raises:
        InvalidValue: a tolerance that is not positive.

    Example:
        >>> frames = np.arange(100.0)
        >>> len(enough_keys(frames, np.sin(0.06 * frames)[:, None], 1e-3)) < 12
        True
    """
    if not tolerance > 0.0:
        raise InvalidValue(f"the tolerance must be positive, got {tolerance:g}")
    kept = np.unique([0, len(frames) - 1])
    while 2 <= len(kept) < len(frames):
        away = np.linalg.norm(hermite_cubic(frames, values, kept) - values, axis=1)
        worst = int(np.argmax(away))
        if away[worst] <= tolerance:
            break
        kept = np.insert(kept, np.searchsorted(kept, worst), worst)
    return kept
