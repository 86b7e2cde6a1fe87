"""Operators of the live check: start, stop, restart, check all frames, and go to a failing frame."""

from __future__ import annotations

import bpy

from ..base.bpy_access import require, scene
from ..live.control import LiveCheck
from .base import AtomicOperator, find_rig_problem, require_active_rig


class EXCITING_DANCE_OT_live(AtomicOperator, bpy.types.Operator):
    """Start or stop checking balance, limits and collisions while you pose and scrub"""

    bl_idname = "exciting_dance.live"
    bl_label = "Live Check"

    @classmethod
    def find_problem(cls, context: bpy.types.Context) -> str:
        if LiveCheck.session is None and (problem := find_rig_problem(context)):
            return problem
        return ""

    def run(self, context: bpy.types.Context) -> None:
        if LiveCheck.session is not None:
            LiveCheck.stop()
        else:
            LiveCheck.start(context, require_active_rig(context))


class EXCITING_DANCE_OT_live_restart(AtomicOperator, bpy.types.Operator):
    """Restart the live check for the active rig"""

    bl_idname = "exciting_dance.live_restart"
    bl_label = "Restart"

    @classmethod
    def find_problem(cls, context: bpy.types.Context) -> str:
        return find_rig_problem(context)

    def run(self, context: bpy.types.Context) -> None:
        LiveCheck.start(context, require_active_rig(context))


class EXCITING_DANCE_OT_live_check_all(AtomicOperator, bpy.types.Operator):
    """Step through all frames once and check them; the current frame is restored"""

    bl_idname = "exciting_dance.live_check_all"
    bl_label = "Check All Frames"

    @classmethod
    def find_problem(cls, context: bpy.types.Context) -> str:
        return "Start the live check first" if LiveCheck.session is None else ""

    def run(self, context: bpy.types.Context) -> None:
        require(LiveCheck.session, "live check").check_all()


class EXCITING_DANCE_OT_live_jump(AtomicOperator, bpy.types.Operator):
    """Go to this frame"""

    bl_idname = "exciting_dance.live_jump"
    bl_label = "Jump to Frame"
    bl_options = {"INTERNAL"}  # noqa: RUF012

    time: bpy.props.FloatProperty(name="Time", description="Time in seconds")  # type: ignore[valid-type]

    def run(self, context: bpy.types.Context) -> None:
        import numpy as np

        from ..scene.action import frames_at, set_frame

        where = scene(context)
        set_frame(where, round(float(frames_at(where, np.array(self.time)))))


CLASSES = (
    EXCITING_DANCE_OT_live,
    EXCITING_DANCE_OT_live_restart,
    EXCITING_DANCE_OT_live_check_all,
    EXCITING_DANCE_OT_live_jump,
)
