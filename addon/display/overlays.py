"""Overlays of the 3D view: legend, centre of mass, plate forces, support polygon, momentum.

The data come from the study's files and are looked up by time. Without a window nothing is drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, TypeVar

import bpy
import gpu
import numpy as np

from ..base.bpy_access import scene
from ..base.file_cache import FileCache
from ..base.scene_rigs import active_rig, find_rigs
from ..base.solver_api import (
    ESTIMATE,
    MOMENTS,
    MOTION,
    RECORDING,
    CentroidalEstimate,
    JointMoments,
    SceneMotion,
    SceneRecording,
    errors,
    study_folder,
)
from ..drawing.primitives import (
    BOLD_WIDTH,
    LEGEND_BOTTOM,
    LEGEND_ROOM,
    LINE_WIDTH,
    TEXT_COLOUR,
    arrow_lines,
    convex_hull,
    cross_lines,
    draw_legend,
    draw_lines,
    draw_text_box,
    fill_floor,
    interface_scale,
    left_edge,
)
from ..scene.action import current_time
from ..scene.colours import Legend, read_legend
from ..scene.recording import METRES_PER_NEWTON
from . import marker_errors
from .centroidal_estimates import find_estimate_file
from .centroidal_overlay import (
    AXIS_COLOUR,
    COM_COLOUR,
    CROSS_SIZE,
    METRES_PER_ANGULAR_MOMENTUM,
    MOMENTUM_COLOUR,
    LineSet,
    estimate_lines,
)
from .joint_moments import find_moments_file, largest_moment, moment_lines
from .properties import SceneSettings, study_settings
from .study import played_trial, study_folder_of

TICKS = 5
SUPPORT_COLOUR, LINEAR_MOMENTUM_COLOUR = (0.35, 0.75, 1.00, 0.22), (0.45, 0.90, 0.45, 1.0)
METRES_PER_MOMENTUM = 0.01
"""Length of an arrow for 1 kg m/s."""
FileValue = TypeVar("FileValue")


class Overrides:
    """Predicates of a body: whether another overlay, such as the live check, currently replaces a drawing here."""

    balance: ClassVar[list[Callable[[bpy.types.Object], bool]]] = []
    colours: ClassVar[list[Callable[[bpy.types.Object], bool]]] = []
    trial: ClassVar[list[Callable[[bpy.types.Object], bool]]] = []
    """The body is not in the pose of its trial at this time."""


def _or_none(read: Callable[[Path], FileValue]) -> Callable[[Path], FileValue | None]:
    """Wrap a reader so that it returns None for a damaged file."""

    def reader(path: Path) -> FileValue | None:
        try:
            return read(path)
        except errors.SolverError:
            return None

    return reader


def _read_moments(path: Path) -> tuple[JointMoments, float]:
    moments = MOMENTS.read(path)
    return moments, largest_moment(moments)


MOTIONS: FileCache[SceneMotion] = FileCache(_or_none(lambda path: MOTION.read(path).scene))
RECORDINGS: FileCache[SceneRecording] = FileCache(_or_none(RECORDING.read))
ESTIMATES: FileCache[CentroidalEstimate] = FileCache(_or_none(ESTIMATE.read))
MOMENT_FILES: FileCache[tuple[JointMoments, float]] = FileCache(_or_none(_read_moments))
"""Caches of the files of the displayed study; the last with the largest moment [N m]."""


def draw_motion() -> None:
    """Draw centre of mass, forces, support and momentum of the active rig; called in a 3D view's POST_VIEW."""
    context = bpy.context
    body, settings = active_rig(context), study_settings(context)
    folder = None if body is None else study_folder_of(body)
    if body is None or folder is None or not context.space_data.overlay.show_overlays:
        return
    if any(elsewhere(body) for elsewhere in Overrides.trial):
        return
    name, time = played_trial(body), current_time(scene(context))
    motion = MOTIONS.get(folder / f"{name}{study_folder.MOTION_END}")
    recording = RECORDINGS.get(folder / f"{name}{study_folder.RECORDING_END}")
    estimated = _estimate_lines(body)
    gpu.state.blend_set("ALPHA")
    if motion is not None:
        _draw_body(body, motion, time, settings)
        if recording is not None and settings.show_markers:
            _draw_markers(body, folder, recording, time)
    for mark in (*estimated, *_moment_lines(body)):
        draw_lines(mark.points, mark.colour, mark.width)
    if recording is not None and settings.show_forces and len(recording.force_times):
        frame = _nearest_index(recording.force_times, time)
        for centre, force in zip(recording.centres[frame], recording.forces[frame], strict=True):
            if np.isfinite(centre).all():
                draw_lines(arrow_lines(centre, METRES_PER_NEWTON * force), AXIS_COLOUR, BOLD_WIDTH)
    gpu.state.blend_set("NONE")


