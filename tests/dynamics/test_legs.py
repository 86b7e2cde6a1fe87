"""Laws of the flat coordinates and of legs that keep planted feet planted."""

from __future__ import annotations

import numpy as np
import pytest

from solver.coordinates import joint_coordinates, to_flat, to_manifold
from solver.dynamics.legs import legs
from solver.errors import InvalidValue
from solver.pinocchio_loader import pin
from solver.rig import Rig
from solver.rigs import hoap3, hrp2, human
from solver.trajectory.legged_rig import LeggedRig
from tests.random_motion import mixed_rig

RIGS = [hoap3(torque="peak"), hrp2(), human(1.75, 65.0, "female"), human(1.75, 65.0, "female", variant="23dof")]


@pytest.mark.parametrize("rig", RIGS, ids=lambda rig: rig.name)
def test_flat_coordinates_are_those_of_the_limits(rig: Rig) -> None:
    """A configuration's flat coordinates lead back to it, and its joints' part is `Rig.coordinates`."""
    generator = np.random.default_rng(0)
    q = pin.integrate(rig.model, rig.neutral, 0.5 * generator.standard_normal(rig.model.nv))
    y = to_flat(rig, q)
    none = np.zeros((1, len(y)))
    back = to_manifold(rig, y[None], none, none).q[0]
    assert np.abs(pin.difference(rig.model, q, back)).max() < 1e-9
    np.testing.assert_allclose(y[6:], joint_coordinates(rig, q), atol=1e-12)


@pytest.mark.parametrize("rig", RIGS, ids=lambda rig: rig.name)
def test_planted_feet_do_not_move(rig: Rig) -> None:
    """Whatever the root does, planted feet keep pose, zero velocity and zero acceleration to rounding."""
    legged = LeggedRig(rig, shrink=0.4)
    footing = legged.footing("both")
    home = legged.home(footing)
    times = np.linspace(0.0, 3.0, 25)
    swing = 0.03 * legged.straight_height * np.array([1.0, 1.0, 0.5, 4.0, 4.0, 4.0])
    pace = np.array([2.0, 1.3, 0.7, 2.0, 1.5, 0.9])
    y, dy, ddy = (np.tile(x, (25, 1)) for x in (home, 0.0 * home, 0.0 * home))
    y[:, :6] += swing * np.sin(np.outer(times, pace))
    dy[:, :6] = swing * pace * np.cos(np.outer(times, pace))
    ddy[:, :6] = -swing * pace**2 * np.sin(np.outer(times, pace))
    _, curves, good = legged.frames(y, dy, ddy, footing.solved)
    assert good.all()
    data = rig.model.createData()
    for q, v, a in zip(curves.q, curves.v, curves.a):
        pin.forwardKinematics(rig.model, data, q, v, a)
        for anchor, leg in zip(footing.anchors, legged.legs):
            joint = rig.joint(leg.link)
            np.testing.assert_allclose(data.oMi[joint].translation, anchor.position, atol=1e-10)
            np.testing.assert_allclose(data.oMi[joint].rotation, anchor.rotation, atol=1e-10)
            assert np.abs(data.v[joint].vector).max() < 1e-9
            assert np.abs(data.a[joint].vector).max() < 1e-8


@pytest.mark.parametrize("rig", RIGS, ids=lambda rig: rig.name)
def test_legs_find_the_pose_they_were_in(rig: Rig) -> None:
    """Solving for a foot pose that bent coordinates produce leads back to that pose."""
    for leg in legs(rig):
        generator = np.random.default_rng(2)
        x = leg.bent + 0.3 * np.sign(leg.bent) + 0.15 * generator.uniform(-1.0, 1.0, (50, len(leg.bent)))
        rotation, position, _ = leg.forward(x)
        guess = x + 0.1 * generator.uniform(-1.0, 1.0, x.shape)
        guess[:, 6:] = x[:, 6:]
        found, good = leg.solve(rotation, position, guess)
        assert good.mean() > 0.9
        again, place, _ = leg.forward(found[good])
        np.testing.assert_allclose(again, rotation[good], atol=1e-10)
        np.testing.assert_allclose(place, position[good], atol=1e-10)


def test_out_of_reach_is_said_not_guessed() -> None:
    """A foot farther away than the leg is long is reported unsolved."""
    leg = legs(RIGS[0])[0]
    _, good = leg.solve(np.eye(3)[None], np.array([[0.0, 0.0, -5.0]]), leg.bent[None])
    assert not good[0]


def test_balanced_postures_are_balanced() -> None:
    """The centre of mass of a balanced posture is above its goal and the zero-moment point at rest beneath it."""
    rig = RIGS[0]
    legged = LeggedRig(rig, shrink=0.4)
    footing = legged.footing("both")
    goal = footing.polygon.centre + np.array([0.01, -0.01])
    y, good = legged.balanced(legged.home(footing)[None], goal[None], footing.solved)
    assert good.all()
    _, curves, _ = legged.still(y, footing.solved)
    np.testing.assert_allclose(legged.com(curves)[0, :2], goal, atol=1e-9)
    np.testing.assert_allclose(legged.zmp(curves)[0], goal, atol=1e-8)


def test_rigs_without_feet_are_refused() -> None:
    """A rig without soles cannot dance, and says so."""
    with pytest.raises(InvalidValue, match="contact"):
        LeggedRig(mixed_rig(), shrink=0.4)
