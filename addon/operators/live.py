"""The live check on and off, again after a crash, over the whole timeline, and to a frame that fails."""

from __future__ import annotations

import bpy
import numpy as np

from ..action import frames_at
from ..armature import rig_in
from ..live.switch import Live
from ..typed import Status, scene, there
from ..values import errors


class EXCITING_DANCE_OT_live(bpy.types.Operator):
    """Check balance, limits and collisions while you pose and scrub; again: stop"""

    bl_idname = "exciting_dance.live"
    bl_label = "Live"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return Live.session is not None or rig_in(context) is not None

    def execute(self, context: bpy.types.Context) -> Status:
        if Live.session is not None:
            Live.stop()
            return {"FINISHED"}
        return start(self, context)


class EXCITING_DANCE_OT_live_restart(bpy.types.Operator):
    """Start the live check anew, for the active rig"""

    bl_idname = "exciting_dance.live_restart"
    bl_label = "Restart"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return rig_in(context) is not None

    def execute(self, context: bpy.types.Context) -> Status:
        return start(self, context)


class EXCITING_DANCE_OT_live_check_all(bpy.types.Operator):
    """Step through all frames once and check them; the scene stands as before when it is done"""

    bl_idname = "exciting_dance.live_check_all"
    bl_label = "Check All Frames"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return Live.session is not None

    def execute(self, context: bpy.types.Context) -> Status:
        try:
            there(Live.session, "live check").check_all()
        except errors.SolverError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return {"FINISHED"}


class EXCITING_DANCE_OT_live_jump(bpy.types.Operator):
    """Show this frame"""

    bl_idname = "exciting_dance.live_jump"
    bl_label = "Jump to Frame"
    bl_options = {"INTERNAL"}  # noqa: RUF012

    time: bpy.props.FloatProperty(name="Time", description="[s]")  # type: ignore[valid-type]

    def execute(self, context: bpy.types.Context) -> Status:
        where = scene(context)
        where.frame_set(round(float(frames_at(where, np.array(self.time)))))
        return {"FINISHED"}


def start(operator: bpy.types.Operator, context: bpy.types.Context) -> Status:
    """Check the rig that the user means from now on."""
    try:
        Live.start(context, there(rig_in(context), "rig"))
    except (OSError, errors.SolverError) as error:
        operator.report({"ERROR"}, str(error))
        return {"CANCELLED"}
    return {"FINISHED"}


CLASSES = (
    EXCITING_DANCE_OT_live,
    EXCITING_DANCE_OT_live_restart,
    EXCITING_DANCE_OT_live_check_all,
    EXCITING_DANCE_OT_live_jump,
)
