"""Armatures move like their rigs."""

from __future__ import annotations

import bpy
import numpy as np

from addon.scene import action, armature
from addon.scene.skin import is_skin
from solver.scene.motion import scene_motion
from solver.skeleton.rig import Rig
from tests.addon.scenes import build, random_motion
from tests.pinocchio import data_of, pin

SINGLE = 1e-5
"""[m] and unitless: a few links of single-precision matrices."""


def link_frames(body: bpy.types.Object, rig: Rig) -> np.ndarray:
    """Link frames (L, 4, 4) in the world, from the evaluated bones."""
    axes = armature.bone_axes(body, armature.rig_of(body))
    evaluated = body.evaluated_get(bpy.context.evaluated_depsgraph_get())
    frames = np.array([np.array(evaluated.matrix_world @ evaluated.pose.bones[link].matrix) for link in rig.links])
    frames[:, :3, :3] = frames[:, :3, :3] @ axes.transpose(0, 2, 1)
    return frames


def test_bones_follow_the_forward_kinematics(empty_scene: None, rig: Rig) -> None:
    """At every frame of a random motion each evaluated bone agrees with the forward kinematics of its link."""
    body, motion = build(rig), random_motion(rig)
    scene = bpy.context.scene
    action.set_frame_rate(scene, 100.0)
    action.add_motion_action(scene, body, scene_motion(rig, motion), "random")
    data = data_of(rig)
    for time, q in zip(motion.times, motion.q):
        frame = float(action.frames_at(scene, time))
        scene.frame_set(round(frame))
        pin.forwardKinematics(rig.model, data, q)
        expected = np.array([data.oMi[joint].homogeneous for joint in range(1, rig.model.njoints)])
        assert np.abs(link_frames(body, rig) - expected).max() < SINGLE


def test_keys_at_any_frame_rate_keep_their_time(empty_scene: None, person: Rig) -> None:
    """At 24 frames per second the keys of a 100 Hz motion lie at fractional frames with the original times."""
    body, motion = build(person), random_motion(person)
    scene = bpy.context.scene
    action.set_frame_rate(scene, 24.0)
    action.add_motion_action(scene, body, scene_motion(person, motion), "random")
    data = data_of(person)
    frame = float(action.frames_at(scene, motion.times[7]))
    scene.frame_set(int(frame), subframe=frame % 1.0)
    pin.forwardKinematics(person.model, data, motion.q[7])
    expected = np.array([data.oMi[joint].homogeneous for joint in range(1, person.model.njoints)])
    assert np.abs(link_frames(body, person) - expected).max() < 10 * SINGLE


def test_rest_pose_stands_on_the_floor(empty_scene: None, person: Rig) -> None:
    """In rest pose every link has its neutral orientation, and the lowest sole touches z = 0."""
    body = build(person)
    frames = link_frames(body, person)
    assert np.abs(frames[:, :3, :3] - np.eye(3)).max() < SINGLE
    lowest = min(
        (frames[person.index(c.link)][:3, :3] @ c.vertices.T + frames[person.index(c.link)][:3, 3:])[2].min()
        for c in person.contacts
    )
    assert abs(lowest) < SINGLE


def test_shapes_are_attached_to_their_links(empty_scene: None, rig: Rig) -> None:
    """A link's mesh has the link's frame in the world, in rest pose and after a motion."""
    body, motion = build(rig), random_motion(rig)
    action.add_motion_action(bpy.context.scene, body, scene_motion(rig, motion), "random")
    for frame in (1, 2):
        bpy.context.scene.frame_set(frame)
        graph = bpy.context.evaluated_depsgraph_get()
        frames = link_frames(body, rig)
        for link, shape in armature.shapes_of(body).items():
            if is_skin(shape):
                continue
            got = np.array(shape.evaluated_get(graph).matrix_world)
            assert np.abs(got - frames[rig.index(link)]).max() < SINGLE


def test_limits_never_change_a_measured_motion(empty_scene: None, person: Rig) -> None:
    """Joint limits can be enabled; until then all their constraints are muted."""
    body = build(person)
    limits = [c for bone in body.pose.bones for c in bone.constraints if c.name == armature.LIMITS_NAME]
    assert len(limits) == 4  # elbows and knees
    assert all(c.mute for c in limits)
    armature.enforce_limits(body, True)
    assert not any(c.mute for c in limits)


def test_armature_stores_its_rig(empty_scene: None, rig: Rig) -> None:
    """The rig can be restored from the armature alone, with equal values and meshes."""
    body = build(rig)
    assert armature.rig_of(body).differences(rig) == ()
    armature.RIG_CACHE.clear()
    assert armature.rig_of(body).differences(rig) == ()
