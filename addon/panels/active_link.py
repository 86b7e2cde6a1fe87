"""Panel Active Link: inertial parameters of a bone."""

from __future__ import annotations

import bpy

from ..base.bpy_access import layout as layout_of
from ..base.bpy_access import require
from ..base.scene_rigs import active_rig
from ..base.solver_api import display_name
from ..display.properties import RESEARCH
from .base import DancePanel

MASS_TITLES = {"": "Mass", "prior_": "Prior Mass", "interval_": "± 95 %"}


class EXCITING_DANCE_PT_bone(DancePanel, bpy.types.Panel):  # type: ignore[misc]
    """Inertial parameters of the active bone"""

    bl_label = "Active Link"
    bl_order = 6
    modes = (RESEARCH,)

    @classmethod
    def has_content(cls, context: bpy.types.Context) -> bool:
        """Whether a bone with inertial parameters is active in Pose Mode."""
        body = active_rig(context) if context.mode == "POSE" else None
        return body is not None and body.data.bones.active is not None and "mass" in body.data.bones.active

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the panel."""
        from ..scene.inertials import read_bounds

        layout, body = layout_of(self), require(active_rig(context), "rig")
        bone = body.data.bones.active
        layout.label(text=display_name(bone.name).capitalize(), icon="BONE_DATA")
        layout.use_property_split, layout.use_property_decorate = True, False
        column = layout.column(align=True)
        for prefix, text in MASS_TITLES.items():
            if prefix + "mass" in bone:
                column.prop(bone, f'["{prefix}mass"]', text=text)
        layout.prop(bone, '["com"]', text="Centre of Mass")
        layout.prop(bone, '["inertia"]', text="Inertia")
        if "determined" in bone:
            layout.prop(bone, '["determined"]', text="Determined by Data")
        bound = [name for name in read_bounds(body) if name.startswith(f"{bone.name}")]
        if bound:
            layout.label(text=f"At a bound: {', '.join(map(display_name, bound))}", icon="INFO")


CLASSES = (EXCITING_DANCE_PT_bone,)
