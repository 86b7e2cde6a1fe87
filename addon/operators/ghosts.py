"""Take a proposed dance, or leave it."""

from __future__ import annotations

from typing import Any

import bpy

from ..typed import Status, scene
from .act import NeedsRig, the_rig


class NeedsGhost(NeedsRig):
    """What a rig with a ghost can have done."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """With a ghost."""
        from ..authoring.ghost import ghost_of

        return super().poll(context) and ghost_of(scene(context), the_rig(context)) is not None


class EXCITING_DANCE_OT_apply_ghost(NeedsGhost, bpy.types.Operator):
    """Let the rig dance what the ghost shows; the action it had stays in the file as "... before" """

    bl_idname = "exciting_dance.apply_ghost"
    bl_label = "Apply"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    def act(self, context: bpy.types.Context) -> Status:
        from ..authoring.ghost import apply_ghost

        old = apply_ghost(context, the_rig(context))
        self.report({"INFO"}, f"Applied; the keys as they were: action {old.name!r}")
        return {"FINISHED"}


class EXCITING_DANCE_OT_discard_ghost(NeedsGhost, bpy.types.Operator):
    """Take the ghost away; the rig dances on as before"""

    bl_idname = "exciting_dance.discard_ghost"
    bl_label = "Discard"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    def act(self, context: bpy.types.Context) -> Status:
        from ..authoring.ghost import discard_ghost

        discard_ghost(context, the_rig(context))
        return {"FINISHED"}


CLASSES: tuple[Any, ...] = (
    EXCITING_DANCE_OT_apply_ghost,
    EXCITING_DANCE_OT_discard_ghost,
)
