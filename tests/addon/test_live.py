"""The live check sends changes, gets the solver's own results, and draws them."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace

import bpy
import numpy as np
import pytest

from addon.authoring import keying, timeline
from addon.authoring.pose_sampling import bone_path
from addon.base.bpy_access import run_at_once
from addon.base.interpreter import chosen_interpreter
from addon.live import check_colours as live_marks
from addon.live import control, timeline_overlays
from addon.live import overlays as live_overlays
from addon.live import session as live_session
from addon.live.check_process import CheckProcess
from addon.live.check_results import CheckResults
from addon.live.control import LiveCheck
from addon.live.responses import parse_response
from addon.live.session import STEPPING_NOTE, CheckSession
from addon.panels.live import EXCITING_DANCE_PT_live
from addon.scene import inertials
from addon.scene.action import ActionCurves
from addon.scene.check_settings import check_settings
from solver.dance.authoring.timeline import dance_from_timeline
from solver.feasibility import CheckOptions, check_motion
from solver.live.scene_frames import scene_frames
from solver.scene.checked_frame import SceneFoot, SceneFrame, SceneMargin, scene_frame
from solver.scene.result import SceneResult
from solver.scene.timeline import SceneKey, SceneStrip, SceneTimeline
from solver.skeleton.rig import Rig
from tests.addon.live_session import PATIENCE, is_withdrawn, judge, until
from tests.addon.scenes import build
from tests.random_motion import planar_pair

FRAMES = 24
OPTIONS = {"shrink": 0.3, "friction": 0.4, "allowed_slip": 0.003}


@pytest.fixture
def body(registered: None, robot: Rig) -> Iterator[bpy.types.Object]:
    """The robot on both feet, moving an arm."""
    made, scene = build(robot), bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = 1, FRAMES, 24
    for frame, angle in ((1, 0.0), (12, -0.4), (FRAMES, 0.0)):
        key(made, "right_shoulder", frame, angle)
    scene.frame_set(1)
    settings = check_settings(made)
    settings.shrink, settings.friction, settings.allowed_slip = 0.3, 0.4, 0.003
    yield made
    LiveCheck.stop(wait=True)


def key(body: bpy.types.Object, link: str, frame: int, angle: float) -> None:
    """Key a hinge."""
    bone = body.pose.bones[link]
    axis = next(k for k in range(3) if not bone.lock_rotation[k])
    bone.rotation_euler[axis] = angle
    bone.keyframe_insert("rotation_euler", index=axis, frame=frame)


def change(session: CheckSession) -> None:
    """Report a change as Blender's handler does, early enough to be handled."""
    session.change_time, session.posture_changed = 0.0, True


def own_check(rig: Rig, shown: SceneTimeline) -> list[dict]:
    """Results of the solver's check of a timeline, without a child process."""
    keyed, options = dance_from_timeline(shown, rig), shown.checks
    assert options == CheckOptions(**OPTIONS)
    checks = check_motion(rig, keyed.curve().motion(rig, shown.times), keyed.schedule, options)
    return [frame.tree() for frame in scene_frames(rig, checks, options)]


def same(one: object, other: object) -> bool:
    """Whether values are equal, up to rounding of the last digit."""
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float) and isinstance(other, (int, float)):
        return one == pytest.approx(other, rel=1e-3, abs=2e-4)
    return one == other


def test_results_are_those_of_the_solver(body: bpy.types.Object, robot: Rig) -> None:
    """Every frame has the solver's results; edits and unkeyed poses are checked again."""
    scene = bpy.context.scene
    session = LiveCheck.start(bpy.context, body)
    until(session, lambda: session.results is not None and session.results.done)
    first = session.results
    trees = own_check(robot, timeline.sample_timeline(scene, body))
    assert len(first.frames) == FRAMES
    for found, wanted in zip(first.frames, trees, strict=True):
        tree = found.tree()
        assert all(same(tree[name], wanted[name]) for name in ("time", "margins", "com", "zmp", "polygon", "feet"))
    assert session.current_result(scene) == (first.frames[0], True)

    change(session)
    session.tick()
    assert session.results is first  # something was touched, nothing changed

    bone = body.pose.bones["left_thigh"]
    axis = next(k for k in range(3) if not bone.lock_rotation[k])
    key(body, "left_thigh", 1, 0.0)
    change(session)
    until(session, lambda: session.results not in (None, first) and session.results.done)
    second = session.results
    assert second.serial > first.serial

    bone.rotation_euler[axis] = -0.5
    bpy.context.view_layer.update()
    session.posture_changed = True
    until(session, lambda: session.shows_unkeyed_posture and session.pose is not None)
    posed, fresh = session.current_result(scene)
    assert fresh
    assert abs(posed.com[0] - second.frames[0].com[0]) > 1e-3
    scene.frame_set(12)
    assert not session.shows_unkeyed_posture
    assert session.current_result(scene) == (second.frames[11], True)


