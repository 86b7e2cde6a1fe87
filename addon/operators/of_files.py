"""Jobs on the recordings that are listed in the panel."""

from __future__ import annotations

import bpy

from ..jobs import JobOperator
from ..properties import settings_of


class FilesOperator(JobOperator):
    """Mix-in: a job on the chosen files."""

    @classmethod
    def missing(cls, context: bpy.types.Context) -> str:
        """Files chosen."""
        if len(settings_of(context).files):
            return ""
        return "No recording: drop its files onto the 3D view, or add them to the list above"


def files_of(context: bpy.types.Context) -> list[str]:
    """Paths of the chosen files."""
    return [bpy.path.abspath(file.path) for file in settings_of(context).files]
