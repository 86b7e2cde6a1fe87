"""Performers from segments of a skeleton that was not tracked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from solver.base.errors import InvalidValue
from solver.base.so3 import exp
from solver.contacts.contact_detection import find_carrying_feet
from solver.formats.recording import read_recording
from solver.input_checks import check_recording
from solver.options.authoring import RetargetOptions
from solver.rigs import hrp2
from solver.signals.trial import Recording
from solver.skeleton.rig import GRAVITY
from solver.tracking.bone_mapping import guess_mapping
from solver.tracking.retargeting.performer import Performer
from solver.tracking.retargeting.retarget import retarget_motion
from solver.tracking.retargeting.retargeter import Retargeter
from solver.values.motion import Motion, SegmentPoses
from tests.formats.skeletons import LAFAN1, bvh_text
from tests.tracking.test_retargeting import person, squat

FRAMES, HEIGHT = 20, 0.95


@pytest.fixture
def skeleton(tmp_path: Path) -> SegmentPoses:
    """A skeleton that stands in its pose at rest and glides half a metre forwards."""
    still = np.tile(np.eye(3), (FRAMES, 1, 1))
    root = np.linspace([0.0, 0.0, HEIGHT], [0.5, 0.0, HEIGHT], FRAMES)
    path = tmp_path / "dance.bvh"
    path.write_text(bvh_text(LAFAN1, dict.fromkeys(LAFAN1.links, still), root), encoding="utf-8")
    segments = read_recording(path).segments
    assert segments is not None
    return segments


def test_a_first_pose_far_away_is_left_out() -> None:
    """A T-pose half a metre from the next frame is no motion; a fast start is one."""
    motion = squat(person())
    q = np.array(motion.q)
    q[0, :3] += [0.5, 0.0, 0.0]
    given = Performer.from_motion(person(), Motion(motion.times, q, motion.v, motion.a))
    found = given.leave_out_first_pose()
    assert len(found.times) == len(given.times) - 1
    assert any("first frame is left out" in note for note in found.notes)
    fast = Performer.from_motion(person(), motion)
    assert fast.leave_out_first_pose() is fast


def test_a_gap_is_a_flight_only_if_the_body_falls() -> None:
    """Feet that pivot carry a body that does not fall; something else does if they slide or are raised; in free fall
    nothing does.
    """
    times = np.arange(0.0, 1.0, 0.01)
    air = (times > 0.4) & (times < 0.7)
    soles = [np.zeros((100, 2, 3)), np.zeros((100, 2, 3))]
    stances = np.tile(~air, (2, 1))
    inside = np.clip(times - 0.4, 0.0, 0.3)
    level, thrown = np.ones(100), 1.0 + 0.5 * GRAVITY * inside * (0.3 - inside)
    pivots, others = find_carrying_feet(times, soles, stances, level)
    assert pivots[0, air].all()
    assert not pivots[:, ~air].any()
    assert not others.any()
    carries, others = find_carrying_feet(times, soles, stances, thrown)
    assert (carries.any(axis=0) | others)[air].mean() < 0.1
    for way in ([0.0, 0.0, 0.3], [10.0, 0.0, 0.0] * inside[:, None, None]):
        moved = [sole + np.where(air, 1.0, 0.0)[:, None, None] * way for sole in soles]
        carries, others = find_carrying_feet(times, moved, stances, level)
        assert not carries.any()
        assert (others == air).all()


def test_a_skeletons_feet_are_as_long_as_their_bones_and_lie_on_the_floor(skeleton: SegmentPoses) -> None:
    """Parts are found by name; soles reach from behind the ankle to ahead of it, on the floor of the rest pose, and
    move with the body.
    """
    performer = Performer.from_segments(skeleton, "dance")
    assert performer.parts["left_foot"] == "LeftFoot"
    assert performer.name == "dance"
    for side in ("left", "right"):
        sole, ankle = performer.sole_points(side), performer.part_positions(f"{side}_foot")
        assert np.ptp(sole[..., 2]) < 1e-6
        assert sole[0, :, 2].max() < ankle[0, 2] - 0.05
        along = sole[0, -1, :2] - sole[0, 0, :2]
        length, away = float(np.linalg.norm(along)), ankle[0, :2] - sole[0, 0, :2]
        assert 0.13 < length < 0.25
        assert 0.0 < away @ along / length**2 < 0.5
        assert abs(away @ [-along[1], along[0]]) / length < 1e-3
        assert np.allclose(sole - sole[0], (ankle - ankle[0])[:, None], atol=1e-6)
        assert np.linalg.norm(sole[-1, 0] - sole[0, 0]) == pytest.approx(0.5, abs=1e-3)


def test_unsuitable_segments_are_refused(skeleton: SegmentPoses) -> None:
    """Feet without a known name or a tree, no rest pose, and missing samples are errors with a remedy."""
    assert skeleton.rest is not None
    treeless = replace(skeleton, rest=replace(skeleton.rest, parents=()))
    nameless = replace(treeless, names=tuple(name.replace("Foot", "Thing") for name in skeleton.names))
    with pytest.raises(InvalidValue, match="no segment has a name that means right_foot, left_foot"):
        Performer.from_segments(nameless)
    with pytest.raises(InvalidValue, match="no rest pose"):
        Performer.from_segments(replace(skeleton, rest=None))
    places = np.array(skeleton.positions)
    places[3, skeleton.names.index("LeftFoot")] = np.nan
    with pytest.raises(InvalidValue, match="missing in some frames"):
        Performer.from_segments(replace(skeleton, positions=places))


def test_soles_and_feet_that_cannot_be_are_refused() -> None:
    """A sole without length has no direction, and one foot alone cannot be followed."""
    given = Performer.from_motion(person(), squat(person()))
    with pytest.raises(InvalidValue, match="no segment of the recording is known to be the left_foot"):
        replace(given, parts={part: link for part, link in given.parts.items() if part != "left_foot"})
    with pytest.raises(InvalidValue, match="no length of the sole of the right and left foot"):
        replace(given, soles={side: sole[:1] for side, sole in given.soles.items()})


def test_what_is_assumed_of_soles_and_floor_is_said() -> None:
    """Long soles of either body, a floor far from the recording's zero, and standing soles that tilt are noted."""
    given, robot = Performer.from_motion(person(), squat(person())), hrp2()
    recording, feet = given.recording, [link.endswith("foot") for link in given.recording.names]
    raised = np.add(np.asarray(recording.positions), [0.0, 0.0, 0.4])
    tilted = np.where(
        np.array(feet)[:, None, None], recording.rotations @ exp(np.array([0.0, 0.1, 0.0])), recording.rotations
    )
    wide = tuple(replace(patch, vertices=1.8 * patch.vertices) for patch in robot.contacts)
    cases = {
        "": (given, robot),
        "soles of the performer are 0.4": (replace(given, soles={k: 1.7 * v for k, v in given.soles.items()}), robot),
        "soles of HRP-2": (given, replace(robot, contacts=wide)),
        "the feet stand 40.0 cm above": (replace(given, recording=replace(recording, positions=raised)), robot),
        "soles are tilted by 6 degrees": (replace(given, recording=replace(recording, rotations=tilted)), robot),
    }
    for own, (performer, rig) in cases.items():
        notes = " ".join(retarget_motion(performer, rig).notes)
        assert [words for words in cases if words and words in notes] == [own] * bool(own)


