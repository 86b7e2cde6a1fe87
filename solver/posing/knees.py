"""Finds the knees of a rig: the hinges at which a leg is straight or bent."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..dynamics import link_poses
from ..rig import ROOT_NV, Rig

SHORTEST_SHARE = 0.25
"""Least distance of a knee from the joints before and after it, as a fraction of the longest such distance."""
LARGEST_SIDEWAYS = 0.5
"""Largest component of a thigh or shank along the hinge's axis, as a fraction of its length."""


@dataclass(frozen=True, slots=True)
class Knee:
    """A hinge between thigh and shank.

    Attributes:
        coordinate: its index in the flat coordinates.
        straight: [rad] value at which the leg is longest.
        bends: 1 if the knee bends towards larger values, else -1.
        foot: index of the link that carries the sole below it.
    """

    coordinate: int
    straight: float
    bends: int
    foot: int


@lru_cache(maxsize=16)
def find_knees(rig: Rig) -> tuple[Knee, ...]:
    """The knee above each sole: the hinge that changes the leg's length most; none for a leg without one."""
    return tuple(knee for foot in dict.fromkeys(rig.index(sole.link) for sole in rig.soles)
                 if (knee := _find_knee(rig, foot)) is not None)  # fmt: skip


def _find_knee(rig: Rig, foot: int) -> Knee | None:
    rotations, positions = link_poses(rig, rig.neutral)
    starts = np.cumsum([0, *(joint.nv for joint in rig.joints)])
    chain = [foot]
    while rig.parents[chain[-1]] >= 0:
        chain.append(int(rig.parents[chain[-1]]))
    best: tuple[float, Knee] | None = None
    for below, own, above in zip(chain, chain[1:], chain[2:]):
        joint = rig.joints[own]
        if joint.kind != "revolute" or own == 0:
            continue
        axis = rotations[own] @ joint.axes[0]
        up, down = positions[above] - positions[own], positions[below] - positions[own]
        if above == 0:
            continue
        shortest = min(float(np.linalg.norm(up)), float(np.linalg.norm(down)))
        if shortest < 1e-3 or max(abs(axis @ up), abs(axis @ down)) > LARGEST_SIDEWAYS * shortest:
            continue
        up, down = -(up - axis * (axis @ up)), down - axis * (axis @ down)
        angle = float(np.arctan2(axis @ np.cross(down, up), down @ up))
        coordinate = int(starts[own])
        low, high = (float(limit[coordinate - ROOT_NV]) for limit in (rig.limits.lower, rig.limits.upper))
        bends = 1 if high - angle > angle - low else -1
        if best is None or shortest > best[0]:
            best = shortest, Knee(coordinate, angle, bends, foot)
    return None if best is None else best[1]
