"""What is drawn again, and no more than that: a 3D view with a body costs a hundred times its sidebar."""

from __future__ import annotations

from collections.abc import Iterator

import bpy


def _areas(*kinds: str) -> Iterator[bpy.types.Area]:
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas if window.screen else ():
            if area.type in kinds:
                yield area


def redraw_sidebars() -> None:
    """The sidebars of the 3D views, where the panels are."""
    for area in _areas("VIEW_3D"):
        for region in area.regions:
            if region.type == "UI":
                region.tag_redraw()


def redraw_views() -> None:
    """The 3D views with their sidebars."""
    for area in _areas("VIEW_3D"):
        area.tag_redraw()


def redraw_timelines() -> None:
    """The Dope Sheets and timelines."""
    for area in _areas("DOPESHEET_EDITOR"):
        area.tag_redraw()


def redraw_check_results(*, in_views: bool = True) -> None:
    """What shows the live check's readings: timelines and panels, and the 3D views unless nothing is new there."""
    redraw_timelines()
    (redraw_views if in_views else redraw_sidebars)()
