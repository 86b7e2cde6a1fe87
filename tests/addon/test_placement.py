"""New rigs do not overlap others, and dances and recordings keep their place."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from addon.authoring import timeline
from addon.base import convert, scene_rigs
from addon.base.solver_api import ScenePose
from addon.display.study import OpenedStudy, show_study
from addon.jobs.job_messages import find_message
from addon.scene import armature
from addon.scene.action import set_frame_rate
from addon.scene.placement import avoid_overlap, floor_position, rest_size
from addon.scene.pose_writer import PoseWriter
from solver.scene.motion import scene_motion
from solver.skeleton.rig import Rig
from tests.addon.scenes import build, random_motion
from tests.addon.test_timeline import difference

PUT = Matrix.Translation((2.0, -1.5, 0.0)) @ Matrix.Rotation(0.8, 4, "Z")
"""Where somebody moved and turned a rig."""


def spread(body: bpy.types.Object) -> tuple[np.ndarray, np.ndarray]:
    """Lowest and highest corner of a body's meshes in the world."""
    bpy.context.view_layer.update()
    corners = []
    for shape in armature.shapes_of(body).values():
        local = np.empty(3 * len(shape.data.vertices))
        shape.data.vertices.foreach_get("co", local)
        world = np.array(shape.matrix_world)
        corners.append(local.reshape(-1, 3) @ world[:3, :3].T + world[:3, 3])
    return np.concatenate(corners).min(axis=0), np.concatenate(corners).max(axis=0)


def test_added_rigs_do_not_overlap(own: Path) -> None:
    """Bounding boxes of a person and two robots are disjoint; the first stands at the origin, all on the floor."""
    for kind in ("human", "hoap3", "hrp2"):
        assert bpy.ops.exciting_dance.import_rig(kind=kind) == {"FINISHED"}
    bodies = scene_rigs.find_rigs(bpy.context.scene)
    assert len(bodies) == 3
    for (low, high), (lowest, highest) in combinations(map(spread, bodies), 2):
        assert ((low > highest) | (high < lowest)).any()
    assert bodies[0].location.y == 0.0
    for body in bodies:
        assert spread(body)[0][2] == pytest.approx(0.0, abs=0.02)


def test_free_place_is_used(registered: None, strong_robot: Rig) -> None:
    """A rig that overlaps nothing stays in place; hidden rigs are ignored."""
    first, second = build(strong_robot), build(strong_robot)
    avoid_overlap(bpy.context, second)
    assert (floor_position(first) - floor_position(second)).length == pytest.approx(rest_size(first), rel=1e-6)
    armature.hide_rig(first)
    third = build(strong_robot)
    avoid_overlap(bpy.context, third)
    assert third.location.y == 0.0


def test_dance_starts_at_the_place_of_its_rig(own: Path, strong_robot: Rig) -> None:
    """A dance for a moved and rotated rig starts there with the same heading, and all checks pass."""
    scene = bpy.context.scene
    set_frame_rate(scene, 60.0)
    there, here = build(strong_robot), build(strong_robot)
    there.matrix_world = PUT
    settings = scene.exciting_dance_dance
    settings.postures, settings.effort, settings.seed = 1, 0.1, 1
    lines = []
    for body in (here, there):
        bpy.context.view_layer.objects.active = body
        bpy.context.view_layer.update()
        assert bpy.ops.exciting_dance.design_dance() == {"FINISHED"}
        lines.append(timeline.sample_timeline(scene, body, *timeline.motion_range(scene, body)))
    rotations, root = convert.transform(PUT, lines[0].rotations[:, 0], lines[0].root)
    np.testing.assert_allclose(lines[1].root, root, atol=1e-5)
    assert np.abs((lines[1].rotations[:, 0] * rotations).sum(axis=1)) == pytest.approx(1.0, abs=1e-9)
    np.testing.assert_allclose(lines[1].rotations[:, 1:], lines[0].rotations[:, 1:], atol=1e-6)
    assert lines[0].strips == lines[1].strips
    assert bpy.ops.exciting_dance.check_dance() == {"FINISHED"}
    assert find_message(scene, there, "dance").verdict == "good"


def test_study_is_shown_at_the_recorded_place(registered: None, strong_robot: Rig) -> None:
    """For a moved rig, the bones of a study are at the markers, as for a rig at the origin."""
    motion = scene_motion(strong_robot, random_motion(strong_robot))
    lines = []
    for put in (Matrix.Identity(4), PUT):
        body = build(strong_robot)
        body.matrix_world = put
        bpy.context.view_layer.update()
        show_study(bpy.context, OpenedStudy(Path("none"), strong_robot, motions={"walk": motion}), onto=body)
        scene = bpy.context.scene
        lines.append(timeline.sample_timeline(scene, body, *timeline.motion_range(scene, body)))
    assert difference(*lines) < 1e-5


def test_stream_is_shown_at_the_measured_place(registered: None, strong_robot: Rig) -> None:
    """A captured pose is in world coordinates, independent of the rig's placement."""
    motion = scene_motion(strong_robot, random_motion(strong_robot))
    moved = motion.root[3], motion.rotations[3], motion.translations[3]
    pose = ScenePose(0.0, 0.0, 0.0, *moved, np.zeros(3), None, np.zeros((0, 2)), None)
    heads = []
    for put in (Matrix.Identity(4), PUT):
        body = build(strong_robot)
        body.matrix_world = put
        bpy.context.view_layer.update()
        PoseWriter(body).show(body, pose)
        bpy.context.view_layer.update()
        heads.append([body.matrix_world @ bone.head for bone in body.pose.bones])
    np.testing.assert_allclose(heads[1], heads[0], atol=1e-5)
