"""The motions that dances are compared with."""

from __future__ import annotations

from benchmarks.figures.plain_motions import random_postures
from solver.options.dances import DanceOptions
from solver.rigs import hoap3

RIG = hoap3("middle", torque="peak")
OPTIONS = DanceOptions()


def test_random_motion_lasts_as_long_as_requested() -> None:
    """Random postures fill the time in every foot configuration, feasibly, and join without a jump."""
    dance = random_postures(RIG, OPTIONS, 12.0, 0)
    assert dance.duration > 12.0
    assert {len(phase.anchors) for phase in dance.schedule.phases} == {1, 2}
    assert dance.largest_discontinuity() < 1e-9
    assert all(checks.feasible for checks in dance.check(RIG, 50.0, OPTIONS.checks))
