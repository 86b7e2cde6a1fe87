"""Robots that are unusual in one way dance, or one sentence says why not and what to do instead."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from solver.base.errors import InvalidValue
from solver.base.so3 import exp
from solver.contacts.schedule import Phase, Schedule, stance
from solver.dance.authoring.authored_dance import AuthoredDance, Keyframe
from solver.dance.authoring.repair import repair_dance
from solver.dance.design.dance import Dance
from solver.dance.design.named_poses import NamedPose
from solver.dance.design.postures import PosturePool, draw_posture_pool
from solver.dance.workflows.design import design_dance
from solver.dynamics import integrate, link_motions
from solver.dynamics.coordinates import joint_slices
from solver.dynamics.legs import build_legs
from solver.feasibility import check_motion
from solver.options.checks import CheckOptions
from solver.options.dances import FOOT_CONFIGURATIONS, DanceOptions
from solver.rigs import from_urdf
from solver.rigs.overrides import with_soles
from solver.skeleton.rig import Rig
from solver.trajectory.legged_rig import Footing, LeggedRig
from solver.trajectory.root_constraints import free_root_coordinates
from solver.values.motion import Motion
from tests.bipeds import Biped

PITCH = (("pitch", "0 1 0"),)
ODD: dict[str, dict[str, Any]] = {
    "no joint above the hips": {"torso": ()},
    "a trunk that pitches and does not yaw": {"torso": PITCH},
    "one arm": {"arms": ("left",)},
    "a sliding neck": {"slide": True},
    "no arms": {"arms": (), "torso": ()},
}
NO_YAW: dict[str, Any] = {"hip": (("roll", "1 0 0"), ("pitch", "0 1 0"))}
NO_ROLL: dict[str, Any] = {"ankle": PITCH}
FOUR: dict[str, Any] = {**NO_YAW, **NO_ROLL}


def _options(**postures: int) -> DanceOptions:
    wanted = {name: postures.get(name, 0) for name in FOOT_CONFIGURATIONS}
    return DanceOptions(postures=wanted, pool=20, rounds=1, knot_spacing=0.3, workers=1, step=None, seed=0)


def _home(rig: Rig) -> tuple[np.ndarray, Footing]:
    """A balanced posture (nq,) with bent knees, and its stance."""
    legged = LeggedRig(rig, shrink=0.0)
    footing = legged.get_footing("both")
    return legged.solve_static(legged.home_posture(footing)[None], footing.solved)[1].q[0], footing


def _assert_planted(rig: Rig, dance: Dance) -> None:
    """At 500 samples a second every planted foot stays in place to 1e-10 m."""
    motion, schedule = dance.sample(rig, 500.0), dance.schedule
    links = link_motions(rig, motion)
    phases = schedule.index_at(motion.times)
    for number, phase in enumerate(schedule.phases):
        own = phases == number
        for anchor in phase.anchors:
            link = rig.index(rig.patch(anchor.patch).link)
            assert np.abs(links.position[:, link, own].T - anchor.position).max() < 1e-10
            assert np.abs(links.rotation[:, :, link, own].transpose(2, 0, 1) - anchor.rotation).max() < 1e-10


@pytest.mark.parametrize("odd", ODD)
def test_an_unusual_body_dances(tmp_path: Path, odd: str) -> None:
    """A posture on both feet is designed, and every check holds at 500 samples a second."""
    rig, options = from_urdf(Biped(**ODD[odd]).write(tmp_path)), _options(both=2)
    dance = design_dance(rig, options)
    assert dance.complete
    assert all(found.feasible for found in dance.check(rig, 500.0, options.checks))


def test_toe_hinges_do_not_move(tmp_path: Path) -> None:
    """A hinge below the sole would press on the floor: it does not move, and the other foot is lifted."""
    rig, options = from_urdf(Biped(toes=True).write(tmp_path)), _options(left=1)
    dance = design_dance(rig, options)
    motion = dance.sample(rig, 50.0)
    places = {joint.name: own for joint, own, _ in joint_slices(rig)}
    assert dance.complete
    assert np.ptp(motion.q[:, places["left_toes"]]) == 0.0
    assert np.ptp(motion.q[:, places["right_knee"]]) > 0.1
    assert all(found.feasible for found in dance.check(rig, 500.0, options.checks))


def test_legs_without_hip_yaw_dance_in_every_stance(tmp_path: Path) -> None:
    """The root keeps two coordinates of home and moves in the other four; feet stay to rounding."""
    rig = from_urdf(Biped(**NO_YAW).write(tmp_path))
    assert free_root_coordinates(rig) == (True, True, True, True, False, False)
    options = _options(both=1, left=1, right=1, right_forward=1)
    dance = design_dance(rig, options)
    assert dance.complete
    _assert_planted(rig, dance)
    for found in dance.check(rig, 500.0, options.checks):
        assert found.feasible
        assert found.get_margin("slip").smallest.min() > options.checks.allowed_slip - 1e-9
    turns = dance.sample(rig, 50.0).q[:, 3:7]
    assert np.abs(turns[:, 1:3]).max() < 1e-12
    assert np.ptp(dance.sample(rig, 50.0).q[:, 1]) > 0.1


def test_legs_without_ankle_roll_dance_on_both_feet(tmp_path: Path) -> None:
    """With two flat feet the hips cannot move sideways: stances that need it are left out and reported."""
    rig = from_urdf(Biped(**NO_ROLL).write(tmp_path))
    assert free_root_coordinates(rig) == (True, False, True, False, True, False)
    options = _options(both=2, left=1)
    dance = design_dance(rig, options)
    assert len(dance.postures) == 2
    _assert_planted(rig, dance)
    assert any(note.startswith("left is left out") and "sideways" in note for note in dance.notes)
    assert all(found.feasible for found in dance.check(rig, 500.0, options.checks))
    assert np.ptp(dance.sample(rig, 50.0).q[:, 1]) < 1e-12


def test_coupled_hips_leave_five_joints_a_leg(tmp_path: Path) -> None:
    """Hips with coupled yaws leave five joints a leg, and the yaws do not move."""
    path = Biped().write(tmp_path)
    text = path.read_text()
    at = text.index('<joint name="right_hip_yaw"')
    geared = text[at:].replace('effort="200.0"/></joint>', 'effort="200.0"/><mimic joint="left_hip_yaw"/></joint>', 1)
    path.write_text(text[:at] + geared)
    rig = from_urdf(path)
    assert [len(leg.solved) for leg in build_legs(rig)] == [5, 5]
    options = _options(both=1, left=1)
    dance = design_dance(rig, options)
    assert dance.complete
    motion = dance.sample(rig, 50.0)
    for joint, own, _ in joint_slices(rig):
        if joint.name.endswith("hip_yaw"):
            assert np.ptp(motion.q[:, own]) == 0.0


@pytest.mark.parametrize("odd", [NO_YAW, NO_ROLL])
def test_dances_with_legs_of_five_joints_are_repaired(tmp_path: Path, odd: dict[str, Any]) -> None:
    """After arms swung too fast for the feet, every check holds, and the constrained root coordinates stay fixed."""
    rig = from_urdf(Biped(**odd).write(tmp_path))
    q, footing = _home(rig)
    columns = [own.start for joint, _, own in joint_slices(rig) if joint.name.endswith("shoulder_pitch")]
    step = np.zeros(rig.nv)
    step[columns] = 0.8
    keys = [Keyframe(0.0, q, "fixed"), Keyframe(0.3, integrate(rig, q, step)), Keyframe(0.6, integrate(rig, q, -step)),
            Keyframe(0.9, q, "fixed")]  # fmt: skip
    result = repair_dance(AuthoredDance(rig, tuple(keys), Schedule.constant(footing.anchors, 0.0, 0.9)))
    assert result.before.get_margin("zmp").failed.any()
    assert result.feasible
    assert result.after.get_margin("slip").smallest.min() > -1e-9


@pytest.mark.parametrize(("odd", "column"), [(NO_YAW, 4), (NO_YAW, 5), (NO_ROLL, 1), (NO_ROLL, 3), (NO_ROLL, 5)])
def test_an_unreachable_root_is_repaired(tmp_path: Path, odd: dict[str, Any], column: int) -> None:
    """A pelvis keyed 3 cm or 0.03 rad off what five joints allow is repaired with the feet; end keys are kept."""
    rig = from_urdf(Biped(**odd).write(tmp_path))
    q, footing = _home(rig)
    step = np.zeros(rig.nv)
    step[column] = 0.03
    keys = [Keyframe(0.0, q, "fixed"), Keyframe(1.0, integrate(rig, q, step)), Keyframe(2.0, q, "fixed")]
    result = repair_dance(AuthoredDance(rig, tuple(keys), Schedule.constant(footing.anchors, 0.0, 2.0)))
    assert not result.before.feasible
    assert result.feasible
    np.testing.assert_allclose(result.motion.q[[0, -1]], [q, q], atol=1e-12)


def test_rotated_feet_with_five_joints_are_refused(tmp_path: Path) -> None:
    """With rotated feet the root's constraints are unknown: the repair says so instead of searching."""
    rig = from_urdf(Biped(**NO_YAW).write(tmp_path))
    q, footing = _home(rig)
    turn = exp(np.array([0.0, 0.0, 0.2]))
    anchors = [replace(anchor, rotation=turn @ anchor.rotation) for anchor in footing.anchors]
    keyed = AuthoredDance(rig, (Keyframe(0.0, q), Keyframe(1.0, q)), Schedule.constant(anchors, 0.0, 1.0))
    with pytest.raises(InvalidValue, match="let all feet point ahead"):
        repair_dance(keyed)


