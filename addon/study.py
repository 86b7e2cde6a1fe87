"""An identification's folder as a scene: rig, motions, markers, forces, inertials and colours, all at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import bpy
import numpy as np

from . import action, armature, convert, inertials, recording
from . import bpy_access as typed
from . import custom_properties as custom
from .legend import show_quantity
from .solver_api import (
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
    write_folder,
)
from .solver_api import study_folder as files
from .transaction import all_or_nothing

STUDY_KEY, TRIAL_KEY, BODY_KEY = "exciting_dance_study", "exciting_dance_trial", "exciting_dance_body"
"""Custom properties: of the armature object, the folder it shows; of an action or a recording's collection, the trial
that it is; of an action, the armature object that it moves."""
BLEND_FOLDER = "//"
"""Blender's word for the folder of the .blend file."""
ERROR_KEY = "marker_error"
"""Animated custom property of the armature object: the markers' root mean square distance from the body [m]."""
FLIGHT_MARKERS = ("take-off", "landing")
"""Names of the markers at either end of a flight."""
HIGHEST_FRAME_RATE = 250.0
"""[1/s] A scene plays at the recording's rate up to here."""


@dataclass(frozen=True, slots=True)
class Study:
    """What a folder holds, read and checked.

    Attributes:
        folder: it.
        rig: whose motions they are.
        result: of the identification, or None when only tracked.
        motions, recordings: by trial.
        report: the HTML report, or None.
    """

    folder: Path
    rig: Rig
    result: SceneResult | None = None
    motions: dict[str, SceneMotion] = field(default_factory=dict)
    recordings: dict[str, SceneRecording] = field(default_factory=dict)
    report: Path | None = None


def read_study(folder: str | Path) -> Study:
    """Read the folder that ``python -m solver identify`` or ``track`` made.

    Raises:
        InputError: the folder or its rig is missing, or a file is damaged.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise errors.InputError(folder, "is no folder", remedy="Name the folder of results of `identify`")
    study = read_consistent(folder, lambda: _read(folder))
    _check_links(folder, study)
    return study


def _read(folder: Path) -> Study:
    motions = {name: MOTION.read(path).scene for name, path in files.trial_files(folder, files.MOTION_END).items()}
    recordings = {name: RECORDING.read(path) for name, path in files.trial_files(folder, files.RECORDING_END).items()}
    rig, result, report = (folder / name for name in (files.RIG_FILE, files.RESULT_FILE, files.REPORT_FILE))
    return Study(
        folder=folder,
        rig=read_rig(rig),
        result=RESULT.read(result) if result.exists() else None,
        motions=motions,
        recordings=recordings,
        report=report if report.exists() else None,
    )


def _check_links(folder: Path, study: Study) -> None:
    """Refuse files of different rigs here, before the scene is touched."""
    links, remedy = study.rig.links, f"It is of another rig than {files.RIG_FILE}: let one command write all files"
    for name, motion in study.motions.items():
        if motion.links != links:
            raise errors.InputError(folder / f"{name}{files.MOTION_END}", "moves other links", remedy=remedy)
    if study.result is not None and set(study.result.links) != set(links):
        raise errors.InputError(folder / files.RESULT_FILE, "names other links", remedy=remedy)


def show_study(context: bpy.types.Context, study: Study, *, onto: bpy.types.Object | None = None) -> bpy.types.Object:
    """Put a study into the scene; if anything fails nothing stays.

    Args:
        context: whose scene receives it.
        study: to show.
        onto: an armature of the same links to write to; a new one is made when None or when the joints differ.

    Returns:
        the armature, coloured by mass.
    """
    with all_or_nothing():
        body = onto if onto is not None and not armature.rig_problem(onto, data=True) else None
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
        show_quantity(typed.scene(context), body, "mass")
        body[STUDY_KEY] = str(study.folder.resolve())
    recording.remove_recordings(earlier)  # only now: what is removed cannot be put back
    return body


def study_folder_of(body: bpy.types.Object) -> Path | None:
    """The folder of the results that a body shows; None for a body without a study."""
    named = custom.read_label(body, STUDY_KEY)
    folder = bpy.path.abspath(named)
    return Path(folder) if named and _can_exist(folder) else None


@lru_cache(16)
def _can_exist(folder: str) -> bool:
    """Whether a disk can have a folder of this name: what it does not take was not written by the add-on."""
    try:
        Path(folder).exists()
    except (OSError, ValueError):
        return False
    return True


def played_trial(body: bpy.types.Object) -> str:
    """The trial that a body plays now; empty when it plays none of its study."""
    action = body.animation_data.action if body.animation_data else None
    return custom.read_label(action, TRIAL_KEY) if action else ""


def make_scene(folder: str | Path, *, picture: bool = True) -> tuple[Path, Path | None]:
    """Make ``scene.blend`` and ``body.png`` in a study's folder, in a fresh Blender session.

    Returns:
        paths of the scene and of the picture (None when not asked for).
    """
    from .render import render_body

    folder = Path(folder).resolve()
    study = read_study(folder)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    body = show_study(bpy.context, study)
    body[STUDY_KEY] = BLEND_FOLDER
    with write_folder(folder, keep_previous=True) as building:
        if picture:
            render_body(bpy.context, body, building / files.PICTURE_FILE)
        bpy.ops.wm.save_as_mainfile(filepath=str(building / files.SCENE_FILE), compress=True)
    return folder / files.SCENE_FILE, folder / files.PICTURE_FILE if picture else None


def _is_superseded(collection: bpy.types.Collection, body: bpy.types.Object, study: Study) -> bool:
    """Whether a study shows a recording anew: one imported before, or one of an earlier study of the same body."""
    name = custom.read_label(collection, recording.RECORDING_KEY)
    return name in study.recordings and collection.get(BODY_KEY, body) == body


def _add_motions(context: bpy.types.Context, body: bpy.types.Object, study: Study) -> list[bpy.types.Collection]:
    """Give the body a study's motions and the scene its recordings; the recordings that are shown twice now."""
    scene = typed.scene(context)
    rates = [(len(m) - 1) / (m.times[-1] - m.times[0]) for m in study.motions.values() if len(m) > 1]
    earlier = [child for child in recording.find_recordings(scene) if _is_superseded(child, body, study)]
    if rates and action.can_change_frame_rate(scene, [body, *(item for child in earlier for item in child.objects)]):
        action.set_frame_rate(scene, min(max(rates), HIGHEST_FRAME_RATE))
    for name, found in study.recordings.items():
        collection = recording.add_recording(context, found, name)
        collection[TRIAL_KEY], collection[BODY_KEY] = name, body
    into = body.matrix_world.inverted()  # recordings are the world's, wherever the rig was put
    for name, motion in study.motions.items():
        made = action.add_motion_action(scene, body, convert.transform_motion(into, motion), name)
        made.use_fake_user = True
        made[TRIAL_KEY], made[BODY_KEY] = name, body
        key_marker_errors(scene, body, made, study.folder / f"{name}{files.MARKERS_END}")
        _add_flight_markers(scene, made, name, study.result)
    first = next(iter(study.motions), next(iter(study.recordings), None))
    if first is not None:
        show_trial(context, body, first)
    return earlier


