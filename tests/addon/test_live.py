"""The live check: what changed is sent, what comes back is the solver's own check, and what is drawn says so."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from dataclasses import replace

import bpy
import numpy as np
import pytest

from addon import inertials, registration
from addon.authoring import timeline
from addon.check_settings import check_settings
from addon.interpreter import chosen_interpreter
from addon.live import check_colours as live_marks
from addon.live import overlays as live_overlays
from addon.live import status_text as live_words
from addon.live import timeline_overlays
from addon.live.check_process import CheckProcess
from addon.live.check_results import CheckResults, contact_states
from addon.live.control import LiveCheck
from addon.live.responses import parse_response
from addon.live.session import STEPPING_NOTE, CheckSession
from addon.panels.live import EXCITING_DANCE_PT_live
from solver.dance.authoring.timeline import dance_from_timeline
from solver.feasibility import CheckOptions, check_motion
from solver.live.scene_frames import scene_frames
from solver.rig import Rig
from solver.rigs import hoap3
from solver.scene.checked_frame import SceneFoot, SceneFrame, SceneMargin, scene_frame
from solver.scene.result import SceneResult
from solver.scene.timeline import SceneStrip, SceneTimeline
from tests.addon.live_session import PATIENCE, until
from tests.addon.scenes import build
from tests.random_motion import planar_pair

FRAMES = 24
OPTIONS = {"shrink": 0.3, "friction": 0.4, "allowed_slip": 0.003}


@pytest.fixture(scope="module")
def robot() -> Rig:
    """A small humanoid."""
    return hoap3()


@pytest.fixture
def body(empty_scene: None, robot: Rig) -> Iterator[bpy.types.Object]:
    """It stands on both feet and moves an arm."""
    registration.register()
    made, scene = build(robot), bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = 1, FRAMES, 24
    for frame, angle in ((1, 0.0), (12, -0.4), (FRAMES, 0.0)):
        key(made, "right_shoulder", frame, angle)
    scene.frame_set(1)
    settings = check_settings(made)
    settings.shrink, settings.friction, settings.allowed_slip = 0.3, 0.4, 0.003
    yield made
    LiveCheck.stop(wait=True)
    registration.unregister()


def key(body: bpy.types.Object, link: str, frame: int, angle: float) -> None:
    """Key a hinge."""
    bone = body.pose.bones[link]
    axis = next(k for k in range(3) if not bone.lock_rotation[k])
    bone.rotation_euler[axis] = angle
    bone.keyframe_insert("rotation_euler", index=axis, frame=frame)


def change(session: CheckSession) -> None:
    """What Blender's handler notes of a change, long enough ago."""
    session.change_time, session.posture_changed = 0.0, True


def own_check(rig: Rig, shown: SceneTimeline) -> list[dict]:
    """The solver's check of a timeline, without the child."""
    keyed, options = dance_from_timeline(shown, rig), shown.checks
    assert options == CheckOptions(**OPTIONS)
    checks = check_motion(rig, keyed.curve().motion(rig, shown.times), keyed.schedule, options)
    return [frame.tree() for frame in scene_frames(rig, checks, options)]


def same(one: object, other: object) -> bool:
    """Equal, numbers nearly so: the last digit told may round either way."""
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float) and isinstance(other, (int, float)):
        return one == pytest.approx(other, rel=1e-3, abs=2e-4)
    return one == other


def test_what_is_shown_is_the_solver_s_own_check(body: bpy.types.Object, robot: Rig) -> None:
    """Every frame arrives as the solver checks it; an edit is checked anew, a pose not keyed instead of the frame."""
    scene = bpy.context.scene
    session = LiveCheck.start(bpy.context, body)
    until(session, lambda: session.results is not None and session.results.done)
    first = session.results
    assert first is not None
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
    until(session, lambda: session.results is not first and session.results.done)
    second = session.results
    assert second.serial > first.serial
    assert second.previous is first

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


def test_nothing_outlives_the_check(body: bpy.types.Object) -> None:
    """After the toggle and before another file no process, no handler and no folder is left."""
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


def test_a_child_that_ends_says_why(body: bpy.types.Object) -> None:
    """The panel shows the last words of a child that died, and the scene goes on."""
    session = CheckSession(bpy.context.scene, body, CheckProcess(chosen_interpreter(bpy.context), ("no-such-verb",)))
    until(session, lambda: bool(session.problem))
    assert "no-such-verb" in session.problem
    session.process.end(wait=True)


