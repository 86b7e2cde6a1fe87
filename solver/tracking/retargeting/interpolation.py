"""Interpolates between the frames of a recording, and smooths them: rotations, positions, and contacts.

Time scaling stretches time smoothly around moments in which joints would exceed their speed limits.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.interpolate import BSpline, CubicSpline, PchipInterpolator
from scipy.ndimage import maximum_filter1d, uniform_filter1d

from ... import qp
from ...base.so3 import continuous_signs, to_matrix, to_quaternion
from ...signals import low_pass
from ...skeleton.rig import ROOT_NV, Rig
from ...values.filter_presets import FilterPreset
from .pose_solver import SolvedPoses

DEGREE, KNOT_SPACING, BOUND_RATE = 5, 0.05, 100.0
"""Degree, distance [s] between knots, and rate [1/s] of the bounds, of smooth paths between bounds. Chosen on the
walks of `contacts.rolling.TOUCHING_HEIGHT`; no other values were tried."""
SIZE_UNIT, ACCELERATION_UNIT = 0.03, 0.5
"""[m, m/s^2] Size and acceleration of such a path that cost the same: a twentieth of gravity. Chosen on the walks
of `contacts.rolling.TOUCHING_HEIGHT`; .06 and .3, and .1 and .3, brought nothing."""
POSE_FILTER = FilterPreset("retargeting", 2, 6.0, "poses of a followed motion")
WIDENING_TIME = 0.2
"""[s] before and after a moment that is too fast in which time is stretched as much as in it."""
SPEED_FRACTION = 0.95
"""Fraction of a joint's speed limit that is used where it is exceeded: corrections of the feet need a little more."""


def interpolate_rotations(times: np.ndarray, rotations: np.ndarray, instants: np.ndarray) -> np.ndarray:
    """Rotations (M, ..., 3, 3) between those (N, ..., 3, 3) at times (N,); velocity and acceleration are continuous."""
    return _rotations(interpolate_positions(times, continuous_signs(to_quaternion(rotations)), instants))


def interpolate_positions(times: np.ndarray, positions: np.ndarray, instants: np.ndarray) -> np.ndarray:
    """Positions (M, ...) between those (N, ...) at times (N,), with continuous velocity and acceleration."""
    return np.asarray(CubicSpline(times, positions)(instants))


def low_pass_rotations(times: np.ndarray, rotations: np.ndarray, preset: FilterPreset = POSE_FILTER) -> np.ndarray:
    """Rotations (N, 3, 3) at times (N,) [s], low-passed."""
    return _rotations(low_pass_positions(times, continuous_signs(to_quaternion(rotations)), preset))


def low_pass_positions(times: np.ndarray, positions: np.ndarray, preset: FilterPreset = POSE_FILTER) -> np.ndarray:
    """Positions (N, n) at times (N,) [s], low-passed."""
    return low_pass(positions, (len(times) - 1) / (times[-1] - times[0]), preset)


def _rotations(quaternions: np.ndarray) -> np.ndarray:
    """Rotations (N, ..., 3, 3) of quaternions (N, ..., 4) of any length."""
    return to_matrix(quaternions / np.linalg.norm(quaternions, axis=-1, keepdims=True))


def smooth_between(
    times: np.ndarray, low: np.ndarray, high: np.ndarray, acceleration_unit: float = ACCELERATION_UNIT
) -> np.ndarray:
    """The spline (N,) [m] of least size and acceleration between bounds (N,), which may be infinite.

    An acceleration of the unit [m/s^2] costs as much as a size of `SIZE_UNIT`.
    """
    looked = select_frames(times, 1.0 / BOUND_RATE)
    (values, bends), (positions, _) = spline_bases(times, times[looked]), spline_bases(times, times)
    bounded, count = np.flatnonzero(np.isfinite(low[looked]) | np.isfinite(high[looked])), values.shape[1]
    problem = qp.Problem(
        sparse.csc_array(values.T @ values / SIZE_UNIT**2 + bends.T @ bends / acceleration_unit**2),
        np.zeros(count),
        qp.Rows(values[bounded], low[looked][bounded], high[looked][bounded], ("bound",) * len(bounded)),
        np.full(count, -np.inf),
        np.full(count, np.inf),
    )
    return np.asarray(positions @ qp.solve(problem, qp.SPARSE, tolerance=1e-6).x)


def select_frames(times: np.ndarray, interval: float) -> np.ndarray:
    """Frames at about this interval [s] of times (N,) [s], the last one included."""
    step = max(1, round(interval * (len(times) - 1) / (times[-1] - times[0])))
    return np.unique(np.append(np.arange(0, len(times), step), len(times) - 1))


