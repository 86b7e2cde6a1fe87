"""Base class of operators that run a job on the listed recordings."""

from __future__ import annotations

import bpy

from ..display.properties import study_settings
from ..jobs.job import JobOperator


class RecordingJob(JobOperator):
    """Mix-in of an operator that runs a job on the listed files."""

    @classmethod
    def find_problem(cls, context: bpy.types.Context) -> str:
        """Listed files are needed."""
        if len(study_settings(context).files):
            return ""
        return "No recording is listed: drop its files onto the 3D view, or add them to the list above"


def chosen_files(context: bpy.types.Context) -> list[str]:
    """Paths of the listed files."""
    return [bpy.path.abspath(file.path) for file in study_settings(context).files]
