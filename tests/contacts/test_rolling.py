"""Soles that roll: what touches does not move, and nothing is below the floor."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from solver.base.errors import InvalidValue
from solver.contacts.rolling import BALL, HEEL, PARTS, SOLE, TOE_BEND, TOES, TOUCHING_HEIGHT, RollingSole
from solver.contacts.schedule import Anchor, Phase, Schedule
from solver.contacts.support import convex_polygon, support_polygon
from solver.options.checks import CheckOptions
from solver.rigs import hrp2, human
from solver.scene.motion_record import MOTION, motion_record
from solver.skeleton.rig import Rig
from solver.values.motion import Motion

PITCHES = np.radians(np.linspace(-65.0, 35.0, 1001))


def rigs() -> list[Rig]:
    """A person, whose toes bend, and a robot, whose soles are rigid."""
    return [human(1.75, 70.0, sex="male"), hrp2()]


@pytest.mark.parametrize("rig", rigs(), ids=["person", "robot"])
def test_what_touches_does_not_move(rig: Rig) -> None:
    """An edge stays where it is, sole and ball within what counts as touching; the lowest point is on the floor."""
    sole = RollingSole.of(rig, rig.patches[0])
    turned, moved = sole.roll(PITCHES)
    rotations, parts = turned @ sole.axes.T, sole.parts(PITCHES)
    assert sole.pitch(rotations) == pytest.approx(PITCHES, abs=1e-9)
    for number, part in enumerate(PARTS):
        own = parts == number
        if not own.any():
            continue
        points = sole.touching_points(part, rotations[own], moved[own])
        planted = sole.corners if part == SOLE else sole.line(part)
        soft = part in (SOLE, BALL)  # what begins to lift touches still
        assert np.abs(points - planted).max() < (1.1 * TOUCHING_HEIGHT if soft else 1e-9)
    lowest = sole.lowest_points(rotations, moved)[..., 2].min(axis=1)
    assert lowest == pytest.approx(sole.corners[:, 2].mean(), abs=1e-9)
    assert np.abs(np.diff(moved, 2, axis=0)).max() < 1e-3


def test_parts_follow_the_pitch() -> None:
    """Toes up: the heel. Heel up: ball and toes, beyond the bend the toes alone; a rigid sole has no ball."""
    person, robot = (RollingSole.of(rig, rig.patches[0]) for rig in rigs())
    pitches = np.array([0.3, 0.0, -0.3, -TOE_BEND - 0.3])
    assert [PARTS[k] for k in person.parts(pitches)] == [HEEL, SOLE, BALL, TOES]
    assert [PARTS[k] for k in robot.parts(pitches)] == [HEEL, SOLE, TOES, TOES]


@pytest.mark.parametrize("rig", rigs(), ids=["person", "robot"])
def test_parts_support_less_than_the_sole(rig: Rig) -> None:
    """Each part's polygon has an area, lies within the sole but for the softness of edges, and at its end of it."""
    patch, sole = rig.patches[0], RollingSole.of(rig, rig.patches[0])
    flat = Anchor(patch, sole.axes.T, np.zeros(3))  # foot axes are world axes
    whole = support_polygon(rig, (flat,))
    centres = {}
    for part in (HEEL, BALL, TOES):
        polygon = support_polygon(rig, (Anchor(patch, sole.axes.T, np.zeros(3), part),))
        assert 0.0 < polygon.area < whole.area
        assert whole.margin(polygon.vertices).min() > -0.021
        centres[part] = polygon.centre[0]
    assert centres[HEEL] < whole.centre[0] < centres[BALL] < centres[TOES]
    assert convex_polygon(sole.corners[:, :2]).area == pytest.approx(whole.area)


def test_a_schedule_of_parts_is_written_and_read_again(tmp_path: Path) -> None:
    """Parts are in the file of a motion; an unknown one is refused."""
    rig = human(1.75, 70.0, sex="male")
    times, still = np.linspace(0.0, 1.0, 11), np.zeros((11, rig.nv))
    anchor = Anchor(rig.patches[0], np.eye(3), np.zeros(3), HEEL)
    schedule = Schedule((Phase(0.0, 1.0, (anchor,)),))
    record = motion_record("walk", rig, Motion(times, np.tile(rig.neutral, (11, 1)), still, still))
    path = tmp_path / "walk.motion.npz"
    MOTION.write(path, record.with_contacts(schedule, CheckOptions()))
    found = MOTION.read(path)
    assert found.schedule is not None
    assert found.schedule.phases[0].anchors[0].part == HEEL
    assert [patch.toes for patch in found.rig.contacts] == [patch.toes for patch in rig.contacts]
    with pytest.raises(InvalidValue, match="part 'nail'"):
        Anchor(rig.patches[0], np.eye(3), np.zeros(3), "nail")
