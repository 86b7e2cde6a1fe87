"""The live check on and off, again after a crash, over the whole timeline, and to a frame that fails."""

from __future__ import annotations

import bpy

from ..live.switch import Live
from ..typed import Status, scene, there
from .act import Act, the_rig, why_not


class EXCITING_DANCE_OT_live(Act, bpy.types.Operator):
    """Check balance, limits and collisions while you pose and scrub; again: stop"""

    bl_idname = "exciting_dance.live"
    bl_label = "Live"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if Live.session is None and (why := why_not(context)):
            cls.poll_message_set(why)
            return False
        return True

    def act(self, context: bpy.types.Context) -> Status:
        if Live.session is not None:
            Live.stop()
            return {"FINISHED"}
        return start(context)


class EXCITING_DANCE_OT_live_restart(Act, bpy.types.Operator):
    """Start the live check anew, for the active rig"""

    bl_idname = "exciting_dance.live_restart"
    bl_label = "Restart"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if why := why_not(context):
            cls.poll_message_set(why)
            return False
        return True

    def act(self, context: bpy.types.Context) -> Status:
        return start(context)


class EXCITING_DANCE_OT_live_check_all(Act, bpy.types.Operator):
    """Step through all frames once and check them; the scene stands as before when it is done"""

    bl_idname = "exciting_dance.live_check_all"
    bl_label = "Check All Frames"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return Live.session is not None

    def act(self, context: bpy.types.Context) -> Status:
        there(Live.session, "live check").check_all()
        return {"FINISHED"}


class EXCITING_DANCE_OT_live_jump(Act, bpy.types.Operator):
    """Show this frame"""

    bl_idname = "exciting_dance.live_jump"
    bl_label = "Jump to Frame"
    bl_options = {"INTERNAL"}  # noqa: RUF012

    time: bpy.props.FloatProperty(name="Time", description="[s]")  # type: ignore[valid-type]

    def act(self, context: bpy.types.Context) -> Status:
        import numpy as np

        from ..action import frames_at, go_to

        where = scene(context)
        go_to(where, round(float(frames_at(where, np.array(self.time)))))
        return {"FINISHED"}


def start(context: bpy.types.Context) -> Status:
    """Check the rig that the user means from now on."""
    Live.start(context, the_rig(context))
    return {"FINISHED"}


CLASSES = (
    EXCITING_DANCE_OT_live,
    EXCITING_DANCE_OT_live_restart,
    EXCITING_DANCE_OT_live_check_all,
    EXCITING_DANCE_OT_live_jump,
)
