"""Panel Fixed-Base Arm, for rigs without feet."""

from __future__ import annotations

import bpy

from ..base.bpy_access import layout as layout_of
from ..base.bpy_access import scene
from ..base.option_fields import labelled
from ..base.scene_rigs import active_rig
from ..base.solver_api import ExcitingOptions
from ..panels.base import DancePanel
from ..panels.messages import draw_fields, tall_row
from .properties import fixed_base_settings


class EXCITING_DANCE_PT_fixed_base(DancePanel, bpy.types.Panel):  # type: ignore[misc]
    """Exciting motion of an arm with a fixed base"""

    bl_label = "Fixed-Base Arm"
    bl_order = 1

    @classmethod
    def has_content(cls, context: bpy.types.Context) -> bool:
        """Whether there is an active rig without feet."""
        body = active_rig(context)
        if body is None:
            return False
        from ..scene.armature import rig_of, rig_problem

        return not rig_problem(body) and not rig_of(body).soles

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the panel."""
        layout, settings = layout_of(self), fixed_base_settings(scene(context))
        drives = ["drives"] if settings.measured == "torques" else []
        draw_fields(layout, settings, "seconds", "measured", *drives, "held")
        row = tall_row(layout)
        row.operator("exciting_dance.excite", icon="CON_ARMATURE")


class EXCITING_DANCE_PT_fixed_base_limits(DancePanel, bpy.types.Panel):  # type: ignore[misc]
    """Limits of the search, and output folder"""

    bl_label = "Limits and Results"
    bl_parent_id = "EXCITING_DANCE_PT_fixed_base"

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the panel."""
        layout, settings = layout_of(self), fixed_base_settings(scene(context))
        draw_fields(layout, settings, *(name for name in labelled(ExcitingOptions) if name != "seconds"), "output")


CLASSES = (EXCITING_DANCE_PT_fixed_base, EXCITING_DANCE_PT_fixed_base_limits)
