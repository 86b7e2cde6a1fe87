"""Finds the knee of a leg, and the direction in which it bends, by geometry."""

from __future__ import annotations

import numpy as np

from .leg_chain import LegChain

KNEE_BEND = 0.2
"""[rad, m] Bend of the knee at which a leg's mobility is measured; the first guess of Newton's method."""
TRIAL_BEND = 0.5
"""[rad, m] Trial bend that shows which direction brings the foot nearer to the hip."""
EQUAL_SHORTENING = 0.05
"""Relative difference by which one direction must shorten the leg more than the other."""
STRAIGHT_RANGE, STRAIGHT_TRIALS = 0.5, 26
"""[rad, m] Range from rest in which the longest leg is searched, and number of trials."""


def bent_posture(chain: LegChain, lower: np.ndarray, upper: np.ndarray, forward: np.ndarray) -> np.ndarray:
    """Coordinates (n,) with the knee slightly bent.

    It bends in the direction that brings the foot nearer to the hip; if both do, in that with the wider range; if the
    range is symmetric, so that the foot moves backwards. Some legs are bent the other way at zero, as far as their
    range allows: they bend from the straight posture.

    Args:
        chain: of n joint coordinates.
        lower, upper: (n,) their limits.
        forward: (3,) direction in which the rig faces, root axes.
    """
    rest = np.clip(0.0, lower, upper)
    knee = _find_knee(chain, rest)
    trials = np.tile(rest, (3, 1))
    trials[1:, knee] = np.clip(rest[knee] + np.array([-TRIAL_BEND, TRIAL_BEND]), lower[knee], upper[knee])
    origins = chain.place(trials).origins
    ways = (origins[-1] - origins[0]).T
    nearer = np.linalg.norm(ways[0]) - np.linalg.norm(ways[1:], axis=1)
    room = np.abs(np.array([lower[knee], upper[knee]]) - rest[knee])
    if room.min() < KNEE_BEND <= room.max():
        way = int(np.argmax(room))
    elif np.abs(np.subtract(*nearer)) > EQUAL_SHORTENING * np.abs(nearer).max():
        way = int(np.argmax(nearer))
    elif room[0] != room[1]:
        way = int(np.argmax(room))
    else:
        way = int(np.argmin((ways[1:] - ways[0]) @ forward))
    rest[knee] = np.clip(
        _straightest_angle(chain, rest, knee, (-1.0, 1.0)[way]) + (-KNEE_BEND, KNEE_BEND)[way], lower[knee], upper[knee]
    )
    return rest


def _straightest_angle(chain: LegChain, rest: np.ndarray, knee: int, way: float) -> float:
    """[rad, m] Coordinate of the knee at which the leg is longest, from rest in one direction."""
    trials = np.tile(rest, (STRAIGHT_TRIALS, 1))
    trials[:, knee] += way * np.linspace(0.0, STRAIGHT_RANGE, STRAIGHT_TRIALS)
    placed = chain.place(trials)
    if placed.slides[knee]:
        return float(rest[knee])
    lengths = np.linalg.norm(placed.origins[-1] - placed.origins[0], axis=0)
    return float(trials[int(np.argmax(lengths)), knee])


def _find_knee(chain: LegChain, rest: np.ndarray) -> int:
    """Index of the joint whose axis is farthest from both ends of the leg, or of a prismatic one along the leg."""
    placed = chain.place(rest[None])
    origins, axes = placed.origins[:, :, 0], placed.axes[:, :, 0]
    levers = [np.linalg.norm(np.cross(end - origins, axes), axis=1) for end in (origins[0], origins[-1])]
    whole = origins[-1] - origins[0]
    along = 0.5 * np.abs(axes @ whole)  # a prismatic joint shortens the leg by its component along the leg
    return int(np.argmax(np.where(placed.slides, along, np.minimum(*levers))))
