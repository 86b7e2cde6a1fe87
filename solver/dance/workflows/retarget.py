"""A person's or another rig's motion danced by a rig: followed, checked, repaired, and written for those who use it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from ...check_options import CheckOptions
from ...contacts.schedule import Schedule
from ...feasibility import Checks, check_motion
from ...formats.folder import write_folder
from ...formats.humanoid import table_name, write_body_states, write_humanoid_table
from ...formats.joint_coordinates import write_coordinates
from ...formats.text_table import table
from ...motion import Motion
from ...progress import Part, Progress, silent
from ...rig import Rig
from ...scene.dance_folder import MOTION_FILE, REPORT_FILE, SUMMARY_FILE
from ...scene.motion_record import MOTION, MotionRecord, motion_record
from ...scene.summary import SUMMARY, SceneSummary
from ...tracking.bone_mapping import MAPPING, BoneMapping
from ...tracking.retargeting.performer import Performer
from ...tracking.retargeting.retarget import retargeted
from ...tracking.retargeting.retargeted import Retargeted, RetargetOptions
from ...trajectory.balanced import balanced
from ...trajectory.kept_apart import links_apart
from ..authoring.keys import Keyed, Samples
from ..authoring.repair import RepairOptions
from .answer import Answer
from .check import left_out_sentence, verdict_sentence, verdict_table
from .reading import LoadedDance
from .repair import repair
from .summaries import failures_of, ranges_of, strips_of

AS_LED, KEPT_APART, BALANCED = "as led", "links kept apart", "balanced"
MAPPING_FILE = "mapping.json"
CHECKS = CheckOptions(allowed_slip=0.002)
"""What a followed motion is held to where nobody chose otherwise: the limits themselves, feet to 2 mm."""
STATED = 100.0
"""[1/s] of dances that have no samples of their own."""


@dataclass(frozen=True, slots=True)
class Held:
    """What a followed motion is held to.

    Attributes:
        checks: that it must pass; the limits themselves, feet to 2 mm, by default.
        repair: how what fails is repaired; None leaves it.
    """

    checks: CheckOptions = CHECKS
    repair: RepairOptions | None = field(default_factory=RepairOptions)


@dataclass(frozen=True, slots=True, repr=False)
class Followed:
    """A motion that a rig follows, as it was led and as it was repaired.

    Attributes:
        name: of the motion.
        found: as it was led.
        before: checks of it.
        held: what it is held to.
        led: the same with links kept apart, and its centre of mass led over its feet where it fails less so; None where
            nothing was changed.
        after_led: checks of that.
        answer: the repair; None where nobody asked for one, or nothing fails.
        changed: what was made of it before the repair: `AS_LED`, `KEPT_APART` or `BALANCED`.
    """

    name: str
    found: Retargeted
    before: Checks
    held: Held
    led: Retargeted | None = None
    after_led: Checks | None = None
    answer: Answer | None = None
    changed: str = AS_LED

    def __repr__(self) -> str:
        return f"{self.found.rig.name} follows {self.name!r}: {self.message}"

    @property
    def balanced(self) -> Retargeted:
        """With links kept apart and its centre of mass led over its feet, if they were."""
        return self.found if self.led is None else self.led

    @property
    def motion(self) -> Motion:
        """What the rig is to do: repaired, if it was."""
        return self.balanced.motion if self.answer is None else self.answer.keyed.motion(self.found.motion.rate)

    @property
    def after(self) -> Checks:
        """Checks of that."""
        if self.answer is not None:
            return self.answer.checks
        return self.before if self.after_led is None else self.after_led

    @property
    def message(self) -> str:
        """The verdict in one sentence."""
        return verdict_sentence(self.after) if self.answer is None else self.answer.message

    @property
    def report(self) -> str:
        """What leads what, the verdict as led, and the verdict after the repair; plain text."""
        mapping = self.found.mapping
        rows = [(link, segment, f"{w:g}") for link, segment, w in zip(mapping.links, mapping.segments, mapping.weights)]
        parts = [table(("link", "led by", "weight"), rows), f"places are scaled by {mapping.scale:.3f}", ""]
        parts += [f"note: {note}" for note in self.balanced.told]
        parts += ["", "as led", verdict_table(self.before), verdict_sentence(self.before)]
        if self.after_led is not None:
            parts += ["", self.changed, verdict_table(self.after_led), verdict_sentence(self.after_led)]
        if self.before.left_out:
            parts.append(left_out_sentence(self.before))
        if self.answer is not None:
            parts += ["", "repaired", self.answer.report]
        return "\n".join(parts)

    def record(self) -> MotionRecord:
        """The motion for Blender and the other verbs, with its contacts and what it is held to."""
        return motion_record(self.name, self.found.rig, self.motion).danced(self.schedule, self.held.checks)

    @property
    def schedule(self) -> Schedule:
        """When which foot stands where."""
        return self.balanced.schedule if self.answer is None else self.answer.keyed.schedule

    def summary(self) -> SceneSummary:
        """The verdict after the repair for a scene; the notes tell the one before, and what leads what."""
        mapping, checks, times = self.found.mapping, self.after, self.motion.times
        start, stop = float(times[0]), float(times[-1])
        notes = [] if self.after is self.before else [f"as led: {verdict_sentence(self.before)}"]
        notes += [*self.balanced.told, f"places are scaled by {mapping.scale:.3f}"]
        notes += [f"{link} is led by {segment}" for link, segment in zip(mapping.links, mapping.segments)]
        return SceneSummary(
            "retarget", "feasible" if checks.feasible else "infeasible", checks.feasible,
            f"{self.found.rig.name} follows {self.name}: {self.message}", strips=strips_of(self.schedule, start, stop),
            failures=failures_of(checks), ranges=ranges_of(checks),
            troubles=() if self.answer is None else self.answer.summary.troubles,
            notes=tuple(dict.fromkeys((*notes, *checks.notes))), duration=stop - start, checks=self.held.checks,
        )  # fmt: skip

    def write(self, path: str | Path) -> None:
        """Write all of it into a folder, or nothing.

        The folder receives ``dance.motion.npz`` (Blender, and the other verbs), ``NAME_RATEhz.csv`` (root position,
        quaternion xyzw, joints), ``NAME.npz`` (poses and speeds of all bodies), ``NAME.mot``, ``mapping.json``,
        ``summary.json`` and ``report.txt``.
        """
        motion, rig = self.motion, self.found.rig
        with write_folder(Path(path)) as folder:
            MOTION.write(folder / MOTION_FILE, self.record())
            write_humanoid_table(folder / table_name(self.name, round(motion.rate, 2)), rig, motion)
            write_body_states(folder / f"{self.name}.npz", rig, motion)
            write_coordinates(folder / f"{self.name}.mot", rig, motion, degrees=True)
            MAPPING.write(folder / MAPPING_FILE, self.found.mapping)
            SUMMARY.write(folder / SUMMARY_FILE, self.summary())
            (folder / REPORT_FILE).write_text(self.report + "\n", "utf-8")


def performer_of(source: MotionRecord | LoadedDance | str | Path) -> Performer:
    """Who did what a motion or dance (its file, or what was read of it) holds.

    Raises:
        InvalidValue: a rig without two feet.
    """
    loaded = LoadedDance.of(source)
    own = isinstance(loaded.source, MotionRecord)
    motion = loaded.sampled(None, STATED)
    return Performer.of_motion(loaded.rig, motion, loaded.name if own else loaded.name.split(".")[0])


def retarget(
    source: Performer | MotionRecord | LoadedDance | str | Path,
    rig: Rig,
    mapping: BoneMapping | None = None,
    options: RetargetOptions | None = None,
    held: Held | None = None,
    progress: Progress = silent,
) -> Followed:
    """Let a rig dance what a person, or another rig, did.

    Links turn as the segments that lead them do, feet stand where the followed feet stand, joint limits and speeds are
    kept (more slowly where they must), and links that would be inside each other are kept apart. What would fall or
    overload a joint has its centre of mass led over its feet, with shorter steps and milder where it must; what then
    still fails is repaired by moving it least.

    Args:
        source: a motion of any rig (its file, or what was read of it), or segments as `Performer.of_segments` has them.
        rig: that is to follow; it needs two feet to stand on.
        mapping: which segment leads which link; a preset, or guessed and told, by default.
        options: pace and smoothness.
        held: what the result must pass, and how it is repaired.
        progress: told about the progress; may cancel.

    Raises:
        InvalidValue: nothing to lead the feet or the root by, or a rig without feet.
        UnknownName: the mapping is of another recording or rig.

    Example:
        >>> import solver
        >>> followed = solver.retarget("dance/dance.npz", solver.hrp2(), held=solver.Held(repair=None))
        >>> len(followed.motion.q[0]) - 7  # joints of HRP-2
        30
    """
    source = source if isinstance(source, Performer) else performer_of(source)
    held = Held() if held is None else held
    options = RetargetOptions() if options is None else options
    found = retargeted(source, rig, mapping, options, Part(progress, 0.0, 0.3))
    before = check_motion(rig, found.motion, found.schedule, held.checks)
    way = _Way(found, before, AS_LED)
    if options.apart:
        kept = links_apart(source, found, options, held.checks)
        if kept.motion is not found:
            way, options = _way(kept.motion, held, KEPT_APART), kept.options
    if held.repair is not None and not way.checks.feasible:
        tried = _way(balanced(source, way.motion, options, held.checks, Part(progress, 0.3, 0.6)), held, BALANCED)
        way = min(way, tried, key=_failing)
    led, after_led = (None, None) if way.words == AS_LED else (way.motion, way.checks)
    answer, best, verdict = None, way.motion, way.checks
    if held.repair is None:
        return Followed(source.name, found, before, held, led, after_led, changed=way.words)
    if not verdict.feasible and any(phase.airborne for phase in best.schedule.phases):
        note = "it is not repaired further: it jumps, which takes a repair of its own"
        found, led = replace(found, told=(*found.told, note)), led and replace(led, told=(*led.told, note))
    elif not verdict.feasible:
        samples = Samples(best.motion.times, best.motion.q)
        keyed = Keyed(rig, (), best.schedule, samples, name=source.name, checks=held.checks)
        answer = repair(keyed, held.checks, held.repair, rate=found.motion.rate, progress=Part(progress, 0.6, 1.0))
        if answer.checks.failed.mean() >= verdict.failed.mean():
            answer = None  # what is repaired at one place is not to fail at more of others
    progress(1.0, "followed")
    return Followed(source.name, found, before, held, led, after_led, answer, way.words)


@dataclass(frozen=True, slots=True)
class _Way:
    """A motion, its checks, and what was made of it in a word."""

    motion: Retargeted
    checks: Checks
    words: str


def _way(motion: Retargeted, held: Held, words: str) -> _Way:
    return _Way(motion, check_motion(motion.rig, motion.motion, motion.schedule, held.checks), words)


def _failing(way: _Way) -> float:
    """Share of the frames that fail."""
    return float(way.checks.failed.mean())
