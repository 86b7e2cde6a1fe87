"""Panel Rig with the subpanel Robot Details."""

from __future__ import annotations

import bpy

from ..base.bpy_access import layout as layout_of
from ..base.scene_rigs import active_rig
from ..display.properties import RESEARCH, SceneSettings, study_settings
from ..interface.next_step import find_next_step
from .base import DancePanel
from .messages import draw_fields, draw_wrapped


class EXCITING_DANCE_PT_rig(DancePanel, bpy.types.Panel):  # type: ignore[misc]
    """The active rig, and settings of a new one"""

    bl_label = "Rig"
    bl_order = 10

    @classmethod
    def has_content(cls, context: bpy.types.Context) -> bool:
        """Whether the top of the tab does not show the settings of a new rig."""
        return active_rig(context) is not None or study_settings(context).mode == RESEARCH

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the panel."""
        layout, body, settings = layout_of(self), active_rig(context), study_settings(context)
        if body is not None:
            from ..scene.armature import count_links
            from ..scene.inertials import total_mass

            weighs = "" if (mass := total_mass(body)) is None else f", {mass:.1f} kg"
            text = f"{body.name}: {count_links(body)} links{weighs}"
            draw_wrapped(context, layout.column(align=True), text, icon="OUTLINER_OB_ARMATURE")
            row = layout.row(align=True)
            row.label(text="Joint Limits")
            row.operator("exciting_dance.limits", text="Enforce").enforce = True  # type: ignore[attr-defined]
            row.operator("exciting_dance.limits", text="Ignore").enforce = False  # type: ignore[attr-defined]
        step = find_next_step(context)
        layout.label(text="New Rig")
        draw_new_rig(layout, settings, with_person=step is None or step.operator not in ("identify", "track"))
        layout.operator("exciting_dance.import_rig", icon="ADD")


def draw_new_rig(layout: bpy.types.UILayout, settings: SceneSettings, *, with_person: bool = True) -> None:
    """Draw the settings of a new rig; ``with_person``: unless the top of the tab shows those of a person."""
    draw_fields(layout, settings, "kind")
    if settings.kind == "human" and with_person:
        draw_person(layout, settings)
    elif settings.kind == "urdf":
        draw_fields(layout, settings, "packages", "up")


def draw_person(layout: bpy.types.UILayout, settings: SceneSettings, *, weighs: bool = False) -> None:
    """Draw height, mass and sex of a person; ``weighs``: the mass only if force plates do not determine it."""
    column = draw_fields(layout, settings, "height", "sex", *(["weigh"] if weighs else []))
    if not weighs or not settings.weigh:
        column.prop(settings, "mass")


class EXCITING_DANCE_PT_stated(DancePanel, bpy.types.Panel):  # type: ignore[misc]
    """Data that a robot's file lacks"""

    bl_label = "Robot Details"
    bl_parent_id = "EXCITING_DANCE_PT_rig"

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the panel."""
        layout, settings = layout_of(self), study_settings(context)
        names = ("stated_feet", "stated_soles", "stated_patches", "stated_torques", "stated_pairs", "stated_srdf")
        draw_fields(layout, settings, *names)
        layout.operator("exciting_dance.state_rig", icon="GREASEPENCIL")


CLASSES = (EXCITING_DANCE_PT_rig, EXCITING_DANCE_PT_stated)
