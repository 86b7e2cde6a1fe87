"""Measurement noise and process noise of a motion, estimated from the recording itself.

Process noise: a curve y = x + n is measured, with n white and of known variance at every frame, and the k-th
differences of x white with a variance that changes slowly. Expectation and maximisation alternate: the smoothest x for
the variances, then the variances of x's differences including its uncertainty. The result is where signal and noise are
equally strong, at every moment: a landing stays sharp while the flight before it is smooth.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import comb

import numpy as np
from scipy.linalg.lapack import dpbsv
from scipy.ndimage import gaussian_filter1d

from ...base.errors import BackendError
from ...signals import low_pass
from ...values.filter_presets import FilterPreset

FILTER_ORDER = 2
MAX_FREQUENCY_RATIO = 0.4
"""Fraction of the frame rate above which noise is not estimated."""
MIN_NOISE = 1e-6
"""[m] Smallest standard deviation of a measurement."""
EM_ITERATIONS = 12
"""Iterations of expectation and maximisation. They do not converge on purpose: if noise hides a coordinate, such as the
rotation of a hand with two markers, its variance would vanish and the coordinate would not move."""
START_FREQUENCY = 8.0
"""[Hz] Where signal and noise are equally strong at first: about the highest frequency of body motion."""
VARIANCE_RATIOS = np.exp(np.linspace(-50.0, 15.0, 400))
"""Variances over the noise's for which the uncertainty of a difference is tabulated."""
MAX_START_RATIO = 0.4
"""Upper bound of that frequency as a fraction of the frame rate."""
MIN_VARIANCE_RATIO = 1e-12
"""Smallest variance of a difference over the noise's."""


def estimate_measurement_noise(
    residuals: np.ndarray, coordinates: int, rate: float, band: tuple[float, float], window: float
) -> np.ndarray:
    """Standard deviation (N,) [m] of white noise in each measured coordinate with the given residuals in a frequency
    band.

    Slow residuals are caused by skin and skeleton, whatever their weight. Fast skin motion looks like noise, and like
    body motion if it has a large weight.

    Args:
        residuals: (N, R) [m] measured minus modelled; NaN where not measured.
        coordinates: of the model, by which the residuals' degrees of freedom are reduced.
        rate: frames per second.
        band: [Hz].
        window: [s] standard deviation of the Gaussian average over time.
    """
    high = min(band[1], MAX_FREQUENCY_RATIO * rate)
    low = min(band[0], 0.5 * high)
    presets = [FilterPreset("band of noise", FILTER_ORDER, cutoff, "") for cutoff in (high, low)]
    upper, lower = (low_pass(residuals, rate, part) for part in presets)
    impulse = np.zeros((2 * round(8.0 * rate / low) + 1, 1))
    impulse[len(impulse) // 2] = 1.0
    upper_gain, lower_gain = (low_pass(impulse, rate, part) for part in presets)
    band_gain = float(((upper_gain - lower_gain) ** 2).sum())
    squares = (upper - lower) ** 2
    known = np.isfinite(squares)
    counts = known.sum(axis=1)
    share = np.maximum(1.0 - coordinates / np.maximum(counts, 1), 0.1)
    sums = np.where(known, squares, 0.0).sum(axis=1) / share
    smooth = gaussian_filter1d(np.stack([sums, counts.astype(float)]), window * rate, axis=1, mode="nearest")
    mean = smooth[0] / np.maximum(smooth[1], 1e-9)
    whole = sums.sum() / max(int(counts.sum()), 1)
    mean = np.where(smooth[1] > 1.0, mean, whole)  # far inside a gap only the mean of the recording is known
    return np.sqrt(np.maximum(mean / band_gain, MIN_NOISE**2))


def difference_weights(order: int) -> np.ndarray:
    """(order + 1,) Weights of successive values in their difference of this order."""
    return np.array([(-1.0) ** (order - k) * comb(order, k) for k in range(order + 1)])


def difference_stiffness(variances: np.ndarray, order: int) -> np.ndarray:
    """Diagonals (order + 1, ..., N) of D' diag(1 / variances) D from the variances (..., N - order) of differences."""
    weights = difference_weights(order)
    inverse = 1.0 / variances
    count = variances.shape[-1]
    result = np.zeros((order + 1, *variances.shape[:-1], count + order))
    for first in range(order + 1):
        for second in range(first, order + 1):
            result[second - first, ..., first : first + count] += weights[first] * weights[second] * inverse
    return result


def estimate_process_noise(
    curves: Sequence[np.ndarray], noises: Sequence[np.ndarray], order: int, rate: float, window: float
) -> np.ndarray:
    """Variances (G, N - order) of the differences of this order of G curves, per component.

    Args:
        curves: (N, c) each, as measured.
        noises: (N,) each, variance of one component's noise.
        order: of the differences.
        rate: frames per second.
        window: [s] standard deviation of the Gaussian average of a variance over time.
    """
    group = np.repeat(np.arange(len(curves)), [curve.shape[1] for curve in curves])
    measured = np.concatenate([curve.T for curve in curves])
    noise = np.array(noises)
    length = noise.shape[1] - order
    near = np.mean([noise[:, k : k + length] for k in range(order + 1)], axis=0)
    start = min(START_FREQUENCY / rate, MAX_START_RATIO)
    usual = np.median(near, axis=1, keepdims=True)  # gaps contain no information about the motion
    variances = np.broadcast_to(usual * (2.0 * np.sin(np.pi * start)) ** (2 * order), near.shape)
    counts = np.bincount(group)[:, None]
    for _ in range(EM_ITERATIONS):
        squares = np.diff(smooth_curves(measured, noise[group], variances[group], order), order, axis=1) ** 2
        own = np.zeros_like(near)
        np.add.at(own, group, squares)
        total = own / counts + near * _difference_variance(order, variances / near)
        variances = np.maximum(
            gaussian_filter1d(total, window * rate, axis=1, mode="nearest"), MIN_VARIANCE_RATIO * usual
        )
    return variances


def smooth_curves(measured: np.ndarray, noise: np.ndarray, variances: np.ndarray, order: int) -> np.ndarray:
    """Most likely curves (C, N) for measured ones (C, N), with noise variances (C, N) and differences' variances (C, N
    - order).

    Raises:
        BackendError: a variance is too large or too small.
    """
    band = difference_stiffness(variances, order)
    band[0] += 1.0 / noise
    flat = np.asfortranarray(band.reshape(order + 1, -1))
    _, x, failed = dpbsv(flat, (measured / noise).reshape(-1), lower=1, overwrite_ab=1)
    if failed:
        raise BackendError("the variances of a curve are too large or too small for the smoother")
    return np.asarray(x).reshape(measured.shape)


def _difference_variance(order: int, ratio: np.ndarray) -> np.ndarray:
    """Variance of the differences of a smoothed curve over the noise's, for variances over the noise's ``ratio``."""
    return np.exp(np.interp(np.log(ratio), np.log(VARIANCE_RATIOS), _table(order)))


@lru_cache(maxsize=8)
def _table(order: int) -> np.ndarray:
    """Of a stationary curve at all frequencies: the mean of d s / (s + d), d the differences' gain, s the ratio."""
    gain = (2.0 * np.sin(0.5 * np.pi * (np.arange(2000) + 0.5) / 2000)) ** (2 * order)
    return np.log(np.mean(gain * VARIANCE_RATIOS[:, None] / (VARIANCE_RATIOS[:, None] + gain), axis=1))
