"""What operators have in common: the rig that is meant, and a refusal that is told and changes nothing."""

from __future__ import annotations

import bpy

from ..fields import in_window
from ..scene_rigs import rig_in
from ..typed import Status, there
from ..values import errors
from ..whole import all_or_nothing

NO_RIG = "Add a rig first, or select one: Dance > Rig"


def why_not(context: bpy.types.Context, *, data: bool = False) -> str:
    """Why nothing can be done with the rig that is meant, in one sentence; empty where all can.

    Args:
        context: of the scene.
        data: whether its bones are to be written to as well.
    """
    body = rig_in(context)
    if body is None:
        return NO_RIG
    from ..armature import trouble

    return trouble(body, data=data)


def the_rig(context: bpy.types.Context) -> bpy.types.Object:
    """The rig that `poll` found."""
    return there(rig_in(context), "rig")


def refused(operator: object, error: Exception) -> Status:
    """Tell, in the words of the window, why an operator did nothing."""
    operator.report({"ERROR"}, in_window(str(error)))  # type: ignore[attr-defined]
    return {"CANCELLED"}


class Act:
    """Mix-in of an operator that does its work in `act`: wholly, or not at all and with a word why."""

    def act(self, context: bpy.types.Context) -> Status:
        """Do it."""
        raise NotImplementedError

    def execute(self, context: bpy.types.Context) -> Status:
        """Do it; what stands in the way is told."""
        try:
            with all_or_nothing():
                return self.act(context)
        except (OSError, errors.SolverError) as error:
            return refused(self, error)


class NeedsRig(Act):
    """Mix-in: the scene has a rig that is meant, it is as its armature says, and it can be animated."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Whether there is one; what stands in the way is said."""
        why = why_not(context)
        if why:
            cls.poll_message_set(why)  # type: ignore[attr-defined]
        return not why
