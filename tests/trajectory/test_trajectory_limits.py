"""Derivatives of a trajectory's limits: those that are omitted are zero."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.figures.jump import CHECKS, keyed_jump
from solver.contacts.schedule import Phase, Schedule
from solver.dance.authoring.authored_dance import AuthoredDance
from solver.dance.authoring.displaced_trajectory import DisplacedTrajectory
from solver.rigs import human
from solver.trajectory.ballistic import make_flights_ballistic
from solver.trajectory.flat_derivatives import STEPS
from solver.trajectory.planted_feet import PlantedTrajectory
from solver.trajectory.trajectory_limits import TrajectoryLimits

RATE = 20.0
"""[1/s] of the samples: in the air and on the ground."""


@pytest.fixture(scope="module")
def jump() -> AuthoredDance:
    return keyed_jump(human(1.75, 70.0, "male"))


def test_derivatives_are_differences_of_the_whole_evaluation(jump: AuthoredDance) -> None:
    """By every order of root, trunk and arms they are what shifting that number of every sample changes.

    Collisions are omitted: every evaluation fits their capsules to the exact distances again.
    """
    trajectory = PlantedTrajectory(
        jump.rig, make_flights_ballistic(jump.rig, jump.curve(), jump.schedule, CHECKS), jump.schedule
    )
    limits = TrajectoryLimits(trajectory, CHECKS, 1.0)
    times = limits.sample_times(jump.start, jump.stop, RATE, np.zeros(0))
    rates = trajectory.curve.at(times)
    near = limits.check(times, rates)
    start = limits.values(times, rates, near)
    wanted = (start.values < 1.0) & (start.names != "self-collision")
    rows, columns, slopes = limits.derivatives(times, start, near, wanted)
    seen = np.zeros(3)
    for k in (0, 2, 4, len(trajectory.free_columns) // 2, len(trajectory.free_columns) - 1):
        for order in range(3):
            moved = tuple(np.array(part) for part in rates)
            moved[order][:, trajectory.free_columns[k]] += STEPS[order]
            after = limits.values(times, (moved[0], moved[1], moved[2]), near)
            change = (after.values[rows, columns] - start.values[rows, columns]) / STEPS[order]
            size = np.abs(change).max()
            np.testing.assert_allclose(slopes[:, order, k], change, atol=2e-4 * size + 1e-6)
            seen[order] += size
    assert (seen > 0.0).all()


def test_a_course_is_the_trajectory_wherever_it_is_not_as_given(jump: AuthoredDance) -> None:
    """Frames whose legs are solved are the trajectory's; of a dance that stands as keyed none has to be."""
    rig, times = jump.rig, np.linspace(jump.start, jump.stop, 401)
    led = PlantedTrajectory(rig, make_flights_ballistic(rig, jump.curve(), jump.schedule, CHECKS), jump.schedule)
    as_given = jump.curve().motion(rig, times)
    np.testing.assert_allclose(DisplacedTrajectory(led, as_given).apply([]).q, led.motion(times).q, atol=1e-8)
    solved = led.motion(times)
    assert DisplacedTrajectory(led, solved).apply([]) is solved


def test_contact_forces_are_not_limited_at_take_off_and_landing(jump: AuthoredDance) -> None:
    """There the flight alone is sampled: every other border's both sides are, and the even instants of the floor."""
    limits = TrajectoryLimits(PlantedTrajectory(jump.rig, jump.curve(), jump.schedule), CHECKS, 1.0)
    times = limits.sample_times(jump.start, jump.stop, RATE, np.zeros(0))
    phases = [jump.schedule.phases[k] for k in jump.schedule.index_at(times)]
    for before in jump.schedule.phases[:-1]:
        near = np.flatnonzero(np.abs(times - before.stop) < 1e-4)
        assert [phases[k].airborne for k in near] == [True]
    flown = np.linspace(0.9, 1.1, 7)
    given = limits.sample_times(jump.start, jump.stop, RATE, np.zeros(0), flown)
    inside = (given > 0.86) & (given < 1.14)
    np.testing.assert_allclose(given[inside], flown)


def test_sampling_margins_fade_where_the_contact_force_vanishes(jump: AuthoredDance) -> None:
    """At take-off and landing contact forces keep nothing of their margin, some time beyond all; others always do."""
    limits = TrajectoryLimits(PlantedTrajectory(jump.rig, jump.curve(), jump.schedule), CHECKS, 1.0)
    events = np.array([phase.stop for phase in jump.schedule.phases[:-1]])
    by_force = [c for c in limits.checks if c.applies_when == "standing" and c.depends_on == "force"]
    assert 0 < len(by_force) < len(limits.checks)
    for check in limits.checks:
        for way in (-1.0, 1.0):
            share = [limits.sampling_share(check, events + way * away) for away in (0.0, 0.01, 0.02, 0.05, 0.4)]
            expected = [0.0, 0.25, 0.5, 1.0, 1.0] if check in by_force else [1.0] * 5
            np.testing.assert_allclose(share, np.tile(expected, (2, 1)).T, atol=1e-9)
    standing = Schedule((Phase(jump.start, jump.stop, jump.schedule.phases[0].anchors),))
    always = TrajectoryLimits(PlantedTrajectory(jump.rig, jump.curve(), standing), CHECKS, 1.0)
    np.testing.assert_array_equal(always.sampling_share(by_force[0], events), 1.0)
