"""Time lag between force plates and motion, estimated from measured and predicted wrenches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from scipy.interpolate import BSpline, make_interp_spline

from ..arrays import Array, ArrayValue, true_runs
from ..errors import InvalidValue
from ..filter_presets import FilterPreset
from ..wrenches import Wrenches
from .pooling import blocks_of, pool, variance_between
from .resample import filter_wrenches

SEARCH = 0.05
"""[s] Lags are searched within +- this; acquisition systems lag by milliseconds."""
STEP = 0.001
_LEAST_STD = 1e-4  # s: lower bound of a lag's standard deviation


@dataclass(frozen=True, slots=True)
class Lag(ArrayValue):
    """Time lag of the plates behind the motion.

    Attributes:
        seconds: positive if a force appears in the plates' record later than in the motion's.
        std: standard deviation [s] by jackknife over blocks of `pooling.BLOCK`; infinite if not determined.
        gains: (k,) ratio of measured to predicted of each axis; 1 if model and plates agree in scale.
        at_bound: the best lag is at the bound of the search and therefore unreliable.
    """

    seconds: float
    std: float
    gains: Annotated[np.ndarray, Array(None)]
    at_bound: bool


def estimate_lag(
    times: np.ndarray,
    predicted: np.ndarray,
    wrenches: Wrenches,
    *,
    preset: FilterPreset | None = None,
    counted: np.ndarray | None = None,
    axes: Sequence[int] | None = None,
) -> Lag:
    """Lag of the best fit measured(t + lag) = gain predicted(t) + constant, with a gain and a constant for each axis.

    The joint likelihood of all axes is profiled over the lag. So a plate's offset and scale do not matter, and each
    axis is weighted by its own residual.

    Args:
        times: (N,) [s] of the motion.
        predicted: (N, k) external wrench from the motion through ``preset``, world axes, about the world origin (or its
            first k components).
        wrenches: at their own rate, unfiltered if ``preset`` is given, otherwise already filtered.
        preset: filter of the motion, applied to the wrenches here.
        counted: (N,) frames to use.
        axes: wrench components of ``predicted``'s columns; by default the first k.

    Raises:
        InvalidValue: too few counted frames with forces, or shapes that do not match.
    """
    times = np.asarray(times, float)
    predicted = np.asarray(predicted, float)
    if predicted.ndim != 2 or len(predicted) != len(times):
        raise InvalidValue(f"predicted has shape {predicted.shape}, expected ({len(times)}, k)")
    axes = tuple(range(predicted.shape[1])) if axes is None else tuple(axes)
    filtered = wrenches if preset is None else filter_wrenches(wrenches, preset)
    total = filtered.total[:, list(axes)]
    lags = np.arange(-round(SEARCH / STEP), round(SEARCH / STEP) + 1) * STEP
    use = np.isfinite(predicted).all(axis=1) & (
        np.ones(len(times), bool) if counted is None else np.asarray(counted, bool)
    )
    curves: list[BSpline] = []
    of_curve = np.full(len(times), -1)
    for start, stop in true_runs(np.isfinite(total).all(axis=1)):
        if stop - start < 6:
            continue
        inside = (times - SEARCH >= filtered.times[start]) & (times + SEARCH <= filtered.times[stop - 1])
        of_curve[inside] = len(curves)
        curves.append(make_interp_spline(filtered.times[start:stop], total[start:stop], k=5))
    use &= of_curve >= 0

    def measured(frames: np.ndarray) -> np.ndarray:
        """Forces (lags, n, k) at frames (n,) for each lag."""
        found = np.empty((len(lags), len(frames), len(axes)))
        for curve in np.unique(of_curve[frames]):
            here = of_curve[frames] == curve
            found[:, here] = curves[curve](times[frames[here]] + lags[:, None])
        return found

    if use.sum() < 4 * len(axes) + 4:
        raise InvalidValue(
            f"only {int(use.sum())} counted frames have forces within {SEARCH:g} s, too few for a time lag"
        )
    sums = np.stack([_sums(predicted[frames], measured(frames)) for frames in blocks_of(times, use)])
    whole = sums.sum(axis=0)
    best, at_bound = _minimum(lags, _residuals(whole))
    others = np.array([_minimum(lags, _residuals(whole - block))[0] for block in sums])
    std = float("inf")
    if len(sums) > 2:
        std = float(np.sqrt((len(sums) - 1) / len(sums) * np.sum((others - others.mean()) ** 2)))
    at = int(np.argmin(np.abs(lags - best)))
    return Lag(best, float("inf") if at_bound else std, _gains(whole)[at], at_bound)


def combine_lags(lags: Sequence[Lag]) -> Lag:
    """One lag for several trials of one laboratory: the mean weighted by inverse variance.

    Its std [s] is increased if trials vary more than their standard deviations explain. Lags at the bound of their
    search, or undetermined, have no weight.

    Raises:
        InvalidValue: no lag is determined.
    """
    if not (known := [lag for lag in lags if np.isfinite(lag.std) and not lag.at_bound]):
        raise InvalidValue("no trial determines the time lag between plates and motion")
    stds = np.array([max(lag.std, _LEAST_STD) for lag in known])
    mean, std = pool([lag.seconds for lag in known], stds)
    return Lag(mean, std, np.average([lag.gains for lag in known], axis=0, weights=stds**-2.0), False)


def trial_lags(lags: Sequence[Lag]) -> tuple[Lag, ...]:
    """Lag of every trial by a random-effects model (DerSimonian and Laird, 1986).

    - If the lags vary no more than their standard deviations explain, every trial has the mean.
    - Otherwise each lag is shrunk towards the mean, by the ratio of its own variance to that between trials.
    - A trial that determines no lag has the mean.

    Raises:
        InvalidValue: no lag is determined.
    """
    mean = combine_lags(lags)
    known = np.array([np.isfinite(lag.std) and not lag.at_bound for lag in lags])
    values = np.array([lag.seconds if determined else mean.seconds for lag, determined in zip(lags, known)])
    variances = np.array([max(lag.std, _LEAST_STD) ** 2 if determined else 0.0 for lag, determined in zip(lags, known)])
    between = variance_between(values[known], variances[known])
    shares = np.where(known, between / (between + variances), 0.0) if between > 0.0 else np.zeros(len(lags))
    own = mean.seconds + shares * (values - mean.seconds)
    remaining = np.where(known, shares * variances, between)
    stds = np.sqrt(remaining + ((1.0 - shares) * mean.std) ** 2)
    return tuple(
        Lag(float(seconds), float(std), lag.gains if determined else mean.gains, False)
        for lag, seconds, std, determined in zip(lags, own, stds, known)
    )


def shift_wrenches(wrenches: Wrenches, lag: float) -> Wrenches:
    """Wrenches synchronised with the motion: time stamps earlier by ``lag`` [s]."""
    return Wrenches(wrenches.times - lag, wrenches.frames, wrenches.values, wrenches.measured)


def _sums(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Count n and sums of x, y, xx, xy, yy over frames: (lags, 6, k)."""
    ones = np.full((len(y), x.shape[1]), float(len(x)))
    plain = np.broadcast_to(x.sum(axis=0), ones.shape)
    square = np.broadcast_to((x**2).sum(axis=0), ones.shape)
    # frames n, channels k, lags l
    cross = np.einsum("nk,lnk->lk", x, y)
    return np.stack([ones, plain, y.sum(axis=1), square, cross, (y**2).sum(axis=1)], axis=1)


