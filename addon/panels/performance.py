"""Panel Output, with the comparison of a performance."""

from __future__ import annotations

from typing import Any

import bpy

from ..authoring.properties import dance_settings
from ..base.bpy_access import layout as layout_of
from ..base.bpy_access import require, scene
from ..base.scene_rigs import active_rig
from ..jobs.job_messages import find_message
from .base import RigPanel, SimpleList, capitalised_name
from .messages import draw_fields


class EXCITING_DANCE_UL_joints(SimpleList, bpy.types.UIList):  # type: ignore[misc]
    """Joints with their performance errors, worst first."""

    bl_idname = "EXCITING_DANCE_UL_joints"

    def draw_row(self, layout: bpy.types.UILayout, item: Any) -> None:
        """Draw a row."""
        split = layout.split(factor=0.6)
        split.label(text=capitalised_name(item.name))
        row = split.row()
        row.enabled = False
        row.prop(item, "rmse", text="", emboss=False)
        row.prop(item, "gain", text="", emboss=False)


class EXCITING_DANCE_PT_output(RigPanel, bpy.types.Panel):  # type: ignore[misc]
    """The dance for robots, performers and papers"""

    bl_label = "Output"
    bl_order = 8

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the panel."""
        layout = layout_of(self)
        layout.operator("exciting_dance.export_dance", text="Export Joint Angles", icon="EXPORT")
        layout.operator("exciting_dance.picture", icon="RENDER_STILL")


class EXCITING_DANCE_PT_perform(RigPanel, bpy.types.Panel):  # type: ignore[misc]
    """Comparison of the dance with a performance"""

    bl_label = "Compare"
    bl_parent_id = "EXCITING_DANCE_PT_output"

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the panel."""
        from ..authoring.performance import PANEL

        layout, settings = require(self.layout, "layout"), dance_settings(context)
        draw_fields(layout, settings, "performed", "trial")
        layout.operator("exciting_dance.compare_performance", icon="ARROW_LEFTRIGHT")
        numbers = find_message(scene(context), active_rig(context), PANEL)
        if numbers is not None:
            layout.label(text="Joint, RMS error, amplitude ratio")
            layout.template_list("EXCITING_DANCE_UL_joints", "", numbers, "joints", numbers, "joint_index", rows=5)


CLASSES = (EXCITING_DANCE_UL_joints, EXCITING_DANCE_PT_output, EXCITING_DANCE_PT_perform)
