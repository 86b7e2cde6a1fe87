"""Operators that open and export dances, and compare them with recordings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
from bpy_extras.io_utils import ExportHelper

from ..authoring.properties import dance_settings
from ..base.bpy_access import Status, require, scene
from ..base.scene_rigs import active_rig
from ..jobs.job_messages import JobMessage, store_message
from ..live.control import state_fingerprint
from .base import SceneOperator
from .dance_base import JSON_PROGRESS, RESULT_FOLDER, DanceJob, show_designed, summary_message


class EXCITING_DANCE_OT_open_dance(SceneOperator, bpy.types.Operator):
    """Open the results folder of a dance that was designed, repaired, completed or retargeted"""

    bl_idname = "exciting_dance.open_dance"
    bl_label = "Open Dance"

    directory: bpy.props.StringProperty(subtype="DIR_PATH")  # type: ignore[valid-type]
    filter_folder: bpy.props.BoolProperty(default=True, options={"HIDDEN"})  # type: ignore[valid-type]

    def run(self, context: bpy.types.Context) -> None:
        from ..authoring.dance_import import read_dance

        dance = read_dance(bpy.path.abspath(self.directory))
        body = show_designed(context, dance, active_rig(context))
        message = summary_message(dance, fingerprint=state_fingerprint(scene(context), body))
        store_message(scene(context), body, DanceJob.panel, message)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Status:
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}


class EXCITING_DANCE_OT_export_dance(DanceJob, bpy.types.Operator, ExportHelper):  # type: ignore[misc]
    """Export joint angles and velocities over time: .csv for a robot, .mot for OpenSim"""

    bl_idname = "exciting_dance.export_dance"
    bl_options = {"REGISTER"}  # noqa: RUF012
    bl_label = "Export Dance"
    title, verb, fewest_postures = "Exporting", "export", 0
    filename_ext = ".csv"
    check_extension = None

    filter_glob: bpy.props.StringProperty(default="*.csv;*.mot", options={"HIDDEN"})  # type: ignore[valid-type]
    rate: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Rate", description="Samples per second", default=100.0, min=1.0, max=2000.0, precision=1
    )

    def arguments(self, context: bpy.types.Context, folder: Path) -> list[str]:
        output = bpy.path.abspath(self.filepath)  # type: ignore[attr-defined]
        return [self.verb, self._timeline, "--rate", f"{self.rate:g}", "--output", output, *JSON_PROGRESS]

    def apply(self, context: bpy.types.Context, folder: Path) -> JobMessage:
        return JobMessage(f"Exported to {self.filepath}")  # type: ignore[attr-defined]


class EXCITING_DANCE_OT_compare_performance(DanceJob, bpy.types.Operator):
    """Compare the dance on the timeline with a tracked recording of it: joint motion and excitation"""

    bl_idname = "exciting_dance.compare_performance"
    bl_label = "Compare Performance"
    title, verb, fewest_postures = "Comparing", "perform", 0

    @classmethod
    def find_problem(cls, context: bpy.types.Context) -> str:
        """The reason, unless there is a performance to compare with."""
        if problem := super().find_problem(context):
            return problem
        return "Choose the folder of the tracked recording first" if performance_folder(context) is None else ""

    def extra_arguments(self, context: bpy.types.Context) -> list[str]:
        trial = dance_settings(context).trial
        return [str(performance_folder(context)), *(["--trial", trial] if trial else [])]

    def apply(self, context: bpy.types.Context, folder: Path) -> JobMessage:
        from ..authoring import performance

        return performance.show_performance(context, require(self.rig(), "rig"), folder / RESULT_FOLDER)


def performance_folder(context: bpy.types.Context) -> Path | None:
    """Folder of the recording to compare with: the chosen one, otherwise the rig's own study."""
    from ..display.study import study_folder_of

    named, body = dance_settings(context).performed, active_rig(context)
    if named:
        return Path(bpy.path.abspath(named))
    return study_folder_of(body) if body is not None else None


CLASSES: tuple[Any, ...] = (
    EXCITING_DANCE_OT_open_dance,
    EXCITING_DANCE_OT_export_dance,
    EXCITING_DANCE_OT_compare_performance,
)
