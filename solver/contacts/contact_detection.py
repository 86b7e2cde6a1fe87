"""When feet touch what carries them: by their forces, or by their motion alone.

A foot that stands is low and slow. What it moves on may move itself (a treadmill), and may lie above the floor (a box).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import true_runs
from ..errors import InvalidValue
from ..wrenches import Wrenches

TOUCH, RELEASE = 20.0, 10.0
"""[N] vertical force from which a foot stands (bailly2019 III.B), and below which it does so no longer."""
LOWEST = 0.05
"""Share of the samples of a point that lie below where it stands: noise, and soles that give way."""
BELT = 0.3
"""[m/s] Slower than that no belt moves: feet creep while they roll."""
STEADY = 0.25
"""Share of a belt's speed by which the speed of standing feet spreads at most."""


@dataclass(frozen=True, slots=True)
class ContactRules:
    """When a foot stands, by its motion.

    Attributes:
        low, high: [m] height of its lowest point over where that stands: to touch, and to have left.
        slow, fast: [m/s] speed of that point likewise.
        still: [m/s] below which a foot that is raised stands on something unknown.
        shortest: [s] a stance, and a step between two stances, lasts at least.
        longest: [s] a raised foot stands at least so long.
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

    Where a sensor delivers nothing its contact stays as it was.

    Args:
        wrenches: of K feet.
        touch, release: [N].

    Raises:
        InvalidValue: the release is not below the touch.
    """
    if not release < touch:
        raise InvalidValue(f"a contact is released below the force that makes it, not at {release:g} of {touch:g} N")
    load = wrenches.values[:, :, 2]
    return hysteresis(load >= touch, load < release)


def hysteresis(made: np.ndarray, released: np.ndarray) -> np.ndarray:
    """(N, ...) True from where something is made until it is released; where neither is said it stays as it was."""
    decided = np.where(made, 1, np.where(released, -1, 0))
    decided[0] = np.where(made[0], 1, -1)
    frames = np.arange(len(decided)).reshape(-1, *[1] * (decided.ndim - 1))
    last = np.maximum.accumulate(np.where(decided != 0, frames, 0), axis=0)
    return np.asarray(np.take_along_axis(decided, last, axis=0) > 0)


def belt_speed(times: np.ndarray, points: np.ndarray, rules: ContactRules = USUAL) -> np.ndarray:
    """Horizontal velocity (3,) [m/s] of the belt that feet stand on; zero for a floor.

    Args:
        times: (N,) [s].
        points: (N, P, 3) [m] points of all soles, world.
        rules: how low a foot stands.
    """
    heights = points[..., 2] - np.quantile(points[..., 2], LOWEST, axis=0)
    speeds = np.gradient(points, times, axis=0)[heights < rules.low]
    if not len(speeds):
        return np.zeros(3)
    middle = np.median(speeds, axis=0) * [1.0, 1.0, 0.0]
    speed = float(np.linalg.norm(middle))
    spread = float(np.median(np.linalg.norm((speeds - middle)[:, :2], axis=1)))
    return middle if speed > BELT and spread < STEADY * speed else np.zeros(3)


def contacts_by_motion(times: np.ndarray, points: np.ndarray, rules: ContactRules = USUAL) -> np.ndarray:
    """(N,) True where a foot stands, by the motion (N, P, 3) [m] of points of its sole.

    A foot that stays still for long somewhere higher stands on something.
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


def remove_short(times: np.ndarray, stands: np.ndarray, shortest: float) -> np.ndarray:
    """A mask (N,) without interruptions, then without stances, shorter than ``shortest`` [s]; both ends stay."""
    result = np.array(stands, bool)
    for kind in (False, True):
        for start, stop in true_runs(result == kind):
            inside = start > 0 and stop < len(result)
            if inside and times[stop] - times[start] < shortest:
                result[start:stop] = not kind
    return result
