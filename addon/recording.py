"""A recording in the scene: markers as small balls, forces as arrows at the centre of pressure, both animated."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import bpy
import numpy as np

from . import bpy_access as typed
from . import convert, meshes
from . import custom_properties as custom
from .action import CONSTANT, Curves, can_change_frame_rate, frames_at, set_frame_range
from .colours import plain_material
from .solver_api import SceneRecording, errors

RECORDING_KEY = "exciting_dance_recording"
"""Custom property of the objects and of their collection: the name of the recording they show."""
FILES_KEY = "exciting_dance_files"
"""Custom property of a recording's collection that was imported: its files, a line each."""
SPAN_KEY = "exciting_dance_span"
"""Custom property of a recording's collection: when it starts and when it ends [s]; missing where it is empty."""
MARKER_RADIUS = 0.011
"""[m] A usual marker's."""
METRES_PER_NEWTON = 1.0e-3
"""Length of a force's arrow."""
SMALLEST_FORCE = 5.0
"""[N] below which no arrow is drawn."""
MARKER_COLOUR, FORCE_COLOUR = (0.20, 0.21, 0.24), (0.93, 0.52, 0.08)
DISPLAY_RATE = 120.0
"""[1/s] Forces sampled faster are thinned for display."""


def add_recording(context: bpy.types.Context, recording: SceneRecording, name: str) -> bpy.types.Collection:
    """Add a recording's markers and forces to the scene.

    Returns:
        the new collection that holds them.
    """
    collection = bpy.data.collections.new(name)
    collection[RECORDING_KEY] = name
    times = np.concatenate([recording.marker_times, recording.force_times])
    if len(times):
        collection[SPAN_KEY] = [float(times.min()), float(times.max())]
    context.scene.collection.children.link(collection)
    if recording.markers:
        _add_markers(typed.scene(context), collection, recording, name)
    if recording.plates:
        _add_forces(typed.scene(context), collection, recording, name)
    return collection


def find_recordings(scene: bpy.types.Scene) -> list[bpy.types.Collection]:
    """The collections of a scene that hold recordings."""
    return [child for child in scene.collection.children if custom.read_label(child, RECORDING_KEY)]


def read_files(collection: bpy.types.Collection) -> str:
    """The files of a recording that was imported, a line each; empty of another."""
    return custom.read_label(collection, FILES_KEY)


def show_only(context: bpy.types.Context, name: str) -> None:
    """Of the imported recordings show this one and no other: they all lie in one place."""
    for child in typed.view_layer(context).layer_collection.children:
        if read_files(child.collection):
            child.exclude = custom.read_label(child.collection, RECORDING_KEY) != name


def show_recording_of(context: bpy.types.Context, file: Path) -> None:
    """Of the imported recordings show the one that a file is of, from its start to its end where nothing else moves."""
    for child in find_recordings(typed.scene(context)):
        if str(file) in read_files(child).split("\n"):
            show_only(context, custom.read_label(child, RECORDING_KEY))
            set_range_to_recording(typed.scene(context), child)


def is_only_recordings(scene: bpy.types.Scene) -> bool:
    """Whether nothing but recordings moves in a scene, so that its clock is theirs."""
    return can_change_frame_rate(scene, [item for child in find_recordings(scene) for item in child.objects])


def set_range_to_recording(scene: bpy.types.Scene, collection: bpy.types.Collection) -> None:
    """Let the scene play a recording from its start to its end, unless the scene's clock is another's."""
    try:
        span = custom.read_array(collection, SPAN_KEY, 2)
    except errors.InvalidValue:
        return  # it is empty, or nobody knows when it was: the clock stays
    if is_only_recordings(scene):
        set_frame_range(scene, *map(float, frames_at(scene, span)))


def remove_recordings(collections: Iterable[bpy.types.Collection]) -> None:
    """Take recordings out of the scene, with all that was made for them; those that stay get the names back."""
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
    for index, marker in enumerate(recording.markers):
        item = bpy.data.objects.new(marker, ball)
        item[RECORDING_KEY] = name
        collection.objects.link(item)
        curves = Curves(action, item)
        positions = recording.positions[:, index]
        curves.add("location", frames, positions)
        hidden = ~np.isfinite(positions[:, 0])
        if hidden.any():
            for path in ("hide_viewport", "hide_render"):
                curves.add(path, frames, hidden.astype(float), interpolation=CONSTANT)


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
        item.rotation_mode = "QUATERNION"
        collection.objects.link(item)
        curves = Curves(action, item)
        curves.add("location", frames[drawn], centres[drawn])
        curves.add("rotation_quaternion", frames[drawn], convert.rotations_to(forces[drawn]))
        scale = np.where(drawn, METRES_PER_NEWTON * sizes, 0.0)
        curves.add("scale", frames, np.repeat(scale[:, None], 3, axis=1))
        for path in ("hide_viewport", "hide_render"):
            curves.add(path, frames, (~drawn).astype(float), interpolation=CONSTANT)
