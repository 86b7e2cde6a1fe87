"""Overlays of the live check in Dope Sheet and Timeline: margins, contacts and postures.

A bar shows the worst margin of each frame, higher is better; failing frames have full height. Above it are contact
strips, and the postures, which the Dope Sheet hides unless their bones are selected. All are translucent, lie at the
bottom of the region, and scroll and zoom with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import bpy
import gpu
import numpy as np
from gpu_extras.batch import batch_for_shader

from .. import drawing
from ..action import frames_at
from ..bpy_access import require
from ..draw_handlers import DrawHandlers
from ..drawing import Colour, Points
from ..solver_api import SceneKey, errors
from .check_colours import (
    COMFORTABLE_MARGIN,
    FAIL_COLOUR,
    NEAR_COLOUR,
    PASS_COLOUR,
    UNKNOWN_COLOUR,
    contact_colour,
    contact_labels,
)
from .check_results import AIR, CheckResults, ContactState, contact_states
from .control import LiveCheck
from .properties import live_settings
from .session import CheckSession

BAR_HEIGHT, STRIP_HEIGHT, KEY_HEIGHT, GAP, SCROLL_BAR_HEIGHT = 20.0, 12.0, 9.0, 2.0, 13.0
"""[px] Heights of bar, strips and postures, gap between them, and height of Blender's scroll bar below."""
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
CURRENT_ALPHA, OUTDATED_ALPHA = 0.85, 0.35
"""Alpha of current results, and of results from before the last change."""
STRIP_ALPHA = 0.7
GREY_HEIGHT = 0.2
LETTER_HEIGHT = 10.0
LARGEST_REGION_FRACTION = 0.55
"""Largest fraction of the region for the overlays; if they do not fit, nothing is drawn."""


class DrawCache:
    """The last drawing, which stays on the GPU until it changes."""

    key: ClassVar[tuple[int, ...]] = ()
    batch: ClassVar[gpu.types.GPUBatch | None] = None
    contacts: ClassVar[list[ContactState]] = []
    spans: ClassVar[np.ndarray] = np.zeros((0, 2))
    """(C, 2) first and last frame of each contact state."""
    failing: ClassVar[np.ndarray] = np.zeros((0, 2))
    """(F, 2) first and last frame of each failing interval."""


def enable(on: bool) -> None:
    """Add or remove the overlays."""
    DrawCache.key, DrawCache.batch = (), None
    HANDLERS.enable(on)


