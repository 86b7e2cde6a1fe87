"""Retargeting an armature's motion to another rig, with a real child process; a failure changes nothing."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import bpy
import numpy as np
import pytest

from addon.authoring import dance_import, timeline
from addon.authoring.ghost import find_ghost
from addon.base.convert import transform_motion
from addon.jobs.job_messages import find_message
from addon.operators.retarget import retarget_arguments, write_source
from addon.scene import action
from addon.scene.armature import rig_of
from addon.scene.placement import floor_position
from solver.cli import OK, main
from solver.rigs import hoap3
from solver.scene.motion import scene_motion
from solver.scene.motion_record import MOTION
from solver.scene.rig import write_rig
from tests.addon.scenes import build, fingerprint
from tests.addon.test_armature_recording import dancer
from tests.addon.test_timeline import difference
from tests.tracking.test_retargeting import person, squat


def test_target_gets_the_motion_and_contacts(own: Path, tmp_path: Path) -> None:
    """The target has the motion that the verb writes, with its contacts; the source keeps its own."""
    scene, settings = bpy.context.scene, bpy.context.scene.exciting_dance
    action.set_frame_rate(scene, 50.0)
    robot, leader = build(hoap3()), build(person())
    motion = scene_motion(person(), squat(person(), seconds=1.0))
    own_action = action.add_motion_action(scene, leader, motion, "Deep squat. Again/1")
    settings.follower, settings.follow_repaired = robot, False
    assert bpy.ops.exciting_dance.retarget() == {"FINISHED"}
    line = timeline.sample_timeline(scene, leader, *timeline.motion_range(scene, leader))
    source = write_source(leader, line, tmp_path)
    body = write_rig(tmp_path / "hoap3.json", hoap3())
    words = ["retarget", str(source), str(body), "--no-repair", "--output", str(tmp_path / "out"), "--progress", "none"]
    assert main(words) == OK
    led = MOTION.read(tmp_path / "out" / "dance.motion.npz").scene
    got = timeline.sample_timeline(scene, robot, *timeline.motion_range(scene, robot))
    led = transform_motion(robot.matrix_world, led)
    assert difference(got, dance_import.resample(led, got.times)) < 1e-4
    assert {strip.patch for strip in got.strips} == set(rig_of(robot).patches)
    assert leader.animation_data.action == own_action
    assert bpy.context.view_layer.objects.active == robot
    said = find_message(scene, robot, "dance")
    assert "follows Deep_squat__Again_1" in said.message
    assert "right_thigh follows" in said.notes
    assert list(own.iterdir()) == []


def test_target_stands_beside_the_source_and_stays_there(own: Path) -> None:
    """The target stands one step to the left, also after a second trial and after editing."""
    scene, settings = bpy.context.scene, bpy.context.scene.exciting_dance
    action.set_frame_rate(scene, 50.0)
    robot, leader = build(hoap3()), build(person())
    action.add_motion_action(scene, leader, scene_motion(person(), squat(person(), seconds=0.5)), "squat")
    settings.follower, settings.follow_repaired = robot, False
    places = []
    for _ in range(2):
        bpy.context.view_layer.objects.active = leader
        assert bpy.ops.exciting_dance.retarget() == {"FINISHED"}
        first, _last = timeline.motion_range(scene, robot)
        sides = [timeline.sample_timeline(scene, body, first, first + 1.0).root[0, 1] for body in (robot, leader)]
        places.append(sides[0] - sides[1])
    assert 0.9 < places[0] < 1.5  # half of 1.75 m and half of .5 m
    assert places[1] == pytest.approx(places[0], abs=1e-4)
    assert leader.location.y == 0.0


def test_infeasible_motion_is_shown_and_reported(own: Path) -> None:
    """A squat that is too fast for the robot is shown at its tempo, and the panel reports that it is not feasible. A
    second trial adds a second robot that does not overlap the first, and the source has not moved.
    """
    scene, settings = bpy.context.scene, bpy.context.scene.exciting_dance
    action.set_frame_rate(scene, 50.0)
    leader = build(person())
    action.add_motion_action(scene, leader, scene_motion(person(), squat(person(), seconds=0.4)), "squat")
    bpy.context.view_layer.objects.active = leader
    settings.follows, settings.follow_repaired, settings.keep_timing = "hoap3", False, True
    assert bpy.ops.exciting_dance.retarget() == {"FINISHED"}
    robot = bpy.context.view_layer.objects.active
    assert rig_of(robot).same_skeleton(hoap3())
    assert find_message(scene, robot, "dance").verdict == "bad"
    assert "Not feasible" in find_message(scene, robot, "dance").message
    bpy.context.view_layer.objects.active = leader
    assert bpy.ops.exciting_dance.retarget() == {"FINISHED"}
    bpy.context.view_layer.update()
    bodies = [item for item in scene.objects if item.type == "ARMATURE"]
    assert len(bodies) == 3
    places = [floor_position(item) for item in bodies]
    assert min((one - other).length for one, other in combinations(places, 2)) > 0.3  # a robot is .25 m wide
    assert leader.location.y == 0.0


def test_every_setting_becomes_an_option(own: Path, tmp_path: Path) -> None:
    """Each setting becomes an option, and defaults add none; an invalid file is reported."""
    leader, settings = build(person()), bpy.context.scene.exciting_dance
    motion = scene_motion(person(), squat(person(), seconds=1.0))
    leader.animation_data_create().action = action.add_motion_action(bpy.context.scene, leader, motion, "squat")
    settings.follows = "hoap3"
    assert retarget_arguments(settings) == []
    settings.keep_timing = settings.allow_collisions = settings.from_rest = True
    settings.slower, settings.follow_forces = 2.0, str(tmp_path / "none.mot")
    settings.follow_repaired = False
    assert retarget_arguments(settings) == [
        "--no-repair", "--keep-timing", "--slower", "2.0", "--allow-collisions", "--from-rest", "--forces",
        str(tmp_path / "none.mot"),
    ]  # fmt: skip
    before = fingerprint()
    with pytest.raises(RuntimeError, match=r"none\.mot"):
        bpy.ops.exciting_dance.retarget()
    assert fingerprint() == before


def test_robot_is_added_for_any_armature(own: Path) -> None:
    """An armature that is not a rig is retargeted to a new robot, from its first key to its last."""
    leader, scene = dancer(), bpy.context.scene
    for name, turn in (("LeftUpLeg", 0.0), ("LeftForeArm", 0.8)):
        bone = leader.pose.bones[name]
        bone.rotation_mode = "XYZ"
        for frame, angle in ((1, 0.0), (11, 0.0), (41, turn)):
            bone.rotation_euler = (0.0, 0.0, angle)
            bone.keyframe_insert("rotation_euler", frame=frame)
    scene.frame_start, scene.frame_end = 6, 20
    settings = scene.exciting_dance
    settings.follows, settings.follow_repaired = "hoap3", False
    assert bpy.ops.exciting_dance.retarget() == {"FINISHED"}
    robot = bpy.context.view_layer.objects.active
    assert rig_of(robot).same_skeleton(hoap3())
    first, last = timeline.motion_range(scene, robot)
    assert first == 1.0
    assert last >= 41.0  # the robot is slower
    turned = np.ptp(timeline.sample_timeline(scene, robot, first, last).rotations, axis=0).max(axis=1)
    arm = rig_of(robot).index("left_upper_arm")
    assert turned[arm:].max() > 0.1
    assert turned[rig_of(robot).index("right_thigh")] < 0.01


def test_a_repair_is_a_ghost_that_can_be_left(own: Path) -> None:
    """The motion of a new person is shown as retargeted; its repair is a ghost at the same place, and changes none of
    its keys."""
    scene, settings, leader = bpy.context.scene, bpy.context.scene.exciting_dance, build(person())
    action.set_frame_rate(scene, 50.0)
    settings.keep_timing = True
    action.add_motion_action(scene, leader, scene_motion(person(), squat(person(), seconds=0.4)), "squat")
    settings.follow_repaired = False
    poses = []
    for repaired in (False, True):
        settings.follow_repaired = repaired
        bpy.context.view_layer.objects.active = leader
        assert bpy.ops.exciting_dance.retarget() == {"FINISHED"}
        body = bpy.context.view_layer.objects.active
        assert rig_of(body).name.startswith("human")
        poses.append(timeline.sample_timeline(scene, body, 1.0, 21.0).rotations)
        assert (find_ghost(scene, body) is not None) is repaired
    assert np.abs(poses[1] - poses[0]).max() < 1e-6
    shown = find_ghost(scene, body)
    scene.frame_set(1)
    assert (shown.matrix_world.translation - body.matrix_world.translation).length < 1e-6
    assert bpy.ops.exciting_dance.discard_ghost() == {"FINISHED"}


def test_the_button_says_what_is_missing(own: Path) -> None:
    """The button is disabled with a reason without a source that moves, and for a target that cannot be changed."""
    operator, settings = bpy.ops.exciting_dance.retarget, bpy.context.scene.exciting_dance
    assert not operator.poll()
    robot, leader = build(hoap3()), dancer()
    assert operator.poll()
    settings.follower = robot
    robot.scale = (2.0, 2.0, 2.0)
    bpy.context.view_layer.update()
    assert not operator.poll()
    settings.follower = None
    leader.animation_data_clear()
    assert not operator.poll()
    leader.pose.bones[0].constraints.new("COPY_ROTATION").target = robot
    assert operator.poll()
