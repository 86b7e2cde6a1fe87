"""Panel Identify: method, tracking alone, and results of earlier work."""

from __future__ import annotations

import bpy

from ..base.bpy_access import layout as layout_of
from ..base.option_fields import labelled
from ..base.solver_api import CohortOptions
from ..base.solver_api import Settings as StudySettings
from ..display.properties import RESEARCH, study_settings
from .base import DancePanel
from .messages import draw_fields


class EXCITING_DANCE_PT_identify(DancePanel, bpy.types.Panel):  # type: ignore[misc]
    """Method of tracking and identification, and output folder"""

    bl_label = "Identify"
    bl_parent_id = "EXCITING_DANCE_PT_recording"
    modes = (RESEARCH,)

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the panel."""
        layout, settings = layout_of(self), study_settings(context)
        row = layout.row(align=True)
        row.operator("exciting_dance.track", icon="CON_FOLLOWPATH")
        row.operator("exciting_dance.identify", icon="PHYSICS")
        layout.operator("exciting_dance.open_study", icon="FILE_FOLDER")
        draw_fields(layout, settings, *labelled(CohortOptions), *labelled(StudySettings), "output")


CLASSES = (EXCITING_DANCE_PT_identify,)