def margin_bar(frames: np.ndarray, comfort: np.ndarray, fresh: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Margin bar: corners (4 N, 2) in frames and fractions of its height, colours (4 N, 4), triangles (2 N, 3).

    Args:
        frames: (N,) frame numbers.
        comfort: (N,) NaN if unknown.
        fresh: (N,) False if the comfort is from before the last change.
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
    colours[:, 3] = np.where(fresh & known, CURRENT_ALPHA, OUTDATED_ALPHA)
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
    height = (BAR_HEIGHT + STRIP_HEIGHT + KEY_HEIGHT + 3.0 * GAP) * size
    too_low = region.height * LARGEST_REGION_FRACTION < height
    if scene != context.scene or not live_settings(scene).show_timeline or too_low:
        return
    origin, step = drawing.frame_axis(region)
    if session.results is None:
        _draw_empty(scene, origin, step, size)
        return
    _update_cache(scene, body, session)
    gpu.state.blend_set("ALPHA")
    bottom = SCROLL_BAR_HEIGHT * size
    times = session.results.timeline.times
    first, last = (origin + step * float(frame) for frame in frames_at(scene, times[[0, -1]]))
    left, right = max(first - 0.5 * step, 0.0), min(last + 0.5 * step, float(region.width))
    if right > left:
        drawing.fill_box(left, bottom - GAP * size, right - left, height, BACKGROUND)
    if DrawCache.batch is not None:
        gpu.matrix.push()
        gpu.matrix.translate((origin, bottom))
        gpu.matrix.scale((step, BAR_HEIGHT * size))
        DrawCache.batch.draw(gpu.shader.from_builtin("SMOOTH_COLOR"))
        gpu.matrix.pop()
    place = bottom + (BAR_HEIGHT + GAP) * size
    for state, (start, stop) in zip(DrawCache.contacts, (origin + step * DrawCache.spans).tolist(), strict=True):
        _draw_strip(state, max(start, 0.0), min(stop, float(region.width)), place, size)
    marks = _posture_marks(session.results.timeline.keys, scene, origin, step, place + (STRIP_HEIGHT + GAP) * size)
    above = place + (STRIP_HEIGHT + KEY_HEIGHT + GAP) * size
    for x, end in (origin + step * DrawCache.failing).tolist():
        if end > 0.0 and x < region.width:
            marks += _failure_marks(x - 0.5 * step, max(end + 0.5 * step, x - 0.5 * step + 2.0), above, size)
    drawing.fill_polygons(marks)
    gpu.state.blend_set("NONE")


def _draw_empty(scene: bpy.types.Scene, origin: float, step: float, size: float) -> None:
    """Draw a grey bar over the frames of the scene."""
    gpu.state.blend_set("ALPHA")
    left, width = origin + step * (scene.frame_start - 0.5), step * (scene.frame_end - scene.frame_start + 1)
    drawing.fill_box(
        left, SCROLL_BAR_HEIGHT * size, width, GREY_HEIGHT * BAR_HEIGHT * size, (*UNKNOWN_COLOUR[:3], OUTDATED_ALPHA)
    )
    gpu.state.blend_set("NONE")


def _update_cache(scene: bpy.types.Scene, body: bpy.types.Object, session: CheckSession) -> None:
    """Rebuild the drawing if the results have changed."""
    readings = session.results
    assert readings is not None
    key = (readings.serial, readings.version, hash(scene.render.fps / scene.render.fps_base))
    if key == DrawCache.key:
        return
    states = contact_states(readings.timeline, tuple(sole.name for sole in readings.timeline.rig.soles))
    DrawCache.key, DrawCache.contacts = key, states
    DrawCache.spans = frames_at(scene, np.reshape([(state.start, state.stop) for state in states], (-1, 2)))
    DrawCache.failing = frames_at(scene, np.reshape(readings.failing_intervals(), (-1, 2)))
    DrawCache.batch = _build_batch(scene, readings)


def _build_batch(scene: bpy.types.Scene, readings: CheckResults) -> gpu.types.GPUBatch:
    comfort, fresh = readings.all_comforts()
    corners, colours, faces = margin_bar(frames_at(scene, readings.timeline.times), comfort, fresh)
    shader = gpu.shader.from_builtin("SMOOTH_COLOR")
    flat = np.concatenate([corners, np.zeros((len(corners), 1))], axis=1).astype(np.float32)
    content: Any = {"pos": flat, "color": colours.astype(np.float32)}
    triangles: Any = faces.astype(np.int32)  # arrays are accepted, although the type stubs exclude them
    return batch_for_shader(shader, "TRIS", content, indices=triangles)


def _draw_strip(stand: ContactState, left: float, right: float, bottom: float, size: float) -> None:
    width, colour = right - left, contact_colour(stand.state)
    if width <= 0.5:
        return
    gap = 1.0 if width > 4.0 else 0.0
    drawing.fill_box(left, bottom, width - gap, STRIP_HEIGHT * size, (*colour[:3], STRIP_ALPHA))
    for label in contact_labels(stand.state):
        if drawing.text_width(label, LETTER_HEIGHT * size) + 8.0 * size < width:
            dark = stand.state == AIR or sum(colour[:3]) < 1.6
            ink = drawing.TEXT_COLOUR if dark else (0.05, 0.05, 0.06, 1.0)
            drawing.draw_text(label, left + 4.0 * size, bottom + 2.5 * size, LETTER_HEIGHT * size, ink)
            return


def _posture_marks(
    keys: Sequence[SceneKey], scene: bpy.types.Scene, origin: float, step: float, bottom: float
) -> list[tuple[Points, Colour]]:
    """A diamond at each posture, coloured by its role."""
    size, width = drawing.interface_scale(), require(bpy.context.region, "region").width
    half, last = 0.5 * KEY_HEIGHT * size, -np.inf
    marks: list[tuple[Points, Colour]] = []
    places = origin + step * frames_at(scene, np.array([key.time for key in keys]))
    for key, x in zip(keys, places.tolist(), strict=True):
        if 0.0 < x < width and x - last >= POSTURE_SPACING * size:
            last = x
            for grown, colour in ((1.5, BACKGROUND), (0.0, ROLE_COLOURS[key.role])):
                far, middle = half + grown - 1.0, bottom + half
                corners = [(x - far, middle), (x, middle - far), (x + far, middle), (x, middle + far)]
                marks.append((corners, colour))
    return marks


def _failure_marks(left: float, right: float, bottom: float, size: float) -> list[tuple[Points, Colour]]:
    """A line over a failing interval and a flag at its start."""
    top = bottom + 9.0 * size
    flag = [(left - 4.0 * size, top), (left + 4.0 * size, top), (left, bottom)]
    return [(drawing.box_corners(left, bottom, right - left, 2.0 * size), FAIL_COLOUR), (flag, FAIL_COLOUR)]


HANDLERS = DrawHandlers(bpy.types.SpaceDopeSheetEditor, ((_draw, "POST_PIXEL"),))
