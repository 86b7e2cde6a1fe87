"""Robots that are odd in one way dance, or one sentence says why not and what can be done instead."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from solver.check_options import CheckOptions
from solver.contacts.schedule import FOOT_CONFIGURATIONS, Phase, Schedule, stance
from solver.coordinates import joint_places
from solver.dance.design.design import DanceOptions, design
from solver.errors import InvalidValue
from solver.feasibility import check_motion
from solver.motion import Motion
from solver.rigs import from_urdf
from solver.rigs.stated import with_soles
from tests.bipeds import Biped

PITCH = (("pitch", "0 1 0"),)
ODD: dict[str, dict[str, Any]] = {
    "no joint above the hips": {"torso": ()},
    "a trunk that pitches and does not yaw": {"torso": PITCH},
    "one arm": {"arms": ("left",)},
    "a sliding neck": {"slide": True},
    "no arms": {"arms": (), "torso": ()},
}
FIVE: dict[str, dict[str, Any]] = {
    "no hip yaw": {"hip": (("roll", "1 0 0"), ("pitch", "0 1 0"))},
    "no ankle roll": {"ankle": PITCH},
}


def _options(**postures: int) -> DanceOptions:
    wanted = {name: postures.get(name, 0) for name in FOOT_CONFIGURATIONS}
    return DanceOptions(postures=wanted, pool=20, starts=1, rounds=1, workers=1, step=None, seed=0)


@pytest.mark.parametrize("odd", ODD)
def test_an_odd_body_dances(tmp_path: Path, odd: str) -> None:
    """A posture on both feet is designed, and every check holds at 500 samples a second."""
    rig, options = from_urdf(Biped(**ODD[odd]).write(tmp_path)), _options(both=2)
    dance = design(rig, options)
    assert dance.complete
    assert all(found.feasible for found in dance.check(rig, 500.0, options.checks))


def test_toes_stay_where_they_are_on_one_foot(tmp_path: Path) -> None:
    """A hinge below the sole would press on the floor: it does not move, and the other foot is lifted."""
    rig, options = from_urdf(Biped(toes=True).write(tmp_path)), _options(left=1)
    dance = design(rig, options)
    motion = dance.sample(rig, 50.0)
    places = {joint.name: own for joint, own, _ in joint_places(rig)}
    assert dance.complete
    assert np.ptp(motion.q[:, places["left_toes"]]) == 0.0
    assert np.ptp(motion.q[:, places["right_knee"]]) > 0.1
    assert all(found.feasible for found in dance.check(rig, 500.0, options.checks))


@pytest.mark.parametrize("odd", FIVE)
def test_legs_of_five_joints_are_told_and_can_be_checked(tmp_path: Path, odd: str) -> None:
    """A planted foot needs six: the leg, its joints and what works instead are named; a still pose keeps all checks."""
    rig = from_urdf(Biped(**FIVE[odd]).write(tmp_path))
    with pytest.raises(InvalidValue, match=r"leg of rig 'biped' has 5 joint coordinates .* can be checked"):
        design(rig, _options(both=1))
    q = np.tile(rig.neutral, (5, 1))
    anchors = stance(rig, "both")
    foot = rig.index(rig.contacts[0].link)
    q[:, 2] = anchors[0].position[2] - rig.rest[1][foot, 2]
    still = np.zeros((5, rig.nv))
    schedule = Schedule((Phase(0.0, 0.04, anchors),))
    checks = check_motion(rig, Motion(0.01 * np.arange(5), q, still, still), schedule, CheckOptions())
    assert checks.feasible


def test_a_leg_that_its_joint_s_range_keeps_from_bending_is_named(tmp_path: Path) -> None:
    """A knee that may bend the wrong way only: every posture fails by it, which is said after a few hundred."""
    path = Biped().write(tmp_path)
    path.write_text(path.read_text().replace('lower="-0.1" upper="2.2"', 'lower="-0.1" upper="-0.05"'))
    with pytest.raises(InvalidValue, match=r"range of a leg's joint \((left|right)_shank\) fails in every one"):
        design(from_urdf(path), _options(both=1))


def test_round_feet_are_told_with_soles_that_work(tmp_path: Path) -> None:
    """Feet of one ball each: the message's option, taken as it stands, is a robot that stands."""
    ball = '<sphere radius="0.09"/>'
    path = Biped().write(tmp_path)
    path.write_text(path.read_text().replace('<box size="0.22 0.12 0.04"/>', ball))
    with pytest.raises(InvalidValue, match=r"no contact patches .*--soles") as told:
        design(from_urdf(path), _options(both=1))
    words = str(told.value).split("(--soles ")[1].removesuffix(")").split()
    assert {word.split("=")[0] for word in words} == {"left_foot", "right_foot"}
    sides = {word.split("=")[0]: word.split("=")[1].split("x") for word in words}
    sizes = {link: (float(length), float(width)) for link, (length, width) in sides.items()}
    rig, options = with_soles(from_urdf(path), sizes), _options(both=1)
    assert all(found.feasible for found in design(rig, options).check(rig, 500.0, options.checks))


def test_too_few_joints_are_told_before_soles_are_asked_for(tmp_path: Path) -> None:
    """Stating soles would not help a leg of five joints, so it is not asked for."""
    path = Biped(ankle=PITCH).write(tmp_path)
    path.write_text(path.read_text().replace('<box size="0.22 0.12 0.04"/>', '<sphere radius="0.09"/>'))
    with pytest.raises(InvalidValue, match=r"has 5 joint coordinates between 'pelvis' and 'left_foot'"):
        design(from_urdf(path), _options(both=1))
