"""Find the exciting motion of an arm that is bolted down, in a child process."""

from __future__ import annotations

from dataclasses import replace
from math import degrees
from pathlib import Path

import bpy

from ..bench import bench_settings
from ..jobs import JobOperator
from ..told import Said
from ..typed import scene, there
from ..values import dance_folder
from .act import the_rig, why_not
from .dance_jobs import HANDED, JSON_PROGRESS, RESULT

MOTION_NAME = "exciting"


class EXCITING_DANCE_OT_excite(JobOperator, bpy.types.Operator):
    """Find a motion that excites the inertias of an arm that is bolted down as it stands, and lay it on the timeline"""

    bl_idname = "exciting_dance.excite"
    bl_label = "Excite"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012
    title, place, handed = "Exciting", "bench", HANDED

    @classmethod
    def missing(cls, context: bpy.types.Context) -> str:
        """A rig."""
        return why_not(context)

    def arguments(self, context: bpy.types.Context, folder: Path) -> list[str]:
        from ..inertials import body_of
        from ..values import write_rig

        settings, body = bench_settings(scene(context)), the_rig(context)
        asked = write_rig(folder / dance_folder.BODY_FILE, body_of(body))
        words = ["excite", str(asked), "--mount", *(f"{degrees(angle):.9g}" for angle in mount_of(body))]
        words += ["--measured", settings.measured, "--criterion", settings.criterion, "--seed", str(settings.seed)]
        numbers = {"seconds": "seconds", "speed": "speed", "effort": "torque", "clearance": "clearance"}
        words += [
            word for option, name in numbers.items() for word in (f"--{option}", f"{getattr(settings, name):.6g}")
        ]
        words += [] if settings.drives else ["--no-drives"]
        words += ["--hold", *settings.held.split()] if settings.held.split() else []
        self.keeps_folder = not settings.output
        self._output = folder / RESULT if self.keeps_folder else Path(bpy.path.abspath(settings.output))
        return [*words, "--output", str(self._output), *JSON_PROGRESS]

    def apply(self, context: bpy.types.Context, folder: Path) -> Said:
        import numpy as np

        from .. import action, convert
        from ..armature import rig_of
        from ..study import show_recording
        from ..values import MOTION, SUMMARY, study_folder

        body, now = there(self.rig(), "rig"), scene(context)
        record = MOTION.read(self._output / f"{MOTION_NAME}{study_folder.MOTION_END}")
        summary = SUMMARY.read(self._output / dance_folder.SUMMARY_FILE)
        moved = convert.motion_moved(body.matrix_world.inverted(), record.drawn)
        bolted = convert.rest_matrices(rig_of(body))[0, :3, 3]
        made = action.motion_action(now, body, replace(moved, root=np.tile(bolted, (len(moved), 1))), "Exciting motion")
        animation = body.animation_data or body.animation_data_create()
        if animation.action is not None:
            animation.action.use_fake_user = True
        animation.action, animation.action_slot = made, made.slots[0]
        show_recording(context, body, None)  # it does not move like one
        first, last = (made.frame_range[end] for end in (0, 1))
        action.show_frames(now, first, last)
        return Said(summary.message, notes=(*summary.notes, f"exciting.csv is in {self._output}"))


def mount_of(body: bpy.types.Object) -> tuple[float, float, float]:
    """Roll, pitch and yaw [rad] in the world of the root link of a rig as its object is turned."""
    from .. import convert
    from ..armature import rig_of

    rest = convert.to_matrix(convert.rest_matrices(rig_of(body))[0])
    turn = (body.matrix_world @ rest).to_euler("XYZ")
    return turn.x, turn.y, turn.z


CLASSES = (EXCITING_DANCE_OT_excite,)
