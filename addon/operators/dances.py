"""Design, complete, balance, slow down, check, export and compare dances, in child processes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, ClassVar

import bpy
from bpy_extras.io_utils import ExportHelper

from ..action import frame_rate
from ..armature import linked, rig_in, trouble
from ..authoring import performance
from ..authoring.author import key_strips
from ..authoring.dances import Dance, read_dance, show_dance
from ..authoring.ghost import DONE_KEY, apply_ghost, discard_ghost, ghost_of, show_ghost
from ..authoring.keyed import keyed
from ..authoring.marks import mark_failures
from ..authoring.properties import dance_settings
from ..authoring.timeline import extent, sample, steps_needed
from ..checks import words_of
from ..inertials import body_of
from ..jobs import Current, JobOperator
from ..properties import settings_of
from ..scores import write_scores
from ..study import folder_of, trial_of
from ..told import Said, tell
from ..typed import Status, scene, there
from ..values import TIMELINE, dance_folder, write_rig
from .act import Act, NeedsRig, the_rig, why_not
from .rigs import rig_arguments

RESULT = "result"
"""Folder of the child's results within the job's."""
WORKERS = max(1, min((os.cpu_count() or 2) - 1, 8))
FINISHING = 60.0
"""[s] a cancelled design has to write what is done."""
ALSO = "Constraints, drivers, a parent or the NLA move this rig, too: they still act on what is applied"
JSON_PROGRESS = ("--progress", "json")


class DanceJob(JobOperator):
    """Mix-in: a verb about the dance on the timeline."""

    place = "dance"

    verb: ClassVar[str] = ""
    fewest: ClassVar[int] = 2
    of_recordings: ClassVar[bool] = False
    """Whether it takes a recording, which has no postures."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """A rig with postures, nothing else running; what is missing is said."""
        body, said = rig_in(context), ""
        if Current.job is not None:
            said = f"{Current.job.title}: wait for it, or cancel it"
        elif body is None or why_not(context):
            said = why_not(context)
        elif body.animation_data is None or body.animation_data.action is None:
            said = "Nothing dances yet: key postures, or design a dance"
        elif cls.fewest and not (cls.of_recordings and trial_of(body)) and len(keyed(body).roles) < cls.fewest:
            said = f"Key at least {cls.fewest} postures first"
        if said:
            cls.poll_message_set(said)  # type: ignore[attr-defined]
        return not said

    def arguments(self, context: bpy.types.Context, folder: Path) -> list[str]:
        path = write_scene(context, folder)
        return [self.verb, str(path), *self.extra(context), "--output", str(folder / RESULT), *JSON_PROGRESS]

    def extra(self, context: bpy.types.Context) -> list[str]:
        """More options of the verb."""
        return []

    def finished(self, folder: Path) -> bool:
        return (folder / RESULT / dance_folder.SUMMARY_FILE).exists()


class GhostJob(DanceJob):
    """Mix-in: a verb that proposes a changed dance, shown as a ghost."""

    done: ClassVar[str] = ""

    def extra(self, context: bpy.types.Context) -> list[str]:
        return ["--rate", f"{frame_rate(scene(context)):.12g}"]

    def apply(self, context: bpy.types.Context, folder: Path) -> Said:
        body, dance = there(self.rig(), "rig"), read_dance(folder / RESULT)
        if dance.motion is not None and dance.summary.status != "unchanged":
            name = f"{body.animation_data.action.name} {self.done}"
            beside = dance_settings(context).ghost_place == "beside"
            show_ghost(context, body, dance, name, beside=beside)
            there(ghost_of(scene(context), body), "ghost")[DONE_KEY] = self.done
        return said_of(dance, *([ALSO] if steps_needed(body) else []))


def write_scene(context: bpy.types.Context, folder: Path) -> Path:
    """The rig's dance as a timeline file, over all of its keys."""
    now, body = scene(context), the_rig(context)
    return TIMELINE.write(folder / dance_folder.TIMELINE_FILE, sample(now, body, *extent(now, body)))


def said_of(dance: Dance, *notes: str) -> Said:
    """What a verb says of a dance."""
    summary = dance.summary
    failures = [f"{f.said}, first at {f.time:.2f} s" for f in summary.failures]
    verdict = "good" if summary.feasible else "bad"
    return Said(summary.message, verdict, (*summary.troubles, *failures), (*summary.notes, *notes))


