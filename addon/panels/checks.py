"""Panel Checks: check settings of the rig, which all buttons use."""

from __future__ import annotations

import bpy

from ..base.bpy_access import layout as layout_of
from ..base.bpy_access import require
from ..base.scene_rigs import active_rig
from ..base.solver_api import errors
from ..scene.check_settings import SHOWN_CHECKS, check_settings, read_checks
from .base import AuthorPanel
from .messages import draw_fields, draw_wrapped


class EXCITING_DANCE_PT_checks(AuthorPanel, bpy.types.Panel):  # type: ignore[misc]
    """Settings of all checks of the dance"""

    bl_label = "Checks"
    bl_parent_id = "EXCITING_DANCE_PT_check"

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the panel."""
        layout, body = layout_of(self), require(active_rig(context), "rig")
        layout.label(text="Used by Live Check, Check, Balance and Design", icon="INFO")
        draw_fields(layout, check_settings(body), *SHOWN_CHECKS)
        try:
            read_checks(body)
        except errors.InvalidValue as error:  # the fields then show the defaults
            draw_wrapped(context, layout.box().column(align=True), str(error), icon="ERROR")


CLASSES = (EXCITING_DANCE_PT_checks,)
