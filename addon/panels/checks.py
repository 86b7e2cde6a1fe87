"""Panel: Checks. What the rig's dance is held to, by every button alike."""

from __future__ import annotations

import bpy

from ..bpy_access import layout as layout_of
from ..bpy_access import require
from ..check_settings import SHOWN_CHECKS, check_settings, read_checks
from ..scene_rigs import active_rig
from ..solver_api import errors
from .messages import draw_wrapped
from .tab import DancePanel


class EXCITING_DANCE_PT_checks(DancePanel, bpy.types.Panel):  # type: ignore[misc]
    """Checks."""

    bl_label = "Checks"
    bl_order = 0  # those of one order stand as they were registered: after Live
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """With a rig, which carries them."""
        return active_rig(context) is not None

    def draw(self, context: bpy.types.Context) -> None:
        """Draw."""
        layout, body = layout_of(self), require(active_rig(context), "rig")
        layout.label(text="For Live, Check, Balance and all others", icon="INFO")
        column = layout.column()
        column.use_property_split, column.use_property_decorate = True, False
        for name in SHOWN_CHECKS:
            column.prop(check_settings(body), name)
        try:
            read_checks(body)
        except errors.InvalidValue as error:  # the fields show the defaults then
            draw_wrapped(context, layout.box().column(align=True), str(error), icon="ERROR")


CLASSES = (EXCITING_DANCE_PT_checks,)
