"""Margins that can be worked out by hand, and what each choice of the checks takes from them."""

from __future__ import annotations

import numpy as np
import pytest

from solver.contacts.schedule import Phase, Schedule
from solver.contacts.support import support_polygon
from solver.feasibility import CheckOptions, check_motion
from solver.rigs import hoap3, human
from solver.skeleton.rig import Rig
from solver.values.motion import Motion
from tests.dance.static_motions import accelerated_motion, standing_schedule, static_motion

RIGS = [hoap3(), human(1.75, 70.0, "male")]
EVERY_RIG = pytest.mark.parametrize("rig", RIGS, ids=lambda rig: rig.name)
GRAVITY = 9.81


def left(rig: Rig, name: str, motion: Motion, schedule: Schedule, **choices: float) -> np.ndarray:
    """Margins (K,) of one check in a motion's first frame."""
    checks = check_motion(rig, motion, schedule, CheckOptions(**choices))  # type: ignore[arg-type]
    return np.array(checks.get_margin(name).values[0])


@EVERY_RIG
def test_feet_press_with_the_weight_between_them(rig: Rig) -> None:
    """Their shares add up to one at rest, to 1 + a / g when the body is pushed up, to less than none when torn down."""
    for acceleration in (0.0, 3.0, -GRAVITY - 2.0):
        motion = accelerated_motion(rig, rig.neutral, np.array([0.0, 0.0, acceleration]))
        shares = left(rig, "unilateral", motion, standing_schedule(rig))
        assert shares.sum() == pytest.approx(1.0 + acceleration / GRAVITY, abs=1e-3)
        assert (shares.min() < 0.0) == (acceleration < -GRAVITY)


@EVERY_RIG
def test_a_body_in_the_air_lacks_what_does_not_fall(rig: Rig) -> None:
    """Hovering it lacks its weight, falling by g - 1 m/s^2 the tenth that 1 is of 9.81; the allowance is added."""
    schedule = Schedule((Phase(0.0, 10.0),))
    for acceleration, missing in ((0.0, 1.0), (1.0 - GRAVITY, 1.0 / GRAVITY), (-GRAVITY, 0.0)):
        motion = accelerated_motion(rig, rig.neutral, np.array([0.0, 0.0, acceleration]))
        for flight in (0.02, 0.1):
            found = left(rig, "flight", motion, schedule, flight=flight)
            assert found == pytest.approx(flight - missing, abs=1e-3)


@EVERY_RIG
def test_a_lower_floor_is_farther_by_as_much(rig: Rig) -> None:
    """In the air every link's height above the floor grows by what the floor sinks; the lowest are the feet."""
    motion = static_motion(rig, rig.neutral)
    high, low = (left(rig, "floor", motion, Schedule((Phase(0.0, 10.0),), level)) for level in (-1.0, -1.25))
    finite = np.isfinite(high)
    np.testing.assert_allclose(low[finite] - high[finite], 0.25, atol=1e-12)
    feet = {patch.link for patch in rig.contacts}
    assert rig.links[int(np.argmin(high))] in feet


@EVERY_RIG
def test_allowances_shift_margins_and_nothing_else(rig: Rig) -> None:
    """Slip, flight and clearance add to or take from their own margins what they are; others stay."""
    motion, schedule = static_motion(rig, rig.neutral), standing_schedule(rig)
    plain = check_motion(rig, motion, schedule)
    for choice, value, shifted in (
        ("allowed_slip", 0.003, {"slip": 0.003, "placement": 0.003}),
        ("clearance", 0.004, {"self-collision": -0.004}),
    ):
        checks = check_motion(rig, motion, schedule, CheckOptions(**{choice: value}))  # type: ignore[arg-type]
        for before, after in zip(plain.margins, checks.margins):
            expected = before.smallest[0] + shifted.get(before.name, 0.0)
            assert after.smallest[0] == pytest.approx(expected, abs=1e-12), (choice, before.name)


@EVERY_RIG
def test_every_border_of_a_shrunk_polygon_moves_towards_its_centre(rig: Rig) -> None:
    """By the share of its distance from there: so much nearer each border comes to the zero-moment point."""
    motion, schedule = static_motion(rig, rig.neutral), standing_schedule(rig)
    checks = check_motion(rig, motion, schedule, CheckOptions(shrink=0.4))
    whole = support_polygon(rig, schedule.phases[0].anchors)
    borders = whole.edge_distances(checks.zmp)[0] - 0.4 * whole.edge_distances(whole.centre[None])[0]
    assert checks.get_margin("zmp").values[0, 0] == pytest.approx(borders.min(), abs=1e-12)
