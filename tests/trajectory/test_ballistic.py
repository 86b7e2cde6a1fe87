"""Jumps: a root that is led has its centre of mass fall freely, and asks the floor for pushes only."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.figures.jump import CHECKS, keyed_jump
from solver.contacts.schedule import Phase, Schedule
from solver.dance.authoring.keys import Keyed
from solver.dance.workflows.reading import require_support
from solver.dynamics.mechanics import Mechanics
from solver.errors import InvalidValue
from solver.rig import GRAVITY
from solver.rigs import human
from solver.trajectory.ballistic import airborne_spans, ballistic, longest_flight


@pytest.fixture(scope="module")
def jump() -> Keyed:
    return keyed_jump(human(1.75, 70.0, "male"))


def test_who_is_led_falls_in_the_air_and_is_pushed_on_the_ground(jump: Keyed) -> None:
    """Where nothing stands the centre of mass falls with g; elsewhere the floor never has to pull; the ends stay."""
    kept = [(key.time, key.q) for key in jump.keys if key.role == "fixed"]
    curve = ballistic(jump.rig, jump.curve(), jump.schedule, CHECKS, kept)
    times = np.linspace(jump.start, jump.stop, 201)
    motion = curve.motion(jump.rig, times)
    heights = Mechanics(jump.rig).centres_of_mass(motion.q)[:, 2]
    falls = np.gradient(np.gradient(heights, times), times)
    ((take_off, landing),) = airborne_spans(jump.schedule)
    inner = (times > take_off + 0.03) & (times < landing - 0.03)
    np.testing.assert_allclose(falls[inner], -GRAVITY, atol=0.12 * GRAVITY)
    assert falls[~inner][3:-3].min() > -1.2 * GRAVITY
    for time, q in kept:
        np.testing.assert_allclose(curve.motion(jump.rig, np.array([time])).q[0], q, atol=1e-9)


def test_a_dance_that_stands_is_left_alone(jump: Keyed) -> None:
    """Without a flight nothing is led."""
    standing = Schedule((Phase(jump.start, jump.stop, jump.schedule.phases[0].anchors),))
    curve = jump.curve()
    assert ballistic(jump.rig, curve, standing, CHECKS) is curve


def test_no_legs_throw_a_body_for_a_second(jump: Keyed) -> None:
    """A short span without contacts can be made a jump; in a long one a contact strip is missing."""
    require_support(jump, jumps=False)
    first, _, last = jump.schedule.phases
    longest = longest_flight(jump.rig)
    phases = (Phase(0.0, 0.3, first.anchors), Phase(0.3, 0.4 + longest), Phase(0.4 + longest, 2.0, last.anchors))
    hanging = Keyed(jump.rig, jump.keys, Schedule(phases), checks=CHECKS)
    with pytest.raises(InvalidValue, match="add a contact strip"):
        require_support(hanging, jumps=False)
