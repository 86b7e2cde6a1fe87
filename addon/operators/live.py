"""Operators of the live check: start, stop and check all frames."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import bpy

from ..base.bpy_access import require
from ..jobs.job import JobOperator
from ..jobs.job_messages import JobMessage
from ..live.control import LiveCheck
from .base import AtomicOperator, find_rig_problem, require_active_rig


class EXCITING_DANCE_OT_live(AtomicOperator, bpy.types.Operator):
    """Start or stop checking balance, limits and collisions while you pose and scrub"""

    bl_idname = "exciting_dance.live"
    bl_label = "Live Check"

    @classmethod
    def find_problem(cls, context: bpy.types.Context) -> str:
        if LiveCheck.session is None and (problem := find_rig_problem(context)):
            return problem
        return ""

    def run(self, context: bpy.types.Context) -> None:
        if LiveCheck.session is not None:
            LiveCheck.stop()
        else:
            LiveCheck.start(context, require_active_rig(context))


class EXCITING_DANCE_OT_live_check_all(JobOperator, bpy.types.Operator):
    """Step through all frames once and check them; the current frame is restored"""

    bl_idname = "exciting_dance.live_check_all"
    bl_label = "Check All Frames"
    bl_options = {"INTERNAL"}  # noqa: RUF012
    title, panel, shows_success = "Stepping through all frames", "live", False

    @classmethod
    def find_problem(cls, context: bpy.types.Context) -> str:
        return "Start the live check first" if LiveCheck.session is None else ""

    def steps(self, context: bpy.types.Context) -> Iterator[float]:
        return require(LiveCheck.session, "live check").check_all()

    def arguments(self, context: bpy.types.Context, folder: Path) -> None:
        return None

    def apply(self, context: bpy.types.Context, folder: Path) -> JobMessage:
        return JobMessage("Sampled all frames")


CLASSES = (
    EXCITING_DANCE_OT_live,
    EXCITING_DANCE_OT_live_check_all,
)
