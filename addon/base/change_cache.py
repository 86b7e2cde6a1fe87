"""Caches values until Blender reports a change, so that panels and overlays do not read data at every redraw."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, ClassVar, TypeVar

import bpy

T = TypeVar("T")
COUNTED_TYPES = ("ACTION", "ARMATURE", "COLLECTION", "OBJECT", "SCENE")
"""Types of data-blocks whose changes are counted."""
CACHE_SIZE = 256
"""Largest number of cached values."""
Handler = Callable[..., None]


class ChangeCounts:
    """Number of changes by type of data-block, and the values cached since."""

    counts: ClassVar[dict[str, int]] = dict.fromkeys(COUNTED_TYPES, 0)
    values: ClassVar[dict[tuple[str, int], tuple[Hashable, Any]]] = {}
    active: ClassVar[bool] = False
    """Whether Blender reports changes; otherwise nothing is cached."""


def cached_until_change(
    name: str, owner: bpy.types.ID, read: Callable[[], T], *, kinds: tuple[str, ...], state: Hashable = None
) -> T:
    """A value of a data-block, read again only after a change.

    Args:
        name: name of the value.
        owner: the data-block that the value belongs to.
        read: reads the value.
        kinds: types of data-blocks, from `COUNTED_TYPES`, that the value depends on.
        state: a value that is cheap to read and differs when the result does, because scripts change data before
            Blender reports it.
    """
    if not ChangeCounts.active:
        return read()
    key, now = (name, owner.session_uid), (state, *(ChangeCounts.counts[kind] for kind in kinds))
    if key not in ChangeCounts.values or ChangeCounts.values[key][0] != now:
        while len(ChangeCounts.values) >= CACHE_SIZE:
            del ChangeCounts.values[next(iter(ChangeCounts.values))]
        ChangeCounts.values[key] = now, read()
    return ChangeCounts.values[key][1]


@bpy.app.handlers.persistent
def _on_change(scene: bpy.types.Scene, graph: bpy.types.Depsgraph | None = None) -> None:
    for kind in COUNTED_TYPES:
        if graph is None or graph.id_type_updated(kind):  # type: ignore[arg-type]
            ChangeCounts.counts[kind] += 1


@bpy.app.handlers.persistent
def _on_file_or_undo(*_: object) -> None:
    ChangeCounts.values.clear()
    for kind in COUNTED_TYPES:
        ChangeCounts.counts[kind] += 1


HANDLERS: tuple[tuple[str, Handler], ...] = (
    ("depsgraph_update_post", _on_change),
    ("undo_post", _on_file_or_undo),
    ("redo_post", _on_file_or_undo),
    ("load_post", _on_file_or_undo),
)


def register() -> None:
    """Start counting changes."""
    for name, handler in HANDLERS:
        getattr(bpy.app.handlers, name).append(handler)
    ChangeCounts.active = True


def unregister() -> None:
    """Stop counting changes."""
    ChangeCounts.active = False
    ChangeCounts.values.clear()
    for name, handler in HANDLERS:
        handlers = getattr(bpy.app.handlers, name)
        if handler in handlers:
            handlers.remove(handler)
