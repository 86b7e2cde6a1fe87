"""Starts and stops the live check. Handlers only record that something changed; a timer reacts to it."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import bpy

from ..base import bpy_access, redraw
from ..base.bpy_access import session_id
from ..base.change_cache import COUNTED_TYPES, cached_until_change
from ..base.interpreter import Interpreter, chosen_interpreter
from ..base.lifetime import ends_with_file
from ..base.scene_rigs import active_rig
from ..base.solver_api import errors
from ..jobs.job_messages import MARKERS, find_messages
from .properties import live_settings

if TYPE_CHECKING:
    from ..jobs.job_messages import StoredMessage
    from .session import CheckSession

POLL_INTERVAL, MARKER_INTERVAL = 0.1, 1.0
"""[s] Intervals of the timers."""


class LiveCheck:
    """The live check of this Blender; one at a time."""

    session: ClassVar[CheckSession | None] = None
    listeners: ClassVar[list[Callable[[bool], None]]] = []
    """Called with True or False when the check starts or stops; they add or remove the overlays."""

    @classmethod
    def start(
        cls, context: bpy.types.Context, body: bpy.types.Object, interpreter: Interpreter | None = None
    ) -> CheckSession:
        """Start checking a rig."""
        from .check_process import CheckProcess
        from .session import CheckSession

        cls.stop()
        cls.session = CheckSession(
            bpy_access.scene(context), body, CheckProcess(interpreter or chosen_interpreter(context))
        )
        _set_handlers(True)
        for listener in cls.listeners:
            listener(True)
        redraw.redraw_check_results()
        return cls.session

    @classmethod
    def stop(cls, *, wait: bool = False) -> None:
        """Stop the check and end its process."""
        session, cls.session = cls.session, None
        if session is not None:
            _set_handlers(False)
            for listener in cls.listeners:
                listener(False)
            session.process.end(wait=wait)
            redraw.redraw_check_results()

    @classmethod
    def confirms(cls, scene: bpy.types.Scene, item: StoredMessage) -> bool:
        """Whether a message is a verdict about its rig as it is now."""
        body, session = item.about, cls.session
        if not item.fingerprint or body is None:
            return False
        if session is not None and session.body == session_id(body):
            return session.fingerprint == item.fingerprint
        return cls.is_current(scene, item)

    @classmethod
    def is_current(cls, scene: bpy.types.Scene, item: StoredMessage) -> bool:
        """Whether a message is about its rig as it is now, whatever is being checked."""
        from . import session

        if (body := item.about) is None:
            return False
        now = cached_until_change(
            "fingerprint",
            body,
            lambda: state_fingerprint(scene, body),
            kinds=COUNTED_TYPES,
            state=(str(session.watched_options(scene, body)), time.monotonic() // session.COMPARE_INTERVAL),
        )
        return now == item.fingerprint

    @classmethod
    def shows_balance(cls, body: bpy.types.Object) -> bool:
        """Whether the live check draws a body's balance."""
        session = cls.session
        return (
            session is not None
            and session.body == session_id(body)
            and live_settings(bpy_access.scene(bpy.context)).show_balance
        )

    @classmethod
    def shows_excitation(cls, body: bpy.types.Object) -> bool:
        """Whether the live check colours a body by excitation."""
        session = cls.session
        return (
            session is not None
            and session.body == session_id(body)
            and bool(session.current_excitation(bpy_access.scene(bpy.context)))
        )


def state_fingerprint(scene: bpy.types.Scene, body: bpy.types.Object) -> str:
    """The fingerprint of a rig as it is now."""
    from .session import fingerprint, watched_options

    return str(fingerprint(scene, body, watched_options(scene, body)))


def _tick() -> float | None:
    session = LiveCheck.session
    if session is None:
        return None
    try:
        body = active_rig(bpy.context) if session.receiver is None else None  # a drag ends with its rig
        if body is not None and session_id(body) != session.body:
            session.follow(bpy_access.scene(bpy.context), body)
        session.tick()
    except errors.SolverError:  # the rig or its scene was deleted
        LiveCheck.stop()
        return None
    except Exception as error:  # Blender removes a timer that raises an error, without a message
        traceback.print_exc()
        session.problem = f"The live check failed: {error}"
        redraw.redraw_check_results()
    return POLL_INTERVAL


def withdraw_markers() -> float:
    """Remove the markers of checks of another state of their rig, or of a deleted one; called every second."""
    for scene in bpy.data.scenes:
        for item in find_messages(scene, MARKERS):
            if item.about not in list(scene.objects) or not LiveCheck.is_current(scene, item):
                from ..authoring.failure_markers import clear_failure_markers

                clear_failure_markers(scene, item.about)
    return MARKER_INTERVAL


def _on_change(scene: bpy.types.Scene, graph: bpy.types.Depsgraph | None = None) -> None:
    session = LiveCheck.session
    if session is None:
        return
    for update in graph.updates if graph is not None else ():
        item = update.id.original  # the evaluated copy has its own session id
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
    """Add or remove the handlers and the timer."""
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


start_watching, stop_watching = ends_with_file(partial(LiveCheck.stop, wait=True))


def register() -> None:
    """Stop the check before another file is opened, and when Blender quits; withdraw markers that are not true."""
    start_watching()
    bpy.app.timers.register(withdraw_markers, persistent=True)


def unregister() -> None:
    """Stop the check."""
    stop_watching()
    if bpy.app.timers.is_registered(withdraw_markers):
        bpy.app.timers.unregister(withdraw_markers)
