"""Time scaling: stretches time smoothly around moments in which joints would exceed their speed limits."""

from __future__ import annotations

import numpy as np
from scipy.interpolate import CubicSpline, PchipInterpolator
from scipy.ndimage import maximum_filter1d, uniform_filter1d

from ...rig import ROOT_NV, Rig
from ...so3 import continuous_signs, to_matrix, to_quaternion
from .pose_solver import Poses

WIDENING_TIME = 0.2
"""[s] before and after a moment that is too fast in which time is stretched as much as in it."""
FIRST_SPEED_FRACTION, LATER_SPEED_FRACTION = 0.95, 0.99
"""Fractions of a joint's speed limit that are used, at first and in further iterations: corrections of the feet need a
little more."""


def required_stretch(
    rig: Rig, times: np.ndarray, poses: Poses, converged: np.ndarray, speed_fraction: float
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
    width = 2 * int(np.ceil(WIDENING_TIME / np.median(np.diff(times)))) + 1
    needed = maximum_filter1d(needed, width, mode="nearest")
    for _ in range(2):  # the mean of maxima over one width is at least each of them in its middle
        needed = uniform_filter1d(needed, max(width // 2, 1), mode="nearest")
    return np.asarray(np.maximum(needed, 1.0))


def stretch_times(times: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """Times (N,) [s] with the duration of each step multiplied by its factor."""
    return np.asarray(times[0] + np.concatenate([[0.0], np.cumsum(np.diff(times) * factors)]))


def even_times(ends: np.ndarray, step: float) -> np.ndarray:
    """Times (M,) [s] at equal intervals within ``ends``."""
    return np.asarray(ends[0] + step * np.arange(int(np.floor((ends[-1] - ends[0]) / step + 1e-9)) + 1))


def interpolate_recording_times(ends: np.ndarray, times: np.ndarray, instants: np.ndarray) -> np.ndarray:
    """Times (M,) [s] of the recording at instants (M,), when its frames (N,) come at ``ends``; monotonic and smooth."""
    return np.asarray(PchipInterpolator(ends, times)(np.clip(instants, ends[0], ends[-1])))


def interpolate_poses(times: np.ndarray, poses: Poses, instants: np.ndarray) -> Poses:
    """Poses between those at times (N,) [s], with continuous velocity and acceleration."""
    quaternions = CubicSpline(times, continuous_signs(to_quaternion(poses.root_rotations)))(instants)
    rotation = to_matrix(quaternions / np.linalg.norm(quaternions, axis=1, keepdims=True))
    return Poses(rotation, CubicSpline(times, poses.y)(instants))


def ease_ends(clock: np.ndarray, length: float, duration: float) -> np.ndarray:
    """Time (N,) [s] in a motion of this length, at times (N,) [s] of a clock on which it lasts longer: slow at both
    ends only.

    The rate grows smoothly from zero to that of the clock.
    """
    span = duration - length
    shares = (np.clip(way / span, 0.0, 1.0) for way in (clock, duration - clock))
    first, last = (span * x**3 * (1.0 - 0.5 * x) for x in shares)
    return np.where(clock < span, first, np.where(duration - clock < span, length - last, clock - 0.5 * span))