@pytest.mark.parametrize("odd", [NO_YAW, NO_ROLL])
def test_a_named_pose_that_leans_is_danced_upright(tmp_path: Path, odd: dict[str, Any]) -> None:
    """The part of a named pose's lean that the legs do not allow is left out; the arms are danced."""
    rig = from_urdf(Biped(**odd).write(tmp_path))
    q, _ = _home(rig)
    step = np.zeros(rig.nv)
    step[3:5], step[-2] = (0.1, 0.15), -0.6
    options = replace(_options(both=1), poses=(NamedPose("bow", integrate(rig, q, step)),))
    assert design_dance(rig, options).complete


def test_legs_of_four_joints_are_refused_and_can_be_checked(tmp_path: Path) -> None:
    """A planted foot needs five joints: the message names the leg; a static posture passes all checks."""
    rig = from_urdf(Biped(**FOUR).write(tmp_path))
    with pytest.raises(InvalidValue, match=r"leg of rig 'biped' has 4 joint coordinates .* can be checked"):
        design_dance(rig, _options(both=1))
    q = np.tile(rig.neutral, (5, 1))
    anchors = stance(rig, "both")
    foot = rig.index(rig.contacts[0].link)
    q[:, 2] = anchors[0].position[2] - rig.rest[1][foot, 2]
    still = np.zeros((5, rig.nv))
    schedule = Schedule((Phase(0.0, 0.04, anchors),))
    checks = check_motion(rig, Motion(0.01 * np.arange(5), q, still, still), schedule, CheckOptions())
    assert checks.feasible


