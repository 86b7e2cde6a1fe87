"""Retarget the motion of a person or another rig to a rig: follow, check, repair and write it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from ...base.errors import InvalidValue, checked
from ...base.progress import PartialProgress, Progress, silent
from ...contacts.rolling import SOLE
from ...contacts.schedule import Schedule
from ...feasibility import Checks, check_motion
from ...feasibility.messages import format_check_table
from ...formats.humanoid_motions import table_name, write_body_states, write_humanoid_table
from ...formats.joint_coordinates import write_coordinates
from ...formats.text_table import format_table
from ...formats.trial_names import printable_name
from ...options.authoring import RepairOptions, RetargetOptions
from ...options.checks import CheckOptions
from ...scene.dance_folder import MOTION_FILE, REPORT_FILE, SUMMARY_FILE
from ...scene.motion_record import MOTION, MotionRecord, motion_record
from ...scene.study_folder import BODIES_END, STORAGE_END
from ...scene.summary import SUMMARY, SceneSummary
from ...skeleton.rig import Rig
from ...storage.output_folder import write_folder
from ...tracking.bone_mapping import MAPPING, BoneMapping
from ...tracking.retargeting.performer import Performer
from ...tracking.retargeting.retarget import RetargetedMotion, retarget_motion
from ...trajectory.collision_avoidance import separate_legs_and_links
from ...trajectory.retargeting_balance import balance_motion
from ...values.motion import Motion
from ..authoring.authored_dance import AuthoredDance, Samples
from .check import describe_omitted_checks, summarise_checks
from .edited_dance import EditedDance
from .loading import LoadedDance
from .repair import repair
from .summaries import failed_time_ranges, scene_failures, scene_strips

AS_FOLLOWED, SEPARATED, BALANCED = "as followed", "links separated", "balanced"
MAPPING_FILE = "mapping.json"
CHECKS = CheckOptions(allowed_slip=0.002)
"""Default checks of a retargeted motion: the limits themselves, and feet within 2 mm."""
DEFAULT_RATE = 100.0
"""[1/s] Sampling rate of dances without their own samples."""


@dataclass(frozen=True, slots=True)
class RetargetLimits:
    """Checks that a retargeted motion must pass, and how it is repaired.

    Attributes:
        checks: that it must pass; by default the limits themselves, and feet within 2 mm.
        repair: options of the repair; None: no repair.
    """

    checks: CheckOptions = CHECKS
    repair: RepairOptions | None = field(default_factory=RepairOptions)


@dataclass(frozen=True, slots=True)
class RetargetStep:
    """A motion on the way to the result, its checks, and what it is: `AS_FOLLOWED`, `SEPARATED` or `BALANCED`."""

    label: str
    motion: RetargetedMotion
    checks: Checks


@dataclass(frozen=True, slots=True, repr=False)
class RetargetedDance:
    """A motion retargeted to a rig, before and after its repair.

    Attributes:
        name: of the motion.
        limits: checks and repair.
        steps: the motion as it follows the source; then, if that was changed, with links separated, and with its centre
            of mass balanced above its feet if less fails so.
        repaired: the repaired dance; None without a repair, or if nothing fails.
    """

    name: str
    limits: RetargetLimits
    steps: tuple[RetargetStep, ...]
    repaired: EditedDance | None = None

    def __repr__(self) -> str:
        return f"{self.unrepaired.rig.name} follows {self.name!r}: {self.message}"

    @property
    def before(self) -> Checks:
        """Checks of the motion as it follows the source."""
        return self.steps[0].checks

    @property
    def unrepaired(self) -> RetargetedMotion:
        """The motion before the repair."""
        return self.steps[-1].motion

    @property
    def motion(self) -> Motion:
        """Motion of the rig, repaired if it was."""
        rate = self.unrepaired.motion.rate
        return self.unrepaired.motion if self.repaired is None else self.repaired.dance.motion(rate)

    @property
    def after(self) -> Checks:
        """Checks of this motion."""
        return self.steps[-1].checks if self.repaired is None else self.repaired.checks

    @property
    def message(self) -> str:
        """The result in one sentence."""
        return summarise_checks(self.after) if self.repaired is None else self.repaired.message

    @property
    def report(self) -> str:
        """The mapping, and the checks before and after the repair; plain text."""
        mapping = self.unrepaired.mapping
        rows = [(link, segment, f"{w:g}") for link, segment, w in zip(mapping.links, mapping.segments, mapping.weights)]
        parts = [
            format_table(("link", "follows", "weight"), rows),
            f"positions are scaled by {mapping.scale:.3f}",
            "",
            *(f"note: {note}" for note in self.unrepaired.notes),
        ]
        for step in self.steps:
            parts += ["", step.label, format_check_table(step.checks), summarise_checks(step.checks)]
        if self.before.skipped:
            parts.append(describe_omitted_checks(self.before))
        if self.repaired is not None:
            parts += ["", "repaired", self.repaired.report]
        return "\n".join(parts)

    def record(self) -> MotionRecord:
        """The motion for Blender and other commands, with its contacts and checks."""
        return motion_record(self.name, self.unrepaired.rig, self.motion).with_contacts(
            self.schedule, self.limits.checks
        )

    @property
    def schedule(self) -> Schedule:
        """Contact schedule of the feet."""
        return self.unrepaired.schedule if self.repaired is None else self.repaired.dance.schedule

    def summary(self) -> SceneSummary:
        """The result after the repair for a scene; the notes state the result before it and the mapping."""
        mapping, checks, times = self.unrepaired.mapping, self.after, self.motion.times
        start, stop = float(times[0]), float(times[-1])
        notes = [] if self.after is self.before else [f"before adjustments: {summarise_checks(self.before)}"]
        notes += [
            *self.unrepaired.notes,
            f"positions are scaled by {mapping.scale:.3f}",
            *(f"{link} follows {segment}" for link, segment in zip(mapping.links, mapping.segments)),
        ]
        return SceneSummary(
            "retarget", "feasible" if checks.feasible else "infeasible", checks.feasible,
            f"{self.unrepaired.rig.name} follows {self.name}: "
            f"{self.message}", strips=scene_strips(self.schedule, start, stop),
            failures=scene_failures(checks), ranges=failed_time_ranges(checks),
            problems=() if self.repaired is None else self.repaired.summary.problems,
            notes=tuple(dict.fromkeys((*notes, *checks.notes))), duration=stop - start, checks=self.limits.checks,
        )  # fmt: skip

    def write(self, path: str | Path) -> None:
        """Write the result into a folder, completely or not at all.

        The folder receives ``dance.motion.npz`` (Blender, and other commands), ``NAME_RATEhz.csv`` (root position,
        quaternion xyzw, joints), ``NAME.bodies.npz`` (poses and speeds of all bodies), ``NAME.joints.mot``,
        ``mapping.json``, ``summary.json`` and ``report.txt``.
        """
        motion, rig = self.motion, self.unrepaired.rig
        with write_folder(Path(path)) as folder:
            MOTION.write(folder / MOTION_FILE, self.record())
            write_humanoid_table(folder / table_name(self.name, round(motion.rate, 2)), rig, motion)
            write_body_states(folder / f"{self.name}{BODIES_END}", rig, motion)
            write_coordinates(folder / f"{self.name}{STORAGE_END}", rig, motion, degrees=True)
            MAPPING.write(folder / MAPPING_FILE, self.unrepaired.mapping)
            SUMMARY.write(folder / SUMMARY_FILE, self.summary())
            (folder / REPORT_FILE).write_text(self.report + "\n", "utf-8")


def load_performer(source: MotionRecord | LoadedDance | str | Path) -> Performer:
    """Load a motion or dance (its file, or the result of loading it) as the performer to follow.

    Raises:
        InvalidValue: a rig without two feet.
    """
    loaded = LoadedDance.from_source(source)
    own = isinstance(loaded.source, MotionRecord)
    motion = loaded.sample(None, DEFAULT_RATE)
    return Performer.from_motion(loaded.rig, motion, printable_name(loaded.name if own else loaded.name.split(".")[0]))


@checked
def retarget(  # noqa: PLR0913 what is retargeted, how, and who watches
    source: Performer | MotionRecord | LoadedDance | str | Path,
    rig: Rig,
    mapping: BoneMapping | None = None,
    options: RetargetOptions | None = None,
    limits: RetargetLimits | None = None,
    progress: Progress = silent,
    preview: Callable[[RetargetedDance], object] = lambda _: None,
) -> RetargetedDance:
    """Retarget the motion of a person or another rig to a rig.

    Links rotate as their segments do, feet stand and roll where the performer's feet do, and joint limits and speeds
    hold, with slower motion if necessary. Colliding links are separated. If balance or a joint torque fails, the centre
    of mass is balanced over what touches of the feet. What still fails is repaired with the least displacement, unless
    feet roll or the motion jumps.

    Args:
        source: a motion of any rig (its file, or the result of loading it), or a `Performer` of segment poses.
        rig: that follows; it needs two feet.
        mapping: of segments to links; by default a preset, or guessed and reported.
        options: pace and smoothness.
        limits: checks that the result must pass, and how it is repaired.
        progress: receives the progress; may cancel.
        preview: receives the motion as retargeted, before it is balanced and repaired; not called without repair.

    Raises:
        InvalidValue: no segment for the feet or the root, or a rig without feet.
        UnknownName: the mapping is of another recording or rig.

    Example:
        >>> import solver
        >>> limits = solver.dance.RetargetLimits(repair=None)
        >>> followed = solver.retarget("dance/dance.npz", solver.hrp2(), limits=limits)
        >>> len(followed.motion.q[0]) - 7  # joints of HRP-2
        30
    """
    source = source if isinstance(source, Performer) else load_performer(source)
    limits = RetargetLimits() if limits is None else limits
    options = RetargetOptions() if options is None else options
    found = retarget_motion(source, rig, mapping, options, PartialProgress(progress, 0.0, 0.3))
    steps = [_check_step(AS_FOLLOWED, found, limits)]
    if not options.allow_collisions:
        apart, options = separate_legs_and_links(source, found, options, limits.checks)
        steps += [] if apart is found else [_check_step(SEPARATED, apart, limits)]
    first = RetargetedDance(source.name, limits, tuple(steps))
    if limits.repair is None or first.after.feasible:
        progress(1.0, "followed")
        return first
    preview(first)
    balanced = balance_motion(first.unrepaired, options, limits.checks, PartialProgress(progress, 0.3, 0.6))
    tried, answer, note = _check_step(BALANCED, balanced, limits), None, ""
    if tried.checks.failing < first.after.failing:
        steps = [steps[0], tried]
    best, verdict = steps[-1].motion, steps[-1].checks
    phases = best.schedule.phases
    if verdict.feasible:
        pass
    elif any(phase.airborne for phase in phases):
        note = "it is not repaired further, because it jumps: repair it with the repair command"
    elif any(anchor.part != SOLE for phase in phases for anchor in phase.anchors):
        note = "it is not repaired further, because its feet roll"
    else:
        samples = Samples(best.motion.times, best.motion.q)
        keyed = AuthoredDance(rig, (), best.schedule, samples, name=source.name, checks=limits.checks)
        part = PartialProgress(progress, 0.6, 1.0)
        try:
            answer = repair(keyed, limits.checks, limits.repair, rate=found.motion.rate, progress=part)
        except InvalidValue as error:  # such as legs that cannot keep both feet in place
            note = f"it is not repaired: {error}"
        if answer is not None and answer.checks.failed.mean() >= verdict.failed.mean():
            answer = None  # a repair must not increase the number of failing frames
    steps[-1] = replace(steps[-1], motion=replace(best, notes=(*best.notes, *filter(None, [note]))))
    progress(1.0, "followed")
    return RetargetedDance(source.name, limits, tuple(steps), answer)


def _check_step(label: str, motion: RetargetedMotion, limits: RetargetLimits) -> RetargetStep:
    return RetargetStep(label, motion, check_motion(motion.rig, motion.motion, motion.schedule, limits.checks))
