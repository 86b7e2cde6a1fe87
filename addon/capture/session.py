"""One live capture: a child process tracks a stream, its poses move the rig, and its state is shown in the panel."""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import bpy

from ..base import redraw
from ..base.bpy_access import find_by_session_id, session_id
from ..base.convert import transform_motion
from ..base.interpreter import Interpreter
from ..base.option_fields import use_field_labels
from ..base.solver_api import MOTION, ScenePose, errors, parse_json_line, remove_locked_folder, scene_pose, study_folder
from ..display.study import BODY_KEY, TRIAL_KEY, show_trial
from ..jobs.child_process import ServerProcess
from ..jobs.job import create_job_folder
from ..scene.action import add_motion_action
from ..scene.pose_writer import PoseWriter, read_pose, restore_pose

MAX_BYTES = 1 << 22
"""Longest response [bytes]; ordinary ones have some thousand."""
KINDS = ("pose", "state", "note", "kept", "error")
SHOWN_MESSAGES = 4
"""Number of recent messages that the panel shows."""
LATENCY_WEIGHT = 0.1
"""Weight of the newest value in the displayed mean latency."""
QUANTITIES = {"markers": "markers", "segments": "segments", "joints": "joint values"}


@dataclass(frozen=True, slots=True)
class CaptureResponse:
    """One response.

    Attributes:
        kind: one of `KINDS`.
        pose: the pose of ``"pose"``.
        state: numbers and texts of ``"state"``.
        message: message for the user.
        folder, name: of a take that was written.
    """

    kind: str
    pose: ScenePose | None = None
    state: Mapping[str, Any] = field(default_factory=dict)
    message: str = ""
    folder: str = ""
    name: str = ""


def parse_response(line: bytes | None) -> CaptureResponse:
    """Parse a line; None stands for a line that is too long."""
    try:
        tree = parse_json_line(line if line is not None else b"")
        if not isinstance(tree, Mapping) or tree.get("kind") not in KINDS:
            raise errors.InvalidValue("not a response of the capture")
        kind = str(tree["kind"])
        if kind == "pose":
            return CaptureResponse(kind, pose=scene_pose(tree))
        if kind == "state":
            return CaptureResponse(kind, state=dict(tree))
        words = use_field_labels(str(tree.get("message", "")))
        return CaptureResponse(kind, message=words, folder=str(tree.get("folder", "")), name=str(tree.get("name", "")))
    except errors.SolverError as error:
        return CaptureResponse("error", message=f"The capture sent an invalid response ({error})")


class CaptureProcess(ServerProcess[CaptureResponse, dict]):
    """``python -m solver capture --serve``."""

    def __init__(self, interpreter: Interpreter, arguments: tuple[str, ...]) -> None:
        self._requests: deque[dict] = deque()
        super().__init__(interpreter, arguments, parse_response, MAX_BYTES)

    def send(self, **request: object) -> None:
        """Queue a request; returns at once."""
        with self._changed:
            self._requests.append(request)
            self._changed.notify()

    def has_request(self) -> bool:
        return bool(self._requests)

    def next_request(self) -> dict:
        return self._requests.popleft()

    def encode_request(self, request: dict) -> bytes | None:
        return json.dumps(request).encode()


