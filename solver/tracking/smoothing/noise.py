"""How noisy the measurements of a motion are, told by how they disagree with the body that follows them."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import gaussian_filter1d

from ...filter_presets import FilterPreset
from ...signals import low_pass

FILTER_ORDER = 2
MAX_FREQUENCY_RATIO = 0.4
"""Share of the frame rate above which nothing is judged."""
MIN_NOISE = 1e-6
"""[m] No measurement is better."""


def estimate_measurement_noise(
    residuals: np.ndarray, coordinates: int, rate: float, band: tuple[float, float], window: float
) -> np.ndarray:
    """Standard deviation (N,) [m] of white noise in each measured coordinate that disagrees as these do in a band.

    Slow disagreement is the skin's and the skeleton's, and no matter how it is weighed; fast motion of the skin looks
    like noise, and like a motion of the body if it is believed.

    Args:
        residuals: (N, R) [m] measured minus modelled; NaN where not measured.
        coordinates: of the model, which took as many off.
        rate: frames per second.
        band: [Hz].
        window: [s] standard deviation of the Gaussian over which they are averaged.
    """
    high = min(band[1], MAX_FREQUENCY_RATIO * rate)
    low = min(band[0], 0.5 * high)
    parts = [FilterPreset("band of noise", FILTER_ORDER, cutoff, "") for cutoff in (high, low)]
    upper, lower = (low_pass(residuals, rate, part) for part in parts)
    impulse = np.zeros((2 * round(8.0 * rate / low) + 1, 1))
    impulse[len(impulse) // 2] = 1.0
    upper_gain, lower_gain = (low_pass(impulse, rate, part) for part in parts)
    kept = float(((upper_gain - lower_gain) ** 2).sum())
    squares = (upper - lower) ** 2
    known = np.isfinite(squares)
    counts = known.sum(axis=1)
    share = np.maximum(1.0 - coordinates / np.maximum(counts, 1), 0.1)
    sums = np.where(known, squares, 0.0).sum(axis=1) / share
    frames = window * rate
    smooth = gaussian_filter1d(np.stack([sums, counts.astype(float)]), frames, axis=1, mode="nearest")
    mean = smooth[0] / np.maximum(smooth[1], 1e-9)
    whole = sums.sum() / max(int(counts.sum()), 1)
    mean = np.where(smooth[1] > 1.0, mean, whole)  # far inside a gap nothing is known but the rest
    return np.sqrt(np.maximum(mean / kept, MIN_NOISE**2))
