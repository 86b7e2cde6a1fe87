"""Jobs on the recordings that are listed in the panel."""

from __future__ import annotations

import bpy

from ..jobs import JobOperator
from ..properties import study_settings


class RecordingJob(JobOperator):
    """Mix-in: a job on the chosen files."""

    @classmethod
    def find_problem(cls, context: bpy.types.Context) -> str:
        """Files chosen."""
        if len(study_settings(context).files):
            return ""
        return "No recording: drop its files onto the 3D view, or add them to the list above"


def chosen_files(context: bpy.types.Context) -> list[str]:
    """Paths of the chosen files."""
    return [bpy.path.abspath(file.path) for file in study_settings(context).files]
