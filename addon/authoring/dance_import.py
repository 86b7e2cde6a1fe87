"""Shows a dance folder in the scene: generated keys between postures, contact curves, and excitation scores."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import bpy
import numpy as np
from mathutils import Matrix

from ..base import bpy_access, convert
from ..base.solver_api import (
    MOTION,
    PARTS,
    SUMMARY,
    Rig,
    SceneKey,
    SceneMotion,
    SceneStrip,
    SceneSummary,
    dance_folder,
    errors,
    read_consistent,
    stored_file,
    study_folder,
    write_folder,
)
from ..base.transaction import all_or_nothing
from ..display.study import BODY_KEY, TRIAL_KEY, show_recording
from ..scene import action, armature, inertials, scores
from ..scene.action import CHANNELS, EULER, ActionCurves, frames_at
from ..scene.check_settings import store_checks
from ..scene.colours import colour_body
from .pose_sampling import bone_path
from .resample import resample as resample
from .timeline import (
    CONTACT_PREFIX,
    FRAME_TOLERANCE,
    GENERATED,
    KEY_TYPE_NUMBERS,
    ROLE_TYPES,
    contact_path,
    flight_spans,
    motion_range,
    read_key_roles,
    read_posture_names,
    times_at_frames,
)

PICTURED_QUANTITIES = ("mass", "excitation", "deviation")
"""Quantities in a dance's picture."""
END_TOLERANCE = 0.02
"""[s] A key within this time of an end of the dance counts as that end."""
COUNT_PREFIX = "♪"
"""First character of the timeline's markers at the counts of the dance that was shown last."""
CONTACTS_GROUP = "Contacts"
"""Group of the contact curves in the Dope Sheet."""


@dataclass(frozen=True, slots=True)
class ImportedDance:
    """Contents of a dance folder.

    Attributes:
        folder: the folder.
        summary: summary of the verb, with keys and strips.
        motion: sampled motion; None after a check.
        rig: rig of the motion; None to use a rig of the scene as it is.
    """

    folder: Path
    summary: SceneSummary
    motion: SceneMotion | None = None
    rig: Rig | None = None


def read_dance(folder: str | Path) -> ImportedDance:
    """Read a dance folder.

    Raises:
        InputError: the folder contains no summary, or a file is damaged.
    """
    folder = Path(folder)
    return read_consistent(folder, lambda: _read(folder))


def _read(folder: Path) -> ImportedDance:
    summary = SUMMARY.read(stored_file(folder, dance_folder.SUMMARY_FILE))
    motion = stored_file(folder, dance_folder.MOTION_FILE)
    if not motion.exists():
        return ImportedDance(folder, summary)
    record = MOTION.read(motion)
    return ImportedDance(folder, summary, record.scene, record.rig)


def show_dance(
    context: bpy.types.Context,
    dance: ImportedDance,
    *,
    target: bpy.types.Object | None = None,
    name: str = "Dance",
) -> bpy.types.Object:
    """Add a dance to a rig as a new action, mark its counts and set the scene's range; an error changes nothing.

    Args:
        context: its scene receives the dance.
        dance: a dance with a motion.
        target: rig for the dance; if it is None or does not match the dance's rig, a new one is built.
        name: name of the action.

    Returns:
        the armature.
    """
    scene = bpy_access.scene(context)
    with all_or_nothing():
        body = target
        if dance.rig is not None:
            taken = body is not None and not armature.rig_problem(body, data=True) and not armature.scale_problem(body)
            if body is None or not taken or not armature.rig_of(body).same_skeleton(dance.rig):
                body = armature.build_armature(context, dance.rig)
                inertials.write_prior(body)
                colour_body(scene, body, "mass")
                armature.hide_rig(target)
            else:
                armature.store_rig(body, dance.rig)
        body = bpy_access.require(body, "rig for the dance")
        armature.require_unscaled(body)
        old = body.animation_data.action if body.animation_data else None
        made = bpy.data.actions.new(name)
        _key_dance(scene, body, ActionCurves(made, body), dance, body.matrix_world.inverted())
        store_checks(body, dance.summary.checks)
        scores.write_scores(body, dance.summary.excitation, dance.summary.deviation)
        first, last = motion_range(scene, body)
        action.set_frame_range(scene, first, last)
        show_recording(context, body, None)  # it does not belong to this motion
        if old is not None:
            old.use_fake_user = True
    for marker in [marker for marker in scene.timeline_markers if marker.name.startswith(COUNT_PREFIX)]:
        scene.timeline_markers.remove(marker)
    for time, number in dance.summary.counts:
        scene.timeline_markers.new(f"{COUNT_PREFIX}{number}", frame=round(float(frames_at(scene, np.array(time)))))
    return body


