"""Overlays that are active while the add-on is enabled. Drawing modules are imported when there is a rig."""

from __future__ import annotations

import sys

import bpy

from .capture.control import Capture
from .draw_handlers import DrawHandlers
from .file_cache import clear_caches
from .live.control import LiveCheck
from .scene_rigs import active_rig


def _draw_legends() -> None:
    if active_rig(bpy.context) is not None:
        from .overlays import draw_legends

        draw_legends()


def _draw_motion() -> None:
    if active_rig(bpy.context) is not None:
        from .overlays import draw_motion

        draw_motion()


def _draw_flights() -> None:
    if active_rig(bpy.context) is not None:
        from .flight_strip import draw

        draw()


def _enable_live(on: bool) -> None:
    from .live import overlays, timeline_overlays

    overlays.enable(on)
    timeline_overlays.enable(on)


def _enable_capture(on: bool) -> None:
    from .capture.overlays import enable

    enable(on)


HANDLERS = (
    DrawHandlers(bpy.types.SpaceView3D, ((_draw_legends, "POST_PIXEL"), (_draw_motion, "POST_VIEW"))),
    DrawHandlers(bpy.types.SpaceDopeSheetEditor, ((_draw_flights, "POST_PIXEL"),)),
)


def register() -> None:
    """Add the overlays."""
    for painters in HANDLERS:
        painters.enable(True)
    LiveCheck.listeners.append(_enable_live)
    Capture.listeners.append(_enable_capture)


def unregister() -> None:
    """Remove the overlays and free their data."""
    for painters in HANDLERS:
        painters.enable(False)
    LiveCheck.listeners.clear()
    Capture.listeners.clear()
    drawing = sys.modules.get(f"{__package__}.drawing")  # only imported if something was drawn
    if drawing is not None:
        drawing.free_batches()
    clear_caches()
