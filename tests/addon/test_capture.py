"""Live capture: a stream moves the rig, a recording becomes one action, and nothing is left behind."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import bpy
import numpy as np
import pytest

from addon.base.convert import bone_frame
from addon.capture.control import Capture, capture_settings
from addon.capture.session import CaptureSession, describe_balance, describe_latency, describe_stream, parse_response
from addon.display.overlays import Overrides
from addon.display.study import ERROR_KEY, key_marker_errors, played_trial
from addon.scene.action import curves_of
from solver.capture.replay import build_stream, stream_datagrams
from solver.capture.udp import UdpSender
from solver.signals.trial import Recording
from solver.skeleton.rig import Rig
from solver.study.joint_motion import joints_of
from tests.addon.scenes import build

PATIENCE = 60.0
"""[s] A busy machine starts a child in some."""
FRAMES, RATE = 40, 100.0
LINK = "right_shoulder"


@pytest.fixture
def body(registered: None, robot: Rig) -> Iterator[bpy.types.Object]:
    """A standing robot without keys."""
    import socket

    made = build(robot)
    bpy.context.view_layer.objects.active = made
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        capture_settings(bpy.context.scene).port = free.getsockname()[1]
    yield made
    Capture.stop(wait=True)


@pytest.fixture(scope="module")
def sent(robot: Rig) -> list[bytes]:
    """Datagrams of a robot that lifts an arm."""
    q = np.tile(robot.neutral, (FRAMES, 1))
    q[:, 2] = robot.standing_height
    q[:, 7 + robot.links[1:].index(LINK)] = -np.linspace(0.0, 0.5, FRAMES)
    stream = build_stream(Recording("lift", joints=joints_of(robot, np.arange(FRAMES) / RATE, q)))
    return [data for _, data in stream_datagrams(stream)]


def until(session: CaptureSession, reached: Callable[[], bool]) -> None:
    """Poll repeatedly, as the window's timer does."""
    stop = time.monotonic() + PATIENCE
    while not reached():
        assert time.monotonic() < stop, (session.end_reason, session.state, list(session.messages))
        session.tick()
        time.sleep(0.01)


def send(data: list[bytes]) -> None:
    """Send datagrams to the scene's port."""
    sender = UdpSender(port=capture_settings(bpy.context.scene).port)
    for each in data:
        sender.send(each)
    sender.close()


def test_a_stream_moves_the_rig_and_becomes_an_action(body: bpy.types.Object, robot: Rig, sent: list[bytes]) -> None:
    """The bones have the pose of the newest sample, and the recording becomes one action with the stream's values."""
    assert bpy.ops.exciting_dance.capture() == {"FINISHED"}
    session = Capture.session
    until(session, lambda: bool(session.state))
    assert describe_stream(session, capture_settings(bpy.context.scene).source).startswith("Waiting")
    assert bpy.ops.exciting_dance.capture_record() == {"FINISHED"}
    until(session, lambda: session.state.get("recording", False))
    assert not bpy.ops.exciting_dance.capture.poll()
    send(sent)
    until(session, lambda: session.state.get("recorded") == FRAMES and session.state["ended"])
    until(session, lambda: session.pose is not None)
    frame = bone_frame(robot, robot.index(LINK))
    until(session, lambda: session.pose.time > 0.38 or session.state["ended"])
    shown = session.pose
    angle = body.pose.bones[LINK].rotation_euler[frame.axis]
    assert angle == pytest.approx(-frame.sign * 0.5 * shown.time / ((FRAMES - 1) / RATE), abs=1e-4)
    assert any(elsewhere(body) for elsewhere in Overrides.trial)
    assert "Latency " in describe_latency(session)
    assert "inside the support" in describe_balance(session)
    actions = len(bpy.data.actions)
    assert bpy.ops.exciting_dance.capture_keep() == {"FINISHED"}
    assert len(bpy.data.actions) == actions + 1
    action = body.animation_data.action
    assert action.name == "Take"
    assert played_trial(body) == "Take"
    scene = bpy.context.scene
    assert [scene.frame_start, scene.frame_end] == [1, np.ceil(action.frame_range[1] - 1e-3)]
    curve = next(c for c in curves_of(body) if LINK in c.data_path and c.array_index == frame.axis)
    assert len(curve.keyframe_points) == FRAMES
    assert curve.keyframe_points[-1].co[1] == pytest.approx(-frame.sign * 0.5, abs=0.02)
    assert bpy.ops.exciting_dance.capture() == {"FINISHED"}
    assert Capture.session is None
    assert not any(elsewhere(body) for elsewhere in Overrides.trial)


def test_stopping_a_capture_leaves_nothing_behind(body: bpy.types.Object, sent: list[bytes]) -> None:
    """Stopping without a recording restores the bones' pose and ends all processes."""
    before = [list(map(list, bone.matrix_basis)) for bone in body.pose.bones]
    Capture.start(bpy.context, body)
    session = Capture.session
    until(session, lambda: bool(session.state))
    send(sent[:20])
    until(session, lambda: session.pose is not None)
    folder = session._folder
    Capture.stop(wait=True)
    assert [list(map(list, bone.matrix_basis)) for bone in body.pose.bones] == before
    assert not folder.exists()
    with pytest.raises(ProcessLookupError):
        os.kill(session.process.pid, 0)


def test_streams_from_other_machines_need_online_access(body: bpy.types.Object) -> None:
    """An address beyond this machine, or an LSL stream, is an error while Blender is offline."""
    assert not bpy.app.online_access
    settings = capture_settings(bpy.context.scene)
    for name, value in (("address", "0.0.0.0"), ("lsl", "Qualisys")):
        setattr(settings, name, value)
        with pytest.raises(RuntimeError, match="Allow Online Access"):
            bpy.ops.exciting_dance.capture()
        assert Capture.session is None
        settings.property_unset(name)


def test_empty_take_is_an_error(body: bpy.types.Object) -> None:
    """Keeping a recording without a stream is an error with a message, and adds no action."""
    bpy.ops.exciting_dance.capture()
    session = Capture.session
    until(session, lambda: bool(session.state))
    bpy.ops.exciting_dance.capture_record()
    with pytest.raises(RuntimeError, match="no stream arrived"):
        bpy.ops.exciting_dance.capture_keep()
    assert not bpy.data.actions


@pytest.mark.parametrize("line", [None, b"", b"[]", b"{}", b'{"kind": "pose"}', b'{"kind": "pose", "rotations": 3}'])
def test_invalid_response_becomes_an_error_message(line: bytes | None) -> None:
    """A line that is not a response becomes an error response instead of an exception."""
    assert parse_response(line).kind == "error"


def test_marker_error_is_a_curve(body: bpy.types.Object, tmp_path: Path) -> None:
    """The RMS marker error of each frame is a key of one property; frames without markers have no key."""
    path = tmp_path / "walk.markers.csv"
    path.write_text("time [s],A [m],B [m]\n0.0,0.003,0.004\n0.5,,\n1.0,0.002,\n")
    made = bpy.data.actions.new("walk")
    made.slots.new(id_type="OBJECT", name=body.name)
    key_marker_errors(bpy.context.scene, body, made, path)
    body.animation_data_create().action = made
    body.animation_data.action_slot = made.slots[0]
    curve = next(each for each in curves_of(body) if ERROR_KEY in each.data_path)
    keys = [(point.co[0], round(point.co[1], 6)) for point in curve.keyframe_points]
    assert keys == [(1.0, 0.003536), (25.0, 0.002)]
