"""Panel: Retarget. One armature's motion danced by another rig."""

from __future__ import annotations

import bpy

from ..operators.retarget import followed
from ..properties import SCENE, settings_of
from ..typed import layout as layout_of
from .messages import running, said, write
from .tab import Tab


class EXCITING_DANCE_PT_retarget(Tab, bpy.types.Panel):  # type: ignore[misc]
    """Retarget."""

    bl_label = "Retarget"
    bl_order = 3  # those of one order stand as they were registered: after what is seen of a recording
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    def draw(self, context: bpy.types.Context) -> None:
        """Draw."""
        layout, settings, source = layout_of(self), settings_of(context), followed(context)
        words = "Select the armature whose motion is to be followed" if source is None else f"{source.name} is followed"
        write(context, layout.column(align=True), words, icon="INFO" if source is None else "ARMATURE_DATA")
        layout.use_property_split, layout.use_property_decorate = True, False
        column = layout.column(align=True)
        column.prop(settings, "follows")
        if settings.follows == SCENE:
            column.prop(settings, "follower")
        column.prop(settings, "follow_beside")
        column = layout.column(align=True)
        column.prop(settings, "follow_repaired")
        column.prop(settings, "follow_pace")
        column.prop(settings, "follow_overlaps")
        column.prop(settings, "follow_broken_steps")
        column = layout.column(align=True)
        column.prop(settings, "follow_slower")
        column.prop(settings, "follow_forces")
        row = layout.row()
        row.scale_y = 1.3
        row.operator("exciting_dance.retarget", icon="MOD_ARMATURE")
        running(layout, "retarget")
        said(context, layout, "retarget")


CLASSES = (EXCITING_DANCE_PT_retarget,)
