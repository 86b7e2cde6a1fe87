"""Arms and legs of a skeleton by its tree and the lengths of its bones, whatever they are called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

MAX_LENGTH_RATIO = 1.1
"""Largest ratio of lengths of two chains of bones that form a left and right pair. Measured on ten skeletons of public
clips, with and without their names: 1.05 and 1.2 find the same parts."""
MIN_LIMB_RATIO = 0.5
"""Smallest length of a pair of limbs relative to the longest pair; fingers and toes are shorter. Measured on ten
skeletons of public clips, with and without their names: half the value finds the same parts, twice loses the limbs of
seven."""


@dataclass(frozen=True, slots=True)
class Limbs:
    """Paths of bones, from the first that belongs to one limb alone to the farthest end.

    Attributes:
        pelvis, chest: bones at which the legs and the arms branch off.
        legs, arms: the two limbs of each pair.
    """

    pelvis: int
    chest: int
    legs: tuple[tuple[int, ...], tuple[int, ...]]
    arms: tuple[tuple[int, ...], tuple[int, ...]]


def find_limbs(parents: Sequence[int], lengths: Sequence[float], shown: np.ndarray | None = None) -> Limbs | None:
    """The longest pairs of similar chains: legs next to the root, arms further from it; None without both.

    Args:
        parents: (B,) index of each bone's parent, -1 of a root.
        lengths: (B,) from the parent, any unit.
        shown: (B,) bones that count; by default all.
    """
    count = len(parents)
    shown = np.ones(count, bool) if shown is None else shown
    children: list[list[int]] = [[] for _ in range(count)]
    for k, parent in enumerate(parents):
        if parent >= 0 and shown[k]:
            children[parent].append(k)
    order: list[int] = [k for k, parent in enumerate(parents) if parent < 0]
    depth, joints, reach = np.zeros(count, int), np.ones(count, int), np.zeros(count)
    for bone in order:
        depth[children[bone]] = depth[bone] + 1
        order.extend(children[bone])
    for bone in reversed(order):
        joints[bone] += joints[children[bone]].sum()
        reach[bone] = lengths[bone] + max(reach[children[bone]], default=0.0)
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
    pelvis, chest = sorted(limbs, key=lambda joint: (depth[joint], -pairs[joint][0]))[:2]

    def path(bone: int) -> tuple[int, ...]:
        found = [bone]
        while children[found[-1]]:
            found.append(max(children[found[-1]], key=lambda child: reach[child]))
        return tuple(found)

    legs, arms = (tuple(path(start) for start in pairs[joint][1:]) for joint in (pelvis, chest))
    return Limbs(pelvis, chest, legs, arms)  # type: ignore[arg-type]
