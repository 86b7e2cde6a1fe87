"""Overlays that are active while the add-on is enabled. Drawing modules are imported when there is a rig."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module

import bpy

from ..base.draw_handlers import DrawHandlers, Kind
from ..base.file_cache import clear_caches
from ..base.scene_rigs import active_rig
from ..capture.control import Capture
from ..live.control import LiveCheck


def _draw(module: str, function: str = "draw") -> Callable[[], None]:
    """A function that draws if there is a rig; its module is imported then."""

    def draw() -> None:
        if active_rig(bpy.context) is not None:
            getattr(import_module(f"{__package__.removesuffix('interface')}display.{module}"), function)()

    return draw


def _enable_live(on: bool) -> None:
    from ..live import overlays, timeline_overlays

    overlays.enable(on)
    timeline_overlays.enable(on)


def _enable_capture(on: bool) -> None:
    from ..capture.overlays import enable

    enable(on)


VIEW: tuple[tuple[Callable[[], None], Kind], ...] = (
    (_draw("overlays", "draw_legends"), "POST_PIXEL"),
    (_draw("overlays", "draw_motion"), "POST_VIEW"),
)
HANDLERS = (
    DrawHandlers(bpy.types.SpaceView3D, VIEW),
    DrawHandlers(bpy.types.SpaceDopeSheetEditor, ((_draw("flight_strip"), "POST_PIXEL"),)),
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
    drawing = sys.modules.get(
        f"{__package__.removesuffix('interface')}drawing.primitives"
    )  # only imported if something was drawn
    if drawing is not None:
        drawing.free_batches()
    clear_caches()
