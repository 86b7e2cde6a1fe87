"""Redraws single regions, because redrawing a 3D view costs about a hundred times as much as its sidebar."""

from __future__ import annotations

from collections.abc import Iterator

import bpy


def _areas(*kinds: str) -> Iterator[bpy.types.Area]:
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas if window.screen else ():
            if area.type in kinds:
                yield area


def redraw_sidebars() -> None:
    """Redraw the sidebars of the 3D views, which contain the panels."""
    for area in _areas("VIEW_3D"):
        for region in area.regions:
            if region.type == "UI":
                region.tag_redraw()


def redraw_views() -> None:
    """Redraw the 3D views with their sidebars."""
    for area in _areas("VIEW_3D"):
        area.tag_redraw()


def redraw_timelines() -> None:
    """Redraw Dope Sheets and timelines."""
    for area in _areas("DOPESHEET_EDITOR"):
        area.tag_redraw()


def redraw_check_results(*, in_views: bool = True) -> None:
    """Redraw what shows results of the live check: timelines, panels and, if ``in_views``, the 3D views."""
    redraw_timelines()
    (redraw_views if in_views else redraw_sidebars)()
