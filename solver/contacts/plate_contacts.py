"""Assigns loaded force plates to feet: stances from measured forces where available, from the motion elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np

from ..arrays import true_runs
from ..wrenches import Wrenches
from .contact_detection import USUAL, ContactRules, contacts_by_force, remove_short

UNDER = 0.05
"""[m] Distance from a sole within which a centre of pressure is under it: markers and plates agree to centimetres."""
FARTHEST = 0.5
"""[m] Distance from both soles beyond which a plate carries something other than a foot."""
SHARES = np.linspace(0.0, 1.0, 5)
"""Positions between two corners of a sole, as fractions, from which distances are measured."""


def stances_by_force(
    times: np.ndarray,
    soles: Mapping[str, np.ndarray],
    stands: Mapping[str, np.ndarray],
    wrenches: Wrenches,
    rules: ContactRules = USUAL,
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
        rules: with the least duration of a stance.

    Returns:
        Two masks (N,) of each side: the foot is in stance; a plate measures it.
    """
    measured = {side: np.zeros(len(times), bool) for side in soles}
    loaded, centres = contacts_by_force(wrenches), wrenches.centres_of_pressure()
    for plate in range(len(wrenches.frames)):
        for start, stop in true_runs(loaded[:, plate]):
            ends = wrenches.times[[start, stop - 1]]
            frames = np.flatnonzero((times >= ends[0]) & (times <= ends[1]))
            for side in _loaded_sides(times, soles, stands, frames, (wrenches.times, centres[:, plate, :2])):
                measured[side][frames] = True
    inside = (times >= wrenches.times[0]) & (times <= wrenches.times[-1])
    result = {}
    for side, by_motion in stands.items():
        own = np.array(by_motion)
        for start, stop in true_runs(by_motion):
            if measured[side][start:stop].any():
                own[start:stop] &= ~inside[start:stop]
        result[side] = remove_short(times, own | measured[side], rules.shortest)
    return result, measured


def _loaded_sides(
    times: np.ndarray,
    soles: Mapping[str, np.ndarray],
    stands: Mapping[str, np.ndarray],
    frames: np.ndarray,
    pressed: tuple[np.ndarray, np.ndarray],
) -> tuple[str, ...]:
    """Sides whose feet a plate carries in consecutive frames; `pressed`: times (M,) and centres of pressure (M, 2)."""
    known = np.isfinite(pressed[1]).all(axis=1)
    if not len(frames) or not known.any():
        return ()
    centre = np.column_stack([np.interp(times[frames], pressed[0][known], pressed[1][known, k]) for k in range(2)])
    distances = {side: float(np.median(sole_distances(sole[frames, :, :2], centre))) for side, sole in soles.items()}
    nearest = min(distances.values())
    if nearest <= UNDER:
        return tuple(side for side, distance in distances.items() if distance <= UNDER)
    if nearest > FARTHEST:
        return ()
    in_stance = tuple(side for side in distances if stands[side][frames].mean() > 0.5)
    return in_stance or (min(distances, key=distances.__getitem__),)


def sole_distances(sole: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Distance (n,) [m] of points (n, 2) from soles with corners (n, P, 2), sampled between all pairs of corners."""
    pairs = np.array(list(combinations(range(sole.shape[1]), 2)))
    ends = sole[:, pairs]
    inside = ends[:, :, None, 0] + SHARES[:, None] * (ends[:, :, None, 1] - ends[:, :, None, 0])
    return np.asarray(np.linalg.norm(inside - points[:, None, None], axis=-1).min(axis=(1, 2)))
