"""Take a proposed dance, or leave it."""

from __future__ import annotations

from typing import Any

import bpy

from ..bpy_access import Status, scene
from .base import RigOperator, require_active_rig


class GhostOperator(RigOperator):
    """What a rig with a ghost can have done."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """With a ghost."""
        from ..authoring.ghost import find_ghost

        return super().poll(context) and find_ghost(scene(context), require_active_rig(context)) is not None


class EXCITING_DANCE_OT_apply_ghost(GhostOperator, bpy.types.Operator):
    """Let the rig dance what the ghost shows; the action it had stays in the file as "... before" """

    bl_idname = "exciting_dance.apply_ghost"
    bl_label = "Apply"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    def run(self, context: bpy.types.Context) -> Status:
        from ..authoring.ghost import apply_ghost

        old = apply_ghost(context, require_active_rig(context))
        self.report({"INFO"}, f"Applied; the keys as they were: action {old.name!r}")
        return {"FINISHED"}


class EXCITING_DANCE_OT_discard_ghost(GhostOperator, bpy.types.Operator):
    """Take the ghost away; the rig dances on as before"""

    bl_idname = "exciting_dance.discard_ghost"
    bl_label = "Discard"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    def run(self, context: bpy.types.Context) -> Status:
        from ..authoring.ghost import discard_ghost

        discard_ghost(context, require_active_rig(context))
        return {"FINISHED"}


CLASSES: tuple[Any, ...] = (
    EXCITING_DANCE_OT_apply_ghost,
    EXCITING_DANCE_OT_discard_ghost,
)
