"""Wrenches hidden from an estimator, and how far its own are from the measured ones there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from ..errors import InvalidValue
from ..filter_presets import preset_of
from ..signals import GRAVITY, low_pass, true_runs
from .flights import flight_intervals
from .values import AXES, CentroidalData, CentroidalEstimate

HIDDEN_SECONDS = (0.1, 0.2)
"""[s] of stance that are hidden."""
MIN_SEPARATION = 0.3
"""[s] of known wrench between stretches that are hidden at once."""
MARGIN = 0.03
"""[s] from where the wrench begins to be known, within which nothing is hidden."""
LOADED = 0.2
"""Share of the body weight from which a stance counts as one."""
BAND = preset_of("human_8hz")
"""What both sides of a comparison pass, as the main job's do."""


def hidden_masks(data: CentroidalData, seconds: float) -> Iterator[np.ndarray]:
    """(N,) masks of stance to hide, each of stretches that long; of flights if ``seconds`` is zero.

    Together they cover every loaded stretch once.
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
    """(n, 6) wrench less the measured one in chosen frames (N,), through the band, moments about the kinematic CoM."""
    values = np.concatenate([wrench - data.wrench, data.com], axis=1)
    values[~np.isfinite(data.wrench).all(axis=1)] = np.nan
    values = low_pass(values, data.rate, BAND, longest_gap=0.0)
    error, com = values[frames, :6], values[frames, 6:]
    error[:, AXES:] -= np.cross(com, error[:, :AXES])
    return error if data.has_moment else np.where(np.arange(2 * AXES) < AXES, error, 0.0)


def kinematic_wrench(data: CentroidalData) -> np.ndarray:
    """(N, 6) contact wrench about the world origin that the kinematics need."""
    force = data.mass * (data.acceleration + np.array([0.0, 0.0, GRAVITY]))
    return np.concatenate([force, data.momentum_rate + np.cross(data.com, force)], axis=1)


def hidden_score(
    recordings: Sequence[CentroidalData], estimator: Callable[[CentroidalData], CentroidalEstimate]
) -> float:
    """Mean logarithm of the error over that of the kinematics, force and moment, over trials and kinds of hiding."""
    found = []
    for data in recordings:
        bare = kinematic_wrench(data)
        for seconds in (0.0, *HIDDEN_SECONDS):
            sums = np.zeros((2, 2))
            for frames in hidden_masks(data, seconds):
                wrench = np.where(frames[:, None], estimator(data.without_wrench(frames)).wrench, data.wrench)
                for row, tried in enumerate((wrench, bare)):
                    error = wrench_error(data, tried, frames) ** 2
                    sums[row] += error[:, :AXES].sum(), error[:, AXES:].sum()
            told = sums[1] > 0.0
            if told[0] and (told[1] or not data.has_moment):
                found.append(0.5 * np.log(sums[0, told] / sums[1, told]).mean())
    if not found:
        raise InvalidValue(
            f"nothing can be learnt here: no stance of {HIDDEN_SECONDS[0]:g} s with forces and moments that the "
            f"kinematics do "
            "not explain exactly"
        )
    return float(np.mean(found))
