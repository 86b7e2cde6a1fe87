"""Time scaling of a dance."""

from __future__ import annotations

import numpy as np
import pytest

from solver.contacts.schedule import Schedule
from solver.dance.authoring.authored_dance import AuthoredDance, Keyframe
from solver.dance.authoring.retime import retime, retime_dance, scale_time, speed_factor
from solver.dynamics import difference
from solver.feasibility import check_motion
from solver.skeleton.rig import Rig

from ..example_dances import home, rotate_joints


@pytest.fixture(scope="module")
def dance(strong_robot: Rig) -> AuthoredDance:
    """A slow move of the arms, a rest, and a move that is far too fast."""
    q, anchors = home(strong_robot)
    up = rotate_joints(strong_robot, q, {"right_shoulder": (0, -0.8), "left_shoulder": (0, -0.8)})
    keys = tuple(Keyframe(t, k) for t, k in ((0.0, q), (4.0, up), (5.0, up), (5.5, q)))
    return AuthoredDance(strong_robot, keys, Schedule.constant(anchors, 0.0, 5.5))


def test_scaled_speeds_are_derivatives(strong_robot: Rig, dance: AuthoredDance) -> None:
    """After scaling v is still the derivative of q, by central differences, and a that of v."""
    slow = scale_time(dance.motion(1000.0), 1.7)
    for k in (500, 2000, 5200):
        v = difference(strong_robot, slow.q[k - 1], slow.q[k + 1]) / (slow.times[k + 1] - slow.times[k - 1])
        assert np.allclose(v, slow.v[k], atol=1e-4)
    a = np.diff(slow.v, axis=0)[2000] / np.diff(slow.times)[2000]
    assert np.allclose(a, slow.a[2000:2002].mean(axis=0), atol=1e-3)


def test_only_the_fast_span_is_slowed(strong_robot: Rig, dance: AuthoredDance) -> None:
    """The span that exceeds its speeds lasts exactly max |v| / limit times as long; the rest keeps its duration."""
    motion = dance.motion(1000.0)
    result = retime(strong_robot, motion)
    fast = motion.part(5000, 5501)
    factor, joint = speed_factor(strong_robot, fast)
    assert factor > 2.0
    assert {s.factor for s in result.spans[:-1]} == {1.0}
    assert result.spans[-1].factor == pytest.approx(factor)
    assert joint.replace("_", " ") in result.spans[-1].reason
    assert result.after[-1] == pytest.approx(5.0 + 0.5 * factor)
    assert speed_factor(strong_robot, scale_time(fast, factor))[0] == pytest.approx(1.0)


def test_keys_are_retimed(strong_robot: Rig, dance: AuthoredDance) -> None:
    """The retimed dance keeps every speed limit, and its schedule still covers it."""
    result = retime(strong_robot, dance.motion(1000.0))
    slow = retime_dance(dance, result)
    assert slow.stop == pytest.approx(result.after[-1])
    assert slow.schedule.stop == pytest.approx(slow.stop)
    assert not check_motion(strong_robot, slow.motion(200.0), slow.schedule).get_margin("joint speed").failed.any()


def test_slowing_down_restores_balance(strong_robot: Rig, dance: AuthoredDance) -> None:
    """A span that fails dynamically passes at the factor found, and fails at a slightly smaller one."""
    q, anchors = home(strong_robot)
    bow = rotate_joints(strong_robot, q, {"chest": (0, 0.4)})
    keyed = AuthoredDance(
        strong_robot, tuple(Keyframe(t, k) for t, k in ((0.0, q), (0.25, bow))), Schedule.constant(anchors, 0.0, 0.25)
    )
    motion = keyed.motion(400.0)
    result = retime(strong_robot, motion, keyed.schedule)
    factor = result.spans[0].factor
    for share in (1.0, 0.98):
        slower = scale_time(motion, share * factor)
        schedule = Schedule.constant(anchors, 0.0, float(slower.times[-1]))
        assert check_motion(strong_robot, slower, schedule).feasible == (share == 1.0)