def _moments(sums: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    n, x, y, xx, xy, yy = np.moveaxis(sums, 1, 0)
    return xx - x * x / n, xy - x * y / n, yy - y * y / n


def _residuals(sums: np.ndarray) -> np.ndarray:
    """Sum of squared residuals of each lag and axis (lags, k) after the best gain and constant."""
    sxx, sxy, syy = _moments(sums)
    tiny = 1e-12 * np.maximum(syy.max(axis=0), 1e-300)
    return np.maximum(syy - sxy**2 / np.maximum(sxx, 1e-300), tiny)


def _gains(sums: np.ndarray) -> np.ndarray:
    sxx, sxy, _ = _moments(sums)
    return sxy / np.maximum(sxx, 1e-300)


def _minimum(lags: np.ndarray, residuals: np.ndarray) -> tuple[float, bool]:
    """Most likely lag, interpolated by a parabola; and whether it is at the bound of the search.

    Axes are weighted by their own residual: the profile likelihood is the product over axes of residual^(-n/2).
    """
    at = int(np.argmin(np.log(residuals).sum(axis=1)))
    if at in (0, len(lags) - 1):
        return float(lags[at]), True
    near = residuals[at - 1 : at + 2]
    left, middle, right = (near / near.mean(axis=0)).sum(axis=1)
    curvature = left - 2.0 * middle + right
    offset = 0.5 * (left - right) / curvature if curvature > 0.0 else 0.0
    return float(lags[at] + offset * (lags[1] - lags[0])), False
