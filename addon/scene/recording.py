"""Recordings in the scene: markers as animated balls, forces as animated arrows, and armatures as recordings."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix

from ..base import bpy_access, convert, custom_properties, meshes
from ..base.bpy_access import find_by_session_id, session_id
from ..base.solver_api import RestPose, SceneRecording, SegmentPoses, errors
from .action import (
    CONSTANT,
    FIRST_FRAME,
    ActionCurves,
    can_change_frame_rate,
    frame_rate,
    frames_at,
    moving_frames,
    set_frame_range,
)
from .colours import plain_material

RECORDING_KEY = "exciting_dance_recording"
"""Custom property of objects and their collection: name of the recording."""
FORCE_KEY = "exciting_dance_force"
"""Custom property of an object: it is the arrow of a force."""
FILES_KEY = "exciting_dance_files"
"""Custom property of an imported recording's collection: its files, one per line."""
SPAN_KEY = "exciting_dance_span"
"""Custom property of a recording's collection: its start and end [s]; missing if it is empty."""
PLATES_KEY = "exciting_dance_plates"
"""Custom property of a recording's collection: number of force plates; missing without forces."""
MARKER_RADIUS = 0.018
"""[m] Radius of a drawn marker: about twice a real one, so that a body of markers is seen from a few metres."""
METRES_PER_NEWTON = 1.0e-3
"""Length of a force arrow per newton."""
SMALLEST_FORCE = 5.0
"""[N] Smallest force that is drawn."""
MARKER_COLOUR, FORCE_COLOUR = (0.42, 0.80, 0.95), (0.93, 0.52, 0.08)
DISPLAY_RATE = 120.0
"""[1/s] Highest display rate; forces with a higher rate are downsampled."""


def add_recording(context: bpy.types.Context, recording: SceneRecording, name: str) -> bpy.types.Collection:
    """Add a recording's markers and forces to the scene.

    Returns:
        the new collection with the objects.
    """
    collection = bpy.data.collections.new(name)
    collection[RECORDING_KEY] = name
    times = np.concatenate([recording.marker_times, recording.force_times])
    if len(times):
        collection[SPAN_KEY] = [float(times.min()), float(times.max())]
    context.scene.collection.children.link(collection)
    if recording.markers:
        _add_markers(bpy_access.scene(context), collection, recording, name)
    if recording.plates:
        collection[PLATES_KEY] = len(recording.plates)
        _add_forces(bpy_access.scene(context), collection, recording, name)
    return collection


def find_recordings(scene: bpy.types.Scene) -> list[bpy.types.Collection]:
    """Collections of a scene that contain recordings."""
    return [child for child in scene.collection.children if custom_properties.read_label(child, RECORDING_KEY)]


def read_files(collection: bpy.types.Collection) -> str:
    """Files of an imported recording, one per line; empty for other collections."""
    return custom_properties.read_label(collection, FILES_KEY)


def has_forces(collection: bpy.types.Collection) -> bool:
    """Whether a recording has forces."""
    return PLATES_KEY in collection


def show_only(context: bpy.types.Context, name: str) -> None:
    """Show one imported recording and hide the others, which overlap it."""
    for child in bpy_access.view_layer(context).layer_collection.children:
        if read_files(child.collection):
            child.exclude = custom_properties.read_label(child.collection, RECORDING_KEY) != name


def show_recording_of(context: bpy.types.Context, file: Path) -> None:
    """Show the imported recording that a file belongs to, and play it if nothing else is animated."""
    for child in find_recordings(bpy_access.scene(context)):
        if str(file) in read_files(child).split("\n"):
            show_only(context, custom_properties.read_label(child, RECORDING_KEY))
            set_range_to_recording(bpy_access.scene(context), child)


def is_only_recordings(scene: bpy.types.Scene) -> bool:
    """Whether only recordings are animated in a scene, so that they may set its frame rate and range."""
    return can_change_frame_rate(scene, [item for child in find_recordings(scene) for item in child.objects])


def set_range_to_recording(scene: bpy.types.Scene, collection: bpy.types.Collection) -> None:
    """Set the scene's range to a recording, unless something else is animated."""
    try:
        span = custom_properties.read_array(collection, SPAN_KEY, 2)
    except errors.InvalidValue:
        return  # empty or unknown interval
    if is_only_recordings(scene):
        set_frame_range(scene, *map(float, frames_at(scene, span)))


def remove_recordings(collections: Iterable[bpy.types.Collection]) -> None:
    """Remove recordings with all their data; the remaining ones get their original names back."""
    freed: set[str] = set()
    for collection in list(collections):
        items = list(collection.objects)
        data = {item.data for item in items if item.data is not None}
        actions = {item.animation_data.action for item in items if item.animation_data and item.animation_data.action}
        materials = {material for mesh in data for material in mesh.materials if material is not None}
        freed |= {owner.name for owner in (collection, *actions)}
        bpy.data.batch_remove([*items, collection])
        for kind in (data, actions, materials):
            bpy.data.batch_remove([item for item in kind if not item.users])
    for owner in (*bpy.data.collections, *bpy.data.actions):
        name, dot, number = owner.name.rpartition(".")
        if dot and number.isdigit() and name in freed:
            owner.name = name