def test_no_change_leaves_old_results(body: bpy.types.Object, monkeypatch: pytest.MonkeyPatch) -> None:
    """Results are removed by the next tick, or the next comparison of all, without any report of Blender's; and so are
    verdicts, markers and the offered step.

    Another displayed frame is no change, also with animated constraints, parents and the NLA.
    """
    scene, foot, other = bpy.context.scene, body.pose.bones["right_foot"], bpy.data.objects.new("other", None)
    strip, marker = bpy.data.actions.new("strip"), body.animation_data.action.pose_markers
    angles = ActionCurves(strip, None, strip.slots.new(id_type="OBJECT", name=body.name))
    for curves, path in (
        (ActionCurves(bpy.data.actions.new("placed"), other), "location"),
        (angles, f"{bone_path('left_thigh')}.rotation_euler"),
    ):
        curves.add(path, np.array([1.0, FRAMES]), np.array([0.0, 0.1]))
    session = CheckSession(scene, body, SimpleNamespace(running=True, send=lambda *_: None, responses=list))
    session.tick()

    def keep_distance() -> None:
        made = foot.constraints.new("COPY_LOCATION")
        made.target, made.influence = other, 0.5
        made.keyframe_insert("influence", frame=1)
        made.influence = 1.0
        made.keyframe_insert("influence", frame=FRAMES)

    def layer() -> None:
        added = body.animation_data.nla_tracks.new().strips.new("strip", 1, strip)
        added.action_slot = strip.slots[0]

    def preview() -> None:
        scene.use_preview_range, scene.frame_preview_end = True, 9

    at_once = {
        "rate": lambda: setattr(scene.render, "fps", 30),
        "base": lambda: setattr(scene.render, "fps_base", 1.001),
        "end": lambda: setattr(scene, "frame_end", FRAMES - 1),
        "preview": preview,
        "unit": lambda: setattr(scene.unit_settings, "scale_length", 0.01),
        "mass": lambda: body.data.bones["right_foot"].__setitem__("mass", 0.5),
        "checks": lambda: setattr(check_settings(body), "shrink", 0.2),
        "rest": lambda: setattr(body.data, "pose_position", "REST"),
        "pose": lambda: setattr(body.data, "pose_position", "POSE"),
        "place": lambda: setattr(body, "location", (0.0, 1e-5, 0.0)),
        "parent": lambda: setattr(body, "parent", other),
        "tweak": lambda: setattr(body.animation_data, "use_nla", False),
    }
    compared = {
        "contact": lambda: keying.key_contacts(scene, body, {"left_sole": "sole"}),
        "limits": lambda: bpy.ops.exciting_dance.limits(enforce=True),
        "name": lambda: marker.new("step"),
        "key": lambda: key(body, "right_shoulder", 5, -0.2),
        "posture": lambda: setattr(body.pose.bones["left_foot"], "rotation_euler", (0.0, 1e-5, 0.0)),
        "constraint": keep_distance,
        "its axis": lambda: setattr(foot.constraints[-1], "use_x", False),
        "nla": layer,
        "strip": lambda: setattr(body.animation_data.nla_tracks[0].strips[0], "frame_end", 50),
    }
    for interval, changes in ((1e9, at_once), (1e-9, compared)):
        monkeypatch.setattr(live_session, "COMPARE_INTERVAL", interval)
        for what, alter in changes.items():
            run_at_once(session.check_all())
            judge(body)
            scene.frame_set(7)
            session.tick()
            assert session.results is not None, what
            assert not is_withdrawn(body), what
            alter()
            session.tick()
            assert session.results is None, what
            bpy.context.view_layer.update()
            assert is_withdrawn(body), what


