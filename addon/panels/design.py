"""Subpanel Design of Author."""

from __future__ import annotations

import bpy

from ..authoring.properties import dance_settings
from ..base.bpy_access import require
from ..base.option_fields import labelled
from ..base.solver_api import DanceOptions
from ..display.properties import AUTHOR
from .base import DancePanel


class EXCITING_DANCE_PT_design(DancePanel, bpy.types.Panel):  # type: ignore[misc]
    """Design of a new dance"""

    bl_label = "Design"
    bl_order = 4
    modes = (AUTHOR,)
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the panel."""
        layout, settings = require(self.layout, "layout"), dance_settings(context)
        layout.use_property_split, layout.use_property_decorate = True, False
        column = layout.column(align=True)
        column.prop(settings, "postures")
        column.prop(settings, "effort")
        for name in labelled(DanceOptions):
            column.prop(settings, name)
        column = layout.column(align=True)
        column.prop(settings, "emphasise")
        if settings.emphasise != "none":
            column.prop(settings, "factor")
        layout.prop(settings, "posed")
        row = layout.row(align=True)

        row.scale_y = 1.3
        row.operator("exciting_dance.design_dance", icon="OUTLINER_DATA_ARMATURE")
        row.operator("exciting_dance.open_dance", text="", icon="FILE_FOLDER")


CLASSES = (EXCITING_DANCE_PT_design,)
