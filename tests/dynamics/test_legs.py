"""Laws of the flat coordinates and of legs that keep planted feet planted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from solver.base.errors import InvalidValue
from solver.base.so3 import log
from solver.contacts.schedule import stance
from solver.dynamics import difference, integrate
from solver.dynamics.coordinates import joint_coordinates, static_motion, to_flat, to_manifold
from solver.dynamics.legs import build_legs
from solver.rigs import from_urdf, hoap3, hrp2, human
from solver.rigs.overrides import with_soles
from solver.skeleton.rig import ROOT_NV, Rig
from solver.trajectory.legged_rig import LeggedRig
from tests.pinocchio import data_of, pin
from tests.random_motion import mixed_rig

RIGS = [hoap3(torque="peak"), hrp2(), human(1.75, 65.0, "female"), human(1.75, 65.0, "female", variant="23dof")]


@pytest.mark.parametrize("rig", RIGS, ids=lambda rig: rig.name)
def test_flat_coordinates_are_those_of_the_limits(rig: Rig) -> None:
    """A configuration's flat coordinates lead back to it, and its joints' part is `Rig.coordinates`."""
    generator = np.random.default_rng(0)
    q = integrate(rig, rig.neutral, 0.5 * generator.standard_normal(rig.nv))
    y = to_flat(rig, q)
    none = np.zeros((1, len(y)))
    back = to_manifold(rig, y[None], none, none).q[0]
    assert np.abs(difference(rig, q, back)).max() < 1e-9
    np.testing.assert_allclose(y[6:], joint_coordinates(rig, q), atol=1e-12)


@pytest.mark.parametrize("rig", [*RIGS, mixed_rig()], ids=lambda rig: rig.name)
def test_a_body_at_rest_is_one_whose_rates_are_zero(rig: Rig) -> None:
    """Postures are those of a motion without speed, whatever joints the rig has."""
    y = 0.4 * np.random.default_rng(1).standard_normal((5, rig.nv))
    none = np.zeros_like(y)
    still, moving = static_motion(rig, y), to_manifold(rig, y, none, none)
    np.testing.assert_array_equal(still.q, moving.q)
    assert not still.v.any()
    assert not still.a.any()
    np.testing.assert_array_equal(moving.v, still.v)


@pytest.mark.parametrize("rig", RIGS, ids=lambda rig: rig.name)
def test_a_static_leg_is_a_moving_one_at_rest(rig: Rig) -> None:
    """At rest, where nothing has a rate, the joints under a foot are those of a foot that is led there."""
    legged = LeggedRig(rig, shrink=0.4)
    home = legged.home_posture(legged.get_footing("both"))
    moved = np.tile(home, (6, 1))
    moved[:, :6] += 0.02 * np.random.default_rng(2).standard_normal((6, 6))
    none = np.zeros_like(moved)
    y, _, good = legged.solve_static(moved, ("right", "left"))
    led, _, reached = legged.solve_motion(moved, none, none, ("right", "left"))
    np.testing.assert_array_equal(good, reached)
    np.testing.assert_allclose(y, led, atol=1e-13)


@pytest.mark.parametrize("rig", RIGS, ids=lambda rig: rig.name)
def test_planted_feet_do_not_move(rig: Rig) -> None:
    """Whatever the root does, planted feet keep pose, zero velocity and zero acceleration to rounding."""
    legged = LeggedRig(rig, shrink=0.4)
    footing = legged.get_footing("both")
    home = legged.home_posture(footing)
    times = np.linspace(0.0, 3.0, 25)
    swing = 0.03 * legged.straight_height * np.array([1.0, 1.0, 0.5, 4.0, 4.0, 4.0])
    pace = np.array([2.0, 1.3, 0.7, 2.0, 1.5, 0.9])
    y, dy, ddy = (np.tile(x, (25, 1)) for x in (home, 0.0 * home, 0.0 * home))
    y[:, :6] += swing * np.sin(np.outer(times, pace))
    dy[:, :6] = swing * pace * np.cos(np.outer(times, pace))
    ddy[:, :6] = -swing * pace**2 * np.sin(np.outer(times, pace))
    _, curves, good = legged.solve_motion(y, dy, ddy, footing.solved)
    assert good.all()
    data = data_of(rig)
    for q, v, a in zip(curves.q, curves.v, curves.a):
        pin.forwardKinematics(rig.model, data, q, v, a)
        for anchor, leg in zip(footing.anchors, legged.legs):
            joint = rig.index(leg.link) + 1
            np.testing.assert_allclose(data.oMi[joint].translation, anchor.position, atol=1e-10)
            np.testing.assert_allclose(data.oMi[joint].rotation, anchor.rotation, atol=1e-10)
            assert np.abs(data.v[joint].vector).max() < 1e-9
            assert np.abs(data.a[joint].vector).max() < 1e-8


@pytest.mark.parametrize("rig", RIGS, ids=lambda rig: rig.name)
def test_one_step_follows_a_hair(rig: Rig) -> None:
    """After the root moved by a micrometre updated legs equal legs solved again, to its square; a stretched
    leg too, and without rates if these are not requested.
    """
    legged, generator = LeggedRig(rig, shrink=0.4), np.random.default_rng(3)
    footing = legged.get_footing("both")
    home = np.tile(legged.home_posture(footing), (8, 1))
    home[:, :6] += 0.02 * legged.straight_height * generator.standard_normal(home[:, :6].shape)
    home[-1, 2] += 0.5 * legged.straight_height  # out of reach
    dy, ddy = generator.standard_normal((2, *home.shape))
    for leg, anchor in zip(legged.legs, footing.anchors):
        place = np.tile(np.concatenate([anchor.position, log(anchor.rotation)]), (8, 1))
        foot = (place, 0.0 * place, 0.0 * place)
        y = home.copy()
        leg.follow_foot((y, dy.copy(), ddy.copy()), foot, approach=True)
        y[:, :6] += 1e-6 * generator.standard_normal((8, 6))
        led, followed, still = ((y.copy(), dy.copy(), ddy.copy()) for _ in range(3))
        leg.follow_foot(led, foot, approach=True)
        leg.update(followed, foot)
        leg.update(still, foot, positions_only=True)
        for one, other in zip(led, followed):
            np.testing.assert_allclose(other[:-1], one[:-1], rtol=1e-6, atol=1e-10)
        np.testing.assert_allclose(followed[0][-1], led[0][-1], atol=1e-5)
        np.testing.assert_array_equal(still[0], followed[0])
        np.testing.assert_array_equal(still[1], dy)


@pytest.mark.parametrize("rig", RIGS, ids=lambda rig: rig.name)
def test_legs_find_the_pose_they_were_in(rig: Rig) -> None:
    """Solving for a foot pose that bent coordinates produce leads back to that pose."""
    for leg in build_legs(rig):
        generator = np.random.default_rng(2)
        x = (
            leg.bent_posture
            + 0.3 * np.sign(leg.bent_posture)
            + 0.15 * generator.uniform(-1.0, 1.0, (50, len(leg.bent_posture)))
        )
        rotation, position, _ = leg.forward_kinematics(x)
        guess = x + 0.1 * generator.uniform(-1.0, 1.0, x.shape)
        guess[:, 6:] = x[:, 6:]
        found, good = leg.solve(rotation, position, guess)
        assert good.mean() > 0.9
        again, place, _ = leg.forward_kinematics(found[good])
        np.testing.assert_allclose(again, rotation[good], atol=1e-10)
        np.testing.assert_allclose(place, position[good], atol=1e-10)


def test_out_of_reach_is_said_not_guessed() -> None:
    """A foot farther away than the leg is long is reported unsolved."""
    leg = build_legs(RIGS[0])[0]
    _, good = leg.solve(np.eye(3)[None], np.array([[0.0, 0.0, -5.0]]), leg.bent_posture[None])
    assert not good[0]


def test_balanced_postures_are_balanced() -> None:
    """The centre of mass of a balanced posture is above its goal and the zero-moment point at rest beneath it."""
    rig = RIGS[0]
    legged = LeggedRig(rig, shrink=0.4)
    footing = legged.get_footing("both")
    goal = footing.polygon.centre + np.array([0.01, -0.01])
    y, good = legged.balance(legged.home_posture(footing)[None], goal[None], footing.solved)
    assert good.all()
    _, curves, _ = legged.solve_static(y, footing.solved)
    np.testing.assert_allclose(legged.compute_com(curves)[0, :2], goal, atol=1e-9)
    np.testing.assert_allclose(legged.compute_zmp(curves)[0], goal, atol=1e-8)


def test_rigs_without_feet_are_refused() -> None:
    """A rig without soles cannot dance, and says so."""
    with pytest.raises(InvalidValue, match="contact"):
        LeggedRig(mixed_rig(), shrink=0.4)


def _legged(tmp_path: Path, leg: Sequence[tuple[str, str, str]], face: str = "+x") -> Rig:
    """A trunk on two equal legs of joints (kind, axis, offset from the joint before) and a flat foot."""
    ahead = {"+x": "0.03 0 -0.02", "-x": "-0.03 0 -0.02"}[face]
    sign = 1 if face == "+x" else -1
    mass = '<inertial><mass value="1"/><inertia ixx=".01" iyy=".01" izz=".01" ixy="0" ixz="0" iyz="0"/></inertial>'
    parts = [f'<link name="trunk">{mass}</link>']
    for side, across in (("left", 0.1 * sign), ("right", -0.1 * sign)):
        above = "trunk"
        for number, (kind, axis, offset) in enumerate(leg):
            link = f"{side}_foot" if number == len(leg) - 1 else f"{side}_{number}"
            box = f'<collision><origin xyz="{ahead}"/><geometry><box size="0.2 0.1 0.04"/></geometry></collision>'
            place = f"0 {across} 0" if number == 0 else offset
            limit = '<limit effort="90" velocity="9" lower="-2" upper="2"/>'
            parts.append(f'<link name="{link}">{mass}{box if link.endswith("foot") else ""}</link>')
            parts.append(
                f'<joint name="{link}_joint" type="{kind}"><parent link="{above}"/><child link="{link}"/>{limit}'
                f'<origin xyz="{place}"/><axis xyz="{axis}"/></joint>'
            )
            above = link
    path = tmp_path / "legged.urdf"
    path.write_text(f'<robot name="legged">{"".join(parts)}</robot>')
    return from_urdf(path)


X, Y, Z, HERE, DOWN = "1 0 0", "0 1 0", "0 0 1", "0 0 0", "0 0 -0.4"
HIP = [("revolute", Z, HERE), ("revolute", X, HERE), ("revolute", Y, HERE)]
LEGS = {
    "knee of two, ankle of three": [
        *HIP, ("revolute", Y, DOWN), ("revolute", Z, HERE),
        ("revolute", X, DOWN), ("revolute", Y, HERE), ("revolute", Z, HERE),
    ],
    "ankle before roll": [*HIP, ("revolute", Y, DOWN), ("revolute", Y, DOWN), ("revolute", X, HERE)],
    "telescope": [*HIP, ("prismatic", Z, DOWN), ("revolute", Y, DOWN), ("revolute", X, HERE)],
    "wheel-like hip": [("continuous", Z, HERE), *HIP[1:], ("revolute", Y, DOWN), ("revolute", Y, DOWN),
                       ("revolute", X, HERE)],
}  # fmt: skip


@pytest.mark.parametrize("leg", LEGS)
@pytest.mark.parametrize("face", ["+x", "-x"])
def test_legs_of_any_joints_plant_their_feet(tmp_path: Path, leg: str, face: str) -> None:
    """Joints of any order, number and kind: the foot stays, also in velocity and acceleration, under a moving root."""
    rig = _legged(tmp_path, LEGS[leg], face)
    assert rig.forward @ [1.0, 0.0, 0.0] == (1.0 if face == "+x" else -1.0)
    legged = LeggedRig(rig, shrink=0.4)
    footing = legged.get_footing("both")
    times = np.linspace(0.0, 1.0, 9)[:, None]
    rates = np.zeros((3, len(times), legged.size))
    rates[0] = legged.home_posture(footing)
    pace, size = np.array([2.0, 1.3, 0.7, 2.0, 1.5, 0.9]), 0.02 * np.array([1.0, 1.0, 0.5, 4.0, 4.0, 4.0])
    for k, wave in enumerate((np.sin(times * pace), pace * np.cos(times * pace), -(pace**2) * np.sin(times * pace))):
        rates[k][:, :6] += size * wave
    _, curves, good = legged.solve_motion(rates[0], rates[1], rates[2], footing.solved)
    assert good.all()
    data = data_of(rig)
    for q, v, a in zip(curves.q, curves.v, curves.a):
        pin.forwardKinematics(rig.model, data, q, v, a)
        for patch in rig.contacts:
            joint = rig.index(patch.link) + 1
            assert np.abs(pin.getVelocity(rig.model, data, joint).vector).max() < 1e-10
            assert np.abs(pin.getAcceleration(rig.model, data, joint).vector).max() < 1e-9
            anchor = next(anchor for anchor in footing.anchors if anchor.patch == patch.name)
            np.testing.assert_allclose(data.oMi[joint].translation, anchor.position, atol=1e-10)


@pytest.mark.parametrize("face", ["+x", "-x"])
def test_knees_bend_forwards(tmp_path: Path, face: str) -> None:
    """If ranges do not determine how a knee bends, it bends forwards, and a step forwards goes where the toes point."""
    rig = _legged(tmp_path, LEGS["ankle before roll"], face)
    for leg in build_legs(rig):
        assert np.flatnonzero(leg.bent_posture).tolist() == [3]
        foot = leg.forward_kinematics(leg.bent_posture[None])[1][0] - leg.forward_kinematics(np.zeros((1, 6)))[1][0]
        assert foot @ rig.forward < 0.0
    ahead = stance(rig, "right_forward", 0.1)[0].position - stance(rig, "both")[0].position
    np.testing.assert_allclose(ahead, 0.1 * rig.forward, atol=1e-12)


def test_knees_drawn_bent_backwards_bend_forwards(tmp_path: Path) -> None:
    """A leg that is drawn with its knee behind, where its range ends, begins beyond straight, not before it."""
    back, ahead = "-0.05 0 -0.4", "0.05 0 -0.4"
    rig = _legged(tmp_path, [*HIP, ("revolute", Y, back), ("revolute", Y, ahead), ("revolute", X, HERE)])
    limits = replace(rig.limits, lower=np.where(np.arange(12) % 6 == 3, 0.0, rig.limits.lower))
    for leg in build_legs(replace(rig, limits=limits)):
        assert np.flatnonzero(leg.bent_posture).tolist() == [3]
        assert leg.bent_posture[3] > 2.0 * np.arctan2(0.05, 0.4)


def test_a_knee_shortens_a_leg_more_than_a_slide_across_it(tmp_path: Path) -> None:
    """A slide at 45 degrees to a leg takes less of its length than a hinge in the middle: the hinge is the knee."""
    slide = ("prismatic", "0.7071 0 0.7071", HERE)
    rig = _legged(tmp_path, [*HIP, ("revolute", Y, DOWN), slide, ("revolute", Y, DOWN), ("revolute", X, HERE)])
    for leg in build_legs(rig):
        assert np.flatnonzero(leg.bent_posture).tolist() == [3]


def test_a_leg_that_ties_its_root_is_named(tmp_path: Path) -> None:
    """Six joints of which no two turn the foot sideways cannot plant it; the message names leg and foot."""
    rig = _legged(tmp_path, [("revolute", Y, DOWN)] * 6)
    with pytest.raises(InvalidValue, match=r"right leg .* cannot move 'right_foot' in all six directions"):
        build_legs(rig)


def test_legs_that_hang_on_one_joint_are_refused(tmp_path: Path) -> None:
    """Two legs cannot both have the joint below which they part: it is named, and what makes that link the root."""
    _legged(tmp_path, LEGS["ankle before roll"])
    path = tmp_path / "legged.urdf"
    waist = (
        '<link name="chest"/><joint name="waist" type="revolute"><parent link="chest"/><child link="trunk"/>'
        '<axis xyz="0 0 1"/><limit effort="90" velocity="9" lower="-1" upper="1"/></joint>'
    )
    text = re.sub("<collision>.*?</collision>", "", path.read_text()).replace("_foot", "_end")
    path.write_text(text.replace('<robot name="legged">', f'<robot name="legged">{waist}'))
    soles = {"left_end": (0.2, 0.1), "right_end": (0.2, 0.1)}
    with pytest.raises(InvalidValue, match=r"share joint waist below its root 'chest'.* makes 'trunk' the root"):
        build_legs(with_soles(from_urdf(path), soles))
    right, left = build_legs(with_soles(from_urdf(path, feet=list(soles)), soles))
    assert not set(right.columns) & set(left.columns)


def test_a_stretched_leg_does_not_race() -> None:
    """Feet out of reach: joints stay slower than a thousand radians a second; they would have raced without end."""
    rig = human(1.75, 70.0, "male")
    leg = build_legs(rig)[0]
    y = np.zeros((3, rig.nv))
    y[:, ROOT_NV + leg.columns] = leg.bent_posture
    turn, place, _ = leg.forward_kinematics(leg.bent_posture[None])
    foot = np.zeros((3, 6))
    foot[:, :3] = place[0] - [0.0, 0.0, 0.3]
    foot[:, 3:] = log(turn[0])
    still = np.zeros_like(foot)
    rates = (y, np.zeros_like(y), np.zeros_like(y))
    rates[1][:, 2] = [0.0, 0.3, 1.0]  # the root rises away from it
    leg.follow_foot(rates, (foot, still, still), approach=True)
    assert np.abs(rates[1]).max() < 1e3
    assert np.abs(rates[2]).max() < 1e6
