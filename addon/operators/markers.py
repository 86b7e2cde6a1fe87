"""Which marker sits where: found out, approved, saved as a marker set."""

from __future__ import annotations

from pathlib import Path

import bpy
from bpy_extras.io_utils import ExportHelper

from ..marker_list import decided, doubtful, fill, markers_of, row_of
from ..properties import settings_of
from ..told import Said
from ..typed import Status, scene, there
from ..values import errors
from .act import Act
from .dance_jobs import JSON_PROGRESS
from .of_files import FilesOperator, files_of

FOUND, GIVEN = "markers.json", "given.json"
TICKS = (
    ("sure", "Sure Ones", "Use every marker whose place is sure, reject the others"),
    ("all", "All", "Use every marker that has a place"),
    ("none", "None", "Reject all"),
)


class EXCITING_DANCE_OT_find_markers(FilesOperator, bpy.types.Operator):
    """Find out from names and motion which marker of the listed recordings sits where; what you decided stands"""

    bl_idname = "exciting_dance.find_markers"
    bl_label = "Find Out"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012
    title, place, tells_success = "Looking at markers", "markers", False

    def arguments(self, context: bpy.types.Context, folder: Path) -> list[str]:
        from ..values import marker_set

        settings, now = settings_of(context), scene(context)
        files = files_of(context)
        given = bpy.path.abspath(settings.marker_set)
        if len(markers_of(now).rows):
            given = str(marker_set.write_tree(folder / GIVEN, decided(now, alone=True)))
        words = ["--marker-set", given] if given else []
        words += ["--height", f"{settings.height:g}", "--output", str(folder / FOUND)]
        return ["markers", *files, *words, *JSON_PROGRESS]

    def apply(self, context: bpy.types.Context, folder: Path) -> Said:
        from ..values import marker_set

        fill(scene(context), marker_set.read_tree(folder / FOUND))
        return Said("Look at the markers, then save their set")

    def _fail(self, context: bpy.types.Context, words: str) -> None:
        """Where names tell too little, they are listed for somebody who knows."""
        from ..values import read_trials

        super()._fail(context, words)
        if len(markers_of(scene(context)).rows):
            return
        try:
            read = read_trials([Path(bpy.path.abspath(file.path)) for file in settings_of(context).files])
        except errors.SolverError:
            return  # which the words tell
        names = dict.fromkeys(name for recording in read.values() for name in recording.markers)
        fill(
            scene(context),
            {"name": "given", "markers": {name: {"virtual": "its name tells nothing"} for name in names}},
        )


class NeedsMarkers(Act):
    """Mix-in: there is a list of markers."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Whether there is one."""
        if not len(markers_of(scene(context)).rows):
            cls.poll_message_set("No list of markers yet: press Find Out")  # type: ignore[attr-defined]
            return False
        return True


class EXCITING_DANCE_OT_tick_markers(NeedsMarkers, bpy.types.Operator):
    """Tick markers of the list"""

    bl_idname = "exciting_dance.tick_markers"
    bl_label = "Tick Markers"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    which: bpy.props.EnumProperty(items=TICKS)  # type: ignore[valid-type]

    @classmethod
    def description(cls, context: bpy.types.Context, properties: bpy.types.OperatorProperties) -> str:
        """What the button does."""
        return next(words for name, _, words in TICKS if name == properties.which)  # type: ignore[attr-defined]

    def act(self, context: bpy.types.Context) -> Status:
        for row in markers_of(scene(context)).rows:
            row.use = bool(row.place) and self.which != "none"
            row.use = row.use and not (self.which == "sure" and doubtful(row))
        return {"FINISHED"}


class EXCITING_DANCE_OT_place_marker(NeedsMarkers, bpy.types.Operator):
    """Put the active marker onto this link instead"""

    bl_idname = "exciting_dance.place_marker"
    bl_label = "Place Marker"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    where: bpy.props.StringProperty()  # type: ignore[valid-type]

    def act(self, context: bpy.types.Context) -> Status:
        there(row_of(scene(context)), "marker").place = self.where
        return {"FINISHED"}


class EXCITING_DANCE_OT_save_markers(NeedsMarkers, bpy.types.Operator, ExportHelper):  # type: ignore[misc]
    """Save the ticked markers with their places as a marker set, by which Track and Identify follow from now on"""

    bl_idname = "exciting_dance.save_markers"
    bl_label = "Save Marker Set"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    filename_ext = ".json"
    filter_glob: bpy.props.StringProperty(default="*.json", options={"HIDDEN"})  # type: ignore[valid-type]

    def act(self, context: bpy.types.Context) -> Status:
        from ..values import marker_set

        path = Path(self.filepath)  # type: ignore[attr-defined]
        tree = decided(scene(context))
        marker_set.write_tree(path, {**tree, "name": path.stem, "about": "Approved marker by marker."})
        settings_of(context).marker_set = str(path)
        used = sum(row.use for row in markers_of(scene(context)).rows)
        self.report({"INFO"}, f"{used} markers saved: Track and Identify follow them by {path.name}")
        return {"FINISHED"}


CLASSES = (
    EXCITING_DANCE_OT_find_markers,
    EXCITING_DANCE_OT_tick_markers,
    EXCITING_DANCE_OT_place_marker,
    EXCITING_DANCE_OT_save_markers,
)
