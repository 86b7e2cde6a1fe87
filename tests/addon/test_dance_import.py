"""Dance folders on the timeline, and editing of their keys."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Vector

from addon.authoring import (
    dance_import,
    failure_markers,
    ghost,
    keying,
    posture_cache,
    timeline,
)
from addon.base import bpy_access, scene_rigs
from addon.base.solver_api import study_folder
from addon.display import study
from addon.interface import command
from addon.jobs.job import JobOperator
from addon.scene import action, armature, recording, scores
from addon.scene.colours import compute_colouring
from solver.base.errors import Cancelled, InvalidValue
from solver.cli.exit_codes import INCOMPLETE, WRONG_INPUT
from solver.dance.design.dance import DESIGNED_DANCE
from solver.rigs import hoap3
from solver.scene.motion_record import MOTION
from solver.scene.summary import SceneFailure, SceneSummary
from tests.addon.scenes import build, fingerprint
from tests.addon.test_dance_jobs import posed
from tests.addon.test_extension import child
from tests.addon.test_scene import shown_recording
from tests.addon.test_timeline import difference
from tests.bipeds import Biped

SINGLE = 1e-5


def danced(folder: Path, rate: float) -> bpy.types.Object:
    """A rig with the dance, in a scene with a frame rate."""
    action.set_frame_rate(bpy.context.scene, rate)
    return dance_import.show_dance(bpy.context, dance_import.read_dance(folder))


def shapes_now(body: bpy.types.Object) -> dict[str, np.ndarray]:
    """Transforms of the shapes of a body or ghost at the current frame."""
    graph = bpy.context.evaluated_depsgraph_get()
    return {link: np.array(shape.evaluated_get(graph).matrix_world) for link, shape in armature.shapes_of(body).items()}


def test_a_dance_hides_the_recordings_of_its_body(registered: None, designed: Path) -> None:
    """Showing a dance hides the recordings of the body's study, but not those of other bodies."""
    body = dance_import.show_dance(bpy.context, dance_import.read_dance(designed))
    for name, owner in (("own", body), ("other", None)):
        shown = recording.add_recording(bpy.context, shown_recording(), name)
        shown[study.TRIAL_KEY] = name
        if owner is not None:
            shown[study.BODY_KEY] = owner
    dance_import.show_dance(bpy.context, dance_import.read_dance(designed), target=body)
    layers = bpy.context.view_layer.layer_collection.children
    assert {name: layers[name].exclude for name in ("own", "other")} == {"own": True, "other": False}


def test_timeline_contains_the_dance(registered: None, designed: Path) -> None:
    """At the dance's own rate every frame is a sample; postures, contacts and scores are those of the summary.

    The last key lies on the last integer frame.
    """
    body, motion = danced(designed, 60.0), MOTION.read(designed / "dance.motion.npz").scene
    summary = dance_import.read_dance(designed).summary
    got = timeline.sample_timeline(bpy.context.scene, body)
    assert difference(got, dance_import.resample(motion, got.times)) < SINGLE
    keyed = [key for key in got.keys if any(abs(key.time - other.time) < 1.0 / 60.0 for other in summary.keys)]
    assert len(keyed) == len(summary.keys)
    assert {key.role for key in got.keys} == {"preferred"}
    assert [(s.patch, round(s.start, 2)) for s in sorted(got.strips, key=lambda s: s.patch)] == [
        (s.patch, round(s.start, 2)) for s in sorted(summary.strips, key=lambda s: s.patch)
    ]
    assert scores.read_score(body, scores.DEVIATION)["chest"] == pytest.approx(summary.deviation["chest"])
    assert compute_colouring(body, "deviation").values["chest"] == pytest.approx(100.0 * summary.deviation["chest"])
    assert compute_colouring(body, "excitation").values["chest"] == pytest.approx(np.log10(summary.excitation["chest"]))


