"""What the checks found, in words."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from solver.contacts.schedule import Phase, Schedule
from solver.feasibility import Check, check_motion
from solver.feasibility.check_results import Failure
from solver.feasibility.check_table import CHECKS
from solver.feasibility.messages import (
    describe_unreachable,
    describe_unsupported,
    find_overlapping,
    suggest_allowed_pairs,
)
from solver.rigs import hoap3
from solver.values.inertials import GRAVITY_VECTOR
from solver.values.motion import Motion

from ..dance.example_dances import home

NAMED = {check.name: check for check in CHECKS}


@pytest.mark.parametrize(
    ("check", "item", "margin", "said"),
    [
        ("joint angle", "left_knee", np.radians(-12.0), "left knee is turned 12 deg beyond its limit"),
        ("joint speed", "left_knee", np.radians(-4.2), "left knee is 4.2 deg/s faster than it can"),
        ("joint torque", "right_ankle", -0.12, "joint torque of right ankle is 12 % beyond its limit"),
        ("zmp", "support polygon", -0.021, "the zero-moment point is 2.1 cm outside the support polygon"),
        ("zmp", "support polygon", -894.71, "the zero-moment point is more than 10 m outside the support polygon"),
        ("joint torque", "right_ankle", -55.5, "joint torque of right ankle is more than 1000 % beyond its limit"),
        ("slip", "left_sole", -0.0004, "left sole slides 0.4 mm too far from where it is planted"),
        ("self-collision", "arm and leg", -0.01, "arm and leg overlap by 1.0 cm"),
        ("zmp", "support polygon", 0.0042, "the zero-moment point is 4.2 mm inside the support polygon"),
        ("joint torque", "right_ankle", 0.12, "joint torque of right ankle is 12 % below its limit"),
    ],
)
def test_margins_are_described_in_common_units(check: str, item: str, margin: float, said: str) -> None:
    """Metres become centimetres, radians degrees, shares per cent; satisfied limits have their own message."""
    assert Failure(NAMED[check], item, 3, 0.5, margin, margin < 0.0).description == said


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_every_check_describes_how_much(check: Check) -> None:
    """A failure's sentence has the number of the failure, and is not that of a margin that holds."""
    failed, held = check.describe("left_knee", -0.123, True), check.describe("left_knee", 0.123, False)
    assert check.messages.format_value(0.123) in failed
    assert failed != held
    assert "_" not in failed + held


def test_hanging_differs_from_jumping() -> None:
    """A body at rest without a planted foot is unsupported; in free fall it jumps, and there is no message."""
    rig = hoap3(torque="peak")
    q, anchors = home(rig)
    times = np.arange(31) / 10.0
    phases = [Phase(0.0, 1.0, anchors), Phase(1.0, 1.5), Phase(1.5, 2.0), Phase(2.0, 3.0, anchors)]
    schedule = Schedule(tuple(phases))
    still = np.zeros((31, rig.nv))
    hanging = Motion(times, np.tile(q, (31, 1)), still, still)
    (said,) = describe_unsupported(schedule, check_motion(rig, hanging, schedule))
    assert said.startswith("nothing carries the body from 1.00 to 2.00 s")
    falling = still.copy()
    falling[:, :3] = GRAVITY_VECTOR  # the root stands upright: its axes are the world's
    free = Motion(times, hanging.q, still, falling)
    assert describe_unsupported(schedule, check_motion(rig, free, schedule)) == ()


def test_what_stands_in_the_way_is_named_once() -> None:
    """What links do as weight shifts is said once, however many footings it keeps the rig from."""
    met = "left is left out: rig 'r' cannot change its footing: base and thigh overlap by 5.3 mm at 1.12 s"
    overlap = describe_unreachable("r", ["both"], ("fitted", met, met.replace("left is", "right is")))
    assert overlap.count("base and thigh overlap by 5.3 mm") == 1
    assert "overlap" not in describe_unreachable("r", ["both"], ())


@pytest.mark.parametrize(
    "said",
    [
        "right is left out: it cannot lift its left foot: right thigh and left thigh overlap by 5.3 mm at 1.12 s",
        "none of 288 postures keeps all limits: self-collision (right_thigh and left_thigh) fails in every one",
    ],
)
def test_links_that_overlap_choose_the_option(said: str) -> None:
    """A message about overlapping links gets the option that allows them, once; others get nothing."""
    rig = hoap3()
    assert suggest_allowed_pairs(rig, [said, said]).endswith(": --may-touch right_thigh:left_thigh")
    assert suggest_allowed_pairs(rig, [said.replace("thigh", "wing"), "right thigh turned", "left hip overlap"]) == ""
    assert suggest_allowed_pairs(rig, []) == ""


def test_the_check_describes_overlaps_like_this() -> None:
    """The sentence of the self-collision check itself is recognised, for every pair of a rig."""
    rig = hoap3()
    check = NAMED["self-collision"]
    pairs = list(combinations(rig.links, 2))
    for pair in pairs:
        assert find_overlapping(rig, [f"a step: {check.describe(' and '.join(pair), -0.01, True)}"]) == (pair,)
