"""Which marker sits where: found out, approved, saved as a marker set."""

from __future__ import annotations

from pathlib import Path

import bpy
from bpy_extras.io_utils import ExportHelper

from ..bpy_access import Status, require, scene
from ..job_messages import JobMessage
from ..marker_list import active_row, build_marker_set, fill_list, is_uncertain, marker_list
from ..properties import study_settings
from ..solver_api import errors
from .base import AtomicOperator
from .dance_base import JSON_PROGRESS
from .recording_base import RecordingJob, chosen_files

FOUND_FILE, GIVEN_FILE = "markers.json", "given.json"
SELECTIONS = (
    ("sure", "Sure Ones", "Use every marker whose place is sure, reject the others"),
    ("all", "All", "Use every marker that has a place"),
    ("none", "None", "Reject all"),
)


class EXCITING_DANCE_OT_find_markers(RecordingJob, bpy.types.Operator):
    """Find out from names and motion which marker of the listed recordings sits where; what you decided stands"""

    bl_idname = "exciting_dance.find_markers"
    bl_label = "Find Out"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012
    title, panel, shows_success = "Looking at markers", "markers", False

    def arguments(self, context: bpy.types.Context, folder: Path) -> list[str]:
        from ..solver_api import marker_set

        settings, now = study_settings(context), scene(context)
        files = chosen_files(context)
        given = bpy.path.abspath(settings.marker_set)
        if len(marker_list(now).rows):
            given = str(marker_set.write_marker_set_tree(folder / GIVEN_FILE, build_marker_set(now, only_decided=True)))
        words = ["--marker-set", given] if given else []
        words += ["--height", f"{settings.height:g}", "--output", str(folder / FOUND_FILE)]
        return ["markers", *files, *words, *JSON_PROGRESS]

    def apply(self, context: bpy.types.Context, folder: Path) -> JobMessage:
        from ..solver_api import marker_set

        fill_list(scene(context), marker_set.read_marker_set_tree(folder / FOUND_FILE))
        return JobMessage("Look at the markers, then save their set")

    def _show_error(self, context: bpy.types.Context, text: str) -> None:
        """Where names tell too little, they are listed for somebody who knows."""
        from ..solver_api import read_trials

        super()._show_error(context, text)
        if len(marker_list(scene(context)).rows):
            return
        try:
            read = read_trials([Path(bpy.path.abspath(file.path)) for file in study_settings(context).files])
        except errors.SolverError:
            return  # which the words tell
        names = dict.fromkeys(name for recording in read.values() for name in recording.markers)
        fill_list(
            scene(context),
            {"name": "given", "markers": {name: {"virtual": "its name tells nothing"} for name in names}},
        )


class MarkersOperator(AtomicOperator):
    """Mix-in: there is a list of markers."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Whether there is one."""
        if not len(marker_list(scene(context)).rows):
            cls.poll_message_set("No list of markers yet: press Find Out")  # type: ignore[attr-defined]
            return False
        return True


class EXCITING_DANCE_OT_tick_markers(MarkersOperator, bpy.types.Operator):
    """Tick markers of the list"""

    bl_idname = "exciting_dance.tick_markers"
    bl_label = "Tick Markers"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    which: bpy.props.EnumProperty(items=SELECTIONS)  # type: ignore[valid-type]

    @classmethod
    def description(cls, context: bpy.types.Context, properties: bpy.types.OperatorProperties) -> str:
        """What the button does."""
        return next(words for name, _, words in SELECTIONS if name == properties.which)  # type: ignore[attr-defined]

    def run(self, context: bpy.types.Context) -> Status:
        for row in marker_list(scene(context)).rows:
            row.use = bool(row.place) and self.which != "none"
            row.use = row.use and not (self.which == "sure" and is_uncertain(row))
        return {"FINISHED"}


class EXCITING_DANCE_OT_place_marker(MarkersOperator, bpy.types.Operator):
    """Put the active marker onto this link instead"""

    bl_idname = "exciting_dance.place_marker"
    bl_label = "Place Marker"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    where: bpy.props.StringProperty()  # type: ignore[valid-type]

    def run(self, context: bpy.types.Context) -> Status:
        require(active_row(scene(context)), "marker").place = self.where
        return {"FINISHED"}


class EXCITING_DANCE_OT_save_markers(MarkersOperator, bpy.types.Operator, ExportHelper):  # type: ignore[misc]
    """Save the ticked markers with their places as a marker set, by which Track and Identify follow from now on"""

    bl_idname = "exciting_dance.save_markers"
    bl_label = "Save Marker Set"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    filename_ext = ".json"
    filter_glob: bpy.props.StringProperty(default="*.json", options={"HIDDEN"})  # type: ignore[valid-type]

    def run(self, context: bpy.types.Context) -> Status:
        from ..solver_api import marker_set

        path = Path(self.filepath)  # type: ignore[attr-defined]
        tree = build_marker_set(scene(context))
        marker_set.write_marker_set_tree(path, {**tree, "name": path.stem, "about": "Approved marker by marker."})
        study_settings(context).marker_set = str(path)
        used = sum(row.use for row in marker_list(scene(context)).rows)
        self.report({"INFO"}, f"{used} markers saved: Track and Identify follow them by {path.name}")
        return {"FINISHED"}


CLASSES = (
    EXCITING_DANCE_OT_find_markers,
    EXCITING_DANCE_OT_tick_markers,
    EXCITING_DANCE_OT_place_marker,
    EXCITING_DANCE_OT_save_markers,
)
