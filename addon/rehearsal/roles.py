"""What an object of a rehearsal scene shows."""

from __future__ import annotations

import bpy

ROLE_KEY = "exciting_dance_role"
"""Custom property of an object: one of the roles."""
BODY, GHOST, FLOOR, FOOTPRINT, CAPTION = "body", "ghost", "floor", "footprint", "caption"


def set_role(item: bpy.types.Object, role: str) -> None:
    """Note what an object shows."""
    item[ROLE_KEY] = role


def role_of(item: bpy.types.Object) -> str:
    """What an object shows; empty for cameras, lights and others."""
    return str(item.get(ROLE_KEY, ""))
