"""Make the rehearsal video of the dance on the timeline, in a Blender of its own."""

from __future__ import annotations

from pathlib import Path

import bpy

from ..interpreter import Interpreter
from ..jobs import JobOperator
from ..rehearsal.options import VIDEO_END
from ..rehearsal.properties import rehearsal_of
from ..told import Said
from ..typed import there
from .act import the_rig, why_not

CHILD_VIDEO = f"video{VIDEO_END}"


class EXCITING_DANCE_OT_rehearsal(JobOperator, bpy.types.Operator):
    """Render a video to learn the dance from: slow, then in real time, with the next move as a ghost and a countdown"""

    bl_idname = "exciting_dance.rehearsal"
    bl_label = "Rehearsal Video"
    bl_options = {"REGISTER"}  # noqa: RUF012
    title, place = "Rehearsal video", "rehearsal"

    @classmethod
    def missing(cls, context: bpy.types.Context) -> str:
        """A rig."""
        return why_not(context)

    def interpreter(self, context: bpy.types.Context) -> Interpreter:
        from ..rehearsal.program import renderer

        return renderer()

    def arguments(self, context: bpy.types.Context, folder: Path) -> list[str]:
        from ..rehearsal.program import SCENE_FILE, told, write_scene

        settings, body = rehearsal_of(context), the_rig(context)
        self._video = settings.video()
        source = folder / SCENE_FILE
        staging = settings.staging(there(context.scene, "scene"))
        done = write_scene(context, body, source, settings.options(), staging, settings.rendering())
        self._told = told(done)
        return [str(source), str(folder / CHILD_VIDEO)]

    def apply(self, context: bpy.types.Context, folder: Path) -> Said:
        from ..rehearsal.video import NO_CODEC, can_write_video, deliver

        if can_write_video():
            return Said(f"{deliver(folder / CHILD_VIDEO, self._video)}: {self._told}")
        return Said(f"{deliver((folder / CHILD_VIDEO).with_suffix(''), self._video.with_suffix(''))}: {NO_CODEC}")


CLASSES = (EXCITING_DANCE_OT_rehearsal,)