def _draw_body(body: bpy.types.Object, motion: SceneMotion, time: float, settings: SceneSettings) -> None:
    frame = _nearest_index(motion.times, time)
    com, momentum = motion.com[frame], motion.momentum[frame]
    balanced = any(shows(body) for shows in Overrides.balance)
    estimated = settings.show_estimate and find_estimate_file(body) is not None
    if settings.show_support and not balanced:
        fill_floor(convex_hull(motion.standing[frame]), SUPPORT_COLOUR)
    if settings.show_com and not balanced and not estimated:
        foot = com * (1.0, 1.0, 0.0)
        draw_lines(cross_lines(com, CROSS_SIZE), COM_COLOUR, BOLD_WIDTH)
        draw_lines([com, foot, *cross_lines(foot, CROSS_SIZE)[:4]], COM_COLOUR, LINE_WIDTH)
    if settings.show_momentum:
        draw_lines(arrow_lines(com, METRES_PER_MOMENTUM * momentum[:3]), LINEAR_MOMENTUM_COLOUR, BOLD_WIDTH)
        draw_lines(arrow_lines(com, METRES_PER_ANGULAR_MOMENTUM * momentum[3:]), MOMENTUM_COLOUR, BOLD_WIDTH)


def _draw_markers(body: bpy.types.Object, folder: Path, recording: SceneRecording, time: float) -> None:
    places = marker_errors.CALIBRATIONS.get(folder / study_folder.CALIBRATION_FILE)
    if places is None:
        return
    try:
        modelled = marker_errors.model_positions(body, places)
    except errors.SolverError:
        return
    marker_errors.draw(marker_errors.measured_positions(recording, places.markers, time), modelled)


def _estimate_lines(body: bpy.types.Object) -> list[LineSet]:
    """Lines of the centroidal estimate of the trial that a body plays."""
    path = find_estimate_file(body)
    estimate = None if path is None else ESTIMATES.get(path)
    if estimate is None:
        return []
    context = bpy.context
    return estimate_lines(
        estimate, _nearest_index(estimate.times, current_time(scene(context))), study_settings(context)
    )


def _moment_lines(body: bpy.types.Object) -> list[LineSet]:
    """Arcs of the joint moments of the trial that a body plays."""
    context = bpy.context
    path = find_moments_file(body) if study_settings(context).show_moments else None
    found = None if path is None else MOMENT_FILES.get(path)
    if found is None:
        return []
    moments, largest = found
    return moment_lines(moments, largest, _nearest_index(moments.times, current_time(scene(context))))


def _nearest_index(times: np.ndarray, time: float) -> int:
    """Index of the sample nearest to a time."""
    return int(np.argmin(np.abs(times - time)))


def draw_legends() -> None:
    """Draw the legends of the active rig's colours and lines; called in a 3D view's POST_PIXEL."""
    context = bpy.context
    body = active_rig(context)
    if body is None or not study_settings(context).overlay or not context.space_data.overlay.show_overlays:
        return
    coloured = _draw_colours(body)
    meanings = [
        (mark.meaning, mark.colour, TEXT_COLOUR)
        for mark in (*_estimate_lines(body), *_moment_lines(body))
        if mark.meaning
    ]
    if meanings:
        gpu.state.blend_set("ALPHA")
        draw_text_box(
            meanings, (left_edge() + coloured * LEGEND_ROOM * interface_scale(), LEGEND_BOTTOM * interface_scale())
        )
        gpu.state.blend_set("NONE")


def named_legend(scene: bpy.types.Scene, body: bpy.types.Object) -> Legend | None:
    """The legend of a body's colours, with its name if another visible rig has a different legend."""
    shown = read_legend(body)
    others = (read_legend(rig) for rig in find_rigs(scene) if rig != body and rig.visible_get())
    if shown is not None and any(other not in (None, shown) for other in others):
        return replace(shown, title=f"{body.name}: {shown.title}")
    return shown


def _draw_colours(body: bpy.types.Object) -> bool:
    """Draw the legend of a body's colours; whether it was drawn."""
    shown = named_legend(scene(bpy.context), body)
    if shown is None or any(shows(body) for shows in Overrides.colours):
        return False
    shares = [tick / (TICKS - 1) for tick in range(TICKS)]
    ticks = [(share, f"{shown.low + share * (shown.high - shown.low):.4g}") for share in shares]
    draw_legend(shown.colour_map, shown.title, ticks)
    return True
