"""Ends what must not outlive the open file, Blender or the extension."""

from __future__ import annotations

import atexit
from collections.abc import Callable

import bpy

Step = Callable[[], None]


def ends_with_file(end: Step) -> tuple[Step, Step]:
    """Functions that register and unregister an end: before another file is opened, when Blender quits, and when the
    extension is disabled.
    """

    @bpy.app.handlers.persistent
    def end_before_load(*_: object) -> None:
        end()

    def register() -> None:
        bpy.app.handlers.load_pre.append(end_before_load)
        atexit.register(end)

    def unregister() -> None:
        end()
        atexit.unregister(end)
        if end_before_load in bpy.app.handlers.load_pre:
            bpy.app.handlers.load_pre.remove(end_before_load)

    return register, unregister
