"""Wrenches that are hidden from an estimator, and the error of its wrenches there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from solver.base.errors import InvalidValue
from solver.centroidal.signal_checks import flight_intervals
from solver.centroidal.values import AXES, CentroidalData, CentroidalEstimate
from solver.signals import GRAVITY, low_pass, true_runs
from solver.values.filter_presets import preset_of

HIDDEN_SECONDS = (0.1, 0.2)
"""[s] lengths of hidden intervals of stance."""
MIN_SEPARATION = 0.3
"""[s] of known wrench between intervals that are hidden at once."""
MARGIN = 0.03
"""[s] at either end of a loaded interval in which nothing is hidden."""
LOADED = 0.2
"""Fraction of the body weight from which a stance counts as loaded."""
BAND = preset_of("human_8hz")
"""Filter of both sides of a comparison, as in identification."""


def hidden_masks(data: CentroidalData, seconds: float) -> Iterator[np.ndarray]:
    """(N,) masks of frames to hide, each with intervals of that length; of flights if ``seconds`` is zero.

    Together they cover every loaded interval once.
    """
    known, up = data.known, data.force[:, 2]
    if seconds == 0.0:
        spans = list(flight_intervals(data, by_motion=False))
    else:
        size, margin = round(seconds * data.rate), round(MARGIN * data.rate)
        loaded = true_runs(known & (up > LOADED * data.mass * GRAVITY))
        spans = [
            (first, first + size)
            for begin, end in loaded
            for first in range(begin + margin, end - margin - size + 1, size)
        ]
    groups: list[list[tuple[int, int]]] = []
    for span in spans:
        free = [group for group in groups if span[0] - group[-1][1] >= MIN_SEPARATION * data.rate]
        free[0].append(span) if free else groups.append([span])
    for group in groups:
        mask = np.zeros(len(data), bool)
        for begin, end in group:
            mask[begin:end] = True
        yield mask


def wrench_error(data: CentroidalData, wrench: np.ndarray, frames: np.ndarray) -> np.ndarray:
    """(n, 6) wrench minus the measured one in chosen frames (N,), filtered, moments about the kinematic CoM."""
    values = np.concatenate([wrench - data.wrench, data.com], axis=1)
    values[~np.isfinite(data.wrench).all(axis=1)] = np.nan
    values = low_pass(values, data.rate, BAND, longest_gap=0.0)
    error, com = values[frames, :6], values[frames, 6:]
    error[:, AXES:] -= np.cross(com, error[:, :AXES])
    return error if data.has_moment else np.where(np.arange(2 * AXES) < AXES, error, 0.0)


def kinematic_wrench(data: CentroidalData) -> np.ndarray:
    """(N, 6) contact wrench about the world origin that the kinematics require."""
    force = data.mass * (data.acceleration + np.array([0.0, 0.0, GRAVITY]))
    return np.concatenate([force, data.momentum_rate + np.cross(data.com, force)], axis=1)


def hidden_score(
    recordings: Sequence[CentroidalData], estimator: Callable[[CentroidalData], CentroidalEstimate]
) -> float:
    """Mean logarithm of the error over that of the kinematics, of force and moment, over trials and lengths."""
    found = []
    for data in recordings:
        bare = kinematic_wrench(data)
        for seconds in (0.0, *HIDDEN_SECONDS):
            sums = np.zeros((2, 2))
            for frames in hidden_masks(data, seconds):
                wrench = np.where(frames[:, None], estimator(data.without_wrench(frames)).required_wrench, data.wrench)
                for row, tried in enumerate((wrench, bare)):
                    error = wrench_error(data, tried, frames) ** 2
                    sums[row] += error[:, :AXES].sum(), error[:, AXES:].sum()
            measured = sums[1] > 0.0
            if measured[0] and (measured[1] or not data.has_moment):
                found.append(0.5 * np.log(sums[0, measured] / sums[1, measured]).mean())
    if not found:
        raise InvalidValue(
            f"no hidden wrench to estimate from: no stance of {HIDDEN_SECONDS[0]:g} s with forces and moments that the "
            "kinematics do not explain exactly"
        )
    return float(np.mean(found))