class CaptureSession:
    """Live capture of one rig in one scene.

    Attributes:
        body, scene: session ids.
        process: the child process that tracks the stream.
        pose: the pose that was displayed last; None before the first one.
        state: state of the stream, as reported by the process.
        messages: recent messages, newest last.
        end_reason: why the process ended; empty while it runs.
        recording: whether the stream is being recorded.
        written_take: the last take that was written but is not yet an action.
        take_error: why the last take could not be written; empty if it could.
        display_latency: [s] mean time from the arrival of a sample to the display of its pose.
    """

    def __init__(self, scene: bpy.types.Scene, body: bpy.types.Object, process: CaptureProcess) -> None:
        self.scene, self.body, self.process = session_id(scene), session_id(body), process
        self.pose: ScenePose | None = None
        self.state: dict[str, Any] = {}
        self.messages: deque[str] = deque(maxlen=SHOWN_MESSAGES)
        self.end_reason, self.recording = "", False
        self.written_take: CaptureResponse | None = None
        self.take_error = ""
        self.display_latency = 0.0
        self._pose_writer, self._initial_pose = PoseWriter(body), read_pose(body)
        self._folder, self._lock = create_job_folder()
        self._takes = 0

    def tick(self) -> None:
        """Read all responses and apply the newest pose.

        Raises:
            InvalidValue: the rig was deleted.
        """
        body = find_by_session_id(bpy.data.objects, self.body)
        newest: ScenePose | None = None
        changed = False
        for each in self.process.responses():
            newest = each.pose or newest
            changed |= each.kind != "pose"
            self._process_response(each)
        if newest is not None and body.mode != "EDIT":
            self._pose_writer.show(body, newest)
            self.pose = newest
            late = time.perf_counter() - newest.arrived
            self.display_latency = (
                late
                if self.display_latency == 0.0
                else (1.0 - LATENCY_WEIGHT) * self.display_latency + LATENCY_WEIGHT * late
            )
            redraw.redraw_views()
        if not self.process.running and not self.end_reason:
            self.end_reason = f"The capture ended: {self.process.failure}"
            changed = True
        if changed:
            redraw.redraw_sidebars()

    def record(self) -> None:
        """Start recording."""
        self.written_take, self.take_error, self.recording = None, "", True
        self.process.send(do="record")

    def discard(self) -> None:
        """Discard the recording."""
        self.recording = False
        self.process.send(do="drop")

    def write_take(self, name: str) -> None:
        """Stop recording and let the process write the take."""
        self._takes += 1
        self.recording = False
        self.process.send(do="keep", folder=str(self._folder / f"take {self._takes}"), name=name)

    def add_action(self, context: bpy.types.Context) -> bpy.types.Action:
        """Add the written take as an action of the rig, which starts at time zero.

        Raises:
            InputError: the take is damaged or missing.
            InvalidValue: the rig was deleted or changed.
        """
        assert self.written_take is not None
        taken, self.written_take = self.written_take, None
        body = find_by_session_id(bpy.data.objects, self.body)
        scene = find_by_session_id(bpy.data.scenes, self.scene)
        record = MOTION.read(Path(taken.folder) / f"{taken.name}{study_folder.MOTION_END}")
        made = add_motion_action(scene, body, transform_motion(body.matrix_world.inverted(), record.scene), taken.name)
        made.use_fake_user = True
        made[TRIAL_KEY], made[BODY_KEY] = made.name, body
        show_trial(context, body, made.name)
        return made

    def end(self, *, wait: bool = False) -> None:
        """End the process. Written takes stay; without one, the bones return to their initial pose."""
        self.process.end(wait=wait)
        if self._takes:
            self._lock.release()
        else:
            remove_locked_folder(self._folder, self._lock)
            body = next((item for item in bpy.data.objects if item.session_uid == self.body), None)
            if body is not None and body.mode != "EDIT":
                restore_pose(body, self._initial_pose)

    def _process_response(self, each: CaptureResponse) -> None:
        if each.kind == "state":
            self.state = dict(each.state)
        elif each.kind in ("note", "error"):
            self.messages.append(each.message)
            if each.kind == "error":
                self.take_error = each.message
        elif each.kind == "kept":
            self.written_take = each


def describe_stream(session: CaptureSession, source: str) -> str:
    """State of the stream, or why the capture ended."""
    state = session.state
    if session.end_reason:
        return session.end_reason
    if not state:
        return "Starting"
    if not state.get("quantity"):
        return f"Waiting for a stream on {source}"
    text = f"{state['names']} {QUANTITIES.get(state['quantity'], '')}"
    if state.get("ended"):
        return f"{text}: the stream has ended"
    return f"{text}: no data" if state.get("silent") else text


def describe_latency(session: CaptureSession) -> str:
    """Latency from datagram to pose, and to the display."""
    state = session.state
    own, worst = 1e3 * state.get("latency", 0.0), 1e3 * state.get("latency_99", 0.0)
    return f"Latency {own:.1f} ms (99 %: {worst:.0f} ms), display {1e3 * session.display_latency:.0f} ms"


def describe_balance(session: CaptureSession) -> str:
    """Distance of the zero-moment point from the edge of the support polygon."""
    pose = session.pose
    if pose is None or pose.margin is None:
        return "No foot on the floor"
    what = "CoM" if pose.zmp is None else "ZMP"
    side = "inside" if pose.margin >= 0.0 else "outside"
    return f"{what} {1e3 * abs(pose.margin):.0f} mm {side} the support polygon"


def describe_marker_error(session: CaptureSession) -> str:
    """RMS marker error; empty without markers."""
    pose = session.pose
    if pose is None:
        return ""
    if not pose.tracked:
        return "Too few markers: the last pose is kept"
    return "" if pose.error is None else f"Marker error {1e3 * pose.error:.1f} mm"
