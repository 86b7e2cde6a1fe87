"""Operators that add recordings to the scene and the list."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import bpy
from bpy_extras.io_utils import ExportHelper, ImportHelper

from ..base.bpy_access import Status, require, scene
from ..base.custom_properties import read_label
from ..base.scene_rigs import active_rig
from ..base.solver_api import errors, recording_suffixes
from ..base.transaction import all_or_nothing
from ..display.properties import RESEARCH, study_settings
from ..jobs.job import JobOperator
from ..jobs.job_messages import JobMessage, dismiss_message, store_message
from .base import DroppedFile, SceneOperator, report_error

if TYPE_CHECKING:
    from ..base.solver_api import SceneRecording

PANEL = "recording"
SAMPLE_FOLDER, SAMPLE_PERSON = "simulated_person", (1.76, 71.0, "male")
"""Folder of the samples with a person's recordings, and height [m], mass [kg] and sex of the person."""
FILE_PATTERN = ";".join(f"*{suffix}" for suffix in recording_suffixes())


def import_recordings(context: bpy.types.Context, paths: list[Path]) -> list[str]:
    """List recordings and show them, replacing those that are already shown.

    Files are combined with each other and with listed ones, so that forces can be added after their markers. If nothing
    else is animated, the scene gets the rate of the fastest recording and the range of the first one.

    Returns:
        names of the trials that the paths belong to.

    Raises:
        InputError: a file is missing or damaged; nothing was changed.
    """
    from ..base.solver_api import find_trial_files, read_trials
    from ..display.study import HIGHEST_FRAME_RATE
    from ..scene.action import set_frame_rate
    from ..scene.recording import (
        FILES_KEY,
        add_recording,
        find_recordings,
        is_only_recordings,
        read_files,
        remove_recordings,
        set_range_to_recording,
        show_only,
    )

    now, chosen = scene(context), study_settings(context).files
    fresh = {file.absolute() for files in find_trial_files(paths).values() for file in files}
    listed = [Path(bpy.path.abspath(item.path)).absolute() for item in chosen]
    trials = find_trial_files([*listed, *sorted(fresh - set(listed))])
    names = [name for name, files in trials.items() if fresh & set(files)]
    shown = {read_files(child): child for child in find_recordings(now) if read_files(child)}
    old = [child for key, child in shown.items() if fresh & set(map(Path, key.split("\n")))]
    free = is_only_recordings(now)
    read = {name: next(iter(read_trials(trials[name]).values())) for name in (trials if free else names)}
    with all_or_nothing():
        if free:
            rates = [rate for recording in read.values() if (rate := marker_rate(recording)) > 0.0]
            if rates:
                set_frame_rate(now, min(max(rates), HIGHEST_FRAME_RATE))
            old, names_now = list(shown.values()), list(read)  # earlier ones may have been keyed at another frame rate
        else:
            names_now = names
        made = {name: add_recording(context, read[name], name) for name in names_now}
        for name, collection in made.items():
            collection[FILES_KEY] = "\n".join(map(str, trials[name]))
        set_range_to_recording(now, made[names[0]])
    remove_recordings(old)
    for file in sorted(fresh - set(listed)):
        chosen.add().path = str(file)
    show_only(context, names[0])
    return names


def marker_rate(recording: SceneRecording) -> float:
    """Sampling rate of a recording's markers [1/s]; 0 without markers."""
    times = recording.marker_times
    return (len(times) - 1) / float(times[-1] - times[0]) if len(times) > 1 else 0.0


def show_imported(context: bpy.types.Context, paths: list[Path]) -> list[str]:
    """Import recordings as `import_recordings` does, frame the view and the timelines, and show the tab in Research."""
    from ..drawing.viewport import fit_timelines, frame_objects, hide_startup_cube, open_tab
    from ..scene.recording import RECORDING_KEY, find_recordings

    names = import_recordings(context, paths)
    fresh = (child for child in find_recordings(scene(context)) if read_label(child, RECORDING_KEY) in names)
    items = [item for child in fresh for item in child.objects]
    frame_objects(context, [item for item in items if item.visible_get()] or items)
    fit_timelines(context)
    hide_startup_cube(context)
    open_tab()
    study_settings(context).mode = RESEARCH
    return names


