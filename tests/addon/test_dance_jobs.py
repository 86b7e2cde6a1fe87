"""Dance operators from the button to the scene, with real child processes; a failure changes nothing."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import bpy
import numpy as np
import pytest

from addon.authoring import dance_import, failure_markers, ghost, keying, timeline
from addon.authoring.taken_back import find_taken_back, read_taken_back
from addon.base import convert
from addon.base.scene_rigs import find_rigs
from addon.base.solver_api import SceneMotion, SceneTimeline, find_handles
from addon.display.study import STUDY_KEY, TRIAL_KEY
from addon.drawing import viewport
from addon.jobs.job_messages import find_message
from addon.live.control import LiveCheck
from addon.operators import ghosts
from addon.operators.design_dance import design_arguments
from addon.rehearsal.dance import from_folder, from_scene
from addon.rehearsal.options import RehearsalOptions
from addon.rehearsal.plan import plan_video
from addon.scene import action, scores
from addon.scene.armature import rig_of
from addon.scene.check_settings import read_checks, store_checks
from addon.scene.dance_moves import find_moves
from solver.cli import OK, main
from solver.cli.exit_codes import INCOMPLETE
from solver.rigs import hoap3, human
from solver.scene.motion import scene_motion
from solver.scene.motion_record import MOTION, motion_record
from solver.scene.rig import write_rig
from solver.scene.timeline import TIMELINE
from solver.skeleton.rig import Rig
from tests.addon.scenes import build, fingerprint
from tests.addon.test_rehearsal import arms_up, on_the_timeline
from tests.addon.test_timeline import difference
from tests.contacts.test_recorded_contacts import rising
from tests.dance.example_dances import arm_swing

RATE = 20.0
HUG = -0.6
"""[rad] by which the arm that `posed` turns is inside the chest."""


@pytest.fixture
def standing(own: Path) -> tuple[bpy.types.Object, Path]:
    """HOAP-3 on both feet, which raises an arm in three postures; and the folder of jobs."""
    body, scene = build(hoap3(torque="peak")), bpy.context.scene
    action.set_frame_rate(scene, RATE)
    for frame, angle, role in ((1, 0.0, "fixed"), (6, 0.1, "preferred"), (11, 0.0, "preferred")):
        posed(body, angle, frame, role)
    scene.frame_set(1)
    keying.key_contacts(scene, body, dict.fromkeys(rig_of(body).patches, "sole"))
    return body, own


def posed(body: bpy.types.Object, angle: float, frame: int, role: str = "preferred") -> None:
    """Key a posture with the arm at an angle."""
    bpy.context.scene.frame_set(frame)
    body.pose.bones["left_upper_arm"].rotation_euler.x = angle
    keying.key_posture(bpy.context.scene, body, role)


def written(body: bpy.types.Object, tmp_path: Path) -> str:
    """The timeline as a file, as the operators write it."""
    scene = bpy.context.scene
    path = tmp_path / "again.timeline.npz"
    return str(TIMELINE.write(path, timeline.sample_timeline(scene, body, *timeline.motion_range(scene, body))))


def test_check_reports_marks_and_scores(standing: tuple[bpy.types.Object, Path]) -> None:
    """A joint that is too fast is reported in the panel and marked on the timeline; all bones get scores."""
    body, own = standing
    posed(body, 0.6, 6)
    assert bpy.ops.exciting_dance.check_dance() == {"FINISHED"}
    said = find_message(bpy.context.scene, body, "dance")
    assert said.verdict == "bad"
    assert "left upper arm is" in said.failures
    found = failure_markers.find_failure_markers(bpy.context.scene, body)
    assert any("joint speed: left upper arm" in marker.name and 1 <= marker.frame <= 6 for marker in found)
    for name in (scores.DEVIATION, scores.EXCITATION):
        values = scores.read_score(body, name)
        assert values["left_upper_arm"] == scores.LARGEST_CONDITION  # one joint alone determines no link
    assert list(own.iterdir()) == []


def test_contacts_are_found_in_a_recording(registered: None, tmp_path: Path) -> None:
    """For a raised knee in a recording, its sole has contact before, rolls off its ball, and has contact after; the
    other one always has; one undo step."""
    rig, scene = human(1.7, 65.0, "female"), bpy.context.scene
    action.set_frame_rate(scene, RATE)
    motion = rising(rig, arm_swing(rig, 0.9, 0.8).motion(100.0), "left")
    MOTION.write(tmp_path / "knee.motion.npz", motion_record("knee", rig, motion))
    body = build(rig)
    for frame in (1, 1 + round(RATE * motion.times[-1])):
        scene.frame_set(frame)
        keying.key_posture(scene, body, "preferred")
    for curve in action.curves_of(body):  # the samples of a recording are no postures
        for point in curve.keyframe_points:
            point.type = "JITTER"
    assert not bpy.ops.exciting_dance.find_contacts.poll()
    assert not bpy.ops.exciting_dance.balance_dance.poll()
    body[STUDY_KEY], body.animation_data.action[TRIAL_KEY] = str(tmp_path), "knee"
    keying.key_contacts(scene, body, {})  # what was keyed before goes
    assert bpy.ops.exciting_dance.find_contacts() == {"FINISHED"}
    strips = timeline.read_strips(scene, body, *timeline.motion_range(scene, body))
    left, lasts = [s for s in strips if s.patch == rig.sides["left"]], motion.times[-1]
    assert [s.part for s in left] == ["sole", "ball", "sole"]
    assert len(strips) - len(left) == 1
    assert left[0].start == 0.0
    assert 0.3 * lasts - 0.05 <= left[1].stop < 0.45 * lasts
    assert 0.55 * lasts < left[2].start <= 0.72 * lasts + 0.05
    assert "the contacts were found from its motion" in find_message(scene, body, "dance").notes
    assert bpy.ops.exciting_dance.balance_dance.poll()
    assert not bpy.ops.exciting_dance.complete_dance.poll()


def test_named_postures_are_used(standing: tuple[bpy.types.Object, Path]) -> None:
    """A named posture occurs in the designed dance with its name; one with an arm in the chest has no feasible
    variation, and the message names it and the reason. Without names the error speaks of the timeline, not of a file.
    """
    body, own = standing
    scene = bpy.context.scene
    settings = scene.exciting_dance_dance
    settings.postures, settings.effort, settings.posed = 1, 0.1, True
    with pytest.raises(RuntimeError, match="The timeline: none of its 3 postures has a name"):
        bpy.ops.exciting_dance.design_dance()
    assert str(own) not in find_message(scene, body, "dance").message
    posed(body, HUG, 11)
    keying.name_posture(scene, body, "hug")
    scene.frame_set(6)
    keying.name_posture(scene, body, "wave")
    assert bpy.ops.exciting_dance.design_dance() == {"FINISHED"}
    assert "wave" in [key.name for key in timeline.read_keys(scene, body)]
    keyed = len(timeline.read_key_roles(body))  # the panel counts as many
    said = find_message(scene, body, "dance")
    assert f"Keyed at {keyed} frames:" in said.notes
    assert "'hug' is not danced: no variation of 'hug' keeps all limits (both)" in said.failures
    assert "wave" not in said.failures
    assert list(own.iterdir()) == []


def test_slow_down_and_compare(standing: tuple[bpy.types.Object, Path], tmp_path: Path) -> None:
    """The ghost has the motion that the verb writes; applied and compared with it, the performance has no error, and
    the marker of a count stays at its posture."""
    body, own = standing
    scene = bpy.context.scene
    posed(body, 0.6, 6)
    keys, count = timeline.read_key_roles(body), scene.timeline_markers.new("♪1", frame=6)
    assert bpy.ops.exciting_dance.slow_dance() == {"FINISHED"}
    words = ["slow", written(body, tmp_path), "--rate", "20", "--output", str(tmp_path / "s"), "--progress", "none"]
    assert main(words) == OK
    motion = MOTION.read(tmp_path / "s" / "dance.motion.npz").scene
    assert motion.times[-1] > 0.5
    assert timeline.read_key_roles(body) == keys
    assert bpy.ops.exciting_dance.apply_ghost() == {"FINISHED"}
    got = timeline.sample_timeline(scene, body, *timeline.motion_range(scene, body))
    assert difference(got, dance_import.resample(motion, got.times)) < 1e-4
    assert len(timeline.read_key_roles(body)) == len(keys)
    assert count.frame == round([*timeline.read_key_roles(body)][[*keys].index(6.0)]) > 6
    write_rig(tmp_path / "s" / "rig.json", hoap3(torque="peak"))
    body[STUDY_KEY] = str(tmp_path / "s")
    assert bpy.ops.exciting_dance.compare_performance() == {"FINISHED"}
    errors = [joint.rmse for joint in find_message(scene, body, "performance").joints]
    assert errors == sorted(errors, reverse=True)
    assert errors[0] < 0.02
    assert "Performance report" in bpy.data.texts
    assert list(own.iterdir()) == []


def test_balance_plants_the_feet(standing: tuple[bpy.types.Object, Path]) -> None:
    """A tilted sole is flat in the ghost; the body changes only when the ghost is applied, and roles never change."""
    body, _ = standing
    scene = bpy.context.scene
    store_checks(body, replace(read_checks(body), allowed_slip=0.0))  # by default a tilt as small as this one may stay
    scene.frame_set(6)
    body.pose.bones["left_foot"].rotation_euler[keying.hinge_axes(body.pose.bones["left_foot"])[0]] += 0.02
    keying.key_posture(scene, body, "preferred")
    before = timeline.sample_timeline(scene, body, 1, 11)
    assert bpy.ops.exciting_dance.balance_dance() == {"FINISHED"}
    assert find_message(scene, body, "dance").verdict == "good", find_message(scene, body, "dance").message
    assert np.array_equal(timeline.sample_timeline(scene, body, 1, 11).rotations, before.rotations)
    assert bpy.ops.exciting_dance.apply_ghost() == {"FINISHED"}
    after = timeline.sample_timeline(scene, body, 1, 11)
    assert list(timeline.read_key_roles(body).values()) == ["fixed", "preferred", "preferred"]
    assert np.abs(after.root[0] - before.root[0]).max() < 1e-5
    assert tilt(before, body) > 0.015
    assert tilt(after, body) < 1e-3


def tilt(motion: SceneTimeline, body: bpy.types.Object) -> float:
    """Largest rotation [rad] of the left foot relative to its first frame."""
    rig = rig_of(body)
    translations = np.array(motion.translations)
    translations[:, 0] = motion.root
    turns = convert.link_poses(rig, motion.rotations, translations)[0][:, rig.index("left_foot")]
    return float(np.arccos(np.clip((np.einsum("nij,ij->n", turns, turns[0]) - 1.0) / 2.0, -1.0, 1.0)).max())


def test_complete_fills_free_postures_and_an_error_changes_nothing(standing: tuple[bpy.types.Object, Path]) -> None:
    """A free posture between others is filled; a free first posture is an error of the verb that changes nothing."""
    body, own = standing
    scene, settings = bpy.context.scene, bpy.context.scene.exciting_dance_dance
    keying.set_role(body, "free", frame=1.0)
    before = fingerprint()
    with pytest.raises(RuntimeError, match="free"):
        bpy.ops.exciting_dance.complete_dance()
    assert fingerprint() == before
    assert find_message(scene, body, "dance").verdict == "failed"
    assert list(own.iterdir()) == []
    keying.set_role(body, "fixed", frame=1.0)
    keying.set_role(body, "free", frame=6.0)
    settings.interpolate = True
    assert bpy.ops.exciting_dance.complete_dance() == {"FINISHED"}
    assert ghost.find_ghost(scene, body) is not None
    said = find_message(scene, body, "dance")
    assert "1 free" in said.message or said.verdict == "good", said.message


@pytest.mark.parametrize("verb", ["repair", "complete", "retarget", "check"])
def test_open_dance_shows_what_each_verb_wrote(
    standing: tuple[bpy.types.Object, Path], tmp_path: Path, verb: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With no rig the folder's own appears with its motion; the rig it was made for is used if it is active.

    The startup cube is hidden. A check's folder has no motion, which is one error.
    """
    body, _ = standing
    keying.set_role(body, "free", frame=6.0)
    line, output, hidden = written(body, tmp_path), tmp_path / "out", list[object]()
    monkeypatch.setattr(viewport, "hide_startup_cube", hidden.append)
    main(
        [
            verb,
            line,
            *(["hoap3", "--no-repair"] if verb == "retarget" else []),
            "--output",
            str(output),
            "--progress",
            "none",
        ]
    )
    if verb == "check":
        with pytest.raises(RuntimeError, match=r"holds no motion.*the dance that was checked"):
            bpy.ops.exciting_dance.open_dance(directory=str(output))
        return
    led = MOTION.read(output / "dance.motion.npz")
    assert from_folder(output).rig == led.rig
    for mine in (True, False):
        if not mine:
            bpy.data.batch_remove([*body.children, body])
        assert bpy.ops.exciting_dance.open_dance(directory=str(output)) == {"FINISHED"}
        scene = bpy.context.scene
        (shown,) = find_rigs(scene)
        got = timeline.sample_timeline(scene, shown, *timeline.motion_range(scene, shown))
        assert difference(got, dance_import.resample(led.scene, got.times)) < 1e-4
        assert len(hidden) == (not mine)


