"""Bone mappings: segments of skeletons are mapped to links by name and rest pose, or by a file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from solver.base.errors import InvalidValue, UnknownLink, UnknownName
from solver.base.so3 import exp, log, rotation_between
from solver.formats.recording import read_recording
from solver.formats.smpl import JOINT_NAMES
from solver.rigs import hrp2
from solver.skeleton.names import match_segments
from solver.skeleton.rig import Rig
from solver.study.tracking import poses_from_segments
from solver.tracking.bone_mapping import MAPPING, BoneMapping, guess_mapping, targets_from_segments
from solver.tracking.kinematics import Kinematics
from solver.values.motion import RestPose, SegmentPoses
from tests.formats.skeletons import LAFAN1, XSENS, YAW, Skeleton, bvh_text
from tests.tracking.bodies import swinging

FRAMES = 15
T_POSE = {"upper_arm": 1.0, "forearm": 1.0, "hand": 1.0}
"""Links that point sideways at rest, and down in the rig's neutral posture."""


def posed(rig: Rig, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Link axes (N, L, 3, 3) and origins (N, L, 3) in the world."""
    kinematics = Kinematics(rig)
    rotations, origins = [], []
    for configuration in q:
        kinematics.update_kinematics(configuration)
        rotations.append(kinematics.rotations.copy())
        origins.append(kinematics.positions.copy())
    return np.array(rotations), np.array(origins)


def turned_from_rest(rig: Rig, skeleton: Skeleton, rotations: np.ndarray) -> dict[str, np.ndarray]:
    """How each joint of a T-pose has turned (N, 3, 3) when the rig's links have these axes (N, L, 3, 3)."""
    found = {}
    for name, link in skeleton.links.items():
        part, side = link.split("_", 1)[-1], 1.0 if link.startswith("left") else -1.0
        rest = rotation_between(np.array([0.0, 0.0, -1.0]), np.array([0.0, side, 0.0])) if part in T_POSE else np.eye(3)
        if part == "foot":
            rest = rotation_between(rig.tips[rig.index(link)], np.array([0.13, 0.0, -0.06]))
        found[name] = rotations[:, rig.index(link)] @ rest.T
    return found


def farthest_turn(one: np.ndarray, other: np.ndarray) -> float:
    """Largest angle [rad] between rotations (..., 3, 3)."""
    return float(np.linalg.norm(log(np.swapaxes(one, -1, -2) @ other), axis=-1).max())


@pytest.mark.parametrize("skeleton", [LAFAN1, XSENS], ids=["lafan1", "xsens"])
def test_a_skeleton_animation_is_followed(person: Rig, skeleton: Skeleton, tmp_path: Path) -> None:
    """A rig's own motion, written as a skeleton that faces elsewhere, is recovered link by link."""
    q = swinging(person, FRAMES, amplitude=0.15, rate=50.0)
    rotations, origins = posed(person, q)
    path = tmp_path / "dance.bvh"
    text = bvh_text(skeleton, turned_from_rest(person, skeleton, rotations), origins[:, 0] + [0.0, 0.0, 0.9])
    path.write_text(text, encoding="utf-8")
    segments = read_recording(path).segments
    assert segments is not None
    mapping = guess_mapping(segments, person)
    assert dict(zip(mapping.segments, mapping.links)) == skeleton.links
    assert mapping.notes == ()
    targets = targets_from_segments(segments, person, mapping).orientations
    wanted = YAW @ rotations[:, [person.index(link) for link in mapping.links]]
    assert farthest_turn(targets.rotations, wanted) < 1e-4
    poses, notes = poses_from_segments(person, segments, mapping)
    assert notes == ()
    assert poses.known.all()
    found, places = posed(person, poses.q)
    assert farthest_turn(found, YAW @ rotations) < 0.02
    np.testing.assert_allclose(places[:, 0], mapping.scale * (origins[:, 0] + [0.0, 0.0, 0.9]) @ YAW.T, atol=0.01)


def test_a_skeleton_without_rest_pose_uses_a_standing_frame(person: Rig, tmp_path: Path) -> None:
    """As in LAFAN1: all bones lie along one axis at zero, so only a standing frame gives the rest pose."""
    q = np.concatenate([np.tile(person.neutral, (FRAMES + 5, 1)), swinging(person, FRAMES, amplitude=0.15, rate=50.0)])
    rotations, origins = posed(person, q)
    path = tmp_path / "aiming1_subject1.bvh"
    root = origins[:, 0] + [0.0, 0.0, 0.9]
    path.write_text(bvh_text(LAFAN1, turned_from_rest(person, LAFAN1, rotations), root, along=True), encoding="utf-8")
    segments = read_recording(path).segments
    assert segments is not None
    mapping = guess_mapping(segments, person)
    assert dict(zip(mapping.segments, mapping.links)) == LAFAN1.links
    targets = targets_from_segments(segments, person, mapping).orientations
    wanted = YAW @ rotations[:, [person.index(link) for link in mapping.links]]
    assert farthest_turn(targets.rotations, wanted) < 0.01


def sensors(rig: Rig) -> tuple[SegmentPoses, np.ndarray]:
    """Inertial units glued anywhere on links of a person who stands first, and the links' axes."""
    names = ("pelvis", "torso", "right_thigh", "right_shank", "left_thigh", "left_shank")
    labels = ("pelvis_imu", "torso_imu", "femur_r_imu", "tibia_r_imu", "femur_l_imu", "tibia_l_imu")
    q = swinging(rig, FRAMES, amplitude=0.15)
    moving, _ = posed(rig, q)
    standing, _ = posed(rig, np.tile(rig.neutral, (60, 1)))
    links = [rig.index(name) for name in names]
    axes = np.concatenate([standing, moving])[:, links]
    glued = exp(np.random.default_rng(2).normal(size=(len(names), 3)))
    return SegmentPoses(np.arange(len(axes)) / 100.0, labels, axes @ glued), axes


def test_inertial_units_are_aligned_by_standing(person: Rig) -> None:
    """The first moments of standing align a unit with its link, however it is attached; free links are noted."""
    segments, axes = sensors(person)
    mapping = guess_mapping(segments, person)
    assert mapping.root_segment is None
    assert "stand upright" in mapping.notes[0]
    assert "no segment maps to head" in mapping.notes[1]
    targets = targets_from_segments(segments, person, mapping).orientations
    order = [mapping.segments.index(name) for name in segments.names]
    assert farthest_turn(targets.rotations[:, order], axes) < 1e-6


def test_a_unit_that_drops_out_does_not_stop_the_others(person: Rig) -> None:
    """Missing samples have no weight: the other links have the same orientations."""
    segments, axes = sensors(person)
    rotations = segments.rotations.copy()
    rotations[62:70, 3] = np.nan
    dropped = SegmentPoses(segments.times, segments.names, rotations)
    poses, _ = poses_from_segments(person, dropped)
    found, _ = posed(person, poses.q)
    assert np.isfinite(poses.q).all()
    seen = [person.index(link) for link in ("pelvis", "torso", "right_thigh")]
    assert farthest_turn(found[60:, seen], axes[60:, :3]) < 0.03


def test_a_mapping_is_written_and_read(person: Rig, tmp_path: Path) -> None:
    """An inferred mapping is written, corrected and read again."""
    mapping = guess_mapping(sensors(person)[0], person)
    again = MAPPING.read(MAPPING.write(tmp_path / "bones.json", mapping))
    assert again.links == mapping.links
    assert again.segments == mapping.segments
    np.testing.assert_allclose(again.rotations, mapping.rotations, atol=1e-12)


def test_names_of_many_programs_are_known(person: Rig) -> None:
    """SMPL, Mixamo and Rigify name the same fifteen links."""
    assert set(match_segments(JOINT_NAMES, person.links)) == set(person.links)
    mixamo = [f"mixamorig:{name}" for name in LAFAN1.parents]
    assert set(match_segments(mixamo, person.links)) == set(person.links)
    assert match_segments(mixamo, person.links)["left_upper_arm"] == "mixamorig:LeftArm"
    rigify = [
        "DEF-spine.003",
        "DEF-thigh.L",
        "DEF-shin.L",
        "DEF-foot.L",
        "DEF-upper_arm.R",
        "DEF-forearm.R",
        "DEF-hand.R",
    ]
    assert match_segments(rigify, person.links)["right_upper_arm"] == "DEF-upper_arm.R"


def test_a_part_between_two_followed_parts_is_followed(person: Rig) -> None:
    """A limb without its middle would bend anywhere: the refusal names the part and its neighbours."""
    segments, _ = sensors(person)
    gap = replace(segments, names=tuple(name.replace("tibia", "foot") for name in segments.names))
    with pytest.raises(InvalidValue, match=r"no segment was found for .*_shank, .* .*_thigh .* and .*_foot"):
        guess_mapping(gap, person)


def test_a_mapping_with_unknown_names_is_refused(person: Rig) -> None:
    """The error for unknown links, segments and names lists the known ones."""
    segments, _ = sensors(person)
    one = np.eye(3)[None]
    with pytest.raises(UnknownLink, match="left_thigh"):
        targets_from_segments(segments, person, BoneMapping(("left_thihg",), ("pelvis_imu",), one))
    with pytest.raises(UnknownName, match="pelvis_imu"):
        targets_from_segments(segments, person, BoneMapping(("pelvis",), ("pelvis",), one))
    with pytest.raises(InvalidValue, match="contains no link"):
        targets_from_segments(segments, person, BoneMapping((), (), np.zeros((0, 3, 3))))
    with pytest.raises(InvalidValue, match="mapping file"):
        guess_mapping(SegmentPoses(segments.times, tuple("uvwxyz"), segments.rotations), person)
    with pytest.raises(InvalidValue, match="not rotations"):
        BoneMapping(("pelvis",), ("pelvis_imu",), 2.0 * one)


@pytest.mark.parametrize(("lean", "below"), [(0.35, True), (0.08, False)])
def test_spread_legs_at_rest_do_not_narrow_the_stance(person: Rig, lean: float, below: bool) -> None:
    """A rest pose with legs 20 degrees out (CMU's) places the feet like one with legs below the hips.

    Feet a hand's breadth further apart than the hips, as people stand, are placed as they are.
    """
    segments, _ = sensors(person)
    heads, tips = person.rest[1].copy(), person.rest[1] + np.einsum("kij,kj->ki", person.rest[0], person.tips)
    upright = RestPose(person.rest[0], heads, tips)
    spread_legs = heads.copy()
    for side, sign in (("left", 1.0), ("right", -1.0)):
        hip, knee, foot = (heads[person.index(f"{side}_{part}")] for part in ("thigh", "shank", "foot"))
        for part, place in (("shank", knee), ("foot", foot)):
            down = np.linalg.norm(place - hip)
            spread_legs[person.index(f"{side}_{part}")] = hip + down * np.array(
                [0.0, sign * np.sin(lean), -np.cos(lean)]
            )
    still = np.tile(np.eye(3), (len(segments), len(person.links), 1, 1))
    places = np.tile(heads, (len(segments), 1, 1))
    spreads = [
        guess_mapping(SegmentPoses(segments.times, person.links, still, places, rest), hrp2()).foot_widening
        for rest in (upright, RestPose(person.rest[0], spread_legs, tips))
    ]
    if below:
        assert spreads[1] == pytest.approx(spreads[0], abs=0.01)
    else:
        assert spreads[1] < spreads[0] - 0.02
