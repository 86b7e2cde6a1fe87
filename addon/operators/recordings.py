"""Choose recordings, and show markers and forces."""

from __future__ import annotations

from pathlib import Path

import bpy
from bpy_extras.io_utils import ImportHelper

from ..properties import settings_of
from ..recording import add_recording
from ..typed import Status
from ..values import errors, read_trials
from ..whole import all_or_nothing

PATTERN = "*.trc;*.c3d;*.mot;*.sto;*.csv;*.npz"


def show_recordings(context: bpy.types.Context, paths: list[Path]) -> list[str]:
    """Read recordings and show them; names of the trials."""
    found = read_trials(paths)
    with all_or_nothing():
        for name, recording in found.items():
            add_recording(context, recording, name)
    return list(found)


class Files:
    """Mix-in of a file browser with several files."""

    files: bpy.props.CollectionProperty(type=bpy.types.OperatorFileListElement)  # type: ignore[valid-type]
    directory: bpy.props.StringProperty(subtype="DIR_PATH")  # type: ignore[valid-type]
    filter_glob: bpy.props.StringProperty(default=PATTERN, options={"HIDDEN"})  # type: ignore[valid-type]

    def paths(self) -> list[Path]:
        """The chosen files."""
        names = [file.name for file in self.files if file.name]
        return [Path(self.directory) / name for name in names] or [Path(self.filepath)]  # type: ignore[attr-defined]


class EXCITING_DANCE_OT_import_recording(Files, bpy.types.Operator, ImportHelper):
    """Show a recording's markers and forces, animated"""

    bl_idname = "exciting_dance.import_recording"
    bl_label = "Import Recording"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    def execute(self, context: bpy.types.Context) -> Status:
        try:
            names = show_recordings(context, self.paths())
        except errors.SolverError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self.report({"INFO"}, f"Imported {', '.join(names)}")
        return {"FINISHED"}

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Status:  # type: ignore[override]
        if self.directory and any(file.name for file in self.files):  # dropped onto the window
            return self.execute(context)
        return super().invoke(context, event)


class EXCITING_DANCE_OT_add_files(Files, bpy.types.Operator, ImportHelper):  # type: ignore[misc]
    """Choose recordings to track or identify from: markers, and forces of the same names"""

    bl_idname = "exciting_dance.add_files"
    bl_label = "Add Files"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    def execute(self, context: bpy.types.Context) -> Status:
        chosen = settings_of(context).files
        known = {file.path for file in chosen}
        for path in self.paths():
            if str(path) not in known:
                chosen.add().path = str(path)
        return {"FINISHED"}


class EXCITING_DANCE_OT_remove_file(bpy.types.Operator):
    """Take the file off the list"""

    bl_idname = "exciting_dance.remove_file"
    bl_label = "Remove File"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return len(settings_of(context).files) > 0

    def execute(self, context: bpy.types.Context) -> Status:
        settings = settings_of(context)
        settings.files.remove(settings.file_index)
        settings.file_index = min(settings.file_index, max(len(settings.files) - 1, 0))
        return {"FINISHED"}


class EXCITING_DANCE_FH_recording(bpy.types.FileHandler):
    """Recordings dropped onto the 3D view."""

    bl_idname = "EXCITING_DANCE_FH_recording"
    bl_label = "Motion recording"
    bl_import_operator = "exciting_dance.import_recording"
    bl_file_extensions = ".trc;.c3d"

    @classmethod
    def poll_drop(cls, context: bpy.types.Context | None) -> bool:
        return context is not None and context.area is not None and context.area.type == "VIEW_3D"


CLASSES = (
    EXCITING_DANCE_OT_import_recording,
    EXCITING_DANCE_OT_add_files,
    EXCITING_DANCE_OT_remove_file,
    EXCITING_DANCE_FH_recording,
)
