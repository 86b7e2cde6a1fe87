"""Changes to the scene that happen wholly or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import bpy

STORES = ("objects", "collections", "armatures", "meshes", "curves", "materials", "actions", "cameras", "lights")


@contextmanager
def all_or_nothing() -> Iterator[None]:
    """When the block raises, remove every data-block it made."""
    before = {store: {item.session_uid for item in getattr(bpy.data, store)} for store in STORES}
    try:
        yield
    except BaseException:
        for store in STORES:
            made = [item for item in getattr(bpy.data, store) if item.session_uid not in before[store]]
            bpy.data.batch_remove(made)
        raise
