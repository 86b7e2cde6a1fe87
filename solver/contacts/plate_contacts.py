"""Which foot a plate felt, and when: stances by measured forces where there are any, by the motion elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np

from ..arrays import true_runs
from ..wrenches import Wrenches
from .contact_detection import USUAL, ContactRules, contacts_by_force, remove_short

UNDER = 0.05
"""[m] from a sole within which a centre of pressure lies under it: markers and plates agree to centimetres."""
FARTHEST = 0.5
"""[m] from both soles beyond which a plate carries something else."""
SHARES = np.linspace(0.0, 1.0, 5)


def stances_by_force(
    times: np.ndarray,
    soles: Mapping[str, np.ndarray],
    stands: Mapping[str, np.ndarray],
    wrenches: Wrenches,
    rules: ContactRules = USUAL,
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """When feet stand, and in which of these frames plates say so.

    A plate carries the foot under which its centre of pressure lies; both feet that stand where it lies between them.
    A stance that a plate felt lasts as long as it did. Where no plate felt anything the foot may stand beside all
    plates: what the motion tells stays.

    Args:
        times: (N,) [s].
        soles: points (N, P, 3) [m] of each side's sole, in the plates' world.
        stands: (N,) True where each side's foot stands, by its motion.
        wrenches: of the plates, on the same clock.
        rules: how long a stance lasts at least.

    Returns:
        (N,) of each side: it stands; and a plate carries it.
    """
    felt = {side: np.zeros(len(times), bool) for side in soles}
    loaded, centres = contacts_by_force(wrenches), wrenches.centres_of_pressure()
    for plate in range(len(wrenches.frames)):
        for start, stop in true_runs(loaded[:, plate]):
            ends = wrenches.times[[start, stop - 1]]
            frames = np.flatnonzero((times >= ends[0]) & (times <= ends[1]))
            for side in _loaded_sides(times, soles, stands, frames, (wrenches.times, centres[:, plate, :2])):
                felt[side][frames] = True
    inside = (times >= wrenches.times[0]) & (times <= wrenches.times[-1])
    result = {}
    for side, by_motion in stands.items():
        own = np.array(by_motion)
        for start, stop in true_runs(by_motion):
            if felt[side][start:stop].any():
                own[start:stop] &= ~inside[start:stop]
        result[side] = remove_short(times, own | felt[side], rules.shortest)
    return result, felt


def _loaded_sides(
    times: np.ndarray,
    soles: Mapping[str, np.ndarray],
    stands: Mapping[str, np.ndarray],
    frames: np.ndarray,
    pressed: tuple[np.ndarray, np.ndarray],
) -> tuple[str, ...]:
    """Sides whose feet a plate carries in a row of frames; ``pressed``: times (M,) and places (M, 2) of its centre."""
    known = np.isfinite(pressed[1]).all(axis=1)
    if not len(frames) or not known.any():
        return ()
    centre = np.column_stack([np.interp(times[frames], pressed[0][known], pressed[1][known, k]) for k in range(2)])
    away = {side: float(np.median(_distances(sole[frames, :, :2], centre))) for side, sole in soles.items()}
    nearest = min(away.values())
    if nearest <= UNDER:
        return tuple(side for side, far in away.items() if far <= UNDER)
    if nearest > FARTHEST:
        return ()
    return tuple(side for side in away if stands[side][frames].mean() > 0.5) or (min(away, key=away.__getitem__),)


def _distances(sole: np.ndarray, points: np.ndarray) -> np.ndarray:
    """(n,) [m] of points (n, 2) from soles with corners (n, P, 2), told by points between all pairs of corners."""
    pairs = np.array(list(combinations(range(sole.shape[1]), 2)))
    ends = sole[:, pairs]
    inside = ends[:, :, None, 0] + SHARES[:, None] * (ends[:, :, None, 1] - ends[:, :, None, 0])
    return np.asarray(np.linalg.norm(inside - points[:, None, None], axis=-1).min(axis=(1, 2)))
