"""Time stamps: tests for even spacing, the nearest uniform grid, and interpolation between uneven stamps."""

from __future__ import annotations

import numpy as np

ROUNDING = 0.15
"""Deviation, as a fraction of a step, that rounding of a uniform grid explains (1/600 s written as 0.0017)."""
_EXACT = 1e-6
"""Deviation, as a fraction of a step, up to which stamps are left unchanged."""
LOST = 1.8
"""Multiple of the median step from which samples are lost: values are not interpolated over such a step."""


def uniform_times(times: np.ndarray) -> tuple[np.ndarray, bool]:
    """A uniform grid for time stamps.

    Args:
        times: (N,) [s], increasing.

    Returns:
        (grid, same): if ``same``, sample k belongs to ``grid[k]`` (the stamps were uniform but for rounding);
        otherwise the grid has the median step and values must be interpolated to it.
    """
    times = np.asarray(times, float)
    if len(times) < 3:
        return times, True
    index = np.arange(len(times))
    step, start = np.polyfit(index, times, 1)
    grid = start + step * index
    deviation = np.abs(times - grid).max()
    if deviation <= ROUNDING * step:
        return (times if deviation <= _EXACT * step else grid), True
    step = float(np.median(np.diff(times)))
    return times[0] + step * np.arange(int((times[-1] - times[0]) / step + 1e-6) + 1), False


def interpolate(times: np.ndarray, values: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """Values at the times of an even grid, by cubic Hermite curves through uneven samples.

    Args:
        times: (N,) [s], increasing, N > 1.
        values: (N, C), NaN where missing.
        grid: (K,) [s] even, within the times.

    Returns:
        (K, C); NaN between samples that are missing or more than `LOST` median steps apart. The derivative at a sample
        is that of the parabola through it and its neighbours; next to a missing sample the curve is linear.
    """
    usual = float(np.median(np.diff(times)))
    slopes = np.gradient(values, times, axis=0)
    before = np.clip(np.searchsorted(times, grid, side="right") - 1, 0, len(times) - 2)
    step = np.diff(times)[before]
    share = ((grid - times[before]) / step)[:, None]
    start, end = values[before], values[before + 1]
    line = start + share * (end - start)
    bent = share * (1.0 - share) * step[:, None]
    chord = (end - start) / step[:, None]
    curve = line + bent * ((1.0 - share) * (slopes[before] - chord) - share * (slopes[before + 1] - chord))
    result = np.where(np.isfinite(curve), curve, line)
    result[step > LOST * usual] = np.nan
    for sample in (before, before + 1):  # a sample on the grid is returned unchanged
        away = np.abs(times[sample] - grid) / usual
        near = away <= np.where(step > LOST * usual, ROUNDING, _EXACT)
        result[near] = values[sample[near]]
    return result
