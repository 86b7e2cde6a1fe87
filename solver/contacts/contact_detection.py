"""Foot contacts from measured forces, or from the motion alone.

A foot in stance is low and slow. Its support may move (a treadmill) or lie above the floor (a box).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import true_runs
from ..errors import InvalidValue
from ..wrenches import Wrenches

TOUCH, RELEASE = 20.0, 10.0
"""[N] Vertical force at which a stance starts (bailly2019 III.B), and below which it ends."""
LOWEST = 0.05
"""Fraction of a point's samples below its height in stance: noise, and soles that deform."""
BELT = 0.3
"""[m/s] Lowest speed of a belt: below it feet creep while they roll."""
STEADY = 0.25
"""Largest deviation of the speed of feet in stance from the belt's, as a fraction of the belt's."""


@dataclass(frozen=True, slots=True)
class ContactRules:
    """Thresholds that detect a foot's stance from its motion.

    Attributes:
        low, high: [m] height of the lowest point above its height in stance: below `low` a stance starts, above `high`
            it ends.
        slow, fast: [m/s] speed of that point: below `slow` a stance starts, above `fast` it ends.
        still: [m/s] speed below which a raised foot is on an unknown support.
        shortest: [s] least duration of a stance, and of a step between two stances.
        longest: [s] time that a raised foot must be still to count as a stance.
    """

    low: float = 0.03
    high: float = 0.05
    slow: float = 0.35
    fast: float = 0.7
    still: float = 0.08
    shortest: float = 0.08
    longest: float = 0.4


USUAL = ContactRules()


def contacts_by_force(wrenches: Wrenches, touch: float = TOUCH, release: float = RELEASE) -> np.ndarray:
    """(N, K) True where a sensor is in contact: a threshold with hysteresis, so that noise around it makes no steps.

    Samples without data keep the state of the sample before.

    Args:
        wrenches: of K feet.
        touch, release: [N] vertical force at which a contact starts, and below which it ends.

    Raises:
        InvalidValue: `release` is not below `touch`.
    """
    if not release < touch:
        raise InvalidValue(f"the release force ({release:g} N) must be below the touch force ({touch:g} N)")
    load = wrenches.values[:, :, 2]
    return hysteresis(load >= touch, load < release)


def hysteresis(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """(N, ...) True from a frame of `start` until one of `end`; where neither holds the state before stays."""
    decided = np.where(start, 1, np.where(end, -1, 0))
    decided[0] = np.where(start[0], 1, -1)
    frames = np.arange(len(decided)).reshape(-1, *[1] * (decided.ndim - 1))
    last = np.maximum.accumulate(np.where(decided != 0, frames, 0), axis=0)
    return np.asarray(np.take_along_axis(decided, last, axis=0) > 0)


def belt_speed(times: np.ndarray, points: np.ndarray, rules: ContactRules = USUAL) -> np.ndarray:
    """Horizontal velocity (3,) [m/s] of the belt that feet stand on; zero for a floor.

    Args:
        times: (N,) [s].
        points: (N, P, 3) [m] points of all soles, world.
        rules: `rules.low` limits the height of points in stance.
    """
    heights = points[..., 2] - np.quantile(points[..., 2], LOWEST, axis=0)
    speeds = np.gradient(points, times, axis=0)[heights < rules.low]
    if not len(speeds):
        return np.zeros(3)
    median = np.median(speeds, axis=0) * [1.0, 1.0, 0.0]
    speed = float(np.linalg.norm(median))
    deviation = float(np.median(np.linalg.norm((speeds - median)[:, :2], axis=1)))
    return median if speed > BELT and deviation < STEADY * speed else np.zeros(3)


def contacts_by_motion(times: np.ndarray, points: np.ndarray, rules: ContactRules = USUAL) -> np.ndarray:
    """(N,) True where a foot is in stance, from positions (N, P, 3) [m] of points of its sole.

    A raised foot that is still for `rules.longest` is in stance on an unknown support.
    """
    floors = np.quantile(points[:, :, 2], LOWEST, axis=0)
    heights = points[:, :, 2] - floors
    speeds = np.linalg.norm(np.gradient(points, times, axis=0), axis=2)
    low = (heights < rules.low) & (speeds < rules.slow)
    away = (heights > rules.high) | (speeds > rules.fast)
    result = hysteresis(low, away).any(axis=1)
    for start, stop in true_runs(speeds.max(axis=1) < rules.still):
        result[start:stop] |= times[stop - 1] - times[start] >= rules.longest
    return remove_short(times, result, rules.shortest)


def remove_short(times: np.ndarray, stances: np.ndarray, shortest: float) -> np.ndarray:
    """A mask (N,) without interruptions, then without stances, shorter than ``shortest`` [s]; both ends stay."""
    result = np.array(stances, bool)
    for kind in (False, True):
        for start, stop in true_runs(result == kind):
            inside = start > 0 and stop < len(result)
            if inside and times[stop] - times[start] < shortest:
                result[start:stop] = not kind
    return result
