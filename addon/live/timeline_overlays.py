"""The live check along the time axis of the Dope Sheet and the Timeline: which feet stand, and what is left.

Below: a bar of the worst margin, the higher the better; failing frames are full height, so that they stand out. Above
it: contact strips, and the postures, which the Dope Sheet itself hides unless their bones are selected. All lie at the
bottom of the keys' region, translucent, and scroll and zoom with it.
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
from ..drawing import Colour
from ..painters import Painters
from ..typed import there
from ..values import SceneKey, errors
from .marks import COMFORTABLE, FAILS, HOLDS, NEAR, UNKNOWN, stand_colour, stand_label
from .properties import live_settings
from .readings import AIR, Readings, Stand, stands
from .session import Session
from .switch import Live

BAR, STRIP, KEY, GAP, BOTTOM = 20.0, 12.0, 9.0, 2.0, 13.0
"""[px] Heights of the bar, of the strips and of the postures, between them, and of Blender's scroll bar below."""
ROLES: dict[str, Colour] = {
    "fixed": (0.91, 0.40, 0.38, 1.0),
    "preferred": (0.98, 0.80, 0.35, 1.0),
    "free": (0.40, 0.72, 0.93, 1.0),
}
"""As Blender colours the keyframe types that stand for them."""
APART = 3.0
"""[px] Postures nearer to the one before are not drawn."""
LEAST, FULL = 0.25, 2.0
"""Share of the height that a frame with no comfort left has; comfort that fills the bar."""
PAPER: Colour = (0.08, 0.08, 0.09, 0.55)
SOLID, FADED = 0.85, 0.35
"""Alpha of what is known, and of what was known before the last change."""
STRIP_ALPHA = 0.7
GREY_HEIGHT = 0.2
LETTERS = 10.0
TALLEST = 0.55
"""Share of the region that may be taken; in a lower one nothing is drawn."""


class Drawn:
    """What was drawn last: it stays on the graphics card until it changes."""

    key: ClassVar[tuple[int, ...]] = ()
    batch: ClassVar[gpu.types.GPUBatch | None] = None
    stands: ClassVar[list[Stand]] = []
    failing: ClassVar[list[tuple[float, float]]] = []


def switch(on: bool) -> None:
    """Draw from now on, or no more."""
    Drawn.key, Drawn.batch = (), None
    PAINTERS.switch(on)