def test_stopping_the_check_leaves_nothing_behind(body: bpy.types.Object) -> None:
    """After stopping, and before another file is opened, no process, handler or folder is left."""
    for end in (
        lambda: bpy.ops.exciting_dance.live(),
        lambda: bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True),
    ):
        handlers = len(bpy.app.handlers.depsgraph_update_post)
        bpy.context.view_layer.objects.active = bpy.data.objects[0]
        assert bpy.ops.exciting_dance.live() == {"FINISHED"}
        session = LiveCheck.session
        assert len(bpy.app.handlers.depsgraph_update_post) == handlers + 1
        end()
        assert LiveCheck.session is None
        assert len(bpy.app.handlers.depsgraph_update_post) == handlers
        stop = time.monotonic() + PATIENCE
        while session.process.running or session.process.folder.exists():
            assert time.monotonic() < stop
            time.sleep(0.02)
        with pytest.raises(ProcessLookupError):
            os.kill(session.process.pid, 0)  # reaped: not even a zombie


def test_ended_process_is_reported(body: bpy.types.Object) -> None:
    """The panel shows the last error output of a process that ended, and the scene is unaffected."""
    session = CheckSession(bpy.context.scene, body, CheckProcess(chosen_interpreter(bpy.context), ("no-such-verb",)))
    until(session, lambda: bool(session.problem))
    assert "no-such-verb" in session.problem
    session.process.end(wait=True)


def test_frames_are_stepped_only_on_request(body: bpy.types.Object) -> None:
    """If a constraint moves the rig, only the displayed pose is sent until the user requests all frames."""
    body.pose.bones["right_foot"].constraints.new("COPY_LOCATION").target = bpy.data.objects.new("goal", None)
    session = LiveCheck.start(bpy.context, body)
    until(session, lambda: session.pose is not None)
    assert session.needs_stepping
    assert session.results is None
    assert "constraints" in STEPPING_NOTE.lower()
    bpy.context.scene.frame_set(5)
    run_at_once(session.check_all())
    assert session.results is not None
    assert bpy.context.scene.frame_current == 5


def margin(check: str, item: str, value: float, unit: str, comfort: float) -> SceneMargin:
    """A margin that fails if it is negative."""
    said = f"{check} of {item}: {value:g} {unit}" if check != "slip" else ""
    return SceneMargin(check, item, value, unit, comfort, value < 0.0, said)


FRAME = SceneFrame(
    2,
    0.5,
    (
        margin("joint torque", "right_ankle", 0.12, "of the limit", 1.2),
        margin("zmp", "support polygon", -0.023, "m", -2.0),
        margin("slip", "left_sole", 0.0001, "m", 0.1),
        margin("self-collision", "right_forearm and chest", 0.011, "m", 0.4),
    ),
    ("right_foot", "chest"),
    ("right_ankle", "right_foot"),
    ("chest",),
    False,
    (0.1, 0.0, 0.3),
    (0.2, 0.0),
    np.array([[0.0, -0.05], [0.15, -0.05], [0.15, 0.05], [0.0, 0.05]]),
    (SceneFoot("right_sole", (0.0, 0.0, 80.0), (0.1, 0.0, 0.0)), SceneFoot("left_sole", (0.0, 0.0, 0.0), None)),
)


def plain(frames: int = 4, strips: tuple[SceneStrip, ...] = ()) -> SceneTimeline:
    """A timeline of two links at rest, with four frames per second."""
    rotations = np.tile([0.0, 0.0, 0.0, 1.0], (frames, 2, 1))
    times, zeros = 0.25 * np.arange(frames), np.zeros((frames, 2, 3))
    return SceneTimeline("plain", planar_pair(0.1), times, np.zeros((frames, 3)), rotations, zeros, strips=strips)


def line(serial: int, *frames: SceneFrame) -> str:
    """A line of the process with results of frames."""
    return json.dumps({"kind": "frames", "serial": serial, "frames": [frame.tree() for frame in frames]})


