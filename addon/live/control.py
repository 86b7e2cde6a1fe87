"""The live check on and off, and what Blender tells it: handlers only note that something happened, a timer looks."""

from __future__ import annotations

import atexit
import time
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

import bpy

from .. import bpy_access as typed
from .. import redraw
from ..bpy_access import session_id
from ..interpreter import Interpreter, chosen_interpreter
from ..solver_api import errors
from .properties import live_settings

if TYPE_CHECKING:
    from .session import CheckSession

POLL_INTERVAL = 0.1
"""[s] between looks at the answers and at what changed."""


class LiveCheck:
    """The live check of this Blender; one at a time, off at first."""

    session: ClassVar[CheckSession | None] = None
    listeners: ClassVar[list[Callable[[bool], None]]] = []
    """Told when the check goes on or off: what draws adds or removes its handlers."""

    @classmethod
    def start(
        cls, context: bpy.types.Context, body: bpy.types.Object, interpreter: Interpreter | None = None
    ) -> CheckSession:
        """Check a rig from now on."""
        from .check_process import CheckProcess
        from .session import CheckSession

        cls.stop()
        cls.session = CheckSession(typed.scene(context), body, CheckProcess(interpreter or chosen_interpreter(context)))
        _set_handlers(True)
        for tell in cls.listeners:
            tell(True)
        redraw.redraw_check_results()
        return cls.session

    @classmethod
    def stop(cls, *, wait: bool = False) -> None:
        """Check no more; the child ends."""
        session, cls.session = cls.session, None
        if session is not None:
            _set_handlers(False)
            for tell in cls.listeners:
                tell(False)
            session.process.end(wait=wait)
            redraw.redraw_check_results()

    @classmethod
    def shows_balance(cls, body: bpy.types.Object) -> bool:
        """Whether a body's balance is drawn by the live check."""
        session = cls.session
        return (
            session is not None
            and session.body == session_id(body)
            and live_settings(typed.scene(bpy.context)).show_balance
        )

    @classmethod
    def shows_excitation(cls, body: bpy.types.Object) -> bool:
        """Whether a body is coloured by excitation now."""
        session = cls.session
        return (
            session is not None
            and session.body == session_id(body)
            and bool(session.current_excitation(typed.scene(bpy.context)))
        )


def _tick() -> float | None:
    session = LiveCheck.session
    if session is None:
        return None
    try:
        session.tick()
    except errors.SolverError:  # the rig or its scene is gone
        LiveCheck.stop()
        return None
    except Exception as error:  # a timer that raises is never called again, and nobody would know why
        traceback.print_exc()
        session.problem = f"The live check stumbled: {error}"
        redraw.redraw_check_results()
    return POLL_INTERVAL


def _on_change(scene: bpy.types.Scene, graph: bpy.types.Depsgraph | None = None) -> None:
    session = LiveCheck.session
    if session is None:
        return
    for update in graph.updates if graph is not None else ():
        item = update.id.original  # the evaluated copy has numbers of its own
        if isinstance(item, bpy.types.Object):
            if item.session_uid != session.body:
                continue
            session.posture_changed = True
        elif not isinstance(item, (bpy.types.Action, bpy.types.Armature, bpy.types.Scene)):
            continue
        session.change_time = time.monotonic()


def _on_undo(*_: object) -> None:
    if LiveCheck.session is not None:
        LiveCheck.session.change_time, LiveCheck.session.posture_changed = time.monotonic(), True
        redraw.redraw_check_results()


def _on_frame(scene: bpy.types.Scene, graph: bpy.types.Depsgraph | None = None) -> None:
    if LiveCheck.session is not None and LiveCheck.session.scene == scene.session_uid:
        LiveCheck.session.show_frame(scene)


HANDLERS: tuple[tuple[str, Callable], ...] = (
    ("depsgraph_update_post", _on_change),
    ("frame_change_post", _on_frame),
    ("undo_post", _on_undo),
    ("redo_post", _on_undo),
)


def _set_handlers(on: bool) -> None:
    """Have Blender tell what happens, or no more."""
    for name, handler in HANDLERS:
        handlers = getattr(bpy.app.handlers, name)
        if handler in handlers:
            handlers.remove(handler)
        if on:
            handlers.append(handler)
    if bpy.app.timers.is_registered(_tick):
        bpy.app.timers.unregister(_tick)
    if on and not bpy.app.background:
        bpy.app.timers.register(_tick, first_interval=POLL_INTERVAL)


def _stop_at_exit() -> None:
    LiveCheck.stop(wait=True)


@bpy.app.handlers.persistent
def _stop_before_load(*_: object) -> None:
    LiveCheck.stop(wait=True)


def register() -> None:
    """End the check before another file is opened and when Blender quits."""
    bpy.app.handlers.load_pre.append(_stop_before_load)
    atexit.register(_stop_at_exit)


def unregister() -> None:
    """End the check."""
    LiveCheck.stop(wait=True)
    atexit.unregister(_stop_at_exit)
    if _stop_before_load in bpy.app.handlers.load_pre:
        bpy.app.handlers.load_pre.remove(_stop_before_load)
