"""Complete, balance, slow down and check dances, in child processes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import bpy

from ..authoring.properties import dance_settings
from ..scores import write_scores
from ..told import Said
from ..typed import scene, there
from .act import the_rig
from .dance_jobs import JSON_PROGRESS, RESULT, DanceJob, GhostJob, said_of

NOT_WRITTEN = "The bones are linked, so the excitation of the links was not written to them"


class EXCITING_DANCE_OT_complete_dance(GhostJob, bpy.types.Operator):
    """Fill the free postures; fixed ones stay, preferred ones move as little as possible. Shown as a ghost"""

    bl_idname = "exciting_dance.complete_dance"
    bl_label = "Complete"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012
    title, verb, done = "Completing", "complete", "completed"

    @classmethod
    def lacking(cls, body: bpy.types.Object, roles: Mapping[float, str]) -> str:
        free = "" if "free" in roles.values() else "No posture is free: give one the role Free"
        return super().lacking(body, roles) or free

    def extra(self, context: bpy.types.Context) -> list[str]:
        settings = dance_settings(context)
        calm = ["--calm"] if settings.calm else []
        return [*super().extra(context), "--seed", str(settings.seed), *calm]


class EXCITING_DANCE_OT_balance_dance(GhostJob, bpy.types.Operator):
    """Keep balance, limits and distances by moving as little as possible; fixed postures stay. Shown as a ghost"""

    bl_idname = "exciting_dance.balance_dance"
    bl_label = "Balance"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012
    title, verb, done = "Balancing", "repair", "balanced"
    of_recordings = True


class EXCITING_DANCE_OT_slow_dance(GhostJob, bpy.types.Operator):
    """Stretch time where joints are too fast; keys and contacts move along. Shown as a ghost"""

    bl_idname = "exciting_dance.slow_dance"
    bl_label = "Slow Down"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012
    title, verb, done = "Slowing down", "slow", "slower"

    def extra(self, context: bpy.types.Context) -> list[str]:
        dynamics = ["--dynamics"] if dance_settings(context).dynamics else []
        return [*super().extra(context), *dynamics]


class EXCITING_DANCE_OT_check_dance(DanceJob, bpy.types.Operator):
    """Check limits, balance, friction, feet and collisions at 500 samples a second; mark on the timeline what fails"""

    bl_idname = "exciting_dance.check_dance"
    bl_label = "Check"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012
    title, verb, fewest = "Checking", "check", 0

    def apply(self, context: bpy.types.Context, folder: Path) -> Said:
        from ..authoring.dances import read_dance
        from ..authoring.marks import mark_failures

        dance = read_dance(folder / RESULT)
        body = there(self.rig(), "rig")
        written = write_scores(body, dance.summary.excitation, dance.summary.deviation)
        mark_failures(scene(context), body, dance.summary)
        return said_of(dance, *([] if written else [NOT_WRITTEN]))


class EXCITING_DANCE_OT_find_contacts(DanceJob, bpy.types.Operator):
    """Key when which sole stands, as the recording's motion and forces tell, and say whose doing its failures are"""

    bl_idname = "exciting_dance.find_contacts"
    bl_label = "Find in Recording"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012
    title, verb, fewest = "Finding contacts", "check", 0

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """With a recording of the rig's study."""
        from ..study import folder_of, trial_of

        if not super().poll(context):
            return False
        body = the_rig(context)
        if not trial_of(body) or folder_of(body) is None:
            cls.poll_message_set("The rig plays no recording: track or identify one, and choose it under See")
            return False
        return True

    def arguments(self, context: bpy.types.Context, folder: Path) -> list[str]:
        from ..study import folder_of, trial_of

        body = the_rig(context)
        words = [self.verb, str(folder_of(body)), "--trial", trial_of(body)]
        return [*words, "--output", str(folder / RESULT), *JSON_PROGRESS]

    def apply(self, context: bpy.types.Context, folder: Path) -> Said:
        from ..authoring.author import key_strips
        from ..authoring.dances import read_dance
        from ..authoring.marks import mark_failures

        dance, body = read_dance(folder / RESULT), there(self.rig(), "rig")
        key_strips(scene(context), body, dance.summary.strips)
        mark_failures(scene(context), body, dance.summary)
        return said_of(dance)


CLASSES: tuple[Any, ...] = (
    EXCITING_DANCE_OT_complete_dance,
    EXCITING_DANCE_OT_balance_dance,
    EXCITING_DANCE_OT_slow_dance,
    EXCITING_DANCE_OT_check_dance,
    EXCITING_DANCE_OT_find_contacts,
)
