"""What Blender says has changed, so that panels and overlays read data when it changes and not at every redraw."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, ClassVar, TypeVar

import bpy

T = TypeVar("T")
KINDS = ("ACTION", "ARMATURE", "COLLECTION", "OBJECT", "SCENE")
"""Types of data-blocks whose changes are counted."""
KEPT = 256
"""Values that are remembered."""
Handler = Callable[..., None]


class Changes:
    """How often data-blocks of each type changed, and what was read since."""

    counts: ClassVar[dict[str, int]] = dict.fromkeys(KINDS, 0)
    values: ClassVar[dict[tuple[str, int], tuple[Hashable, Any]]] = {}
    listening: ClassVar[bool] = False
    """Whether Blender says what changes; otherwise nothing is remembered."""


def since_change(
    what: str, owner: bpy.types.ID, read: Callable[[], T], *, kinds: tuple[str, ...], mark: Hashable = None
) -> T:
    """What was read of a data-block, read again after a change.

    Args:
        what: name of the value.
        owner: the data-block that it belongs to.
        read: reads the value.
        kinds: types of data-blocks, of `KINDS`, whose change may change the value.
        mark: something cheap to read that differs where the value does: scripts change data before Blender says so.
    """
    if not Changes.listening:
        return read()
    key, now = (what, owner.session_uid), (mark, *(Changes.counts[kind] for kind in kinds))
    if key not in Changes.values or Changes.values[key][0] != now:
        while len(Changes.values) >= KEPT:
            del Changes.values[next(iter(Changes.values))]
        Changes.values[key] = now, read()
    return Changes.values[key][1]


@bpy.app.handlers.persistent
def _on_change(scene: bpy.types.Scene, graph: bpy.types.Depsgraph | None = None) -> None:
    for kind in KINDS:
        if graph is None or graph.id_type_updated(kind):  # type: ignore[arg-type]
            Changes.counts[kind] += 1


@bpy.app.handlers.persistent
def _on_another(*_: object) -> None:
    Changes.values.clear()
    for kind in KINDS:
        Changes.counts[kind] += 1


HANDLERS: tuple[tuple[str, Handler], ...] = (
    ("depsgraph_update_post", _on_change),
    ("undo_post", _on_another),
    ("redo_post", _on_another),
    ("load_post", _on_another),
)


def register() -> None:
    """Count from now on."""
    for name, handler in HANDLERS:
        getattr(bpy.app.handlers, name).append(handler)
    Changes.listening = True


def unregister() -> None:
    """Count no more."""
    Changes.listening = False
    Changes.values.clear()
    for name, handler in HANDLERS:
        handlers = getattr(bpy.app.handlers, name)
        if handler in handlers:
            handlers.remove(handler)