def test_a_leg_whose_range_prevents_bending_is_named(tmp_path: Path) -> None:
    """With a knee that bends the wrong way only, every posture fails by it, which is reported after a few hundred."""
    path = Biped().write(tmp_path)
    path.write_text(path.read_text().replace('lower="-0.1" upper="2.2"', 'lower="-0.1" upper="-0.05"'))
    reason = r"range of a leg's joint \((left|right)_shank: goes from -6 to -3 deg, postures .*\) fails in every one"
    with pytest.raises(InvalidValue, match=reason):
        design_dance(from_urdf(path), _options(both=1))


def test_contradictory_sides_are_named_if_no_posture_is_feasible(tmp_path: Path) -> None:
    """For knees that bend opposite ways in the file, the error names joint and remedy beside the failing check."""
    path = Biped().write(tmp_path)
    before, name, after = path.read_text().partition('<joint name="right_knee"')
    path.write_text(before + name + after.replace('lower="-0.1" upper="2.2"', 'lower="-2.6" upper="-2.5"', 1))
    with pytest.raises(
        InvalidValue, match=r"fails in every one.*contradict each other.*left_knee.*correct axes or limits"
    ):
        design_dance(from_urdf(path), _options(both=1))


def test_a_stance_without_postures_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without feasible postures on one foot, the dance on two feet remains and a note says so."""

    def drawn(*given: Any) -> PosturePool:
        if given[2].configuration == "left":
            raise InvalidValue("none of 200 postures stands")
        return draw_posture_pool(*given)

    monkeypatch.setattr("solver.dance.design.plan.draw_posture_pool", drawn)
    dance = design_dance(from_urdf(Biped().write(tmp_path)), _options(both=1, left=1))
    assert len(dance.postures) == 2
    assert not dance.complete
    assert "left is left out: none of 200 postures stands" in dance.notes


def test_round_feet_are_refused_with_soles_that_work(tmp_path: Path) -> None:
    """For feet of one ball each, the option in the message gives a robot that can stand."""
    ball = '<sphere radius="0.09"/>'
    path = Biped().write(tmp_path)
    path.write_text(path.read_text().replace('<box size="0.22 0.12 0.04"/>', ball))
    with pytest.raises(InvalidValue, match=r"no contact patches .*--soles") as error:
        design_dance(from_urdf(path), _options(both=1))
    words = str(error.value).split("(--soles ")[1].removesuffix(")").split()
    assert {word.split("=")[0] for word in words} == {"left_foot", "right_foot"}
    sides = {word.split("=")[0]: word.split("=")[1].split("x") for word in words}
    sizes = {link: (float(length), float(width)) for link, (length, width) in sides.items()}
    rig, options = with_soles(from_urdf(path), sizes), _options(both=1)
    assert all(found.feasible for found in design_dance(rig, options).check(rig, 500.0, options.checks))


def test_too_few_joints_are_reported_before_missing_soles(tmp_path: Path) -> None:
    """Soles would not help a leg of four joints, so the message does not request them."""
    path = Biped(**FOUR).write(tmp_path)
    path.write_text(path.read_text().replace('<box size="0.22 0.12 0.04"/>', '<sphere radius="0.09"/>'))
    with pytest.raises(InvalidValue, match=r"has 4 joint coordinates between 'pelvis' and 'left_foot'"):
        design_dance(from_urdf(path), _options(both=1))
