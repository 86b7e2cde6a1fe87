"""Operators that show results: ellipsoids, trials, picture, report."""

from __future__ import annotations

from pathlib import Path

import bpy

from ..base.bpy_access import require, scene
from ..base.interpreter import Interpreter, blender_interpreter
from ..base.scene_rigs import active_rig
from ..jobs.job import JobOperator
from ..jobs.job_messages import JobMessage
from .base import AtomicOperator, RigOperator, find_rig_problem, require_active_rig

PAINT_CALL = (
    'print(\'{"fraction": 0.2, "message": "painting"}\', flush=True); import os; from addon.display.study import '
    "make_scene; make_scene(sys.argv[-1], scene=False); os._exit(0)"
)
"""Program of another Blender that paints a study's body; Blender's module sometimes waits forever at its exit."""


class InertialsOperator(AtomicOperator):
    """Mix-in of an operator that needs a rig with inertial parameters."""

    @classmethod
    def find_problem(cls, context: bpy.types.Context) -> str:
        """The reason, unless there is such a rig."""
        from ..scene.inertials import PARAMETERS

        body, problem = active_rig(context), find_rig_problem(context)
        if body is not None and not problem and not any(PARAMETERS in bone for bone in body.data.bones):
            return f"{body.name} has no masses on its bones: identify, or add the rig again"
        return problem


class EXCITING_DANCE_OT_ellipsoids(InertialsOperator, bpy.types.Operator):
    """Show each link's centre of mass, and its inertia as an ellipsoid, or hide them"""

    bl_idname = "exciting_dance.ellipsoids"
    bl_label = "Ellipsoids"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    def run(self, context: bpy.types.Context) -> None:
        from ..drawing.ellipsoids import ELLIPSOID_KEY, make_ellipsoids, remove_ellipsoids
        from ..scene.armature import local_collection

        body = require_active_rig(context)
        if any(ELLIPSOID_KEY in child for child in body.children):
            remove_ellipsoids(body)
            return
        impossible = make_ellipsoids(body, local_collection(scene(context), body))
        if impossible:
            self.report({"WARNING"}, f"The inertia is physically impossible for {', '.join(impossible)}")


class EXCITING_DANCE_OT_trial(RigOperator, bpy.types.Operator):
    """Play this trial with its markers and forces"""

    bl_idname = "exciting_dance.trial"
    bl_label = "Trial"

    name: bpy.props.StringProperty()  # type: ignore[valid-type]

    def run(self, context: bpy.types.Context) -> None:
        from ..display.study import show_trial

        show_trial(context, require_active_rig(context), self.name)


class EXCITING_DANCE_OT_picture(InertialsOperator, bpy.types.Operator):
    """Render a picture of the coloured body into the folder of the results or of the .blend file"""

    bl_idname = "exciting_dance.picture"
    bl_label = "Render Picture"

    filepath: bpy.props.StringProperty(subtype="FILE_PATH")  # type: ignore[valid-type]

    def run(self, context: bpy.types.Context) -> None:
        from ..base.solver_api import study_folder
        from ..display.study import study_folder_of
        from ..drawing.render import render_body

        body = require_active_rig(context)
        beside = study_folder_of(body) or Path(bpy.path.abspath("//") or bpy.app.tempdir)
        path = Path(bpy.path.abspath(self.filepath)) if self.filepath else beside / study_folder.PICTURE_FILE
        render_body(context, body, path)
        self.report({"INFO"}, f"Saved {path}")


class EXCITING_DANCE_OT_report(JobOperator, bpy.types.Operator):
    """Open the report of the last identification in the browser, with pictures of the body"""

    bl_idname = "exciting_dance.report"
    bl_label = "Open Report"
    bl_options = {"REGISTER"}  # noqa: RUF012
    title, panel, shows_success = "Painting the body for the report", "report", False

    @classmethod
    def find_problem(cls, context: bpy.types.Context) -> str:
        if (body := active_rig(context)) is not None:
            from ..display.study import find_report

            if find_report(body) is not None:
                return ""
        return "Identify recordings first"

    def interpreter(self, context: bpy.types.Context) -> Interpreter:
        return blender_interpreter(PAINT_CALL)

    def arguments(self, context: bpy.types.Context, folder: Path) -> list[str] | None:
        from ..base.solver_api import study_folder
        from ..display.study import find_report

        self._report = require(find_report(active_rig(context)), "report")
        painted = (self._report.parent / study_folder.PICTURE_FILE).exists()
        return None if painted else [str(self._report.parent)]

    def has_results(self, folder: Path) -> bool:
        return True  # also without pictures

    def apply(self, context: bpy.types.Context, folder: Path) -> JobMessage:
        if not bpy.app.background:
            bpy.ops.wm.url_open(url=self._report.resolve().as_uri())
        return JobMessage(f"Opened {self._report}")


class EXCITING_DANCE_OT_workspace(AtomicOperator, bpy.types.Operator):
    """Open the workspace Dance: viewport with this tab, a timeline for contacts and margins, the last report as text"""

    bl_idname = "exciting_dance.workspace"
    bl_label = "Dance Workspace"

    @classmethod
    def find_problem(cls, context: bpy.types.Context) -> str:
        from ..drawing.viewport import WORKSPACE_FILE

        return "" if WORKSPACE_FILE.exists() else "Make the workspace first: ./dance python packaging/workspace.py"

    def run(self, context: bpy.types.Context) -> None:
        from ..drawing.viewport import open_workspace

        open_workspace(context)


CLASSES = (
    EXCITING_DANCE_OT_ellipsoids,
    EXCITING_DANCE_OT_trial,
    EXCITING_DANCE_OT_picture,
    EXCITING_DANCE_OT_report,
    EXCITING_DANCE_OT_workspace,
)
