"""Panel Live Check: results while the user works."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy

from ..base.bpy_access import layout as layout_of
from ..base.bpy_access import scene
from ..base.scene_rigs import active_rig
from ..display.properties import AUTHOR, study_settings
from ..live.control import LiveCheck
from ..live.properties import live_settings
from .base import DancePanel
from .messages import draw_wrapped, tall_row

if TYPE_CHECKING:
    from ..live.session import CheckSession

LISTED_FAILURES = 6
"""Largest number of listed failures."""
TEXT_WIDTH = 0.82
"""Fraction of the width for a text beside a button."""

DISPLAY_PROPERTIES = (
    "show_balance",
    "show_links",
    "show_words",
    "show_timeline",
    "show_excitation",
)
"""Properties that enable single overlays."""


class EXCITING_DANCE_PT_live(DancePanel, bpy.types.Panel):  # type: ignore[misc]
    """Checks of the dance while you work"""

    bl_label = "Live Check"
    bl_order = 2

    @classmethod
    def has_content(cls, context: bpy.types.Context) -> bool:
        """Whether the check runs, or may be started: in Author, with a rig."""
        return LiveCheck.session is not None or (
            study_settings(context).mode == AUTHOR and active_rig(context) is not None
        )

    def draw_header_preset(self, context: bpy.types.Context) -> None:
        """Draw the button in the header, so that it is visible while the panel is closed."""
        on = LiveCheck.session is not None
        layout_of(self).operator("exciting_dance.live", text="", icon="PAUSE" if on else "PLAY", emboss=False)

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the panel."""
        layout, session = layout_of(self), LiveCheck.session
        settings = live_settings(scene(context))
        row = tall_row(layout)
        row.operator("exciting_dance.live", icon="PAUSE" if session else "PLAY", depress=session is not None)
        if session is not None:
            _draw_state(context, layout, session)
            _draw_failures(context, layout, session)
        header, body = layout.panel("exciting_dance_live_shown", default_closed=True)
        header.label(text="Overlays")
        if body is not None:
            grid = body.grid_flow(columns=2, even_columns=True, align=True)
            for name in DISPLAY_PROPERTIES:
                grid.prop(settings, name, toggle=True)
        if session is not None and session.results is not None:
            _draw_notes(context, layout, session.results.notes)


def _draw_state(context: bpy.types.Context, layout: bpy.types.UILayout, session: CheckSession) -> None:
    """Draw progress or error."""
    from ..live.session import STEPPING_NOTE, describe_progress

    if session.problem:
        draw_wrapped(context, layout.box().column(align=True), session.problem, icon="ERROR")
        return
    readings = session.results
    if session.needs_stepping:
        draw_wrapped(context, layout.column(align=True), STEPPING_NOTE, icon="INFO")
        layout.operator("exciting_dance.live_check_all", icon="FILE_REFRESH")
        if readings is None:
            return
    if readings is not None and not readings.message and readings.checked < len(readings.frames):
        layout.progress(factor=readings.checked / max(len(readings.frames), 1), text=describe_progress(readings))
        return
    good = readings is not None and not readings.message and not readings.worst
    icon: Any = "CHECKMARK" if good else "INFO" if readings is None else "ERROR"
    draw_wrapped(context, layout.column(align=True), describe_progress(readings), icon=icon)


def _draw_failures(context: bpy.types.Context, layout: bpy.types.UILayout, session: CheckSession) -> None:
    """Draw the worst frame of every failed check, with a button that goes to it."""
    from ..scene.action import frames_at

    readings = session.results
    if readings is None or not readings.worst:
        return
    column = layout.box().column(align=True)
    for worst in readings.worst_first()[:LISTED_FAILURES]:
        row = column.split(factor=TEXT_WIDTH, align=True)
        draw_wrapped(context, row.column(align=True), worst.margin.text, icon="NONE", width_fraction=TEXT_WIDTH)
        frame = round(float(frames_at(scene(context), readings.timeline.times[worst.index])))
        row.operator("exciting_dance.jump_frame", text=str(frame)).frame = frame
        column.separator(factor=0.5)


def _draw_notes(context: bpy.types.Context, layout: bpy.types.UILayout, notes: tuple[str, ...]) -> None:
    """Draw which checks are impossible for this rig."""
    column = layout.column(align=True)
    column.active = False
    for note in notes:
        draw_wrapped(context, column, note, icon="INFO")


CLASSES = (EXCITING_DANCE_PT_live,)
