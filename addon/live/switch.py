"""The live check on and off, and what Blender tells it: handlers only note that something happened, a timer looks."""

from __future__ import annotations

import atexit
import time
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

import bpy

from .. import redraw, typed
from ..interpreter import Interpreter, chosen
from ..typed import known_by
from ..values import errors
from .properties import live_settings

if TYPE_CHECKING:
    from .session import Session

LOOK_EVERY = 0.1
"""[s] between looks at the answers and at what changed."""


class Live:
    """The live check of this Blender; one at a time, off at first."""

    session: ClassVar[Session | None] = None
    draw: ClassVar[list[Callable[[bool], None]]] = []
    """Told when the check goes on or off: what draws adds or removes its handlers."""

    @classmethod
    def start(
        cls, context: bpy.types.Context, body: bpy.types.Object, interpreter: Interpreter | None = None
    ) -> Session:
        """Check a rig from now on."""
        from .child import Child
        from .session import Session

        cls.stop()
        cls.session = Session(typed.scene(context), body, Child(interpreter or chosen(context)))
        _listen(True)
        for tell in cls.draw:
            tell(True)
        redraw.readings()
        return cls.session

    @classmethod
    def stop(cls, *, wait: bool = False) -> None:
        """Check no more; the child ends."""
        session, cls.session = cls.session, None
        if session is not None:
            _listen(False)
            for tell in cls.draw:
                tell(False)
            session.child.end(wait=wait)
            redraw.readings()

    @classmethod
    def shows(cls, body: bpy.types.Object) -> bool:
        """Whether a body's balance is drawn by the live check."""
        session = cls.session
        return (
            session is not None
            and session.body == known_by(body)
            and live_settings(typed.scene(bpy.context)).show_balance
        )

    @classmethod
    def colours(cls, body: bpy.types.Object) -> bool:
        """Whether a body is coloured by excitation now."""
        session = cls.session
        return (
            session is not None
            and session.body == known_by(body)
            and bool(session.excitation(typed.scene(bpy.context)))
        )


def _tick() -> float | None:
    session = Live.session
    if session is None:
        return None
    try:
        session.tick()
    except errors.SolverError:  # the rig or its scene is gone
        Live.stop()
        return None
    except Exception as error:  # a timer that raises is never called again, and nobody would know why
        traceback.print_exc()
        session.trouble = f"The live check stumbled: {error}"
        redraw.readings()
    return LOOK_EVERY


def _on_change(scene: bpy.types.Scene, graph: bpy.types.Depsgraph | None = None) -> None:
    session = Live.session
    if session is None:
        return
    for update in graph.updates if graph is not None else ():
        item = update.id.original  # the evaluated copy has numbers of its own
        if isinstance(item, bpy.types.Object):
            if item.session_uid != session.body:
                continue
            session.moved = True
        elif not isinstance(item, (bpy.types.Action, bpy.types.Armature, bpy.types.Scene)):
            continue
        session.touched = time.monotonic()


def _on_undo(*_: object) -> None:
    if Live.session is not None:
        Live.session.touched, Live.session.moved = time.monotonic(), True
        redraw.readings()


def _on_frame(scene: bpy.types.Scene, graph: bpy.types.Depsgraph | None = None) -> None:
    if Live.session is not None and Live.session.scene == scene.session_uid:
        Live.session.look(scene)


HANDLERS: tuple[tuple[str, Callable], ...] = (
    ("depsgraph_update_post", _on_change),
    ("frame_change_post", _on_frame),
    ("undo_post", _on_undo),
    ("redo_post", _on_undo),
)


def _listen(on: bool) -> None:
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
        bpy.app.timers.register(_tick, first_interval=LOOK_EVERY)


def _end() -> None:
    Live.stop(wait=True)


@bpy.app.handlers.persistent
def _before_another_file(*_: object) -> None:
    Live.stop(wait=True)


def register() -> None:
    """End the check before another file is opened and when Blender quits."""
    bpy.app.handlers.load_pre.append(_before_another_file)
    atexit.register(_end)


def unregister() -> None:
    """End the check."""
    Live.stop(wait=True)
    atexit.unregister(_end)
    if _before_another_file in bpy.app.handlers.load_pre:
        bpy.app.handlers.load_pre.remove(_before_another_file)
