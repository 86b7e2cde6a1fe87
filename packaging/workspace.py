"""Writes the workspace Dance of the extension: a viewport with the sidebar, a timeline high enough for contacts and
margins, and a text editor for the report of the last job.

    ./dance python packaging/workspace.py

Blender changes only the areas of the screen that is shown, so that the workspace is made of the first one at start-up.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import bpy

OUTPUT = Path(__file__).resolve().parents[1] / "assets" / "workspace.blend"
NAME, REPORT = "Dance", "Dance Report"
"""Names of the workspace and of its text, as in `addon.drawing.viewport` and `addon.jobs.job_messages`."""
TIMELINE_SHARE = 0.3
"""Height of the timeline over that of the viewport before: 190 of 630 pixels on a screen of 1366x768, of which contacts
and margins need 145."""


def find_area(screen: Any, kind: str) -> Any:
    """The first area of a type."""
    return next(area for area in screen.areas if area.type == kind)


def main() -> int:
    """Write the workspace."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    manager: Any = bpy.context.window_manager
    window = manager.windows[0]
    window.workspace.name, screen = NAME, window.screen
    view = find_area(screen, "VIEW_3D")
    with bpy.context.temp_override(window=window, area=view, region=view.regions[-1]):
        bpy.ops.screen.area_split(direction="HORIZONTAL", factor=TIMELINE_SHARE)
    screen.areas[-1].ui_type = "TIMELINE"
    view.spaces.active.show_region_ui = True
    text = find_area(screen, "PROPERTIES")
    text.type = "TEXT_EDITOR"
    text.spaces.active.text = bpy.data.texts.new(REPORT)
    text.spaces.active.show_word_wrap, text.spaces.active.show_line_numbers = True, False
    bpy.ops.wm.save_as_mainfile(filepath=str(OUTPUT), compress=True, copy=True)
    return 0


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)  # Blender's module sometimes waits forever at its exit
