"""Live motion on and off, and the timer that looks."""

from __future__ import annotations

import atexit
import subprocess
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import bpy

from .. import bpy_access as typed
from .. import redraw
from ..bpy_access import session_id
from ..interpreter import Interpreter, chosen_interpreter
from ..jobs import create_job_folder
from ..solver_api import errors, stopping
from .properties import LOOPBACK, capture_settings

if TYPE_CHECKING:
    from ..solver_api import Lock
    from .session import CaptureSession

POLL_INTERVAL = 1.0 / 60.0
"""[s] between looks at what the child says."""
OFFLINE_MESSAGE = (
    "The address is not this computer alone: switch on Edit > Preferences > System > Network > Allow Online Access, or "
    "use 127.0.0.1"
)


class Capture:
    """The live motion of this Blender; one at a time, off at first."""

    session: ClassVar[CaptureSession | None] = None
    sender: ClassVar[subprocess.Popen | None] = None
    """Of a replayed recording."""
    listeners: ClassVar[list[Callable[[bool], None]]] = []
    """Told when it goes on or off: what draws adds or removes its handlers."""
    _rig_folder: ClassVar[tuple[Path, Lock] | None] = None

    @classmethod
    def start(
        cls, context: bpy.types.Context, body: bpy.types.Object, interpreter: Interpreter | None = None
    ) -> CaptureSession:
        """Follow a stream from now on.

        Raises:
            InvalidValue: the address is beyond this machine, and Blender may not go online.
            SolverError: the rig is not as its armature says, or no process can be started.
        """
        from .session import CaptureProcess, CaptureSession

        cls.stop()
        scene = typed.scene(context)
        settings = capture_settings(scene)
        require_online(settings.address, settings.lsl)
        cls._rig_folder = create_job_folder()
        words = ["capture", "--serve", *_subject_arguments(body, cls._rig_folder[0]), "--address", settings.address]
        words += ["--port", str(settings.port), "--budget", f"{settings.budget:g}"]
        words += ["--lsl", settings.lsl] if settings.lsl else []
        try:
            child = CaptureProcess(interpreter or chosen_interpreter(context), tuple(words))
            cls.session = CaptureSession(scene, body, child)
        except (OSError, errors.SolverError):
            cls._discard_rig_folder()
            raise
        if not bpy.app.background:
            bpy.app.timers.register(_tick, first_interval=POLL_INTERVAL)
        for tell in cls.listeners:
            tell(True)
        redraw.redraw_views()
        return cls.session

    @classmethod
    def stop(cls, *, wait: bool = False) -> None:
        """Follow no more."""
        session, cls.session = cls.session, None
        if cls.sender is not None:
            cls.sender.terminate()
            cls.sender = None
        if session is None:
            return
        for tell in cls.listeners:
            tell(False)
        if bpy.app.timers.is_registered(_tick):
            bpy.app.timers.unregister(_tick)
        session.end(wait=wait)
        cls._discard_rig_folder()
        redraw.redraw_views()

    @classmethod
    def replay(cls, context: bpy.types.Context, files: list[str], trial: str) -> None:
        """Send a recording to the own port, so that everything can be tried without hardware.

        Raises:
            MissingDependency: the solver's Python cannot be run.
        """
        if cls.sender is not None:
            cls.sender.terminate()
        settings, interpreter = capture_settings(typed.scene(context)), chosen_interpreter(context)
        words = ["replay", *files, "--port", str(settings.port), "--repeat", "100", "--progress", "none"]
        words += ["--trial", trial] if trial else []
        cls.sender = subprocess.Popen(
            interpreter.command(words),
            env={**interpreter.environment, stopping.LIFELINE: "1"},
            stdin=subprocess.PIPE,  # it ends when this process does
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    @classmethod
    def shows_balance(cls, body: bpy.types.Object) -> bool:
        """Whether a body's balance is drawn by the live motion."""
        return cls.moves_body(body) and capture_settings(typed.scene(bpy.context)).show_balance

    @classmethod
    def moves_body(cls, body: bpy.types.Object) -> bool:
        """Whether a body stands as the live motion has it, and not as its action."""
        session = cls.session
        return session is not None and session.body == session_id(body) and session.pose is not None

    @classmethod
    def _discard_rig_folder(cls) -> None:
        from ..solver_api import remove_locked_folder

        if cls._rig_folder is not None:
            remove_locked_folder(*cls._rig_folder)
            cls._rig_folder = None


def require_online(address: str, lsl: str) -> None:
    """See that Blender may listen there.

    Raises:
        InvalidValue: beyond this machine, and Blender may not go online.
    """
    if ((address != LOOPBACK and address != "::1") or lsl) and not bpy.app.online_access:
        raise errors.InvalidValue(OFFLINE_MESSAGE)


def find_calibration(body: bpy.types.Object) -> Path | None:
    """The calibration of the study that a body shows, which tells where markers sit; None without."""
    from ..solver_api import study_folder
    from ..study import study_folder_of

    folder = study_folder_of(body)
    found = None if folder is None else folder / study_folder.CALIBRATION_FILE
    return found if found is not None and found.exists() else None


def _subject_arguments(body: bpy.types.Object, folder: Path) -> list[str]:
    """Options that say whom a capture follows."""
    from ..armature import rig_of
    from ..solver_api import study_folder, write_rig

    calibration = find_calibration(body)
    if calibration is not None:
        return ["--calibration", str(calibration)]
    return ["--rig", str(write_rig(folder / study_folder.RIG_FILE, rig_of(body)))]


def _tick() -> float | None:
    session = Capture.session
    if session is None:
        return None
    try:
        session.tick()
    except errors.SolverError:  # the rig or its scene is gone, or is another one
        Capture.stop()
        return None
    except Exception as error:  # a timer that raises is never called again, and nobody would know why
        traceback.print_exc()
        session.end_reason = f"The capture stumbled: {error}"
    return POLL_INTERVAL


def _stop_at_exit() -> None:
    Capture.stop(wait=True)


@bpy.app.handlers.persistent
def _stop_before_load(*_: object) -> None:
    Capture.stop(wait=True)


def register() -> None:
    """End it before another file is opened and when Blender quits."""
    bpy.app.handlers.load_pre.append(_stop_before_load)
    atexit.register(_stop_at_exit)


def unregister() -> None:
    """End it."""
    Capture.stop(wait=True)
    atexit.unregister(_stop_at_exit)
    if _stop_before_load in bpy.app.handlers.load_pre:
        bpy.app.handlers.load_pre.remove(_stop_before_load)
