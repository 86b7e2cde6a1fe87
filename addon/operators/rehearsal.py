"""Operator that renders the rehearsal video of the dance on the timeline, in another Blender process."""

from __future__ import annotations

from pathlib import Path

import bpy

from ..bpy_access import require
from ..interpreter import Interpreter
from ..job_messages import JobMessage
from ..jobs import JobOperator
from ..rehearsal.options import VIDEO_END
from ..rehearsal.properties import rehearsal_settings
from .base import find_rig_problem, require_active_rig

CHILD_VIDEO = f"video{VIDEO_END}"


class EXCITING_DANCE_OT_rehearsal(JobOperator, bpy.types.Operator):
    """Render a video that teaches the dance: slow, then in real time, with a ghost of the next move and a countdown"""

    bl_idname = "exciting_dance.rehearsal"
    bl_label = "Rehearsal Video"
    bl_options = {"REGISTER"}  # noqa: RUF012
    title, panel = "Rehearsal video", "rehearsal"

    @classmethod
    def find_problem(cls, context: bpy.types.Context) -> str:
        """A rig is needed."""
        return find_rig_problem(context)

    def interpreter(self, context: bpy.types.Context) -> Interpreter:
        from ..rehearsal.rehearse import render_interpreter

        return render_interpreter()

    def arguments(self, context: bpy.types.Context, folder: Path) -> list[str]:
        from ..rehearsal.rehearse import SCENE_FILE, describe_plan, write_scene

        settings, body = rehearsal_settings(context), require_active_rig(context)
        self._video = settings.video()
        source = folder / SCENE_FILE
        staging = settings.staging(require(context.scene, "scene"))
        done = write_scene(context, body, source, settings.options(), staging, settings.rendering())
        self._description = describe_plan(done)
        return [str(source), str(folder / CHILD_VIDEO)]

    def apply(self, context: bpy.types.Context, folder: Path) -> JobMessage:
        from ..rehearsal.video import NO_CODEC, can_write_video, move_to_target

        if can_write_video():
            return JobMessage(f"{move_to_target(folder / CHILD_VIDEO, self._video)}: {self._description}")
        return JobMessage(
            f"{move_to_target((folder / CHILD_VIDEO).with_suffix(''), self._video.with_suffix(''))}: {NO_CODEC}"
        )


CLASSES = (EXCITING_DANCE_OT_rehearsal,)
