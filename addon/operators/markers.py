"""Operators that recognise marker locations, edit them, and save them as a marker set."""

from __future__ import annotations

from pathlib import Path

import bpy
from bpy_extras.io_utils import ExportHelper

from ..base.bpy_access import require, scene
from ..base.solver_api import errors
from ..display.properties import study_settings
from ..jobs.job_messages import JobMessage
from ..scene.marker_list import active_row, build_marker_set, fill_list, is_uncertain, marker_list
from .base import AtomicOperator, RecordingJob, chosen_files
from .dance_base import JSON_PROGRESS

FOUND_FILE, GIVEN_FILE = "markers.json", "given.json"
SELECTIONS = (
    ("sure", "Certain", "Use all markers with a certain location, and reject the others"),
    ("all", "All", "Use all markers with a location"),
    ("none", "None", "Reject all markers"),
)


class EXCITING_DANCE_OT_find_markers(RecordingJob, bpy.types.Operator):
    """Recognise marker locations from names and motion of the listed recordings; your own choices are kept"""

    bl_idname = "exciting_dance.find_markers"
    bl_label = "Recognise Markers"
    title, panel, shows_success = "Recognising markers", "markers", False

    def arguments(self, context: bpy.types.Context, folder: Path) -> list[str]:
        from ..base.solver_api import marker_set

        settings, now = study_settings(context), scene(context)
        files = chosen_files(context)
        given = bpy.path.abspath(settings.marker_set)
        if len(marker_list(now).rows):
            given = str(marker_set.write_marker_set_tree(folder / GIVEN_FILE, build_marker_set(now, only_decided=True)))
        arguments = ["--marker-set", given] if given else []
        arguments += ["--height", f"{settings.height:g}", "--output", str(folder / FOUND_FILE)]
        return ["markers", *files, *arguments, *JSON_PROGRESS]

    def apply(self, context: bpy.types.Context, folder: Path) -> JobMessage:
        from ..base.solver_api import marker_set

        fill_list(scene(context), marker_set.read_marker_set_tree(folder / FOUND_FILE))
        return JobMessage("Check the markers, then save the marker set")

    def _show_error(self, context: bpy.types.Context, text: str) -> None:
        """Show the error; if recognition failed, list the markers so that the user can choose locations."""
        from ..base.solver_api import read_trials

        super()._show_error(context, text)
        if len(marker_list(scene(context)).rows):
            return
        try:
            read = read_trials([Path(bpy.path.abspath(file.path)) for file in study_settings(context).files])
        except errors.SolverError:
            return  # the message already says why
        names = dict.fromkeys(name for recording in read.values() for name in recording.markers)
        fill_list(
            scene(context),
            {"name": "given", "markers": {name: {"virtual": "its name is unknown"} for name in names}},
        )


class MarkersOperator(AtomicOperator):
    """Mix-in of an operator that needs a list of markers."""

    @classmethod
    def find_problem(cls, context: bpy.types.Context) -> str:
        """The reason, unless there is a list."""
        return "" if len(marker_list(scene(context)).rows) else "There is no list of markers yet: use Recognise Markers"


class EXCITING_DANCE_OT_tick_markers(MarkersOperator, bpy.types.Operator):
    """Select which markers of the list are used"""

    bl_idname = "exciting_dance.tick_markers"
    bl_label = "Use Markers"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    which: bpy.props.EnumProperty(items=SELECTIONS)  # type: ignore[valid-type]

    @classmethod
    def description(cls, context: bpy.types.Context, properties: bpy.types.OperatorProperties) -> str:
        """Description of the button."""
        return next(text for name, _, text in SELECTIONS if name == properties.which)  # type: ignore[attr-defined]

    def run(self, context: bpy.types.Context) -> None:
        for row in marker_list(scene(context)).rows:
            row.use = bool(row.place) and self.which != "none"
            row.use = row.use and not (self.which == "sure" and is_uncertain(row))


class EXCITING_DANCE_OT_place_marker(MarkersOperator, bpy.types.Operator):
    """Attach the active marker to this link instead"""

    bl_idname = "exciting_dance.place_marker"
    bl_label = "Attach Marker"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    where: bpy.props.StringProperty()  # type: ignore[valid-type]

    def run(self, context: bpy.types.Context) -> None:
        require(active_row(scene(context)), "marker").place = self.where


class EXCITING_DANCE_OT_save_markers(MarkersOperator, bpy.types.Operator, ExportHelper):  # type: ignore[misc]
    """Save the used markers with their locations as a marker set for Track and Identify"""

    bl_idname = "exciting_dance.save_markers"
    bl_label = "Save Marker Set"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    filename_ext = ".json"
    filter_glob: bpy.props.StringProperty(default="*.json", options={"HIDDEN"})  # type: ignore[valid-type]

    def run(self, context: bpy.types.Context) -> None:
        from ..base.solver_api import marker_set

        path = Path(self.filepath)  # type: ignore[attr-defined]
        tree = build_marker_set(scene(context))
        marker_set.write_marker_set_tree(path, {**tree, "name": path.stem, "about": "Approved marker by marker."})
        study_settings(context).marker_set = str(path)
        used = sum(row.use for row in marker_list(scene(context)).rows)
        self.report({"INFO"}, f"Saved {used} markers to {path.name}, which Track and Identify will use")


CLASSES = (
    EXCITING_DANCE_OT_find_markers,
    EXCITING_DANCE_OT_tick_markers,
    EXCITING_DANCE_OT_place_marker,
    EXCITING_DANCE_OT_save_markers,
)
