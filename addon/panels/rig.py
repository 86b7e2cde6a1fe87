"""Panel Rig with the subpanel Robot Details."""

from __future__ import annotations

import bpy

from ..bpy_access import layout as layout_of
from ..properties import study_settings
from ..scene_rigs import active_rig
from .base import DancePanel
from .messages import draw_job, draw_message, draw_rig_problem, draw_wrapped


class EXCITING_DANCE_PT_rig(DancePanel, bpy.types.Panel):  # type: ignore[misc]
    """The rig of the scene"""

    bl_label = "Rig"
    bl_order = 0

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the panel."""
        layout, body = layout_of(self), active_rig(context)
        if body is None:
            _draw_new_rig(context, layout)
        else:
            from ..inertials import total_mass

            weighs = "" if (mass := total_mass(body)) is None else f", {mass:.1f} kg"
            text = f"{body.name}: {len(body.data.bones)} links{weighs}"
            draw_wrapped(context, layout.column(align=True), text, icon="OUTLINER_OB_ARMATURE")
            draw_rig_problem(context, layout, body)
            row = layout.row(align=True)
            row.label(text="Joint Limits")
            row.operator("exciting_dance.limits", text="Enforce").enforce = True
            row.operator("exciting_dance.limits", text="Ignore").enforce = False
        draw_job(layout, "rig")
        draw_message(context, layout, "rig")
        if body is not None:
            header, another = layout.panel("exciting_dance_another_rig", default_closed=True)
            header.label(text="Another Rig")
            if another is not None:
                _draw_new_rig(context, another)


def _draw_new_rig(context: bpy.types.Context, layout: bpy.types.UILayout) -> None:
    """Draw the settings for a new rig."""
    settings, column = study_settings(context), layout.column()
    column.use_property_split, column.use_property_decorate = True, False
    column.prop(settings, "kind")
    if settings.kind == "human":
        person = column.column(align=True)
        person.prop(settings, "height")
        person.prop(settings, "mass")
        person.prop(settings, "sex")
    elif settings.kind == "urdf":
        column.prop(settings, "urdf")
        column.prop(settings, "packages")
        column.prop(settings, "up")
    column.operator("exciting_dance.import_rig", icon="ARMATURE_DATA")


class EXCITING_DANCE_PT_stated(DancePanel, bpy.types.Panel):  # type: ignore[misc]
    """Data that a robot's file lacks"""

    bl_label = "Robot Details"
    bl_parent_id = "EXCITING_DANCE_PT_rig"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the panel."""
        layout, settings = layout_of(self), study_settings(context)
        layout.use_property_split, layout.use_property_decorate = True, False
        for name in ("stated_feet", "stated_soles", "stated_patches", "stated_torques", "stated_pairs", "stated_srdf"):
            layout.prop(settings, name)
        layout.operator("exciting_dance.state_rig", icon="GREASEPENCIL")


CLASSES = (EXCITING_DANCE_PT_rig, EXCITING_DANCE_PT_stated)
