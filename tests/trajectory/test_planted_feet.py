"""Paths of feet: at rest on the floor, and without a jump where they leave it or come back."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.figures.jump import CHECKS, keyed_jump
from solver.rigs import human
from solver.trajectory.ballistic import find_flights, make_flights_ballistic
from solver.trajectory.planted_feet import PlantedTrajectory

INSTANT = 1e-7
"""[s] Before and after an event."""


@pytest.mark.parametrize("event", [0, 1], ids=["take-off", "landing"])
def test_feet_leave_and_meet_the_floor_without_a_jump(event: int) -> None:
    """Of a jump's feet position, speed and acceleration go on where the flight begins and where it ends."""
    jump = keyed_jump(human(1.75, 70.0, "male"))
    trajectory = PlantedTrajectory(
        jump.rig, make_flights_ballistic(jump.rig, jump.curve(), jump.schedule, CHECKS), jump.schedule
    )
    (flight,) = find_flights(jump.schedule)
    times = flight[event] + np.array([-INSTANT, INSTANT])
    middle = np.array([0.0, 0.5 * sum(flight)])
    paths = trajectory.foot_poses(times)
    assert len(paths) == 2
    for path, moved in zip(paths, trajectory.foot_poses(middle)):
        for before, after in path:
            np.testing.assert_allclose(after, before, atol=1e-4)
        assert np.abs(np.diff(moved[0], axis=0)).max() > 0.03  # it is a jump
