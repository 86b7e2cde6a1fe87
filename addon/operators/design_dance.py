"""Operator that designs a dance in a child process, for the active rig or a new one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import bpy

from ..authoring.properties import dance_settings
from ..base.bpy_access import scene
from ..base.option_fields import option_words
from ..base.scene_rigs import active_rig
from ..base.solver_api import DanceOptions, dance_folder
from ..display.properties import study_settings
from ..jobs.job_messages import JobMessage
from ..live.control import state_fingerprint
from ..scene.check_settings import check_arguments
from .dance_base import JSON_PROGRESS, RESULT_FOLDER, DanceJob, show_designed, summary_message, write_timeline
from .rigs import rig_arguments

WORKERS = max(1, min((os.cpu_count() or 2) - 1, 8))
CANCEL_TIMEOUT = 60.0
"""[s] Time for a cancelled design to write partial results."""


class EXCITING_DANCE_OT_design_dance(DanceJob, bpy.types.Operator):
    """Design a balanced, collision-free dance that excites every link of the rig"""

    bl_idname = "exciting_dance.design_dance"
    bl_label = "Design Dance"
    title = "Designing"
    end_timeout = CANCEL_TIMEOUT

    @classmethod
    def find_problem(cls, context: bpy.types.Context) -> str:
        """A damaged rig is a problem. Without a rig, or with linked bones, a new rig is built."""
        from ..scene.armature import library_problem, rig_problem

        body = active_rig(context)
        return "" if body is None or library_problem(body, data=True) else rig_problem(body)

    def arguments(self, context: bpy.types.Context, folder: Path) -> list[str]:
        return [
            "dance",
            *body_arguments(context, folder),
            *design_arguments(context),
            *pose_arguments(context, folder),
            "--output",
            str(folder / RESULT_FOLDER),
            *JSON_PROGRESS,
        ]

    def apply(self, context: bpy.types.Context, folder: Path) -> JobMessage:
        from ..authoring.dance_import import read_dance
        from ..drawing.viewport import fit_timelines

        dance = read_dance(folder / RESULT_FOLDER)
        body = show_designed(context, dance, self.existing_rig())
        self.set_rig(body)
        fit_timelines(context)
        said = f"Keyed at {len(dance.summary.keys)} frames: where phrases, steps and rests begin and end"
        return summary_message(dance, said, fingerprint=state_fingerprint(scene(context), body))


def body_arguments(context: bpy.types.Context, folder: Path) -> list[str]:
    """Arguments for the body: the active rig as a file, otherwise the settings of the Rig panel."""
    from ..base.solver_api import write_rig
    from ..scene.inertials import rig_with_inertials

    body = active_rig(context)
    if body is None:
        settings = study_settings(context)
        return rig_arguments(settings.kind, settings, settings.urdf)[1:]
    return [str(write_rig(folder / dance_folder.BODY_FILE, rig_with_inertials(body)))]


def design_arguments(context: bpy.types.Context) -> list[str]:
    """Arguments for the settings of the panel."""
    settings = dance_settings(context)
    arguments = ["--postures", str(settings.postures), "--effort", f"{settings.effort:g}", "--workers", str(WORKERS)]
    arguments += [*option_words(settings, DanceOptions), *check_arguments(active_rig(context))]
    if settings.emphasise != "none":
        arguments += ["--emphasise", f"{settings.emphasise}={settings.factor:g}"]
    return arguments


def pose_arguments(context: bpy.types.Context, folder: Path) -> list[str]:
    """Arguments for the named postures of the timeline, if they are to be used."""
    if not dance_settings(context).posed or active_rig(context) is None:
        return []
    return ["--poses", str(write_timeline(context, folder))]


CLASSES: tuple[Any, ...] = (EXCITING_DANCE_OT_design_dance,)
