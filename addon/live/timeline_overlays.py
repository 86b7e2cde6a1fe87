"""Overlays of the live check in Dope Sheet and Timeline: margins, contacts and postures.

A bar shows the worst margin of each frame, higher is better; failing frames have full height. Above it are contact
strips, and the postures, which the Dope Sheet hides unless their bones are selected. All are translucent, lie at the
bottom of the region, and scroll and zoom with it. Each sole has a row of strips, coloured by what touches: heel, flat
sole or toe.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import bpy
import gpu
import numpy as np
from gpu_extras.batch import batch_for_shader

from ..base.bpy_access import require
from ..base.draw_handlers import DrawHandlers
from ..base.solver_api import SceneKey, SceneStrip, SceneTimeline, errors
from ..drawing import primitives as drawing
from ..drawing.primitives import Colour
from ..scene.action import frames_at
from .check_colours import (
    COMFORTABLE_MARGIN,
    FAIL_COLOUR,
    NEAR_COLOUR,
    PART_COLOURS,
    PASS_COLOUR,
    UNKNOWN_COLOUR,
    strip_labels,
)
from .check_results import CheckResults
from .control import LiveCheck
from .properties import live_settings
from .session import CheckSession

BAR_HEIGHT, STRIP_HEIGHT, KEY_HEIGHT, GAP, SCROLL_BAR_HEIGHT = 20.0, 10.0, 9.0, 2.0, 13.0
"""[px] Heights of bar, a row of strips and postures, gap between them, and height of Blender's scroll bar below."""
ROLE_COLOURS: dict[str, Colour] = {
    "fixed": (0.91, 0.40, 0.38, 1.0),
    "preferred": (0.98, 0.80, 0.35, 1.0),
    "free": (0.40, 0.72, 0.93, 1.0),
}
"""Blender's colours of the keyframe types of the roles."""
POSTURE_SPACING = 3.0
"""[px] Minimum distance between drawn postures."""
SMALLEST_BAR, FULL_COMFORT = 0.25, 2.0
"""Height, as a fraction, of a frame with comfort 0, and comfort that fills the bar."""
BACKGROUND: Colour = (0.08, 0.08, 0.09, 0.55)
KNOWN_ALPHA, UNKNOWN_ALPHA = 0.85, 0.35
"""Alpha of frames with and without a result."""
STRIP_ALPHA = 0.7
GREY_HEIGHT = 0.2
LETTER_HEIGHT = 8.0
LARGEST_REGION_FRACTION = 0.55
"""Largest fraction of the region for the overlays; if they do not fit, nothing is drawn."""


MOST_VIEWS = 4
"""Number of editors, or of zooms of one, whose drawings stay on the GPU."""
Polygons: TypeAlias = list[tuple[drawing.Points, Colour]]
Labels: TypeAlias = list[tuple[str, float, float, Colour]]
"""Texts with their positions [px] and colours."""


@dataclass(frozen=True, slots=True)
class TimelineView:
    """What one editor shows beside the margin bar: the background below it, shapes above it, and labels."""

    background: gpu.types.GPUBatch | None
    shapes: gpu.types.GPUBatch | None
    labels: Labels


class DrawCache:
    """The last drawing, which stays on the GPU until it changes: the margin bar, and the rest for each view."""

    key: ClassVar[tuple[int, ...]] = ()
    batch: ClassVar[gpu.types.GPUBatch | None] = None
    failing: ClassVar[list[tuple[float, float]]] = []
    views: ClassVar[dict[tuple[float, ...], TimelineView]] = {}

    @classmethod
    def clear(cls) -> None:
        """Free the drawing."""
        cls.key, cls.batch = (), None
        cls.views.clear()


def enable(on: bool) -> None:
    """Add or remove the overlays."""
    DrawCache.clear()
    HANDLERS.enable(on)


def strip_rows(timeline: SceneTimeline) -> dict[str, int]:
    """Row, from below, of each patch with strips; soles always have one."""
    patches = (*(sole.name for sole in timeline.rig.soles), *(strip.patch for strip in timeline.strips))
    return {patch: row for row, patch in enumerate(dict.fromkeys(patches))}


def overlay_height(timeline: SceneTimeline) -> float:
    """Height [px] of bar, strips and postures at scale 1."""
    return BAR_HEIGHT + len(strip_rows(timeline)) * STRIP_HEIGHT + KEY_HEIGHT + 3.0 * GAP


