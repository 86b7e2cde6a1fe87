"""Panel Retarget: an armature's motion on another rig."""

from __future__ import annotations

import bpy

from ..base.bpy_access import layout as layout_of
from ..base.option_fields import labelled
from ..base.solver_api import RetargetOptions
from ..display.properties import AUTHOR, SCENE_RIG, study_settings
from ..operators.retarget import find_source
from .base import DancePanel
from .messages import draw_wrapped


class EXCITING_DANCE_PT_retarget(DancePanel, bpy.types.Panel):  # type: ignore[misc]
    """Motion of an armature on another rig"""

    bl_label = "Retarget"
    bl_parent_id = "EXCITING_DANCE_PT_design"
    modes = (AUTHOR,)
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    @classmethod
    def has_content(cls, context: bpy.types.Context) -> bool:
        """Whether there is an armature whose motion can be retargeted."""
        return find_source(context) is not None

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the panel."""
        layout, settings, source = layout_of(self), study_settings(context), find_source(context)
        text = "Select the armature whose motion to retarget" if source is None else f"Source: {source.name}"
        draw_wrapped(context, layout.column(align=True), text, icon="INFO" if source is None else "ARMATURE_DATA")
        layout.use_property_split, layout.use_property_decorate = True, False
        column = layout.column(align=True)
        column.prop(settings, "follows")
        if settings.follows == SCENE_RIG:
            column.prop(settings, "follower")
        column.prop(settings, "follow_beside")
        column = layout.column(align=True)
        column.prop(settings, "follow_repaired")
        for name in labelled(RetargetOptions):
            column.prop(settings, name)
        column.prop(settings, "follow_forces")
        row = layout.row()
        row.scale_y = 1.3
        row.operator("exciting_dance.retarget", icon="MOD_ARMATURE")


CLASSES = (EXCITING_DANCE_PT_retarget,)
