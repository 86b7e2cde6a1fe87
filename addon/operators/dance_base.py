"""Base classes of operators that run a verb on the dance on the timeline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import bpy

from ..authoring.posture_cache import summarise_postures
from ..authoring.properties import dance_settings
from ..base.bpy_access import require, scene
from ..base.scene_rigs import active_rig, moves
from ..base.solver_api import dance_folder, errors
from ..jobs.job import JobOperator
from ..jobs.job_messages import JobMessage
from ..live.control import state_fingerprint
from ..scene.dance_moves import store_moves
from .base import find_rig_problem, require_active_rig

if TYPE_CHECKING:
    from ..authoring.dance_import import ImportedDance

RESULT_FOLDER = "result"
"""Name of the results folder in the job's folder."""
ALSO_MOVED = "Constraints, drivers, a parent or the NLA also move this rig, and will change the applied dance too"
INPUT_NAMES = {dance_folder.TIMELINE_FILE: "the timeline", dance_folder.BODY_FILE: "the rig"}
JSON_PROGRESS = ("--progress", "json")


class DanceJob(JobOperator):
    """Mix-in of an operator that runs a verb on the dance on the timeline."""

    panel = "dance"

    input_names = INPUT_NAMES

    verb: ClassVar[str] = ""
    fewest_postures: ClassVar[int] = 2
    takes_recordings: ClassVar[bool] = False
    """Whether the verb also accepts a recording, which has no postures."""

    @classmethod
    def find_problem(cls, context: bpy.types.Context) -> str:
        """A rig with enough postures is needed."""
        body = active_rig(context)
        if body is None or find_rig_problem(context):
            return find_rig_problem(context)
        if not moves(body):
            return "The rig has no dance yet: key postures, or design a dance"
        known = summarise_postures(body)
        return cls.find_posture_problem(body, known.roles) if known.up_to_date else ""

    @classmethod
    def find_posture_problem(cls, body: bpy.types.Object, roles: Mapping[float, str]) -> str:
        """What a rig's postures, roles by frame, lack for the verb, as one sentence; empty if nothing."""
        from ..display.study import played_trial

        if (
            cls.fewest_postures
            and not (cls.takes_recordings and played_trial(body))
            and len(roles) < cls.fewest_postures
        ):
            return f"Key at least {cls.fewest_postures} postures first"
        return ""

    def steps(self, context: bpy.types.Context) -> Iterator[float]:
        """Write the rig's dance to a timeline file, over the range of its keys."""
        from ..authoring.timeline import motion_range, read_key_roles, sample_in_steps
        from ..base.solver_api import TIMELINE

        now, body = scene(context), require_active_rig(context)
        if problem := self.find_posture_problem(body, read_key_roles(body)):
            raise errors.InvalidValue(problem)
        self._fingerprint = state_fingerprint(now, body)
        sampled = yield from sample_in_steps(now, body, *motion_range(now, body))
        folder = require(self._folder, "folder")
        self._timeline = str(TIMELINE.write(folder / dance_folder.TIMELINE_FILE, sampled))

    def arguments(self, context: bpy.types.Context, folder: Path) -> list[str]:
        output = ["--output", str(folder / RESULT_FOLDER), *JSON_PROGRESS]
        return [self.verb, self._timeline, *self.extra_arguments(context), *output]

    def extra_arguments(self, context: bpy.types.Context) -> list[str]:
        """Additional options of the verb."""
        return []

    def has_results(self, folder: Path) -> bool:
        return has_summary(folder)


class GhostJob(DanceJob):
    """Mix-in of an operator whose verb proposes a changed dance, which is shown as a ghost."""

    past_tense: ClassVar[str] = ""
    reports_taken_back: ClassVar[bool] = False
    """Whether the message says how much of a move the ghost takes back."""

    def extra_arguments(self, context: bpy.types.Context) -> list[str]:
        from ..scene.action import frame_rate

        return ["--rate", f"{frame_rate(scene(context)):.12g}"]

    def apply(self, context: bpy.types.Context, folder: Path) -> JobMessage:
        from ..authoring.dance_import import read_dance
        from ..authoring.ghost import OPERATION_KEY, find_ghost, show_ghost
        from ..authoring.taken_back import TAKEN_BACK_KEY, find_taken_back
        from ..authoring.timeline import needs_frame_stepping

        body, dance = require(self.rig(), "rig"), read_dance(folder / RESULT_FOLDER)
        taken_back = None
        if dance.motion is not None and dance.summary.status != "unchanged":
            name = f"{body.animation_data.action.name} {self.past_tense}"
            beside = dance_settings(context).ghost_place == "beside"
            show_ghost(context, body, dance, name, beside=beside)
            ghost = require(find_ghost(scene(context), body), "ghost")
            ghost[OPERATION_KEY] = self.past_tense
            store_moves(scene(context), ghost, ())  # the moves of the copied action belong to the designed dance
            if self.reports_taken_back:
                taken_back = find_taken_back(scene(context), body, dance.motion)
            if taken_back is not None:
                ghost[TAKEN_BACK_KEY] = {"frame": taken_back.frame, "link": taken_back.link, "place": taken_back.place}
        notes = [ALSO_MOVED] if needs_frame_stepping(body) else []
        message = summary_message(dance, *notes, fingerprint=self._fingerprint)
        return (
            message if taken_back is None else replace(message, message=f"{message.message}; {taken_back.describe()}")
        )


def has_summary(folder: Path) -> bool:
    """Whether a child wrote results; they may be partial, and the exit code is then not 0."""
    return (folder / RESULT_FOLDER / dance_folder.SUMMARY_FILE).exists()


def show_designed(
    context: bpy.types.Context, dance: ImportedDance, target: bpy.types.Object | None
) -> bpy.types.Object:
    """Show a designed dance at a rig's place, with the difficulty of each move.

    Args:
        context: its scene receives the dance.
        dance: a dance with a motion.
        target: rig for the dance; if it is None or does not match the dance's rig, a new one is built.

    Returns:
        the armature.
    """
    from ..authoring.dance_import import show_dance
    from ..base import convert
    from ..drawing.viewport import frame_objects, hide_startup_cube
    from ..scene.placement import avoid_overlap, floor_matrix

    if dance.motion is None:
        raise errors.InputError(dance.folder, "holds no motion", remedy="Open the folder of the dance that was checked")
    motion = convert.transform_motion(floor_matrix(target), dance.motion)
    body = show_dance(context, replace(dance, motion=motion), target=target)
    if target is None:
        hide_startup_cube(context)
        avoid_overlap(context, body)
        frame_objects(context, [body])
    store_moves(scene(context), body, dance.summary.moves)
    return body


def summary_message(dance: ImportedDance, *notes: str, fingerprint: str = "") -> JobMessage:
    """The message for a dance's summary, a verdict about the state of the rig with a fingerprint."""
    summary = dance.summary
    failures = [f"{f.text}, first at {f.time:.2f} s" for f in summary.failures]
    verdict = "good" if summary.feasible else "bad"
    first, *more = summary.message.split("; ")
    said = (*more, *(problem for problem in summary.problems if problem not in summary.message))
    return JobMessage(first, verdict, (*said, *failures), (*summary.notes, *notes), fingerprint)
