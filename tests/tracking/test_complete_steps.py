"""A recording that ends in the middle of a step is completed on both feet; a complete one is unchanged."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.base.so3 import exp
from solver.options.authoring import RetargetOptions
from solver.rigs import hrp2
from solver.tracking.anatomy import LEG
from solver.tracking.retargeting.complete_steps import SLOWING_TIME, STANDING_TIME, _standing_shifts, complete_steps
from solver.tracking.retargeting.performer import Performer
from solver.tracking.retargeting.retarget import retarget_motion
from solver.values.motion import Motion, RestPose
from tests.tracking.test_retargeting import RATE, corners, person, squat


def stepping(start: int, stop: int) -> Performer:
    """Simulated: frames of a person who lifts its left foot and puts it down, in half of two seconds."""
    whole = squat(person(), steps=0.8)
    part = slice(start, stop)
    return Performer.from_motion(person(), Motion(whole.times[part], whole.q[part], whole.v[part], whole.a[part]))


UP, DOWN = 18, 34
"""Frames in which the foot rises, and sinks."""


@pytest.mark.parametrize(("start", "stop", "where"), [(0, DOWN, "ends"), (UP, 101, "begins")])
def test_an_incomplete_step_is_completed(start: int, stop: int, where: str) -> None:
    """Both feet stand at the end, at their usual height, and the recorded frames are unchanged."""
    given = stepping(start, stop)
    found = complete_steps(given)
    more = round((SLOWING_TIME + STANDING_TIME) * RATE)
    recorded = slice(0, len(given.times)) if where == "ends" else slice(more, None)
    assert len(found.times) == len(given.times) + more
    assert any(f"{where} in the middle of a step" in said for said in found.notes)
    assert np.array_equal(found.recording.rotations[recorded], given.recording.rotations)
    assert found.times[recorded] == pytest.approx(given.times)
    last = -1 if where == "ends" else 0
    stands = found.stances()
    assert not given.stances()["left"][last]
    assert stands["left"][last]
    assert stands["right"][last]
    low = [found.sole_points(side)[:, :, 2].min(axis=1) for side in ("left", "right")]
    assert low[0][last] == pytest.approx(np.quantile(low[1], 0.05), abs=0.02)
    places = np.array([found.part_positions(part) for part in ("left_foot", "pelvis", "left_thigh")])
    assert np.abs(np.diff(places, 2, axis=1)).max() * RATE**2 < 30.0


def test_standing_ends_are_unchanged() -> None:
    """Standing at both ends, or on one foot that does not move, needs no completion."""
    whole = stepping(0, 101)
    assert len(complete_steps(whole).times) == len(whole.times)
    motion = squat(person(), steps=0.8)
    held = np.concatenate([np.arange(25), np.full(15, 25)])
    posed = Motion(np.arange(len(held)) / RATE, motion.q[held], motion.v[held], motion.a[held])
    still = Performer.from_motion(person(), posed)
    assert not still.stances()["left"][-1]
    assert len(complete_steps(still).times) == len(still.times)


def spread(performer: Performer, angle: float) -> Performer:
    """The same recording, whose pose at rest has its legs spread by an angle [rad] to each side, feet flat."""
    recording, parts = performer.recording, performer.parts
    rest = recording.rest
    rotations, heads, tips = np.array(rest.rotations), np.array(rest.heads), np.array(rest.tips)
    for side, sign in (("left", 1.0), ("right", -1.0)):
        thigh, shank, foot = (recording.names.index(parts[f"{side}_{name}"]) for name in LEG)
        turn = exp(np.array([sign * angle, 0.0, 0.0]))
        rotations[[thigh, shank]] = turn @ rotations[[thigh, shank]]
        heads[[shank, foot]] = heads[thigh] + (heads[[shank, foot]] - heads[thigh]) @ turn.T
        tips[[thigh, shank]], tips[foot] = heads[[shank, foot]], tips[foot] + heads[foot] - rest.heads[foot]
    return replace(performer, recording=replace(recording, rest=RestPose(rotations, heads, tips)))


def bone(performer: Performer, part: str, below: str) -> np.ndarray:
    """Direction (3,) of a part's bone in the last frame, world."""
    rest, names, parts = performer.recording.rest, performer.recording.names, performer.parts
    one, other = names.index(parts[part]), names.index(parts[below])
    way = performer.part_rotations(part)[-1] @ rest.rotations[one].T @ (rest.heads[other] - rest.heads[one])
    return np.asarray(way / np.linalg.norm(way))


def test_a_completed_step_ends_upright_for_any_rest_pose() -> None:
    """Feet end as far apart as the hips, with upright legs, also if the rest pose has spread legs."""
    given = stepping(0, DOWN)
    for own in (given, spread(given, 0.35)):
        found = complete_steps(own)
        hips, feet = (
            found.part_positions(f"left_{part}")[-1] - found.part_positions(f"right_{part}")[-1]
            for part in ("thigh", "foot")
        )
        assert np.linalg.norm(feet[:2]) == pytest.approx(np.linalg.norm(hips[:2]), abs=0.02)
        for part, below in (("left_thigh", "left_shank"), ("left_shank", "left_foot")):
            assert bone(found, part, below)[2] < -1.0 + 1e-6


