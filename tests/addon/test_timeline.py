"""The timeline returns what was keyed on it."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from addon.authoring import timeline
from addon.scene import action, armature
from solver.base.errors import InvalidValue
from solver.scene.motion import SceneMotion, scene_motion
from solver.skeleton.rig import Rig
from tests.addon.scenes import build, fingerprint, random_motion

SINGLE = 1e-5
"""[m] and unitless: a few links of single-precision matrices."""
RATE = 100.0


def dancing(rig: Rig, name: str = "random") -> tuple[bpy.types.Object, SceneMotion]:
    """The rig's armature with a random motion, one frame per sample."""
    body, motion = build(rig), scene_motion(rig, random_motion(rig))
    action.set_frame_rate(bpy.context.scene, RATE)
    action.add_motion_action(bpy.context.scene, body, motion, name)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, len(motion)
    return body, motion


def difference(one: object, other: object) -> float:
    """Largest difference of two motions: rotations up to sign, and positions."""
    turns = 1.0 - np.abs((one.rotations * other.rotations).sum(axis=2))
    return max(
        float(np.sqrt(np.abs(turns).max())),
        float(np.abs(one.root - other.root).max()),
        float(np.abs(one.translations - other.translations).max()),
    )


def test_sampling_an_action_returns_the_motion(empty_scene: None, rig: Rig) -> None:
    """A motion that is keyed and sampled is unchanged, at the same times."""
    body, motion = dancing(rig)
    got = timeline.sample_timeline(bpy.context.scene, body)
    assert np.abs(got.times - motion.times).max() < 1e-9
    assert difference(got, motion) < SINGLE
    assert got.rig == rig


@pytest.mark.parametrize("mode", ["XYZ", "ZXY", "YZX", "AXIS_ANGLE", "QUATERNION"])
def test_curves_and_frames_agree_in_every_rotation_mode(empty_scene: None, person: Rig, mode: str) -> None:
    """Evaluating curves equals stepping through frames, for every rotation mode and placement of the body.

    This holds halfway between keys too; a constraint without effect enforces stepping.
    """
    body, _ = dancing(person)
    body.location, body.rotation_euler = (1.0, -2.0, 0.3), (0.1, 0.2, 0.7)
    bone = body.pose.bones["left_upper_arm"]
    bone.rotation_mode = mode
    for frame, angles in ((1, (0.3, 0.2, -0.4)), (12, (-0.9, 0.5, 0.8))):
        channel = action.CHANNELS.get(mode, action.EULER)[0]
        setattr(bone, channel, (1.0, *angles) if mode in action.CHANNELS else angles)
        bone.keyframe_insert(channel, frame=frame)
    bone.keyframe_insert("scale", frame=1)  # as Blender does when a bone is keyed in pose mode
    bpy.context.view_layer.update()
    first = timeline.sample_timeline(bpy.context.scene, body, 1.5, 11.5)
    assert not timeline.needs_frame_stepping(body)
    body.pose.bones["head"].constraints.new("LIMIT_SCALE")
    assert timeline.needs_frame_stepping(body)
    assert difference(first, timeline.sample_timeline(bpy.context.scene, body, 1.5, 11.5)) < 10 * SINGLE


def test_stepping_restores_the_scene_and_an_unkeyed_pose(empty_scene: None, person: Rig) -> None:
    """Stepping through all frames changes neither the current frame nor an unkeyed pose."""
    body, _ = dancing(person)
    body.pose.bones["head"].constraints.new("LIMIT_SCALE")
    bpy.context.scene.frame_set(4)
    body.pose.bones["left_foot"].rotation_quaternion = (0.8, 0.6, 0.0, 0.0)
    before = fingerprint()
    timeline.sample_timeline(bpy.context.scene, body)
    assert fingerprint() == before
    assert tuple(body.pose.bones["left_foot"].rotation_quaternion) == pytest.approx((0.8, 0.6, 0.0, 0.0))
    assert bpy.context.scene.frame_current == 4


def test_posture_is_the_displayed_pose(empty_scene: None, rig: Rig) -> None:
    """The posture of a frame equals the sample of that frame."""
    body, _ = dancing(rig)
    bpy.context.scene.frame_set(5)
    every = timeline.sample_timeline(bpy.context.scene, body)
    now = timeline.sample_posture(bpy.context, body)
    assert now.times[0] == pytest.approx(every.times[4])
    assert np.abs(now.root[0] - every.root[4]).max() < SINGLE
    assert (1.0 - np.abs((now.rotations[0] * every.rotations[4]).sum(axis=1))).max() < SINGLE**1.5


def test_roles_are_keyframe_types(empty_scene: None, person: Rig) -> None:
    """Extreme is fixed, Breakdown is free, generated keys have no role, others are preferred; the most binding key
    counts.
    """
    body = build(person)
    kinds = ("EXTREME", "BREAKDOWN", "KEYFRAME", "MOVING_HOLD", "GENERATED", "JITTER")
    for frame, kind in zip((1, 5, 9.5, 13, 17, 19), kinds):
        body.pose.bones["head"].keyframe_insert("rotation_quaternion", frame=frame, keytype=kind)
    body.pose.bones["left_foot"].keyframe_insert("rotation_quaternion", frame=5, keytype="EXTREME")
    body.animation_data.action.pose_markers.new("reach").frame = 13
    action.set_frame_rate(bpy.context.scene, 10.0)
    got = timeline.sample_timeline(bpy.context.scene, body, 1, 20.6)
    assert [(key.role, key.name, round(key.time, 6)) for key in got.keys] == [
        ("fixed", "", 0.0),
        ("fixed", "", 0.4),
        ("preferred", "", 0.85),
        ("preferred", "reach", 1.2),
    ]
    assert (10.0 * got.times + 1.0).tolist() == pytest.approx([*range(1, 10), 9.5, *range(10, 21), 20.6])


def test_strips_follow_contact_keys(empty_scene: None, person: Rig) -> None:
    """A strip goes from a key of 1 to a key of 0; a sole without a curve has the contacts of the motion."""
    body = build(person)
    action.set_frame_rate(bpy.context.scene, 10.0)
    left, right = armature.rig_of(body).patches
    for frame, value in ((1, 1.0), (11, 0.0), (16, 1.0)):
        body[timeline.CONTACT_PREFIX + left] = value
        body.keyframe_insert(timeline.contact_path(left), frame=frame)
    for point in timeline.contact_curves(body)[left].keyframe_points:
        point.interpolation = "CONSTANT"
    strips = timeline.read_strips(bpy.context.scene, body, 1, 21)
    assert [(s.patch, round(s.start, 6), round(s.stop, 6)) for s in strips] == [
        (left, 0.0, 1.0),
        (left, 1.5, 2.0),
        (right, 0.0, 2.0),
    ]
    body.location.z = 1.0
    bpy.context.view_layer.update()
    assert {s.patch for s in timeline.read_strips(bpy.context.scene, body, 1, 21)} == {left}


def test_missing_range_or_rig_is_an_error(empty_scene: None, person: Rig) -> None:
    """An empty range of frames is an error with a message."""
    body = build(person)
    for item, first, reason in ((body, 5, "not a range"), (bpy.data.objects.new("cube", None), 1, "not a rig")):
        with pytest.raises(InvalidValue, match=reason):
            timeline.sample_timeline(bpy.context.scene, item, first, 5)