def bar(frames: np.ndarray, comfort: np.ndarray, fresh: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The bar of margins: corners (4 N, 2) in frames and shares of its height, colours (4 N, 4), triangles (2 N, 3).

    Args:
        frames: (N,) of the scene.
        comfort: (N,) NaN where unknown.
        fresh: (N,) False where the comfort is of an older check.
    """
    middles = 0.5 * (frames[1:] + frames[:-1])
    edges = np.concatenate([frames[:1] - 0.5, middles, frames[-1:] + 0.5])
    known = ~np.isnan(comfort)
    fails, near = known & (comfort < 0.0), known & (comfort >= 0.0) & (comfort < COMFORTABLE)
    height = LEAST + (1.0 - LEAST) * np.clip(np.nan_to_num(comfort, posinf=FULL), 0.0, FULL) / FULL
    height = np.where(fails, 1.0, np.where(known, height, GREY_HEIGHT))
    colours = np.tile(np.array(UNKNOWN), (len(frames), 1))
    for where, colour in ((known, HOLDS), (near, NEAR), (fails, FAILS)):
        colours[where] = colour
    colours[:, 3] = np.where(fresh & known, SOLID, FADED)
    corners = np.empty((len(frames), 4, 2))
    corners[:, :2, 0], corners[:, 2:, 0] = edges[:-1, None], edges[1:, None]
    corners[:, [0, 3], 1], corners[:, [1, 2], 1] = 0.0, height[:, None]
    faces = 4 * np.arange(len(frames))[:, None, None] + np.array([[0, 1, 2], [0, 2, 3]])
    return corners.reshape(-1, 2), np.repeat(colours, 4, axis=0), faces.reshape(-1, 3)


def _draw() -> None:
    context, session = bpy.context, Live.session
    if session is None:
        return
    try:
        scene, body = session.found()
    except errors.SolverError:
        return
    size, region = drawing.scale(), there(context.region, "region")
    height = (BAR + STRIP + KEY + 3.0 * GAP) * size
    too_low = region.height * TALLEST < height
    if scene != context.scene or not live_settings(scene).show_timeline or too_low:
        return
    origin, step = drawing.frame_axis(region)
    if session.readings is None:
        _nothing_yet(scene, origin, step, size)
        return
    _refresh(scene, body, session)
    gpu.state.blend_set("ALPHA")
    bottom = BOTTOM * size
    times = session.readings.timeline.times
    first, last = (origin + step * float(frame) for frame in frames_at(scene, times[[0, -1]]))
    left, right = max(first - 0.5 * step, 0.0), min(last + 0.5 * step, float(region.width))
    if right > left:
        drawing.box(left, bottom - GAP * size, right - left, height, PAPER)
    if Drawn.batch is not None:
        gpu.matrix.push()
        gpu.matrix.translate((origin, bottom))
        gpu.matrix.scale((step, BAR * size))
        Drawn.batch.draw(gpu.shader.from_builtin("SMOOTH_COLOR"))
        gpu.matrix.pop()
    place = bottom + (BAR + GAP) * size
    for stand in Drawn.stands:
        start, stop = (origin + step * float(frames_at(scene, np.array(t))) for t in (stand.start, stand.stop))
        _strip(stand, max(start, 0.0), min(stop, float(region.width)), place, size)
    _postures(session.readings.timeline.keys, scene, origin, step, place + (STRIP + GAP) * size)
    for start, stop in Drawn.failing:
        x, end = (origin + step * float(frames_at(scene, np.array(t))) for t in (start, stop))
        if end > 0.0 and x < region.width:
            _mark(x - 0.5 * step, max(end + 0.5 * step, x - 0.5 * step + 2.0), place + (STRIP + KEY + GAP) * size, size)
    gpu.state.blend_set("NONE")


def _nothing_yet(scene: bpy.types.Scene, origin: float, step: float, size: float) -> None:
    """A grey bar over the frames that could be checked."""
    gpu.state.blend_set("ALPHA")
    left, width = origin + step * (scene.frame_start - 0.5), step * (scene.frame_end - scene.frame_start + 1)
    drawing.box(left, BOTTOM * size, width, GREY_HEIGHT * BAR * size, (*UNKNOWN[:3], FADED))
    gpu.state.blend_set("NONE")


def _refresh(scene: bpy.types.Scene, body: bpy.types.Object, session: Session) -> None:
    """Make again what changed since it was drawn last."""
    readings = session.readings
    assert readings is not None
    key = (readings.serial, readings.version, hash(scene.render.fps / scene.render.fps_base))
    if key == Drawn.key:
        return
    Drawn.key, Drawn.failing = key, readings.failing()
    Drawn.stands = stands(readings.timeline, tuple(sole.name for sole in readings.timeline.rig.soles))
    Drawn.batch = _batch(scene, readings)


def _batch(scene: bpy.types.Scene, readings: Readings) -> gpu.types.GPUBatch:
    comfort, fresh = readings.comforts()
    corners, colours, faces = bar(frames_at(scene, readings.timeline.times), comfort, fresh)
    shader = gpu.shader.from_builtin("SMOOTH_COLOR")
    flat = np.concatenate([corners, np.zeros((len(corners), 1))], axis=1).astype(np.float32)
    content: Any = {"pos": flat, "color": colours.astype(np.float32)}
    triangles: Any = faces.astype(np.int32)  # arrays are taken as they are, whatever the stubs say
    return batch_for_shader(shader, "TRIS", content, indices=triangles)


def _strip(stand: Stand, left: float, right: float, bottom: float, size: float) -> None:
    width, colour = right - left, stand_colour(stand.state)
    if width <= 0.5:
        return
    gap = 1.0 if width > 4.0 else 0.0
    drawing.box(left, bottom, width - gap, STRIP * size, (*colour[:3], STRIP_ALPHA))
    for words in stand_label(stand.state):
        if drawing.extent(words, LETTERS * size) + 8.0 * size < width:
            dark = stand.state == AIR or sum(colour[:3]) < 1.6
            ink = drawing.INK if dark else (0.05, 0.05, 0.06, 1.0)
            drawing.write(words, left + 4.0 * size, bottom + 2.5 * size, LETTERS * size, ink)
            return


def _postures(keys: Sequence[SceneKey], scene: bpy.types.Scene, origin: float, step: float, bottom: float) -> None:
    """A diamond at each posture, coloured by its role."""
    size, width = drawing.scale(), there(bpy.context.region, "region").width
    half, last = 0.5 * KEY * size, -np.inf
    places = origin + step * frames_at(scene, np.array([key.time for key in keys]))
    for key, x in zip(keys, places, strict=True):
        if 0.0 < x < width and x - last >= APART * size:
            last = float(x)
            for grown, colour in ((1.5, PAPER), (0.0, ROLES[key.role])):
                far, middle = half + grown - 1.0, bottom + half
                drawing.fan(
                    [(last - far, middle), (last, middle - far), (last + far, middle), (last, middle + far)], colour
                )


def _mark(left: float, right: float, bottom: float, size: float) -> None:
    """A line over a failing span and a flag at its start."""
    drawing.box(left, bottom, right - left, 2.0 * size, FAILS)
    drawing.fan(
        [(left - 4.0 * size, bottom + 9.0 * size), (left + 4.0 * size, bottom + 9.0 * size), (left, bottom)], FAILS
    )


PAINTERS = Painters(bpy.types.SpaceDopeSheetEditor, ((_draw, "POST_PIXEL"),))
