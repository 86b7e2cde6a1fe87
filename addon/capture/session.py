"""One live capture: a child process tracks a stream, its poses move the rig, and its state is shown in the panel."""

from __future__ import annotations

import json
import time
from collections import deque
from pathlib import Path
from typing import Any

import bpy

from .. import redraw
from ..action import add_motion_action
from ..bpy_access import find_by_session_id, session_id
from ..child_process import ServerProcess
from ..convert import transform_motion
from ..interpreter import Interpreter
from ..jobs import create_job_folder
from ..pose_writer import PoseWriter, read_pose, restore_pose
from ..solver_api import MOTION, ScenePose, remove_locked_folder, study_folder
from ..study import BODY_KEY, TRIAL_KEY, show_trial
from .responses import MAX_BYTES, Response, parse_response

SHOWN_MESSAGES = 4
"""Number of recent messages that the panel shows."""
LATENCY_WEIGHT = 0.1
"""Weight of the newest value in the displayed mean latency."""


class CaptureProcess(ServerProcess[Response, dict]):
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
        self.written_take: Response | None = None
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

    def _process_response(self, each: Response) -> None:
        if each.kind == "state":
            self.state = dict(each.state)
        elif each.kind in ("note", "error"):
            self.messages.append(each.message)
            if each.kind == "error":
                self.take_error = each.message
        elif each.kind == "kept":
            self.written_take = each
