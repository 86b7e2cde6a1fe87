"""Jumps: with a displaced root the centre of mass falls freely, and the floor only pushes."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.figures.jump import CHECKS, Leap, keyed_jump
from solver.base.errors import InvalidValue
from solver.contacts.schedule import Phase, Schedule
from solver.contacts.support import support_polygon
from solver.dance.authoring.authored_dance import AuthoredDance
from solver.dance.workflows.loading import require_support
from solver.dynamics.foot_motion import motion_relative_to_root
from solver.dynamics.mechanics import Mechanics
from solver.rigs import human
from solver.skeleton.rig import GRAVITY
from solver.trajectory.ballistic import (
    _flight_windows,
    _leg_range,
    _reduce_leg_range,
    find_flights,
    make_flights_ballistic,
    max_flight_duration,
)
from solver.trajectory.curve import FlatCurve
from solver.trajectory.planted_feet import PlantedTrajectory


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


@pytest.fixture(scope="module")
def leap() -> AuthoredDance:
    """A leap forwards, with a posture keyed off its balance."""
    return keyed_jump(human(1.75, 70.0, "male"), Leap(forward=0.3, offset=0.05))


@pytest.fixture(scope="module")
def flown(leap: AuthoredDance) -> FlatCurve:
    return make_flights_ballistic(leap.rig, leap.curve(), leap.schedule, CHECKS)


def test_the_floor_pushes_only_on_the_ground_and_inside_the_support(leap: AuthoredDance, flown: FlatCurve) -> None:
    """In the air no force is needed; on the ground one that pushes, of a few weights, inside the support; legs reach.

    All but the root's place, and everything farther than the window from the flight, stays as keyed.
    """
    rig, times = leap.rig, np.linspace(leap.start, leap.stop, 201)
    motion = flown.motion(rig, times)
    wrench = Mechanics(rig).compute_wrenches(motion.q, motion.v, motion.a)
    ((take_off, landing),) = find_flights(leap.schedule)
    up = wrench[:, 2] / rig.weight
    air, ground = (times > take_off) & (times < landing), (times < take_off - 0.03) | (times > landing + 0.03)
    assert (np.abs(wrench[air, :3]).mean(axis=0) < np.array([0.001, 0.001, 0.03]) * rig.weight).all()
    assert ((up[ground] > 0.0) & (up[ground] < 2.7)).all()
    assert up[ground].max() > 1.5
    assert up[[0, -1]] == pytest.approx(1.0, abs=0.02)
    zmp = np.column_stack([-wrench[:, 4], wrench[:, 3]]) / wrench[:, [2]]
    for phase, own in (
        (leap.schedule.phases[0], times < take_off - 0.03),
        (leap.schedule.phases[-1], times > landing + 0.03),
    ):
        assert support_polygon(rig, phase.anchors, 0.0).margin(zmp[own]).min() > 0.0
    before, after = leap.curve().at(times)[0], flown.at(times)[0]
    np.testing.assert_allclose(after[:, 3:], before[:, 3:], atol=1e-6)
    assert np.abs(after[:, :3] - before[:, :3]).max() > 0.02
    np.testing.assert_allclose(after[[0, -1]], before[[0, -1]], atol=1e-9)


def test_a_ballistic_curve_is_hardly_displaced_again(leap: AuthoredDance, flown: FlatCurve) -> None:
    """The displacement is the smallest one: where gravity and balance already hold it is nearly zero."""
    again = make_flights_ballistic(leap.rig, flown, leap.schedule, CHECKS)
    times = np.linspace(leap.start, leap.stop, 201)
    first = np.abs(flown.at(times)[0] - leap.curve().at(times)[0]).max()
    assert np.abs(again.at(times)[0] - flown.at(times)[0]).max() < 0.1 * first


def test_flights_are_found_between_contacts(jump: AuthoredDance) -> None:
    """Adjoining phases in the air are one flight; one at an end of the interval lacks a contact and is none."""
    first, _, last = jump.schedule.phases
    air = [Phase(0.4, 0.5), Phase(0.5, 0.7)]
    schedule = Schedule((Phase(0.0, 0.4, first.anchors), *air, Phase(0.7, 1.0, last.anchors), Phase(1.0, 1.3),
                         Phase(1.3, 2.0, last.anchors)))  # fmt: skip
    assert find_flights(schedule) == [(0.4, 0.7), (1.0, 1.3)]
    assert find_flights(schedule, 0.4, 2.0) == find_flights(schedule, 0.5, 1.4) == [(1.0, 1.3)]
    assert find_flights(schedule, 0.1, 1.3) == [(0.4, 0.7)]
    assert find_flights(Schedule((Phase(0.0, 0.4), Phase(0.4, 1.0, first.anchors), Phase(1.0, 1.2)))) == []


def test_a_leg_reaches_between_its_limits_and_not_beyond(leap: AuthoredDance) -> None:
    """With the root raised to just within the limits every planted leg reaches, with a bent knee; just beyond not."""
    window = _flight_windows(leap.curve(), leap.schedule, [])[0]
    trajectory = PlantedTrajectory(leap.rig, leap.curve(), leap.schedule)
    limits = _leg_range(trajectory, window)
    np.testing.assert_array_equal(np.isinf(limits).any(axis=1), [phase.airborne for phase in window.phases])
    rates, feet = trajectory.curve.at(window.times), trajectory.foot_poses(window.times)
    stands = np.flatnonzero(np.isfinite(limits).all(axis=1))[::7]

    def are_reached(rise: np.ndarray) -> np.ndarray:
        found = np.ones(len(stands), bool)
        for leg, foot in zip(trajectory.solved_legs, feet):
            root = np.array(rates[0][stands, :6])
            root[:, 2] += rise
            pose = motion_relative_to_root((root, rates[1][stands, :6], rates[2][stands, :6]),
                                           (foot[0][stands], foot[1][stands], foot[2][stands]))  # fmt: skip
            x, good = leg.solve(pose.rotation, pose.position, np.tile(leg.bent_posture, (len(root), 1)))
            found &= good & (x >= leg.lower).all(axis=1) & (x <= leg.upper).all(axis=1) & (leg.regularity(x) > 1.9)
        return found

    low, high = limits[stands].T
    assert are_reached(low + 0.002).all()
    assert are_reached(high - 0.002).all()
    assert not are_reached(high + 0.01).any()
    assert (low < high - 0.02).all()
    for reserve in (0.1, 0.2):
        left = _reduce_leg_range(limits, leap.schedule, window.times, reserve)
        ((take_off, landing),) = find_flights(leap.schedule)
        near = np.minimum(np.abs(window.times - take_off), np.abs(window.times - landing)) < 0.07
        bound = np.isfinite(limits).all(axis=1) & near
        lost = limits[bound] - left[bound]
        np.testing.assert_allclose(lost, np.tile([0.0, reserve * GRAVITY * (landing - take_off) ** 2], (len(lost), 1)))
        far = np.minimum(np.abs(window.times - take_off), np.abs(window.times - landing)) > 0.1
        np.testing.assert_array_equal(left[far], limits[far])


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
