"""Panel Recording: the list of recordings."""

from __future__ import annotations

from typing import Any

import bpy

from ..base.bpy_access import layout as layout_of
from ..display.properties import RESEARCH, study_settings
from .base import DancePanel, SimpleList
from .messages import draw_wrapped


class EXCITING_DANCE_UL_files(SimpleList, bpy.types.UIList):  # type: ignore[misc]
    """Recording files by name."""

    bl_idname = "EXCITING_DANCE_UL_files"

    def draw_row(self, layout: bpy.types.UILayout, item: Any) -> None:
        """Draw a row."""
        layout.label(text=bpy.path.basename(item.path), icon="FILE")


class EXCITING_DANCE_PT_recording(DancePanel, bpy.types.Panel):  # type: ignore[misc]
    """Recordings to track"""

    bl_label = "Recordings"
    bl_order = 1
    modes = (RESEARCH,)

    def draw_header_preset(self, context: bpy.types.Context) -> None:
        """Draw the number of files in the header, so that it is visible while the panel is closed."""
        count = len(study_settings(context).files)
        layout_of(self).label(text=f"{count} file{'s' * (count > 1)}" if count else "")

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the panel."""
        layout, settings = layout_of(self), study_settings(context)
        row = layout.row()
        row.template_list("EXCITING_DANCE_UL_files", "", settings, "files", settings, "file_index", rows=3)
        column = row.column(align=True)
        column.operator("exciting_dance.import_recording", text="", icon="ADD")
        column.operator("exciting_dance.remove_file", text="", icon="REMOVE")
        column.operator("exciting_dance.take_armature", text="", icon="OUTLINER_OB_ARMATURE")
        if not len(settings.files):
            draw_wrapped(context, layout.column(align=True), "Drop recordings of markers and forces onto the 3D view",
                  icon="IMPORT")  # fmt: skip


CLASSES = (EXCITING_DANCE_UL_files, EXCITING_DANCE_PT_recording)
