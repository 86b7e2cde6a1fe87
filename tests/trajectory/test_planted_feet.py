"""Laws of a trajectory with planted feet."""

from __future__ import annotations

import numpy as np
import pytest

from solver.contacts.schedule import Schedule
from solver.dynamics import integrate
from solver.rig import Rig
from solver.rigs import hoap3, hrp2, human
from solver.trajectory.curve import FlatCurve
from solver.trajectory.legged_rig import LeggedRig
from solver.trajectory.planted_feet import PlantedTrajectory, _bridge


@pytest.mark.parametrize("rig", [hoap3(torque="peak"), hrp2(), human(1.75, 65.0, "female")], ids=lambda rig: rig.name)
def test_rates_of_placed_legs_are_those_of_legs_that_are_placed_again(rig: Rig) -> None:
    """Where only speeds and accelerations change, legs are where they were, and follow these alone."""
    legged = LeggedRig(rig, shrink=0.1)
    footing = legged.footing("both")
    q = legged.still(legged.home(footing)[None], footing.solved)[1].q[0]
    lower = np.zeros(rig.nv)
    lower[2] = -0.01
    curve = FlatCurve.through_keys(rig, np.array([0.0, 1.0, 2.0]), [q, integrate(rig, q, lower), q])
    trajectory = PlantedTrajectory(rig, curve, Schedule.constant(footing.anchors, 0.0, 2.0))
    times = np.linspace(0.0, 2.0, 9)
    feet = trajectory.feet_at(times)
    (y, dy, ddy), _ = trajectory.with_legs(curve.at(times), feet)
    generator = np.random.default_rng(3)
    other = (y, dy + generator.standard_normal(y.shape), ddy + generator.standard_normal(y.shape))
    again, _ = trajectory.with_legs(other, feet)
    for quick, whole in zip(trajectory.with_leg_rates(other, feet), again):
        np.testing.assert_allclose(quick, whole, rtol=1e-8, atol=1e-8)
    assert np.abs(again[1] - other[1]).max() > 0.1


def test_a_foot_s_way_through_a_flight_is_one_polynomial() -> None:
    """It leaves and meets what stands with its place, speed and acceleration, and is the foot's own in the middle."""
    rng = np.random.default_rng(5)
    first, last = rng.normal(size=(2, 3, 6))
    way = _bridge((0.4, 0.7), list(first), list(last))
    for order in range(3):
        np.testing.assert_allclose(way(0.4, order), first[order], rtol=1e-9)
        np.testing.assert_allclose(way(0.7, order), last[order], atol=1e-8)
    np.testing.assert_allclose(way(0.55), 0.0, atol=1e-12)
