"""Laws of possible locations of forces: under a foot, or between two feet on the floor."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.skeleton.rig import GRAVITY
from solver.study.plates.mismatch import find_impossible_forces
from solver.study.plates.trial_wrenches import ForceMotionPair
from solver.values.wrenches import Wrenches

MASS = 70.0
TIMES = np.arange(0.0, 4.0, 0.01)
SOLE = np.array([[-0.05, -0.04, 0.0], [0.2, -0.04, 0.0], [0.2, 0.04, 0.0], [-0.05, 0.04, 0.0]])


def standing(
    left: tuple[float, float, float], right: tuple[float, float, float], acts: tuple[float, float]
) -> ForceMotionPair:
    """A standing body on two soles at these locations [m]; one plate reads its weight at one point."""
    force = np.tile([0.0, 0.0, MASS * GRAVITY], (len(TIMES), 1))
    wrench = np.hstack([force, np.cross([*acts, 0.0], force)])
    feet = np.tile(np.stack([SOLE + left, SOLE + right]), (len(TIMES), 1, 1, 1))
    wrenches = Wrenches(TIMES, ("plate",), wrench[:, None])
    return ForceMotionPair("trial", TIMES, wrench, np.zeros((len(TIMES), 3)), feet, wrenches)


def test_one_plate_beside_the_feet_is_enough() -> None:
    """Of two loaded plates one acts under the feet and one half a metre away: the forces are impossible."""
    one, other = standing((0.0, 0.0, 0.0), (0.0, -0.36, 0.0), (0.07, 0.0)), standing((0.0,) * 3, (0.0,) * 3, (0.7, 0.0))
    values = 0.5 * np.concatenate([one.wrenches.values, other.wrenches.values], axis=1)
    both = replace(one, wrenches=Wrenches(TIMES, ("one", "two"), values))
    share, text = find_impossible_forces(both, MASS)
    assert share == 1.0
    assert "outside the hull of both feet" in text


def test_too_hard_a_push_is_reported_before_its_place() -> None:
    """Forces of twice the weight that also act beside the feet push harder than the motion allows."""
    item = standing((0.0, 0.0, 0.0), (0.0, -0.36, 0.0), (0.7, 0.0))
    twice = replace(item, wrenches=Wrenches(TIMES, ("plate",), 2.0 * item.wrenches.values))
    share, text = find_impossible_forces(twice, MASS)
    assert share == 1.0
    assert "push harder than the motion allows" in text


@pytest.mark.parametrize(
    ("right", "acts", "possible"),
    [
        ((0.0, -0.36, 0.0), (0.07, -0.18), True),
        ((0.0, -0.36, 0.0), (0.07, 0.0), True),
        ((0.0, -0.36, 0.0), (0.45, -0.18), False),
        ((0.5, -0.5, 0.0), (0.32, -0.25), True),
        ((0.5, -0.5, 0.0), (0.65, 0.0), False),
        ((0.0, -0.36, 0.2), (0.07, -0.18), False),
        ((0.0, -0.36, 0.2), (0.07, -0.36), True),
    ],
    ids=["between", "under one", "in front", "between in a lunge", "beside a lunge", "beside one foot", "on a stair"],
)
def test_one_plate_may_carry_both_feet(
    right: tuple[float, float, float], acts: tuple[float, float], possible: bool
) -> None:
    """A force between two feet on the floor is possible; outside their hull, or between a foot on the floor and one in
    the air, it is not. A force under one foot is possible wherever the other foot is."""
    share, text = find_impossible_forces(standing((0.0, 0.0, 0.0), right, acts), MASS)
    assert share == (0.0 if possible else 1.0)
    assert possible or "outside the hull of both feet" in text
