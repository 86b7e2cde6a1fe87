"""Operator that designs a dance for the active rig in a child process."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bpy

from ..authoring.properties import dance_settings
from ..base.bpy_access import require, scene
from ..base.option_fields import option_words
from ..base.scene_rigs import active_rig
from ..base.solver_api import DanceOptions, dance_folder
from ..jobs.job_messages import JobMessage
from ..live.control import state_fingerprint
from ..scene.check_settings import check_arguments
from .base import find_rig_problem
from .dance_base import JSON_PROGRESS, RESULT_FOLDER, DanceJob, show_designed, summary_message

WORKERS = max(1, min((os.cpu_count() or 2) - 1, 8))
CANCEL_TIMEOUT = 60.0
"""[s] Time for a cancelled design to write partial results."""


class EXCITING_DANCE_OT_design_dance(DanceJob, bpy.types.Operator):
    """Design a balanced, collision-free dance that excites every link of the rig"""

    bl_idname = "exciting_dance.design_dance"
    bl_label = "Design Dance"
    title, fewest_postures = "Designing", 0
    end_timeout = CANCEL_TIMEOUT

    @classmethod
    def find_problem(cls, context: bpy.types.Context) -> str:
        """A rig is needed. For one with linked bones, a new rig is built."""
        from ..scene.armature import library_problem

        body = active_rig(context)
        return "" if body is not None and library_problem(body, data=True) else find_rig_problem(context)

    def steps(self, context: bpy.types.Context) -> Iterator[float]:
        """Write the named postures of the timeline, if they are to be used, and the active rig."""
        from ..base.solver_api import write_rig
        from ..scene.inertials import rig_with_inertials

        if dance_settings(context).posed:
            yield from super().steps(context)
        body = rig_with_inertials(require(self.rig(), "rig"))
        self._body = str(write_rig(require(self._folder, "folder") / dance_folder.BODY_FILE, body))

    def arguments(self, context: bpy.types.Context, folder: Path) -> list[str]:
        poses = ["--poses", self._timeline] if dance_settings(context).posed else []
        output = ["--output", str(folder / RESULT_FOLDER), *JSON_PROGRESS]
        return ["dance", self._body, *design_arguments(context), *poses, *output]

    def apply(self, context: bpy.types.Context, folder: Path) -> JobMessage:
        from ..authoring.dance_import import read_dance
        from ..drawing.viewport import fit_timelines

        dance = read_dance(folder / RESULT_FOLDER)
        body = show_designed(context, dance, self.existing_rig())
        self.set_rig(body)
        fit_timelines(context)
        said = f"Keyed at {len(dance.summary.keys)} frames: where phrases, steps and rests begin and end"
        return summary_message(dance, said, fingerprint=state_fingerprint(scene(context), body))


def design_arguments(context: bpy.types.Context) -> list[str]:
    """Arguments for the settings of the panel."""
    settings = dance_settings(context)
    words = ["--postures", str(settings.postures), "--effort", f"{settings.effort:g}", "--workers", str(WORKERS)]
    return [*words, *option_words(settings, DanceOptions), *check_arguments(active_rig(context))]


CLASSES: tuple[Any, ...] = (EXCITING_DANCE_OT_design_dance,)