def test_frames_are_not_stepped_unasked(body: bpy.types.Object) -> None:
    """Where a constraint moves the rig, only the posture shown is sent until the user asks for all frames."""
    body.pose.bones["right_foot"].constraints.new("COPY_LOCATION").target = bpy.data.objects.new("goal", None)
    session = LiveCheck.start(bpy.context, body)
    until(session, lambda: session.pose is not None)
    assert session.needs_stepping
    assert session.results is None
    assert "constraints" in STEPPING_NOTE.lower()
    bpy.context.scene.frame_set(5)
    session.check_all()
    assert session.results is not None
    assert bpy.context.scene.frame_current == 5


def margin(check: str, item: str, value: float, unit: str, comfort: float) -> SceneMargin:
    """A margin that fails where it is negative."""
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
    """A timeline of two links that stay where they are, a frame every quarter second."""
    rotations = np.tile([0.0, 0.0, 0.0, 1.0], (frames, 2, 1))
    times, zeros = 0.25 * np.arange(frames), np.zeros((frames, 2, 3))
    return SceneTimeline("plain", planar_pair(0.1), times, np.zeros((frames, 3)), rotations, zeros, strips=strips)


def line(serial: int, *frames: SceneFrame) -> str:
    """A line of the child that tells frames."""
    return json.dumps({"kind": "frames", "serial": serial, "frames": [frame.tree() for frame in frames]})


def test_the_identified_body_is_checked(body: bpy.types.Object, robot: Rig) -> None:
    """A result on the bones is checked anew with the masses it found, and the readings are those of that body."""
    session = LiveCheck.start(bpy.context, body)
    until(session, lambda: session.results is not None and session.results.done)
    assert session.results is not None
    believed = [frame.tree() for frame in session.results.frames if frame is not None]
    found = robot.prior.scaled(1.5 * robot.prior.total_mass)
    inertials.write_inertials(body, SceneResult(found, robot.prior, method="a test"))
    change(session)
    until(session, lambda: session.results.serial > 1 and session.results.done)
    told = [frame.tree() for frame in session.results.frames if frame is not None]
    shown = timeline.sample_timeline(bpy.context.scene, body)
    assert same(told, own_check(robot.with_prior(found), shown))
    assert not same(told, believed)


def test_words_name_what_is_worst() -> None:
    """The worst comes first, in the words of the check; what has nothing to say is left out."""
    assert [words for words, _ in live_words.worst_margins(FRAME)] == [
        "zmp of support polygon: -0.023 m",
        "self-collision of right_forearm and chest: 0.011 m",
        "joint torque of right_ankle: 0.12 of the limit",
    ]


def test_colliding_is_shown_before_failing_before_near() -> None:
    """A link has one colour, that of the worst that is said of it."""
    tints = live_marks.check_highlights(FRAME)
    assert tints["chest"].shows_through
    assert tints["right_foot"].colour[:3] == live_marks.FAIL_COLOUR[:3]
    assert tints["right_ankle"].striped
    assert set(tints) == {"chest", "right_foot", "right_ankle"}


def test_a_point_is_inside_whichever_way_the_corners_go() -> None:
    """The centre of mass of the frame is over the polygon, its ZMP is not; no polygon holds nothing."""
    for corners in (FRAME.polygon, FRAME.polygon[::-1]):
        assert live_marks.is_inside(corners, FRAME.com[:2])
        assert not live_marks.is_inside(corners, FRAME.zmp)
    assert not live_marks.is_inside(np.zeros((0, 2)), (0.0, 0.0))


def test_forces_start_at_their_centre_of_pressure() -> None:
    """One arrow for the foot that carries, as long as the force says; none for the other."""
    points = live_marks.force_lines(FRAME)
    assert np.allclose(points[:2], [[0.1, 0.0, 0.0], [0.1, 0.0, 80.0 * live_marks.METRES_PER_NEWTON]])
    assert live_marks.force_lines(replace(FRAME, feet=FRAME.feet[1:])) == []


def test_excitation_is_shown_on_a_scale_of_orders() -> None:
    """Ten times worse conditioned is as far on the legend anywhere; without any excitation a link is grey."""
    shares = [live_marks.excitation_fraction(condition) for condition in (1000.0, 100.0, 10.0)]
    assert np.allclose(np.diff(shares), 0.5)
    assert np.isnan(live_marks.excitation_fraction(np.inf))
    assert live_marks.excitation_highlights({"head": np.inf})["head"].colour[:3] == live_marks.UNKNOWN_COLOUR[:3]


