"""What the checks found, in words."""

from __future__ import annotations

import numpy as np
import pytest

from solver.contacts.schedule import Phase, Schedule
from solver.feasibility import check_motion
from solver.feasibility.margins import Failure
from solver.feasibility.sentences import angle, beyond, length, listed, unsupported
from solver.motion import Motion
from solver.rigs import hoap3

from ..dance.authored import home


@pytest.mark.parametrize(
    ("check", "item", "margin", "said"),
    [
        ("joint angle", "left_knee", np.radians(-12.0), "left_knee is turned 12 deg beyond its limit"),
        ("joint speed", "left_knee", np.radians(-4.2), "left_knee is 4.2 deg/s faster than it can"),
        ("joint torque", "right_ankle", -0.12, "joint torque of right_ankle is 12 % beyond its limit"),
        ("zmp", "support polygon", -0.021, "the zero-moment point is 2.1 cm outside the support polygon"),
        ("slip", "left_sole", -0.0004, "left_sole slides 0.4 mm from where it is planted"),
        ("self-collision", "arm and leg", -0.01, "arm and leg overlap by 1.0 cm"),
        ("some other", "thing", -0.25, "some other of thing is 0.25 of the limit beyond its limit"),
    ],
)
def test_failures_are_told_in_people_s_units(check: str, item: str, margin: float, said: str) -> None:
    """Metres become centimetres, radians degrees, shares per cent; a check without words of its own keeps its unit."""
    assert beyond(Failure(check, item, 3, 0.5, margin, "of the limit", True)) == said


def test_numbers_keep_their_digits() -> None:
    """Small lengths turn to millimetres and small angles keep two digits: nothing is told as zero."""
    assert [length(x) for x in (0.25, 0.0012, 0.00034)] == ["25.0 cm", "0.1 cm", "0.34 mm"]
    assert [angle(np.radians(x)) for x in (57.3, 6.04, 0.031)] == ["57 deg", "6.0 deg", "0.031 deg"]


def test_long_lists_are_cut() -> None:
    """Few things are named, of many it is said how many more there are."""
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert listed(list("abcdef")) == "a, b, c and 3 more"


def test_hanging_is_told_from_jumping() -> None:
    """Without a planted foot a body at rest hangs; in free fall it jumps, and nothing is to be told."""
    rig = hoap3(torque="peak")
    q, anchors = home(rig)
    times = np.arange(31) / 10.0
    phases = [Phase(0.0, 1.0, anchors), Phase(1.0, 1.5), Phase(1.5, 2.0), Phase(2.0, 3.0, anchors)]
    schedule = Schedule(tuple(phases))
    still = np.zeros((31, rig.model.nv))
    hanging = Motion(times, np.tile(q, (31, 1)), still, still)
    (said,) = unsupported(schedule, check_motion(rig, hanging, schedule))
    assert said.startswith("nothing carries the body from 1.00 to 2.00 s")
    falling = still.copy()
    falling[:, :3] = rig.model.gravity.linear  # the root stands upright: its axes are the world's
    free = Motion(times, hanging.q, still, falling)
    assert unsupported(schedule, check_motion(rig, free, schedule)) == ()
