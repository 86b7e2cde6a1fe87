"""Directions in which the root of a rig can move while both soles are flat on the floor: six, or fewer with 5-DoF legs.

A leg without a yaw joint at its hip fixes the root's yaw relative to its foot. One without a roll joint at its ankle
fixes the sideways position of its hip. The possible root poses of two such legs are no linear space, but contain linear
ones: coordinates of the root that can change in any combination, with the others as in the home posture, while both
legs reach their feet exactly. They are found by trials.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations

import numpy as np

from ..contacts.schedule import stance
from ..dynamics.legs import FOOT_SIZE, Leg, build_legs
from ..errors import InvalidValue
from ..rig import ROOT_NV, Rig
from ..so3 import Exponential, log

SIDEWAYS_STEP, DOWN_STEP, ROTATION_STEP = 0.03, 0.1, 0.1
"""Displacements in the trials: sideways and down as shares of the leg length, and rotation [rad]."""
HOME_BEND = 0.06
"""Height of the root in the home posture below that with straight legs, as a share of the leg length."""
TRIALS = 24
PRIORITIES = (1, 0, 2, 4, 3, 5)
"""Coordinates of the root by their importance for a dance: first sideways, for weight shifts."""


@lru_cache(maxsize=16)
def free_root_coordinates(rig: Rig) -> tuple[bool, ...]:
    """Which of the root's six coordinates (position, rotation vector) can change.

    Args:
        rig: with two legs.

    Raises:
        InvalidValue: the legs do not reach flat feet in the home posture, or fix the root completely.
    """
    both = build_legs(rig)
    if all(len(leg.solved) == FOOT_SIZE for leg in both):
        return (True,) * ROOT_NV
    home, feet = _home_stance(rig, both)
    size, generator = rig.leg_length, np.random.default_rng(0)
    moves = generator.uniform(-1.0, 1.0, (TRIALS, ROOT_NV))
    moves *= [SIDEWAYS_STEP * size, SIDEWAYS_STEP * size, DOWN_STEP * size, ROTATION_STEP, ROTATION_STEP, ROTATION_STEP]
    moves[:, 2] = -np.abs(moves[:, 2])
    if not can_reach(both, home[None], feet):
        raise InvalidValue(f"rig {rig.name!r} cannot stand on flat feet: its legs of five joints do not reach both")
    for count in range(ROOT_NV, 0, -1):
        for some in combinations(PRIORITIES, count):
            free = np.isin(np.arange(ROOT_NV), some)
            if can_reach(both, home + moves * free, feet):
                return tuple(free.tolist())
    raise InvalidValue(f"rig {rig.name!r} cannot dance: its legs of five joints fix the root over flat feet")


def _home_stance(rig: Rig, both: tuple[Leg, Leg]) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """The root (6,) between the feet with bent knees, and the flat feet (6,) by side."""
    anchors = {anchor.patch: anchor for anchor in stance(rig, "both")}
    feet = {leg.side: np.r_[anchors[leg.patch].position, log(anchors[leg.patch].rotation)] for leg in both}
    heights = [feet[leg.side][2] - leg.forward_kinematics(np.zeros((1, len(leg.columns))))[1][0, 2] for leg in both]
    home = np.zeros(ROOT_NV)
    home[2] = min(heights) - HOME_BEND * rig.leg_length
    return home, feet


def can_reach(
    some: tuple[Leg, ...], roots: np.ndarray, feet: dict[str, np.ndarray], guess: np.ndarray | None = None
) -> bool:
    """Whether legs reach their feet (6,) from all root poses (N, 6), with first guesses (N, n)."""
    back = Exponential(roots[:, 3:]).matrix.swapaxes(1, 2)
    for leg in some:
        foot = feet[leg.side]
        # n places, i axes of the root, j axes of the world
        position = np.einsum("nij,nj->ni", back, foot[:3] - roots[:, :3])
        rotation = back @ Exponential(foot[None, 3:]).matrix
        first = np.tile(leg.bent_posture, (len(roots), 1)) if guess is None else guess
        if not leg.solve(rotation, position, first)[1].all():
            return False
    return True
