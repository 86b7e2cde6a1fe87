"""Infeasible jumps are explained: required take-off speed, reached speed, and the most overloaded joint."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

import solver
from benchmarks.figures.jump import CHECKS, RATE, Leap, keyed_jump, measure_flight
from solver.base.errors import InvalidValue
from solver.contacts.schedule import Schedule
from solver.dance.authoring.authored_dance import AuthoredDance, Samples
from solver.dance.authoring.repair import RepairedDance
from solver.dance.workflows.repair import (
    JUMP_NOTE,
    LIMITED_PROGRAMS,
    explain_infeasible_jumps,
    fastest_com_rise,
    jumps_exceed_leg_speed,
    take_off_speeds,
)
from solver.dynamics.coordinates import coordinate_names
from solver.feasibility import check_motion
from solver.options.authoring import RepairOptions
from solver.rigs import hoap3, human
from solver.skeleton.rig import GRAVITY
from solver.trajectory.ballistic import find_flights
from solver.values.motion import Motion

WEAK = 0.4
"""Share of its torques that the robot has left."""
QUICK = 10.0
"""Times the speed of its joints, else they alone keep it on the floor."""


@pytest.fixture(scope="module")
def keyed() -> AuthoredDance:
    """A small robot with weak joints, keyed to jump."""
    rig = hoap3("middle", torque="peak")
    limits = replace(rig.limits, torque=WEAK * rig.limits.torque, speed=QUICK * rig.limits.speed)
    return keyed_jump(replace(rig, limits=limits))


@pytest.fixture(scope="module")
def answer(keyed: AuthoredDance) -> solver.dance.EditedDance:
    """The result of a short search."""
    return solver.repair(keyed, options=RepairOptions(passes=1, programs=4))


def test_an_infeasible_jump_is_explained(keyed: AuthoredDance, answer: solver.dance.EditedDance) -> None:
    """Required speed, reached speed, and torque ratio of the worst joint agree with the dynamics."""
    assert not answer.feasible
    (message,) = [trouble for trouble in answer.summary.problems if trouble.startswith("the jump from")]
    assert message in answer.message
    ((take_off, landing),) = find_flights(keyed.schedule)
    needed = float(re.search(r"must leave the floor at (\S+) m/s", message)[1])  # type: ignore[index]
    assert needed == pytest.approx(0.5 * GRAVITY * (landing - take_off), rel=0.35)
    found = re.search(r"requires (\S+) times the torque of [^(]+ \((\S+) of (\S+) N", message)
    ratio, used, limit = (float(x) for x in found.groups())
    torque_digits, ratio_digits = 0.005, 0.005  # three digits of two torques, two decimals of their ratio
    assert ratio == pytest.approx(used / limit, abs=ratio_digits, rel=2.0 * torque_digits)
    assert ratio > 1.0
    torques, limits = np.abs(answer.checks.torques), keyed.rig.limits.torque
    assert ratio == pytest.approx(float((torques / limits).max()), abs=0.006)


def test_jumps_beyond_leg_speed_have_a_short_search() -> None:
    """Joints too slow for the jump get a few programs and a reason; fast ones get the whole search."""
    slow = keyed_jump(hoap3("middle", torque="peak"))
    assert jumps_exceed_leg_speed(slow)
    answer = solver.repair(slow, options=RepairOptions(passes=1))
    assert isinstance(answer.details, RepairedDance)
    assert answer.details.iterations <= LIMITED_PROGRAMS
    assert not answer.feasible
    assert "lets its legs raise it at" in answer.message
    assert JUMP_NOTE in answer.summary.notes
    limits = slow.rig.limits
    assert not jumps_exceed_leg_speed(keyed_jump(replace(slow.rig, limits=replace(limits, speed=QUICK * limits.speed))))


def test_slow_legs_are_reported_without_a_repaired_motion(answer: solver.dance.EditedDance) -> None:
    """A repair that returns the given motion explains its jump as one that improved it."""
    result = answer.details
    assert isinstance(result, RepairedDance)
    slow = replace(result, dance=replace(result.dance, rig=hoap3("middle", torque="peak")), after=result.before)
    (message,) = explain_infeasible_jumps(slow)
    assert re.search(r"must leave the floor at \S+ m/s upwards; the speed limit of .* at most", message)


def test_take_off_speeds_are_ballistic(keyed: AuthoredDance) -> None:
    """A body that leaves the floor at the required speed reaches it; a slower one does not."""
    rig, rate = keyed.rig, 500.0
    ((take_off, landing),) = find_flights(keyed.schedule)
    needed = 0.5 * GRAVITY * (landing - take_off)
    times = np.linspace(keyed.start, keyed.stop, int(rate * (keyed.stop - keyed.start)) + 1)
    for share in (1.0, 0.5):
        heights = np.where(
            times < take_off,
            share * needed * (times - take_off),  # pushed up evenly
            needed * (times - take_off) - 0.5 * GRAVITY * (times - take_off) ** 2,
        )
        q = np.tile(keyed.keys[0].q, (len(times), 1))
        q[:, 2] += heights
        still = np.zeros((len(times), rig.nv))
        found = take_off_speeds(
            check_motion(rig, Motion(times, q, still, still), keyed.schedule, CHECKS), take_off, landing
        )
        assert found[0] == pytest.approx(needed, rel=0.02)
        assert found[1] == pytest.approx(share * needed, rel=0.05)


def test_without_a_jump_there_is_no_explanation(answer: solver.dance.EditedDance) -> None:
    """Without a flight, or with the given motion, a failure is not explained as a weak jump."""
    result = answer.details
    assert isinstance(result, RepairedDance)
    assert explain_infeasible_jumps(result)
    assert explain_infeasible_jumps(replace(result, after=result.before)) == []
    standing = Schedule((replace(result.dance.schedule.phases[0], stop=result.dance.stop),))
    assert explain_infeasible_jumps(replace(result, dance=replace(result.dance, schedule=standing))) == []
    strong = replace(result.dance.rig, limits=replace(result.dance.rig.limits, torque=np.full(21, 1e3)))
    checks = check_motion(strong, result.motion, result.dance.schedule, CHECKS)
    said = explain_infeasible_jumps(replace(result, dance=replace(result.dance, rig=strong), after=checks))
    assert all("torque" not in sentence for sentence in said)


def test_slow_legs_are_reported_first(answer: solver.dance.EditedDance) -> None:
    """At its joints' speeds the robot cannot rise fast enough: the message has the speed and the joint."""
    result = answer.details
    assert isinstance(result, RepairedDance)
    rig = hoap3("middle", torque="peak")
    own = replace(result, dance=replace(result.dance, rig=rig))
    (message,) = explain_infeasible_jumps(own)
    speed, joint = fastest_com_rise(rig, CHECKS.shrink)
    needed = float(re.search(r"must leave the floor at (\S+) m/s", message)[1])  # type: ignore[index]
    assert speed < 0.5 * needed
    assert f"the speed limit of {joint.replace('_', ' ')} lets its legs raise it at {speed:.2f} m/s at most" in message


