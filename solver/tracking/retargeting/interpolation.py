"""Interpolates between the frames of a recording: rotations, positions, and whether a foot is in stance."""

from __future__ import annotations

import numpy as np
from scipy.interpolate import CubicSpline, interp1d

from ...arrays import true_runs
from ...so3 import continuous_signs, to_matrix, to_quaternion

MIN_CURVE_STEPS = 4
"""Fewest steps of a swing that are interpolated by a curve."""


def interpolate_rotations(
    times: np.ndarray, rotations: np.ndarray, instants: np.ndarray, at_rest: np.ndarray | None = None
) -> np.ndarray:
    """Rotations (M, ..., 3, 3) between those (N, ..., 3, 3) at times (N,), see `interpolate_positions`."""
    between = interpolate_positions(times, continuous_signs(to_quaternion(rotations)), instants, at_rest)
    return to_matrix(between / np.linalg.norm(between, axis=-1, keepdims=True))


def interpolate_positions(
    times: np.ndarray, positions: np.ndarray, instants: np.ndarray, at_rest: np.ndarray | None = None
) -> np.ndarray:
    """Positions (M, ...) between those (N, ...) at times (N,), with continuous velocity and acceleration.

    Where they are at rest, (N,) True, they are constant; between they start from rest and return to it.
    """
    if at_rest is None or not at_rest.any():
        return np.asarray(CubicSpline(times, positions)(instants))
    result = positions[np.clip(np.searchsorted(times, instants - 1e-9), 0, len(times) - 1)]
    for start, stop in true_runs(~at_rest):
        first, last = max(start - 1, 0), min(stop, len(times) - 1)
        inside = (instants >= times[first]) & (instants <= times[last])
        if last - first < MIN_CURVE_STEPS or not inside.any():
            result[inside] = interp1d(times[first : last + 1], positions[first : last + 1], axis=0)(instants[inside])
            continue
        ends = (("clamped" if start else "not-a-knot"), ("clamped" if stop < len(times) else "not-a-knot"))
        zero = np.zeros(positions.shape[1:])
        bounds = tuple((1, zero) if end == "clamped" else end for end in ends)
        own = CubicSpline(times[first : last + 1], positions[first : last + 1], bc_type=bounds)
        result[inside] = own(instants[inside])
    return np.asarray(result)


def holds_around(times: np.ndarray, holds: np.ndarray, pace: np.ndarray) -> np.ndarray:
    """Whether a condition (N,) holds in both frames around times (M,) [s] of the recording."""
    after = np.clip(np.searchsorted(times, pace - 1e-9), 1, len(times) - 1)
    exact = np.abs(times[after] - pace) < 1e-9
    return np.asarray(holds[after] & (exact | holds[after - 1]))


def smooth_step(share: np.ndarray) -> np.ndarray:
    """From 0 to 1 without velocity or acceleration at the ends."""
    x = np.clip(share, 0.0, 1.0)
    return np.asarray(x**3 * (10.0 + x * (6.0 * x - 15.0)))
