"""Shows a study's folder in the scene: rig, motions, markers, forces, inertial parameters and colours."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import bpy
import numpy as np

from ..base import bpy_access, convert, custom_properties
from ..base.file_cache import FileCache
from ..base.solver_api import (
    MOTION,
    RECORDING,
    RESULT,
    Rig,
    SceneMotion,
    SceneRecording,
    SceneResult,
    errors,
    read_consistent,
    read_rig,
    stored_file,
    write_folder,
)
from ..base.solver_api import study_folder as files
from ..base.transaction import all_or_nothing
from ..scene import action, armature, inertials, recording
from ..scene.colours import colour_body

STUDY_KEY, TRIAL_KEY, BODY_KEY = "exciting_dance_study", "exciting_dance_trial", "exciting_dance_body"
"""Custom properties: folder of the study (armature object); trial name (action, and collection of a recording);
armature object that an action belongs to (action, and collection of a recording)."""
BLEND_FOLDER = "//"
"""Blender's path of the .blend file's folder."""
REPORTS: FileCache[Path] = FileCache(lambda path: path)
"""Cache of the existing reports."""
ERROR_KEY = "marker_error"
"""Animated custom property of the armature object: RMS marker error [m]."""
FLIGHT_MARKERS = ("take-off", "landing")
"""Names of the pose markers at the ends of a flight."""
HIGHEST_FRAME_RATE = 250.0
"""[1/s] Highest frame rate that a recording sets for the scene."""


@dataclass(frozen=True, slots=True)
class OpenedStudy:
    """Checked contents of a study's folder.

    Attributes:
        folder: the folder.
        rig: rig of the motions.
        result: result of the identification; None if the study was only tracked.
        motions, recordings: by trial.
        report: path of the HTML report, or None.
    """

    folder: Path
    rig: Rig
    result: SceneResult | None = None
    motions: dict[str, SceneMotion] = field(default_factory=dict)
    recordings: dict[str, SceneRecording] = field(default_factory=dict)
    report: Path | None = None


def read_study(folder: str | Path) -> OpenedStudy:
    """Read the folder that ``python -m solver identify`` or ``track`` wrote.

    Raises:
        InputError: the folder or its rig is missing, or a file is damaged.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise errors.InputError(folder, "is not a folder", remedy="Choose the results folder of `identify`")
    study = read_consistent(folder, lambda: _read(folder))
    _check_links(folder, study)
    return study


def _read(folder: Path) -> OpenedStudy:
    motions = files.read_trial_files(folder, files.MOTION_END, MOTION)
    rig, result = stored_file(folder, files.RIG_FILE), stored_file(folder, files.RESULT_FILE)
    report = folder / files.REPORT_FILE
    return OpenedStudy(
        folder=folder,
        rig=read_rig(rig),
        result=RESULT.read(result) if result.exists() else None,
        motions={name: record.scene for name, record in motions.items()},
        recordings=files.read_trial_files(folder, files.RECORDING_END, RECORDING),
        report=report if report.exists() else None,
    )


def _check_links(folder: Path, study: OpenedStudy) -> None:
    """Raise an error for files of different rigs, before the scene is changed."""
    links, remedy = (
        study.rig.links,
        f"It belongs to another rig than {files.RIG_FILE}: write all files with one command",
    )
    for name, motion in study.motions.items():
        if motion.links != links:
            raise errors.InputError(folder / f"{name}{files.MOTION_END}", "has other links", remedy=remedy)
    if study.result is not None and set(study.result.links) != set(links):
        raise errors.InputError(folder / files.RESULT_FILE, "has other links", remedy=remedy)


