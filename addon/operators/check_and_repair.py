"""Operators that complete, balance, slow down and check dances, in child processes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import bpy

from ..authoring.properties import dance_settings
from ..base.bpy_access import require, scene
from ..base.option_fields import option_words
from ..base.solver_api import CompleteOptions
from ..jobs.job_messages import JobMessage
from ..live.control import state_fingerprint
from ..scene.scores import write_scores
from .base import require_active_rig
from .dance_base import JSON_PROGRESS, RESULT_FOLDER, DanceJob, GhostJob, summary_message

NOT_WRITTEN = "The bones are linked, so excitation scores were not written to them"


class EXCITING_DANCE_OT_complete_dance(GhostJob, bpy.types.Operator):
    """Fill the free postures, keeping fixed ones and changing preferred ones little. Shows the result as a ghost"""

    bl_idname = "exciting_dance.complete_dance"
    bl_label = "Complete"
    title, verb, past_tense = "Completing", "complete", "completed"

    @classmethod
    def find_posture_problem(cls, body: bpy.types.Object, roles: Mapping[float, str]) -> str:
        free = "" if "free" in roles.values() else "No posture is free: set the role of one to Free"
        return super().find_posture_problem(body, roles) or free

    def extra_arguments(self, context: bpy.types.Context) -> list[str]:
        return [*super().extra_arguments(context), *option_words(dance_settings(context), CompleteOptions)]


class EXCITING_DANCE_OT_balance_dance(GhostJob, bpy.types.Operator):
    """Repair balance, limits and collisions with the smallest change, keeping fixed postures. Shows a ghost"""

    bl_idname = "exciting_dance.balance_dance"
    bl_label = "Balance"
    title, verb, past_tense = "Balancing", "repair", "balanced"
    takes_recordings = reports_taken_back = True


class EXCITING_DANCE_OT_slow_dance(GhostJob, bpy.types.Operator):
    """Slow down the dance where joints are too fast, with its keys and contacts. Shows the result as a ghost"""

    bl_idname = "exciting_dance.slow_dance"
    bl_label = "Slow Down"
    title, verb, past_tense = "Slowing down", "slow", "slower"

    def extra_arguments(self, context: bpy.types.Context) -> list[str]:
        dynamics = ["--dynamics"] if dance_settings(context).dynamics else []
        return [*super().extra_arguments(context), *dynamics]


class EXCITING_DANCE_OT_check_dance(DanceJob, bpy.types.Operator):
    """Check limits, balance, friction, feet and collisions at 500 samples per second, and mark failures"""

    bl_idname = "exciting_dance.check_dance"
    bl_label = "Check"
    title, verb, fewest_postures = "Checking", "check", 0

    def apply(self, context: bpy.types.Context, folder: Path) -> JobMessage:
        from ..authoring.dance_import import read_dance
        from ..authoring.failure_markers import mark_failures

        dance = read_dance(folder / RESULT_FOLDER)
        body = require(self.rig(), "rig")
        written = write_scores(body, dance.summary.excitation, dance.summary.deviation)
        mark_failures(scene(context), body, dance.summary, self._fingerprint)
        return summary_message(dance, *([] if written else [NOT_WRITTEN]), fingerprint=self._fingerprint)


class EXCITING_DANCE_OT_find_contacts(DanceJob, bpy.types.Operator):
    """Key contacts found in the recording's motion and forces, and attribute failed checks to tracking or performer"""

    bl_idname = "exciting_dance.find_contacts"
    bl_label = "Find in Recording"
    title, verb, fewest_postures = "Finding contacts", "check", 0

    @classmethod
    def find_problem(cls, context: bpy.types.Context) -> str:
        """The reason, unless the rig plays a recording of its study."""
        from ..display.study import played_trial, study_folder_of

        if problem := super().find_problem(context):
            return problem
        body = require_active_rig(context)
        return (
            "The rig plays no recording: track or identify one, and choose it under Display"
            if not played_trial(body) or study_folder_of(body) is None
            else ""
        )

    def steps(self, context: bpy.types.Context) -> Iterator[float]:
        return iter(())  # the motion is read from the study

    def arguments(self, context: bpy.types.Context, folder: Path) -> list[str]:
        from ..display.study import played_trial, study_folder_of

        body = require_active_rig(context)
        arguments = [self.verb, str(study_folder_of(body)), "--trial", played_trial(body)]
        return [*arguments, "--output", str(folder / RESULT_FOLDER), *JSON_PROGRESS]

    def apply(self, context: bpy.types.Context, folder: Path) -> JobMessage:
        from ..authoring.dance_import import read_dance
        from ..authoring.failure_markers import mark_failures
        from ..authoring.keying import key_strips

        dance, body = read_dance(folder / RESULT_FOLDER), require(self.rig(), "rig")
        key_strips(scene(context), body, dance.summary.strips)
        now = state_fingerprint(scene(context), body)
        mark_failures(scene(context), body, dance.summary, now)
        return summary_message(dance, fingerprint=now)


CLASSES: tuple[Any, ...] = (
    EXCITING_DANCE_OT_complete_dance,
    EXCITING_DANCE_OT_balance_dance,
    EXCITING_DANCE_OT_slow_dance,
    EXCITING_DANCE_OT_check_dance,
    EXCITING_DANCE_OT_find_contacts,
)