def margin_bar(frames: np.ndarray, comfort: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Margin bar: corners (4 N, 2) in frames and fractions of its height, colours (4 N, 4), triangles (2 N, 3).

    Args:
        frames: (N,) frame numbers.
        comfort: (N,) NaN if unknown.
    """
    middles = 0.5 * (frames[1:] + frames[:-1])
    edges = np.concatenate([frames[:1] - 0.5, middles, frames[-1:] + 0.5])
    known = ~np.isnan(comfort)
    fails, near = known & (comfort < 0.0), known & (comfort >= 0.0) & (comfort < COMFORTABLE_MARGIN)
    height = (
        SMALLEST_BAR
        + (1.0 - SMALLEST_BAR) * np.clip(np.nan_to_num(comfort, posinf=FULL_COMFORT), 0.0, FULL_COMFORT) / FULL_COMFORT
    )
    height = np.where(fails, 1.0, np.where(known, height, GREY_HEIGHT))
    colours = np.tile(np.array(UNKNOWN_COLOUR), (len(frames), 1))
    for where, colour in ((known, PASS_COLOUR), (near, NEAR_COLOUR), (fails, FAIL_COLOUR)):
        colours[where] = colour
    colours[:, 3] = np.where(known, KNOWN_ALPHA, UNKNOWN_ALPHA)
    corners = np.empty((len(frames), 4, 2))
    corners[:, :2, 0], corners[:, 2:, 0] = edges[:-1, None], edges[1:, None]
    corners[:, [0, 3], 1], corners[:, [1, 2], 1] = 0.0, height[:, None]
    faces = 4 * np.arange(len(frames))[:, None, None] + np.array([[0, 1, 2], [0, 2, 3]])
    return corners.reshape(-1, 2), np.repeat(colours, 4, axis=0), faces.reshape(-1, 3)


def _draw() -> None:
    context, session = bpy.context, LiveCheck.session
    if session is None:
        return
    try:
        scene, body = session.find_scene_and_rig()
    except errors.SolverError:
        return
    size, region = drawing.interface_scale(), require(context.region, "region")
    height = 0.0 if session.results is None else overlay_height(session.results.timeline) * size
    too_low = region.height * LARGEST_REGION_FRACTION < height
    if scene != context.scene or not live_settings(scene).show_timeline or too_low:
        return
    origin, step = drawing.frame_axis(region)
    if session.results is None:
        _draw_empty(scene, origin, step, size)
        return
    _update_cache(scene, body, session)
    view_key = (origin, step, float(region.width), size)
    if view_key not in DrawCache.views:
        while len(DrawCache.views) >= MOST_VIEWS:
            del DrawCache.views[next(iter(DrawCache.views))]
        DrawCache.views[view_key] = _build_view(scene, session.results, *view_key)
    shown = DrawCache.views[view_key]
    gpu.state.blend_set("ALPHA")
    drawing.draw_polygon_batch(shown.background)
    gpu.matrix.push()
    gpu.matrix.translate((origin, SCROLL_BAR_HEIGHT * size))
    gpu.matrix.scale((step, BAR_HEIGHT * size))
    drawing.draw_polygon_batch(DrawCache.batch)
    gpu.matrix.pop()
    drawing.draw_polygon_batch(shown.shapes)
    for text, x, y, ink in shown.labels:
        drawing.draw_text(text, x, y, LETTER_HEIGHT * size, ink)
    gpu.state.blend_set("NONE")


def _build_view(
    scene: bpy.types.Scene, readings: CheckResults, origin: float, step: float, width: float, size: float
) -> TimelineView:
    """Build what a region of a width [px] shows with frame zero and the distance of frames at these places [px]."""

    def place(times: Sequence[float] | np.ndarray) -> np.ndarray:
        return np.asarray(origin + step * frames_at(scene, np.array(times, float)))

    bottom, background, rows = SCROLL_BAR_HEIGHT * size, [], strip_rows(readings.timeline)
    height = overlay_height(readings.timeline) * size
    first, last = place(readings.timeline.times[[0, -1]])
    left, right = max(first - 0.5 * step, 0.0), min(last + 0.5 * step, width)
    if right > left:
        background = [(drawing.box_corners(left, bottom - GAP * size, right - left, height), BACKGROUND)]
    shapes: Polygons = []
    labels: Labels = []
    above = bottom + (BAR_HEIGHT + GAP) * size
    for strip in readings.timeline.strips:
        start, stop = place([strip.start, strip.stop])
        floor = above + rows[strip.patch] * STRIP_HEIGHT * size
        _add_strip(shapes, labels, strip, (max(start, 0.0), min(stop, width)), floor, size)
    above += (len(rows) * STRIP_HEIGHT + GAP) * size
    keys = readings.timeline.keys
    places = place([key.time for key in keys])
    shapes += _posture_marks(keys, places, width, above, size)
    for interval in DrawCache.failing:
        x, end = place(interval)
        if end > 0.0 and x < width:
            left, right = x - 0.5 * step, max(end + 0.5 * step, x - 0.5 * step + 2.0)
            shapes += _failure_marks(left, right, above + KEY_HEIGHT * size, size)
    return TimelineView(drawing.polygon_batch(background), drawing.polygon_batch(shapes), labels)


def _draw_empty(scene: bpy.types.Scene, origin: float, step: float, size: float) -> None:
    """Draw a grey bar over the frames of the scene."""
    gpu.state.blend_set("ALPHA")
    left, width = origin + step * (scene.frame_start - 0.5), step * (scene.frame_end - scene.frame_start + 1)
    drawing.fill_box(
        left, SCROLL_BAR_HEIGHT * size, width, GREY_HEIGHT * BAR_HEIGHT * size, (*UNKNOWN_COLOUR[:3], UNKNOWN_ALPHA)
    )
    gpu.state.blend_set("NONE")


def _update_cache(scene: bpy.types.Scene, body: bpy.types.Object, session: CheckSession) -> None:
    """Rebuild the drawing if the results have changed."""
    readings = session.results
    assert readings is not None
    key = (readings.serial, readings.version, hash(scene.render.fps / scene.render.fps_base))
    if key == DrawCache.key:
        return
    DrawCache.views.clear()
    DrawCache.key, DrawCache.failing = key, readings.failing_intervals()
    DrawCache.batch = _build_batch(scene, readings)


def _build_batch(scene: bpy.types.Scene, readings: CheckResults) -> gpu.types.GPUBatch:
    corners, colours, faces = margin_bar(frames_at(scene, readings.timeline.times), readings.comfort)
    shader = gpu.shader.from_builtin("SMOOTH_COLOR")
    flat = np.concatenate([corners, np.zeros((len(corners), 1))], axis=1).astype(np.float32)
    content: Any = {"pos": flat, "color": colours.astype(np.float32)}
    triangles: Any = faces.astype(np.int32)  # arrays are accepted, although the type stubs exclude them
    return batch_for_shader(shader, "TRIS", content, indices=triangles)


def _add_strip(
    shapes: Polygons, labels: Labels, strip: SceneStrip, ends: tuple[float, float], bottom: float, size: float
) -> None:
    """Add a contact strip between two places [px], with its name if there is room."""
    left, width = ends[0], ends[1] - ends[0]
    if width <= 0.5:
        return
    colour, gap = PART_COLOURS[strip.part][1], 1.0 if width > 4.0 else 0.0
    corners = drawing.box_corners(left, bottom, width - gap, STRIP_HEIGHT * size - 1.0)
    shapes.append((corners, (*colour[:3], STRIP_ALPHA)))
    for label in strip_labels(strip):
        if drawing.text_width(label, LETTER_HEIGHT * size) + 8.0 * size < width:
            dark = sum(colour[:3]) < 1.6
            ink = drawing.TEXT_COLOUR if dark else (0.05, 0.05, 0.06, 1.0)
            labels.append((label, left + 4.0 * size, bottom + 2.0 * size, ink))
            return


def _posture_marks(keys: Sequence[SceneKey], places: np.ndarray, width: float, bottom: float, size: float) -> Polygons:
    """A diamond at each posture, coloured by its role."""
    half, last = 0.5 * KEY_HEIGHT * size, -np.inf
    shapes: Polygons = []
    for key, x in zip(keys, places.tolist(), strict=True):
        if 0.0 < x < width and x - last >= POSTURE_SPACING * size:
            last = x
            for grown, colour in ((1.5, BACKGROUND), (0.0, ROLE_COLOURS[key.role])):
                far, middle = half + grown - 1.0, bottom + half
                corners = [(x - far, middle), (x, middle - far), (x + far, middle), (x, middle + far)]
                shapes.append((corners, colour))
    return shapes


def _failure_marks(left: float, right: float, bottom: float, size: float) -> Polygons:
    """A line over a failing interval and a flag at its start."""
    flag = [(left - 4.0 * size, bottom + 9.0 * size), (left + 4.0 * size, bottom + 9.0 * size), (left, bottom)]
    return [(drawing.box_corners(left, bottom, right - left, 2.0 * size), FAIL_COLOUR), (flag, FAIL_COLOUR)]


HANDLERS = DrawHandlers(bpy.types.SpaceDopeSheetEditor, ((_draw, "POST_PIXEL"),))
