"""Flight phases from the motion alone: without contact the centre of mass is in free fall."""

from __future__ import annotations

import numpy as np

from ..base.arrays import true_runs
from ..base.errors import InvalidValue, checked
from ..skeleton.rig import GRAVITY
from .resampling import rate_of_grid

FALLING, FREE = 0.5, 0.8
"""Fractions of gravity that the downward acceleration of the centre of mass exceeds throughout a flight, and reaches at
least once in it.

Whatever the filter, a filtered acceleration crosses half of gravity about where contact ends or begins. Unweighting
before a jump or sitting down fast crosses it too, but with contact and therefore not close to free fall."""
SHORTEST = 0.06
"""[s] Least duration of a flight; shorter ones are attributed to noise."""


@checked
def find_flights(times: np.ndarray, vertical: np.ndarray) -> np.ndarray:
    """Frames (N,) in which the centre of mass falls freely, as without contact.

    Args:
        times: (N,) [s], evenly spaced.
        vertical: (N,) [m/s^2] upward acceleration of the centre of mass from the filtered motion and any reasonable
            inertial parameters; NaN where unknown.

    Raises:
        InvalidValue: not one acceleration per frame.

    Example:
        >>> import numpy as np
        >>> import solver
        >>> times = np.arange(10) / 50.0
        >>> int(solver.signals.find_flights(times, np.where((times > 0.05) & (times < 0.15), -9.7, 1.0)).sum())
        5
    """
    downwards = -np.asarray(vertical, float) / GRAVITY
    if downwards.shape != np.shape(times):
        raise InvalidValue(f"{downwards.size} accelerations for {np.size(times)} frames")
    result = np.zeros(len(downwards), bool)
    if len(downwards) < 2:
        return result
    rate = rate_of_grid(np.asarray(times, float))
    for start, stop in true_runs(np.nan_to_num(downwards) > FALLING):
        if np.nanmax(downwards[start:stop]) >= FREE and (stop - start) / rate >= SHORTEST:
            result[start:stop] = True
    return result


def shrink_runs(mask: np.ndarray, frames: int) -> np.ndarray:
    """A mask (N,) whose runs of True are shortened by so many frames at both ends."""
    result = np.zeros(len(mask), bool)
    for start, stop in true_runs(mask):
        result[start + frames : max(stop - frames, start + frames)] = True
    return result
