"""What is drawn over the editors whenever the add-on is on. What draws is imported when there is a rig to draw over."""

from __future__ import annotations

import sys

import bpy

from .capture.switch import Capture
from .file_cache import read_again
from .live.switch import Live
from .painters import Painters
from .scene_rigs import rig_in


def _legends() -> None:
    if rig_in(bpy.context) is not None:
        from .overlays import draw_legends

        draw_legends()


def _motion() -> None:
    if rig_in(bpy.context) is not None:
        from .overlays import draw_motion

        draw_motion()


def _flights() -> None:
    if rig_in(bpy.context) is not None:
        from .flight_strip import draw

        draw()


def _live(on: bool) -> None:
    from .live import overlays, timeline_overlays

    overlays.switch(on)
    timeline_overlays.switch(on)


def _capture(on: bool) -> None:
    from .capture.overlays import switch

    switch(on)


PAINTERS = (
    Painters(bpy.types.SpaceView3D, ((_legends, "POST_PIXEL"), (_motion, "POST_VIEW"))),
    Painters(bpy.types.SpaceDopeSheetEditor, ((_flights, "POST_PIXEL"),)),
)


def register() -> None:
    """Draw from now on."""
    for painters in PAINTERS:
        painters.switch(True)
    Live.draw.append(_live)
    Capture.draw.append(_capture)


def unregister() -> None:
    """Draw no more, and forget what was drawn."""
    for painters in PAINTERS:
        painters.switch(False)
    Live.draw.clear()
    Capture.draw.clear()
    drawing = sys.modules.get(f"{__package__}.drawing")  # imported if something was drawn
    if drawing is not None:
        drawing.forget()
    read_again()