def test_the_identified_body_is_checked(body: bpy.types.Object, robot: Rig) -> None:
    """A new result on the bones is checked with its masses."""
    session = LiveCheck.start(bpy.context, body)
    until(session, lambda: session.results is not None and session.results.done)
    prior_frames = [frame.tree() for frame in session.results.frames if frame is not None]
    found = robot.prior.scaled(1.5 * robot.prior.total_mass)
    inertials.write_inertials(body, SceneResult(found, robot.prior, method="a test"))
    change(session)
    until(session, lambda: session.results is not None and session.results.serial > 1 and session.results.done)
    identified_frames = [frame.tree() for frame in session.results.frames if frame is not None]
    shown = timeline.sample_timeline(bpy.context.scene, body)
    assert same(identified_frames, own_check(robot.with_prior(found), shown))
    assert not same(identified_frames, prior_frames)


def test_worst_margins_come_first() -> None:
    """The worst margins are listed first with the texts of their checks; margins without a text are omitted."""
    assert [words for words, _ in live_session.worst_margins(FRAME)] == [
        "zmp of support polygon: -0.023 m",
        "self-collision of right_forearm and chest: 0.011 m",
        "joint torque of right_ankle: 0.12 of the limit",
    ]


def test_colliding_is_shown_before_failing_before_near() -> None:
    """A link has one highlight, for its worst state."""
    tints = live_marks.check_highlights(FRAME)
    assert tints["chest"].shows_through
    assert tints["right_foot"].colour[:3] == live_marks.FAIL_COLOUR[:3]
    assert tints["right_ankle"].striped
    assert set(tints) == {"chest", "right_foot", "right_ankle"}


def test_point_in_polygon_of_either_orientation() -> None:
    """The frame's centre of mass is over the polygon and its ZMP is not; an empty polygon contains nothing."""
    for corners in (FRAME.polygon, FRAME.polygon[::-1]):
        assert live_marks.is_inside(corners, FRAME.com[:2])
        assert not live_marks.is_inside(corners, FRAME.zmp)
    assert not live_marks.is_inside(np.zeros((0, 2)), (0.0, 0.0))


def test_forces_start_at_their_centre_of_pressure() -> None:
    """The loaded foot has one arrow of the length of its force; the other has none."""
    points = live_marks.force_lines(FRAME)
    assert np.allclose(points[:2], [[0.1, 0.0, 0.0], [0.1, 0.0, 80.0 * live_marks.METRES_PER_NEWTON]])
    assert live_marks.force_lines(replace(FRAME, feet=FRAME.feet[1:])) == []


def test_excitation_scale_is_logarithmic() -> None:
    """A factor of ten in the condition number is the same distance on the legend; links without excitation are grey."""
    shares = [live_marks.excitation_fraction(condition) for condition in (1000.0, 100.0, 10.0)]
    assert np.allclose(np.diff(shares), 0.5)
    assert np.isnan(live_marks.excitation_fraction(np.inf))
    assert live_marks.excitation_highlights({"head": np.inf})["head"].colour[:3] == live_marks.UNKNOWN_COLOUR[:3]


def test_margin_bar_is_grey_red_amber_or_green() -> None:
    """Each frame has one column without gaps, as high as its comfort; failing frames have full height."""
    corners, colours, faces = timeline_overlays.margin_bar(np.arange(1.0, 5.0), np.array([np.nan, -0.5, 0.5, 1.5]))
    columns = corners.reshape(-1, 4, 2)
    assert np.allclose(columns[:, [0, 2], 0], [[0.5, 1.5], [1.5, 2.5], [2.5, 3.5], [3.5, 4.5]])
    assert columns[1, 1, 1] == 1.0
    assert columns[0, 1, 1] < columns[2, 1, 1] < columns[3, 1, 1] < 1.0
    shown = [tuple(colour[:3]) for colour in colours[::4]]
    assert shown == [
        c[:3]
        for c in (live_marks.UNKNOWN_COLOUR, live_marks.FAIL_COLOUR, live_marks.NEAR_COLOUR, live_marks.PASS_COLOUR)
    ]
    assert colours[0, 3] < colours[4, 3]
    assert faces.max() == len(corners) - 1


