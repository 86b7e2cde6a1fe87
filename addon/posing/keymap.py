"""The key G on a bone of a rig with a live check drags the body; elsewhere it is Blender's own."""

from __future__ import annotations

import bpy

_items: list[tuple[bpy.types.KeyMap, bpy.types.KeyMapItem]] = []


def register() -> None:
    """Add the key, before Blender's own."""
    configuration = bpy.context.window_manager.keyconfigs.addon if bpy.context.window_manager else None
    if configuration is None:  # without a window
        return
    keymap = configuration.keymaps.new(name="Pose", space_type="EMPTY")
    _items.append((keymap, keymap.keymap_items.new("exciting_dance.drag", "G", "PRESS", head=True)))


def unregister() -> None:
    """Remove it."""
    while _items:
        keymap, item = _items.pop()
        keymap.keymap_items.remove(item)