def spline_bases(times: np.ndarray, instants: np.ndarray) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Values and second derivatives (M, m) at instants (M,) [s] of basis functions of splines over times (N,) [s]."""
    first, last = float(times[0]), float(times[-1])
    spans = max(DEGREE, round((last - first) / KNOT_SPACING))  # with fewer no spline would be at rest at both ends
    wide = (last - first) / spans
    knots = first + wide * np.arange(-DEGREE, spans + DEGREE + 1)
    count, inside = spans + DEGREE, np.clip(instants, first, last)
    value = BSpline.design_matrix(inside, knots, DEGREE, extrapolate=True)
    slope, again = (
        sparse.csr_array(sparse.diags_array([-1.0, 1.0], offsets=[0, 1], shape=(size - 1, size)) / wide)
        for size in (count, count - 1)
    )
    bend = BSpline.design_matrix(inside, knots[2:-2], DEGREE - 2, extrapolate=True) @ again @ slope
    return sparse.csr_array(value), sparse.csr_array(bend)


def smooth_maximum(times: np.ndarray, values: np.ndarray, reach: float, width: float) -> np.ndarray:
    """Largest of values (N, ...) at times (N,) [s] within ``reach`` [s]; thrice a moving average over ``width`` [s]."""
    step = float(np.median(np.diff(times)))
    values = maximum_filter1d(values, 2 * int(np.ceil(reach / step)) + 1, axis=0, mode="nearest")
    for _ in range(3):
        values = uniform_filter1d(values, max(1, round(width / step)), axis=0, mode="nearest")
    return np.maximum(values, 0.0)  # moving averages leave rounding below zero


def holds_around(times: np.ndarray, holds: np.ndarray, pace: np.ndarray) -> np.ndarray:
    """Whether a condition (N,) holds in both frames around times (M,) [s] of the recording."""
    after = np.clip(np.searchsorted(times, pace - 1e-9), 1, len(times) - 1)
    exact = np.abs(times[after] - pace) < 1e-9
    return np.asarray(holds[after] & (exact | holds[after - 1]))


def smooth_step(share: np.ndarray) -> np.ndarray:
    """From 0 to 1 without velocity or acceleration at the ends."""
    x = np.clip(share, 0.0, 1.0)
    return np.asarray(x**3 * (10.0 + x * (6.0 * x - 15.0)))


def required_stretch(
    rig: Rig, times: np.ndarray, poses: SolvedPoses, converged: np.ndarray, speed_fraction: float
) -> np.ndarray:
    """Factors (N - 1,), at least 1 and smooth, by which each step must last longer.

    Args:
        rig: whose speed limits are kept.
        times: (N,) [s].
        poses: N of them.
        converged: (N,) whether each pose converged; steps to or from others need no time.
        speed_fraction: fraction of the limits that is used.
    """
    speeds = np.abs(np.diff(poses.y[:, ROOT_NV:], axis=0)) / np.diff(times)[:, None]
    speeds[~(converged[1:] & converged[:-1])] = 0.0
    with np.errstate(invalid="ignore"):
        needed = np.maximum((speeds / (speed_fraction * rig.limits.speed)).max(axis=1, initial=0.0), 1.0)
    return 1.0 + smooth_maximum(times, needed - 1.0, WIDENING_TIME, WIDENING_TIME)


def stretch_times(times: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """Times (N,) [s] with the duration of each step multiplied by its factor."""
    return np.asarray(times[0] + np.concatenate([[0.0], np.cumsum(np.diff(times) * factors)]))


def even_times(ends: np.ndarray, step: float) -> np.ndarray:
    """Times (M,) [s] at equal intervals within ``ends``."""
    return np.asarray(ends[0] + step * np.arange(int(np.floor((ends[-1] - ends[0]) / step + 1e-9)) + 1))


def interpolate_recording_times(ends: np.ndarray, times: np.ndarray, instants: np.ndarray) -> np.ndarray:
    """Times (M,) [s] of the recording at instants (M,), when its frames (N,) come at ``ends``; monotonic and smooth."""
    return np.asarray(PchipInterpolator(ends, times)(np.clip(instants, ends[0], ends[-1])))


def interpolate_poses(times: np.ndarray, poses: SolvedPoses, instants: np.ndarray) -> SolvedPoses:
    """Poses between those at times (N,) [s], with continuous velocity and acceleration."""
    rotations = interpolate_rotations(times, poses.root_rotations, instants)
    return SolvedPoses(rotations, interpolate_positions(times, poses.y, instants))


def ease_ends(clock: np.ndarray, length: float, duration: float) -> np.ndarray:
    """Time (N,) [s] in a motion of this length, at times (N,) [s] of a clock on which it lasts longer: slow at both
    ends only.

    The rate grows smoothly from zero to that of the clock.
    """
    span = duration - length
    shares = (np.clip(way / span, 0.0, 1.0) for way in (clock, duration - clock))
    first, last = (span * x**3 * (1.0 - 0.5 * x) for x in shares)
    return np.where(clock < span, first, np.where(duration - clock < span, length - last, clock - 0.5 * span))
