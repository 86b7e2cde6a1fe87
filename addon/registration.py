"""Registers and unregisters all parts of the extension. Nothing here raises an error."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

import bpy

from .authoring import posture_cache
from .authoring import properties as dance_properties
from .base import change_cache
from .base.interpreter import Preferences
from .base.solver_api import recording_suffixes, robot_suffixes
from .capture import control as capture
from .display.properties import RecordingFile, SceneSettings
from .interface import command, overlay_handlers
from .jobs import job as jobs
from .jobs import job_messages
from .live import control as live
from .live.properties import LiveSettings
from .operators import OPERATORS
from .panels import PANELS
from .posing import handles
from .rehearsal.properties import RehearsalSettings
from .scene import check_settings, dance_moves, marker_list


def load_classes(package: str, modules: Iterable[str]) -> Iterator[Any]:
    """Classes of modules of a subpackage of the add-on, in order."""
    for name in modules:
        yield from import_module(f"{__package__}.{package}.{name}").CLASSES


def find_extensions() -> tuple[ModuleType, ...]:
    """Packages of the add-on with panels of their own, in alphabetical order; no other module imports them.

    Each holds ``CLASSES`` and the functions ``register`` and ``unregister``.
    """
    names = sorted(path.parent.name for path in Path(__file__).parent.glob("*/panels.py"))
    return tuple(import_module(f"{__package__}.{name}") for name in names)


EXTENSIONS = find_extensions()
CLASSES: tuple[Any, ...] = (
    *job_messages.CLASSES,
    RecordingFile,
    SceneSettings,
    *marker_list.CLASSES,
    LiveSettings,
    *capture.CLASSES,
    *check_settings.CLASSES,
    *dance_moves.CLASSES,
    RehearsalSettings,
    *dance_properties.CLASSES,
    Preferences,
    *load_classes("operators", OPERATORS),
    *load_classes("panels", PANELS),
    *handles.CLASSES,
    *(cls for extension in EXTENSIONS for cls in extension.CLASSES),
)
SETTINGS = MappingProxyType(
    {
        "exciting_dance": SceneSettings,
        "exciting_dance_dance": dance_properties.DanceSettings,
        "exciting_dance_markers": marker_list.MarkerList,
        "exciting_dance_live": LiveSettings,
        "exciting_dance_capture": capture.CaptureSettings,
        "exciting_dance_rehearsal": RehearsalSettings,
    }
)
"""Settings of every scene by the name of their property."""
MODULES = (
    change_cache,
    check_settings,
    dance_moves,
    job_messages,
    overlay_handlers,
    live,
    capture,
    posture_cache,
    jobs,
    command,
    handles,
    *EXTENSIONS,
)
"""Modules with properties, handlers or commands of their own, in the order of registration."""


def register() -> None:
    """Register classes, settings, menus, overlays and the command line."""
    for cls in CLASSES:
        _run_guarded(partial(bpy.utils.register_class, cls))
    for name, group in SETTINGS.items():
        _run_guarded(partial(setattr, bpy.types.Scene, name, bpy.props.PointerProperty(type=group)))
    for menu, draw in MENUS:
        _run_guarded(partial(_find_menu(menu).append, draw))
    for module in MODULES:
        _run_guarded(module.register)


def unregister() -> None:
    """Unregister everything in reverse order."""
    for module in reversed(MODULES):
        _run_guarded(module.unregister)
    for menu, draw in MENUS:
        _run_guarded(partial(_find_menu(menu).remove, draw))
    for name in reversed(SETTINGS):
        _run_guarded(partial(delattr, bpy.types.Scene, name))
    for cls in reversed(CLASSES):
        _run_guarded(partial(bpy.utils.unregister_class, cls))


def _import_menu(menu: bpy.types.Menu, context: bpy.types.Context) -> None:
    menu.layout.operator(
        "exciting_dance.import_recording", text=f"Motion Recording ({', '.join(recording_suffixes())})"
    )
    text = f"Robot or Model ({', '.join(robot_suffixes())})"
    menu.layout.operator("exciting_dance.import_rig", text=text).kind = "urdf"  # type: ignore[attr-defined]


def _armature_menu(menu: bpy.types.Menu, context: bpy.types.Context) -> None:
    menu.layout.operator("exciting_dance.import_rig", text="Dancer", icon="ARMATURE_DATA").kind = "human"


MENUS = (("TOPBAR_MT_file_import", _import_menu), ("VIEW3D_MT_armature_add", _armature_menu))
"""Menus of Blender that the extension extends, and what it draws there."""


def _find_menu(name: str) -> Any:
    return getattr(bpy.types, name)


def _run_guarded(step: Callable[[], object]) -> None:
    """Run a step and print its error, so that a broken part does not affect Blender's start or the other parts."""
    try:
        step()
    except Exception:
        traceback.print_exc()
