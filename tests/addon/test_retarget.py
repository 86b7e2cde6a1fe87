"""Another rig dances what an armature does: through a real child process; a failure changes nothing."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import bpy
import numpy as np
import pytest

from addon import action
from addon.armature import rig_of
from addon.authoring import dance_import as dances
from addon.authoring import timeline
from addon.job_messages import find_message
from addon.operators.retarget import retarget_arguments, write_source
from addon.placement import floor_position
from solver.cli import OK, main
from solver.rigs import hoap3
from solver.scene.motion import scene_motion
from solver.scene.motion_record import MOTION
from solver.scene.rig import write_rig
from tests.addon.scenes import build, fingerprint
from tests.addon.test_armature_recording import dancer
from tests.addon.test_timeline import difference
from tests.tracking.test_retargeting import person, squat


def test_a_rig_dances_what_another_does(own: Path, tmp_path: Path) -> None:
    """Simulated: the chosen rig dances what the verb writes, with its contacts; the person keeps dancing its own."""
    scene, settings = bpy.context.scene, bpy.context.scene.exciting_dance
    action.set_frame_rate(scene, 50.0)
    robot, leader = build(hoap3()), build(person())
    motion = scene_motion(person(), squat(person(), seconds=1.0))
    own_action = action.add_motion_action(scene, leader, motion, "Deep squat. Again/1")
    settings.follower, settings.follow_repaired, settings.follow_beside = robot, False, False
    assert bpy.ops.exciting_dance.retarget() == {"FINISHED"}
    source = write_source(bpy.context, leader, tmp_path)
    body = write_rig(tmp_path / "hoap3.json", hoap3())
    words = ["retarget", str(source), str(body), "--no-repair", "--output", str(tmp_path / "out"), "--progress", "none"]
    assert main(words) == OK
    led = MOTION.read(tmp_path / "out" / "dance.motion.npz").scene
    got = timeline.sample_timeline(scene, robot, *timeline.motion_range(scene, robot))
    assert difference(got, dances.resample(led, got.times)) < 1e-4
    assert {strip.patch for strip in got.strips} == set(rig_of(robot).patches)
    assert leader.animation_data.action == own_action
    assert bpy.context.view_layer.objects.active == robot
    said = find_message(scene, robot, "retarget")
    assert "follows Deep_squat__Again_1" in said.message
    assert "right_thigh follows" in said.notes
    assert list(own.iterdir()) == []


def test_switches_of_the_panel_are_the_commands(own: Path, tmp_path: Path) -> None:
    """Simulated: slower, links as they overlap, steps as they break off: what the verb does with the same words."""
    scene, settings = bpy.context.scene, bpy.context.scene.exciting_dance
    action.set_frame_rate(scene, 50.0)
    robot, leader = build(hoap3()), build(person())
    action.add_motion_action(scene, leader, scene_motion(person(), squat(person(), seconds=1.0)), "squat")
    settings.follower, settings.follow_repaired = robot, False
    settings.follow_slower, settings.follow_overlaps, settings.follow_broken_steps = 3.0, True, True
    settings.follow_beside = False
    assert bpy.ops.exciting_dance.retarget() == {"FINISHED"}
    source = write_source(bpy.context, leader, tmp_path)
    body = write_rig(tmp_path / "hoap3.json", hoap3())
    words = ["retarget", str(source), str(body), "--no-repair", "--output", str(tmp_path / "out"), "--progress", "none"]
    assert main([*words, "--slower", "3", "--overlaps", "--broken-steps"]) == OK
    led = MOTION.read(tmp_path / "out" / "dance.motion.npz").scene
    got = timeline.sample_timeline(scene, robot, *timeline.motion_range(scene, robot))
    assert np.ptp(got.times) == pytest.approx(np.ptp(led.times), abs=0.05)
    assert np.ptp(led.times) > 2.5
    assert difference(got, dances.resample(led, got.times)) < 1e-4


def test_the_follower_stands_beside_and_stays_there(own: Path) -> None:
    """Nobody dances inside another: a step to the left, the same step after a second trial, and edited where it is."""
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


def test_what_is_not_feasible_is_shown_all_the_same(own: Path) -> None:
    """A squat too fast for the robot, at its pace: the robot dances it, and the panel says that it is not feasible."""
    scene, settings = bpy.context.scene, bpy.context.scene.exciting_dance
    action.set_frame_rate(scene, 50.0)
    leader = build(person())
    action.add_motion_action(scene, leader, scene_motion(person(), squat(person(), seconds=0.4)), "squat")
    bpy.context.view_layer.objects.active = leader
    settings.follows, settings.follow_repaired, settings.follow_pace = "hoap3", False, True
    assert bpy.ops.exciting_dance.retarget() == {"FINISHED"}
    robot = bpy.context.view_layer.objects.active
    assert rig_of(robot).same_skeleton(hoap3())
    assert find_message(scene, robot, "retarget").verdict == "bad"
    assert "Not feasible" in find_message(scene, robot, "retarget").message


def test_a_robot_of_a_second_trial_stands_beside_that_of_the_first(own: Path) -> None:
    """Two trials add two robots: nobody is inside another, and who leads has not moved."""
    scene, settings = bpy.context.scene, bpy.context.scene.exciting_dance
    action.set_frame_rate(scene, 50.0)
    leader = build(person())
    action.add_motion_action(scene, leader, scene_motion(person(), squat(person(), seconds=0.5)), "squat")
    settings.follows, settings.follow_repaired = "hoap3", False
    for _ in range(2):
        bpy.context.view_layer.objects.active = leader
        assert bpy.ops.exciting_dance.retarget() == {"FINISHED"}
    bpy.context.view_layer.update()
    bodies = [item for item in scene.objects if item.type == "ARMATURE"]
    assert len(bodies) == 3
    for one, other in combinations(bodies, 2):
        assert (
            floor_position(one) - floor_position(other)
        ).length > 0.3  # HOAP-3 is less than a quarter of a metre wide
    assert leader.location.y == 0.0


def test_every_switch_reaches_the_command(own: Path, tmp_path: Path) -> None:
    """Each setting is its word of the command, and none is said where it is left alone; a wrong file is told."""
    leader, settings = build(person()), bpy.context.scene.exciting_dance
    motion = scene_motion(person(), squat(person(), seconds=1.0))
    leader.animation_data_create().action = action.add_motion_action(bpy.context.scene, leader, motion, "squat")
    settings.follows = "hoap3"
    assert retarget_arguments(settings) == []
    settings.follow_pace = settings.follow_overlaps = settings.follow_broken_steps = True
    settings.follow_slower, settings.follow_forces = 2.0, str(tmp_path / "none.mot")
    settings.follow_repaired = False
    assert retarget_arguments(settings) == [
        "--no-repair", "--keep-pace", "--slower", "2.0", "--overlaps", "--broken-steps", "--forces",
        str(tmp_path / "none.mot"),
    ]  # fmt: skip
    before = fingerprint()
    with pytest.raises(RuntimeError, match=r"none\.mot"):
        bpy.ops.exciting_dance.retarget()
    assert fingerprint() == before


def test_a_robot_is_added_that_follows_anybodys_bones(own: Path) -> None:
    """An armature that this add-on did not make leads a robot that was not there, at the frames that it moves in."""
    leader, scene = dancer(), bpy.context.scene
    for name, turn in (("LeftUpLeg", 0.0), ("LeftForeArm", 0.8)):
        bone = leader.pose.bones[name]
        bone.rotation_mode = "XYZ"
        for frame, angle in ((1, 0.0), (11, 0.0), (41, turn)):
            bone.rotation_euler = (0.0, 0.0, angle)
            bone.keyframe_insert("rotation_euler", frame=frame)
    scene.frame_start, scene.frame_end = 6, 41
    settings = scene.exciting_dance
    settings.follows, settings.follow_repaired = "hoap3", False
    assert bpy.ops.exciting_dance.retarget() == {"FINISHED"}
    robot = bpy.context.view_layer.objects.active
    assert rig_of(robot).same_skeleton(hoap3())
    first, last = timeline.motion_range(scene, robot)
    assert first == pytest.approx(6.0, abs=1.0)
    assert last >= 40.0
    turned = np.ptp(timeline.sample_timeline(scene, robot, first, last).rotations, axis=0).max(axis=1)
    arm = rig_of(robot).index("left_upper_arm")
    assert turned[arm:].max() > 0.1
    assert turned[rig_of(robot).index("right_thigh")] < 0.01


def test_who_cannot_lead_changes_nothing(own: Path) -> None:
    """Bones that nobody knows are refused in the verb's words: the scene is as before, no folder is left."""
    leader = dancer()
    for index, bone in enumerate(leader.data.bones):
        bone.name = f"bone {index}"
    robot = build(hoap3())
    bpy.context.view_layer.objects.active = leader
    bpy.context.scene.exciting_dance.follower = robot
    before = fingerprint()
    with pytest.raises(RuntimeError, match="no segment has a name that means"):
        bpy.ops.exciting_dance.retarget()
    assert fingerprint() == before
    assert list(own.iterdir()) == []


def test_the_button_says_what_is_missing(own: Path) -> None:
    """Nobody selected, nobody chosen, oneself chosen, or nothing that moves: the button is grey."""
    operator, settings = bpy.ops.exciting_dance.retarget, bpy.context.scene.exciting_dance
    assert not operator.poll()
    leader = dancer()
    assert not operator.poll()
    robot = build(hoap3())
    settings.follower = robot
    assert not operator.poll()  # the robot was made last, so it is selected, and plays nothing
    bpy.context.view_layer.objects.active = leader
    assert operator.poll()
    settings.follows, settings.follower = "scene", None
    assert not operator.poll()