def test_the_bar_is_grey_then_red_amber_or_green() -> None:
    """One column a frame without gaps, as high as what is left; a failing frame is full height."""
    comfort = np.array([np.nan, -0.5, 0.5, 1.5])
    corners, colours, faces = timeline_overlays.margin_bar(
        np.arange(1.0, 5.0), comfort, np.array([True, True, True, False])
    )
    columns = corners.reshape(-1, 4, 2)
    assert np.allclose(columns[:, [0, 2], 0], [[0.5, 1.5], [1.5, 2.5], [2.5, 3.5], [3.5, 4.5]])
    assert columns[1, 1, 1] == 1.0
    assert columns[0, 1, 1] < columns[2, 1, 1] < columns[3, 1, 1] < 1.0
    shown = [tuple(colour[:3]) for colour in colours[::4]]
    assert shown == [
        c[:3]
        for c in (live_marks.UNKNOWN_COLOUR, live_marks.FAIL_COLOUR, live_marks.NEAR_COLOUR, live_marks.PASS_COLOUR)
    ]
    assert colours[12, 3] < colours[8, 3]  # what an older check said is faded
    assert faces.max() == len(corners) - 1


def test_strips_tile_the_timeline() -> None:
    """Both, one or no foot: each instant has one state, and neighbours of one state are one strip."""
    strips = (
        SceneStrip("right_sole", 0.0, 0.5),
        SceneStrip("left_sole", 0.25, 0.75),
        SceneStrip("left_sole", 0.75, 1.0),
    )
    found = contact_states(plain(7, strips), ("right_sole", "left_sole"))
    assert [(s.state, s.start, s.stop) for s in found] == [
        ("right_sole", 0.0, 0.25),
        ("both", 0.25, 0.5),
        ("left_sole", 0.5, 1.0),
        ("air", 1.0, 1.5),
    ]
    colours = {live_marks.contact_colour(s.state) for s in found}
    assert len(colours) == 4
    assert [live_marks.contact_labels(s.state)[1] for s in found] == ["R", "both", "L", "air"]


def test_answers_belong_to_their_request() -> None:
    """Readings take the answers of their own serial only; until then the ones before are shown as old."""
    old, words = CheckResults(1, plain()), line(1, FRAME)
    assert old.add_response(parse_response(words))
    assert old.checked == 1
    assert old.worst["zmp"].index == 2
    assert old.failing_intervals() == [(0.5, 0.5)]
    new = CheckResults(2, plain(), previous=old)
    assert not new.add_response(parse_response(words))
    found, fresh = new.result_at(0.5)
    assert (found.tree(), fresh) == (FRAME.tree(), False)
    comfort, fresh_ones = new.all_comforts()
    assert comfort[2] == FRAME.comfort
    assert not fresh_ones.any()
    assert new.add_response(parse_response(line(2, replace(FRAME, margins=FRAME.margins[:1]))))
    assert new.result_at(0.5)[1]
    assert not new.failing_intervals()
    assert new.result_at(2.0)[0] is None
    assert scene_frame(FRAME.tree()).tree() == FRAME.tree()


def test_a_timeline_s_own_posture_is_no_pose() -> None:
    """A posture differs when a joint turned or the root moved; the other sign of a quaternion is the same turn."""
    readings = CheckResults(1, plain())
    one = plain(1)
    assert not readings.differs(one, 0.0)
    assert not readings.differs(replace(one, rotations=-one.rotations), 0.25)
    assert readings.differs(replace(one, root=one.root + 0.01), 0.0)
    turned = np.array([[[np.sin(0.05), 0.0, 0.0, np.cos(0.05)], [0.0, 0.0, 0.0, 1.0]]])
    assert readings.differs(replace(one, rotations=turned), 0.0)


def test_panel_and_overlays_are_there_only_while_needed(body: bpy.types.Object) -> None:
    """The panel is registered; without the check nothing is drawn and no handler is called."""
    assert EXCITING_DANCE_PT_live.bl_category == "Dance"
    assert hasattr(bpy.types, "EXCITING_DANCE_PT_live")
    assert len(LiveCheck.listeners) == 1
    assert not live_overlays.HANDLERS.enabled
    assert not timeline_overlays.HANDLERS.enabled


def test_a_scaled_rig_shows_a_message_and_nothing_else(body: bpy.types.Object) -> None:
    """What was known is of a rig of other lengths: no mark of it stays beside the message, and it is checked again
    when the scale is gone, without a word from the user."""
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