class EXCITING_DANCE_OT_import_recording(bpy.types.Operator, ImportHelper):  # type: ignore[misc]
    """Import recordings, as files or a folder: show them animated, and list them for tracking"""

    bl_idname = "exciting_dance.import_recording"
    bl_label = "Import Recording"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    files: bpy.props.CollectionProperty(type=bpy.types.OperatorFileListElement, options={"SKIP_SAVE"})  # type: ignore[valid-type]
    directory: bpy.props.StringProperty(subtype="DIR_PATH", options={"SKIP_SAVE"})  # type: ignore[valid-type]
    filter_glob: bpy.props.StringProperty(default=FILE_PATTERN, options={"HIDDEN"})  # type: ignore[valid-type]

    def execute(self, context: bpy.types.Context) -> Status:
        try:
            chosen = [Path(self.directory) / file.name for file in self.files if file.name]
            names = show_imported(context, chosen or [Path(self.filepath or self.directory)])  # type: ignore[attr-defined]
        except errors.SolverError as error:
            store_message(scene(context), active_rig(context), PANEL, JobMessage(str(error), "failed"))
            return report_error(self, error)
        dismiss_message(scene(context), active_rig(context), PANEL)
        self.report({"INFO"}, f"Ready to track: {', '.join(names)}")
        return {"FINISHED"}

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Status:  # type: ignore[override]
        if self.directory and any(file.name for file in self.files):  # files were dropped onto the window
            return self.execute(context)
        return super().invoke(context, event)


class EXCITING_DANCE_OT_sample_study(JobOperator, bpy.types.Operator):
    """Write and import simulated recordings of a person, to try the program on"""

    bl_idname = "exciting_dance.sample_study"
    bl_label = "Sample Study"
    title, panel, keeps_folder = "Writing samples", PANEL, True

    def arguments(self, context: bpy.types.Context, folder: Path) -> list[str]:
        return ["samples", str(folder)]

    def apply(self, context: bpy.types.Context, folder: Path) -> JobMessage:
        names, settings = show_imported(context, [folder / SAMPLE_FOLDER]), study_settings(context)
        settings.height, settings.mass, settings.sex, settings.weigh = *SAMPLE_PERSON, False
        return JobMessage(f"Simulated recordings: {', '.join(names)}", notes=(f"They are in {folder}",))


class EXCITING_DANCE_OT_remove_file(SceneOperator, bpy.types.Operator):
    """Remove the file from the list, and its recording from the scene"""

    bl_idname = "exciting_dance.remove_file"
    bl_label = "Remove File"

    @classmethod
    def find_problem(cls, context: bpy.types.Context) -> str:
        return "" if len(study_settings(context).files) else "The list is empty"

    def run(self, context: bpy.types.Context) -> None:
        from ..scene.recording import find_recordings, read_files, remove_recordings

        settings = study_settings(context)
        if settings.file_index >= len(settings.files):
            settings.file_index = len(settings.files) - 1
        removed = str(Path(bpy.path.abspath(settings.files[settings.file_index].path)).absolute())
        remove_recordings(
            child for child in find_recordings(scene(context)) if removed in read_files(child).split("\n")
        )
        settings.files.remove(settings.file_index)
        settings.file_index = min(settings.file_index, max(len(settings.files) - 1, 0))


class EXCITING_DANCE_OT_take_armature(JobOperator, bpy.types.Operator, ExportHelper):  # type: ignore[misc]
    """Write the motion of any armature's bones as a recording, which can be tracked"""

    bl_idname = "exciting_dance.take_armature"
    bl_label = "Record Armature"
    title, panel = "Recording the armature", PANEL

    filename_ext = ".npz"
    filter_glob: bpy.props.StringProperty(default="*.npz", options={"HIDDEN"})  # type: ignore[valid-type]

    @classmethod
    def find_problem(cls, context: bpy.types.Context) -> str:
        found = context.active_object
        return (
            "Select the armature to record" if found is None or found.type != "ARMATURE" or not found.data.bones else ""
        )

    def steps(self, context: bpy.types.Context) -> Iterator[float]:
        from ..scene.recording import record_segments

        self._segments = yield from record_segments(require(context.active_object, "armature"), scene(context))

    def arguments(self, context: bpy.types.Context, folder: Path) -> None:
        return None

    def apply(self, context: bpy.types.Context, folder: Path) -> JobMessage:
        from ..base.solver_api import Recording, write_recording_npz

        path, segments = Path(self.filepath), self._segments  # type: ignore[attr-defined]
        write_recording_npz(path, Recording("armature", segments=segments))
        if str(path) not in [item.path for item in study_settings(context).files]:
            study_settings(context).files.add().path = str(path)
        return JobMessage(f"Ready to track: {len(segments)} frames of {len(segments.names)} bones")


class EXCITING_DANCE_FH_recording(DroppedFile, bpy.types.FileHandler):
    """Recordings dropped onto the 3D view."""

    bl_idname = "EXCITING_DANCE_FH_recording"
    bl_label = "Motion Recording"
    bl_import_operator = "exciting_dance.import_recording"
    bl_file_extensions = ";".join(recording_suffixes())


CLASSES = (
    EXCITING_DANCE_OT_import_recording,
    EXCITING_DANCE_OT_sample_study,
    EXCITING_DANCE_OT_remove_file,
    EXCITING_DANCE_OT_take_armature,
    EXCITING_DANCE_FH_recording,
)
