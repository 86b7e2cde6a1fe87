"""What Blender gets to know of the extension, and forgets again. Nothing here raises."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from functools import partial

import bpy

from . import bench, changes, checks, command, jobs, marker_list, moves, painting, told
from .authoring import keyed
from .authoring import properties as dance_properties
from .capture import properties as capture_properties
from .capture import switch as capture
from .live import switch as live
from .live.properties import LiveSettings
from .operators import author as author_operators
from .operators import bench as bench_operators
from .operators import capture as capture_operators
from .operators import dance_files, design_dance, estimate, ghosts, identify, recordings, retarget, rigs, see
from .operators import dances as dance_operators
from .operators import live as live_operators
from .operators import markers as marker_operators
from .operators import rehearsal as rehearsal_operators
from .panels import bench as bench_panels
from .panels import capture as capture_panels
from .panels import checks as checks_panels
from .panels import dance as dance_panels
from .panels import live as live_panels
from .panels import markers as marker_panels
from .panels import rehearsal as rehearsal_panels
from .panels import retarget as retarget_panels
from .panels import sidebar
from .preferences import Preferences
from .properties import RecordingFile, Settings
from .rehearsal.properties import RehearsalSettings
from .values import RECORDING_SUFFIXES

CLASSES = (
    *told.CLASSES,
    RecordingFile,
    Settings,
    *marker_list.CLASSES,
    LiveSettings,
    *capture_properties.CLASSES,
    *checks.CLASSES,
    *moves.CLASSES,
    *bench.CLASSES,
    RehearsalSettings,
    *dance_properties.CLASSES,
    Preferences,
    *rigs.CLASSES,
    *recordings.CLASSES,
    *marker_operators.CLASSES,
    *identify.CLASSES,
    *estimate.CLASSES,
    *see.CLASSES,
    *author_operators.CLASSES,
    *design_dance.CLASSES,
    *dance_operators.CLASSES,
    *ghosts.CLASSES,
    *dance_files.CLASSES,
    *bench_operators.CLASSES,
    *capture_operators.CLASSES,
    *retarget.CLASSES,
    *sidebar.CLASSES,
    *bench_panels.CLASSES,
    *marker_panels.CLASSES,
    *capture_panels.CLASSES,
    *retarget_panels.CLASSES,
    *dance_panels.CLASSES,
    *live_operators.CLASSES,
    *live_panels.CLASSES,
    *checks_panels.CLASSES,
    *rehearsal_operators.CLASSES,
    *rehearsal_panels.CLASSES,
)


def register() -> None:
    """Classes, settings, menus, overlays and the command line."""
    for cls in CLASSES:
        _try(partial(bpy.utils.register_class, cls))
    _try(_add_settings)
    _try(lambda: bpy.types.TOPBAR_MT_file_import.append(_import_menu))  # type: ignore[arg-type]
    _try(changes.register)
    _try(checks.register)
    _try(moves.register)
    _try(bench.register)
    _try(painting.register)
    _try(live.register)
    _try(capture.register)
    _try(keyed.register)
    _try(jobs.register)
    _try(command.register)


def unregister() -> None:
    """The reverse, in reverse."""
    _try(command.unregister)
    _try(jobs.unregister)
    _try(keyed.unregister)
    _try(capture.unregister)
    _try(live.unregister)
    _try(painting.unregister)
    _try(bench.unregister)
    _try(moves.unregister)
    _try(checks.unregister)
    _try(changes.unregister)
    _try(lambda: bpy.types.TOPBAR_MT_file_import.remove(_import_menu))  # type: ignore[arg-type]
    _try(_remove_settings)
    for cls in reversed(CLASSES):
        _try(partial(bpy.utils.unregister_class, cls))


def _add_settings() -> None:
    bpy.types.Scene.exciting_dance = bpy.props.PointerProperty(type=Settings)  # type: ignore[attr-defined]
    bpy.types.Scene.exciting_dance_dance = bpy.props.PointerProperty(  # type: ignore[attr-defined]
        type=dance_properties.DanceSettings
    )
    bpy.types.Scene.exciting_dance_told = bpy.props.CollectionProperty(type=told.Told)  # type: ignore[attr-defined]
    bpy.types.Scene.exciting_dance_markers = bpy.props.PointerProperty(type=marker_list.MarkerList)  # type: ignore[attr-defined]
    bpy.types.Scene.exciting_dance_live = bpy.props.PointerProperty(type=LiveSettings)  # type: ignore[attr-defined]
    bpy.types.Scene.exciting_dance_capture = bpy.props.PointerProperty(  # type: ignore[attr-defined]
        type=capture_properties.CaptureSettings
    )
    bpy.types.Scene.exciting_dance_rehearsal = bpy.props.PointerProperty(  # type: ignore[attr-defined]
        type=RehearsalSettings
    )


def _remove_settings() -> None:
    del bpy.types.Scene.exciting_dance_told  # type: ignore[attr-defined]
    del bpy.types.Scene.exciting_dance_dance  # type: ignore[attr-defined]
    del bpy.types.Scene.exciting_dance_markers  # type: ignore[attr-defined]
    del bpy.types.Scene.exciting_dance_live  # type: ignore[attr-defined]
    del bpy.types.Scene.exciting_dance_capture  # type: ignore[attr-defined]
    del bpy.types.Scene.exciting_dance_rehearsal  # type: ignore[attr-defined]
    del bpy.types.Scene.exciting_dance  # type: ignore[attr-defined]


def _import_menu(menu: bpy.types.Menu, context: bpy.types.Context) -> None:
    menu.layout.operator("exciting_dance.import_recording", text=f"Motion Recording ({', '.join(RECORDING_SUFFIXES)})")
    menu.layout.operator("exciting_dance.import_urdf", text="Robot (.urdf, .xml)")


def _try(step: Callable[[], object]) -> None:
    """A broken part must not take Blender's start or the other parts with it; the console says what broke."""
    try:
        step()
    except Exception:
        traceback.print_exc()
