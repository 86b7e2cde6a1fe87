"""Subpanel Design of Author."""

from __future__ import annotations

import bpy

from ..authoring.properties import dance_settings
from ..base.bpy_access import require
from ..base.option_fields import labelled
from ..base.solver_api import DanceOptions
from ..display.properties import AUTHOR
from .base import DancePanel
from .messages import draw_fields, tall_row


class EXCITING_DANCE_PT_design(DancePanel, bpy.types.Panel):  # type: ignore[misc]
    """Design of a new dance"""

    bl_label = "Design"
    bl_order = 4
    modes = (AUTHOR,)

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the panel."""
        layout, settings = require(self.layout, "layout"), dance_settings(context)
        draw_fields(layout, settings, "postures", "effort", *labelled(DanceOptions), "posed")
        row = tall_row(layout)
        row.operator("exciting_dance.design_dance", icon="OUTLINER_DATA_ARMATURE")
        row.operator("exciting_dance.open_dance", text="", icon="FILE_FOLDER")


CLASSES = (EXCITING_DANCE_PT_design,)