def test_legs_raise_a_body_as_fast_as_their_joints_turn() -> None:
    """Twice the joint speed doubles the rise, one slow joint lowers it, and the rise is below that of a straight leg
    swung about the floor by all its joints.
    """
    rig = hoap3("middle", torque="peak")
    speed, joint = fastest_com_rise(rig, CHECKS.shrink)
    quick = replace(rig, limits=replace(rig.limits, speed=2.0 * rig.limits.speed))
    assert fastest_com_rise(quick, CHECKS.shrink) == (pytest.approx(2.0 * speed), joint)
    names = coordinate_names(rig)
    slow = np.array(rig.limits.speed)
    slow[names.index("left_shank")] *= 0.1
    slowed = fastest_com_rise(replace(rig, limits=replace(rig.limits, speed=slow)), CHECKS.shrink)
    assert slowed == (pytest.approx(0.1 * speed, rel=0.2), "left_shank")
    assert 0.0 < speed < 3 * rig.standing_height * rig.limits.speed.max()


@pytest.mark.parametrize(
    "leap",
    [
        Leap(0.2, 0.06),
        Leap(turn=0.5),
        Leap(offset=0.05),
        *(pytest.param(leap, marks=pytest.mark.slow) for leap in (Leap(), Leap(0.35, 0.16), Leap(forward=0.25))),
    ],
    ids=["low", "turning", "off balance", "plain", "high", "forward"],
)
def test_a_person_s_jump_is_feasible_and_conserves_momentum(leap: Leap) -> None:
    """Every check holds at ten times the sampling, the centre of mass is within 0.01 mm of its parabola, and momentum
    changes by at most half a per cent, from masses and velocities alone.
    """
    jump = keyed_jump(human(1.6, 80.0, "female"), leap)
    answer = solver.repair(jump, options=RepairOptions(passes=3), rate=RATE)
    assert answer.feasible
    parabola, drift, spin = measure_flight(jump.rig, answer.dance.motion(RATE), jump)
    assert parabola < 1e-5
    assert drift < 0.005
    assert spin < 0.005


def test_an_unsupported_recording_gets_a_remedy() -> None:
    """A recording of a run, or of a person on a chair, has no contact strips: the message suggests retargeting."""
    jump = keyed_jump(human(1.75, 70.0, "male"))
    first, air, last = jump.schedule.phases
    phases = (replace(first, stop=0.2), replace(air, start=0.2, stop=1.8), replace(last, start=1.8))
    schedule = replace(jump.schedule, phases=phases)
    standing = replace(jump, keys=(jump.keys[0], replace(jump.keys[0], time=jump.stop)), schedule=schedule)
    times = np.linspace(jump.start, jump.stop, 101)
    samples = Samples(times, np.tile(jump.keys[0].q, (len(times), 1)))
    with pytest.raises(InvalidValue, match=r"does not fall as in a jump: add a contact strip[^.]*$"):
        solver.repair(standing)
    with pytest.raises(InvalidValue, match=r"does not fall as in a jump.*can be retargeted, not repaired"):
        solver.repair(replace(standing, keys=(), samples=samples))