def test_export_writes_the_file(standing: tuple[bpy.types.Object, Path], tmp_path: Path) -> None:
    """The table has the dance's duration and the chosen rate."""
    path = tmp_path / "dance.csv"
    assert bpy.ops.exciting_dance.export_dance(filepath=str(path), rate=50.0) == {"FINISHED"}
    table = np.loadtxt(path, delimiter=",", skiprows=1)
    assert table[-1, 0] == pytest.approx(0.5)
    assert len(table) == 26


def test_a_designed_dance_comes_with_its_moves(standing: tuple[bpy.types.Object, Path], tmp_path: Path) -> None:
    """The dance is on the timeline of the active rig, and the earlier keys stay in the file.

    The list has the solver's difficulties at the frames of the postures; selecting a move goes there, and a rehearsal
    shows it. The ghost of a slower dance has no list, because it is another dance.
    """
    body, own = standing
    scene, old = bpy.context.scene, body.animation_data.action
    settings = scene.exciting_dance_dance
    settings.postures, settings.effort, settings.bpm = 1, 0.1, 110.0
    words = design_arguments(bpy.context)
    assert words[words.index("--bpm") + 1] == "110.0"
    assert bpy.ops.exciting_dance.design_dance() == {"FINISHED"}
    assert body.animation_data.action != old
    assert old.use_fake_user
    assert "does not determine" in find_message(scene, body, "dance").failures
    assert list(own.iterdir()) == []
    moves = find_moves(body)
    row = moves.rows[0]
    assert re.fullmatch(r"([1-5]) of 5( fast| far|,| on one foot)*", row.difficulty)
    assert row.difficulty.startswith(str(row.score))
    assert row.moving.split(" and ")[0] in ("left arm", "right arm", "left leg", "right leg", "trunk")
    named = {key.name: key.time for key in reversed(timeline.read_keys(scene, body))}  # the first of each name
    assert timeline.times_at_frames(scene, row.last) == pytest.approx(named[row.name], abs=1.0 / RATE)
    moves.index = list(moves.rows).index(row)
    assert scene.frame_current + scene.frame_subframe == pytest.approx(row.first)
    (stop,) = [stop for stop in from_scene(scene, body).stops if stop.name == row.name]
    assert stop.difficulty == row.difficulty
    assert plan_video((stop,), (0.0, stop.stop), RehearsalOptions()).stops[-1].difficulty == row.difficulty
    dance = dance_import.read_dance(_designed_again(body, tmp_path))
    assert [move.difficulty for move in dance.summary.moves] == [move.difficulty for move in moves.rows]
    assert row.difficulty in [stop.difficulty for stop in from_folder(dance.folder).stops if stop.name == row.name]
    settings.dynamics = False
    body.animation_data.action.exciting_dance_moves.rows[0].name = "judged by me"
    for curve in action.curves_of(body):
        for point in curve.keyframe_points:
            point.co.x = 1.0 + 0.2 * (point.co.x - 1.0)  # five times as fast
    assert bpy.ops.exciting_dance.slow_dance() == {"FINISHED"}
    assert len(find_moves(ghost.find_ghost(scene, body)).rows) == 0
    assert find_moves(body).rows[0].name == "judged by me"


