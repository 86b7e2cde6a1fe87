"""A person's or another rig's motion danced by a rig: followed, checked, repaired, and written for those who use it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from ...check_options import CheckOptions
from ...contacts.schedule import Schedule
from ...feasibility import Checks, check_motion
from ...formats.humanoid_writer import table_name, write_body_states, write_humanoid_table
from ...formats.joint_coordinates import write_coordinates
from ...formats.output_folder import write_folder
from ...formats.text_table import format_table
from ...motion import Motion
from ...progress import PartialProgress, Progress, silent
from ...rig import Rig
from ...scene.dance_folder import MOTION_FILE, REPORT_FILE, SUMMARY_FILE
from ...scene.motion_record import MOTION, MotionRecord, motion_record
from ...scene.summary import SUMMARY, SceneSummary
from ...tracking.bone_mapping import MAPPING, BoneMapping
from ...tracking.retargeting.performer import Performer
from ...tracking.retargeting.retarget import retarget_motion
from ...tracking.retargeting.retargeted_motion import RetargetedMotion, RetargetOptions
from ...trajectory.collision_avoidance import separate_legs_and_links
from ...trajectory.retargeting_balance import balance_motion
from ..authoring.authored_dance import AuthoredDance, Samples
from ..authoring.repair import RepairOptions
from .check import describe_omitted_checks, format_check_table, summarise_checks
from .edited_dance import EditedDance
from .loading import LoadedDance
from .repair import repair
from .summaries import failed_time_ranges, scene_failures, scene_strips

AS_FOLLOWED, SEPARATED, BALANCED = "as led", "links kept apart", "balanced"
MAPPING_FILE = "mapping.json"
CHECKS = CheckOptions(allowed_slip=0.002)
"""What a followed motion is held to where nobody chose otherwise: the limits themselves, feet to 2 mm."""
DEFAULT_RATE = 100.0
"""[1/s] of dances that have no samples of their own."""


@dataclass(frozen=True, slots=True)
class RetargetLimits:
    """What a followed motion is held to.

    Attributes:
        checks: that it must pass; the limits themselves, feet to 2 mm, by default.
        repair: how what fails is repaired; None leaves it.
    """

    checks: CheckOptions = CHECKS
    repair: RepairOptions | None = field(default_factory=RepairOptions)


@dataclass(frozen=True, slots=True, repr=False)
class RetargetedDance:
    """A motion that a rig follows, as it was led and as it was repaired.

    Attributes:
        name: of the motion.
        retargeted: as it was led.
        before: checks of it.
        limits: what it is held to.
        adjusted: the same with links kept apart, and its centre of mass led over its feet where it fails less so;
            None where nothing was changed.
        adjusted_checks: checks of that.
        repaired: the repair; None where nobody asked for one, or nothing fails.
        adjustment: what was made of it before the repair: `AS_FOLLOWED`, `SEPARATED` or `BALANCE_TOLERANCE`.
    """

    name: str
    retargeted: RetargetedMotion
    before: Checks
    limits: RetargetLimits
    adjusted: RetargetedMotion | None = None
    adjusted_checks: Checks | None = None
    repaired: EditedDance | None = None
    adjustment: str = AS_FOLLOWED

    def __repr__(self) -> str:
        return f"{self.retargeted.rig.name} follows {self.name!r}: {self.message}"

    @property
    def unrepaired(self) -> RetargetedMotion:
        """With links kept apart and its centre of mass led over its feet, if they were."""
        return self.retargeted if self.adjusted is None else self.adjusted

    @property
    def motion(self) -> Motion:
        """What the rig is to do: repaired, if it was."""
        return (
            self.unrepaired.motion if self.repaired is None else self.repaired.dance.motion(self.retargeted.motion.rate)
        )

    @property
    def after(self) -> Checks:
        """Checks of that."""
        if self.repaired is not None:
            return self.repaired.checks
        return self.before if self.adjusted_checks is None else self.adjusted_checks

    @property
    def message(self) -> str:
        """The verdict in one sentence."""
        return summarise_checks(self.after) if self.repaired is None else self.repaired.message

    @property
    def report(self) -> str:
        """What leads what, the verdict as led, and the verdict after the repair; plain text."""
        mapping = self.retargeted.mapping
        rows = [(link, segment, f"{w:g}") for link, segment, w in zip(mapping.links, mapping.segments, mapping.weights)]
        parts = [format_table(("link", "led by", "weight"), rows), f"places are scaled by {mapping.scale:.3f}", ""]
        parts += [f"note: {note}" for note in self.unrepaired.notes]
        parts += ["", "as led", format_check_table(self.before), summarise_checks(self.before)]
        if self.adjusted_checks is not None:
            parts += [
                "",
                self.adjustment,
                format_check_table(self.adjusted_checks),
                summarise_checks(self.adjusted_checks),
            ]
        if self.before.skipped:
            parts.append(describe_omitted_checks(self.before))
        if self.repaired is not None:
            parts += ["", "repaired", self.repaired.report]
        return "\n".join(parts)

    def record(self) -> MotionRecord:
        """The motion for Blender and the other verbs, with its contacts and what it is held to."""
        return motion_record(self.name, self.retargeted.rig, self.motion).with_contacts(
            self.schedule, self.limits.checks
        )

    @property
    def schedule(self) -> Schedule:
        """When which foot stands where."""
        return self.unrepaired.schedule if self.repaired is None else self.repaired.dance.schedule

    def summary(self) -> SceneSummary:
        """The verdict after the repair for a scene; the notes tell the one before, and what leads what."""
        mapping, checks, times = self.retargeted.mapping, self.after, self.motion.times
        start, stop = float(times[0]), float(times[-1])
        notes = [] if self.after is self.before else [f"as led: {summarise_checks(self.before)}"]
        notes += [*self.unrepaired.notes, f"places are scaled by {mapping.scale:.3f}"]
        notes += [f"{link} is led by {segment}" for link, segment in zip(mapping.links, mapping.segments)]
        return SceneSummary(
            "retarget", "feasible" if checks.feasible else "infeasible", checks.feasible,
            f"{self.retargeted.rig.name} follows {self.name}: "
            f"{self.message}", strips=scene_strips(self.schedule, start, stop),
            failures=scene_failures(checks), ranges=failed_time_ranges(checks),
            problems=() if self.repaired is None else self.repaired.summary.problems,
            notes=tuple(dict.fromkeys((*notes, *checks.notes))), duration=stop - start, checks=self.limits.checks,
        )  # fmt: skip

    def write(self, path: str | Path) -> None:
        """Write all of it into a folder, or nothing.

        The folder receives ``dance.motion.npz`` (Blender, and the other verbs), ``NAME_RATEhz.csv`` (root position,
        quaternion xyzw, joints), ``NAME.npz`` (poses and speeds of all bodies), ``NAME.mot``, ``mapping.json``,
        ``summary.json`` and ``report.txt``.
        """
        motion, rig = self.motion, self.retargeted.rig
        with write_folder(Path(path)) as folder:
            MOTION.write(folder / MOTION_FILE, self.record())
            write_humanoid_table(folder / table_name(self.name, round(motion.rate, 2)), rig, motion)
            write_body_states(folder / f"{self.name}.npz", rig, motion)
            write_coordinates(folder / f"{self.name}.mot", rig, motion, degrees=True)
            MAPPING.write(folder / MAPPING_FILE, self.retargeted.mapping)
            SUMMARY.write(folder / SUMMARY_FILE, self.summary())
            (folder / REPORT_FILE).write_text(self.report + "\n", "utf-8")


def load_performer(source: MotionRecord | LoadedDance | str | Path) -> Performer:
    """Who did what a motion or dance (its file, or what was read of it) holds.

    Raises:
        InvalidValue: a rig without two feet.
    """
    loaded = LoadedDance.from_source(source)
    own = isinstance(loaded.source, MotionRecord)
    motion = loaded.sample(None, DEFAULT_RATE)
    return Performer.from_motion(loaded.rig, motion, loaded.name if own else loaded.name.split(".")[0])


def retarget(
    source: Performer | MotionRecord | LoadedDance | str | Path,
    rig: Rig,
    mapping: BoneMapping | None = None,
    options: RetargetOptions | None = None,
    limits: RetargetLimits | None = None,
    progress: Progress = silent,
) -> RetargetedDance:
    """Let a rig dance what a person, or another rig, did.

    Links turn as the segments that lead them do, feet stand where the followed feet stand, joint limits and speeds are
    kept (more slowly where they must), and links that would be inside each other are kept apart. What would fall or
    overload a joint has its centre of mass led over its feet, with shorter steps and milder where it must; what then
    still fails is repaired by moving it least.

    Args:
        source: a motion of any rig (its file, or what was read of it), or segments as `Performer.from_segments` has
            them.
        rig: that is to follow; it needs two feet to stand on.
        mapping: which segment leads which link; a preset, or guessed and told, by default.
        options: pace and smoothness.
        limits: what the result must pass, and how it is repaired.
        progress: told about the progress; may cancel.

    Raises:
        InvalidValue: nothing to lead the feet or the root by, or a rig without feet.
        UnknownName: the mapping is of another recording or rig.

    Example:
        >>> import solver
        >>> followed = solver.retarget("dance/dance.npz", solver.hrp2(), limits=solver.RetargetLimits(repair=None))
        >>> len(followed.motion.q[0]) - 7  # joints of HRP-2
        30
    """
    source = source if isinstance(source, Performer) else load_performer(source)
    limits = RetargetLimits() if limits is None else limits
    options = RetargetOptions() if options is None else options
    found = retarget_motion(source, rig, mapping, options, PartialProgress(progress, 0.0, 0.3))
    before = check_motion(rig, found.motion, found.schedule, limits.checks)
    way = _Candidate(found, before, AS_FOLLOWED)
    if options.separate_links:
        kept = separate_legs_and_links(source, found, options, limits.checks)
        if kept.motion is not found:
            way, options = _check_candidate(kept.motion, limits, SEPARATED), kept.options
    if limits.repair is not None and not way.checks.feasible:
        tried = _check_candidate(
            balance_motion(source, way.motion, options, limits.checks, PartialProgress(progress, 0.3, 0.6)),
            limits,
            BALANCED,
        )
        way = min(way, tried, key=_failed_fraction)
    led, after_led = (None, None) if way.label == AS_FOLLOWED else (way.motion, way.checks)
    answer, best, verdict = None, way.motion, way.checks
    if limits.repair is None:
        return RetargetedDance(source.name, found, before, limits, led, after_led, adjustment=way.label)
    if not verdict.feasible and any(phase.airborne for phase in best.schedule.phases):
        note = "it is not repaired further: it jumps, which takes a repair of its own"
        found, led = replace(found, notes=(*found.notes, note)), led and replace(led, notes=(*led.notes, note))
    elif not verdict.feasible:
        samples = Samples(best.motion.times, best.motion.q)
        keyed = AuthoredDance(rig, (), best.schedule, samples, name=source.name, checks=limits.checks)
        answer = repair(
            keyed, limits.checks, limits.repair, rate=found.motion.rate, progress=PartialProgress(progress, 0.6, 1.0)
        )
        if answer.checks.failed.mean() >= verdict.failed.mean():
            answer = None  # what is repaired at one place is not to fail at more of others
    progress(1.0, "followed")
    return RetargetedDance(source.name, found, before, limits, led, after_led, answer, way.label)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A motion, its checks, and what was made of it in a word."""

    motion: RetargetedMotion
    checks: Checks
    label: str


def _check_candidate(motion: RetargetedMotion, limits: RetargetLimits, label: str) -> _Candidate:
    return _Candidate(motion, check_motion(motion.rig, motion.motion, motion.schedule, limits.checks), label)


def _failed_fraction(candidate: _Candidate) -> float:
    """Share of the frames that fail."""
    return float(candidate.checks.failed.mean())
