"""A retargeted motion is balanced as a whole: the feet stay in place, and the body is balanced over them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from solver.dynamics import com_and_jacobian
from solver.feasibility import Checks, check_motion
from solver.motion import Motion
from solver.options.authoring import RetargetOptions
from solver.options.checks import CheckOptions
from solver.rig import GRAVITY, ROOT_NV, Rig
from solver.rigs import hoap3, hrp2
from solver.so3 import exp, to_matrix, to_quaternion
from solver.tracking.retargeting.batch_kinematics import BatchKinematics, to_configurations
from solver.tracking.retargeting.performer import Performer
from solver.tracking.retargeting.retarget import retarget_motion
from solver.tracking.retargeting.retargeted_motion import RetargetedMotion
from solver.tracking.retargeting.time_scaling import ease_ends
from solver.trajectory.retargeting_balance import (
    REDUCTION_POWER,
    SMOOTHING_TIME,
    TORQUE_RESERVE,
    _Balancer,
    _reduce_motion,
    _smooth_maximum,
    balance_motion,
)
from tests.dance.static_motions import standing_schedule, static_motion
from tests.tracking.test_retargeting import person, squat

CHECKS = CheckOptions(allowed_slip=0.002, pairs=())


def checked(found: RetargetedMotion) -> Checks:
    """All but collisions."""
    return check_motion(found.rig, found.motion, found.schedule, CHECKS)


@cache
def lifting() -> tuple[RetargetedMotion, RetargetedMotion]:
    """Simulated: HRP-2 follows who lifts a foot while bending its knees, slowly; as led and as balanced."""
    options = RetargetOptions(slower=4.0)
    source = Performer.from_motion(person(), squat(person(), steps=0.8))
    found = retarget_motion(source, hrp2(), None, options)
    return found, balance_motion(source, found, options, CHECKS)


def test_who_lifts_a_foot_stands_over_the_other() -> None:
    """As led the zero-moment point leaves the standing foot for a third of the frames; balanced in hardly one."""
    led, result = lifting()
    before, after = checked(led), checked(result)
    assert before.get_margin("zmp").failed.mean() > 0.3
    assert after.get_margin("zmp").failed.mean() < 0.02
    assert not after.get_margin("joint torque").failed.any()
    assert not after.get_margin("joint speed").failed.any()
    assert not after.get_margin("slip").failed.any()


def test_it_starts_at_rest_and_lasts_longer() -> None:
    """First and last frame are at rest, one foot still leaves the floor, and there is a note."""
    led, result = lifting()
    assert np.abs(result.motion.v[[0, -1], ROOT_NV:]).max() < 0.1
    assert result.motion.times[-1] > led.motion.times[-1]
    assert not result.foot_paths.in_stance.all()
    assert any("over the feet" in said for said in result.notes)


def test_a_motion_that_is_too_fast_for_its_feet_is_slowed_down() -> None:
    """A person who lifts a foot as fast as the performer cannot be balanced over flat soles; more slowly it can.

    With the timing kept it fails in some frames.
    """
    source, results = Performer.from_motion(person(), squat(person(), steps=0.8)), []
    for keeps in (False, True):
        options = RetargetOptions(keep_timing=keeps)
        found = retarget_motion(source, person(), None, options)
        results.append(balance_motion(source, found, options, CHECKS))
        assert checked(found).failed.mean() > 0.3
    slowed, kept = results
    assert not checked(slowed).failed.any()
    assert checked(kept).get_margin("zmp").failed.any()
    assert slowed.motion.times[-1] > kept.motion.times[-1]
    assert ["forces" in " ".join(each.notes) for each in results] == [True, False]


def lift_and_hop(air: float = 0.3) -> Motion:
    """Simulated: a person lifts a foot as in the test above, squats, and is in free fall for ``air`` seconds."""
    rig = person()
    lifted, hopped = squat(rig, steps=0.8), squat(rig)
    from_middle = hopped.times - 0.5 * hopped.times[-1]
    q = np.array(hopped.q[1:])
    q[:, 2] += 0.5 * GRAVITY * np.clip((0.5 * air) ** 2 - from_middle[1:] ** 2, 0.0, None)
    still = np.zeros((len(lifted) + len(q), rig.nv))
    times = np.append(lifted.times, lifted.times[-1] + hopped.times[1:])
    return Motion(times, np.concatenate([lifted.q, q]), still, still)


def test_a_motion_that_jumps_is_not_slowed_down() -> None:
    """A flight that lasts longer is no free fall: it keeps its time also where feet before it fail."""
    source, results = Performer.from_motion(person(), lift_and_hop()), []
    for keeps in (False, True):
        options = RetargetOptions(keep_timing=keeps)
        results.append(balance_motion(source, retarget_motion(source, person(), None, options), options, CHECKS))
    default, kept = results
    assert any(phase.airborne for phase in default.schedule.phases)
    assert checked(kept).get_margin("zmp").failed.any()
    np.testing.assert_allclose(default.motion.times, kept.motion.times)
    assert "forces" not in " ".join(default.notes)


def test_a_weak_robot_squats_less_deep() -> None:
    """Where joints are too weak for the motion, and only there, it is reduced until their torques suffice."""
    strong, options = hrp2(), RetargetOptions(slower=4.0)
    weak = replace(strong, limits=replace(strong.limits, torque=0.16 * strong.limits.torque))
    source, lowest = Performer.from_motion(person(), squat(person())), []
    for rig in (strong, weak):
        found = retarget_motion(source, rig, None, options)
        result = balance_motion(source, found, options, CHECKS)
        assert not checked(result).failed.any()
        assert checked(found).get_margin("joint torque").failed.any() == (rig is weak)
        heights = result.motion.q[:, 2]
        lowest.append(heights.min())
        assert heights[[0, -1]] == pytest.approx(found.motion.q[[0, -1], 2], abs=0.02)
    assert lowest[1] > lowest[0] + 0.01


@pytest.mark.parametrize("share", [0.0, 0.6])
def test_targets_turn_with_the_performer(share: float) -> None:
    """A performer who faces another way has the same targets, turned, also where they are reduced towards standing.

    Reduced, links are nearer to those of the posture at rest, and hips are as high or higher.
    """
    turn, targets = exp(np.array([0.0, 0.0, 0.7])), []
    for yaw in (np.eye(3), turn):
        motion = squat(person())
        q = np.array(motion.q)
        q[:, :3] = q[:, :3] @ yaw.T
        q[:, 3:7] = to_quaternion(yaw @ to_matrix(q[:, 3:7]))
        source = Performer.from_motion(person(), Motion(motion.times, q, motion.v, motion.a))
        given = retarget_motion(source, hrp2(), None, RetargetOptions(slower=4.0))
        targets.append(_Balancer(given, np.full(len(given.motion), share)).targets)
    one, other = targets
    np.testing.assert_allclose(other.rotations, turn @ one.rotations, atol=1e-4)
    np.testing.assert_allclose(other.hip_positions, one.hip_positions @ turn.T, atol=1e-4)
    whole = _Balancer(given, np.zeros(len(given.motion))).targets
    assert (other.hip_positions[:, 2] >= whole.hip_positions[:, 2] - 1e-9).all()
    assert (np.abs(other.hip_positions - whole.hip_positions).max() > 0.01) == (share > 0.0)


def test_a_smoothed_maximum_is_wide_and_bounded() -> None:
    """A constant stays; a peak is kept over the time around it, at any sampling, and nothing exceeds it or is far."""
    for rate in (100.0, 250.0):
        times = np.arange(0.0, 4.0, 1.0 / rate)
        np.testing.assert_allclose(_smooth_maximum(times, np.full(len(times), 0.3)), 0.3)
        np.testing.assert_allclose(_smooth_maximum(times, np.full(len(times), 0.3), -1.5), 1.3**-1.5)
        peak = np.where(np.abs(times - 2.0) < 0.6 / rate, 0.4, 0.0)
        spread = _smooth_maximum(times, peak)
        assert spread.max() == pytest.approx(0.4, abs=0.02)
        assert (np.diff(spread)[times[1:] < 1.99] >= -1e-12).all()
        assert (spread[np.abs(times - 2.0) < 0.01] > 0.36).all()
        assert (spread[np.abs(times - 2.0) > 0.45] < 1e-12).all()
        assert spread.sum() / rate == pytest.approx(0.4 * 2.0 * SMOOTHING_TIME, rel=0.1)


@pytest.mark.parametrize("share", [0.0, 0.4])
def test_a_motion_is_reduced_only_where_torques_fail(share: float) -> None:
    """By the power of the exceeded torque, with the reserve; by nothing where torques suffice, and never by less."""
    plain = check_motion(hoap3(), static_motion(hoap3(), hoap3().neutral), standing_schedule(hoap3()))
    times, count = np.arange(0.0, 4.0, 0.01), 400

    def reduced(smallest: np.ndarray) -> np.ndarray:
        margins = tuple(
            replace(margin, pieces=(np.tile(smallest[:, None], (1, len(margin.items))),))
            if margin.name == "joint torque"
            else margin
            for margin in plain.margins
        )
        return _reduce_motion(times, np.full(count, share), replace(plain, margins=margins))

    np.testing.assert_allclose(reduced(np.full(count, 0.01)), share)
    np.testing.assert_allclose(reduced(np.full(count, np.inf)), share)
    expected = 1.0 - (1.0 - share) * (1.0 + 0.2 + TORQUE_RESERVE) ** -REDUCTION_POWER
    np.testing.assert_allclose(reduced(np.full(count, -0.2)), expected)
    partly = reduced(np.where((times > 1.0) & (times < 3.0), -0.2, 0.02))
    np.testing.assert_allclose(partly[(times > 1.2) & (times < 2.8)], expected)
    np.testing.assert_allclose(partly[(times < 0.5) | (times > 3.5)], share)
    assert reduced(np.full(count, -50.0)).max() < 1.0


def test_time_is_eased_at_both_ends_only() -> None:
    """Pace grows from nothing to the clock's and back, never backwards, and the whole motion is shown."""
    clock = np.linspace(0.0, 6.0, 6001)
    now = ease_ends(clock, 5.0, 6.0)
    pace = np.gradient(now, clock)
    assert now[[0, -1]] == pytest.approx([0.0, 5.0])
    assert pace[[0, -1]] == pytest.approx(0.0, abs=1e-3)
    assert pace.min() >= 0.0
    assert pace[1500:4500] == pytest.approx(1.0)
    assert np.abs(np.diff(pace)).max() < 3e-3


