"""Feet, hips and neck of a skeleton, by the names of its joints or by the branching of its chains of bones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..skeleton.limbs import find_limbs
from .axes_and_units import Landmarks, find_landmarks


def find_skeleton_landmarks(names: Sequence[str], parents: Sequence[int], offsets: np.ndarray) -> Landmarks:
    """Joints of a skeleton that are low, in the middle and high when it stands.

    Args:
        names: M joints, the root first, parents before their children.
        parents: (M,) index of each joint's parent, -1 of the root.
        offsets: (M, 3) from the parent, any axes, any unit.
    """
    named, limbs = find_landmarks(names), find_limbs(parents, np.linalg.norm(offsets, axis=1).tolist())
    if limbs is None:
        return named
    ends = tuple(leg[-1] for leg in limbs.legs)
    return Landmarks(named.low or ends, named.middle or (limbs.pelvis,), named.high or (limbs.chest,))


def is_standing(landmarks: Landmarks, positions: np.ndarray) -> np.ndarray:
    """Whether low and high landmarks are on opposite sides of the root (...); True without landmarks.

    Args:
        landmarks: of M joints, the root first.
        positions: (..., M, 3), any axes, any unit.
    """
    if not landmarks.low or not landmarks.high:
        return np.ones(positions.shape[:-2], bool)
    feet, head = (
        positions[..., there, :].mean(axis=-2) - positions[..., 0, :] for there in (landmarks.low, landmarks.high)
    )
    return np.asarray((feet * head).sum(axis=-1) < 0.0)


def find_standing_frame(landmarks: Landmarks, positions: np.ndarray) -> int | None:
    """The frame in which a body stands tallest, among the slower half of them; None if it never stands.

    Args:
        landmarks: of M joints, the root first.
        positions: (N, M, 3), z up, any unit.
    """
    if not landmarks.low or not landmarks.high:
        return None
    heights = positions[:, landmarks.high, 2].mean(axis=1) - positions[:, landmarks.low, 2].mean(axis=1)
    speeds = np.zeros(len(positions))
    if len(positions) > 1:
        speeds = np.linalg.norm(np.gradient(positions, axis=0), axis=2).mean(axis=1)
    fit = is_standing(landmarks, positions) & (heights > 0.0) & np.isfinite(speeds)
    if not fit.any():
        return None
    fit &= speeds <= np.median(speeds[fit])
    return int(np.argmax(np.where(fit, heights, -np.inf)))
