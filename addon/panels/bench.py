"""Panel: Arm on a Bench. For rigs without feet, which stand nowhere but bolted down."""

from __future__ import annotations

import bpy

from ..bench import bench_settings
from ..scene_rigs import rig_in
from ..typed import layout as layout_of
from ..typed import scene
from .messages import running, said
from .tab import Tab


class EXCITING_DANCE_PT_bench(Tab, bpy.types.Panel):  # type: ignore[misc]
    """Arm on a bench."""

    bl_label = "Arm on a Bench"
    bl_order = 0

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """With a rig that has no feet."""
        body = rig_in(context)
        if body is None:
            return False
        from ..armature import rig_of, trouble

        return not trouble(body) and not rig_of(body).soles

    def draw(self, context: bpy.types.Context) -> None:
        """Draw."""
        layout, settings = layout_of(self), bench_settings(scene(context))
        layout.use_property_split, layout.use_property_decorate = True, False
        column = layout.column(align=True)
        column.prop(settings, "seconds")
        column.prop(settings, "measured")
        if settings.measured == "torques":
            column.prop(settings, "drives")
        column.prop(settings, "held")
        row = layout.row()
        row.scale_y = 1.3
        row.operator("exciting_dance.excite", icon="CON_ARMATURE")
        running(layout, "bench")
        said(context, layout, "bench")


class EXCITING_DANCE_PT_bench_how(Tab, bpy.types.Panel):  # type: ignore[misc]
    """How it is searched, and where the motion goes."""

    bl_label = "Limits and Results"
    bl_parent_id = "EXCITING_DANCE_PT_bench"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    def draw(self, context: bpy.types.Context) -> None:
        """Draw."""
        layout, settings = layout_of(self), bench_settings(scene(context))
        layout.use_property_split, layout.use_property_decorate = True, False
        for name in ("criterion", "speed", "torque", "clearance", "seed", "output"):
            layout.prop(settings, name)


CLASSES = (EXCITING_DANCE_PT_bench, EXCITING_DANCE_PT_bench_how)
