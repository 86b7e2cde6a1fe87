"""Operators that apply or discard a proposed dance."""

from __future__ import annotations

from typing import Any

import bpy

from ..base.bpy_access import require, scene, view_layer
from ..base.solver_api import errors
from ..live.control import LiveCheck
from .base import RigOperator, require_active_rig
from .keying import key_posture

TIMEOUT = 5.0
"""[s] Time for the live check to move a body."""


class GhostOperator(RigOperator):
    """Mix-in of an operator that needs a rig with a ghost."""

    @classmethod
    def find_problem(cls, context: bpy.types.Context) -> str:
        """The reason, unless the rig has a ghost."""
        from ..authoring.ghost import find_ghost

        if problem := super().find_problem(context):
            return problem
        return (
            "The rig has no ghost: Complete, Balance or Slow Down proposes one"
            if find_ghost(scene(context), require_active_rig(context)) is None
            else ""
        )


class EXCITING_DANCE_OT_apply_ghost(GhostOperator, bpy.types.Operator):
    """Apply the ghost's dance to the rig; the earlier action stays in the file as "... before" """

    bl_idname = "exciting_dance.apply_ghost"
    bl_label = "Apply"

    def run(self, context: bpy.types.Context) -> None:
        from ..authoring.ghost import apply_ghost

        old = apply_ghost(context, require_active_rig(context))
        self.report({"INFO"}, f"Applied; the earlier keys are in the action {old.name!r}")


class EXCITING_DANCE_OT_keep_posture(GhostOperator, bpy.types.Operator):
    """Apply the ghost, and move the point that it took back most to where it was keyed, as far as balance allows"""

    bl_idname = "exciting_dance.keep_posture"
    bl_label = "Keep Mine"

    @classmethod
    def find_problem(cls, context: bpy.types.Context) -> str:
        """The reason, unless the ghost took something back and the live check can move the body."""
        from ..authoring.taken_back import read_taken_back

        if problem := super().find_problem(context):
            return problem
        body, session = require_active_rig(context), LiveCheck.session
        if read_taken_back(scene(context), body) is None:
            return "The ghost takes nothing back"
        return "Start the live check first: it moves the body" if session is None or not session.checks(body) else ""

    def run(self, context: bpy.types.Context) -> None:
        from ..authoring.ghost import apply_ghost
        from ..authoring.taken_back import read_taken_back
        from ..authoring.timeline import read_key_roles
        from ..posing.drag import PoseDrag
        from ..posing.pins import handle_point
        from ..scene.action import set_frame

        body, session = require_active_rig(context), require(LiveCheck.session, "live check")
        frame, link, place = require(read_taken_back(scene(context), body), "change")
        role = read_key_roles(body)[frame]
        apply_ghost(context, body)
        set_frame(scene(context), frame)
        drag = PoseDrag(session, link, handle_point(body, link))
        drag.move(place)
        drag.settle(TIMEOUT)
        drag.end()
        if drag.problem:
            raise errors.InvalidValue(f"the posture cannot be kept: {drag.problem}")
        view_layer(context).update()
        problem = key_posture(context, role, between=True)
        obstacle = problem or drag.describe()
        self.report({"INFO"}, f"Kept, but {obstacle}" if obstacle else "Kept")


class EXCITING_DANCE_OT_discard_ghost(GhostOperator, bpy.types.Operator):
    """Remove the ghost without changing the rig"""

    bl_idname = "exciting_dance.discard_ghost"
    bl_label = "Discard"

    def run(self, context: bpy.types.Context) -> None:
        from ..authoring.ghost import discard_ghost

        discard_ghost(context, require_active_rig(context))


CLASSES: tuple[Any, ...] = (
    EXCITING_DANCE_OT_apply_ghost,
    EXCITING_DANCE_OT_keep_posture,
    EXCITING_DANCE_OT_discard_ghost,
)
