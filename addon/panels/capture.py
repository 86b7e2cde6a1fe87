"""Panel Capture: live motion."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy

from ..base.bpy_access import layout as layout_of
from ..base.bpy_access import scene
from ..base.scene_rigs import active_rig
from ..capture.control import Capture, CaptureSettings, capture_settings, find_calibration
from ..display.properties import RESEARCH
from .base import DancePanel
from .messages import draw_fields, draw_wrapped, tall_row

if TYPE_CHECKING:
    from ..capture.session import CaptureSession


class EXCITING_DANCE_PT_capture(DancePanel, bpy.types.Panel):  # type: ignore[misc]
    """Live motion from a stream"""

    bl_label = "Capture"
    bl_parent_id = "EXCITING_DANCE_PT_recording"
    modes = (RESEARCH,)

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the panel."""
        layout, session = layout_of(self), Capture.session
        settings = capture_settings(scene(context))
        row = tall_row(layout)
        text = "Stop Capture" if session else "Start Capture"
        row.operator("exciting_dance.capture", text=text, icon="PAUSE" if session else "PLAY")
        if session is None:
            _draw_subject(context, layout)
        else:
            _draw_recording(row, layout, session, settings)
            _draw_readout(context, layout, session, settings)


class EXCITING_DANCE_PT_stream(DancePanel, bpy.types.Panel):  # type: ignore[misc]
    """Source of the stream"""

    bl_label = "Stream"
    bl_parent_id = "EXCITING_DANCE_PT_capture"

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the panel."""
        layout, settings = layout_of(self), capture_settings(scene(context))
        layout.enabled = Capture.session is None
        draw_fields(layout, settings, "address", "port", "lsl", "budget")
        column = layout.column(align=True)
        if not bpy.app.online_access:
            column.active = False
            draw_wrapped(context, column, "Blender is offline: only streams from this computer are received",
                  icon="INTERNET_OFFLINE")  # fmt: skip


def _draw_subject(context: bpy.types.Context, layout: bpy.types.UILayout) -> None:
    """Draw which rig will be moved, and by which data."""
    body = active_rig(context)
    column = layout.column(align=True)
    if body is None:
        draw_wrapped(context, column, "Add or select a rig first", icon="INFO")
        return
    by = "markers, segments or joint values" if find_calibration(body) else "segments or joint values"
    draw_wrapped(context, column, f"{body.name} will be moved by {by}", icon="ARMATURE_DATA")
    if not find_calibration(body):
        draw_wrapped(
            context, column, "To use markers, track a static trial first, which gives their locations", icon="INFO"
        )


def _draw_recording(
    row: bpy.types.UILayout, layout: bpy.types.UILayout, session: CaptureSession, settings: CaptureSettings
) -> None:
    if session.recording:
        row.operator("exciting_dance.capture_keep", icon="CHECKMARK")
        row.operator("exciting_dance.capture_discard", text="", icon="X")
        layout.label(text=f"{settings.take}: {session.state.get('recorded', 0)} samples", icon="RECORD_ON")
    else:
        row.operator("exciting_dance.capture_record", icon="RECORD_OFF")
        layout.prop(settings, "take", text="")


def _draw_readout(
    context: bpy.types.Context, layout: bpy.types.UILayout, session: CaptureSession, settings: CaptureSettings
) -> None:
    """Draw state, latency, marker error and balance, and recent messages."""
    from ..capture.session import describe_balance, describe_latency, describe_marker_error, describe_stream

    box = layout.box()
    column = box.column(align=True)
    column.alert = bool(session.end_reason)
    draw_wrapped(context, column, describe_stream(session, settings.source), icon="ERROR" if column.alert else "PLUGIN")
    if session.end_reason:
        return
    if session.pose is None:
        column.operator("exciting_dance.replay", icon="FILE_REFRESH")
    else:
        draw_wrapped(context, column, describe_latency(session), icon="TIME")
        if error := describe_marker_error(session):
            draw_wrapped(context, column, error, icon="EMPTY_AXIS")
        draw_wrapped(context, column, describe_balance(session), icon="CON_FLOOR")
        draw_wrapped(context, column, session.state.get("sentence", ""), icon="SORTTIME")
    for message in session.messages:
        draw_wrapped(context, column, message, icon="INFO")


CLASSES = (EXCITING_DANCE_PT_capture, EXCITING_DANCE_PT_stream)