def test_postures_in_view_have_marks_of_their_roles() -> None:
    """A diamond with a dark border around each posture that is inside the region and not too near the one before."""
    keys = [SceneKey(time, role) for time, role in ((0.0, "fixed"), (1.0, "free"), (1.001, "fixed"), (9.0, "free"))]
    shapes = timeline_overlays._posture_marks(keys, np.array([-5.0, 40.0, 41.0, 90.0]), 100.0, 10.0, 2.0)
    assert np.array([corners for corners, _ in shapes]).tolist() == [
        [[x - size, 19.0], [x, 19.0 - size], [x + size, 19.0], [x, 19.0 + size]]
        for x in (40.0, 90.0)
        for size in (9.5, 8.0)
    ]
    free = timeline_overlays.ROLE_COLOURS["free"]
    assert [colour for _, colour in shapes] == 2 * [timeline_overlays.BACKGROUND, free]


def test_responses_belong_to_their_request() -> None:
    """Results accept only responses of their own serial number."""
    old, words = CheckResults(1, plain()), line(1, FRAME)
    assert old.add_response(parse_response(words))
    assert old.checked == 1
    assert old.worst["zmp"].index == 2
    assert old.failing_intervals() == [(0.5, 0.5)]
    new = CheckResults(2, plain())
    assert not new.add_response(parse_response(words))
    assert new.result_at(0.5) is None
    assert new.add_response(parse_response(line(2, replace(FRAME, margins=FRAME.margins[:1]))))
    assert new.result_at(0.5) is not None
    assert not new.failing_intervals()
    assert [
        CheckResults(1, plain(count)).index_at(time)
        for count, times in ((4, (-0.26, -0.24, 0.37, 0.38, 0.99, 1.01)), (2, (0.49, 0.51)))
        for time in times
    ] == [None, 0, 1, 2, 3, None, 1, None]
    assert scene_frame(FRAME.tree()).tree() == FRAME.tree()


def test_pose_of_the_timeline_is_recognised() -> None:
    """A pose differs if a joint or the root moved; the opposite sign of a quaternion is the same rotation."""
    readings = CheckResults(1, plain())
    one = plain(1)
    assert not readings.differs(one, 0.0)
    assert not readings.differs(replace(one, rotations=-one.rotations), 0.25)
    assert readings.differs(replace(one, root=one.root + 0.01), 0.0)
    turned = np.array([[[np.sin(0.05), 0.0, 0.0, np.cos(0.05)], [0.0, 0.0, 0.0, 1.0]]])
    assert readings.differs(replace(one, rotations=turned), 0.0)


def test_overlays_exist_only_while_needed(body: bpy.types.Object) -> None:
    """The panel is registered; without the check nothing is drawn and no handler is called."""
    assert EXCITING_DANCE_PT_live.bl_category == "Dance"
    assert hasattr(bpy.types, "EXCITING_DANCE_PT_live")
    assert len(LiveCheck.listeners) == 1
    assert not live_overlays.HANDLERS.enabled
    assert not timeline_overlays.HANDLERS.enabled


def test_a_scaled_rig_shows_a_message_and_nothing_else(body: bpy.types.Object) -> None:
    """The results of a rig with other lengths are removed, and the rig is checked again as soon as it is no longer
    scaled."""
    scene = bpy.context.scene
    session = LiveCheck.start(bpy.context, body)
    until(session, lambda: session.results is not None and session.results.done)
    for factor in (2.0, 3.0):
        body.scale = (factor,) * 3
        bpy.context.view_layer.update()
        change(session)
        until(session, lambda: "scaled" in session.problem)
        assert session.current_result(scene)[0] is None
        assert session.results is None
        assert session.current_excitation(scene) == {}
    body.scale = (1.0,) * 3
    bpy.context.view_layer.update()
    change(session)
    until(session, lambda: session.results is not None and session.results.done)
    assert session.problem == ""
    assert session.current_result(scene)[0] is not None


def test_the_check_follows_the_active_rig(body: bpy.types.Object, robot: Rig) -> None:
    """With a second rig the same process checks that one, and results of the first are removed."""
    session = LiveCheck.start(bpy.context, body)
    until(session, lambda: session.results is not None and session.results.done)
    other, process = build(robot), session.process
    control._tick()
    assert (session.body, session.process, LiveCheck.session) == (other.session_uid, process, session)
    assert session.results is None or not session.results.done
    other.hide_set(True)
    bpy.context.view_layer.objects.active = body
    control._tick()
    assert session.checks(body)
