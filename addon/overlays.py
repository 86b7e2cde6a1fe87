"""Drawn over the 3D view: the legend of the coloured body."""

from __future__ import annotations

import blf
import bpy
import gpu
from gpu_extras.batch import batch_for_shader

from .armature import rig_in
from .colours import COLOUR_KEY, Colouring, colour_at, colouring
from .legend import legends_in
from .properties import settings_of
from .typed import scene
from .values import errors

BANDS, TICKS = 64, 5
WIDTH, HEIGHT, LEFT, BOTTOM = 16, 200, 24, 40
"""[px] at a scale of one."""
INK = (0.93, 0.93, 0.93, 1.0)
FONT = 0
_handles: list = []


def register() -> None:
    """Draw from now on; nothing is drawn without a window."""
    if not bpy.app.background:
        _handles.append(bpy.types.SpaceView3D.draw_handler_add(_draw, (), "WINDOW", "POST_PIXEL"))


def unregister() -> None:
    """Draw no more."""
    while _handles:
        bpy.types.SpaceView3D.draw_handler_remove(_handles.pop(), "WINDOW")


def _draw() -> None:
    context = bpy.context
    body = rig_in(context)
    if body is None or COLOUR_KEY not in body or not settings_of(context).overlay or legends_in(scene(context)):
        return
    if not context.space_data.overlay.show_overlays:
        return
    try:
        shown = colouring(body, body[COLOUR_KEY])
    except errors.SolverError:
        return
    _legend(shown, context.preferences.system.ui_scale)


def _legend(shown: Colouring, scale: float) -> None:
    left, bottom, width, height = (scale * x for x in (LEFT, BOTTOM, WIDTH, HEIGHT))
    corners, colours, faces = [], [], []
    for band in range(BANDS + 1):
        share = band / BANDS
        y = bottom + share * height
        corners += [(left, y), (left + width, y)]
        colours += [(*colour_at(shown.meaning.table, share), 1.0)] * 2
        if band:
            last = 2 * band
            faces += [(last - 2, last - 1, last), (last - 1, last + 1, last)]
    shader = gpu.shader.from_builtin("SMOOTH_COLOR")
    batch = batch_for_shader(shader, "TRIS", {"pos": corners, "color": colours}, indices=faces)
    batch.draw(shader)
    _write(f"{shown.meaning.label} [{shown.meaning.unit}]", left, bottom + height + 14 * scale, 13 * scale)
    for tick in range(TICKS):
        share = tick / (TICKS - 1)
        value = shown.low + share * (shown.high - shown.low)
        _write(f"{value:.4g}", left + width + 6 * scale, bottom + share * height - 4 * scale, 11 * scale)


def _write(words: str, x: float, y: float, size: float) -> None:
    blf.size(FONT, size)
    blf.color(FONT, *INK)
    blf.position(FONT, x, y, 0.0)
    blf.draw(FONT, words)
