"""Panel at the top of the tab: Author or Research, the next step, the running job and the last message."""

from __future__ import annotations

from typing import Any

import bpy

from ..authoring.posture_cache import summarise_postures
from ..authoring.properties import dance_settings
from ..base.bpy_access import layout as layout_of
from ..base.bpy_access import require, scene
from ..base.scene_rigs import active_rig
from ..display.properties import AUTHOR, RESEARCH, study_settings
from ..interface.next_step import NextStep, find_next_step
from ..jobs.job import CurrentJob
from ..live.control import LiveCheck
from .base import DancePanel
from .messages import draw_job, draw_latest_message, draw_rig_problem, draw_wrapped
from .rig import draw_new_rig, draw_person

OWN_PANELS = {
    "retarget": (AUTHOR,),
    "markers": (RESEARCH,),
    "centroidal": (RESEARCH,),
    "fixed_base": (AUTHOR, RESEARCH),
}
"""Places of jobs and messages that have a panel of their own, and the modes that show it."""
BUTTON_SCALE = 1.5
"""Height of the button over that of others."""


class EXCITING_DANCE_PT_next_step(DancePanel, bpy.types.Panel):  # type: ignore[misc]
    """The mode, and the next step in it"""

    bl_label = ""  # the header shows the mode; a panel without a header would make Dance the first tab of the sidebar
    bl_order = 0

    def draw_header(self, context: bpy.types.Context) -> None:
        """Draw the modes."""
        layout_of(self).prop(study_settings(context), "mode", expand=True)

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the panel."""
        layout, settings, body = layout_of(self), study_settings(context), active_rig(context)
        step = find_next_step(context)
        if body is not None:
            draw_rig_problem(context, layout, body)
        if step is not None:
            _draw_step(context, layout, step)
        if settings.mode == AUTHOR and LiveCheck.session is not None and body is not None:
            _draw_timeline_hint(context, layout, body)
        job = CurrentJob.job
        if job is not None and settings.mode not in OWN_PANELS.get(job.panel, ()):
            draw_job(layout, job.panel)
        draw_latest_message(context, layout, OWN_PANELS)


def _draw_timeline_hint(context: bpy.types.Context, layout: bpy.types.UILayout, body: bpy.types.Object) -> None:
    """Draw how to see what the live check draws in the timeline, if there is no room for it."""
    from ..drawing.viewport import is_timeline_low

    if summarise_postures(body).roles and is_timeline_low(context):
        draw_wrapped(context, layout.column(align=True), "Enlarge the timeline: contacts", icon="TIME")


def _draw_step(context: bpy.types.Context, layout: bpy.types.UILayout, step: NextStep) -> None:
    """Draw the step's settings, its button, and what it does or lacks."""
    if step.operator == "import_rig":
        draw_new_rig(layout, study_settings(context))
    elif step.operator in ("identify", "track"):
        draw_person(layout, study_settings(context), weighs=True)
    row = layout.row(align=True)
    row.scale_y = BUTTON_SCALE
    icon: Any = step.icon
    button: Any = row.operator(f"exciting_dance.{step.operator}", text=step.label, icon=icon)
    if step.operator == "key_posture":
        button.role, button.between = dance_settings(context).role, dance_settings(context).between
    if step.operator == "import_recording":
        row.operator("exciting_dance.sample_study", text="", icon="FILE_NEW")
    if step.operator == "apply_ghost":
        from ..authoring.taken_back import read_taken_back

        if read_taken_back(scene(context), require(active_rig(context), "rig")) is not None:
            row.operator("exciting_dance.keep_posture", icon="PINNED")
        row.operator("exciting_dance.discard_ghost", text="", icon="X")
    draw_wrapped(context, layout.column(align=True), step.hint, icon="INFO")


CLASSES = (EXCITING_DANCE_PT_next_step,)
