"""Operator that renders the rehearsal video of the dance on the timeline, in another Blender process."""

from __future__ import annotations

from pathlib import Path

import bpy

from ..base.bpy_access import require
from ..base.interpreter import Interpreter, blender_interpreter
from ..jobs.job import JobOperator
from ..jobs.job_messages import JobMessage
from ..rehearsal.options import VIDEO_END
from ..rehearsal.properties import rehearsal_settings
from .base import find_rig_problem, require_active_rig

CHILD_VIDEO = f"video{VIDEO_END}"
ENCODING_TIMEOUT = 600.0
"""[s] Time for a child that was cancelled to encode the frames before."""


class EXCITING_DANCE_OT_rehearsal(JobOperator, bpy.types.Operator):
    """Render a video that teaches the dance: slow, then in real time, with a ghost of the next move and a countdown"""

    bl_idname = "exciting_dance.rehearsal"
    bl_label = "Rehearsal Video"
    bl_options = {"REGISTER"}  # noqa: RUF012
    title, panel = "Rehearsal video", "rehearsal"
    end_timeout = ENCODING_TIMEOUT

    @classmethod
    def find_problem(cls, context: bpy.types.Context) -> str:
        """A rig is needed, and a place for the video."""
        unsaved = rehearsal_settings(context).needs_saved_file
        return find_rig_problem(context) or ("Save the .blend file first: the video is written beside it" * unsaved)

    def interpreter(self, context: bpy.types.Context) -> Interpreter:
        from ..rehearsal.rehearse import CHILD_CALL

        return blender_interpreter(CHILD_CALL)

    def arguments(self, context: bpy.types.Context, folder: Path) -> list[str]:
        from ..rehearsal.rehearse import SCENE_FILE, describe_plan, write_scene

        settings, body = rehearsal_settings(context), require_active_rig(context)
        self._video = settings.video()
        source = folder / SCENE_FILE
        staging = settings.staging(require(context.scene, "scene"))
        done = write_scene(context, body, source, settings.options(), staging, settings.rendering())
        self._description, self._planned = describe_plan(done), len(done)
        return [str(source), str(folder / CHILD_VIDEO)]

    def has_results(self, folder: Path) -> bool:
        """Whether the child wrote a video; of a cancelled one it is the frames before."""
        return _written(folder / CHILD_VIDEO).exists()

    def apply(self, context: bpy.types.Context, folder: Path) -> JobMessage:
        from ..rehearsal.video import NO_CODEC, can_write_video, count_frames, move_to_target

        made = _written(folder / CHILD_VIDEO)
        frames = count_frames(made)
        path = move_to_target(made, _written(self._video))
        if frames < self._planned:
            return JobMessage(f"{path}: stopped after {frames} of {self._planned} frames", "bad")
        return JobMessage(f"{path}: {self._description}" if can_write_video() else f"{path}: {NO_CODEC}")


def _written(path: Path) -> Path:
    """The video, or the folder of images without H.264."""
    from ..rehearsal.video import can_write_video

    return path if can_write_video() else path.with_suffix("")


CLASSES = (EXCITING_DANCE_OT_rehearsal,)
