"""Operators that apply or discard a proposed dance."""

from __future__ import annotations

from typing import Any

import bpy

from ..bpy_access import Status, scene
from .base import RigOperator, require_active_rig


class GhostOperator(RigOperator):
    """Mix-in of an operator that needs a rig with a ghost."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Whether the rig has a ghost."""
        from ..authoring.ghost import find_ghost

        return super().poll(context) and find_ghost(scene(context), require_active_rig(context)) is not None


class EXCITING_DANCE_OT_apply_ghost(GhostOperator, bpy.types.Operator):
    """Apply the ghost's dance to the rig; the earlier action stays in the file as "... before" """

    bl_idname = "exciting_dance.apply_ghost"
    bl_label = "Apply"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    def run(self, context: bpy.types.Context) -> Status:
        from ..authoring.ghost import apply_ghost

        old = apply_ghost(context, require_active_rig(context))
        self.report({"INFO"}, f"Applied; the earlier keys are in the action {old.name!r}")
        return {"FINISHED"}


class EXCITING_DANCE_OT_discard_ghost(GhostOperator, bpy.types.Operator):
    """Remove the ghost without changing the rig"""

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
