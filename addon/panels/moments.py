"""Panel Joint Moments: inverse dynamics of recordings."""

from __future__ import annotations

import bpy

from ..bpy_access import layout as layout_of
from ..bpy_access import require
from ..properties import RESEARCH, study_settings
from ..scene_rigs import active_rig
from .base import TrialPanel
from .messages import draw_job, draw_message


class EXCITING_DANCE_PT_moments(TrialPanel, bpy.types.Panel):  # type: ignore[misc]
    """Joint moments by inverse dynamics, as curves and as arcs at the joints"""

    bl_label = "Joint Moments"
    bl_order = 5
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012
    modes = (RESEARCH,)

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the panel."""
        from ..joint_moments import find_moments_file

        layout, settings, body = layout_of(self), study_settings(context), require(active_rig(context), "rig")
        row = layout.row(align=True)
        row.scale_y = 1.3
        row.operator("exciting_dance.moments", icon="FORCE_TURBULENCE")
        draw_job(layout, "moments")
        draw_message(context, layout, "moments")
        row = layout.row()
        row.active = find_moments_file(body) is not None
        row.prop(settings, "show_moments", toggle=True)


CLASSES = (EXCITING_DANCE_PT_moments,)
