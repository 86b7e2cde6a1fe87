"""Panel: Capture. Live motion."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy

from ..capture.properties import CaptureSettings, capture_settings
from ..capture.switch import Capture, calibration_of
from ..scene_rigs import rig_in
from ..typed import layout as layout_of
from ..typed import scene
from .messages import write
from .tab import Tab

if TYPE_CHECKING:
    from ..capture.session import CaptureSession


class EXCITING_DANCE_PT_capture(Tab, bpy.types.Panel):  # type: ignore[misc]
    """Capture."""

    bl_label = "Capture"
    bl_order = 1  # those of one order stand as they were registered: after the recordings
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    def draw(self, context: bpy.types.Context) -> None:
        """Draw."""
        layout, session = layout_of(self), Capture.session
        settings = capture_settings(scene(context))
        row = layout.row(align=True)
        row.scale_y = 1.3
        text = "Stop Capture" if session else "Start Capture"
        row.operator("exciting_dance.capture", text=text, icon="PAUSE" if session else "PLAY")
        if session is None:
            _whom(context, layout)
        else:
            _record(row, layout, session, settings)
            _read_out(context, layout, session, settings)
        grid = layout.grid_flow(columns=2, even_columns=True, align=True)
        for name in ("show_markers", "show_balance"):
            grid.prop(settings, name, toggle=True)


class EXCITING_DANCE_PT_stream(Tab, bpy.types.Panel):  # type: ignore[misc]
    """Where the stream comes from."""

    bl_label = "Stream"
    bl_parent_id = "EXCITING_DANCE_PT_capture"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    def draw(self, context: bpy.types.Context) -> None:
        """Draw."""
        layout, settings = layout_of(self), capture_settings(scene(context))
        layout.enabled = Capture.session is None
        layout.use_property_split, layout.use_property_decorate = True, False
        for name in ("address", "port", "lsl", "budget"):
            layout.prop(settings, name)
        column = layout.column(align=True)
        if not bpy.app.online_access:
            column.active = False
            write(context, column, "Blender is offline: streams of this computer alone (127.0.0.1) are followed",
                  icon="INTERNET_OFFLINE")  # fmt: skip


def _whom(context: bpy.types.Context, layout: bpy.types.UILayout) -> None:
    """Whom it will follow, and by what."""
    body = rig_in(context)
    column = layout.column(align=True)
    if body is None:
        write(context, column, "Add or select a rig first", icon="INFO")
        return
    by = "markers, segments or joint values" if calibration_of(body) else "segments or joint values"
    write(context, column, f"{body.name} will follow {by}", icon="ARMATURE_DATA")
    if not calibration_of(body):
        write(context, column, "For markers track a static trial first: it tells where they sit", icon="INFO")


def _record(
    row: bpy.types.UILayout, layout: bpy.types.UILayout, session: CaptureSession, settings: CaptureSettings
) -> None:
    if session.recording:
        row.operator("exciting_dance.capture_keep", icon="CHECKMARK")
        row.operator("exciting_dance.capture_discard", text="", icon="X")
        layout.label(text=f"{settings.take}: {session.state.get('recorded', 0)} samples", icon="RECORD_ON")
    else:
        row.operator("exciting_dance.capture_record", icon="RECORD_OFF")
        layout.prop(settings, "take", text="")


def _read_out(
    context: bpy.types.Context, layout: bpy.types.UILayout, session: CaptureSession, settings: CaptureSettings
) -> None:
    """What comes, how late, how well, how balanced, and what was noticed."""
    from ..capture import words

    box = layout.box()
    column = box.column(align=True)
    if session.trouble:
        column.alert = True
        write(context, column, session.trouble, icon="ERROR")
        return
    place = settings.lsl or f"{settings.address}:{settings.port}"
    write(context, column, words.stream(session, place), icon="PLUGIN")
    if session.pose is None:
        column.operator("exciting_dance.replay", icon="FILE_REFRESH")
    else:
        write(context, column, words.latency(session), icon="TIME")
        if said := words.error(session):
            write(context, column, said, icon="EMPTY_AXIS")
        write(context, column, words.balance(session), icon="CON_FLOOR")
        write(context, column, session.state.get("sentence", ""), icon="SORTTIME")
    for message in session.told:
        write(context, column, message, icon="INFO")


CLASSES = (EXCITING_DANCE_PT_capture, EXCITING_DANCE_PT_stream)