@pytest.mark.parametrize("make", [hrp2, hoap3, person], ids=["hrp2", "hoap3", "person"])
def test_the_centre_of_mass_of_many_frames(make: object) -> None:
    """Place and slopes are those of the dynamics library, joints turned at random."""
    rig: Rig = make()  # type: ignore[operator]
    tree, rng = BatchKinematics(rig), np.random.default_rng(3)
    y = np.zeros((4, rig.nv))
    y[:, :3], y[:, ROOT_NV:] = rng.normal(size=(4, 3)), 0.3 * rng.normal(size=(4, rig.nv - ROOT_NV))
    turn = np.tile(np.eye(3), (4, 1, 1))
    place, slopes = tree.centre_of_mass(tree.forward(turn, y))
    q = to_configurations(rig, np.tile([0.0, 0.0, 0.0, 1.0], (4, 1)), y)
    theirs, own = com_and_jacobian(rig, q)
    assert place == pytest.approx(theirs, abs=1e-9)
    hinges = [k for joint, k in zip(rig.joints, np.cumsum([0, *(j.nv for j in rig.joints)])) if joint.nv == 1]
    assert slopes[:, :, :ROOT_NV] == pytest.approx(own[:, :, :ROOT_NV], abs=1e-9)
    assert slopes[:, :, hinges] == pytest.approx(own[:, :, hinges], abs=1e-9)


def test_shorter_strides_keep_the_step_width() -> None:
    """Strides half as long halve how far feet and hips go, not how far apart the feet are sideways."""
    source = Performer.from_motion(person(), squat(person(), steps=0.8))
    whole, half = (retarget_motion(source, hrp2(), None, RetargetOptions(stride_ratio=s)) for s in (1.0, 0.5))
    apart = [np.linalg.norm(np.subtract(*(own[0].position[:2] for own in f.foot_paths.anchors))) for f in (whole, half)]
    assert apart[1] == pytest.approx(apart[0], abs=0.01)
