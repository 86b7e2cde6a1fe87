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


def test_derivatives_of_legs_are_differences() -> None:
    """Angles of solved legs, and how far each leg is from stretched, change with the coordinates that lead them."""
    jump = keyed_jump(human(1.75, 70.0, "male"))
    trajectory = PlantedTrajectory(
        jump.rig, make_flights_ballistic(jump.rig, jump.curve(), jump.schedule, CHECKS), jump.schedule
    )
    (flight,) = find_flights(jump.schedule)
    times = np.array([0.5 * flight[0], 0.5 * sum(flight)])
    feet = trajectory.foot_poses(times)
    solved, _ = trajectory.solve_legs(trajectory.curve.at(times), feet)
    found, regular = trajectory.leg_derivatives(solved, feet)
    step, leading = 1e-5, found.leading_columns
    assert len(leading) >= 6
    for k, column in enumerate(leading):
        sides = []
        for sign in (1.0, -1.0):
            moved = tuple(np.array(part) for part in solved)
            moved[0][:, column] += sign * step
            sides.append(trajectory.solve_legs((moved[0], moved[1], moved[2]), feet))
        (after, regular_after), (before, regular_before) = sides
        angles = (after[0] - before[0])[:, found.leg_columns] / (2.0 * step)
        np.testing.assert_allclose(found.derivatives[0, :, :, k], angles, atol=1e-3)
        np.testing.assert_allclose(regular[:, :, k], (regular_after - regular_before) / (2.0 * step), atol=1e-3)
    assert np.abs(regular).max() > 0.1