def key_marker_errors(scene: bpy.types.Scene, body: bpy.types.Object, made: bpy.types.Action, path: Path) -> None:
    """Key the error of all markers together, frame by frame, as the property `ERROR_KEY`; none without a file."""
    if not path.exists():
        return
    table = np.genfromtxt(path, delimiter=",", skip_header=1, ndmin=2)
    seen = np.isfinite(table[:, 1:])
    squares = np.where(seen, table[:, 1:], 0.0) ** 2
    shown = seen.any(axis=1)
    error = np.sqrt(squares.sum(axis=1)[shown] / seen.sum(axis=1)[shown])
    body[ERROR_KEY] = 0.0
    body.id_properties_ui(ERROR_KEY).update(description="Markers' distance from the body, root mean square [m]")
    curves = action.Curves(made, None, made.slots[0])
    curves.add(f'["{ERROR_KEY}"]', action.frames_at(scene, table[shown, 0]), error, group="Tracking")


def _add_flight_markers(scene: bpy.types.Scene, made: bpy.types.Action, trial: str, result: SceneResult | None) -> None:
    """Markers on an action where an identification from flight alone saw the body leave the ground and come back."""
    told = None if result is None else result.details.get("from_flight")
    for name, *span in [] if not told else [*told["used"], *told["short"]]:
        if name == trial:
            for label, frame in zip(FLIGHT_MARKERS, action.frames_at(scene, np.array(span)), strict=True):
                made.pose_markers.new(label).frame = round(frame)


def find_trial_actions(body: bpy.types.Object) -> list[bpy.types.Action]:
    """The motions of a body's trials."""
    own = (item for item in bpy.data.actions if item.get(BODY_KEY) == body and len(item.slots))
    return [item for item in own if custom.read_label(item, TRIAL_KEY)]


def find_trials(body: bpy.types.Object) -> list[str]:
    """Names of the trials whose motion a body can play."""
    return sorted(custom.read_label(item, TRIAL_KEY) for item in find_trial_actions(body))


def show_recording(context: bpy.types.Context, body: bpy.types.Object, name: str | None) -> None:
    """Show the recording of one trial of a body's study and no other; none for None."""
    for child in typed.view_layer(context).layer_collection.children:
        trial = custom.read_label(child.collection, TRIAL_KEY)
        if trial and child.collection.get(BODY_KEY) == body:
            child.exclude = trial != name


def show_trial(context: bpy.types.Context, body: bpy.types.Object, name: str) -> None:
    """Play a trial of a body's study from its start, with its recording and no other."""
    show_recording(context, body, name)
    found = [item for item in find_trial_actions(body) if custom.read_label(item, TRIAL_KEY) == name]
    if found:
        animation = body.animation_data or body.animation_data_create()
        animation.action, animation.action_slot = found[-1], found[-1].slots[0]
        first, last = (found[-1].frame_range[end] for end in (0, 1))
        action.set_frame_range(typed.scene(context), first, last)
