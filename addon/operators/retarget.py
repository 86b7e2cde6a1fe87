"""Another rig dances what an armature does: followed, checked and repaired in a child process."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import bpy

from ..jobs import JobOperator
from ..properties import SCENE, Settings, settings_of
from ..scene_rigs import is_rig, rig_in
from ..told import Said
from ..typed import found_again, known_by, scene, there, view_layer
from ..values import dance_folder
from .dance_jobs import HANDED, JSON_PROGRESS, RESULT, has_summary, said_of

FOLLOWER_FILE = "follower.json"


def followed(context: bpy.types.Context) -> bpy.types.Object | None:
    """Whose motion is followed: the selected armature, any at all, otherwise the rig that is meant."""
    active = context.active_object
    return active if active is not None and active.type == "ARMATURE" else rig_in(context)


def follower(context: bpy.types.Context) -> bpy.types.Object | None:
    """The rig of the scene that follows; None where a built-in robot does."""
    settings = settings_of(context)
    return settings.follower if settings.follows == SCENE else None


def why_not(context: bpy.types.Context) -> str:
    """Why nobody can follow, in one sentence; empty where somebody can."""
    from ..armature import trouble

    source, target = followed(context), follower(context)
    if source is None:
        return "Select the armature whose motion is to be followed"
    if source.animation_data is None or source.animation_data.action is None:
        return f"{source.name} does not move: it plays no action"
    if is_rig(source) and (why := trouble(source)):
        return why
    if settings_of(context).follows != SCENE:
        return ""
    if target is None:
        return "Choose the rig that follows"
    return f"{source.name} cannot follow itself" if target == source else trouble(target)


class EXCITING_DANCE_OT_retarget(JobOperator, bpy.types.Operator):
    """Let a rig or robot dance what the selected armature does: feet stand, limits hold, what would fall is repaired"""

    bl_idname = "exciting_dance.retarget"
    bl_label = "Retarget"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012
    title, place = "Retargeting", "retarget"
    handed = HANDED | {FOLLOWER_FILE: "the rig that follows"}

    @classmethod
    def missing(cls, context: bpy.types.Context) -> str:
        """Somebody to follow, and somebody who follows."""
        return why_not(context)

    def arguments(self, context: bpy.types.Context, folder: Path) -> list[str]:
        from ..inertials import body_of
        from ..places import size_of
        from ..values import write_rig

        settings, target = settings_of(context), follower(context)
        self._target = None if target is None else known_by(target)
        who = settings.follows if target is None else str(write_rig(folder / FOLLOWER_FILE, body_of(target)))
        leader = there(followed(context), "armature")
        self._beside, self._size, self._leader = settings.follow_beside, size_of(leader), known_by(leader)
        source = write_source(context, leader, folder)
        return ["retarget", str(source), who, *flags(settings), "--output", str(folder / RESULT), *JSON_PROGRESS]

    def finished(self, folder: Path) -> bool:
        return has_summary(folder)

    def apply(self, context: bpy.types.Context, folder: Path) -> Said:
        from ..authoring.dances import read_dance, show_dance
        from ..authoring.ghost import step_aside
        from ..places import size_of, stand_free
        from ..values import MOTION

        onto = None if self._target is None else found_again(bpy.data.objects, self._target)
        dance = read_dance(folder / RESULT)
        record = MOTION.read(folder / RESULT / dance_folder.MOTION_FILE)
        if onto is None:
            dance = replace(dance, rig=record.rig)
        body = show_dance(context, dance, onto=onto, name=record.name)
        if self._beside:  # it dances where who leads does; both may spread their arms
            step_aside(body, 0.5 * (self._size + size_of(body)))
            stand_free(context, body, but=self._leader)
        layer = view_layer(context)
        for item in layer.objects.selected:
            item.select_set(False)
        body.select_set(True)
        layer.objects.active = body
        self.is_about(body)
        return said_of(dance)

    def _being_edited(self) -> bool:
        target = next((item for item in bpy.data.objects if item.session_uid == self._target), None)
        if target is not None and target.mode == "EDIT":
            self._job.message = f"done, leave edit mode of {target.name} to see it (Tab)"
            return True
        return False


def flags(settings: Settings) -> list[str]:
    """Words of the command for what is set."""
    words = [] if settings.follow_repaired else ["--no-repair"]
    words += ["--keep-pace"] if settings.follow_pace else []
    words += ["--slower", repr(settings.follow_slower)] if settings.follow_slower != 1.0 else []
    words += ["--overlaps"] if settings.follow_overlaps else []
    words += ["--broken-steps"] if settings.follow_broken_steps else []
    words += ["--forces", bpy.path.abspath(settings.follow_forces)] if settings.follow_forces else []
    return words


def write_source(context: bpy.types.Context, source: bpy.types.Object, folder: Path) -> Path:
    """What an armature does, as a file: a rig's own motion with its soles, or any other's bones.

    Raises:
        InvalidValue: a rig's bones are no longer its links.
    """
    from ..authoring.timeline import extent, sample
    from ..segments import segments_of
    from ..values import TIMELINE, Recording, write_recording_npz

    now, name = scene(context), bpy.path.clean_name(there(source.animation_data.action, "action").name)
    if is_rig(source):
        timeline = replace(sample(now, source, *extent(now, source)), name=name)
        return TIMELINE.write(folder / dance_folder.TIMELINE_FILE, timeline)
    path = folder / f"{name}.npz"
    write_recording_npz(path, Recording(name, segments=segments_of(source, now)))
    return path


CLASSES = (EXCITING_DANCE_OT_retarget,)
