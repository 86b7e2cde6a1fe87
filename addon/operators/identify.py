"""Operators that track and identify recordings, in a child process."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import bpy

from ..base.bpy_access import Status
from ..base.option_fields import option_words
from ..base.scene_rigs import active_rig
from ..base.solver_api import CohortOptions, dance_folder
from ..base.solver_api import Settings as StudySettings
from ..display.properties import RESEARCH, study_settings
from ..jobs.job import CurrentJob
from ..jobs.job_messages import JobMessage
from .base import PolledOperator, RecordingJob, SceneOperator, chosen_files

if TYPE_CHECKING:
    from ..display.study import OpenedStudy


class StudyOperator(RecordingJob):
    """Mix-in of an operator that runs a verb on the listed files and shows its results on the rig."""

    verb, past_tense = "", ""
    study_options: tuple[str, ...] = ()
    """Options of a study that the verb takes; empty: all."""
    keeps_folder = True

    def output_folder(self, context: bpy.types.Context) -> Path | None:
        """The user's output folder."""
        output = study_settings(context).output
        return Path(bpy.path.abspath(output)) if output else None

    def arguments(self, context: bpy.types.Context, folder: Path) -> list[str]:
        from ..base.solver_api import has_joints, write_rig
        from ..scene.armature import rig_of

        settings = study_settings(context)
        files = chosen_files(context)
        body = active_rig(context)
        if body is not None and has_joints(files):
            folder.mkdir(parents=True, exist_ok=True)
            subject = ["--rig", str(write_rig(folder / dance_folder.BODY_FILE, rig_of(body)))]
        else:
            subject = ["--height", f"{settings.height:g}", "--sex", settings.sex]
            subject += option_words(settings, CohortOptions)
            chosen = bpy.path.abspath(settings.marker_set)
            subject += ["--marker-set", chosen] if chosen else []
        if not settings.weigh:
            subject += ["--mass", f"{settings.mass:g}"]
        output = ["--output", str(folder), "--progress", "json"]
        return [self.verb, *files, *subject, *option_words(settings, StudySettings, *self.study_options), *output]

    def apply(self, context: bpy.types.Context, folder: Path) -> JobMessage:
        from ..display.study import read_study

        study = read_study(folder)
        self.set_rig(_show(context, study, self.existing_rig()))
        trials = f"{len(study.motions)} recording{'s' if len(study.motions) != 1 else ''}"
        message, where = f"{self.past_tense} {trials}", f"results in {folder}"
        if study.result is None:
            return JobMessage(message, notes=(where,))
        warnings, mass = study.result.warnings, study.result.parameters.masses.sum()
        notes = tuple(finding for finding in study.result.findings if finding not in warnings)
        found = (
            "the recordings do not decide the masses" if study.result.undecided_reason else f"{mass:.1f} kg, see Report"
        )
        return JobMessage(f"{message}: {found}", failures=warnings, notes=(*notes, where))


class EXCITING_DANCE_OT_track(StudyOperator, bpy.types.Operator):
    """Track the listed recordings, and add them to the rig as motion"""

    bl_idname = "exciting_dance.track"
    bl_label = "Track"
    title, verb, past_tense, study_options = "Tracking", "track", "Tracked", ("smooth",)


class EXCITING_DANCE_OT_identify(StudyOperator, bpy.types.Operator):
    """Identify mass, centre of mass and inertia of every link from the listed recordings"""

    bl_idname = "exciting_dance.identify"
    bl_label = "Identify"
    title, verb, past_tense = "Identifying", "identify", "Identified from"


class EXCITING_DANCE_OT_cancel(PolledOperator, bpy.types.Operator):
    """Cancel the running job without changing the scene"""

    bl_idname = "exciting_dance.cancel"
    bl_label = "Cancel"

    @classmethod
    def find_problem(cls, context: bpy.types.Context) -> str:
        return "No job is running" if CurrentJob.job is None else ""

    def execute(self, context: bpy.types.Context) -> Status:
        assert CurrentJob.job is not None
        CurrentJob.job.cancel()
        return {"FINISHED"}


class EXCITING_DANCE_OT_open_study(SceneOperator, bpy.types.Operator):
    """Open the results of an earlier identification: rig, motions, recordings and colours"""

    bl_idname = "exciting_dance.open_study"
    bl_label = "Open Results"

    directory: bpy.props.StringProperty(subtype="DIR_PATH")  # type: ignore[valid-type]
    filter_folder: bpy.props.BoolProperty(default=True, options={"HIDDEN"})  # type: ignore[valid-type]

    def run(self, context: bpy.types.Context) -> None:
        from ..display.study import read_study

        body = _show(context, read_study(bpy.path.abspath(self.directory)), active_rig(context))
        study_settings(context).mode = RESEARCH
        self.report({"INFO"}, f"Opened {body.name}")

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Status:
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}


def _show(context: bpy.types.Context, study: OpenedStudy, onto: bpy.types.Object | None) -> bpy.types.Object:
    """Show a study on a rig, or on a new one, and look at it."""
    from ..display.study import show_study
    from ..drawing.viewport import fit_timelines, frame_objects, hide_startup_cube

    hide_startup_cube(context)
    body = show_study(context, study, onto=onto)
    frame_objects(context, [body])
    fit_timelines(context)
    return body


CLASSES = (
    EXCITING_DANCE_OT_track,
    EXCITING_DANCE_OT_identify,
    EXCITING_DANCE_OT_cancel,
    EXCITING_DANCE_OT_open_study,
)