def far_foot(metres: float = 0.5) -> Performer:
    """Simulated: a person who stands, and whose left foot is recorded slowly out of its leg's reach and back."""
    still = squat(person(), seconds=6.0, depth=0.05)
    source = Performer.from_motion(person(), still)
    times, positions = source.times, np.array(source.recording.positions)
    away = np.sin(np.pi * np.clip((times - 1.0) / 4.0, 0.0, 1.0)) ** 2
    positions[:, source.recording.names.index(source.parts["left_foot"]), 1] += metres * away
    contacts = {"right": np.full(len(times), True), "left": away == 0.0}
    return replace(source, recording=replace(source.recording, positions=positions), contacts=contacts)


def test_a_foot_out_of_reach_gives_way() -> None:
    """A swinging foot that is recorded out of reach gives way, rather than pull the body or slow the motion down."""
    found, near = retarget_motion(far_foot(), hrp2()), retarget_motion(far_foot(0.0), hrp2())
    assert found.converged.all()
    assert found.duration_ratio < 1.5
    assert np.abs(found.motion.q[:, 2].min() - near.motion.q[:, 2].min()) < 0.05


def test_a_robot_ends_on_both_feet() -> None:
    """HRP-2 completes the step, with feet at rest on the floor, unless the option is off."""
    given = stepping(0, DOWN)
    found, broken = (retarget_motion(given, hrp2(), None, RetargetOptions(from_rest=whole)) for whole in (True, False))
    assert found.foot_paths.in_stance[:, -1].all()
    assert not broken.foot_paths.in_stance[:, -1].all()
    assert found.converged.all()
    soles = np.stack([corners(found, side) for side in ("right", "left")])
    assert soles[..., 2].min() > -0.005
    assert np.abs(np.diff(soles[:, -5:], axis=1)).max() < 1e-4


def test_flight_at_the_end_is_removed() -> None:
    """A recording that ends in flight ends at the last stance, with a note."""
    given = stepping(0, 101)
    contacts = dict.fromkeys(("left", "right"), given.times < 1.5)
    jumping = Performer(given.recording, given.parts, given.soles, given.name, given.notes, contacts)
    found = complete_steps(jumping)
    assert found.times[-1] == pytest.approx(1.48)
    assert any("ends in flight: 0.52 s are removed" in said for said in found.notes)


@pytest.mark.parametrize("stiff", [False, True])
def test_feet_turn_ahead_where_their_ankles_meet_a_limit(stiff: bool) -> None:
    """Feet that are recorded turned out keep their headings, but where ankles cannot roll they turn towards ahead."""
    rig, given = hrp2(), stepping(0, 101)
    lower, upper = np.array(rig.limits.lower), np.array(rig.limits.upper)
    for link in ("right_foot", "left_foot") if stiff else ():
        lower[rig.index(link) - 1], upper[rig.index(link) - 1] = -0.02, 0.02
    rotations = np.array(given.recording.rotations)
    for side, turn in (("right", -0.4), ("left", 0.4)):
        rotations[:, given.recording.names.index(given.parts[f"{side}_foot"])] @= exp(np.array([0.0, 0.0, turn]))
    given = replace(given, recording=replace(given.recording, rotations=rotations))
    found = retarget_motion(given, replace(rig, limits=replace(rig.limits, lower=lower, upper=upper)))
    headings = [
        [np.arctan2(*(a.rotation @ sole.axes)[1::-1, 0]) for a in anchors]
        for sole, anchors in zip(found.foot_paths.soles, found.foot_paths.anchors)
    ]
    assert (np.abs(np.concatenate(headings)) < 0.25).any() == stiff


@pytest.mark.parametrize(("ahead", "speed"), [(0.3, 0.5), (-0.3, 0.5), (0.3, -0.5), (-0.3, -0.5)])
def test_a_swinging_foot_is_put_beside_the_other_one_or_where_it_is_ahead(ahead: float, speed: float) -> None:
    """Ahead is where the body moves to; feet end as far apart as the hips, and the body over their middle."""
    given = stepping(0, DOWN)
    names, parts, rest = given.recording.names, given.parts, given.recording.rest
    feet, hips = ([names.index(parts[f"{side}_{part}"]) for side in ("left", "right")] for part in ("foot", "thigh"))
    positions = np.asarray(given.recording.positions) + speed * given.times[:, None, None] * [1.0, 0.0, 0.0]
    positions[-1, feet[0]] = positions[-1, feet[1]] + [ahead, 0.05, 0.1]
    found = _standing_shifts(given, ["left"], positions, 2)
    width = np.abs((rest.heads[hips[0]] - rest.heads[hips[1]])[1])
    kept = ahead * speed > 0.0
    np.testing.assert_allclose(found[feet[0]], [0.0 if kept else -ahead, width - 0.05, 0.0], atol=2e-3)
    middle = positions[-1, feet[1]] + [0.5 * ahead * kept, 0.5 * width, 0.0]
    moved = positions[-1, hips].mean(axis=0) + found[hips[0]]
    np.testing.assert_allclose(moved[:2], middle[:2], atol=2e-3)
    np.testing.assert_array_equal(found[feet[1]], 0.0)