def _add_markers(
    scene: bpy.types.Scene, collection: bpy.types.Collection, recording: SceneRecording, name: str
) -> None:
    action = bpy.data.actions.new(f"{name} markers")
    ball = meshes.sphere_mesh(f"{name} marker", MARKER_RADIUS)
    ball.materials.append(plain_material("Marker", MARKER_COLOUR))
    frames = frames_at(scene, recording.marker_times)
    items = [bpy.data.objects.new(marker, ball) for marker in recording.markers]
    for index, item in enumerate(items):
        item[RECORDING_KEY] = name
        collection.objects.link(item)
        curves = ActionCurves(action, item)
        positions = recording.positions[:, index]
        curves.add("location", frames, positions)
        hidden = ~np.isfinite(positions[:, 0])
        if hidden.any():
            for path in ("hide_viewport", "hide_render"):
                curves.add(path, frames, hidden.astype(float), interpolation=CONSTANT)
    _draw_segments(collection, items, recording.parents)


def _draw_segments(collection: bpy.types.Collection, joints: list[bpy.types.Object], parents: Sequence[int]) -> None:
    """Connect the joints of a skeleton by its segments."""
    carried = [(joint, joints[parent]) for joint, parent in zip(joints, parents, strict=False) if parent >= 0]
    if not carried:
        return
    mesh = meshes.bone_mesh(f"{collection.name} segment", 0.6 * MARKER_RADIUS)
    mesh.materials.append(plain_material("Marker", MARKER_COLOUR))
    for joint, parent in carried:
        item = bpy.data.objects.new(f"{parent.name} to {joint.name}", mesh)
        collection.objects.link(item)
        item.parent = parent
        stretch: Any = item.constraints.new("STRETCH_TO")
        stretch.target, stretch.rest_length, stretch.volume = joint, 1.0, "NO_VOLUME"


def _add_forces(scene: bpy.types.Scene, collection: bpy.types.Collection, recording: SceneRecording, name: str) -> None:
    action = bpy.data.actions.new(f"{name} forces")
    arrow = meshes.arrow_mesh(f"{name} force")
    arrow.materials.append(plain_material("Force", FORCE_COLOUR))
    step = max(1, round((len(recording.force_times) - 1) / np.ptp(recording.force_times) / DISPLAY_RATE))
    frames = frames_at(scene, recording.force_times[::step])
    for index, plate in enumerate(recording.plates):
        forces, centres = recording.forces[::step, index], recording.centres[::step, index]
        sizes = np.linalg.norm(forces, axis=1)
        drawn = np.isfinite(centres).all(axis=1) & (sizes > SMALLEST_FORCE)
        if not drawn.any():
            continue
        item = bpy.data.objects.new(f"{name} {plate}", arrow)
        item[RECORDING_KEY] = name
        item[FORCE_KEY] = True
        item.rotation_mode = "QUATERNION"
        collection.objects.link(item)
        curves = ActionCurves(action, item)
        curves.add("location", frames[drawn], centres[drawn])
        curves.add("rotation_quaternion", frames[drawn], convert.rotations_to(forces[drawn]))
        scale = np.where(drawn, METRES_PER_NEWTON * sizes, 0.0)
        curves.add("scale", frames, np.repeat(scale[:, None], 3, axis=1))
        for path in ("hide_viewport", "hide_render"):
            curves.add(path, frames, (~drawn).astype(float), interpolation=CONSTANT)


def record_segments(
    armature: bpy.types.Object, scene: bpy.types.Scene, frames: Sequence[int] | None = None
) -> Generator[float, None, SegmentPoses]:
    """Record every evaluated bone in some frames, by default those in which it moves; the current frame is restored.

    Yields the fraction of the frames that are recorded. Between frames, undo may exchange all data.

    Raises:
        InvalidValue: scene, armature or a bone were removed in the meantime.
    """
    where, own, current = session_id(scene), session_id(armature), scene.frame_current
    names = tuple(armature.pose.bones.keys())
    frames = moving_frames(scene, armature) if frames is None else frames
    moved = np.empty((len(frames), len(names), 3, 4))
    try:
        for count, frame in enumerate(frames):
            yield count / len(frames)
            armature = find_by_session_id(bpy.data.objects, own)
            find_by_session_id(bpy.data.scenes, where).frame_set(frame)
            if tuple(armature.pose.bones.keys()) != names:
                raise errors.InvalidValue(f"the bones of {armature.name} changed while it was recorded: record again")
            moved[count] = [_pose(armature.matrix_world @ bone.matrix) for bone in armature.pose.bones]
    finally:
        scene = find_by_session_id(bpy.data.scenes, where)
        scene.frame_set(current)
    bones = list(armature.pose.bones)
    rest = np.array([_pose(armature.matrix_world @ bone.bone.matrix_local) for bone in bones])
    tips = np.array([armature.matrix_world @ bone.bone.tail_local for bone in bones], float)
    parents = tuple(-1 if bone.parent is None else names.index(bone.parent.name) for bone in bones)
    return SegmentPoses(
        (np.array(frames) - FIRST_FRAME) / frame_rate(scene),
        names,
        moved[..., :3],
        moved[..., 3],
        RestPose(rest[..., :3], rest[..., 3], tips, parents),
    )


def _pose(matrix: Matrix) -> np.ndarray:
    """Rotation and position [m] (3, 4) of a matrix that may contain scale."""
    return convert.to_array(Matrix.LocRotScale(matrix.to_translation().to_tuple(), matrix.to_quaternion(), None))[:3]
