"""Feet, hips and neck of a skeleton, by the names of its joints or by the branching of its chains of bones.

Independent of names, the two longest pairs of similar chains are the legs, which branch at the pelvis next to the root,
and the arms, which branch above it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from .axes_and_units import Landmarks, find_landmarks

MAX_LENGTH_RATIO = 1.1
"""Largest ratio of lengths of two chains with equal numbers of joints that form a left and right pair."""
MIN_LIMB_RATIO = 0.5
"""Smallest length of a pair of limbs relative to the longest pair; fingers and toes are shorter."""


def find_skeleton_landmarks(names: Sequence[str], parents: Sequence[int], offsets: np.ndarray) -> Landmarks:
    """Joints of a skeleton that are low, in the middle and high when it stands.

    Args:
        names: M joints, the root first, parents before their children.
        parents: (M,) index of each joint's parent, -1 of the root.
        offsets: (M, 3) from the parent, any axes, any unit.
    """
    named, branched = find_landmarks(names), _landmarks_from_branches(parents, np.linalg.norm(offsets, axis=1))
    if branched is None:
        return named
    return Landmarks(named.low or branched.low, named.middle or branched.middle, named.high or branched.high)


def _landmarks_from_branches(parents: Sequence[int], lengths: np.ndarray) -> Landmarks | None:
    """Ends of the legs, the joint where they branch, and the one where the arms branch; None without both pairs."""
    count = len(parents)
    children: list[list[int]] = [[] for _ in range(count)]
    depth, joints, reach = np.zeros(count, int), np.ones(count, int), np.zeros(count)
    for k, parent in enumerate(parents):
        if parent >= 0:
            children[parent].append(k)
            depth[k] = depth[parent] + 1
    for k in reversed(range(count)):
        below = children[k]
        joints[k] += joints[below].sum()
        reach[k] = lengths[k] + max(reach[below], default=0.0)
    pairs: dict[int, tuple[float, int, int]] = {}  # the longest at each joint
    for joint, below in enumerate(children):
        for one, other in combinations(below, 2):
            shorter, longer = sorted(reach[[one, other]])
            if joints[one] == joints[other] and 0.0 < longer <= MAX_LENGTH_RATIO * shorter:
                pairs[joint] = max(pairs.get(joint, (0.0, 0, 0)), (float(shorter), one, other))
    longest = max((pair[0] for pair in pairs.values()), default=0.0)
    limbs = [joint for joint, pair in pairs.items() if pair[0] >= MIN_LIMB_RATIO * longest]
    if len(limbs) < 2:
        return None
    legs, arms = sorted(limbs, key=lambda joint: (depth[joint], -pairs[joint][0]))[:2]
    tips = []
    for tip in pairs[legs][1:]:
        while children[tip]:
            tip = max(children[tip], key=lambda joint: reach[joint])
        tips.append(tip)
    return Landmarks(tuple(tips), (legs,), (arms,))


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