def show_study(
    context: bpy.types.Context, study: OpenedStudy, *, onto: bpy.types.Object | None = None
) -> bpy.types.Object:
    """Show a study in the scene; an error leaves the scene unchanged.

    Args:
        context: its scene receives the study.
        study: the study.
        onto: rig to use; if it is None, scaled, or has other joints, a new one is built.

    Returns:
        the armature, coloured by mass.
    """
    with all_or_nothing():
        body = onto
        if body is not None and (armature.rig_problem(body, data=True) or armature.scale_problem(body)):
            body = None
        if body is not None and not armature.rig_of(body).same_skeleton(study.rig):
            body = None
        if body is None:
            body = armature.build_armature(context, study.rig)
            armature.hide_rig(onto)
        earlier = _add_motions(context, body, study)
        if study.result is None:
            inertials.write_prior(body)
        else:
            inertials.write_inertials(body, study.result)
        colour_body(bpy_access.scene(context), body, "mass")
        body[STUDY_KEY] = str(study.folder.resolve())
    recording.remove_recordings(earlier)  # last, because removed data cannot be restored
    return body


def study_folder_of(body: bpy.types.Object) -> Path | None:
    """Results folder of a body's study; None without a study."""
    named = custom_properties.read_label(body, STUDY_KEY)
    folder = bpy.path.abspath(named)
    return Path(folder) if named and _is_valid_path(folder) else None


def find_report(body: bpy.types.Object | None) -> Path | None:
    """The report of a rig's study; None without one."""
    folder = None if body is None else study_folder_of(body)
    return None if folder is None else REPORTS.get(folder / files.REPORT_FILE)


@lru_cache(16)
def _is_valid_path(folder: str) -> bool:
    """Whether a path is valid; an invalid one was not written by the add-on."""
    try:
        Path(folder).exists()
    except (OSError, ValueError):
        return False
    return True


def played_trial(body: bpy.types.Object) -> str:
    """Name of the trial that a body plays; empty if it plays none."""
    action = body.animation_data.action if body.animation_data else None
    return custom_properties.read_label(action, TRIAL_KEY) if action else ""


def make_scene(folder: str | Path, *, picture: bool = True, scene: bool = True) -> tuple[Path, ...]:
    """Write ``scene.blend`` and ``body.png`` to a study's folder, and the picture into its report, from an emptied
    Blender session.

    Returns:
        paths of the picture and of the scene that were written.
    """
    from ..drawing.render import render_body

    folder = Path(folder).resolve()
    study = read_study(folder)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    body = show_study(bpy.context, study)
    body[STUDY_KEY] = BLEND_FOLDER
    with write_folder(folder, keep_previous=True) as building:
        if picture:
            painted = render_body(bpy.context, body, building / files.PICTURE_FILE)
            if study.report is not None:
                page = files.embed_picture(study.report.read_text(encoding="utf-8"), painted)
                (building / files.REPORT_FILE).write_text(page, encoding="utf-8")
        if scene:
            bpy.ops.wm.save_as_mainfile(filepath=str(building / files.SCENE_FILE), compress=True)
    return (*[folder / files.SCENE_FILE] * scene, *[folder / files.PICTURE_FILE] * picture)


def _is_superseded(collection: bpy.types.Collection, body: bpy.types.Object, study: OpenedStudy) -> bool:
    """Whether a study replaces a recording: an imported one, or one of an earlier study of the same body."""
    name = custom_properties.read_label(collection, recording.RECORDING_KEY)
    return name in study.recordings and collection.get(BODY_KEY, body) == body


