"""Where the root of a rig may go while both soles stand flat: six ways, or fewer for legs of five joints.

A leg without a yaw joint at its hip ties the root's yaw to its foot, one without a roll joint at its ankle ties where
its hip is sideways. What two such legs leave is no linear space, but holds linear ones: coordinates of the root that
may change in any combination, the others as at home, with both legs reaching their feet exactly. They are found by
trying.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations

import numpy as np

from ..contacts.schedule import stance
from ..dynamics.legs import FOOT, Leg, legs
from ..errors import InvalidValue
from ..rig import ROOT_NV, Rig
from ..so3 import Exponential, log

ASIDE, BELOW, TURNED = 0.03, 0.1, 0.1
"""Shares of the legs' length by which the root is moved sideways and down, and angle [rad] by which it is turned."""
BEND = 0.06
"""How much lower than with straight legs the root is at home, as a share of the legs' length."""
TRIES = 24
DEAR = (1, 0, 2, 4, 3, 5)
"""Coordinates of the root, those that dances need most first: sideways, where weight is shifted."""


@lru_cache(maxsize=16)
def free_root(rig: Rig) -> tuple[bool, ...]:
    """Which of the root's six coordinates (place, rotation vector) dances may change.

    Args:
        rig: with two legs.

    Raises:
        InvalidValue: the legs do not reach flat feet even at home, or let the root go nowhere.
    """
    both = legs(rig)
    if all(len(leg.solved) == FOOT for leg in both):
        return (True,) * ROOT_NV
    home, feet = _standing(rig, both)
    size, generator = rig.leg_length, np.random.default_rng(0)
    moves = generator.uniform(-1.0, 1.0, (TRIES, ROOT_NV))
    moves *= [ASIDE * size, ASIDE * size, BELOW * size, TURNED, TURNED, TURNED]
    moves[:, 2] = -np.abs(moves[:, 2])
    if not _reached(both, home[None], feet):
        raise InvalidValue(f"rig {rig.name!r} cannot stand on flat feet: legs of five joints do not reach both of them")
    for count in range(ROOT_NV, 0, -1):
        for some in combinations(DEAR, count):
            free = np.isin(np.arange(ROOT_NV), some)
            if _reached(both, home + moves * free, feet):
                return tuple(free.tolist())
    raise InvalidValue(f"rig {rig.name!r} cannot dance: its legs of five joints let the root go nowhere over flat feet")


def _standing(rig: Rig, both: tuple[Leg, Leg]) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """The root (6,) between the feet with knees bent, and by side where its flat feet (6,) are."""
    anchors = {anchor.patch: anchor for anchor in stance(rig, "both")}
    feet = {leg.side: np.r_[anchors[leg.patch].position, log(anchors[leg.patch].rotation)] for leg in both}
    heights = [feet[leg.side][2] - leg.forward(np.zeros((1, len(leg.columns))))[1][0, 2] for leg in both]
    home = np.zeros(ROOT_NV)
    home[2] = min(heights) - BEND * rig.leg_length
    return home, feet


def _reached(both: tuple[Leg, Leg], roots: np.ndarray, feet: dict[str, np.ndarray]) -> bool:
    """Whether both legs reach their feet (6,) from every place of the root (N, 6)."""
    back = Exponential(roots[:, 3:]).matrix.swapaxes(1, 2)
    for leg in both:
        foot = feet[leg.side]
        # n places, i axes of the root, j axes of the world
        position = np.einsum("nij,nj->ni", back, foot[:3] - roots[:, :3])
        rotation = back @ Exponential(foot[None, 3:]).matrix
        if not leg.solve(rotation, position, np.tile(leg.bent, (len(roots), 1)))[1].all():
            return False
    return True
