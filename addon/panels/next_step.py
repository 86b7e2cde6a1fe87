"""Panel at the top of the tab: Author or Research, the running job or the next step, capture, and the last message."""

from __future__ import annotations

from typing import Any, ClassVar

import bpy

from ..authoring.properties import dance_settings
from ..base.bpy_access import layout as layout_of
from ..base.bpy_access import require, scene
from ..base.scene_rigs import active_rig
from ..capture.control import Capture, capture_settings
from ..display.properties import study_settings
from ..interface.next_step import NextStep, find_next_step
from ..jobs.job import CurrentJob, Task
from .base import DancePanel
from .messages import draw_latest_message, draw_rig_problem, draw_wrapped, tall_row
from .rig import draw_new_rig, draw_person

BUTTON_SCALE = 1.5
"""Height of the button over that of others."""
HINT_LINES = 2
"""Number of lines below the button, which is fixed: the panels below do not move under the mouse."""


class EXCITING_DANCE_PT_next_step(DancePanel, bpy.types.Panel):  # type: ignore[misc]
    """The mode, and the next step in it"""

    bl_label = ""  # the header shows the mode; a panel without a header would make Dance the first tab of the sidebar
    bl_options: ClassVar[set[str]] = set()  # type: ignore[misc, assignment]
    bl_order = 0

    def draw_header(self, context: bpy.types.Context) -> None:
        """Draw the modes."""
        layout_of(self).prop(study_settings(context), "mode", expand=True)

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the panel."""
        layout, body = layout_of(self), active_rig(context)
        step = find_next_step(context)
        if body is not None:
            draw_rig_problem(context, layout, body)
        if (job := CurrentJob.job) is not None:
            _draw_job(context, layout, job)
        elif step is not None:
            _draw_step(context, layout, step)
        if (session := Capture.session) is not None:
            from ..capture.session import describe_stream

            row = layout.row(align=True)
            row.label(text=describe_stream(session, capture_settings(scene(context)).source), icon="RADIOBUT_ON")
            row.operator(f"exciting_dance.capture{'_discard' * session.recording}", text="", icon="X")
        if job is None:
            draw_latest_message(context, layout)


def _draw_job(context: bpy.types.Context, layout: bpy.types.UILayout, job: Task) -> None:
    """Draw progress, time left and Cancel at the place of the next step's button."""
    row = tall_row(layout, BUTTON_SCALE)
    row.progress(factor=job.fraction, text=job.describe())
    row.operator("exciting_dance.cancel", text="", icon="X")
    _draw_hint(context, layout, job.title)


def _draw_step(context: bpy.types.Context, layout: bpy.types.UILayout, step: NextStep) -> None:
    """Draw the step's settings, its button, and what it does or lacks."""
    if step.operator == "import_rig":
        draw_new_rig(layout, study_settings(context))
    elif step.operator in ("identify", "track"):
        draw_person(layout, study_settings(context), weighs=True)
    row = tall_row(layout, BUTTON_SCALE)
    icon: Any = step.icon
    name = step.operator if "." in step.operator else f"exciting_dance.{step.operator}"
    button: Any = row.operator(name, text=step.label, icon=icon)
    if step.operator == "key_posture":
        button.role, button.between = dance_settings(context).role, dance_settings(context).between
    beside: dict[str, tuple[str, Any]] = {
        "import_recording": ("sample_study", "FILE_NEW"),
        "import_rig": ("workspace", "WORKSPACE"),
    }
    if step.operator in beside:
        row.operator(f"exciting_dance.{beside[step.operator][0]}", text="", icon=beside[step.operator][1])
    if step.operator == "apply_ghost":
        from ..authoring.taken_back import read_taken_back

        if read_taken_back(scene(context), require(active_rig(context), "rig")) is not None:
            row.operator("exciting_dance.keep_posture", icon="PINNED")
        row.operator("exciting_dance.discard_ghost", text="", icon="X")
    _draw_hint(context, layout, step.hint)


def _draw_hint(context: bpy.types.Context, layout: bpy.types.UILayout, text: str) -> None:
    """Draw a text that always takes the same number of lines."""
    column = layout.column(align=True)
    for _ in range(-draw_wrapped(context, column, text, icon="INFO", most_lines=HINT_LINES)):
        column.label(text="")


CLASSES = (EXCITING_DANCE_PT_next_step,)