def _designed_again(body: bpy.types.Object, folder: Path) -> Path:
    """The same dance from the command line."""
    words = ["dance", str(write_rig(folder / "body.json", rig_of(body))), *design_arguments(bpy.context)]
    assert main([*words, "--output", str(folder / "dance"), "--progress", "none"]) == INCOMPLETE
    return folder / "dance"


def test_what_balance_takes_back_can_be_kept(
    standing: tuple[bpy.types.Object, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lean that loses the balance is taken back in part, and the message says so. *Keep Mine* leans as far as the
    balance allows: at least as far as the ghost, with planted feet."""
    monkeypatch.setattr(ghosts, "TIMEOUT", 300.0)  # the live check is slow on a busy machine
    body, _ = standing
    scene, rig = bpy.context.scene, rig_of(body)
    keying.clear_inbetweens(body, 1, 11)
    scene.frame_set(6)
    root = body.pose.bones[rig.links[0]]
    root.location.x += 0.05
    keying.key_posture(scene, body, "preferred")
    keyed = timeline.sample_timeline(scene, body, 1, 11)
    assert bpy.ops.exciting_dance.balance_dance() == {"FINISHED"}
    assert "took back" in find_message(scene, body, "dance").message
    frame, link, place = read_taken_back(scene, body) or (0.0, "", np.zeros(3))
    assert frame == 6.0
    assert not bpy.ops.exciting_dance.keep_posture.poll(), "the live check does not run"
    LiveCheck.start(bpy.context, body)
    try:
        ghost_places = ghost_distance(scene, body, link, place)
        assert bpy.ops.exciting_dance.keep_posture() == {"FINISHED"}
    finally:
        LiveCheck.stop(wait=True)
    kept = timeline.sample_timeline(scene, body, 1, 11)
    assert scene.frame_current == 6
    assert handle_distance(kept, 5, rig, link, place) < ghost_places - 1e-4
    assert handle_distance(keyed, 5, rig, link, place) < 1e-5
    assert ghost.find_ghost(scene, body) is None


def test_half_a_raised_arm_is_taken_back(empty_scene: None, robot: Rig) -> None:
    """If the balanced motion raises an arm half as far, half the way of its hand is taken back, in that posture."""
    body, keyed, scene = on_the_timeline(robot), scene_motion(robot, arms_up(robot)), bpy.context.scene
    for frame in (1, 4, 9):
        scene.frame_set(frame)
        keying.key_posture(scene, body, "preferred")
    balanced = replace(keyed, rotations=np.repeat(keyed.rotations[4:5], 9, axis=0))
    half = find_taken_back(scene, body, balanced)
    way = handle_distance(keyed, 3, robot, half.link, half.place)
    found = [half.frame, half.time, half.way, half.distance, handle_distance(keyed, 8, robot, half.link, half.place)]
    np.testing.assert_allclose(found, [9.0, 0.4, way, 0.5 * way, 0.0], atol=1e-5)
    assert half.link == "right_forearm"


def handle_distance(motion: SceneTimeline | SceneMotion, index: int, rig: Rig, link: str, place: np.ndarray) -> float:
    """[m] Distance of a link's handle from a place."""
    translations = np.array(motion.translations)
    translations[:, 0] = motion.root
    axes, origins = convert.link_poses(rig, motion.rotations, translations)
    point = find_handles(rig)[link]
    return float(np.linalg.norm(axes[index, rig.index(link)] @ point + origins[index, rig.index(link)] - place))


def ghost_distance(scene: bpy.types.Scene, body: bpy.types.Object, link: str, place: np.ndarray) -> float:
    """[m] The same in the ghost, at the current frame."""
    copy, rig = ghost.find_ghost(scene, body), rig_of(body)
    copy.hide_viewport = False
    bpy.context.view_layer.update()
    turns, origins = timeline.evaluated_links(bpy.context.evaluated_depsgraph_get(), copy, rig)
    point = find_handles(rig)[link]
    return float(np.linalg.norm(turns[rig.index(link)] @ point + origins[rig.index(link)] - place))
