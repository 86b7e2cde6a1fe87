"""Feet of authored dances that roll where the animator keys heel, flat and toe."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.contacts.rolling import BALL, HEEL, RollingSole
from solver.contacts.rolling_stances import posture_schedule
from solver.dance.authoring.timeline import schedule_from_strips
from solver.dance.workflows.summaries import scene_strips
from solver.dynamics.kinematics import link_paths
from solver.feasibility import check_motion
from solver.options.checks import CheckOptions
from solver.rigs import human
from solver.scene.timeline import SceneStrip
from solver.trajectory.curve import FlatCurve
from solver.trajectory.planted_feet import PlantedTrajectory
from tests.dance.example_dances import rotate_joints

RIG = human(1.75, 70.0, "male")
FOOT, SOLE = RIG.index("right_foot"), RollingSole.of(RIG, "right_sole")
STRIPS = (
    SceneStrip("left_sole", 0.0, 3.0),
    SceneStrip("right_sole", 0.0, 1.0, HEEL),
    SceneStrip("right_sole", 1.0, 2.0),
    SceneStrip("right_sole", 2.0, 3.0, BALL),
)


@pytest.fixture(scope="module")
def curve() -> FlatCurve:
    """The right ankle leads from the heel to the toes; what touches slides, as in-betweens of an animator do."""
    keys = [rotate_joints(RIG, RIG.neutral, {"right_foot": (1, angle)}) for angle in (-0.3, 0.0, 0.02, 0.35)]
    return FlatCurve.through_keys(RIG, np.arange(4.0), keys)


def test_what_a_keyed_roll_touches_stays_in_place(curve: FlatCurve) -> None:
    """A stance has one place, and no slip with the parts of its strips; the pitch is almost that of the keys."""
    schedule, times = schedule_from_strips(RIG, curve, STRIPS), np.linspace(0.0, 3.0, 301)
    assert scene_strips(schedule, 0.0, 3.0) == STRIPS
    motion = PlantedTrajectory(RIG, curve, schedule).motion(times)
    (rotations,), (origins,) = link_paths(RIG, motion, [FOOT])
    assert SOLE.pitch(rotations)[[0, -1]] == pytest.approx([0.3, -0.35], abs=0.04)
    assert SOLE.lowest_points(rotations, origins)[..., 2].min() > -1e-5
    flat = schedule_from_strips(RIG, curve, [replace(strip, part="sole") for strip in STRIPS])
    options = CheckOptions(pairs=(), allowed_slip=0.002)
    slips = [check_motion(RIG, motion, each, options).get_margin("slip").failed.any() for each in (schedule, flat)]
    assert slips == [False, True]


@pytest.mark.parametrize(("time", "part"), [(0.0, HEEL), (3.0, BALL)])
def test_a_posture_is_planted_where_its_heel_or_ball_touches(curve: FlatCurve, time: float, part: str) -> None:
    """The flat place of a pitched sole is where rolling back leads: level, with the touching line in place."""
    motion = curve.motion(RIG, np.array([time]))
    (anchor,) = posture_schedule(RIG, motion.q[0], {"right_sole": part}, 0.0, time).phases[0].anchors
    assert anchor.part == part
    planted = SOLE.line(part) @ (anchor.rotation @ SOLE.axes).T + anchor.position
    assert planted[:, 2] == pytest.approx(0.0, abs=1e-9)
    (rotations,), (origins,) = link_paths(RIG, motion, [FOOT])
    assert SOLE.touching_points(part, rotations, origins)[0, :, :2] == pytest.approx(planted[:, :2], abs=1e-3)