def make_dance_scene(folder: str | Path, *, picture: bool = True) -> tuple[Path, ...]:
    """Write ``scene.blend`` and ``body.png`` to a designed dance's folder, from an emptied Blender session.

    Returns:
        paths of the scene and, with ``picture``, of the picture.
    """
    from ..drawing.render import render_body

    folder = Path(folder).resolve()
    dance = read_dance(folder)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    body = show_dance(bpy.context, dance)
    with write_folder(folder, keep_previous=True) as building:
        if picture:
            render_body(bpy.context, body, building / study_folder.PICTURE_FILE, PICTURED_QUANTITIES)
        bpy.ops.wm.save_as_mainfile(filepath=str(building / study_folder.SCENE_FILE), compress=True)
    return (folder / study_folder.SCENE_FILE, *[folder / study_folder.PICTURE_FILE] * picture)


def add_dance_action(
    scene: bpy.types.Scene, body: bpy.types.Object, target: bpy.types.Object, dance: ImportedDance, name: str
) -> None:
    """Add a copy of a body's action to a target with the same bones, with the rig's curves replaced by a dance.

    Other curves of the action are kept, and the body's own action is not changed.

    Raises:
        InvalidValue: the body is scaled or mirrored.
    """
    armature.require_unscaled(body)
    animation = body.animation_data
    if animation is None or animation.action is None or animation.action_slot is None:
        made = bpy.data.actions.new(name)
        curves = ActionCurves(made, target)
    else:
        made = bpy_access.local_copy(animation.action)
        made.name = name
        for key in (TRIAL_KEY, BODY_KEY):
            if key in made:
                del made[key]
        curves = ActionCurves(made, target, made.slots[animation.action_slot.identifier])
        curves.remove(_dance_paths(body))
    _key_dance(scene, target, curves, dance, body.matrix_world.inverted(), source=body)
    scores.store_scores(made, dance.summary.excitation, dance.summary.deviation)


def frames_of_keys(scene: bpy.types.Scene, keys: tuple[SceneKey, ...], existing: list[float]) -> dict[float, SceneKey]:
    """Keys by frame: the frame of an existing key at the same time, otherwise the nearest integer frame."""
    result = {}
    for key in keys:
        frame = float(frames_at(scene, np.array(key.time)))
        near = [other for other in existing if abs(other - frame) < FRAME_TOLERANCE]
        result[near[0] if near else float(round(frame))] = key
    return result


def contact_keys(
    strips: tuple[SceneStrip, ...], patch: str, first: float, last: float
) -> tuple[np.ndarray, np.ndarray]:
    """Times (K,) [s] and values (K,) of a patch's contact curve between first and last, from strips: see `PARTS`.

    The first value is the state at the start. A strip that lasts until the end has no key there.
    """
    own = sorted((strip for strip in strips if strip.patch == patch), key=lambda strip: strip.start)
    edges = [(strip.start, 1.0 + PARTS.index(strip.part)) for strip in own]
    starts = [*(strip.start for strip in own[1:]), np.inf]
    edges += [(strip.stop, 0.0) for strip, start in zip(own, starts) if strip.stop + 1e-6 < min(start, last)]
    edges.sort()
    if not edges or edges[0][0] > first + 1e-6:
        edges.insert(0, (first, 0.0))
    times, values = zip(*edges)
    return np.array(times), np.array(values)


def _key_dance(
    scene: bpy.types.Scene,
    target: bpy.types.Object,
    curves: ActionCurves,
    dance: ImportedDance,
    world_to_target: Matrix,
    source: bpy.types.Object | None = None,
) -> None:
    """Key a dance on a target: generated keys, postures with their roles, contacts, and names as pose markers."""
    motion = bpy_access.require(dance.motion, "motion of the dance")
    if motion.links != armature.rig_of(target).links:
        raise errors.InputError(
            dance.folder, "has other links than the rig", remedy="Choose the rig that it was made for"
        )
    existing = list(read_key_roles(source)) if source is not None else []
    keys = frames_of_keys(scene, _clip_keys(dance) if source is not None else _keys_with_ends(dance), existing)
    span = frames_at(scene, motion.times[[0, -1]])
    frames = _dense_frames(span, list(keys))
    sample_frames = frames_at(scene, motion.times)
    for flight in flight_spans(scene, dance.summary.strips):
        frames = _add_flight_samples(frames, sample_frames, flight, list(keys))
    moved = resample(convert.transform_motion(world_to_target, motion), times_at_frames(scene, frames))
    action.key_motion(curves, target, moved, frames)
    curves.set_key_types(frames, _key_types(frames, keys), _dance_paths(target))
    for name in armature.rig_of(target).patches:
        times, values = contact_keys(dance.summary.strips, name, *motion.times[[0, -1]].tolist())
        target[CONTACT_PREFIX + name] = 1.0
        curves.add(
            contact_path(name), frames_at(scene, times), values, group=CONTACTS_GROUP, interpolation=action.CONSTANT
        )
    earlier_names = (
        [] if source is None else [frame for frame in read_posture_names(source) if float(frame) in existing]
    )
    _name_postures(curves.action, keys, earlier_names)


