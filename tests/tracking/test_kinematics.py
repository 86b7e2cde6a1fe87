"""Normal equations, their second-order term and the posture task against plain sums and finite differences."""

from __future__ import annotations

import numpy as np
import pytest

from solver.dynamics import integrate
from solver.rigs import human
from solver.skeleton.rig import Rig
from solver.tracking.joint_limits import JointLimits
from solver.tracking.kinematics import Kinematics
from solver.tracking.posture import Posture
from tests.joint_entries import entry
from tests.tracking.bodies import cloud, swinging


@pytest.fixture(scope="module")
def rig() -> Rig:
    return human(1.7, 65.0, "female")


def points_of(rig: Rig) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    attachments = cloud(rig)
    links = np.array([rig.index(a.link) for a in attachments])
    selector = np.zeros((len(rig.links), len(links)))
    selector[links, np.arange(len(links))] = 1.0
    return links, np.array([a.position for a in attachments]), selector


def test_point_jacobians_are_the_points_derivatives(rig: Rig) -> None:
    """A point moves by its Jacobian times the step, to first order."""
    links, offsets, _ = points_of(rig)
    kinematics, q = Kinematics(rig), swinging(rig, 10)[-1]
    kinematics.update_kinematics(q)
    before = kinematics.points(links, offsets)
    jacobian = kinematics.point_jacobians(links, before)
    step = 1e-6 * np.random.default_rng(2).normal(size=rig.nv)
    kinematics.update_kinematics(integrate(rig, q, step))
    np.testing.assert_allclose(kinematics.points(links, offsets) - before, jacobian @ step, atol=1e-10)


def test_posture_gradient_is_that_of_its_cost(rig: Rig) -> None:
    """The restoring torque is minus half the derivative of its cost, also if hands may rotate freely."""
    posture, q = Posture(rig, ("left_hand",)), swinging(rig, 25, amplitude=0.6)[-1]
    gradient = np.zeros(rig.nv)
    posture.add(q, 1.0, np.zeros((rig.nv, rig.nv)), gradient)
    size = 1e-6
    for column in range(rig.nv):
        step = np.zeros(rig.nv)
        step[column] = size
        up, down = (posture.cost(integrate(rig, q, s * step)) for s in (1.0, -1.0))
        assert gradient[column] == pytest.approx(-0.5 * (up - down) / (2.0 * size), abs=1e-7)


def test_every_joint_of_a_girdle_has_a_restoring_torque() -> None:
    """The joints of a trunk of three and of a girdle, with two axes or one, have the torque of their cost, and a
    girdle's is stiffer.
    """
    rig = human(1.7, 60.0, "female", trunk="three", shoulders="girdle")
    test_posture_gradient_is_that_of_its_cost(rig)
    prices = dict(zip(rig.links, np.split(Posture(rig).diagonal, starts_of(rig)[1:])))
    assert (prices["abdomen"] == 1.0).all()
    assert (prices["left_clavicle"] == prices["right_scapula"][0]).all()
    assert prices["right_scapula"][0] > 10.0 * prices["left_forearm"][0] > 0.0


def starts_of(rig: Rig) -> list[int]:
    return [rig.v_slices[k].start for k in range(len(rig.links))]


def test_free_twist_has_no_cost(rig: Rig) -> None:
    """Free twist leaves pronation to the markers."""
    joint = entry(rig, "left_hand")
    turn = np.zeros(rig.nv)
    turn[joint.idx_v + 2] = 2.5
    q = integrate(rig, rig.neutral, turn)
    assert Posture(rig, ("left_hand",)).cost(q) == pytest.approx(0.0, abs=1e-12)
    assert Posture(rig, ()).cost(q) > 1.0


def test_limits_do_not_jump_beyond_half_a_turn(rig: Rig) -> None:
    """A hand allowed to pronate by 170 degrees is 10 degrees, not 350, beyond its limit at 180."""
    limits = JointLimits(rig, 40.0)
    joint = entry(rig, "right_hand")
    low, high = rig.limits.lower[joint.idx_v - 4], rig.limits.upper[joint.idx_v - 4]
    farther = high if high > -low else low
    turn = np.zeros(rig.nv)
    turn[joint.idx_v + 2] = np.sign(farther) * (np.pi + 0.05)
    q = integrate(rig, rig.neutral, turn)
    box, _ = limits.step_bounds(q, 0.01, q)
    back = -box.low[joint.idx_v + 2] if farther < 0.0 else box.high[joint.idx_v + 2]
    beyond = np.pi + 0.05 - abs(farther)
    assert -1.01 * beyond < back <= 0.0


@pytest.mark.parametrize("gain", [np.inf, 2.0])
def test_a_joint_slows_down_as_its_limit_comes_near(rig: Rig, gain: float) -> None:
    """(12): 0.1 rad before its limit a joint may turn by v dt tanh(0.1 k); shorter steps are clear, longer ones not."""
    limits, step = JointLimits(rig, 40.0, gain=gain), 0.01
    column = entry(rig, "right_shank").idx_v
    speed = rig.limits.speed[column - 6]
    turn = np.zeros(rig.nv)
    turn[column] = rig.limits.upper[column - 6] - 0.1
    q = integrate(rig, rig.neutral, turn)
    box, _ = limits.step_bounds(q, step, q)
    allowed = speed * step * np.tanh(0.1 * min(gain, 1.0 / (speed * step)))
    assert box.high[column] == pytest.approx(allowed, rel=1e-6)
    change = np.zeros(rig.nv)
    for share, is_clear in ((0.6, True), (1.2, False)):
        change[column] = share * allowed
        assert limits.is_clear(q, change, step) == is_clear
