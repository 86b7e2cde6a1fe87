"""Operator that computes joint moments of recordings, in a child process."""

from __future__ import annotations

from pathlib import Path

import bpy

from ..bpy_access import require
from ..job_messages import JobMessage
from ..jobs import JobOperator
from ..scene_rigs import active_rig
from ..solver_api import errors


class EXCITING_DANCE_OT_moments(JobOperator, bpy.types.Operator):
    """Compute joint moments of the rig's recordings by inverse dynamics, with the identified inertial parameters"""

    bl_idname = "exciting_dance.moments"
    bl_label = "Compute Moments"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012
    title, panel = "Inverse dynamics", "moments"

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
        return None if folder is None else folder / study_folder.MOMENTS_FOLDER

    def arguments(self, context: bpy.types.Context, folder: Path) -> list[str]:
        if not folder.parent.is_dir():
            raise errors.InputError(folder.parent, "is missing, with the results of the rig", remedy="Identify again")
        return ["moments", str(folder.parent), "--output", str(folder), "--progress", "json"]

    def apply(self, context: bpy.types.Context, folder: Path) -> JobMessage:
        from ..joint_moments import key_moments, read_moments

        body, found = require(self.rig(), "rig"), read_moments(folder)
        shown = key_moments(context, body, found)
        trials = f"{len(shown)} recording{'s' if len(shown) != 1 else ''}"
        notes = tuple(f"{name}: {note}" for name in shown for note in found[name].notes)
        return JobMessage(f"Joint moments of {trials}: curves on {body.name}, tables in {folder}", notes=notes)


CLASSES = (EXCITING_DANCE_OT_moments,)