def _keys_with_ends(dance: ImportedDance) -> tuple[SceneKey, ...]:
    """Keys of a designed dance with both ends, which must stay when in-betweens are removed."""
    keys, times = _clip_keys(dance), bpy_access.require(dance.motion, "motion of the dance").times
    ends = [float(end) for end in times[[0, -1]] if all(abs(key.time - end) > END_TOLERANCE for key in keys)]
    return tuple(sorted([*keys, *(SceneKey(end, "preferred") for end in ends)], key=lambda key: key.time))


def _clip_keys(dance: ImportedDance) -> tuple[SceneKey, ...]:
    """The dance's keys, clipped to its samples: the last sample may be up to one step earlier than the last key."""
    times = bpy_access.require(dance.motion, "motion of the dance").times
    return tuple(replace(key, time=float(np.clip(key.time, times[0], times[-1]))) for key in dance.summary.keys)


def _dense_frames(span: np.ndarray, keyed: list[float]) -> np.ndarray:
    """Integer frames that cover an interval, and the keyed frames between them."""
    first, last = np.floor(span[0] + FRAME_TOLERANCE), np.ceil(span[1] - FRAME_TOLERANCE)
    exact = [frame for frame in keyed if first <= frame <= last and abs(frame - round(frame)) > FRAME_TOLERANCE]
    return np.unique(np.concatenate([np.arange(first, max(last, first) + 0.5), exact]))


def _add_flight_samples(
    frames: np.ndarray, samples: np.ndarray, flight: tuple[float, float], keyed: list[float]
) -> np.ndarray:
    """Frames, with those in a flight replaced by the motion's samples if there are more samples than frames.

    Frames of postures stay. The others are rounded to single precision, in which Blender stores them.
    """
    samples = samples.astype(np.float32).astype(float)
    within = [(some >= flight[0]) & (some <= flight[1]) for some in (frames, samples)]
    if within[0].sum() >= within[1].sum():
        return frames
    postures = np.array(keyed).reshape(-1, 1)
    kept = frames[~within[0] | (np.abs(frames - postures) < FRAME_TOLERANCE).any(axis=0)]
    added = samples[within[1]]
    return np.sort(np.concatenate([kept, added[np.abs(added[:, None] - kept).min(axis=1) > FRAME_TOLERANCE]]))


def _key_types(frames: np.ndarray, keys: dict[float, SceneKey]) -> np.ndarray:
    types = np.full(len(frames), KEY_TYPE_NUMBERS[GENERATED], np.int32)
    for frame, key in keys.items():
        types[np.abs(frames - frame) < FRAME_TOLERANCE] = KEY_TYPE_NUMBERS[ROLE_TYPES[key.role]]
    return types


def _name_postures(made: bpy.types.Action, keys: dict[float, SceneKey], before: list[int]) -> None:
    """Add a pose marker at the first of consecutive keys with the same name, and remove earlier markers."""
    for marker in [marker for marker in made.pose_markers if marker.frame in before]:
        made.pose_markers.remove(marker)
    last = ""
    for frame, key in sorted(keys.items()):
        if key.name and key.name != last:
            made.pose_markers.new(key.name).frame = round(frame)
        last = key.name


def _dance_paths(body: bpy.types.Object) -> set[str]:
    """Data paths of all curves that a dance keys."""
    channels = ("location", EULER[0], *(name for name, _ in CHANNELS.values()))
    bones = {f"{bone_path(bone.name)}.{channel}" for bone in bpy_access.pose_bones(body) for channel in channels}
    return bones | {contact_path(name) for name in armature.rig_of(body).patches}
