"""Panel Rehearsal Video with its subpanels."""

from __future__ import annotations

import bpy

from ..base.bpy_access import layout as layout_of
from ..rehearsal.properties import rehearsal_settings
from .base import AuthorPanel, DancePanel
from .messages import draw_fields, tall_row


class EXCITING_DANCE_PT_rehearsal(AuthorPanel, bpy.types.Panel):  # type: ignore[misc]
    """Video that teaches the dance"""

    bl_label = "Rehearsal Video"
    bl_parent_id = "EXCITING_DANCE_PT_output"

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the panel."""
        layout, settings = layout_of(self), rehearsal_settings(context)
        draw_fields(layout, settings, "slow", "pause", "lead", "loops", "bpm")
        camera = ["camera"] if settings.view == "camera" else []
        draw_fields(layout, settings, "ghost", "colours", "view", *camera, "mirror", "output")
        row = tall_row(layout)
        row.operator("exciting_dance.rehearsal", icon="RENDER_ANIMATION")


class EXCITING_DANCE_PT_rehearsal_film(DancePanel, bpy.types.Panel):  # type: ignore[misc]
    """Film behind the body"""

    bl_label = "Film"
    bl_parent_id = "EXCITING_DANCE_PT_rehearsal"

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the panel."""
        layout, settings = layout_of(self), rehearsal_settings(context)
        draw_fields(layout, settings, "film")
        names = ("film_clock", "film_offset", "film_start", "film_speed", "no_shadow")
        draw_fields(layout, settings, *names).active = bool(settings.film)


class EXCITING_DANCE_PT_rehearsal_picture(DancePanel, bpy.types.Panel):  # type: ignore[misc]
    """Title, size and render engine"""

    bl_label = "Picture"
    bl_parent_id = "EXCITING_DANCE_PT_rehearsal"

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the panel."""
        layout, settings = layout_of(self), rehearsal_settings(context)
        for names in (("title", "title_time"), ("width", "height", "rate"), ("engine", "samples")):
            draw_fields(layout, settings, *names)


CLASSES = (EXCITING_DANCE_PT_rehearsal, EXCITING_DANCE_PT_rehearsal_film, EXCITING_DANCE_PT_rehearsal_picture)
