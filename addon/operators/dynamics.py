"""Operators that compute the dynamics of identified recordings, in a child process: joint moments, and estimates of
centre of mass and angular momentum."""

from __future__ import annotations

from pathlib import Path

import bpy

from ..base.bpy_access import require
from ..base.scene_rigs import active_rig
from ..base.solver_api import errors
from ..display.properties import study_settings
from ..jobs.job import JobOperator
from ..jobs.job_messages import JobMessage


class StudyJob(JobOperator):
    """Mix-in of an operator that computes something of the active rig's identified recordings.

    Attributes:
        folder: name of the constant of `solver.study.study_folder` with the folder of its results.
    """

    folder: str

    @classmethod
    def find_problem(cls, context: bpy.types.Context) -> str:
        """A rig with identified recordings is needed."""
        from ..base.solver_api import study_folder
        from ..display.study import find_trials, study_folder_of

        body = active_rig(context)
        folder = None if body is None else study_folder_of(body)
        if body is None or folder is None or not find_trials(body):
            return "Identify recordings with forces first"
        if folder.is_dir() and not (folder / study_folder.RESULT_FILE).exists():
            return "Identify these recordings first: Track does not store forces"
        return ""

    def output_folder(self, context: bpy.types.Context) -> Path | None:
        """A folder in the study's folder."""
        from ..base.solver_api import stored_file, study_folder
        from ..display.study import study_folder_of

        folder = study_folder_of(require(active_rig(context), "rig"))
        return None if folder is None else stored_file(folder, getattr(study_folder, self.folder))

    def arguments(self, context: bpy.types.Context, folder: Path) -> list[str]:
        if not folder.parent.is_dir():
            raise errors.InputError(folder.parent, "is missing, with the results of the rig", remedy="Identify again")
        return [*self.command(context, folder.parent), "--output", str(folder), "--progress", "json"]

    def command(self, context: bpy.types.Context, study: Path) -> list[str]:
        """Verb and options for a study's folder."""
        raise NotImplementedError


class EXCITING_DANCE_OT_centroidal(StudyJob, bpy.types.Operator):
    """Estimate centre of mass and angular momentum of the rig's recordings from motion and forces"""

    bl_idname = "exciting_dance.centroidal"
    bl_label = "Estimate"
    title, panel, folder = "Estimating", "centroidal", "ESTIMATES_FOLDER"

    def command(self, context: bpy.types.Context, study: Path) -> list[str]:
        return ["centroidal", str(study), "--method", study_settings(context).estimator]

    def apply(self, context: bpy.types.Context, folder: Path) -> JobMessage:
        from ..display.centroidal_estimates import key_estimates, read_estimates

        body, estimates = require(self.rig(), "rig"), read_estimates(folder)
        shown = key_estimates(context, body, estimates)
        flights = sum(len(estimates[name].flights) for name in shown)
        flight_text = f", {flights} flight{'s' if flights != 1 else ''}" if flights else ""
        notes = tuple(f"{name}: {note}" for name in shown for note in estimates[name].notes)
        text = f"Estimated {_count_recordings(shown)}{flight_text}: curves are on {body.name}"
        return JobMessage(text, notes=(*notes, f"Tables are in {folder}"))


class EXCITING_DANCE_OT_moments(StudyJob, bpy.types.Operator):
    """Compute joint moments of the rig's recordings by inverse dynamics, with the identified inertial parameters"""

    bl_idname = "exciting_dance.moments"
    bl_label = "Compute Moments"
    title, panel, folder = "Inverse dynamics", "moments", "MOMENTS_FOLDER"

    def command(self, context: bpy.types.Context, study: Path) -> list[str]:
        return ["moments", str(study)]

    def apply(self, context: bpy.types.Context, folder: Path) -> JobMessage:
        from ..display.joint_moments import key_moments, read_moments

        body, found = require(self.rig(), "rig"), read_moments(folder)
        shown = key_moments(context, body, found)
        notes = tuple(f"{name}: {note}" for name in shown for note in found[name].notes)
        text = f"Joint moments of {_count_recordings(shown)}: curves are on {body.name}"
        return JobMessage(text, notes=(*notes, f"Tables are in {folder}"))


def _count_recordings(names: tuple[str, ...]) -> str:
    return f"{len(names)} recording{'s' if len(names) != 1 else ''}"


CLASSES = (EXCITING_DANCE_OT_centroidal, EXCITING_DANCE_OT_moments)