class EXCITING_DANCE_OT_design_dance(DanceJob, bpy.types.Operator):
    """Design a dance that excites every link, keeps balance and hits nothing; the scene's rig dances it"""

    bl_idname = "exciting_dance.design_dance"
    bl_label = "Design Dance"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012
    title = "Designing"
    patience = FINISHING

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Nothing else running; without a rig the one of the Rig panel is made."""
        body = rig_in(context)
        if body is not None and (why := trouble(body)) and not linked(body):  # a linked one stays, and a new one dances
            cls.poll_message_set(why)
            return False
        return super(DanceJob, cls).poll(context)

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
        dance = read_dance(folder / RESULT)
        self.is_about(show_dance(context, dance, onto=self.rig_if_there()))
        return said_of(dance)


def body_words(context: bpy.types.Context, folder: Path) -> list[str]:
    """The body as the verb takes it: the scene's rig as a file, otherwise what the Rig panel says."""
    body = rig_in(context)
    if body is None:
        settings = settings_of(context)
        return rig_arguments(settings.kind, settings, settings.urdf)[1:]
    return [str(write_rig(folder / dance_folder.BODY_FILE, body_of(body)))]


def design_words(context: bpy.types.Context) -> list[str]:
    """The options of the verb as the panel says."""
    settings = dance_settings(context)
    numbers = {"postures": settings.postures, "seed": settings.seed, "effort": settings.effort}
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


class EXCITING_DANCE_OT_complete_dance(GhostJob, bpy.types.Operator):
    """Fill the free postures; fixed ones stay, preferred ones move as little as possible. Shown as a ghost"""

    bl_idname = "exciting_dance.complete_dance"
    bl_label = "Complete"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012
    title, verb, done = "Completing", "complete", "completed"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """With a free posture."""
        if not super().poll(context):
            return False
        body = rig_in(context)
        if body is not None and not keyed(body).counts["free"]:
            cls.poll_message_set("No posture is free: give one the role Free")
            return False
        return True

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
        dance = read_dance(folder / RESULT)
        body = there(self.rig(), "rig")
        write_scores(body, dance.summary.excitation, dance.summary.deviation)
        mark_failures(scene(context), body, dance.summary)
        return said_of(dance)


class EXCITING_DANCE_OT_find_contacts(DanceJob, bpy.types.Operator):
    """Key when which sole stands, as the recording's motion and forces tell, and say whose doing its failures are"""

    bl_idname = "exciting_dance.find_contacts"
    bl_label = "Find in Recording"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012
    title, verb, fewest = "Finding contacts", "check", 0

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """With a recording of the rig's study."""
        if not super().poll(context):
            return False
        body = the_rig(context)
        if not trial_of(body) or folder_of(body) is None:
            cls.poll_message_set("The rig plays no recording: track or identify one, and choose it under See")
            return False
        return True

    def arguments(self, context: bpy.types.Context, folder: Path) -> list[str]:
        body = the_rig(context)
        words = [self.verb, str(folder_of(body)), "--trial", trial_of(body)]
        return [*words, "--output", str(folder / RESULT), *JSON_PROGRESS]

    def apply(self, context: bpy.types.Context, folder: Path) -> Said:
        dance, body = read_dance(folder / RESULT), there(self.rig(), "rig")
        key_strips(scene(context), body, dance.summary.strips)
        mark_failures(scene(context), body, dance.summary)
        return said_of(dance)


class EXCITING_DANCE_OT_apply_ghost(NeedsRig, bpy.types.Operator):
    """Let the rig dance what the ghost shows; the action it had stays in the file as "... before" """

    writes_bones = True

    bl_idname = "exciting_dance.apply_ghost"
    bl_label = "Apply"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """With a ghost."""
        return super().poll(context) and ghost_of(scene(context), the_rig(context)) is not None

    def act(self, context: bpy.types.Context) -> Status:
        old = apply_ghost(context, the_rig(context))
        self.report({"INFO"}, f"Applied; the keys as they were: action {old.name!r}")
        return {"FINISHED"}


