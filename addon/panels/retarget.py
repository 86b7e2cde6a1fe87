"""Panel Retarget: how an armature's motion is put on another body."""

from __future__ import annotations

import bpy

from ..base.bpy_access import layout as layout_of
from ..base.option_fields import labelled
from ..base.scene_rigs import find_source
from ..base.solver_api import RetargetOptions
from ..display.properties import AUTHOR, study_settings
from .base import DancePanel
from .messages import draw_fields


class EXCITING_DANCE_PT_retarget(DancePanel, bpy.types.Panel):  # type: ignore[misc]
    """Motion of an armature on another body"""

    bl_label = "Retarget"
    bl_order = 1
    modes = (AUTHOR,)

    @classmethod
    def has_content(cls, context: bpy.types.Context) -> bool:
        """Whether there is an armature whose motion can be retargeted."""
        return find_source(context) is not None

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the panel."""
        layout, settings = layout_of(self), study_settings(context)
        draw_fields(layout, settings, "follow_repaired", *labelled(RetargetOptions), "follow_forces")
        layout.operator("exciting_dance.retarget", icon="MOD_ARMATURE")


CLASSES = (EXCITING_DANCE_PT_retarget,)
