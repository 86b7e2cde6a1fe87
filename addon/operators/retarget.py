"""Operator that retargets an armature's motion to another rig, in a child process."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import bpy

from ..base.bpy_access import find_by_session_id, require, scene, session_id, view_layer
from ..base.option_fields import option_words
from ..base.scene_rigs import active_rig, is_rig
from ..base.solver_api import RetargetOptions, dance_folder
from ..display.properties import SCENE_RIG, SceneSettings, study_settings
from ..jobs.job import JobOperator
from ..jobs.job_messages import JobMessage
from .dance_base import INPUT_NAMES, JSON_PROGRESS, RESULT_FOLDER, has_summary, summary_message

if TYPE_CHECKING:
    from ..base.solver_api import SegmentPoses

FOLLOWER_FILE = "follower.json"


def find_source(context: bpy.types.Context) -> bpy.types.Object | None:
    """The armature whose motion is retargeted: the selected one, otherwise the active rig."""
    active = context.active_object
    return active if active is not None and active.type == "ARMATURE" else active_rig(context)


def find_follower(context: bpy.types.Context) -> bpy.types.Object | None:
    """The target rig in the scene; None for a built-in robot."""
    settings = study_settings(context)
    return settings.follower if settings.follows == SCENE_RIG else None


def find_retarget_problem(context: bpy.types.Context) -> str:
    """What prevents retargeting, as one sentence; empty if nothing does."""
    from ..scene.armature import rig_problem

    source, target = find_source(context), find_follower(context)
    if source is None:
        return "Select the armature whose motion to retarget"
    if source.animation_data is None or source.animation_data.action is None:
        return f"{source.name} has no action"
    if is_rig(source) and (problem := rig_problem(source)):
        return problem
    if study_settings(context).follows != SCENE_RIG:
        return ""
    if target is None:
        return "Choose the target rig"
    return f"{source.name} cannot be its own target" if target == source else rig_problem(target)


class EXCITING_DANCE_OT_retarget(JobOperator, bpy.types.Operator):
    """Retarget the selected armature's motion to a rig or robot, with planted feet, within its limits, in balance"""

    bl_idname = "exciting_dance.retarget"
    bl_label = "Retarget"
    title, panel = "Retargeting", "retarget"
    input_names = INPUT_NAMES | {FOLLOWER_FILE: "the target rig"}

    @classmethod
    def find_problem(cls, context: bpy.types.Context) -> str:
        """A source and a target are needed."""
        return find_retarget_problem(context)

    def steps(self, context: bpy.types.Context) -> Iterator[float]:
        from ..scene.recording import record_segments

        source = require(find_source(context), "armature")
        self._source_id = session_id(source)
        self._segments = None if is_rig(source) else (yield from record_segments(source, scene(context)))

    def arguments(self, context: bpy.types.Context, folder: Path) -> list[str]:
        from ..base.solver_api import write_rig
        from ..scene.inertials import rig_with_inertials
        from ..scene.placement import rest_size

        settings, target = study_settings(context), find_follower(context)
        self._follower_id = None if target is None else session_id(target)
        who = settings.follows if target is None else str(write_rig(folder / FOLLOWER_FILE, rig_with_inertials(target)))
        leader = find_by_session_id(bpy.data.objects, self._source_id)
        self._beside, self._source_size = settings.follow_beside, rest_size(leader)
        source = write_source(context, leader, self._segments, folder)
        return [
            "retarget",
            str(source),
            who,
            *retarget_arguments(settings),
            "--output",
            str(folder / RESULT_FOLDER),
            *JSON_PROGRESS,
        ]

    def has_results(self, folder: Path) -> bool:
        return has_summary(folder)

    def apply(self, context: bpy.types.Context, folder: Path) -> JobMessage:
        from ..authoring.dance_import import read_dance, show_dance
        from ..base.solver_api import MOTION
        from ..scene.armature import move_sideways
        from ..scene.placement import avoid_overlap, rest_size

        onto = None if self._follower_id is None else find_by_session_id(bpy.data.objects, self._follower_id)
        dance = read_dance(folder / RESULT_FOLDER)
        record = MOTION.read(folder / RESULT_FOLDER / dance_folder.MOTION_FILE)
        if onto is not None:
            dance = replace(dance, rig=None)
        body = show_dance(context, dance, target=onto, name=record.name)
        if self._beside:  # the motion is at the source's place, and both may spread their arms
            move_sideways(body, 0.5 * (self._source_size + rest_size(body)))
            avoid_overlap(context, body, ignored=self._source_id)
        layer = view_layer(context)
        for item in layer.objects.selected:
            item.select_set(False)
        body.select_set(True)
        layer.objects.active = body
        self.set_rig(body)
        return summary_message(dance)

    def receiver(self) -> bpy.types.Object | None:
        return next((item for item in bpy.data.objects if item.session_uid == self._follower_id), None)


def retarget_arguments(settings: SceneSettings) -> list[str]:
    """Command-line arguments for the settings."""
    arguments = [] if settings.follow_repaired else ["--no-repair"]
    arguments += option_words(settings, RetargetOptions)
    arguments += ["--forces", bpy.path.abspath(settings.follow_forces)] if settings.follow_forces else []
    return arguments


def write_source(
    context: bpy.types.Context, source: bpy.types.Object, segments: SegmentPoses | None, folder: Path
) -> Path:
    """Write an armature's motion to a file: a rig's timeline with its contacts, or the bones of another armature.

    Raises:
        InvalidValue: a rig's bones no longer match its links.
    """
    from ..authoring.timeline import motion_range, sample_timeline
    from ..base.solver_api import TIMELINE, Recording, write_recording_npz

    now, name = scene(context), bpy.path.clean_name(require(source.animation_data.action, "action").name)
    if segments is None:
        timeline = replace(sample_timeline(now, source, *motion_range(now, source)), name=name)
        return TIMELINE.write(folder / dance_folder.TIMELINE_FILE, timeline)
    path = folder / f"{name}.npz"
    write_recording_npz(path, Recording(name, segments=segments))
    return path


CLASSES = (EXCITING_DANCE_OT_retarget,)
