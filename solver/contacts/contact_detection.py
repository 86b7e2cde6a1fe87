"""Foot contacts from measured forces, or from the motion alone.

A foot in stance is low and slow. Its support may move (a treadmill) or lie above the floor (a box).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations

import numpy as np
from scipy.signal import savgol_filter

from ..base.arrays import true_runs
from ..base.file_arrays import map_slices
from ..skeleton.rig import GRAVITY
from ..values.wrenches import Wrenches

TOUCH, RELEASE = 20.0, 10.0
"""[N] Vertical force at which a stance starts (bailly2019 III.B), and below which it ends."""
LOWEST = 0.05
"""Fraction of a point's samples below its height in stance: noise, and soles that deform."""
BELT = 0.3
"""[m/s] Lowest speed of a belt: below it feet creep while they roll."""
STEADY = 0.25
"""Largest deviation of the speed of feet in stance from the belt's, as a fraction of the belt's."""
UNDER = 0.05
"""[m] Distance from a sole within which a centre of pressure is under it: markers and plates agree to centimetres."""
FARTHEST = 0.5
"""[m] Distance from both soles beyond which a plate carries something other than a foot."""
SHARES = np.linspace(0.0, 1.0, 5)
"""Positions between two corners of a sole, as fractions, from which distances are measured."""
LOW, HIGH = 0.03, 0.05
"""[m] Height of a sole's lowest point above its height in stance: below the first a stance starts, above the second it
ends."""
SLOW, FAST = 0.35, 0.7
"""[m/s] Speed of that point: below the first a stance starts, above the second it ends."""
STILL = 0.08
"""[m/s] Speed below which a raised foot is on an unknown support."""
SLOPE_STD, STEEPEST = 0.05, 0.15
"""Standard deviation of a floor's slope, so that feet that stay beside each other show none, and the largest slope:
stairs rise by half of the way. Chosen on a public walk of 4 m, as recorded and turned by 5 degrees; no other values
were tried."""
SHORTEST_STANCE = 0.08
"""[s] Least duration of a stance, and of a step between two stances."""
STILL_TIME = 0.4
"""[s] Time that a raised foot must be still to count as a stance."""
FALL_FRACTION, FALL_TIME = 0.6, 0.05
"""Downward acceleration of the centre of mass over gravity above which nothing carries the body, and [s] least duration
of a flight. The time was chosen among .04, .05, .06 and .08 s on three runs and three drop
jumps on plates, and nine public clips: with .08 s two flights of .06 s of a slow run are lost."""
FALL_WINDOW = 0.14
"""[s] in which a parabola is fitted to the height of the centre of mass."""
NEAR_FLOOR = 0.1
"""[m] Height above its floor within which the lower foot may carry a body that does not fall."""


def contacts_by_force(wrenches: Wrenches) -> np.ndarray:
    """(N, K) True where a sensor is in contact: a threshold with hysteresis, so that noise around it makes no steps.

    Samples without data keep the state of the sample before.

    Args:
        wrenches: of K feet.
    """
    load = wrenches.map(lambda values, _: values[:, :, 2])
    return hysteresis(load >= TOUCH, load < RELEASE)


