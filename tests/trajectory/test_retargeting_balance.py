"""A retargeted motion is balanced as a whole: the feet stay in place, and the body is balanced over them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from solver.feasibility import Checks, check_motion
from solver.options.authoring import RetargetOptions
from solver.options.checks import CheckOptions
from solver.rigs import hrp2
from solver.skeleton.rig import GRAVITY, ROOT_NV
from solver.tracking.retargeting.interpolation import ease_ends, smooth_between, smooth_maximum
from solver.tracking.retargeting.performer import Performer
from solver.tracking.retargeting.pose_solver import SolvedPoses
from solver.tracking.retargeting.retarget import RetargetedMotion, motion_from_poses, retarget_motion
from solver.trajectory.retargeting_balance import balance_motion
from solver.values.motion import Motion
from tests.tracking.test_retargeting import person, squat

CHECKS = CheckOptions(allowed_slip=0.002, pairs=())


def checked(found: RetargetedMotion) -> Checks:
    """All but collisions."""
    return check_motion(found.rig, found.motion, found.schedule, CHECKS)


@cache
def lifting(rig: str = "robot") -> tuple[RetargetedMotion, RetargetedMotion]:
    """Simulated: a rig follows who lifts a foot while bending its knees, from rest; as led and as balanced."""
    options = RetargetOptions(from_rest=True)
    source = Performer.from_motion(person(), squat(person(), steps=0.8))
    found = retarget_motion(source, hrp2() if rig == "robot" else person(), None, options)
    return found, balance_motion(found, options, CHECKS)


@pytest.mark.parametrize("rig", ["robot", "person"])
def test_who_lifts_a_foot_stands_over_the_other(rig: str) -> None:
    """As led the zero-moment point leaves the standing foot for a third of the frames; balanced in hardly one.

    Hips come down only where legs do not reach.
    """
    led, result = lifting(rig)
    before, after = checked(led), checked(result)
    assert after.failing < before.failed.mean() < before.failing  # several checks fail in one frame
    assert before.get_margin("zmp").failed.mean() > 0.3
    assert after.get_margin("zmp").failed.mean() < 0.03
    assert not after.get_margin("joint torque").failed.any()
    assert not after.get_margin("slip").failed.any()
    assert not result.foot_paths.in_stance.all()
    lowered = result.foot_paths.root_heights - result.motion.q[:, 2]
    assert -0.005 < lowered.min() < 0.005 < lowered.max() < 0.1


def test_a_motion_starts_from_rest_only_on_request() -> None:
    """It then begins and ends at rest and lasts longer; otherwise it keeps its pace and its duration."""
    led, result = lifting()
    assert np.abs(result.motion.v[[0, -1], ROOT_NV:]).max() < 0.1
    assert result.motion.times[-1] > led.motion.times[-1]
    source = Performer.from_motion(person(), squat(person(), steps=0.8).frames(slice(30, 120)))
    found = retarget_motion(source, person())
    kept = balance_motion(found, RetargetOptions(keep_timing=True), CHECKS)
    assert kept.motion.times == pytest.approx(found.motion.times)
    assert np.abs(kept.motion.v[[0, -1], ROOT_NV:]).max() > 0.1


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
    found = retarget_motion(Performer.from_motion(person(), lift_and_hop()), person())
    balanced = balance_motion(found, RetargetOptions(), CHECKS)
    assert any(phase.airborne for phase in balanced.schedule.phases)
    np.testing.assert_allclose(balanced.motion.times, found.motion.times)


def test_a_weak_body_is_slowed_down() -> None:
    """Where joints are too weak for the pace it lasts longer, unless its timing is kept; strong ones keep pace."""
    strong, lasts = person(), []
    weak = replace(strong, limits=replace(strong.limits, torque=0.3 * strong.limits.torque))
    source = Performer.from_motion(person(), squat(person(), seconds=0.3))
    for rig, keeps in ((strong, False), (weak, False), (weak, True)):
        options = RetargetOptions(keep_timing=keeps)
        found = retarget_motion(source, rig, None, options)
        lasts.append(balance_motion(found, options, CHECKS).motion.times[-1] / found.motion.times[-1])
    assert lasts[0] == pytest.approx(1.0, abs=0.05)
    assert lasts[1] > 1.05
    assert lasts[2] == pytest.approx(1.0)


def test_a_smoothed_maximum_is_wide_and_bounded() -> None:
    """A constant stays; a peak is kept over the time around it, at any sampling, and nothing exceeds it or is far."""
    for rate in (100.0, 250.0):
        times = np.arange(0.0, 4.0, 1.0 / rate)
        np.testing.assert_allclose(smooth_maximum(times, np.full(len(times), 0.3), 0.2, 0.133), 0.3)
        peak = np.where(np.abs(times - 2.0) < 0.6 / rate, 0.4, 0.0)
        spread = smooth_maximum(times, peak, 0.2, 0.133)
        assert spread.max() == pytest.approx(0.4, abs=0.02)
        assert (np.diff(spread)[times[1:] < 1.99] >= -1e-12).all()
        assert (spread[np.abs(times - 2.0) < 0.01] > 0.36).all()
        assert (spread[np.abs(times - 2.0) > 0.45] < 1e-12).all()
        assert spread.sum() / rate == pytest.approx(0.4 * 2.0 * 0.2, rel=0.1)


def test_hips_come_down_no_faster_than_needed() -> None:
    """A path between bounds keeps them, is nothing where nothing is needed, and accelerates little."""
    times = np.arange(0.0, 3.0, 0.01)
    low = np.where(np.abs(times - 1.5) < 0.2, 0.03, -0.01)
    path = smooth_between(times, low, np.full(len(times), np.inf))
    assert (path - low).min() > -1e-4
    assert np.abs(path[[0, -1]]).max() < 0.01
    assert np.abs(np.diff(path, 2)).max() / 1e-4 < 1.5


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


def test_a_motion_has_its_acceleration_up_to_its_ends() -> None:
    """Of a body that falls every frame accelerates by gravity, the first and the last one too."""
    rig, times = person(), np.arange(8) / 120.0
    y = np.zeros((8, rig.nv))
    y[:, 2] = 2.0 + times - 0.5 * GRAVITY * times**2
    motion = motion_from_poses(rig, times, SolvedPoses(np.tile(np.eye(3), (8, 1, 1)), y))
    np.testing.assert_allclose(motion.a[:, 2], -GRAVITY, atol=1e-6)
    np.testing.assert_allclose(motion.v[:, 2], 1.0 - GRAVITY * times, atol=1e-9)
