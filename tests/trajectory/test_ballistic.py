"""Jumps: with a displaced root the centre of mass falls freely, and the floor only pushes."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.figures.jump import CHECKS, keyed_jump
from solver.contacts.schedule import Phase, Schedule
from solver.dance.authoring.authored_dance import AuthoredDance
from solver.dance.workflows.loading import require_support
from solver.dynamics.mechanics import Mechanics
from solver.errors import InvalidValue
from solver.rig import GRAVITY
from solver.rigs import human
from solver.trajectory.ballistic import find_flights, make_flights_ballistic, max_flight_duration


@pytest.fixture(scope="module")
def jump() -> AuthoredDance:
    return keyed_jump(human(1.75, 70.0, "male"))


def test_it_falls_in_the_air_and_is_pushed_on_the_ground(jump: AuthoredDance) -> None:
    """Where nothing stands the centre of mass falls with g; elsewhere the floor never has to pull; the ends stay."""
    kept = [(key.time, key.q) for key in jump.keys if key.role == "fixed"]
    curve = make_flights_ballistic(jump.rig, jump.curve(), jump.schedule, CHECKS, kept)
    times = np.linspace(jump.start, jump.stop, 201)
    motion = curve.motion(jump.rig, times)
    heights = Mechanics(jump.rig).compute_coms(motion.q)[:, 2]
    falls = np.gradient(np.gradient(heights, times), times)
    ((take_off, landing),) = find_flights(jump.schedule)
    inner = (times > take_off + 0.03) & (times < landing - 0.03)
    np.testing.assert_allclose(falls[inner], -GRAVITY, atol=0.12 * GRAVITY)
    assert falls[~inner][3:-3].min() > -1.2 * GRAVITY
    for time, q in kept:
        np.testing.assert_allclose(curve.motion(jump.rig, np.array([time])).q[0], q, atol=1e-9)


def test_a_dance_that_stands_is_left_alone(jump: AuthoredDance) -> None:
    """Without a flight nothing is led."""
    standing = Schedule((Phase(jump.start, jump.stop, jump.schedule.phases[0].anchors),))
    curve = jump.curve()
    assert make_flights_ballistic(jump.rig, curve, standing, CHECKS) is curve


def test_no_legs_throw_a_body_for_a_second(jump: AuthoredDance) -> None:
    """A short span without contacts can be made a jump; in a long one a contact strip is missing."""
    require_support(jump, accept_jumps=False)
    first, _, last = jump.schedule.phases
    longest = max_flight_duration(jump.rig)
    phases = (Phase(0.0, 0.3, first.anchors), Phase(0.3, 0.4 + longest), Phase(0.4 + longest, 2.0, last.anchors))
    hanging = AuthoredDance(jump.rig, jump.keys, Schedule(phases), checks=CHECKS)
    with pytest.raises(InvalidValue, match="add a contact strip"):
        require_support(hanging, accept_jumps=False)
