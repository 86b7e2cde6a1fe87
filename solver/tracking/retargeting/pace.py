"""Slower where joints would have to be faster than they are: time is stretched around those moments, smoothly."""

from __future__ import annotations

import numpy as np
from scipy.interpolate import CubicSpline, PchipInterpolator
from scipy.ndimage import maximum_filter1d, uniform_filter1d

from ...rig import ROOT_NV, Rig
from ...so3 import continuous, to_matrix, to_quaternion
from .posing import Poses

AROUND = 0.2
"""[s] before and after a moment that is too fast in which time is stretched as much as in it."""
ROOM = 0.95
"""Share of a joint's speed limit that is aimed at: feet that are brought back ask for a little more."""


def stretch(rig: Rig, times: np.ndarray, poses: Poses, room: float) -> np.ndarray:
    """(N - 1,) by how much longer each step must last for a share ``room`` of the limits; at least 1, without jumps."""
    speeds = np.abs(np.diff(poses.y[:, ROOT_NV:], axis=0)) / np.diff(times)[:, None]
    with np.errstate(invalid="ignore"):
        needed = np.maximum((speeds / (room * rig.limits.speed)).max(axis=1, initial=0.0), 1.0)
    width = 2 * int(np.ceil(AROUND / np.median(np.diff(times)))) + 1
    needed = maximum_filter1d(needed, width, mode="nearest")
    for _ in range(2):  # the mean of maxima over one width is at least each of them in its middle
        needed = uniform_filter1d(needed, max(width // 2, 1), mode="nearest")
    return np.asarray(np.maximum(needed, 1.0))


def stretched(times: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """Times (N,) [s] when each step lasts so many times as long."""
    return np.asarray(times[0] + np.concatenate([[0.0], np.cumsum(np.diff(times) * factors)]))


def turns_at(times: np.ndarray, turns: np.ndarray, instants: np.ndarray) -> np.ndarray:
    """Rotations (M, ..., 3, 3) between those (N, ..., 3, 3) of times (N,): they rest where neighbours are equal."""
    between = PchipInterpolator(times, continuous(to_quaternion(turns)), axis=0)(instants)
    return to_matrix(between / np.linalg.norm(between, axis=-1, keepdims=True))


def places_at(times: np.ndarray, places: np.ndarray, instants: np.ndarray) -> np.ndarray:
    """Places (M, ...) between those (N, ...) of times (N,): they rest where neighbours are equal."""
    return np.asarray(PchipInterpolator(times, places, axis=0)(instants))


def poses_at(times: np.ndarray, poses: Poses, instants: np.ndarray) -> Poses:
    """Poses between those of times (N,) [s], without jumps of speed or acceleration."""
    quaternions = CubicSpline(times, continuous(to_quaternion(poses.turn)))(instants)
    turn = to_matrix(quaternions / np.linalg.norm(quaternions, axis=1, keepdims=True))
    return Poses(turn, CubicSpline(times, poses.y)(instants))
