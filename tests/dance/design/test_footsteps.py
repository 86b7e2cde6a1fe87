"""Laws of steps and shifts of weight."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from solver.contacts.support import convex_polygon
from solver.dance.design.design import RING, human_options, transition_planner
from solver.dance.design.footsteps import STEPS, Footwork
from solver.rigs import human
from solver.trajectory.rebalancing import GRAVITY, Rebalancer
from solver.trajectory.segment import fine
from solver.trajectory.splines import Spline

PLANNER = transition_planner(human(1.7, 65.0, "female"), human_options())


@pytest.fixture(scope="module")
def footwork() -> Footwork:
    """A person's."""
    return Footwork(PLANNER)


def test_a_ring_through_all_footings_takes_eight_steps(footwork: Footwork) -> None:
    """All four foot configurations are gone through by eight steps, one of them a shift from foot to foot."""
    ways = [footwork.way(a, b) for a, b in zip(RING, [*RING[1:], "both"])]
    steps = [pair for way in ways for pair in itertools.pairwise(way)]
    assert len(steps) == 8
    known = {frozenset(step[:2]) for step in STEPS}
    assert all(frozenset(pair) in known for pair in steps)


def test_weight_shifts_as_fast_as_balance_allows(footwork: Footwork) -> None:
    """A person's weight is over one foot within 2 s (4.9 s along an even way), verified at 500 Hz."""
    for side in ("left", "right"):
        shift = footwork.step("both", f"over {side}")
        assert shift.duration < 2.0
        assert PLANNER.checked(shift)[1] >= 0.0
        np.testing.assert_allclose(shift.stop, footwork.station(f"over {side}"), atol=1e-12)


def test_a_led_pendulum_runs_ahead_and_stops_beyond() -> None:
    """Between two places at rest, quickly: the zero-moment point stays inside, and passes both ends to do so."""
    support = convex_polygon(np.array([[-0.1, -0.15], [0.1, -0.15], [0.1, 0.15], [-0.1, 0.15]]))
    spline = Spline(1.5, fine(1.5))
    balancer = Rebalancer(PLANNER.legged, spline, 60)
    first, last = np.zeros(2), np.array([0.0, 0.12])
    goals = balancer.goals(first, last, support)
    assert support.margin(goals.zmp).min() > 0.0
    assert goals.zmp[:, 1].min() < -0.005
    assert goals.zmp[:, 1].max() > 0.125
    height = PLANNER.legged.straight_height
    bend = np.gradient(np.gradient(goals.com, balancer.times, axis=0), balancer.times, axis=0)
    pendulum = goals.com - height / GRAVITY * bend
    np.testing.assert_allclose(pendulum[5:-5], goals.zmp[5:-5], atol=0.01)
    slow = Rebalancer(PLANNER.legged, Spline(8.0, fine(8.0)), 60).goals(first, last, support)
    assert slow.zmp is slow.com
