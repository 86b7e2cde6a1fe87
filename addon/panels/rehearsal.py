"""Panel Rehearsal Video with its subpanels."""

from __future__ import annotations

import bpy

from ..base.bpy_access import layout as layout_of
from ..rehearsal.properties import rehearsal_settings
from .base import AuthorPanel, DancePanel


class EXCITING_DANCE_PT_rehearsal(AuthorPanel, bpy.types.Panel):  # type: ignore[misc]
    """Video that teaches the dance"""

    bl_label = "Rehearsal Video"
    bl_parent_id = "EXCITING_DANCE_PT_output"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the panel."""
        layout, settings = layout_of(self), rehearsal_settings(context)
        layout.use_property_split, layout.use_property_decorate = True, False
        column = layout.column(align=True)
        for name in ("slow", "pause", "lead", "loops", "bpm"):
            column.prop(settings, name)
        column = layout.column(align=True)
        column.prop(settings, "ghost")
        column.prop(settings, "colours")
        column.prop(settings, "view")
        if settings.view == "camera":
            column.prop(settings, "camera")
        layout.prop(settings, "mirror")
        layout.prop(settings, "output")
        row = layout.row()
        row.scale_y = 1.3
        row.operator("exciting_dance.rehearsal", icon="RENDER_ANIMATION")


class EXCITING_DANCE_PT_rehearsal_film(DancePanel, bpy.types.Panel):  # type: ignore[misc]
    """Film behind the body"""

    bl_label = "Film"
    bl_parent_id = "EXCITING_DANCE_PT_rehearsal"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the panel."""
        layout, settings = layout_of(self), rehearsal_settings(context)
        layout.use_property_split, layout.use_property_decorate = True, False
        layout.prop(settings, "film")
        column = layout.column(align=True)
        column.active = bool(settings.film)
        for name in ("film_clock", "film_offset", "film_start", "film_speed", "no_shadow"):
            column.prop(settings, name)


class EXCITING_DANCE_PT_rehearsal_picture(DancePanel, bpy.types.Panel):  # type: ignore[misc]
    """Title, size and render engine"""

    bl_label = "Picture"
    bl_parent_id = "EXCITING_DANCE_PT_rehearsal"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the panel."""
        layout, settings = layout_of(self), rehearsal_settings(context)
        layout.use_property_split, layout.use_property_decorate = True, False
        for names in (("title", "title_time"), ("width", "height", "rate"), ("engine", "samples")):
            column = layout.column(align=True)
            for name in names:
                column.prop(settings, name)


CLASSES = (EXCITING_DANCE_PT_rehearsal, EXCITING_DANCE_PT_rehearsal_film, EXCITING_DANCE_PT_rehearsal_picture)
