"""One turn after another in many frames at once: what chains and trees of hinges are placed with. Frames last."""

from __future__ import annotations

import numpy as np

from ..so3 import skew

UPRIGHT = np.eye(3)


def applied(turn: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Turns (3, 3, N) of one vector (3,): (3, N)."""
    some = vector.nonzero()[0]
    if len(some) == 1:
        return np.asarray(turn[:, some[0]] * vector[some[0]])
    return turn[:, 0] * vector[0] + turn[:, 1] * vector[1] + turn[:, 2] * vector[2]


def composed(turn: np.ndarray, rotation: np.ndarray) -> np.ndarray:
    """Turns (3, 3, N) after one fixed rotation (3, 3)."""
    if rotation is UPRIGHT or (rotation == UPRIGHT).all():
        return turn
    # axes i after both, axes j between them, axes k before, frames n
    return np.einsum("ijn,jk->ikn", turn, rotation)


def turned(turn: np.ndarray, axis: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """Turns (3, 3, N) or one (3, 3, 1), followed by turns about one axis (3,) of theirs by angles (N,)."""
    sine, cosine = np.sin(angles), np.cos(angles)
    along = axis.nonzero()[0]
    if len(along) == 1:  # a turn about a coordinate axis mixes two columns
        sine = sine * axis[along[0]]
        first, second = (along[0] + 1) % 3, (along[0] + 2) % 3
        result = np.empty((3, 3, len(angles)))
        result[:, along[0]] = turn[:, along[0]]
        result[:, first] = cosine * turn[:, first] + sine * turn[:, second]
        result[:, second] = cosine * turn[:, second] - sine * turn[:, first]
        return result
    around = skew(axis)
    return turn + sine * composed(turn, around) + (1.0 - cosine) * composed(turn, around @ around)
