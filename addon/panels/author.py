"""Panel Author: the rig's dance and its ghost."""

from __future__ import annotations

import bpy

from ..authoring.properties import dance_settings
from ..bpy_access import require, scene
from ..custom_properties import read_label
from ..scene_rigs import active_rig
from .base import DancePanel
from .design import draw_design_buttons
from .messages import draw_job, draw_message, draw_rig_problem, draw_wrapped


class EXCITING_DANCE_PT_author(DancePanel, bpy.types.Panel):  # type: ignore[misc]
    """The rig's dance, its ghost, and the running job"""

    bl_label = "Author"
    bl_order = 0
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012  # if open, it would hide the message of Identify

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the panel."""
        layout, body = require(self.layout, "layout"), active_rig(context)
        if body is None:
            layout.label(text="Add or select a rig first", icon="INFO")
        else:
            action = body.animation_data.action if body.animation_data else None
            draw_rig_problem(context, layout, body)
            if action:
                layout.label(text=action.name, icon="ACTION")
            else:
                text = "Nothing is keyed yet: design a dance, or key postures"
                draw_wrapped(context, layout.column(align=True), text, icon="ACTION")
                draw_design_buttons(layout)
            _draw_ghost(context, layout, body)
        draw_job(layout, "dance")
        draw_message(context, layout, "dance")


def _draw_ghost(context: bpy.types.Context, layout: bpy.types.UILayout, body: bpy.types.Object) -> None:
    """Draw the buttons for the rig's ghost, if there is one."""
    from ..authoring.ghost import OPERATION_KEY, find_ghost

    ghost = find_ghost(scene(context), body)
    if ghost is not None:
        box = layout.box()
        row = box.row()
        row.label(text=f"Ghost, {read_label(ghost, OPERATION_KEY)}", icon="GHOST_ENABLED")
        box.row().prop(dance_settings(context), "ghost_place", expand=True)
        row = box.row(align=True)
        row.scale_y = 1.3
        row.operator("exciting_dance.apply_ghost", icon="CHECKMARK")
        row.operator("exciting_dance.discard_ghost", icon="X")


CLASSES = (EXCITING_DANCE_PT_author,)
