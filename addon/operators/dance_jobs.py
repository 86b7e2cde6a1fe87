"""What the verbs about a dance share: the timeline as their input, their words as the panel's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import bpy

from ..authoring.keyed import keyed
from ..authoring.properties import dance_settings
from ..jobs import JobOperator
from ..moves import keep_moves
from ..scene_rigs import rig_in
from ..told import Said
from ..typed import scene, there
from ..values import dance_folder, errors
from .act import the_rig, why_not

if TYPE_CHECKING:
    from ..authoring.dances import Dance

RESULT = "result"
"""Folder of the child's results within the job's."""
ALSO = "Constraints, drivers, a parent or the NLA move this rig, too: they still act on what is applied"
HANDED = {dance_folder.TIMELINE_FILE: "the timeline", dance_folder.BODY_FILE: "the rig"}
JSON_PROGRESS = ("--progress", "json")


class DanceJob(JobOperator):
    """Mix-in: a verb about the dance on the timeline."""

    place = "dance"

    handed = HANDED

    verb: ClassVar[str] = ""
    fewest: ClassVar[int] = 2
    of_recordings: ClassVar[bool] = False
    """Whether it takes a recording, which has no postures."""

    @classmethod
    def missing(cls, context: bpy.types.Context) -> str:
        """A rig with postures."""
        body = rig_in(context)
        if body is None or why_not(context):
            return why_not(context)
        if body.animation_data is None or body.animation_data.action is None:
            return "Nothing dances yet: key postures, or design a dance"
        known = keyed(body)
        return cls.lacking(body, known.roles) if known.current else ""

    @classmethod
    def lacking(cls, body: bpy.types.Object, roles: Mapping[float, str]) -> str:
        """What the postures of a rig, roles by frame, lack for the verb, in one sentence."""
        from ..study import trial_of

        if cls.fewest and not (cls.of_recordings and trial_of(body)) and len(roles) < cls.fewest:
            return f"Key at least {cls.fewest} postures first"
        return ""

    def arguments(self, context: bpy.types.Context, folder: Path) -> list[str]:
        from ..authoring.timeline import key_roles

        if why := self.lacking(the_rig(context), key_roles(the_rig(context))):
            raise errors.InvalidValue(why)
        path = write_scene(context, folder)
        return [self.verb, str(path), *self.extra(context), "--output", str(folder / RESULT), *JSON_PROGRESS]

    def extra(self, context: bpy.types.Context) -> list[str]:
        """More options of the verb."""
        return []

    def finished(self, folder: Path) -> bool:
        return has_summary(folder)


class GhostJob(DanceJob):
    """Mix-in: a verb that proposes a changed dance, shown as a ghost."""

    done: ClassVar[str] = ""

    def extra(self, context: bpy.types.Context) -> list[str]:
        from ..action import frame_rate

        return ["--rate", f"{frame_rate(scene(context)):.12g}"]

    def apply(self, context: bpy.types.Context, folder: Path) -> Said:
        from ..authoring.dances import read_dance
        from ..authoring.ghost import DONE_KEY, ghost_of, show_ghost
        from ..authoring.timeline import steps_needed

        body, dance = there(self.rig(), "rig"), read_dance(folder / RESULT)
        if dance.motion is not None and dance.summary.status != "unchanged":
            name = f"{body.animation_data.action.name} {self.done}"
            beside = dance_settings(context).ghost_place == "beside"
            show_ghost(context, body, dance, name, beside=beside)
            ghost = there(ghost_of(scene(context), body), "ghost")
            ghost[DONE_KEY] = self.done
            keep_moves(scene(context), ghost, ())  # those of the copied action are of the dance as it was designed
        return said_of(dance, *([ALSO] if steps_needed(body) else []))


def has_summary(folder: Path) -> bool:
    """Whether a child wrote its results, which may be less than was requested: it then ends with a code."""
    return (folder / RESULT / dance_folder.SUMMARY_FILE).exists()


def write_scene(context: bpy.types.Context, folder: Path) -> Path:
    """The rig's dance as a timeline file, over all of its keys."""
    from ..authoring.timeline import extent, sample
    from ..values import TIMELINE

    now, body = scene(context), the_rig(context)
    return TIMELINE.write(folder / dance_folder.TIMELINE_FILE, sample(now, body, *extent(now, body)))


def show_designed(context: bpy.types.Context, dance: Dance, onto: bpy.types.Object | None) -> bpy.types.Object:
    """Let a rig dance what was designed where it stands, with the difficulty of each move.

    Args:
        context: whose scene receives it.
        dance: of which the folder has a motion.
        onto: a rig; where it is another one than was designed for, or None, a new one is made.

    Returns:
        the armature.
    """
    from .. import convert
    from ..authoring.dances import show_dance
    from ..places import floor_of, stand_free
    from ..view import frame

    motion = convert.motion_moved(floor_of(onto), there(dance.motion, "motion of the dance"))
    body = show_dance(context, replace(dance, motion=motion), onto=onto)
    if onto is None:
        stand_free(context, body)
        frame(context, [body])
    keep_moves(scene(context), body, dance.summary.moves)
    return body


def said_of(dance: Dance, *notes: str) -> Said:
    """What a verb says of a dance."""
    summary = dance.summary
    failures = [f"{f.said}, first at {f.time:.2f} s" for f in summary.failures]
    verdict = "good" if summary.feasible else "bad"
    return Said(summary.message, verdict, (*summary.troubles, *failures), (*summary.notes, *notes))
