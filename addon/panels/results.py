"""Panel Results: the recordings played on the rig, and what colours it."""

from __future__ import annotations

from typing import ClassVar

import bpy

from ..base.bpy_access import layout as layout_of
from ..base.bpy_access import require
from ..base.scene_rigs import active_rig
from ..display.properties import RESEARCH, study_settings
from ..interface.next_step import find_next_step
from .base import RigPanel
from .messages import draw_wrapped


class EXCITING_DANCE_MT_trials(bpy.types.Menu):
    """Recordings that the rig can play."""

    bl_label = "Recording"

    def draw(self, context: bpy.types.Context | None) -> None:
        """Draw the menu."""
        from ..display.study import find_trials, played_trial

        layout, body = require(self.layout, "layout"), require(active_rig(bpy.context), "rig")
        playing = played_trial(body)
        for name in find_trials(body):
            icon = "PLAY" if name == playing else "BLANK1"
            layout.operator("exciting_dance.trial", text=name, icon=icon).name = name  # type: ignore[arg-type, attr-defined]


class EXCITING_DANCE_PT_results(RigPanel, bpy.types.Panel):  # type: ignore[misc]
    """Results of the identification"""

    bl_label = "Results"
    bl_options: ClassVar[set[str]] = set()  # type: ignore[misc, assignment]
    bl_order = 2
    modes = (RESEARCH,)

    def draw_header_preset(self, context: bpy.types.Context) -> None:
        """Draw the mass in the header."""
        from ..scene.inertials import describe_result

        layout_of(self).label(text=describe_result(require(active_rig(context), "rig"))[0])

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the panel."""
        from ..display.study import find_trials, played_trial
        from ..scene.inertials import describe_result

        layout, body = layout_of(self), require(active_rig(context), "rig")
        column = layout.column(align=True)
        step = find_next_step(context)
        for sentence in describe_result(body)[1:]:
            if step is None or sentence != step.hint:  # the top of the tab shows it
                draw_wrapped(context, column, sentence, icon="NONE")
        layout.prop(study_settings(context), "quantity")
        if find_trials(body):
            layout.menu("EXCITING_DANCE_MT_trials", text=played_trial(body) or "Play a Recording", icon="PLAY")


CLASSES = (EXCITING_DANCE_MT_trials, EXCITING_DANCE_PT_results)
