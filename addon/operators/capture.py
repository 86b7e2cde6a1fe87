"""Live motion on and off, recorded to an action, and a recording replayed to try it."""

from __future__ import annotations

import time

import bpy

from .. import redraw
from ..bpy_access import Status, require, scene
from ..capture.control import Capture
from ..capture.properties import capture_settings
from ..properties import study_settings
from ..solver_api import errors
from ..transaction import all_or_nothing
from .base import AtomicOperator, find_rig_problem, report_error, require_active_rig

WRITE_TIMEOUT = 60.0
"""[s] A take of an hour is written in less."""
POLL_INTERVAL = 0.05


class EXCITING_DANCE_OT_capture(AtomicOperator, bpy.types.Operator):
    """Move the rig by a live stream of markers, segments or joint values; again: stop"""

    bl_idname = "exciting_dance.capture"
    bl_label = "Capture"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        session = Capture.session
        why = "" if session is not None else find_rig_problem(context)
        if session is not None and session.recording:
            why = "Keep the recording first, or discard it"
        if why:
            cls.poll_message_set(why)
        return not why

    def run(self, context: bpy.types.Context) -> Status:
        if Capture.session is not None:
            Capture.stop()
        else:
            Capture.start(context, require_active_rig(context))
        return {"FINISHED"}


class EXCITING_DANCE_OT_capture_record(AtomicOperator, bpy.types.Operator):
    """Record what comes from now on"""

    bl_idname = "exciting_dance.capture_record"
    bl_label = "Record"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        session = Capture.session
        return session is not None and not session.recording and session.process.running

    def run(self, context: bpy.types.Context) -> Status:
        require(Capture.session, "capture").record()
        return {"FINISHED"}


class EXCITING_DANCE_OT_capture_discard(AtomicOperator, bpy.types.Operator):
    """Forget what was recorded"""

    bl_idname = "exciting_dance.capture_discard"
    bl_label = "Discard"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return Capture.session is not None and Capture.session.recording

    def run(self, context: bpy.types.Context) -> Status:
        require(Capture.session, "capture").discard()
        return {"FINISHED"}


class EXCITING_DANCE_OT_capture_keep(bpy.types.Operator):
    """End the recording and give it to the rig as an action"""

    bl_idname = "exciting_dance.capture_keep"
    bl_label = "Keep"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return Capture.session is not None and Capture.session.recording

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
        """Look now and then whether the take is written."""
        if event.type != "TIMER":
            return {"PASS_THROUGH"}
        status = self._poll_take(context)
        if status is None:
            return {"PASS_THROUGH"}
        context.window_manager.event_timer_remove(self._timer)
        redraw.redraw_views()
        return status

    def _poll_take(self, context: bpy.types.Context) -> Status | None:
        """How it ended; None as long as the take is being written."""
        session = Capture.session
        try:
            if session is None or session.end_reason:
                raise errors.Cancelled(session.end_reason if session else "the capture was stopped, nothing was kept")
            if session.take_error:
                raise errors.InvalidValue(session.take_error)
            if session.written_take is None:
                if time.monotonic() > self._deadline:
                    raise errors.BackendError("the take was not written in time")
                return None
            words = session.written_take.message
            with all_or_nothing():
                made = session.add_action(context)
            self.report({"INFO"}, f"{made.name}: {words}")
            return {"FINISHED"}
        except errors.SolverError as error:
            return report_error(self, error)


class EXCITING_DANCE_OT_replay(AtomicOperator, bpy.types.Operator):
    """Send the listed recording to this capture again and again, as if it were measured now: to try it"""

    bl_idname = "exciting_dance.replay"
    bl_label = "Replay Recording"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not len(study_settings(context).files):
            cls.poll_message_set("No recording: drop its files onto the 3D view")
            return False
        return Capture.session is not None

    def run(self, context: bpy.types.Context) -> Status:
        settings = study_settings(context)
        chosen = settings.files[min(settings.file_index, len(settings.files) - 1)]
        Capture.replay(context, [bpy.path.abspath(chosen.path)], "")
        return {"FINISHED"}


CLASSES = (
    EXCITING_DANCE_OT_capture,
    EXCITING_DANCE_OT_capture_record,
    EXCITING_DANCE_OT_capture_discard,
    EXCITING_DANCE_OT_capture_keep,
    EXCITING_DANCE_OT_replay,
)
