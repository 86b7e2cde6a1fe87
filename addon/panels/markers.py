"""Panel Markers: marker locations for approval."""

from __future__ import annotations

from typing import Any

import bpy

from ..base.bpy_access import layout as layout_of
from ..base.bpy_access import scene
from ..display.properties import study_settings
from ..scene.marker_list import MarkerListRow, active_row, is_uncertain, marker_list
from .base import DancePanel, SimpleList
from .messages import draw_wrapped, tall_row


class EXCITING_DANCE_UL_markers(SimpleList, bpy.types.UIList):  # type: ignore[misc]
    """Markers with their locations."""

    bl_idname = "EXCITING_DANCE_UL_markers"

    def draw_row(self, layout: bpy.types.UILayout, item: Any) -> None:
        """Draw a row."""
        row = layout.row(align=True)
        row.prop(item, "use", text="")
        parts = row.split(factor=0.34)
        parts.active = item.use
        parts.label(text=item.name)
        parts = parts.split(factor=0.7)
        parts.label(text=item.place or "no location")
        if is_uncertain(item):
            parts.label(text=f"{100.0 * item.confidence:.0f}", icon="ERROR")
        else:
            share = f"{100.0 * item.confidence:.0f}"
            parts.label(
                text="certain" if share == "100" else f"{share} %"
            )  # "100 %" is too wide and would be truncated


class EXCITING_DANCE_PT_markers(DancePanel, bpy.types.Panel):  # type: ignore[misc]
    """Locations of the recorded markers"""

    bl_label = "Markers"
    bl_parent_id = "EXCITING_DANCE_PT_recording"

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the panel."""
        layout, settings, markers = layout_of(self), study_settings(context), marker_list(scene(context))
        layout.prop(settings, "marker_set")
        text = "Recognise Again" if len(markers.rows) else "Recognise Markers"
        layout.operator("exciting_dance.find_markers", text=text, icon="VIEWZOOM")
        if not len(markers.rows):
            return
        used, look = sum(row.use for row in markers.rows), sum(map(is_uncertain, markers.rows))
        words = f"{used} of {len(markers.rows)} markers used" + (f", {look} to check" if look else "")
        if used:
            layout.label(text=words, icon="ERROR" if look else "CHECKMARK")
        else:
            draw_wrapped(
                context,
                layout.column(align=True),
                "Choose locations of some markers, best on every limb, then recognise again",
                icon="INFO",
            )
        layout.template_list("EXCITING_DANCE_UL_markers", "", markers, "rows", markers, "index", rows=8)
        if (row := active_row(scene(context))) is not None:
            _draw_active_marker(context, layout, row)
        ticks = layout.row(align=True)
        ticks.label(text="Use")
        for which, text in (("sure", "Certain"), ("all", "All"), ("none", "None")):
            ticks.operator("exciting_dance.tick_markers", text=text).which = which  # type: ignore[attr-defined]
        saving = tall_row(layout)
        saving.operator("exciting_dance.save_markers", icon="FILE_TICK")


def _draw_active_marker(context: bpy.types.Context, layout: bpy.types.UILayout, row: MarkerListRow) -> None:
    """Draw the active marker with its location, the reason for it, and alternatives."""
    box = layout.box()
    box.prop(row, "place", text=row.name)
    if row.because:
        draw_wrapped(
            context, box.column(align=True), f"Confidence {100.0 * row.confidence:.0f} %: {row.because}", icon="INFO"
        )
    for other in row.others.splitlines():
        box.operator("exciting_dance.place_marker", text=f"Use {other} instead", icon="BONE_DATA").where = other  # type: ignore[attr-defined]


CLASSES = (EXCITING_DANCE_UL_markers, EXCITING_DANCE_PT_markers)
