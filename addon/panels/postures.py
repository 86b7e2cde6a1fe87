"""Panel Postures."""

from __future__ import annotations

from typing import Any, ClassVar

import bpy

from ..authoring.posture_cache import summarise_postures
from ..authoring.properties import ROLES, dance_settings
from ..base.bpy_access import require, scene
from ..base.scene_rigs import active_rig
from .base import AuthorPanel
from .messages import tall_row

ROLE_ICONS: dict[str, Any] = {role: icon for role, _, _, icon, _ in ROLES}


class EXCITING_DANCE_PT_postures(AuthorPanel, bpy.types.Panel):  # type: ignore[misc]
    """Postures and their roles"""

    bl_label = "Postures"
    bl_options: ClassVar[set[str]] = set()  # type: ignore[misc, assignment]
    bl_order = 1

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the panel."""
        from ..authoring.keying import current_frame

        layout, settings, body = (
            require(self.layout, "layout"),
            dance_settings(context),
            require(active_rig(context), "rig"),
        )
        postures = summarise_postures(body)
        row = tall_row(layout)
        key = row.operator("exciting_dance.key_posture", icon="KEY_HLT")
        key.role, key.between = settings.role, settings.between
        row.prop(settings, "role", text="")
        role = postures.role_at(current_frame(scene(context)))
        row = layout.row(align=True)
        row.operator("exciting_dance.jump_posture", text="", icon="PREV_KEYFRAME").forward = False
        if role:
            row.prop(settings, "posture_name", text="", icon=ROLE_ICONS[role], placeholder=f"{role} posture")
        else:
            field = row.row(align=True)
            field.alignment = "CENTER"
            field.label(text="between postures")
        row.operator("exciting_dance.jump_posture", text="", icon="NEXT_KEYFRAME").forward = True
        header, between = layout.panel("exciting_dance_inbetweens", default_closed=True)
        header.label(text=f"Keyed Frames: {len(postures.roles)}")
        if between is not None:
            row = between.row(align=True)
            row.active = postures.up_to_date
            for name, count in postures.counts.items():
                row.label(text=str(count), icon=ROLE_ICONS[name])
            row = between.row(align=True)
            here = row.operator("exciting_dance.set_role", text="Set Role Here")
            here.role, here.selected = settings.role, False
            chosen = row.operator("exciting_dance.set_role", text="On Selected Keys")
            chosen.role, chosen.selected = settings.role, True
            between.prop(settings, "between")
            row = between.row(align=True)
            row.operator("exciting_dance.clear_inbetweens", text="Clear All").selected = False
            row.operator("exciting_dance.clear_inbetweens", text="Clear Selected").selected = True


CLASSES = (EXCITING_DANCE_PT_postures,)