def _add_motions(context: bpy.types.Context, body: bpy.types.Object, study: OpenedStudy) -> list[bpy.types.Collection]:
    """Add a study's motions to the body and its recordings to the scene; returns the recordings that they replace."""
    scene = bpy_access.scene(context)
    rates = [(len(m) - 1) / (m.times[-1] - m.times[0]) for m in study.motions.values() if len(m) > 1]
    earlier = [child for child in recording.find_recordings(scene) if _is_superseded(child, body, study)]
    if rates and action.can_change_frame_rate(scene, [body, *(item for child in earlier for item in child.objects)]):
        action.set_frame_rate(scene, min(max(rates), HIGHEST_FRAME_RATE))
    for name, found in study.recordings.items():
        collection = recording.add_recording(context, found, name)
        collection[TRIAL_KEY], collection[BODY_KEY] = name, body
    into = body.matrix_world.inverted()  # recordings are in world coordinates
    for name, motion in study.motions.items():
        made = action.add_motion_action(scene, body, convert.transform_motion(into, motion), name)
        made.use_fake_user = True
        made[TRIAL_KEY], made[BODY_KEY] = name, body
        key_marker_errors(scene, body, made, study.folder / f"{name}{files.MARKERS_END}")
        _add_flight_markers(scene, made, name, study.result)
    if study.motions:
        show_trial(context, body, next(iter(study.motions)))
    elif study.recordings:
        show_recording(context, body, next(iter(study.recordings)))
    return earlier


def key_marker_errors(scene: bpy.types.Scene, body: bpy.types.Object, made: bpy.types.Action, path: Path) -> None:
    """Key the RMS error of all markers per frame as the property `ERROR_KEY`; does nothing without a file."""
    if not path.exists():
        return
    table = np.genfromtxt(path, delimiter=",", skip_header=1, ndmin=2)
    measured = np.isfinite(table[:, 1:])
    squares = np.where(measured, table[:, 1:], 0.0) ** 2
    shown = measured.any(axis=1)
    error = np.sqrt(squares.sum(axis=1)[shown] / measured.sum(axis=1)[shown])
    body[ERROR_KEY] = 0.0
    body.id_properties_ui(ERROR_KEY).update(description="RMS marker error [m]")
    curves = action.ActionCurves(made, None, made.slots[0])
    curves.add(f'["{ERROR_KEY}"]', action.frames_at(scene, table[shown, 0]), error, group="Tracking")


def _add_flight_markers(
    scene: bpy.types.Scene, trial_action: bpy.types.Action, trial: str, result: SceneResult | None
) -> None:
    """Add pose markers at take-off and landing of the flights that an identification from flight used."""
    flights = None if result is None else result.details.get("from_flight")
    for name, *span in [] if not flights else [*flights["used"], *flights["short"]]:
        if name == trial:
            for label, frame in zip(FLIGHT_MARKERS, action.frames_at(scene, np.array(span)), strict=True):
                trial_action.pose_markers.new(label).frame = round(frame)


def find_trial_actions(body: bpy.types.Object) -> list[bpy.types.Action]:
    """Actions of a body's trials."""
    own = (item for item in bpy.data.actions if item.get(BODY_KEY) == body and len(item.slots))
    return [item for item in own if custom_properties.read_label(item, TRIAL_KEY)]


def find_trials(body: bpy.types.Object) -> list[str]:
    """Names of a body's trials."""
    return sorted(custom_properties.read_label(item, TRIAL_KEY) for item in find_trial_actions(body))


def show_recording(context: bpy.types.Context, body: bpy.types.Object, name: str | None) -> None:
    """Show the recording of one trial of a body's study and hide the others; None hides all."""
    for child in bpy_access.view_layer(context).layer_collection.children:
        trial = custom_properties.read_label(child.collection, TRIAL_KEY)
        if trial and child.collection.get(BODY_KEY) == body:
            child.exclude = trial != name


def show_trial(context: bpy.types.Context, body: bpy.types.Object, name: str) -> None:
    """Play a trial of a body's study from its start, and show only its recording.

    Raises:
        InvalidValue: the file has no such trial of this body.
    """
    found = [item for item in find_trial_actions(body) if custom_properties.read_label(item, TRIAL_KEY) == name]
    if not found:
        raise errors.InvalidValue(f"{body.name} has no trial {name!r}: track or identify its recordings")
    show_recording(context, body, name)
    action.assign_action(body, found[-1], found[-1].slots[0])
    action.set_frame_range(bpy_access.scene(context), found[-1].frame_range[0], found[-1].frame_range[1])
