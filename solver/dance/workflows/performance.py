"""Comparison of a performance with its plan: alignment in time, and errors of each joint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from ...base.errors import InvalidValue
from ...dynamics.coordinates import continuous_coordinates, coordinate_names
from ...skeleton.rig import Rig
from ...values.motion import Motion

ALIGNMENT_RATE = 25.0
"""[1/s] Sampling rate of the alignment."""
DURATION_RATIOS = tuple(float(s) for s in np.geomspace(0.7, 1.4, 71))
"""Ratios of performed to planned duration that are tried."""
STILL_JOINT = 0.02
"""[rad] A joint with a smaller standard deviation does not move, and has no correlation."""
IDENTITY_ALIGNMENT = (0.0, 1.0)
"""Lag [s] and stretch of a performance with the plan's timing. By definition."""
MIN_OVERLAP = 0.5
"""Least overlap, as a fraction of the shorter of both."""


@dataclass(frozen=True, slots=True)
class Alignment:
    """Alignment in time: planned time t is performed at ``lag + stretch t``; both times start at zero.

    Attributes:
        lag: [s] between the starts.
        stretch: ratio of performed to planned duration; above 1 the performance is slower.
        similarity: joint correlation of all moving joints.
        converged: whether the refinement converged; otherwise lag and stretch are accurate to a frame only.
    """

    lag: float
    stretch: float
    similarity: float
    converged: bool = True


@dataclass(frozen=True, slots=True)
class Performance:
    """Comparison of a recording with its dance.

    Attributes:
        alignment: in time.
        coverage: fraction of the dance that the recording covers.
        joints: K names.
        rmse: (K,) [rad] of the angles.
        offset: (K,) [rad] mean difference, performed minus planned.
        correlation: (K,) NaN for joints that the dance does not move.
        gain: (K,) ratio of performed to planned amplitude, by regression; NaN likewise.
    """

    alignment: Alignment
    coverage: float
    joints: tuple[str, ...]
    rmse: np.ndarray
    offset: np.ndarray
    correlation: np.ndarray
    gain: np.ndarray


def align_in_time(
    rig: Rig, planned: Motion, performed: Motion, stretches: Sequence[float] = DURATION_RATIOS
) -> Alignment:
    """Find lag and stretch by the correlation of all joint angles, refined with a gain for each joint.

    Raises:
        InvalidValue: no joint moves in the plan or the performance, or the recording is too short.
    """
    plan, dance = _resample(rig, planned, 1.0), continuous_coordinates(rig, performed.q)
    moving = plan.std(axis=0) > STILL_JOINT
    if not moving.any():
        raise InvalidValue("the planned motion moves no joint: there is nothing to align")
    if not (dance.std(axis=0) > STILL_JOINT).any():
        raise InvalidValue("the performed motion moves no joint: there is nothing to align")
    best: tuple[float, float, float] = (-np.inf, 0.0, 1.0)
    for stretch in stretches:
        own = _resample(rig, performed, stretch)[:, moving]
        score, lag = _correlate(plan[:, moving], own)
        if score > best[0]:
            best = (score, lag * stretch, stretch)
    if not np.isfinite(best[0]):
        raise InvalidValue("the recording is too short to be compared with the dance")
    times = np.arange(len(plan)) / ALIGNMENT_RATE
    clock = performed.times - performed.times[0]
    least = MIN_OVERLAP * min(times[-1], clock[-1])

    def error(x: np.ndarray) -> float:
        at = x[0] + x[1] * times
        inside = (at >= 0.0) & (at <= clock[-1])
        if inside.sum() < ALIGNMENT_RATE * least:
            return 1e9
        own = np.column_stack([np.interp(at[inside], clock, column) for column in dance[:, moving].T])
        own, goal = own - own.mean(axis=0), plan[inside][:, moving] - plan[inside][:, moving].mean(axis=0)
        cross, square = (own * goal).sum(axis=0), np.maximum((own**2).sum(axis=0), 1e-12)
        # residual of the plan after the best gain of each joint, so that small amplitudes do not shift the alignment
        return float(((goal**2).sum() - (cross**2 / square).sum()) / (goal**2).sum())

    simplex = np.array([[best[1], best[2]], [best[1] + 0.04, best[2]], [best[1], best[2] * 1.005]])
    found = minimize(error, simplex[0], method="Nelder-Mead",
                     options={"initial_simplex": simplex, "xatol": 1e-5, "fatol": 1e-12})  # fmt: skip
    # a search ends only near its optimum; the plan's own timing is exact if it is at least as good
    kept = error(np.array(IDENTITY_ALIGNMENT)) <= found.fun
    lag, stretch = IDENTITY_ALIGNMENT if kept else (float(found.x[0]), float(found.x[1]))
    return Alignment(lag, stretch, best[0], bool(found.success) or kept)


