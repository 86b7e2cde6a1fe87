"""Panel: Live. What the check says while you work."""

from __future__ import annotations

import bpy
import numpy as np

from ..action import frames_at
from ..armature import rig_in
from ..live.properties import live_settings
from ..live.session import STEPS, Session
from ..live.switch import Live
from ..live.watch import known_by
from ..live.words import progress
from ..typed import layout as layout_of
from ..typed import scene
from .sidebar import Tab

LISTED = 6
"""Failures in the list."""
WIDE, NARROW = 46, 28
"""Letters in a line of the panel, and in one beside a button."""


class EXCITING_DANCE_PT_live(Tab, bpy.types.Panel):  # type: ignore[misc]
    """Live."""

    bl_label = "Live"
    bl_order = 0  # those of one order stand as they were registered: after what authors the dance

    def draw(self, context: bpy.types.Context) -> None:
        """Draw."""
        layout, session = layout_of(self), Live.session
        settings = live_settings(scene(context))
        row = layout.row()
        row.scale_y = 1.3
        row.operator("exciting_dance.live", icon="PAUSE" if session else "PLAY", depress=session is not None)
        if session is not None:
            _other(layout, context, session)
            _state(layout, session)
            _failures(layout, scene(context), session)
        grid = layout.grid_flow(columns=2, even_columns=True, align=True)
        for name in ("show_balance", "show_forces", "show_links", "show_words", "show_timeline", "show_excitation"):
            grid.prop(settings, name, toggle=True)
        if session is not None and session.readings is not None:
            _notes(layout, session.readings.notes)


def _other(layout: bpy.types.UILayout, context: bpy.types.Context, session: Session) -> None:
    """Say so where another rig is meant now than the one that is checked."""
    meant = rig_in(context)
    if meant is not None and known_by(meant) != session.body:
        layout.label(text=f"Not of {meant.name}", icon="INFO")
        layout.operator("exciting_dance.live_restart", text=f"Check {meant.name}", icon="FILE_REFRESH")


def _state(layout: bpy.types.UILayout, session: Session) -> None:
    """How far it is, or what went wrong."""
    if session.trouble:
        box = layout.box()
        for index, words in enumerate(_wrapped(session.trouble)):
            box.label(text=words, icon="BLANK1" if index else "ERROR")
        box.operator("exciting_dance.live_restart", icon="FILE_REFRESH")
        return
    readings = session.readings
    if session.steps:
        for index, words in enumerate(_wrapped(STEPS)):
            layout.label(text=words, icon="BLANK1" if index else "INFO")
        layout.operator("exciting_dance.live_check_all", icon="FILE_REFRESH")
        if readings is None:
            return
    if readings is not None and not readings.message and readings.checked < len(readings.frames):
        layout.progress(factor=readings.checked / max(len(readings.frames), 1), text=progress(readings))
        return
    good = readings is not None and not readings.message and not readings.worst
    layout.label(text=progress(readings), icon="CHECKMARK" if good else "INFO" if readings is None else "ERROR")


def _failures(layout: bpy.types.UILayout, where: bpy.types.Scene, session: Session) -> None:
    """The worst frame of every check that fails, and the way there."""
    readings = session.readings
    if readings is None or not readings.worst:
        return
    column = layout.box().column(align=True)
    for worst in readings.worst_first()[:LISTED]:
        row = column.split(factor=0.8, align=True)
        words = row.column(align=True)
        for line in _wrapped(worst.margin.said, NARROW):
            words.label(text=line)
        time = float(readings.timeline.times[worst.index])
        row.operator("exciting_dance.live_jump", text=f"{float(frames_at(where, np.array(time))):.0f}").time = time


def _notes(layout: bpy.types.UILayout, notes: tuple[str, ...]) -> None:
    """What this rig cannot be checked for."""
    column = layout.column(align=True)
    column.active = False
    for note in notes:
        for index, words in enumerate(_wrapped(note)):
            column.label(text=words, icon="BLANK1" if index else "INFO")


def _wrapped(text: str, wide: int = WIDE) -> list[str]:
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + len(word) > wide:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


CLASSES = (EXCITING_DANCE_PT_live,)
