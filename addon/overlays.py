"""Drawn over the 3D view: the legend, and what the motion carries: centre of mass, forces, support, momentum.

All that is drawn stands in the study's files; here it is only looked up by time. Without a window nothing happens.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, TypeVar

import bpy
import gpu
import numpy as np

from . import marker_errors
from .action import times_at
from .colours import Legend, legend_of
from .drawing import (
    BOLD,
    BOTTOM,
    INK,
    LINE,
    arrow,
    cross,
    floor,
    left_edge,
    legend,
    lines,
    paper,
    polygon,
    scale,
)
from .estimate_marks import AXIS, CENTRE, CROSS, METRES_PER_SPIN, SPIN, Mark, marks
from .estimates import estimate_file
from .file_cache import FileCache
from .legend import legends_in
from .properties import Settings, settings_of
from .recording import METRES_PER_NEWTON
from .scene_rigs import rig_in, rigs_in
from .study import folder_of, trial_of
from .typed import scene
from .values import ESTIMATE, MOTION, RECORDING, SceneEstimate, SceneMotion, SceneRecording, errors, study_folder

TICKS = 5
GROUND, LINEAR = (0.35, 0.75, 1.00, 0.22), (0.45, 0.90, 0.45, 1.0)
METRES_PER_MOMENTUM = 0.01
"""Length of an arrow for 1 kg m/s."""
BESIDE = 80.0
"""[px] From the left edge of the colours' legend to what stands beside it: its numbers have room there."""
Drawn = TypeVar("Drawn")


class Instead:
    """Asked of a body before it is drawn over: whether somebody else shows the same of it, and better, now."""

    balance: ClassVar[list[Callable[[bpy.types.Object], bool]]] = []
    colours: ClassVar[list[Callable[[bpy.types.Object], bool]]] = []
    trial: ClassVar[list[Callable[[bpy.types.Object], bool]]] = []
    """The body does not do what its trial's files tell of this moment."""


def _read(read: Callable[[Path], Drawn]) -> Callable[[Path], Drawn | None]:
    """A reader for which a damaged file is nothing to draw."""

    def reader(path: Path) -> Drawn | None:
        try:
            return read(path)
        except errors.SolverError:
            return None

    return reader


MOTIONS: FileCache[SceneMotion] = FileCache(_read(lambda path: MOTION.read(path).drawn))
RECORDINGS: FileCache[SceneRecording] = FileCache(_read(RECORDING.read))
ESTIMATES: FileCache[SceneEstimate] = FileCache(_read(ESTIMATE.read))
"""The files of the study that is shown."""


def draw_motion() -> None:
    """Draw what the motion of the rig that is meant carries; in a 3D view's POST_VIEW."""
    context = bpy.context
    body, settings = rig_in(context), settings_of(context)
    folder = None if body is None else folder_of(body)
    if body is None or folder is None or not context.space_data.overlay.show_overlays:
        return
    if any(elsewhere(body) for elsewhere in Instead.trial):
        return
    name, time = trial_of(body), times_at(scene(context))
    motion = MOTIONS.get(folder / f"{name}{study_folder.MOTION_END}")
    recording = RECORDINGS.get(folder / f"{name}{study_folder.RECORDING_END}")
    estimated = _estimated(body)
    gpu.state.blend_set("ALPHA")
    if motion is not None:
        _body(body, motion, time, settings)
        if recording is not None and settings.show_markers:
            _markers(body, folder, recording, time)
    for mark in estimated:
        lines(mark.points, mark.colour, mark.width)
    if recording is not None and settings.show_forces and len(recording.force_times):
        frame = _at(recording.force_times, time)
        for centre, force in zip(recording.centres[frame], recording.forces[frame], strict=True):
            if np.isfinite(centre).all():
                lines(arrow(centre, METRES_PER_NEWTON * force), AXIS, BOLD)
    gpu.state.blend_set("NONE")


def _body(body: bpy.types.Object, motion: SceneMotion, time: float, settings: Settings) -> None:
    frame = _at(motion.times, time)
    com, momentum = motion.com[frame], motion.momentum[frame]
    balanced = any(shows(body) for shows in Instead.balance)
    estimated = settings.show_estimate and estimate_file(body) is not None
    if settings.show_support and not balanced:
        floor(polygon(motion.standing[frame]), GROUND)
    if settings.show_com and not balanced and not estimated:
        foot = com * (1.0, 1.0, 0.0)
        lines(cross(com, CROSS), CENTRE, BOLD)
        lines([com, foot, *cross(foot, CROSS)[:4]], CENTRE, LINE)
    if settings.show_momentum:
        lines(arrow(com, METRES_PER_MOMENTUM * momentum[:3]), LINEAR, BOLD)
        lines(arrow(com, METRES_PER_SPIN * momentum[3:]), SPIN, BOLD)


def _markers(body: bpy.types.Object, folder: Path, recording: SceneRecording, time: float) -> None:
    places = marker_errors.CALIBRATIONS.get(folder / study_folder.CALIBRATION_FILE)
    if places is None:
        return
    try:
        modelled = marker_errors.on_body(body, places)
    except errors.SolverError:
        return
    marker_errors.draw(marker_errors.seen_at(recording, places.markers, time), modelled)


def _estimated(body: bpy.types.Object) -> list[Mark]:
    """What there is to see of the estimate of the trial that a body plays now."""
    path = estimate_file(body)
    estimate = None if path is None else ESTIMATES.get(path)
    if estimate is None:
        return []
    context = bpy.context
    return marks(estimate, _at(estimate.times, times_at(scene(context))), settings_of(context))


def _at(times: np.ndarray, time: float) -> int:
    """Index of the sample nearest to a time."""
    return int(np.argmin(np.abs(times - time)))


def draw_legends() -> None:
    """Draw what the colours of the rig that is meant, and of its marks, mean; in a 3D view's POST_PIXEL."""
    context = bpy.context
    body = rig_in(context)
    if body is None or not settings_of(context).overlay or not context.space_data.overlay.show_overlays:
        return
    coloured = _draw_colours(body)
    meanings = [(mark.meaning, mark.colour, INK) for mark in _estimated(body) if mark.meaning]
    if meanings:
        gpu.state.blend_set("ALPHA")
        paper(meanings, (left_edge() + coloured * BESIDE * scale(), BOTTOM * scale()))
        gpu.state.blend_set("NONE")


def legend_for(scene: bpy.types.Scene, body: bpy.types.Object) -> Legend | None:
    """The legend of a body's colours, with the body's name where another rig's colours in sight mean something else."""
    shown = legend_of(body)
    others = (legend_of(rig) for rig in rigs_in(scene) if rig != body and rig.visible_get())
    if shown is not None and any(other not in (None, shown) for other in others):
        return replace(shown, title=f"{body.name}: {shown.title}")
    return shown


def _draw_colours(body: bpy.types.Object) -> bool:
    """Draw what the body's colours mean; whether that was done."""
    shown = legend_for(scene(bpy.context), body)
    if shown is None or legends_in(scene(bpy.context)) or any(shows(body) for shows in Instead.colours):
        return False
    shares = [tick / (TICKS - 1) for tick in range(TICKS)]
    ticks = [(share, f"{shown.low + share * (shown.high - shown.low):.4g}") for share in shares]
    legend(shown.table, shown.title, ticks)
    return True