def compare_performance(rig: Rig, planned: Motion, performed: Motion) -> Performance:
    """Compare a recording with its dance.

    Args:
        rig: of both motions.
        planned: the dance.
        performed: the tracked recording, with its own times; it may be longer or shorter.

    Raises:
        InvalidValue: nothing moves, or too little was recorded.
    """
    alignment = align_in_time(rig, planned, performed)
    clock = performed.times - performed.times[0]
    at = alignment.lag + alignment.stretch * (planned.times - planned.times[0])
    inside = (at >= 0.0) & (at <= clock[-1])
    if inside.sum() < ALIGNMENT_RATE * MIN_OVERLAP * min(1.0, clock[-1]):
        raise InvalidValue("the performance and the plan overlap too little to be aligned in time")
    plan = continuous_coordinates(rig, planned.q)[inside]
    dance = continuous_coordinates(rig, performed.q)
    own = np.column_stack([np.interp(at[inside], clock, column) for column in dance.T])
    spread, own_spread = plan - plan.mean(axis=0), own - own.mean(axis=0)
    cross, square = (spread * own_spread).mean(axis=0), (spread**2).mean(axis=0)
    moves = np.sqrt(square) > STILL_JOINT
    with np.errstate(divide="ignore", invalid="ignore"):
        correlation = np.where(moves, cross / (np.sqrt(square) * own_spread.std(axis=0)), np.nan)
        gain = np.where(moves, cross / square, np.nan)
    return Performance(
        alignment,
        float(inside.mean()),
        coordinate_names(rig),
        np.sqrt(((own - plan) ** 2).mean(axis=0)),
        (own - plan).mean(axis=0),
        correlation,
        gain,
    )


def _resample(rig: Rig, motion: Motion, stretch: float) -> np.ndarray:
    """Joint coordinates (N, K) at `ALIGNMENT_RATE` of the motion ``stretch`` times as fast."""
    clock = (motion.times - motion.times[0]) / stretch
    values = continuous_coordinates(rig, motion.q)
    times = np.arange(int(clock[-1] * ALIGNMENT_RATE) + 1) / ALIGNMENT_RATE
    return np.column_stack([np.interp(times, clock, column) for column in values.T])


def _correlate(plan: np.ndarray, own: np.ndarray) -> tuple[float, float]:
    """Best normalised correlation over lags, and the lag [s] of own behind plan."""
    n, m = len(plan), len(own)
    size = 1 << int(np.ceil(np.log2(n + m)))

    def slide(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.fft.irfft(np.fft.rfft(a, size, axis=0) * np.conj(np.fft.rfft(b, size, axis=0)), size, axis=0)

    # sums over the overlap at every lag, so that means and energies are those of the overlap
    ones_plan, ones_own = np.ones((n, 1)), np.ones((m, 1))
    count = np.maximum(np.round(slide(ones_own, ones_plan)), 1.0)
    sum_own, sum_plan = slide(own, ones_plan), slide(ones_own, plan)
    cross = slide(own, plan) - sum_own * sum_plan / count
    energy_own = np.maximum(slide(own**2, ones_plan) - sum_own**2 / count, 0.0).sum(axis=1)
    energy_plan = np.maximum(slide(ones_own, plan**2) - sum_plan**2 / count, 0.0).sum(axis=1)
    enough = (count[:, 0] >= MIN_OVERLAP * min(n, m)) & (energy_plan > 0.0) & (energy_own > 0.0)
    product = np.where(enough, energy_own * energy_plan, 1.0)
    score = np.where(enough, cross.sum(axis=1) / np.sqrt(product), -np.inf)
    at = int(np.argmax(score))
    return float(score[at]), (at if at < size // 2 else at - size) / ALIGNMENT_RATE
