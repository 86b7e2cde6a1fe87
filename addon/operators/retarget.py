"""Operator that retargets an armature's motion to another body, in a child process."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import bpy

from ..authoring.properties import dance_settings
from ..base.bpy_access import Status, find_by_session_id, require, run_at_once, scene, session_id
from ..base.option_fields import option_words
from ..base.scene_rigs import find_rigs, find_source, is_rig
from ..base.solver_api import RetargetOptions, dance_folder, errors
from ..base.transaction import all_or_nothing
from ..display.properties import SceneSettings, study_settings
from ..jobs.job import JobOperator
from ..jobs.job_messages import JobMessage
from .dance_base import INPUT_NAMES, JSON_PROGRESS, RESULT_FOLDER, has_summary, summary_message
from .parts_dialog import PartsDialog
from .rigs import start_live_check

if TYPE_CHECKING:
    from ..base.solver_api import SceneMotion, SceneTimeline, SegmentPoses

FOLLOWER_FILE = "follower.json"
EXAMINED_FRAMES = 20
"""Number of frames in which a source is examined before its bones are shown."""
LARGEST_SOURCE = 10.0
"""Size of a source over that of the body from which it is in other units and too large to be shown beside it."""


def find_follower(context: bpy.types.Context) -> bpy.types.Object | None:
    """The rig of the scene that gets the motion; None for a new one."""
    chosen = study_settings(context).follower
    return chosen if chosen in find_rigs(scene(context)) and chosen != find_source(context) else None


class EXCITING_DANCE_OT_retarget(PartsDialog, JobOperator, bpy.types.Operator):
    """Retarget the selected armature's motion to another body: shows the bones, then the motion, then its repair"""

    bl_idname = "exciting_dance.retarget"
    bl_label = "Retarget"
    title, panel = "Retargeting", "dance"
    input_names = INPUT_NAMES | {FOLLOWER_FILE: "the target rig"}

    @classmethod
    def find_problem(cls, context: bpy.types.Context) -> str:
        """A source that moves is needed, and a target that can be changed."""
        from ..scene.armature import rig_problem, scale_problem
        from ..scene.character import describe_uneven_scale

        source, target = find_source(context), find_follower(context)
        if source is None:
            return "Select the armature of a body that moves: it needs keys, NLA strips, drivers or constraints"
        problem = rig_problem(source) if is_rig(source) else describe_uneven_scale(source)
        return problem or ("" if target is None else rig_problem(target) or scale_problem(target))

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Status:
        """Choose a target, and show it with the bones of the source."""
        from ..base.solver_api import Recording, describe_body, match_recording
        from ..scene.action import moving_frames
        from ..scene.recording import record_segments

        settings, source = study_settings(context), require(find_source(context), "armature")
        if find_follower(context) is None:
            rigs = [rig for rig in find_rigs(scene(context)) if rig != source and rig.visible_get()]
            settings.follower = min(rigs, key=lambda rig: not rig.select_get(), default=None)
        if is_rig(source):
            return self.ask(context, source, None, f"The motion of {source.name}")
        frames = moving_frames(scene(context), source)
        examined = frames[:: len(frames) // EXAMINED_FRAMES + 1]
        segments = run_at_once(record_segments(source, scene(context), examined))
        try:
            words = describe_body(Recording(source.name, segments=segments))
        except errors.SolverError as error:
            words = str(error)
        return self.ask(context, source, match_recording(segments), words)

    def draw_fields(self, context: bpy.types.Context, layout: bpy.types.UILayout) -> None:
        """Draw the target."""
        settings, column = study_settings(context), layout.column()
        column.use_property_split, column.use_property_decorate = True, False
        for name in ("follower", *([] if settings.follower else ["follows"])):
            column.prop(settings, name)

    def steps(self, context: bpy.types.Context) -> Iterator[float]:
        from ..authoring.timeline import motion_range, sample_in_steps
        from ..scene.recording import record_segments

        now, source, target = scene(context), require(find_source(context), "armature"), find_follower(context)
        self._source_id, self._body_id = session_id(source), None if target is None else session_id(target)
        self._first: SceneMotion | None = None
        self._motion: SceneTimeline | SegmentPoses
        if is_rig(source):
            self._motion = yield from sample_in_steps(now, source, *motion_range(now, source))
        else:
            self._motion = yield from record_segments(source, now)

    def arguments(self, context: bpy.types.Context, folder: Path) -> list[str]:
        from ..base.solver_api import write_rig
        from ..scene.inertials import rig_with_inertials

        settings = study_settings(context)
        target = None if self._body_id is None else find_by_session_id(bpy.data.objects, self._body_id)
        leader, who = find_by_session_id(bpy.data.objects, self._source_id), [settings.follows]
        source = write_source(leader, self._motion, folder)
        if target is not None:
            who = [str(write_rig(folder / FOLLOWER_FILE, rig_with_inertials(target)))]
        elif settings.follows == "human":
            who += ["--mass", f"{settings.mass:g}", "--sex", settings.sex]
        words = [*retarget_arguments(settings), *self.stated_parts(), "--output", str(folder / RESULT_FOLDER)]
        return ["retarget", str(source), *who, *words, *JSON_PROGRESS]

    def has_results(self, folder: Path) -> bool:
        return has_summary(folder)

    def look(self, context: bpy.types.Context) -> None:
        """Show the motion as soon as it is written, before its repair."""
        folder = require(self._folder, "folder")
        if self._first is None and self.has_results(folder):
            with all_or_nothing():
                self._show(context, folder)
            bpy.ops.ed.undo_push(message="Retarget")

    def apply(self, context: bpy.types.Context, folder: Path) -> JobMessage:
        from ..authoring.dance_import import read_dance
        from ..authoring.ghost import OPERATION_KEY, find_ghost, show_ghost
        from ..base.convert import transform_motion

        if self._first is None:
            self._show(context, folder)
        dance, body = read_dance(folder / RESULT_FOLDER), require(self.rig(), "rig")
        motion = require(dance.motion, "motion")
        if motion.rotations.tobytes() != require(self._first, "motion").rotations.tobytes():
            moved = replace(dance, motion=transform_motion(body.matrix_world @ self._back, motion))
            beside = dance_settings(context).ghost_place == "beside"
            show_ghost(context, body, moved, f"{body.animation_data.action.name} repaired", beside=beside)
            require(find_ghost(scene(context), body), "ghost")[OPERATION_KEY] = "repaired"
        return summary_message(dance)

    def _show(self, context: bpy.types.Context, folder: Path) -> None:
        """Show the motion on its body, beside a source of about its size."""
        from ..authoring.dance_import import read_dance, show_dance
        from ..base.solver_api import MOTION
        from ..drawing.viewport import fit_timelines, frame_objects, hide_startup_cube, start_posing
        from ..scene.armature import move_sideways
        from ..scene.placement import avoid_overlap, rest_size

        onto = None if self._body_id is None else find_by_session_id(bpy.data.objects, self._body_id)
        source = find_by_session_id(bpy.data.objects, self._source_id)
        dance = read_dance(folder / RESULT_FOLDER)
        name = MOTION.read(folder / RESULT_FOLDER / dance_folder.MOTION_FILE).name
        body = show_dance(context, dance if onto is None else replace(dance, rig=None), target=onto, name=name)
        self._first, self._back, size = dance.motion, body.matrix_world.inverted(), rest_size(body)
        shown = [body, source] if rest_size(source) < LARGEST_SOURCE * size else [body]
        move_sideways(body, 0.5 * sum(map(rest_size, (shown[-1], body))))  # both may spread their arms
        avoid_overlap(context, body, ignored=self._source_id)
        self.set_rig(body)
        hide_startup_cube(context)
        start_posing(context, body)
        start_live_check(context, self, body)
        frame_objects(context, shown)
        fit_timelines(context)

    def receiver(self) -> bpy.types.Object | None:
        return next((item for item in bpy.data.objects if item.session_uid == self._body_id), None)


def retarget_arguments(settings: SceneSettings) -> list[str]:
    """Command-line arguments for the settings."""
    arguments = [] if settings.follow_repaired else ["--no-repair"]
    arguments += option_words(settings, RetargetOptions)
    arguments += ["--forces", bpy.path.abspath(settings.follow_forces)] if settings.follow_forces else []
    return arguments


def write_source(source: bpy.types.Object, motion: SceneTimeline | SegmentPoses, folder: Path) -> Path:
    """Write an armature's motion to a file: a rig's timeline with its contacts, or the bones of another armature."""
    from ..base.solver_api import TIMELINE, Recording, SegmentPoses, write_recording_npz

    played = source.animation_data and source.animation_data.action
    name = bpy.path.clean_name((played or source).name)
    if not isinstance(motion, SegmentPoses):
        return TIMELINE.write(folder / dance_folder.TIMELINE_FILE, replace(motion, name=name))
    path = folder / f"{name}.npz"
    write_recording_npz(path, Recording(name, segments=motion))
    return path


CLASSES = (EXCITING_DANCE_OT_retarget,)
