"""Design a dance in a child process, for the scene's rig or a new one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import bpy

from ..authoring.properties import dance_settings
from ..checks import words_of
from ..properties import settings_of
from ..scene_rigs import rig_in
from ..told import Said
from ..values import dance_folder
from .dance_jobs import JSON_PROGRESS, RESULT, DanceJob, said_of, show_designed, write_scene
from .rigs import rig_arguments

WORKERS = max(1, min((os.cpu_count() or 2) - 1, 8))
FINISHING = 60.0
"""[s] a cancelled design has to write what is done."""


class EXCITING_DANCE_OT_design_dance(DanceJob, bpy.types.Operator):
    """Design a dance that excites every link, keeps balance and hits nothing; the scene's rig dances it"""

    bl_idname = "exciting_dance.design_dance"
    bl_label = "Design Dance"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012
    title = "Designing"
    patience = FINISHING

    @classmethod
    def missing(cls, context: bpy.types.Context) -> str:
        """Nothing: without a rig the one of the Rig panel is made, and where its bones are linked a new one dances."""
        from ..armature import linked, trouble

        body = rig_in(context)
        return "" if body is None or linked(body, data=True) else trouble(body)

    def arguments(self, context: bpy.types.Context, folder: Path) -> list[str]:
        return [
            "dance",
            *body_words(context, folder),
            *design_words(context),
            *poses_words(context, folder),
            "--output",
            str(folder / RESULT),
            *JSON_PROGRESS,
        ]

    def apply(self, context: bpy.types.Context, folder: Path) -> Said:
        from ..authoring.dances import read_dance

        dance = read_dance(folder / RESULT)
        self.is_about(show_designed(context, dance, self.rig_if_there()))
        return said_of(dance, f"{len(dance.summary.keys)} keys: both ends of every hold, and rests between steps")


def body_words(context: bpy.types.Context, folder: Path) -> list[str]:
    """The body as the verb takes it: the scene's rig as a file, otherwise what the Rig panel says."""
    from ..inertials import body_of
    from ..values import write_rig

    body = rig_in(context)
    if body is None:
        settings = settings_of(context)
        return rig_arguments(settings.kind, settings, settings.urdf)[1:]
    return [str(write_rig(folder / dance_folder.BODY_FILE, body_of(body)))]


def design_words(context: bpy.types.Context) -> list[str]:
    """The options of the verb as the panel says."""
    settings = dance_settings(context)
    names = ("postures", "seed", "effort", "passes")
    numbers = {name: getattr(settings, name) for name in names}
    words = [word for name, value in numbers.items() for word in (f"--{name}", f"{value:g}")]
    tempo = {"shortest": settings.shortest, "hold": settings.hold}
    words += [word for name, value in tempo.items() if value > 0.0 for word in (f"--{name}", f"{value:g}")]
    words += [*words_of(rig_in(context)), "--objective", settings.objective, "--workers", str(WORKERS)]
    if settings.counted:
        words += ["--bpm", f"{settings.bpm:g}", "--skill", settings.skill]
        words += [] if settings.mirrored else ["--no-mirror"]
    if settings.emphasis != "none":
        words += ["--emphasise", f"{settings.emphasis}={settings.factor:g}"]
    return words


def poses_words(context: bpy.types.Context, folder: Path) -> list[str]:
    """The timeline as the file of named poses, where they are to be danced."""
    if not dance_settings(context).posed or rig_in(context) is None:
        return []
    return ["--poses", str(write_scene(context, folder))]


CLASSES: tuple[Any, ...] = (EXCITING_DANCE_OT_design_dance,)
