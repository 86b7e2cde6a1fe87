"""Panel Display: trials, colours, overlays and legend."""

from __future__ import annotations

import bpy

from ..bpy_access import layout as layout_of
from ..bpy_access import require, scene
from ..colours import QUANTITIES
from ..properties import study_settings
from ..scene_rigs import active_rig
from .base import DancePanel


class EXCITING_DANCE_PT_see(DancePanel, bpy.types.Panel):  # type: ignore[misc]
    """Display of the results"""

    bl_label = "Display"
    bl_order = 3

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Whether there is an active rig."""
        return active_rig(context) is not None

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the panel."""
        from ..inertials import describe_result
        from ..legend import find_legends
        from ..skin import is_skin
        from ..study import find_trials, played_trial

        layout, settings, body = layout_of(self), study_settings(context), require(active_rig(context), "rig")
        playing = played_trial(body)
        column = layout.column(align=True)
        for name in find_trials(body):
            column.operator("exciting_dance.trial", text=name, icon="PLAY", depress=name == playing).name = name
        for index, words in enumerate(describe_result(body)):
            layout.label(text=words, icon="BLANK1" if index else "INFO")
        if playing:
            layout.operator("exciting_dance.reduce_keys", icon="KEYFRAME")
        grid = layout.grid_flow(columns=2, even_columns=True, align=True)
        for name in QUANTITIES:
            grid.prop_enum(settings, "quantity", name)
        layout.prop(settings, "overlay")
        if any(is_skin(child) for child in body.children):
            layout.prop(settings, "soft_borders")
        grid = layout.grid_flow(columns=2, even_columns=True, align=True)
        for name in ("show_com", "show_support", "show_forces", "show_momentum", "show_markers"):
            grid.prop(settings, name, toggle=True)
        row = layout.row(align=True)
        text = "Remove Legend" if find_legends(scene(context)) else "Add Legend"
        row.operator("exciting_dance.legend", text=text, icon="COLOR")
        row.operator("exciting_dance.ellipsoids", icon="MESH_UVSPHERE")
        layout.operator("exciting_dance.picture", icon="RENDER_STILL")


CLASSES = (EXCITING_DANCE_PT_see,)
