"""Panel Check and Repair."""

from __future__ import annotations

import bpy

from ..authoring.properties import dance_settings
from ..base.bpy_access import require
from .base import AuthorPanel
from .messages import tall_row


class EXCITING_DANCE_PT_check(AuthorPanel, bpy.types.Panel):  # type: ignore[misc]
    """Check and repair of the dance"""

    bl_label = "Check and Repair"
    bl_order = 3

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the panel."""
        layout, settings = require(self.layout, "layout"), dance_settings(context)
        tall_row(layout).operator("exciting_dance.check_dance", icon="VIEWZOOM")
        column = layout.column(align=True)
        column.operator("exciting_dance.balance_dance", icon="CON_FLOOR")
        row = column.row(align=True)
        row.operator("exciting_dance.complete_dance", icon="KEYTYPE_BREAKDOWN_VEC")
        row.prop(settings, "interpolate", toggle=True)
        row = column.row(align=True)
        row.operator("exciting_dance.slow_dance", icon="TIME")
        row.prop(settings, "dynamics", toggle=True)


CLASSES = (EXCITING_DANCE_PT_check,)
