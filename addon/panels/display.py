"""Panel Display: overlays, legend and place of the ghost."""

from __future__ import annotations

import bpy

from ..authoring.properties import dance_settings
from ..base.bpy_access import layout as layout_of
from ..base.bpy_access import require, scene
from ..base.scene_rigs import active_rig
from ..display.properties import AUTHOR, study_settings
from .base import RigPanel


class EXCITING_DANCE_PT_display(RigPanel, bpy.types.Panel):  # type: ignore[misc]
    """Colours and overlays of the body"""

    bl_label = "Display"
    bl_order = 9

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the panel."""
        from ..authoring.ghost import find_ghost
        from ..scene.skin import has_link_materials, is_skin

        layout, settings, body = layout_of(self), study_settings(context), require(active_rig(context), "rig")
        if settings.mode == AUTHOR:  # in Research it is in the panel Results
            layout.prop(settings, "quantity")
            if find_ghost(scene(context), body) is not None:
                layout.row().prop(dance_settings(context), "ghost_place", expand=True)
        layout.prop(settings, "overlay")
        if any(is_skin(child) for child in body.children):
            layout.prop(settings, "soft_borders")
        if any(has_link_materials(child) for child in body.children):
            layout.operator("exciting_dance.restore_materials", icon="MATERIAL")
        grid = layout.grid_flow(columns=2, even_columns=True, align=True)
        for name in ("show_com", "show_support", "show_forces", "show_momentum", "show_markers"):
            grid.prop(settings, name, toggle=True)
        layout.operator("exciting_dance.ellipsoids", icon="MESH_UVSPHERE")


CLASSES = (EXCITING_DANCE_PT_display,)
