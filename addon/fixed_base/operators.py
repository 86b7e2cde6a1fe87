"""Operator that designs the exciting motion of a fixed-base arm, in a child process."""

from __future__ import annotations

from dataclasses import replace
from math import degrees
from pathlib import Path

import bpy

from ..base.bpy_access import require, scene
from ..base.option_fields import option_words
from ..base.solver_api import ExcitingOptions, dance_folder
from ..jobs.job import JobOperator
from ..jobs.job_messages import JobMessage
from ..operators.base import find_rig_problem, require_active_rig
from ..operators.dance_base import INPUT_NAMES, JSON_PROGRESS, RESULT_FOLDER
from .properties import fixed_base_settings

MOTION_NAME = "exciting"


class EXCITING_DANCE_OT_excite(JobOperator, bpy.types.Operator):
    """Design a motion that excites the inertias of an arm with a fixed base, and put it on the timeline"""

    bl_idname = "exciting_dance.excite"
    bl_label = "Design Motion"
    title, panel, input_names = "Designing the motion", "fixed_base", INPUT_NAMES

    @classmethod
    def find_problem(cls, context: bpy.types.Context) -> str:
        """A rig is needed."""
        return find_rig_problem(context)

    def arguments(self, context: bpy.types.Context, folder: Path) -> list[str]:
        from ..base.solver_api import write_rig
        from ..scene.armature import require_unscaled
        from ..scene.inertials import rig_with_inertials

        settings, body = fixed_base_settings(scene(context)), require_active_rig(context)
        require_unscaled(body)
        rig_file = write_rig(folder / dance_folder.BODY_FILE, rig_with_inertials(body))
        arguments = ["excite", str(rig_file), "--mount", *(f"{degrees(angle):.9g}" for angle in mount_angles(body))]
        arguments += ["--measured", settings.measured, *option_words(settings, ExcitingOptions)]
        arguments += [] if settings.drives else ["--no-drives"]
        arguments += ["--lock", *settings.held.split()] if settings.held.split() else []
        self.keeps_folder = not settings.output
        self._output = folder / RESULT_FOLDER if self.keeps_folder else Path(bpy.path.abspath(settings.output))
        return [*arguments, "--output", str(self._output), *JSON_PROGRESS]

    def apply(self, context: bpy.types.Context, folder: Path) -> JobMessage:
        import numpy as np

        from ..base import convert
        from ..base.solver_api import MOTION, SUMMARY, study_folder
        from ..display.study import show_recording
        from ..scene import action
        from ..scene.armature import rig_of

        body, now = require(self.rig(), "rig"), scene(context)
        record = MOTION.read(self._output / f"{MOTION_NAME}{study_folder.MOTION_END}")
        summary = SUMMARY.read(self._output / dance_folder.SUMMARY_FILE)
        moved = convert.transform_motion(body.matrix_world.inverted(), record.scene)
        bolted = convert.rest_matrices(rig_of(body))[0, :3, 3]
        made = action.add_motion_action(
            now, body, replace(moved, root=np.tile(bolted, (len(moved), 1))), "Exciting motion"
        )
        made.use_fake_user = True
        show_recording(context, body, None)  # it does not belong to this motion
        action.set_frame_range(now, made.frame_range[0], made.frame_range[1])
        return JobMessage(summary.message, notes=(*summary.notes, f"exciting.csv is in {self._output}"))


def mount_angles(body: bpy.types.Object) -> tuple[float, float, float]:
    """Roll, pitch and yaw [rad] in the world of a rig's root link, with the rotation of its object."""
    from ..base import convert
    from ..scene.armature import rig_of

    rest = convert.to_matrix(convert.rest_matrices(rig_of(body))[0])
    rotation = (body.matrix_world @ rest).to_euler("XYZ")
    return rotation.x, rotation.y, rotation.z


CLASSES = (EXCITING_DANCE_OT_excite,)
