"""What Blender gets to know of the extension, and forgets again. Nothing here raises."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from functools import partial

import bpy

from . import (
    change_cache as changes,
)
from . import (
    check_settings as checks,
)
from . import (
    command,
    jobs,
    marker_list,
)
from . import (
    dance_moves as moves,
)
from . import (
    fixed_base as bench,
)
from . import (
    job_messages as told,
)
from . import (
    overlay_handlers as painting,
)
from .authoring import posture_cache as keyed
from .authoring import properties as dance_properties
from .capture import control as capture
from .capture import properties as capture_properties
from .live import control as live
from .live.properties import LiveSettings
from .operators import capture as capture_operators
from .operators import (
    centroidal as estimate,
)
from .operators import check_and_repair as dance_operators
from .operators import (
    dance_files,
    design_dance,
    ghosts,
    identify,
    recordings,
    retarget,
    rigs,
)
from .operators import (
    display as see,
)
from .operators import fixed_base as bench_operators
from .operators import keying as author_operators
from .operators import live as live_operators
from .operators import markers as marker_operators
from .operators import rehearsal as rehearsal_operators
from .panels import capture as capture_panels
from .panels import checks as checks_panels
from .panels import dance as dance_panels
from .panels import fixed_base as bench_panels
from .panels import live as live_panels
from .panels import markers as marker_panels
from .panels import rehearsal as rehearsal_panels
from .panels import retarget as retarget_panels
from .panels import sidebar
from .preferences import Preferences
from .properties import RecordingFile, Settings
from .rehearsal.properties import RehearsalSettings
from .solver_api import recording_suffixes, robot_suffixes

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
        _run_guarded(partial(bpy.utils.register_class, cls))
    _run_guarded(_add_settings)
    _run_guarded(lambda: bpy.types.TOPBAR_MT_file_import.append(_import_menu))  # type: ignore[arg-type]
    _run_guarded(changes.register)
    _run_guarded(checks.register)
    _run_guarded(moves.register)
    _run_guarded(bench.register)
    _run_guarded(painting.register)
    _run_guarded(live.register)
    _run_guarded(capture.register)
    _run_guarded(keyed.register)
    _run_guarded(jobs.register)
    _run_guarded(command.register)


def unregister() -> None:
    """The reverse, in reverse."""
    _run_guarded(command.unregister)
    _run_guarded(jobs.unregister)
    _run_guarded(keyed.unregister)
    _run_guarded(capture.unregister)
    _run_guarded(live.unregister)
    _run_guarded(painting.unregister)
    _run_guarded(bench.unregister)
    _run_guarded(moves.unregister)
    _run_guarded(checks.unregister)
    _run_guarded(changes.unregister)
    _run_guarded(lambda: bpy.types.TOPBAR_MT_file_import.remove(_import_menu))  # type: ignore[arg-type]
    _run_guarded(_remove_settings)
    for cls in reversed(CLASSES):
        _run_guarded(partial(bpy.utils.unregister_class, cls))


def _add_settings() -> None:
    bpy.types.Scene.exciting_dance = bpy.props.PointerProperty(type=Settings)  # type: ignore[attr-defined]
    bpy.types.Scene.exciting_dance_dance = bpy.props.PointerProperty(  # type: ignore[attr-defined]
        type=dance_properties.DanceSettings
    )
    bpy.types.Scene.exciting_dance_told = bpy.props.CollectionProperty(type=told.StoredMessage)  # type: ignore[attr-defined]
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
    menu.layout.operator(
        "exciting_dance.import_recording", text=f"Motion Recording ({', '.join(recording_suffixes())})"
    )
    menu.layout.operator("exciting_dance.import_urdf", text=f"Robot ({', '.join(robot_suffixes())})")


def _run_guarded(step: Callable[[], object]) -> None:
    """A broken part must not take Blender's start or the other parts with it; the console says what broke."""
    try:
        step()
    except Exception:
        traceback.print_exc()
