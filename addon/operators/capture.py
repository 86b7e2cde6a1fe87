"""Operators of live capture: start, stop, record to an action, and replay a recording."""

from __future__ import annotations

import time

import bpy

from ..base import redraw
from ..base.bpy_access import Status, require, scene
from ..base.solver_api import errors
from ..base.transaction import all_or_nothing
from ..capture.control import Capture, capture_settings
from ..display.properties import study_settings
from .base import AtomicOperator, PolledOperator, find_rig_problem, report_error, require_active_rig

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


class EXCITING_DANCE_OT_capture_keep(PolledOperator, bpy.types.Operator):
    """Stop recording and add the take to the rig as an action"""

    bl_idname = "exciting_dance.capture_keep"
    bl_label = "Keep"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    @classmethod
    def find_problem(cls, context: bpy.types.Context) -> str:
        return NO_RECORDING if Capture.session is None or not Capture.session.recording else ""

    def execute(self, context: bpy.types.Context) -> Status:
        session = require(Capture.session, "capture")
        session.take_error = ""
        session.write_take(capture_settings(scene(context)).take or "Take")
        self._deadline = time.monotonic() + WRITE_TIMEOUT
        if bpy.app.background:
            while (status := self._poll_take(context)) is None:
                time.sleep(POLL_INTERVAL)
                session.tick()
            return status
        manager = context.window_manager
        self._timer = manager.event_timer_add(POLL_INTERVAL, window=context.window)
        manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> Status:
        """Check at every timer event whether the take is written."""
        if event.type != "TIMER":
            return {"PASS_THROUGH"}
        status = self._poll_take(context)
        if status is None:
            return {"PASS_THROUGH"}
        context.window_manager.event_timer_remove(self._timer)
        redraw.redraw_views()
        return status

    def _poll_take(self, context: bpy.types.Context) -> Status | None:
        """Status when the take is finished; None while it is being written."""
        session = Capture.session
        try:
            if session is None or session.end_reason:
                raise errors.Cancelled(
                    session.end_reason if session else "the capture was stopped, nothing was recorded"
                )
            if session.take_error:
                raise errors.InvalidValue(session.take_error)
            if session.written_take is None:
                if time.monotonic() > self._deadline:
                    raise errors.BackendError("the take was not written in time")
                return None
            message = session.written_take.message
            with all_or_nothing():
                made = session.add_action(context)
            self.report({"INFO"}, f"{made.name}: {message}")
            return {"FINISHED"}
        except errors.SolverError as error:
            return report_error(self, error)


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
