"""Weight shifts onto one foot of robots whose joint limits or torques prevent the deepest point of a sole."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from solver.dance.design.footsteps import StepPlanner
from solver.dance.design.plan import build_transition_planner
from solver.dynamics.coordinates import joint_slices
from solver.feasibility.collisions import CollisionDetector
from solver.options.checks import DANCE_CHECKS
from solver.options.dances import DanceOptions
from solver.rigs import from_urdf
from solver.skeleton.rig import ROOT_NV, Rig
from solver.trajectory.legged_rig import LeggedRig
from solver.values.shape import ContactPolygon
from tests.bipeds import Biped


@pytest.fixture
def biped(tmp_path: Path) -> Rig:
    """A robot of 40 kg."""
    return from_urdf(Biped().write(tmp_path))


def _held(rig: Rig, which: str, limits: Mapping[str, float]) -> Rig:
    """The rig with other limits of some joints."""
    places = {joint.name: moves.start - ROOT_NV for joint, _, moves in joint_slices(rig)}
    values = np.array(getattr(rig.limits, which))
    for name, value in limits.items():
        values[places[name]] = value
    return replace(rig, limits=replace(rig.limits, **{which: values}))


def _over_left(rig: Rig) -> tuple[StepPlanner, np.ndarray]:
    """The step planner and the posture over the left foot, which can be reached and from which the other foot lifts."""
    planner = build_transition_planner(rig, DanceOptions())
    footwork = StepPlanner(planner)
    for step in (("both", "over left"), ("over left", "left")):
        assert planner.check_segment(footwork.plan_step(*step))[1] >= 0.0
    return footwork, footwork.standing_posture("over left")


def test_an_upright_pelvis_goes_to_the_deepest_point(biped: Rig) -> None:
    """Without limits in the way the pelvis is upright, and the weight is above the middle of the sole."""
    footwork, y = _over_left(biped)
    np.testing.assert_array_equal(y[3:ROOT_NV], footwork.home[3:ROOT_NV])


def test_the_pelvis_leans_if_hips_are_limited(biped: Rig) -> None:
    """With hips that rotate inwards by 1.7 degrees only, an upright pelvis cannot be above one foot."""
    _, y = _over_left(_held(_held(biped, "lower", {"left_hip_roll": -0.03}), "upper", {"right_hip_roll": 0.03}))
    assert abs(y[3]) > 0.01
    np.testing.assert_allclose(y[4:ROOT_NV], 0.0, atol=1e-12)


def test_weak_ankles_bring_the_weight_nearer(biped: Rig) -> None:
    """A sole is widest far ahead of its ankle, which cannot carry the weight there: the weight moves nearer."""
    corners = np.array([[-0.06, 0.02], [0.17, 0.06], [0.17, -0.06], [-0.06, -0.02]])
    soles = [
        ContactPolygon(sole.name, sole.link, np.column_stack([corners, np.full(4, -0.08)])) for sole in biped.soles
    ]
    tapered = replace(biped, contacts=tuple(soles))
    ahead = []
    for torque in (200.0, 25.0):
        rig = _held(tapered, "torque", {f"{side}_ankle_pitch": torque for side in ("left", "right")})
        footwork, y = _over_left(rig)
        legged = footwork._legged
        com = legged.compute_com(legged.solve_static(y[None], footwork.both.solved)[1])[0]
        (ankle,) = legged.get_footing("left").anchors
        ahead.append(float(com[0] - ankle.position[0]))
    assert ahead[0] > 0.08
    assert ahead[1] * biped.weight < 25.0


def test_arms_avoid_the_thigh(tmp_path: Path) -> None:
    """With long thick arms beside the thighs the arms move, and the pelvis does not lean."""
    path = Biped().write(tmp_path)
    path.write_text(path.read_text().replace('"0.06 0.06 0.2"', '"0.11 0.11 0.5"'))
    rig = from_urdf(path)
    footwork, y = _over_left(rig)
    np.testing.assert_allclose(y[3:ROOT_NV], footwork.home[3:ROOT_NV], atol=1e-12)
    trunk = footwork._legged.trunk
    assert np.abs(y[trunk] - footwork.home[trunk]).max() > 0.01


def test_arms_avoid_thighs_if_legs_overlap(tmp_path: Path) -> None:
    """Shanks that overlap by 5 mm do not keep the arms from leaving the thighs."""
    path = Biped().write(tmp_path)
    text = path.read_text().replace('<box size="0.09 0.09 0.24"/>', '<box size="0.09 0.205 0.24"/>')
    text = text.replace('<box size="0.06 0.06 0.2"/>', '<box size="0.2 0.2 0.2"/>')
    path.write_text(re.sub(r'(<link name="\w+_forearm">.*?<collision><origin xyz=)"[^"]*"', r'\1"0 0 -0.3"', text))
    rig = from_urdf(path)
    legged = LeggedRig(rig, shrink=0.4)
    home = legged.home_posture(legged.get_footing("both"))
    _, curves, _ = legged.solve_static(home[None], ("right", "left"))
    near = CollisionDetector(rig, DANCE_CHECKS)
    apart = dict(zip(near.pairs, near.minimum_distances(curves.q)[0]))
    assert apart["left_shank", "right_shank"] == pytest.approx(-0.005, abs=1e-6)
    assert {pair for pair, distance in apart.items() if distance < 0.0} == {("left_shank", "right_shank")}
    assert np.abs(home[legged.trunk]).max() > 0.01
