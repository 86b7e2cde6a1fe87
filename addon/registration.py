"""What Blender gets to know of the extension, and forgets again. Nothing here raises."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from functools import partial

import bpy

from . import command, jobs, overlays
from .operators import identify, recordings, rigs, see
from .panels import sidebar
from .preferences import Preferences
from .properties import RecordingFile, Settings

CLASSES = (
    RecordingFile,
    Settings,
    Preferences,
    *rigs.CLASSES,
    *recordings.CLASSES,
    *identify.CLASSES,
    *see.CLASSES,
    *sidebar.CLASSES,
)


def register() -> None:
    """Classes, settings, menus, overlays and the command line."""
    for cls in CLASSES:
        _try(partial(bpy.utils.register_class, cls))
    _try(_add_settings)
    _try(lambda: bpy.types.TOPBAR_MT_file_import.append(_import_menu))  # type: ignore[arg-type]
    _try(overlays.register)
    _try(jobs.register)
    _try(command.register)


def unregister() -> None:
    """The reverse, in reverse."""
    _try(command.unregister)
    _try(jobs.unregister)
    _try(overlays.unregister)
    _try(lambda: bpy.types.TOPBAR_MT_file_import.remove(_import_menu))  # type: ignore[arg-type]
    _try(_remove_settings)
    for cls in reversed(CLASSES):
        _try(partial(bpy.utils.unregister_class, cls))


def _add_settings() -> None:
    bpy.types.Scene.exciting_dance = bpy.props.PointerProperty(type=Settings)  # type: ignore[attr-defined]


def _remove_settings() -> None:
    del bpy.types.Scene.exciting_dance  # type: ignore[attr-defined]


def _import_menu(menu: bpy.types.Menu, context: bpy.types.Context) -> None:
    menu.layout.operator("exciting_dance.import_recording", text="Motion Recording (.trc, .c3d, forces)")
    menu.layout.operator("exciting_dance.import_urdf", text="Robot (.urdf)")


def _try(step: Callable[[], object]) -> None:
    """A broken part must not take Blender's start or the other parts with it; the console says what broke."""
    try:
        step()
    except Exception:
        traceback.print_exc()