def standing_at_five_places(angle: float, rise: float) -> Performer:
    """Simulated: a person who stands at places 0.7 m apart, on a floor inclined by an angle [rad], or on stairs [m]."""
    given = Performer.from_motion(person(), squat(person(), depth=0.05))
    steps = given.times / 0.4
    place = np.minimum(np.floor(steps) + np.clip(5.0 * (steps % 1.0) - 4.0, 0.0, 1.0), 4.0)[:, None, None]
    turn, positions = (
        exp(np.array([0.0, -angle, 0.0])),
        np.asarray(given.recording.positions) + place * [0.7, 0.0, rise],
    )
    return replace(
        given,
        recording=replace(given.recording, rotations=turn @ given.recording.rotations, positions=positions @ turn.T),
    )


def test_a_floor_that_slopes_is_turned_level() -> None:
    """Feet stand on a floor that slopes as on a level one, and a note says how much it did; stairs stay stairs."""
    level, stairs = standing_at_five_places(0.0, 0.0), standing_at_five_places(0.0, 0.17)
    assert [own.level_floor() is own for own in (level, stairs)] == [True, True]
    tilted = standing_at_five_places(np.radians(5.0), 0.0)
    found = tilted.level_floor()
    assert any("slopes by 4.8 degrees" in note for note in found.notes)
    assert found.sole_normals("left")[0, 2] > np.cos(np.radians(0.3))
    assert [np.array_equal(own.stances()["left"], level.stances()["left"]) for own in (tilted, found)] == [False, True]


@pytest.mark.parametrize("power", [-4, 2, 5])
def test_a_skeleton_of_any_power_of_ten_is_the_same_body(skeleton: SegmentPoses, power: int) -> None:
    """Lengths of an import at another scale are found by the stature, and the size that was read is named."""
    assert skeleton.rest is not None
    rest = replace(skeleton.rest, heads=10.0**power * skeleton.rest.heads, tips=10.0**power * skeleton.rest.tips)
    positions = 10.0**power * np.asarray(skeleton.positions)
    read = check_recording(Recording("x", segments=replace(skeleton, positions=positions, rest=rest))).found
    assert read is not None
    assert read.stature == pytest.approx(Performer.from_segments(skeleton).stature, rel=1e-9)
    assert read.reading.startswith("lengths")


def test_feet_stand_as_high_and_as_far_apart_as_asked() -> None:
    """Each stance on stairs is as high as its stair, scaled; feet are further apart by the requested widening."""
    source = standing_at_five_places(0.0, 0.17)
    standing = (source.times % 0.4 < 0.31) | (source.times > 1.59)
    source = replace(source, contacts=dict.fromkeys(("left", "right"), standing))
    mapping, turns = guess_mapping(source.recording, person(), source.parts), np.zeros((2, len(source.times)))
    near, far = (
        Retargeter(source, person(), mapping, RetargetOptions(stance_widening=wider), turns).foot_paths
        for wider in (0.0, 0.06)
    )
    for own in near.anchors:
        heights = np.array([anchor.position[2] for anchor in own])
        np.testing.assert_allclose(heights - heights[0], mapping.scale * 0.17 * np.arange(5), atol=0.02)
    apart = near.positions[1] - near.positions[0], far.positions[1] - far.positions[0]
    np.testing.assert_allclose(apart[1] - apart[0], np.tile([0.0, 0.06, 0.0], (len(source.times), 1)), atol=2e-3)
    assert near.stance_height_range == pytest.approx(4 * 0.17 * mapping.scale, abs=0.02)
