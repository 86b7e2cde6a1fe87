"""Operator that estimates centre of mass and angular momentum of recordings, in a child process."""

from __future__ import annotations

from pathlib import Path

import bpy

from ..bpy_access import require
from ..job_messages import JobMessage
from ..jobs import JobOperator
from ..properties import study_settings
from ..scene_rigs import active_rig
from ..solver_api import errors


class EXCITING_DANCE_OT_centroidal(JobOperator, bpy.types.Operator):
    """Estimate centre of mass and angular momentum of the rig's recordings from motion and forces"""

    bl_idname = "exciting_dance.centroidal"
    bl_label = "Estimate"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012
    title, panel = "Estimating", "centroidal"

    @classmethod
    def find_problem(cls, context: bpy.types.Context) -> str:
        """A rig with identified recordings is needed."""
        from ..solver_api import study_folder
        from ..study import find_trials, study_folder_of

        body = active_rig(context)
        folder = None if body is None else study_folder_of(body)
        if body is None or folder is None or not find_trials(body):
            return "Identify recordings with forces first"
        if folder.is_dir() and not (folder / study_folder.RESULT_FILE).exists():
            return "Identify these recordings first: Track does not store forces"
        return ""

    def output_folder(self, context: bpy.types.Context) -> Path | None:
        """A folder in the study's folder."""
        from ..solver_api import study_folder
        from ..study import study_folder_of

        folder = study_folder_of(require(active_rig(context), "rig"))
        return None if folder is None else folder / study_folder.ESTIMATES_FOLDER

    def arguments(self, context: bpy.types.Context, folder: Path) -> list[str]:
        if not folder.parent.is_dir():
            raise errors.InputError(folder.parent, "is missing, with the results of the rig", remedy="Identify again")
        method = study_settings(context).estimator
        return ["centroidal", str(folder.parent), "--method", method, "--output", str(folder), "--progress", "json"]

    def apply(self, context: bpy.types.Context, folder: Path) -> JobMessage:
        from ..centroidal_estimates import key_estimates, read_estimates

        body, estimates = require(self.rig(), "rig"), read_estimates(folder)
        shown = key_estimates(context, body, estimates)
        flights = sum(len(estimates[name].flights) for name in shown)
        flight_text = f", {flights} flight{'s' if flights != 1 else ''}" if flights else ""
        trials = f"{len(shown)} recording{'s' if len(shown) != 1 else ''}"
        notes = tuple(f"{name}: {note}" for name in shown for note in estimates[name].notes)
        return JobMessage(f"Estimated {trials}{flight_text}: curves on {body.name}, tables in {folder}", notes=notes)


CLASSES = (EXCITING_DANCE_OT_centroidal,)