def test_counts_are_marked_on_the_timeline(registered: None, designed: Path) -> None:
    """Every count has a marker at its time, after a pick-up from five; phrases begin on one. A dance that is shown
    later replaces them, and the user's markers stay."""
    scene = bpy.context.scene
    scene.timeline_markers.new("mine", frame=3)
    dance = DESIGNED_DANCE.read(designed / "dance.npz")
    for _ in range(2):
        danced(designed, 60.0)
        marked = {marker.frame: marker.name for marker in scene.timeline_markers if marker.name != "mine"}
        assert len(scene.timeline_markers) == len(marked) + 1 == round(dance.duration / dance.count) + 1
    assert [marked[frame] for frame in sorted(marked)[:6]] == ["♪5", "♪6", "♪7", "♪8", "♪1", "♪2"]
    assert np.diff(sorted(marked)) == pytest.approx(60.0 * dance.count, abs=1.0)
    assert marked[round(1 + 60.0 * dance.starts[dance.postures[0]])] == "♪1"


def test_other_frame_rate_is_kept(registered: None, designed: Path) -> None:
    """At 24 frames per second the rate stays, and every key lies on an integer frame with the dance's pose at that
    time.
    """
    body = danced(designed, 24.0)
    assert action.frame_rate(bpy.context.scene) == 24.0
    for curve in timeline.pose_curves(body):
        frames = action.key_frames(curve)
        assert np.array_equal(frames, np.round(frames))
    got, motion = timeline.sample_timeline(bpy.context.scene, body), MOTION.read(designed / "dance.motion.npz").scene
    assert np.abs(got.root - np.array([np.interp(got.times, motion.times, x) for x in motion.root.T]).T).max() < 1e-3


def test_ghost_changes_nothing_else(registered: None, designed: Path) -> None:
    """The ghost shows the proposed dance; body and action stay; discarding it leaves nothing behind."""
    body, scene = build(hoap3(torque="peak")), bpy.context.scene
    action.set_frame_rate(scene, 60.0)
    body.location = (0.4, 0.0, 0.0)
    bpy.context.view_layer.update()
    posed(body, 0.0, 1, "fixed")
    posed(body, 0.5, 30)
    before, action_before = fingerprint(), body.animation_data.action.name
    dance = dance_import.read_dance(designed)
    ghost.show_ghost(bpy.context, body, dance, "proposal", beside=False)
    shown = ghost.find_ghost(scene, body)
    assert body.animation_data.action.name == action_before
    assert not scene_rigs.is_rig(shown)
    assert scene_rigs.active_rig(bpy.context) == body
    assert all(item.hide_render and item.hide_select for item in (shown, *shown.children))
    scene.frame_set(20)
    graph = bpy.context.evaluated_depsgraph_get()
    shape = next(item for item in shown.children if item.type == "MESH")
    sizes = [np.ptp([v.co for v in mesh.vertices], axis=0) for mesh in (shape.data, shape.evaluated_get(graph).data)]
    assert np.all(sizes[1] > sizes[0])  # in one place the surfaces would flicker
    root = np.array(shown.evaluated_get(graph).matrix_world @ shown.evaluated_get(graph).pose.bones[0].head)
    assert np.abs(root - dance_import.resample(dance.motion, np.array([19.0 / 60.0])).root[0]).max() < SINGLE
    scene.frame_set(30)
    ghost.discard_ghost(bpy.context, body)
    assert fingerprint() == before


def test_applied_ghost_is_the_proposed_dance(registered: None, designed: Path) -> None:
    """After applying, the body has the proposed dance under its action's name; the old keys stay in the file."""
    body, scene = build(hoap3(torque="peak")), bpy.context.scene
    action.set_frame_rate(scene, 60.0)
    posed(body, 0.0, 1, "fixed")
    posed(body, 0.5, 30)
    body["mine"] = 1.0
    body.keyframe_insert('["mine"]', frame=3)
    name, keys = body.animation_data.action.name, timeline.read_key_roles(body)
    ghost.show_ghost(bpy.context, body, dance_import.read_dance(designed), "proposal", beside=False)
    scene.frame_set(20)
    proposed = shapes_now(ghost.find_ghost(scene, body))
    ghost.apply_ghost(bpy.context, body)
    scene.frame_set(20)
    assert all(np.abs(shape - proposed[link]).max() < SINGLE for link, shape in shapes_now(body).items())
    got = timeline.sample_timeline(scene, body, *timeline.motion_range(scene, body))
    assert difference(got, dance_import.resample(MOTION.read(designed / "dance.motion.npz").scene, got.times)) < SINGLE
    assert body.animation_data.action.name == name
    assert ghost.find_ghost(scene, body) is None
    assert any(curve.data_path == '["mine"]' for curve in action.curves_of(body))
    body.animation_data.action = bpy.data.actions[f"{name} before"]
    assert timeline.read_key_roles(body) == keys
    with pytest.raises(InvalidValue, match="no ghost"):
        ghost.apply_ghost(bpy.context, body)