def hysteresis(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """(N, ...) True from a frame of `start` until one of `end`; where neither holds the state before stays."""
    decided = start.astype(np.int8) - (end & ~start)
    decided[0] = np.where(start[0], 1, -1)
    frames = np.arange(len(decided)).reshape(-1, *[1] * (decided.ndim - 1))
    last = np.maximum.accumulate(np.where(decided != 0, frames, 0), axis=0)
    return np.asarray(np.take_along_axis(decided, last, axis=0) > 0)


def belt_speed(times: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Horizontal velocity (3,) [m/s] of the belt that feet stand on; zero for a floor.

    Args:
        times: (N,) [s].
        points: (N, P, 3) [m] points of all soles, world.
    """
    low = points[..., 2] - np.quantile(points[..., 2], LOWEST, axis=0) < LOW
    speeds = _map_velocities(times, points, lambda velocities, own: velocities[low[own]])
    if not len(speeds):
        return np.zeros(3)
    median = np.median(speeds, axis=0) * [1.0, 1.0, 0.0]
    speed = float(np.linalg.norm(median))
    deviation = float(np.median(np.linalg.norm((speeds - median)[:, :2], axis=1)))
    return median if speed > BELT and deviation < STEADY * speed else np.zeros(3)


def contacts_by_motion(times: np.ndarray, points: np.ndarray) -> np.ndarray:
    """(N,) True where a foot is in stance, from positions (N, P, 3) [m] of points of its sole.

    A raised foot that is still for `STILL_TIME` is in stance on an unknown support.
    """
    floors = np.quantile(points[:, :, 2], LOWEST, axis=0)
    heights = points[:, :, 2] - floors
    speeds = _map_velocities(times, points, lambda velocities, _: np.linalg.norm(velocities, axis=2))
    low = (heights < LOW) & (speeds < SLOW)
    away = (heights > HIGH) | (speeds > FAST)
    result = hysteresis(low, away).any(axis=1)
    for start, stop in true_runs(speeds.max(axis=1) < STILL):
        result[start:stop] |= times[stop - 1] - times[start] >= STILL_TIME
    return remove_short(times, result)


def resting_places(times: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Places (K, 3) [m] on which a sole rests, whatever their height: medians of its lowest point while that is still.

    Args:
        times: (N,) [s].
        points: (N, P, 3) [m] of the sole.
    """
    frames, lowest = np.arange(len(times)), points[..., 2].argmin(axis=1)
    speeds = np.linalg.norm(np.gradient(points, times, axis=0), axis=2)[frames, lowest]
    still = remove_short(times, speeds < STILL)
    return np.array([np.median(points[frames, lowest][a:b], axis=0) for a, b in true_runs(still)]).reshape(-1, 3)


def floor_slope(places: np.ndarray) -> np.ndarray:
    """Rise (2,) of a floor per metre along x and y, fitted to places (K, 3) [m] on which feet rest; 0 for a level one.

    Level is what rises less than `HIGH` over all places, and steps and objects: what is steeper than `STEEPEST`, or no
    plane within `LOW`.
    """
    away = places - places.mean(axis=0) if len(places) else np.zeros((1, 3))
    level, up = away[:, :2], away[:, 2]
    slope = np.linalg.solve(level.T @ level + (LOW / SLOPE_STD) ** 2 * np.eye(2), level.T @ up)
    is_plane = np.abs(up - level @ slope).max() < LOW and np.linalg.norm(slope) < STEEPEST
    return slope if is_plane and np.ptp(level @ slope) > HIGH else np.zeros(2)


def find_carrying_feet(
    times: np.ndarray, soles: Sequence[np.ndarray], stances: np.ndarray, com_height: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(F, N) True where a foot carries the body though it slips or pivots, and (N,) True where something else does.

    A gap between stances is a flight only where the centre of mass accelerates downwards as in free fall, decided for
    the whole gap; elsewhere the lower foot carries if it is near its floor and does not slide along it.

    Args:
        times: (N,) [s].
        soles: F of points (N, P, 3) [m].
        stances: (F, N) True where a foot is in stance.
        com_height: (N,) [m] of the centre of mass.
    """
    carries, others, step = np.zeros(stances.shape, bool), np.zeros(len(times), bool), float(np.median(np.diff(times)))
    window = 2 * max(2, round(0.5 * FALL_WINDOW / step)) + 1
    if len(times) < window:
        return carries, others
    falls = savgol_filter(com_height, window, 2, deriv=2, delta=step) < -FALL_FRACTION * GRAVITY
    heights = np.array([sole[..., 2].min(axis=1) - np.quantile(sole[..., 2], LOWEST) for sole in soles])
    slowest = np.array(
        [_map_velocities(times, sole, lambda found, _: np.linalg.norm(found, axis=2).min(axis=1)) for sole in soles]
    )
    lower = heights.argmin(axis=0)
    for start, stop in true_runs(~stances.any(axis=0)):
        own = remove_short_runs(falls[start:stop], True, FALL_TIME / step) if stop - start > 2 else falls[start:stop]
        own = remove_short_runs(own, False, SHORTEST_STANCE / step)
        for foot in range(len(soles)):
            near = ~own & (lower[start:stop] == foot) & (heights[foot, start:stop] < NEAR_FLOOR)
            for first, last in true_runs(near):
                within = slice(start + first, start + last)
                carries[foot, within] = np.median(slowest[foot, within]) < FAST
        others[start:stop] = ~own & ~carries[:, start:stop].any(axis=0)
    return carries, others


def remove_short_runs(mask: np.ndarray, kind: bool, least: float) -> np.ndarray:
    """A mask (n,) whose runs of a kind shorter than ``least`` frames are of the other kind, unless it has no other."""
    result = np.array(mask)
    for start, stop in true_runs(mask == kind):
        if stop - start < least and stop - start < len(mask):
            result[start:stop] = not kind
    return result


def remove_short(times: np.ndarray, stances: np.ndarray) -> np.ndarray:
    """A mask (N,) without interruptions, then without stances, shorter than `SHORTEST_STANCE`; both ends stay."""
    result = np.array(stances, bool)
    for kind in (False, True):
        for start, stop in true_runs(result == kind):
            inside = start > 0 and stop < len(result)
            if inside and times[stop] - times[start] < SHORTEST_STANCE:
                result[start:stop] = not kind
    return result


def stances_by_force(
    times: np.ndarray,
    soles: Mapping[str, np.ndarray],
    stands: Mapping[str, np.ndarray],
    wrenches: Wrenches,
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Stances from plates and motion, and the frames in which a plate measures them.

    - A plate carries the foot under its centre of pressure, or both feet in stance if that lies between them.
    - A stance that a plate measures lasts as long as the plate is loaded.
    - A stance that no plate measures may be beside all plates: it stays as the motion shows it.

    Args:
        times: (N,) [s].
        soles: points (N, P, 3) [m] of each side's sole, in the plates' world.
        stands: (N,) True where each side's foot is in stance by its motion.
        wrenches: of the plates, synchronised with the motion.

    Returns:
        Two masks (N,) of each side: the foot is in stance; a plate measures it.
    """
    measured = {side: np.zeros(len(times), bool) for side in soles}
    loaded = contacts_by_force(wrenches)
    for plate, name in enumerate(wrenches.frames):
        for start, stop in true_runs(loaded[:, plate]):
            within = wrenches.times[start:stop]
            frames = slice(np.searchsorted(times, within[0]), np.searchsorted(times, within[-1], "right"))
            pressed = Wrenches(within, (name,), wrenches.values[start:stop, [plate]])
            for side in _loaded_sides(times, soles, stands, frames, pressed):
                measured[side][frames] = True
    inside = (times >= wrenches.times[0]) & (times <= wrenches.times[-1])
    result = {}
    for side, by_motion in stands.items():
        own = np.array(by_motion)
        for start, stop in true_runs(by_motion):
            if measured[side][start:stop].any():
                own[start:stop] &= ~inside[start:stop]
        result[side] = remove_short(times, own | measured[side])
    return result, measured


def _loaded_sides(
    times: np.ndarray,
    soles: Mapping[str, np.ndarray],
    stands: Mapping[str, np.ndarray],
    frames: slice,
    wrenches: Wrenches,
) -> tuple[str, ...]:
    """Sides whose feet a plate with wrenches (M, 1) carries in consecutive frames."""
    centres = wrenches.centres_of_pressure()[:, 0]
    known = np.isfinite(centres).all(axis=1)
    if frames.start >= frames.stop or not known.any():
        return ()
    centre = np.column_stack([np.interp(times[frames], wrenches.times[known], centres[known, k]) for k in range(2)])
    distances = {side: float(np.median(sole_distances(sole[frames, :, :2], centre))) for side, sole in soles.items()}
    nearest = min(distances.values())
    if nearest <= UNDER:
        return tuple(side for side, distance in distances.items() if distance <= UNDER)
    if nearest > FARTHEST:
        return ()
    in_stance = tuple(side for side in distances if stands[side][frames].mean() > 0.5)
    return in_stance or (min(distances, key=distances.__getitem__),)


def _map_velocities(
    times: np.ndarray, points: np.ndarray, function: Callable[[np.ndarray, slice], np.ndarray]
) -> np.ndarray:
    """Rows of a function of velocities (n, P, 3) [m/s] of points (N, P, 3) and of which frames they are."""

    def apply(own: slice) -> np.ndarray:
        near = slice(max(own.start - 1, 0), own.stop + 1)
        return function(
            np.gradient(points[near], times[near], axis=0)[own.start - near.start :][: own.stop - own.start], own
        )

    return map_slices(len(times), apply)


def sole_distances(sole: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Distance (n,) [m] of points (n, 2) from soles with corners (n, P, 2), sampled between all pairs of corners."""
    pairs = np.array(list(combinations(range(sole.shape[1]), 2)))

    def distances(own: slice) -> np.ndarray:
        ends = sole[own][:, pairs]
        inside = ends[:, :, None, 0] + SHARES[:, None] * (ends[:, :, None, 1] - ends[:, :, None, 0])
        return np.asarray(np.linalg.norm(inside - points[own, None, None], axis=-1).min(axis=(1, 2)))

    return map_slices(len(points), distances, 2**12)
