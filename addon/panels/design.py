"""Subpanel Design of Author."""

from __future__ import annotations

import bpy

from ..authoring.properties import dance_settings
from ..bpy_access import require
from ..scene_rigs import active_rig
from .base import DancePanel


class EXCITING_DANCE_PT_design(DancePanel, bpy.types.Panel):  # type: ignore[misc]
    """Design of a new dance"""

    bl_label = "Design"
    bl_parent_id = "EXCITING_DANCE_PT_author"
    bl_order = 0
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the panel."""
        layout, settings, body = require(self.layout, "layout"), dance_settings(context), active_rig(context)
        layout.use_property_split, layout.use_property_decorate = True, False
        column = layout.column(align=True)
        column.prop(settings, "postures")
        column.prop(settings, "shortest")
        column.prop(settings, "hold")
        column.prop(settings, "passes")
        column = layout.column(align=True)
        column.prop(settings, "emphasis")
        if settings.emphasis != "none":
            column.prop(settings, "factor")
        column.row().prop(settings, "objective", expand=True)
        if body is not None:
            layout.prop(settings, "posed")
        column = layout.column(align=True)
        column.prop(settings, "counted")
        if settings.counted:
            column.prop(settings, "bpm")
            column.prop(settings, "skill")
            column.prop(settings, "mirrored")
        column = layout.column(align=True)
        column.prop(settings, "effort")
        column.prop(settings, "seed")
        draw_design_buttons(layout)
        if body is None:
            layout.label(text="For the new rig set under Rig", icon="ARMATURE_DATA")


def draw_design_buttons(layout: bpy.types.UILayout) -> None:
    """Draw the buttons that design or open a dance."""
    row = layout.row(align=True)
    row.scale_y = 1.3
    row.operator("exciting_dance.design_dance", icon="OUTLINER_DATA_ARMATURE")
    row.operator("exciting_dance.open_dance", text="", icon="FILE_FOLDER")


CLASSES = (EXCITING_DANCE_PT_design,)