class EXCITING_DANCE_OT_discard_ghost(NeedsRig, bpy.types.Operator):
    """Take the ghost away; the rig dances on as before"""

    bl_idname = "exciting_dance.discard_ghost"
    bl_label = "Discard"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """With a ghost."""
        return super().poll(context) and ghost_of(scene(context), the_rig(context)) is not None

    def act(self, context: bpy.types.Context) -> Status:
        discard_ghost(context, the_rig(context))
        return {"FINISHED"}


class EXCITING_DANCE_OT_open_dance(Act, bpy.types.Operator):
    """Show a dance designed before: the --output folder of `python -m solver dance`"""

    bl_idname = "exciting_dance.open_dance"
    bl_label = "Open Dance"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    directory: bpy.props.StringProperty(subtype="DIR_PATH")  # type: ignore[valid-type]
    filter_folder: bpy.props.BoolProperty(default=True, options={"HIDDEN"})  # type: ignore[valid-type]

    def act(self, context: bpy.types.Context) -> Status:
        dance = read_dance(bpy.path.abspath(self.directory))
        body = show_dance(context, dance, onto=rig_in(context))
        tell(scene(context), body, DanceJob.place, said_of(dance))
        return {"FINISHED"}

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Status:
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}


class EXCITING_DANCE_OT_export_dance(DanceJob, bpy.types.Operator, ExportHelper):  # type: ignore[misc]
    """Write joint angles and speeds over time: .csv for a robot, .mot for OpenSim and viewers"""

    bl_idname = "exciting_dance.export_dance"
    bl_label = "Export Dance"
    title, verb, fewest = "Exporting", "export", 0
    filename_ext = ".csv"
    check_extension = None

    filter_glob: bpy.props.StringProperty(default="*.csv;*.mot", options={"HIDDEN"})  # type: ignore[valid-type]
    rate: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Rate", description="Samples a second", default=100.0, min=1.0, max=2000.0, precision=1
    )

    def arguments(self, context: bpy.types.Context, folder: Path) -> list[str]:
        path = write_scene(context, folder)
        output = bpy.path.abspath(self.filepath)  # type: ignore[attr-defined]
        return [self.verb, str(path), "--rate", f"{self.rate:g}", "--output", output, *JSON_PROGRESS]

    def apply(self, context: bpy.types.Context, folder: Path) -> Said:
        return Said(f"Exported to {self.filepath}")  # type: ignore[attr-defined]


class EXCITING_DANCE_OT_compare_performance(DanceJob, bpy.types.Operator):
    """Compare the dance on the timeline with a tracked recording of it, joint by joint and in what it excites"""

    bl_idname = "exciting_dance.compare_performance"
    bl_label = "Compare Performance"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012
    title, verb, fewest = "Comparing", "perform", 0

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """With a performance."""
        if not super().poll(context):
            return False
        if performed(context) is None:
            cls.poll_message_set("Name the folder of the tracked recording first")
            return False
        return True

    def arguments(self, context: bpy.types.Context, folder: Path) -> list[str]:
        path, trial = write_scene(context, folder), dance_settings(context).trial
        words = [self.verb, str(path), str(performed(context)), *(["--trial", trial] if trial else [])]
        return [*words, "--output", str(folder / RESULT), *JSON_PROGRESS]

    def apply(self, context: bpy.types.Context, folder: Path) -> Said:
        return performance.show_performance(context, there(self.rig(), "rig"), folder / RESULT)


def performed(context: bpy.types.Context) -> Path | None:
    """The folder of the recording to compare with: as named, otherwise the rig's own study."""
    named, body = dance_settings(context).performed, rig_in(context)
    if named:
        return Path(bpy.path.abspath(named))
    return folder_of(body) if body is not None else None


CLASSES: tuple[Any, ...] = (
    EXCITING_DANCE_OT_design_dance,
    EXCITING_DANCE_OT_complete_dance,
    EXCITING_DANCE_OT_balance_dance,
    EXCITING_DANCE_OT_slow_dance,
    EXCITING_DANCE_OT_check_dance,
    EXCITING_DANCE_OT_find_contacts,
    EXCITING_DANCE_OT_apply_ghost,
    EXCITING_DANCE_OT_discard_ghost,
    EXCITING_DANCE_OT_open_dance,
    EXCITING_DANCE_OT_export_dance,
    EXCITING_DANCE_OT_compare_performance,
)
