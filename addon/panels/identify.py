"""Panel Identify with the subpanel Method."""

from __future__ import annotations

import bpy

from ..bpy_access import layout as layout_of
from ..properties import study_settings
from .base import DancePanel
from .messages import draw_job, draw_message


class EXCITING_DANCE_PT_identify(DancePanel, bpy.types.Panel):  # type: ignore[misc]
    """Tracking and identification"""

    bl_label = "Identify"
    bl_order = 2

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the panel."""
        layout, settings = layout_of(self), study_settings(context)
        layout.use_property_split, layout.use_property_decorate = True, False
        column = layout.column(align=True)
        column.prop(settings, "height")
        column.prop(settings, "sex")
        column = layout.column(align=True)
        column.prop(settings, "weigh")
        if not settings.weigh:
            column.prop(settings, "mass")
        layout.prop(settings, "smooth")
        row = layout.row(align=True)
        row.scale_y = 1.3
        row.operator("exciting_dance.track", icon="CON_FOLLOWPATH")
        row.operator("exciting_dance.identify", icon="PHYSICS")
        draw_job(layout, "study")
        draw_message(context, layout, "study")
        row = layout.row(align=True)
        row.operator("exciting_dance.report", text="Report", icon="URL")
        row.operator("exciting_dance.open_study", text="Open Results", icon="FILE_FOLDER")


class EXCITING_DANCE_PT_identify_how(DancePanel, bpy.types.Panel):  # type: ignore[misc]
    """Method of the identification, and output folder"""

    bl_label = "Method"
    bl_parent_id = "EXCITING_DANCE_PT_identify"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the panel."""
        layout, settings = layout_of(self), study_settings(context)
        layout.use_property_split, layout.use_property_decorate = True, False
        for name in ("trunk", "shoulders", "method", "flight_only", "bootstrap", "output"):
            layout.prop(settings, name)


CLASSES = (EXCITING_DANCE_PT_identify, EXCITING_DANCE_PT_identify_how)
