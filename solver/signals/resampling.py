"""Resampling of forces to the motion's times without aliasing, also with rounded time stamps, and their time lag."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import make_interp_spline

from ..base.arrays import true_runs
from ..base.clock import uniform_times
from ..base.errors import InvalidValue
from ..base.file_arrays import map_slices
from ..values.filter_presets import FilterPreset
from ..values.wrenches import Wrenches
from .filters import low_pass, padding
from .gaps import LONGEST_GAP

ANTI_ALIAS_ORDER = 4
ANTI_ALIAS_CUTOFF = 0.4
"""Cut-off of the anti-alias filter as a fraction of the new rate: two passes leave 2 % of the power at the new Nyquist
frequency. Derived: (1 + 1.25^8)^-2."""
DEGREE = 5
"""Degree of the interpolating spline; the error of its second derivative is of fourth order. Derived: a spline of
degree k has an error of order k - 1 in its second derivative; of fourth order is more accurate than the motion is
smooth."""
PIECE = 2**12
"""Samples that are resampled at once. Chosen on eight plates at 1,000 Hz, resampled to 100 Hz: 16 MB of each array."""


def rate_of_grid(times: np.ndarray) -> float:
    """Samples per second over the whole record, independent of the rounding of single stamps."""
    return (len(times) - 1) / float(times[-1] - times[0])


@dataclass(frozen=True, slots=True)
class Lag:
    """Time lag of the plates behind the motion.

    Attributes:
        seconds: positive if a force appears in the plates' record later than in the motion's.
        std: standard deviation [s].
    """

    seconds: float
    std: float


def shift_wrenches(wrenches: Wrenches, lag: float) -> Wrenches:
    """Wrenches synchronised with the motion: time stamps earlier by ``lag`` [s]."""
    return Wrenches(wrenches.times - lag, wrenches.frames, wrenches.values, wrenches.measured)


def filter_wrenches(wrenches: Wrenches, preset: FilterPreset) -> Wrenches:
    """Wrenches filtered by a preset at their own rate.

    Force and moment about the world origin are filtered. Unlike a centre of pressure they are linear in the wrench, so
    sums over plates and changes of the reference point stay exact.

    Raises:
        InvalidValue: the cut-off is not below half the rate, or the stamps are not uniform.
    """
    return resample(wrenches, uniform_times(wrenches.times)[0], preset)


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
        InvalidValue: no overlap in time, uneven samples, or the cut-off is above half of either rate.
    """
    times = np.asarray(times, float)
    grid, same = uniform_times(wrenches.times)
    if times[-1] < grid[0] or times[0] > grid[-1]:
        raise InvalidValue(
            f"forces ({grid[0]:g} to {grid[-1]:g} s) and motion ({times[0]:g} to {times[-1]:g} s) do not overlap"
        )
    if not same:
        raise InvalidValue(
            "force samples are not evenly spaced in time, so they cannot be filtered; resample them first"
        )
    assert wrenches.measured is not None
    native, rate = rate_of_grid(grid), rate_of_grid(times) if len(times) > 1 else np.inf
    if preset is None and rate < native * (1.0 - 1e-6):
        preset = FilterPreset("anti-alias", ANTI_ALIAS_ORDER, ANTI_ALIAS_CUTOFF * rate)
    elif preset is not None and preset.design_cutoff >= 0.5 * rate:
        raise InvalidValue(
            f"filter {preset.name!r} cuts off at {preset.design_cutoff:g} Hz, too high for {rate:g} samples/s: "
            "choose a lower cut-off or a higher rate"
        )
    is_same, measured, reach = (
        np.array_equal(grid, times),
        wrenches.measured.any(axis=0),
        LONGEST_GAP + (DEGREE + 1) / native,
    )
    reach += 0.0 if preset is None else 2.0 * padding(preset, native) / native

    def resample_piece(some: slice) -> np.ndarray:
        first, last = np.searchsorted(grid, [times[some.start] - reach, times[some.stop - 1] + reach])
        own = slice(max(first - 1, 0), last + 1)
        values = np.where(measured, wrenches.values[own], 0.0)
        filtered = values if preset is None else low_pass(values, native, preset)
        if is_same:
            return filtered[some.start - own.start :][: some.stop - some.start]
        return _interpolate(grid[own], filtered, times[some])

    values = map_slices(len(times), resample_piece, PIECE)
    nearest = np.abs(np.searchsorted(grid, times - 0.5 / native)).clip(0, len(grid) - 1)
    return Wrenches(times, wrenches.frames, values, wrenches.measured[nearest])


def _interpolate(old: np.ndarray, values: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Spline through each finite segment (N, ...), evaluated at ``new``; NaN elsewhere."""
    columns = values.reshape(len(old), -1)
    result = np.full((len(new), columns.shape[1]), np.nan)
    slack = 0.5 * np.ptp(old) / max(len(old) - 1, 1)  # rounded stamps may end half a step early
    for start, stop in true_runs(np.isfinite(columns).all(axis=1)):
        inside = (new >= old[start] - slack) & (new <= old[stop - 1] + slack)
        if not inside.any():
            continue
        if stop - start == 1:
            result[inside] = columns[start]
            continue
        k = min(DEGREE, stop - start - 1)
        k -= (k + 1) % 2  # odd degrees only: even ones have their knots between samples
        spline = make_interp_spline(old[start:stop], columns[start:stop], k=k)
        result[inside] = spline(new[inside].clip(old[start], old[stop - 1]))
    return result.reshape(len(new), *values.shape[1:])