def test_clearing_inbetweens_keeps_postures(registered: None, designed: Path) -> None:
    """Only generated keys are removed; every posture keeps frame, role and pose."""
    body = danced(designed, 24.0)
    scene = bpy.context.scene
    before = timeline.sample_timeline(scene, body)
    kept = timeline.read_key_roles(body)
    assert bpy.ops.exciting_dance.clear_inbetweens() == {"FINISHED"}
    assert timeline.read_key_roles(body) == kept
    assert max(len(curve.keyframe_points) for curve in timeline.pose_curves(body)) == len(kept)
    after = timeline.sample_timeline(scene, body)
    places = [int(np.argmin(np.abs(before.times - key.time))) for key in before.keys]
    assert np.abs(after.root[places] - before.root[places]).max() < SINGLE
    assert (1 - np.abs((after.rotations[places] * before.rotations[places]).sum(axis=2))).max() < SINGLE**1.5


def test_new_posture_replaces_neighbouring_inbetweens(registered: None, designed: Path) -> None:
    """Keying a posture between two others removes the generated keys between them and no others."""
    body, scene = danced(designed, 24.0), bpy.context.scene
    frames = list(timeline.read_key_roles(body))
    middle = int((frames[1] + frames[2]) // 2)
    curve = next(c for c in timeline.pose_curves(body) if "left_upper_arm" in c.data_path)
    count = len(curve.keyframe_points)
    scene.frame_set(middle)
    assert bpy.ops.exciting_dance.key_posture(role="fixed") == {"FINISHED"}
    assert timeline.read_key_roles(body)[float(middle)] == "fixed"
    curve = next(c for c in timeline.pose_curves(body) if "left_upper_arm" in c.data_path)
    assert len(curve.keyframe_points) == count - int(frames[2] - frames[1] - 1) + 1


def test_roles_names_and_jumps(registered: None) -> None:
    """A role applies to all keys of a posture or to selected keys; jumping goes from posture to posture; names are
    kept.
    """
    body, scene = build(hoap3()), bpy.context.scene
    for frame, angle in ((1, 0.0), (10, 0.4), (20, 0.1)):
        posed(body, angle, frame)
    scene.frame_set(10)
    assert bpy.ops.exciting_dance.set_role(role="free") == {"FINISHED"}
    scene.exciting_dance_dance.posture_name = "reach"
    assert [key.name for key in timeline.read_keys(scene, body)] == ["", "reach", ""]
    for curve in timeline.pose_curves(body):
        for point in curve.keyframe_points:
            point.select_control_point = point.co[0] == 20.0
    assert bpy.ops.exciting_dance.set_role(role="fixed", selected=True) == {"FINISHED"}
    assert timeline.read_key_roles(body) == {1.0: "preferred", 10.0: "free", 20.0: "fixed"}
    assert bpy.ops.exciting_dance.jump_posture(forward=True) == {"FINISHED"}
    assert scene.frame_current == 20
    assert bpy.ops.exciting_dance.jump_posture(forward=True) == {"FINISHED"}
    assert posture_cache.summarise_postures(body).counts == {"fixed": 1, "preferred": 1, "free": 1}


def standing_robot() -> tuple[bpy.types.Object, bpy.types.Scene, str, str]:
    """A robot on both soles for two seconds at 10 Hz, its scene, and its patches."""
    body, scene = build(hoap3()), bpy_access.scene(bpy.context)
    action.set_frame_rate(scene, 10.0)
    posed(body, 0.0, 1)
    posed(body, 0.4, 21)
    first, second = sorted(armature.rig_of(body).patches)
    return body, scene, first, second


def test_contact_keys_hold_from_their_frame_on(registered: None) -> None:
    """A contact key changes the current frame and later ones; earlier contacts stay as in the motion."""
    body, scene, left, right = standing_robot()
    scene.frame_set(11)
    assert bpy.ops.exciting_dance.contact(standing="one", patch=right) == {"FINISHED"}
    assert keying.standing_patches(scene, body) == {right: "sole"}
    strips = {(s.patch, round(s.start, 6), round(s.stop, 6)) for s in timeline.read_strips(scene, body, 1, 21)}
    assert strips == {(left, 0.0, 1.0), (right, 0.0, 2.0)}
    assert [round(frame) for _, frame, _ in keying.nearby_strips(scene, body)] == [1, 1]
    with pytest.raises(RuntimeError, match="third_foot"):
        bpy.ops.exciting_dance.contact(standing="one", patch="third_foot")


def test_parts_of_a_sole_are_keyed_from_their_frame_on(registered: None) -> None:
    """Heel, flat, a lift and toe are strips, which keys of the strips give again; stiff toes have no ball."""
    body, scene, left, right = standing_robot()
    for frame, part in ((1, "heel"), (6, "flat"), (11, "other"), (16, "toe")):
        scene.frame_set(frame)
        assert bpy.ops.exciting_dance.contact(standing=part, patch=right) == {"FINISHED"}
    strips = timeline.read_strips(scene, body, 1, 21)
    parts = [(round(s.start, 6), round(s.stop, 6), s.part) for s in strips if s.patch == right]
    assert parts == [(0.0, 0.5, "heel"), (0.5, 1.0, "sole"), (1.5, 2.0, "toes")]
    assert [s.part for s in strips if s.patch == left] == ["sole"]
    keying.key_strips(scene, body, strips)
    assert timeline.read_strips(scene, body, 1, 21) == strips


def test_contacts_keyed_from_the_first_frame_on_are_kept(registered: None) -> None:
    """Contacts that are keyed on, off and on from the first frame give two strips, whatever the motion does."""
    body, scene = build(hoap3()), bpy.context.scene
    action.set_frame_rate(scene, 10.0)
    root = body.pose.bones[armature.rig_of(body).links[0]]
    for frame, height in ((1, 0.0), (11, 0.3), (21, 0.0)):
        scene.frame_set(frame)
        root.location = body.data.bones[root.name].matrix_local.to_3x3().transposed() @ Vector((0.0, 0.0, height))
        keying.key_posture(scene, body, "preferred")
    as_moved = {(s.patch, s.start) for s in timeline.read_strips(scene, body, 1, 21)}
    assert len(as_moved) == 4, "the soles leave the floor by themselves"
    for frame, standing in ((1, "all"), (9, "none"), (15, "all")):
        scene.frame_set(frame)
        assert bpy.ops.exciting_dance.contact(standing=standing) == {"FINISHED"}
    strips = {(round(s.start, 6), round(s.stop, 6)) for s in timeline.read_strips(scene, body, 1, 21)}
    assert strips == {(0.0, 0.8), (1.4, 2.0)}


def test_toggling_an_unkeyed_sole_keeps_the_other(registered: None) -> None:
    """With both soles in contact by the motion, toggling one leaves the other in contact."""
    body, scene, left, right = standing_robot()
    for frame in (11, 1):
        scene.frame_set(frame)
        assert keying.standing_patches(scene, body) == {}
        assert bpy.ops.exciting_dance.contact(standing="other", patch=left) == {"FINISHED"}
        assert keying.standing_patches(scene, body) == {right: "sole"}
        body.animation_data_clear()
        posed(body, 0.0, 1)
        posed(body, 0.4, 21)


def test_failure_markers_are_replaced_and_user_markers_stay(registered: None) -> None:
    """Every check replaces the last one's markers, one per failing frame; dismissing its message removes only them."""
    scene, body = bpy.context.scene, build(hoap3())
    scene.timeline_markers.new("mine", frame=3)
    failures = (SceneFailure("joint torque", "left_ankle", "Nm", -1.0, 0.5, "joint torque of left ankle is too large"),)
    summary = SceneSummary("check", "failed", False, "it fails", failures=failures, ranges=((0.4, 0.6), (2.0, 2.1)))
    for _ in range(2):
        failure_markers.mark_failures(scene, body, summary, "any")
    assert sorted(marker.name for marker in failure_markers.find_failure_markers(scene, body)) == [
        "✗",
        "✗ joint torque: left ankle",
    ]
    assert bpy.ops.exciting_dance.forget_message(place="dance") == {"FINISHED"}
    assert [marker.name for marker in scene.timeline_markers] == ["mine"]


def test_cancelled_child_may_write_partial_results(tmp_path: Path) -> None:
    """A child with an end timeout ends by itself after cancelling; its results count only if they are complete."""
    program = (
        'import sys, time\nprint(\'{"fraction": 0.5, "message": "on"}\', flush=True)\nsys.stdin.readline()\n'
        'time.sleep(0.3)\nprint(\'{"fraction": 1.0, "message": "late"}\')\nsys.exit(130)'
    )
    job = child(tmp_path, program, patience=60.0)
    while job.message != "on":
        pass
    job.cancel()
    assert job.message == "writing partial results"
    job.wait()
    assert job.fraction == 1.0
    job.raise_on_failure(finished=True)
    with pytest.raises(Cancelled):
        job.raise_on_failure()


def test_command_line_writes_the_scene(empty_scene: None, designed: Path) -> None:
    """The scene of a designed dance contains the rig with the dance."""
    (path,) = dance_import.make_dance_scene(designed, picture=False)
    assert "dance" in command.SCENE_VERBS
    bpy.ops.wm.open_mainfile(filepath=str(path))
    assert len(timeline.read_key_roles(next(item for item in bpy.data.objects if item.type == "ARMATURE"))) >= 4


def test_a_folder_without_a_dance_is_one_error(registered: None, tmp_path: Path) -> None:
    """Opening a folder without a dance is one error and changes nothing."""
    before = fingerprint()
    with pytest.raises(RuntimeError, match=r"summary\.json"):
        bpy.ops.exciting_dance.open_dance(directory=str(tmp_path))
    assert fingerprint() == before


def test_tweak_mode_is_one_error_with_a_remedy(registered: None, designed: Path) -> None:
    """Blender lets nothing replace the action of a strip in tweak mode: nothing changes, and a finished job waits."""
    body = build(hoap3(torque="peak"))
    body.pose.bones[0].keyframe_insert("location", frame=1)
    animation = body.animation_data
    track = animation.nla_tracks.new()
    track.strips.new("strip", 1, animation.action).select = True
    animation.action, animation.nla_tracks.active = None, track
    animation.use_tweak_mode = True
    bpy.context.view_layer.objects.active = body
    job: Any = SimpleNamespace(receiver=lambda: body, _job=SimpleNamespace(message=""))
    before = fingerprint()
    with pytest.raises(RuntimeError, match=r"leave tweak mode of .* \(Tab in the NLA editor\)"):
        bpy.ops.exciting_dance.open_dance(directory=str(designed))
    assert fingerprint() == before
    for mode, problem in (("EDIT", "edit"), ("OBJECT", "tweak")):
        bpy.ops.object.mode_set(mode=mode)
        assert JobOperator._waits_for_user(job)
        assert f"leave {problem} mode" in job._job.message
    animation.use_tweak_mode = False
    assert not JobOperator._waits_for_user(job)
    assert bpy.ops.exciting_dance.open_dance(directory=str(designed)) == {"FINISHED"}


def test_partial_dance_has_a_scene_and_an_exit_code(registered: None, tmp_path: Path) -> None:
    """`blender --command exciting_dance dance` with one of two postures writes the scene and does not exit with 0."""
    robot, output = Biped(ankle=(("pitch", "0 1 0"),)).write(tmp_path), tmp_path / "out"
    words = ["dance", str(robot), "--postures", "both=1", "right=1", "--effort", "0.05", "--workers", "1"]
    assert command.run([*words, "--output", str(output), "--no-picture"]) == INCOMPLETE
    assert (output / study_folder.SCENE_FILE).exists()
    assert command.run(["dance", "nobody", "--output", str(output), "--no-picture"]) == WRONG_INPUT
