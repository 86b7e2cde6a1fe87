"""Resampling of forces to the motion's times without aliasing, also with rounded time stamps."""

from __future__ import annotations

import numpy as np
from scipy.interpolate import make_interp_spline

from ..base.arrays import true_runs
from ..base.clock import uniform_times
from ..base.errors import InvalidValue
from ..values.filter_presets import FilterPreset
from ..values.wrenches import Wrenches
from .filters import low_pass

ANTI_ALIAS_ORDER = 4
ANTI_ALIAS_CUTOFF = 0.4
"""Cut-off of the anti-alias filter as a fraction of the new rate: two passes leave 2 % at the new Nyquist frequency."""
_DEGREE = 5


def rate_of_grid(times: np.ndarray) -> float:
    """Samples per second over the whole record, independent of the rounding of single stamps."""
    return (len(times) - 1) / float(times[-1] - times[0])


def filter_wrenches(wrenches: Wrenches, preset: FilterPreset) -> Wrenches:
    """Wrenches filtered by a preset at their own rate.

    Force and moment about the world origin are filtered. Unlike a centre of pressure they are linear in the wrench, so
    sums over plates and changes of the reference point stay exact.

    Raises:
        InvalidValue: the cut-off is not below half the rate, or the stamps are not uniform.
    """
    grid, same = uniform_times(wrenches.times)
    if not same:
        raise InvalidValue(
            "force samples are not evenly spaced in time, so they cannot be filtered; resample them first"
        )
    filtered = low_pass(_zero_unmeasured(wrenches), rate_of_grid(grid), preset)
    return Wrenches(grid, wrenches.frames, filtered, wrenches.measured)


def _zero_unmeasured(wrenches: Wrenches) -> np.ndarray:
    """Values (N, K, 6) with zeros in components that are never measured, so that they cause no gaps in the others."""
    return np.where(~np.asarray(wrenches.measured).any(axis=0), 0.0, wrenches.values)


def resample(wrenches: Wrenches, times: np.ndarray, preset: FilterPreset | None = None) -> Wrenches:
    """Wrenches at other times, low-pass filtered first against aliasing.

    Args:
        wrenches: at their own rate.
        times: (N,) [s].
        preset: the motion's filter, applied at the native rate; None: only an anti-alias filter, if the new rate is
            lower.

    Returns:
        Wrenches at ``times``: NaN outside the record and inside longer gaps.

    Raises:
        InvalidValue: no overlap in time, or the cut-off is above half of either rate.
    """
    times = np.asarray(times, float)
    grid, same = uniform_times(wrenches.times)
    if times[-1] < grid[0] or times[0] > grid[-1]:
        raise InvalidValue(
            f"forces ({grid[0]:g} to {grid[-1]:g} s) and motion ({times[0]:g} to {times[-1]:g} s) do not overlap"
        )
    assert wrenches.measured is not None
    if not same:
        values = _interpolate(wrenches.times, _zero_unmeasured(wrenches), grid, 1)
        nearest = np.searchsorted(wrenches.times, grid).clip(0, len(wrenches) - 1)
        wrenches = Wrenches(grid, wrenches.frames, values, wrenches.measured[nearest])
    native, rate = rate_of_grid(grid), rate_of_grid(times) if len(times) > 1 else np.inf
    if preset is None and rate < native * (1.0 - 1e-6):
        preset = FilterPreset("anti-alias", ANTI_ALIAS_ORDER, ANTI_ALIAS_CUTOFF * rate)
    elif preset is not None and preset.design_cutoff >= 0.5 * rate:
        raise InvalidValue(
            f"filter {preset.name!r} cuts off at {preset.design_cutoff:g} Hz, too high for {rate:g} samples/s: "
            "choose a lower cut-off or a higher rate"
        )
    if preset is not None:
        wrenches = filter_wrenches(wrenches, preset)
    values = _interpolate(grid, _zero_unmeasured(wrenches), times, _DEGREE)
    assert wrenches.measured is not None
    nearest = np.abs(np.searchsorted(grid, times - 0.5 / native)).clip(0, len(grid) - 1)
    return Wrenches(times, wrenches.frames, values, wrenches.measured[nearest])


def _interpolate(old: np.ndarray, values: np.ndarray, new: np.ndarray, degree: int) -> np.ndarray:
    """Spline through each finite segment (N, ...), evaluated at ``new``; NaN elsewhere. Equal times copy values."""
    if len(old) == len(new) and np.array_equal(old, new):
        return np.array(values)
    columns = values.reshape(len(old), -1)
    result = np.full((len(new), columns.shape[1]), np.nan)
    slack = 0.5 * (old[-1] - old[0]) / max(len(old) - 1, 1)  # rounded stamps may end half a step early
    for start, stop in true_runs(np.isfinite(columns).all(axis=1)):
        inside = (new >= old[start] - slack) & (new <= old[stop - 1] + slack)
        if not inside.any():
            continue
        if stop - start == 1:
            result[inside] = columns[start]
            continue
        k = min(degree, stop - start - 1)
        k -= (k + 1) % 2  # odd degrees only: even ones have their knots between samples
        spline = make_interp_spline(old[start:stop], columns[start:stop], k=k)
        result[inside] = spline(new[inside].clip(old[start], old[stop - 1]))
    return result.reshape(len(new), *values.shape[1:])
