"""Operators of live capture: start, stop, record to an action, and replay a recording."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import bpy

from ..base.bpy_access import require, scene
from ..base.solver_api import errors
from ..capture.control import Capture, capture_settings
from ..display.properties import study_settings
from ..jobs.job import JobOperator
from ..jobs.job_messages import JobMessage
from .base import AtomicOperator, find_rig_problem, require_active_rig

WRITE_TIMEOUT = 60.0
"""[s] Time limit for writing a take; an hour of recording takes less."""
POLL_INTERVAL = 0.05
NO_CAPTURE, NO_RECORDING = "Start the capture first", "Nothing is being recorded: use Record first"


class EXCITING_DANCE_OT_capture(AtomicOperator, bpy.types.Operator):
    """Start or stop moving the rig by a live stream of markers, segments or joint values"""

    bl_idname = "exciting_dance.capture"
    bl_label = "Capture"

    @classmethod
    def find_problem(cls, context: bpy.types.Context) -> str:
        session = Capture.session
        if session is None:
            return find_rig_problem(context)
        return "Keep or discard the recording first" if session.recording else ""

    def run(self, context: bpy.types.Context) -> None:
        if Capture.session is not None:
            Capture.stop()
        else:
            Capture.start(context, require_active_rig(context))


class EXCITING_DANCE_OT_capture_record(AtomicOperator, bpy.types.Operator):
    """Start recording"""

    bl_idname = "exciting_dance.capture_record"
    bl_label = "Record"

    @classmethod
    def find_problem(cls, context: bpy.types.Context) -> str:
        session = Capture.session
        if session is None or not session.process.running:
            return NO_CAPTURE
        return "A recording is running already" if session.recording else ""

    def run(self, context: bpy.types.Context) -> None:
        require(Capture.session, "capture").record()


class EXCITING_DANCE_OT_capture_discard(AtomicOperator, bpy.types.Operator):
    """Discard the recording"""

    bl_idname = "exciting_dance.capture_discard"
    bl_label = "Discard"

    @classmethod
    def find_problem(cls, context: bpy.types.Context) -> str:
        return NO_RECORDING if Capture.session is None or not Capture.session.recording else ""

    def run(self, context: bpy.types.Context) -> None:
        require(Capture.session, "capture").discard()


class EXCITING_DANCE_OT_capture_keep(JobOperator, bpy.types.Operator):
    """Stop recording and add the take to the rig as an action"""

    bl_idname = "exciting_dance.capture_keep"
    bl_label = "Keep"
    title, panel, shows_success = "Writing the take", "capture", False

    @classmethod
    def find_problem(cls, context: bpy.types.Context) -> str:
        return NO_RECORDING if Capture.session is None or not Capture.session.recording else ""

    def steps(self, context: bpy.types.Context) -> Iterator[float]:
        self._capture = session = require(Capture.session, "capture")
        session.take_error, stop = "", time.monotonic() + WRITE_TIMEOUT
        session.write_take(capture_settings(scene(context)).take or "Take")
        while session.written_take is None:
            if session is not Capture.session or session.end_reason:
                raise errors.Cancelled(session.end_reason or "the capture was stopped, nothing was recorded")
            if session.take_error:
                raise errors.InvalidValue(session.take_error)
            if time.monotonic() > stop:
                raise errors.BackendError("the take was not written in time")
            if bpy.app.background:  # where no timer runs
                time.sleep(POLL_INTERVAL)
                session.tick()
            yield 0.0

    def arguments(self, context: bpy.types.Context, folder: Path) -> None:
        return None

    def apply(self, context: bpy.types.Context, folder: Path) -> JobMessage:
        said = require(self._capture.written_take, "take").message
        return JobMessage(f"{self._capture.add_action(context).name}: {said}")


class EXCITING_DANCE_OT_replay(AtomicOperator, bpy.types.Operator):
    """Stream the listed recording to this capture repeatedly, to try it without hardware"""

    bl_idname = "exciting_dance.replay"
    bl_label = "Replay Recording"

    @classmethod
    def find_problem(cls, context: bpy.types.Context) -> str:
        if not len(study_settings(context).files):
            return "No recording is listed: drop its files onto the 3D view"
        return NO_CAPTURE if Capture.session is None else ""

    def run(self, context: bpy.types.Context) -> None:
        settings = study_settings(context)
        chosen = settings.files[min(settings.file_index, len(settings.files) - 1)]
        Capture.replay(context, [bpy.path.abspath(chosen.path)], "")


CLASSES = (
    EXCITING_DANCE_OT_capture,
    EXCITING_DANCE_OT_capture_record,
    EXCITING_DANCE_OT_capture_discard,
    EXCITING_DANCE_OT_capture_keep,
    EXCITING_DANCE_OT_replay,
)
