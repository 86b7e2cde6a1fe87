"""Panel: Live. What the check says while you work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy

from ..live.properties import live_settings
from ..live.switch import Live
from ..scene_rigs import rig_in
from ..typed import known_by, scene
from ..typed import layout as layout_of
from .messages import write
from .tab import Tab

if TYPE_CHECKING:
    from ..live.session import Session

LISTED = 6
"""Failures in the list."""
WORDS = 0.82
"""Share of the width that words beside a button have."""

SHOWN = (
    "show_balance",
    "show_forces",
    "show_arc",
    "show_links",
    "show_words",
    "show_timeline",
    "show_excitation",
)
"""What is drawn, if wanted."""


class EXCITING_DANCE_PT_live(Tab, bpy.types.Panel):  # type: ignore[misc]
    """Live."""

    bl_label = "Live"
    bl_order = 0  # those of one order stand as they were registered: after what authors the dance
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """With a rig, or while one is checked."""
        return rig_in(context) is not None or Live.session is not None

    def draw_header_preset(self, context: bpy.types.Context) -> None:
        """The button, also while the panel is folded."""
        on = Live.session is not None
        layout_of(self).operator("exciting_dance.live", text="", icon="PAUSE" if on else "PLAY", emboss=False)

    def draw(self, context: bpy.types.Context) -> None:
        """Draw."""
        layout, session = layout_of(self), Live.session
        settings = live_settings(scene(context))
        row = layout.row()
        row.scale_y = 1.3
        row.operator("exciting_dance.live", icon="PAUSE" if session else "PLAY", depress=session is not None)
        meant = rig_in(context)
        own = session is not None and (meant is None or known_by(meant) == session.body)
        if session is not None and meant is not None and not own:
            layout.label(text=f"Another rig is checked, not {meant.name}", icon="INFO")
            layout.operator("exciting_dance.live_restart", text=f"Check {meant.name}", icon="FILE_REFRESH")
        elif session is not None:
            _state(context, layout, session)
            _failures(context, layout, session)
        header, body = layout.panel("exciting_dance_live_shown", default_closed=True)
        header.label(text="What Is Drawn")
        if body is not None:
            grid = body.grid_flow(columns=2, even_columns=True, align=True)
            for name in SHOWN:
                grid.prop(settings, name, toggle=True)
        if own and session is not None and session.readings is not None:
            _notes(context, layout, session.readings.notes)


def _state(context: bpy.types.Context, layout: bpy.types.UILayout, session: Session) -> None:
    """How far it is, or what went wrong."""
    from ..live.session import STEPS
    from ..live.words import progress

    if session.trouble:
        box = layout.box()
        write(context, box.column(align=True), session.trouble, icon="ERROR")
        box.operator("exciting_dance.live_restart", icon="FILE_REFRESH")
        return
    readings = session.readings
    if session.steps:
        write(context, layout.column(align=True), STEPS, icon="INFO")
        layout.operator("exciting_dance.live_check_all", icon="FILE_REFRESH")
        if readings is None:
            return
    if readings is not None and not readings.message and readings.checked < len(readings.frames):
        layout.progress(factor=readings.checked / max(len(readings.frames), 1), text=progress(readings))
        return
    good = readings is not None and not readings.message and not readings.worst
    icon: Any = "CHECKMARK" if good else "INFO" if readings is None else "ERROR"
    write(context, layout.column(align=True), progress(readings), icon=icon)


def _failures(context: bpy.types.Context, layout: bpy.types.UILayout, session: Session) -> None:
    """The worst frame of every check that fails, and the way there."""
    import numpy as np

    from ..action import frames_at

    readings = session.readings
    if readings is None or not readings.worst:
        return
    column = layout.box().column(align=True)
    for worst in readings.worst_first()[:LISTED]:
        row = column.split(factor=WORDS, align=True)
        write(context, row.column(align=True), worst.margin.said, icon="NONE", share=WORDS)
        time = float(readings.timeline.times[worst.index])
        row.operator(
            "exciting_dance.live_jump", text=f"{float(frames_at(scene(context), np.array(time))):.0f}"
        ).time = time
        column.separator(factor=0.5)


def _notes(context: bpy.types.Context, layout: bpy.types.UILayout, notes: tuple[str, ...]) -> None:
    """What this rig cannot be checked for."""
    column = layout.column(align=True)
    column.active = False
    for note in notes:
        write(context, column, note, icon="INFO")


CLASSES = (EXCITING_DANCE_PT_live,)
