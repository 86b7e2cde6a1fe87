"""What operators have in common: the rig that is meant, and a refusal that is told and changes nothing."""

from __future__ import annotations

import bpy

from ..bpy_access import Status, require
from ..option_labels import use_field_labels
from ..scene_rigs import active_rig
from ..solver_api import errors
from ..transaction import all_or_nothing

NO_RIG = "Add a rig first, or select one: Dance > Rig"


def find_rig_problem(context: bpy.types.Context, *, data: bool = False) -> str:
    """Why nothing can be done with the rig that is meant, in one sentence; empty where all can.

    Args:
        context: of the scene.
        data: whether its bones are to be written to as well.
    """
    body = active_rig(context)
    if body is None:
        return NO_RIG
    from ..armature import rig_problem

    return rig_problem(body, data=data)


def require_active_rig(context: bpy.types.Context) -> bpy.types.Object:
    """The rig that `poll` found."""
    return require(active_rig(context), "rig")


def report_error(operator: object, error: Exception) -> Status:
    """Tell, in the words of the window, why an operator did nothing."""
    operator.report({"ERROR"}, use_field_labels(str(error)))  # type: ignore[attr-defined]
    return {"CANCELLED"}


class AtomicOperator:
    """Mix-in of an operator that does its work in `act`: wholly, or not at all and with a word why."""

    def run(self, context: bpy.types.Context) -> Status:
        """Do it."""
        raise NotImplementedError

    def execute(self, context: bpy.types.Context) -> Status:
        """Do it; what stands in the way is told."""
        try:
            with all_or_nothing():
                return self.run(context)
        except (OSError, errors.SolverError) as error:
            return report_error(self, error)


class RigOperator(AtomicOperator):
    """Mix-in: the scene has a rig that is meant, it is as its armature says, and it can be animated."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Whether there is one; what stands in the way is said."""
        why = find_rig_problem(context)
        if why:
            cls.poll_message_set(why)  # type: ignore[attr-defined]
        return not why
