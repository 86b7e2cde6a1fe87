"""Base classes of operators: find the active rig, report errors, and leave the scene unchanged after an error."""

from __future__ import annotations

from typing import Any

import bpy

from ..base.bpy_access import Status, require, scene
from ..base.option_fields import use_field_labels
from ..base.scene_rigs import active_rig, find_rigs, is_rig
from ..base.solver_api import errors
from ..base.transaction import all_or_nothing
from ..display.properties import study_settings
from ..jobs.job import JobOperator

NO_RIG = "Add a rig first, or select one: Dance > Rig"


def find_rig_problem(context: bpy.types.Context, *, data: bool = False) -> str:
    """What prevents work with the active rig, as one sentence; empty if nothing does.

    Args:
        context: context of the scene.
        data: whether the rig's bones must be changed too.
    """
    body = active_rig(context)
    if body is None:
        return _explain_missing_rig(context)
    from ..scene.armature import rig_problem

    return rig_problem(body, data=data)


def _explain_missing_rig(context: bpy.types.Context) -> str:
    """Why no rig is active, and what to do."""
    active = context.view_layer.objects.active
    instanced = active.instance_collection if active is not None else None
    if active is not None and instanced is not None and any(map(is_rig, instanced.all_objects)):
        if instanced.library is not None:
            return f"{active.name} only shows a linked rig: make a library override (Object > Library Override > Make)"
        return f"{active.name} only shows a rig: select the rig itself"
    rigs = find_rigs(scene(context))
    visible = [item for item in rigs if item.visible_get()]
    if visible:
        return f"The scene has {len(visible)} rigs: select one"
    return f"{rigs[0].name} is hidden: show it in the Outliner" if rigs else NO_RIG


def require_active_rig(context: bpy.types.Context) -> bpy.types.Object:
    """The active rig, which `poll` has checked."""
    return require(active_rig(context), "rig")


def report_error(operator: object, error: Exception) -> Status:
    """Report an error of an operator, with panel fields in place of options, and cancel it."""
    operator.report({"ERROR"}, use_field_labels(str(error)))  # type: ignore[attr-defined]
    return {"CANCELLED"}


class PolledOperator:
    """Mix-in of an operator of which Blender shows why it cannot run."""

    @classmethod
    def find_problem(cls, context: bpy.types.Context) -> str:
        """Why the operator cannot run, as one sentence; empty by default."""
        return ""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Whether nothing prevents the operator; otherwise Blender shows the reason."""
        problem = cls.find_problem(context)
        if problem:
            cls.poll_message_set(problem)  # type: ignore[attr-defined]
        return not problem


class AtomicOperator(PolledOperator):
    """Mix-in of an operator whose `run` is applied completely, or not at all with an error message."""

    def run(self, context: bpy.types.Context) -> None:
        """Do the operator's work, or raise an error of the solver or the system."""
        raise NotImplementedError

    def execute(self, context: bpy.types.Context) -> Status:
        """Run the operator and report its errors."""
        try:
            with all_or_nothing():
                self.run(context)
        except (OSError, errors.SolverError) as error:
            return report_error(self, error)
        return {"FINISHED"}


class SceneOperator(AtomicOperator):
    """Mix-in of such an operator that can be undone."""

    bl_options: Any = {"REGISTER", "UNDO"}  # noqa: RUF012


class RigOperator(SceneOperator):
    """Mix-in of an operator that needs an active, undamaged rig that can be animated."""

    @classmethod
    def find_problem(cls, context: bpy.types.Context) -> str:
        return find_rig_problem(context)


class DroppedFile:
    """Mix-in of a handler of files that are dropped onto the 3D view."""

    @classmethod
    def poll_drop(cls, context: bpy.types.Context | None) -> bool:
        """Whether the view takes the files."""
        return context is not None and context.area is not None and context.area.type == "VIEW_3D"


class RecordingJob(JobOperator):
    """Mix-in of an operator that runs a job on the listed files."""

    @classmethod
    def find_problem(cls, context: bpy.types.Context) -> str:
        """Listed files are needed."""
        if len(study_settings(context).files):
            return ""
        return "No recording is listed: drop its files onto the 3D view, or add them to the list above"


def chosen_files(context: bpy.types.Context) -> list[str]:
    """Paths of the listed files."""
    return [bpy.path.abspath(file.path) for file in study_settings(context).files]
