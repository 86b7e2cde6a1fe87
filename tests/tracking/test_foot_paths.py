"""Paths of feet: they roll without slipping in stances, swing smoothly between them, and stay above the floor."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import PchipInterpolator

from solver.base.so3 import exp
from solver.contacts.rolling import BALL, PARTS, SOLE, TOUCHING_HEIGHT, RollingSole, pitch_rotations
from solver.contacts.schedule import Anchor
from solver.rigs import hrp2, human
from solver.skeleton.rig import Rig
from solver.tracking.retargeting.foot_paths import _plan_foot, swing_freedom

TIMES = np.arange(0.0, 2.0, 0.01)
STANCE = (TIMES < 0.7) | (TIMES > 1.1)


def planned(
    rig: Rig, bias: float, beside: np.ndarray | None = None
) -> tuple[RollingSole, tuple[np.ndarray, np.ndarray, tuple[Anchor, ...], np.ndarray]]:
    """Simulated: two stances with heel strike and push-off, a step of .6 m, and a sole recorded with a pitch bias."""
    sole = RollingSole.of(rig, rig.patches[0])
    knots = [0.0, 0.4, 0.7, 0.9, 1.1, 1.25, 1.6, 2.0]
    pitch = PchipInterpolator(knots, [0.0, 0.0, -0.9, -0.4, 0.35, 0.0, 0.0, 0.0])(TIMES)
    turned, moved = sole.roll(pitch)
    step = 0.6 * np.clip((TIMES - 0.7) / 0.4, 0.0, 1.0)
    step = step - 0.3 / np.pi * np.sin(2.0 * np.pi * step / 0.6) * (step > 0.0)
    place = moved + np.column_stack([step, 0.0 * step, -sole.corners[:, 2].mean() + 0.1 * step * (0.6 - step)])
    recorded = turned @ pitch_rotations(np.full(len(TIMES), bias)) @ sole.axes.T
    return sole, _plan_foot(sole, TIMES, (recorded, place), STANCE, [0.0, 0.0], beside)


@pytest.mark.parametrize("bias", [0.0, 0.12])
@pytest.mark.parametrize("rig", [human(1.75, 70.0, sex="male"), hrp2()], ids=["person", "robot"])
def test_feet_roll_without_slipping(rig: Rig, bias: float) -> None:
    """What touches stays in place in each stance, nothing is below the floor, and where feet rest they are level."""
    sole, (rotation, position, anchors, _) = planned(rig, bias)
    pitch = sole.pitch(rotation)
    parts = sole.parts(pitch)
    for anchor, own in zip(anchors, (TIMES < 0.7, TIMES > 1.1)):
        for number, part in enumerate(PARTS):
            frames = own & (parts == number)
            if part == SOLE or not frames.any():
                continue
            points = sole.touching_points(part, rotation[frames], position[frames])
            planted = sole.line(part) @ (anchor.rotation @ sole.axes).T + anchor.position
            assert np.abs(points - planted).max() < (1.1 * TOUCHING_HEIGHT if part == BALL else 1e-6)
    assert len(set(parts[STANCE].tolist())) >= 3
    lowest = sole.lowest_points(rotation, position)[..., 2].min(axis=1)
    assert lowest.min() > -1e-6
    assert lowest[STANCE] == pytest.approx(0.0, abs=1e-6)
    assert pitch[(TIMES > 0.1) & (TIMES < 0.3)] == pytest.approx(0.0, abs=0.01)


def test_rigid_soles_lie_flat_on_request() -> None:
    """They stand still, level, where they would roll, until the middle of the time for which both feet then stand."""
    sole, (rotation, position, anchors, stands) = planned(hrp2(), 0.12, TIMES > 0.6)
    _, rolling = planned(hrp2(), 0.12)
    np.testing.assert_array_equal(stands, STANCE & ((TIMES < 0.655) | (TIMES > 1.0)))
    assert sole.pitch(rotation[stands]) == pytest.approx(0.0, abs=1e-9)
    for anchor, rolled, own in zip(anchors, rolling[2], (TIMES < 0.65, TIMES > 1.1)):
        assert anchor.position == pytest.approx(rolled.position)
        assert np.abs(position[own] - anchor.position).max() < 1e-9
    change = np.abs(np.diff(position, 2, axis=0)).max(axis=1) / 0.01  # [m/s] in a frame
    assert max(change[edge - 3 : edge + 3].max() for edge in np.flatnonzero(np.diff(stands))) < 0.3


def test_swings_leave_and_reach_stances_without_a_jump() -> None:
    """Velocity is continuous where a foot leaves the floor and where it lands; the step keeps its length."""
    _, (_, position, anchors, _) = planned(human(1.75, 70.0, sex="male"), 0.0)
    change = np.abs(np.diff(position, 2, axis=0)).max(axis=1) / 0.01  # [m/s] in a frame
    edges = np.flatnonzero(np.diff(STANCE))
    assert max(change[edge - 3 : edge + 3].max() for edge in edges) < 0.3
    assert anchors[1].position[0] - anchors[0].position[0] == pytest.approx(0.6, abs=0.03)


@pytest.mark.parametrize("steepness", [0.0, 1.5])
def test_a_foot_turns_only_if_it_is_turned(steepness: float) -> None:
    """Some degrees of heading are noise: a stance has one heading, on the tips of toes as well; a pivot has its own."""
    rig = human(1.75, 70.0, sex="male")
    sole, ranges = RollingSole.of(rig, rig.patches[0]), []
    pitch = pitch_rotations(-steepness * (1.0 + 0.1 * np.sin(5.0 * TIMES)))  # over the vertical and back
    for turn in (0.1, 1.0):
        yaw = exp(turn * TIMES[:, None] * [0.0, 0.0, 1.0])
        place = np.tile([0.0, 0.0, -sole.corners[:, 2].mean()], (len(TIMES), 1))
        recorded = (yaw @ pitch @ sole.axes.T, place)
        rotation = _plan_foot(sole, TIMES, recorded, np.ones(len(TIMES), bool), [0.0], None)[0]
        left = (rotation @ sole.axes)[:, :, 1]
        ranges.append(float(np.ptp(np.unwrap(np.arctan2(left[:, 1], left[:, 0])))))
    assert ranges == pytest.approx([0.0, 2.0], abs=0.02)


def test_a_foot_is_free_in_the_middle_of_its_swing() -> None:
    """Freedom is 0 in stance, begins and ends near 0, is the same forwards and backwards in time, and 1 between.

    A swing that the recording cuts off is free at the cut.
    """
    times, in_stance = np.arange(200) / 100.0, np.ones(200, bool)
    in_stance[60:120] = in_stance[180:] = False
    found = swing_freedom(times, in_stance)
    np.testing.assert_allclose(found[60:120], found[60:120][::-1], atol=1e-12)
    assert (found[in_stance].max(), found[90], found[-1]) == (0.0, 1.0, 1.0)
    assert max(found[60], found[180]) < 0.1


def test_a_foot_moves_backwards_in_time_as_forwards() -> None:
    """From a floor to a step of .1 m, and from a swing on: reversed in time the path is reversed."""
    sole, _ = planned(hrp2(), 0.0)
    turn = exp(np.column_stack([0.0 * TIMES, 0.3 * np.sin(3.0 * TIMES), 0.2 * TIMES]))
    place = np.column_stack([0.4 * TIMES, 0.02 * np.sin(TIMES), 0.05 * TIMES - sole.corners[:, 2].mean()])
    in_stance, both = (TIMES > 0.2) & STANCE, []
    for way in (slice(None), slice(None, None, -1)):
        recorded = (turn @ sole.axes.T)[way], place[way]
        found = _plan_foot(sole, TIMES, recorded, in_stance[way], [0.0, 0.1][way], None)
        both.append([found[k][way] for k in (0, 1, 3)])
        lowest = sole.lowest_points(*found[:2])[way, :, 2].min(axis=1)
        assert lowest[in_stance] == pytest.approx(np.where(TIMES > 1.0, 0.1, 0.0)[in_stance], abs=1e-6)
    for forwards, backwards in zip(*both):
        np.testing.assert_allclose(forwards, backwards, atol=1e-6)
