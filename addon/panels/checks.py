"""Panel: Checks. What the rig's dance is held to, by every button alike."""

from __future__ import annotations

import bpy

from ..checks import SHOWN, checks_of, settings_of
from ..scene_rigs import rig_in
from ..typed import layout as layout_of
from ..typed import there
from ..values import errors
from .messages import write
from .tab import Tab


class EXCITING_DANCE_PT_checks(Tab, bpy.types.Panel):  # type: ignore[misc]
    """Checks."""

    bl_label = "Checks"
    bl_order = 0  # those of one order stand as they were registered: after Live
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """With a rig, which carries them."""
        return rig_in(context) is not None

    def draw(self, context: bpy.types.Context) -> None:
        """Draw."""
        layout, body = layout_of(self), there(rig_in(context), "rig")
        layout.label(text="For Live, Check, Balance and all others", icon="INFO")
        column = layout.column()
        column.use_property_split, column.use_property_decorate = True, False
        for name in SHOWN:
            column.prop(settings_of(body), name)
        try:
            checks_of(body)
        except errors.InvalidValue as error:  # the fields show the defaults then
            write(context, layout.box().column(align=True), str(error), icon="ERROR")


CLASSES = (EXCITING_DANCE_PT_checks,)
