"""Starts and stops live capture, and polls it from a timer."""

from __future__ import annotations

import subprocess
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import bpy

from ..base import bpy_access, redraw
from ..base.bpy_access import session_id
from ..base.interpreter import Interpreter, chosen_interpreter
from ..base.lifetime import ends_with_file
from ..base.solver_api import errors, termination
from ..display.properties import study_settings
from ..jobs.job import create_job_folder

if TYPE_CHECKING:
    from ..base.solver_api import Lock
    from .session import CaptureSession

LOOPBACK, PORT = "127.0.0.1", 9763
"""Default address and port of the stream; the address is only reachable from this machine."""
POLL_INTERVAL = 1.0 / 60.0
"""[s] Interval between reads of the responses."""
OFFLINE_MESSAGE = (
    "This stream can come from other computers: enable Edit > Preferences > System > Network > Allow Online Access, or "
    "use the address 127.0.0.1"
)


class CaptureSettings(bpy.types.PropertyGroup):
    """Settings for live capture."""

    address: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Address",
        description="Address of this computer that receives the stream. All addresses except 127.0.0.1 need "
        "Allow Online Access in the preferences",
        default=LOOPBACK,
    )
    port: bpy.props.IntProperty(  # type: ignore[valid-type]
        name="Port", description="UDP port that receives the stream", default=PORT, min=1, max=65535
    )
    lsl: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="LSL Stream",
        description="Name of a Lab Streaming Layer stream to use instead. Needs pylsl and Allow Online Access",
    )
    budget: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Time Budget",
        description="Maximum computing time per sample in milliseconds",
        default=5.0,
        min=0.5,
        max=100.0,
        precision=1,
    )
    take: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Take", description="Name of the recording and of its action", default="Take"
    )

    @property
    def source(self) -> str:
        """Where the stream comes from."""
        return self.lsl or f"{self.address}:{self.port}"


def capture_settings(scene: bpy.types.Scene) -> CaptureSettings:
    """A scene's settings."""
    return scene.exciting_dance_capture  # type: ignore[attr-defined]


CLASSES = (CaptureSettings,)


class Capture:
    """The live capture of this Blender; one at a time."""

    session: ClassVar[CaptureSession | None] = None
    sender: ClassVar[subprocess.Popen | None] = None
    """The process that replays a recording."""
    listeners: ClassVar[list[Callable[[bool], None]]] = []
    """Called with True or False when capture starts or stops; they add or remove the overlays."""
    _rig_folder: ClassVar[tuple[Path, Lock] | None] = None

    @classmethod
    def start(
        cls, context: bpy.types.Context, body: bpy.types.Object, interpreter: Interpreter | None = None
    ) -> CaptureSession:
        """Start live capture.

        Raises:
            InvalidValue: the stream can come from other computers, and Blender is offline.
            SolverError: the rig is damaged, or the process cannot be started.
        """
        from .session import CaptureProcess, CaptureSession

        cls.stop()
        scene = bpy_access.scene(context)
        settings = capture_settings(scene)
        require_online(settings.address, settings.lsl)
        cls._rig_folder = create_job_folder()
        arguments = ["capture", "--serve", *_subject_arguments(body, cls._rig_folder[0]), "--address", settings.address]
        arguments += ["--port", str(settings.port), "--budget", f"{settings.budget:g}"]
        arguments += ["--lsl", settings.lsl] if settings.lsl else []
        try:
            child = CaptureProcess(interpreter or chosen_interpreter(context), tuple(arguments))
            cls.session = CaptureSession(scene, body, child)
        except (OSError, errors.SolverError):
            cls._discard_rig_folder()
            raise
        if not bpy.app.background:
            bpy.app.timers.register(_tick, first_interval=POLL_INTERVAL)
        for listener in cls.listeners:
            listener(True)
        redraw.redraw_views()
        return cls.session

    @classmethod
    def stop(cls, *, wait: bool = False) -> None:
        """Stop live capture."""
        session, cls.session = cls.session, None
        if cls.sender is not None:
            cls.sender.terminate()
            cls.sender = None
        if session is None:
            return
        for listener in cls.listeners:
            listener(False)
        if bpy.app.timers.is_registered(_tick):
            bpy.app.timers.unregister(_tick)
        session.end(wait=wait)
        cls._discard_rig_folder()
        redraw.redraw_views()

    @classmethod
    def replay(cls, context: bpy.types.Context, files: list[str], trial: str) -> None:
        """Send a recording to the port of the capture, to try it without hardware.

        Raises:
            MissingDependency: the solver's Python cannot be started.
        """
        if cls.sender is not None:
            cls.sender.terminate()
        settings, interpreter = capture_settings(bpy_access.scene(context)), chosen_interpreter(context)
        arguments = ["replay", *files, "--port", str(settings.port), "--repeat", "100", "--progress", "none"]
        arguments += ["--trial", trial] if trial else []
        cls.sender = subprocess.Popen(
            interpreter.command(arguments),
            env={**interpreter.environment, termination.LIFELINE: "1"},
            stdin=subprocess.PIPE,  # the child ends when this process ends
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    @classmethod
    def shows_balance(cls, body: bpy.types.Object) -> bool:
        """Whether live capture draws a body's balance."""
        return cls.moves_body(body) and study_settings(bpy.context).show_support

    @classmethod
    def moves_body(cls, body: bpy.types.Object) -> bool:
        """Whether a body is posed by live capture instead of its action."""
        session = cls.session
        return session is not None and session.body == session_id(body) and session.pose is not None

    @classmethod
    def _discard_rig_folder(cls) -> None:
        from ..base.solver_api import remove_locked_folder

        if cls._rig_folder is not None:
            remove_locked_folder(*cls._rig_folder)
            cls._rig_folder = None


def require_online(address: str, lsl: str) -> None:
    """Check that Blender may receive this stream.

    Raises:
        InvalidValue: the stream can come from other computers, and Blender is offline.
    """
    if ((address != LOOPBACK and address != "::1") or lsl) and not bpy.app.online_access:
        raise errors.InvalidValue(OFFLINE_MESSAGE)


def find_calibration(body: bpy.types.Object) -> Path | None:
    """Calibration file of a body's study, with the marker locations; None without one."""
    from ..base.solver_api import study_folder
    from ..display.study import study_folder_of

    folder = study_folder_of(body)
    found = None if folder is None else folder / study_folder.CALIBRATION_FILE
    return found if found is not None and found.exists() else None


def _subject_arguments(body: bpy.types.Object, folder: Path) -> list[str]:
    """Arguments with the calibration or rig for the capture."""
    from ..base.solver_api import study_folder, write_rig
    from ..scene.armature import rig_of

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
    except errors.SolverError:  # the rig or its scene was deleted or changed
        Capture.stop()
        return None
    except Exception as error:  # Blender removes a timer that raises an error, without a message
        traceback.print_exc()
        session.end_reason = f"The capture failed: {error}"
    return POLL_INTERVAL


register, unregister = ends_with_file(partial(Capture.stop, wait=True))
