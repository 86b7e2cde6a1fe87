"""Panel Dynamics of identified recordings: centroidal estimates and joint moments."""

from __future__ import annotations

import bpy

from ..base.bpy_access import layout as layout_of
from ..base.bpy_access import require
from ..base.scene_rigs import active_rig
from ..display.properties import RESEARCH, study_settings
from .base import TrialPanel


class EXCITING_DANCE_PT_dynamics(TrialPanel, bpy.types.Panel):  # type: ignore[misc]
    """Centre of mass and angular momentum from motion and forces, and joint moments by inverse dynamics"""

    bl_label = "Dynamics"
    bl_order = 5
    modes = (RESEARCH,)

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the panel."""
        from ..display.centroidal_estimates import find_estimate_file
        from ..display.joint_moments import find_moments_file

        layout, settings, body = layout_of(self), study_settings(context), require(active_rig(context), "rig")
        row = layout.row(align=True)
        row.operator("exciting_dance.centroidal", text="Estimate Momentum", icon="FORCE_FORCE")
        row.prop(settings, "estimator", text="")
        grid = layout.grid_flow(columns=2, even_columns=True, align=True)
        grid.active = find_estimate_file(body) is not None
        for name in ("show_estimate", "show_axis", "show_spin", "show_sources", "show_flights"):
            grid.prop(settings, name, toggle=True)
        layout.operator("exciting_dance.moments", icon="FORCE_TURBULENCE")
        row = layout.row()
        row.active = find_moments_file(body) is not None
        row.prop(settings, "show_moments", toggle=True)


CLASSES = (EXCITING_DANCE_PT_dynamics,)
