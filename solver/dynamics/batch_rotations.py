"""One turn after another in many frames at once: what chains and trees of hinges are placed with. Frames last."""

from __future__ import annotations

import numpy as np

from ..so3 import skew

IDENTITY = np.eye(3)


def rotate_vector(rotations: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Turns (3, 3, N) of one vector (3,): (3, N)."""
    some = vector.nonzero()[0]
    if len(some) == 1:
        return np.asarray(rotations[:, some[0]] * vector[some[0]])
    return rotations[:, 0] * vector[0] + rotations[:, 1] * vector[1] + rotations[:, 2] * vector[2]


def compose(rotations: np.ndarray, rotation: np.ndarray) -> np.ndarray:
    """Turns (3, 3, N) after one fixed rotation (3, 3)."""
    if rotation is IDENTITY or (rotation == IDENTITY).all():
        return rotations
    # axes i after both, axes j between them, axes k before, frames n
    return np.einsum("ijn,jk->ikn", rotations, rotation)


def rotate_about_axis(rotations: np.ndarray, axis: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """Turns (3, 3, N) or one (3, 3, 1), followed by turns about one axis (3,) of theirs by angles (N,)."""
    sine, cosine = np.sin(angles), np.cos(angles)
    along = axis.nonzero()[0]
    if len(along) == 1:  # a turn about a coordinate axis mixes two columns
        sine = sine * axis[along[0]]
        first, second = (along[0] + 1) % 3, (along[0] + 2) % 3
        result = np.empty((3, 3, len(angles)))
        result[:, along[0]] = rotations[:, along[0]]
        result[:, first] = cosine * rotations[:, first] + sine * rotations[:, second]
        result[:, second] = cosine * rotations[:, second] - sine * rotations[:, first]
        return result
    around = skew(axis)
    return rotations + sine * compose(rotations, around) + (1.0 - cosine) * compose(rotations, around @ around)
