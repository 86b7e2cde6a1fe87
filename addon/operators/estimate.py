"""Estimate centre of mass and angular momentum of a rig's recordings, in a child process."""

from __future__ import annotations

from pathlib import Path

import bpy

from ..jobs import JobOperator
from ..properties import settings_of
from ..scene_rigs import rig_in
from ..told import Said
from ..typed import there
from ..values import errors


class EXCITING_DANCE_OT_centroidal(JobOperator, bpy.types.Operator):
    """Estimate centre of mass and angular momentum from motion and forces together, for every recording of the rig"""

    bl_idname = "exciting_dance.centroidal"
    bl_label = "Estimate"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012
    title, place = "Estimating", "centroidal"

    @classmethod
    def missing(cls, context: bpy.types.Context) -> str:
        """A rig that shows what was identified."""
        from ..study import folder_of, trials_of
        from ..values import study_folder

        body = rig_in(context)
        folder = None if body is None else folder_of(body)
        if body is None or folder is None or not trials_of(body):
            return "Identify recordings with forces first"
        if folder.is_dir() and not (folder / study_folder.RESULT_FILE).exists():
            return "Identify these recordings first: Track alone keeps no forces"
        return ""

    def wanted_folder(self, context: bpy.types.Context) -> Path | None:
        """Beside the trials, so that they are found together again."""
        from ..study import folder_of
        from ..values import study_folder

        folder = folder_of(there(rig_in(context), "rig"))
        return None if folder is None else folder / study_folder.ESTIMATES_FOLDER

    def arguments(self, context: bpy.types.Context, folder: Path) -> list[str]:
        if not folder.parent.is_dir():
            raise errors.InputError(folder.parent, "is gone, with the results that the rig shows", remedy="Identify")
        method = settings_of(context).estimator
        return ["centroidal", str(folder.parent), "--method", method, "--output", str(folder), "--progress", "json"]

    def apply(self, context: bpy.types.Context, folder: Path) -> Said:
        from ..estimates import read_estimates, show_estimates

        body, estimates = there(self.rig(), "rig"), read_estimates(folder)
        shown = show_estimates(context, body, estimates)
        flights = sum(len(estimates[name].flights) for name in shown)
        seen = f", {flights} flight{'s' if flights != 1 else ''}" if flights else ""
        trials = f"{len(shown)} recording{'s' if len(shown) != 1 else ''}"
        notes = tuple(f"{name}: {note}" for name in shown for note in estimates[name].notes)
        return Said(f"Estimated {trials}{seen}: curves on {body.name}, tables in {folder}", notes=notes)


CLASSES = (EXCITING_DANCE_OT_centroidal,)
