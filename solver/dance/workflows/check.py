"""Check whether a dance is feasible in all its samples; the result as a sentence, a table and for a scene."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from ...base.errors import InvalidValue, checked
from ...base.progress import Progress, silent
from ...feasibility import CheckOptions, Checks, check_motion
from ...feasibility.attribution import Attribution, attribute_failures
from ...feasibility.messages import describe_unsupported, format_check_table, plural_names
from ...options.checks import VERIFICATION_RATE
from ...options.dances import EXCITATION_RATE
from ...scene.dance_folder import SUMMARY_FILE
from ...scene.labels import join_names
from ...scene.motion_record import MotionRecord
from ...scene.summary import SUMMARY, SceneSummary
from ...storage.output_folder import write_folder
from ..authoring.authored_dance import AuthoredDance
from .loading import LoadedDance, find_contacts
from .summaries import excitation_by_link, failed_time_ranges, scene_failures, scene_keys, scene_strips


@dataclass(frozen=True, slots=True)
class CheckResult:
    """Result of all checks of a dance.

    Attributes:
        dance: that was checked.
        checks: all margins in all frames.
        unsupported_spans: time spans without support, a sentence each; they explain what else fails there.
        assumptions: what was found or assumed about a recording, a sentence each.
        attributions: of each failed check of a recording to tracking error or to the performer.
    """

    dance: LoadedDance
    checks: Checks
    unsupported_spans: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    attributions: tuple[Attribution, ...] = ()

    @property
    def feasible(self) -> bool:
        """Whether every check holds in every frame."""
        return self.checks.feasible

    @property
    def message(self) -> str:
        """The result in one sentence."""
        return summarise_checks(self.checks, self.unsupported_spans)

    @property
    def report(self) -> str:
        """A table of all checks, the sentence and remarks."""
        return "\n".join([format_check_table(self.checks), self.message, *self._remarks])

    @property
    def _remarks(self) -> tuple[str, ...]:
        """Omitted checks, assumptions and attributions, a sentence each."""
        left_out = (describe_omitted_checks(self.checks),) if self.checks.skipped else ()
        return (
            *left_out,
            *(f"Assumed: {assumption}" for assumption in self.assumptions),
            *(f"Attribution: {attribution}" for attribution in self.attributions),
        )

    def summary(self) -> SceneSummary:
        """The result for a scene, with the dance's excitation."""
        dance, checks = self.dance, self.checks
        start, stop = float(checks.times[0]), float(checks.times[-1])
        conditions, deviations = excitation_by_link(dance.rig, dance.motion(EXCITATION_RATE))
        return SceneSummary(
            "check", "feasible" if checks.feasible else "infeasible", checks.feasible, self.message,
            () if dance.authored is None else scene_keys(dance.authored), scene_strips(checks.schedule, start, stop),
            scene_failures(checks), failed_time_ranges(checks), problems=self.unsupported_spans, notes=(*checks.notes,
                *self._remarks),
            excitation=conditions, deviation=deviations, duration=stop - start, checks=dance.checks,
        )  # fmt: skip

    def write(self, path: str | Path) -> None:
        """Write ``summary.json`` into a folder, completely or not at all."""
        summary = self.summary()
        with write_folder(Path(path)) as folder:
            SUMMARY.write(folder / SUMMARY_FILE, summary)


@checked
def check(
    dance: LoadedDance | AuthoredDance | MotionRecord | str | Path,
    options: CheckOptions | None = None,
    *,
    rate: float | None = None,
    progress: Progress = silent,
) -> CheckResult:
    """Check a dance in every sample.

    A recording has no contact schedule. Its contacts are found from motion and forces, and each failed check is
    attributed to tracking error or to the performer. Without contacts, as for a rig without soles, the checks that need
    them are omitted and listed.

    Args:
        dance: a file, or the result of `load_dance`.
        options: of the checks; by default those stored with the dance.
        rate: [1/s] of the samples; by default `VERIFICATION_RATE`, or the samples of a recorded motion.
        progress: receives the progress; may cancel.

    Raises:
        InputError: not a dance, or a damaged file.
        InvalidValue: an inconsistent timeline, a rig without contact patches, a rate that is not positive, or a rate
            for a motion that has its own samples.

    Example:
        >>> verdict = solver.check("dance/dance.npz", rate=50.0)
        >>> print(verdict.message)
        Feasible: every check holds
    """
    progress(0.0, "sampling the dance")
    found = LoadedDance.from_source(dance).with_checks(options)
    motion = found.sample(rate, VERIFICATION_RATE)
    progress(0.2, f"checking {len(motion)} frames")
    if isinstance(found.source, MotionRecord) and found.schedule is None:
        return _check_recording(found, found.source, progress)
    checks = check_motion(found.rig, motion, found.schedule, found.checks)
    return CheckResult(found, checks, describe_unsupported(checks.schedule, checks))


def _check_recording(dance: LoadedDance, record: MotionRecord, progress: Progress) -> CheckResult:
    """Check a recording with the contacts that are found in it."""
    rig, options = dance.rig, dance.checks
    try:
        recorded = find_contacts(record)
    except InvalidValue as error:
        checks = check_motion(rig, record.motion, None, options)
        return CheckResult(
            dance, checks, describe_unsupported(checks.schedule, checks), (f"no contacts were found: {error}",)
        )
    record = recorded.record
    checks = check_motion(rig, record.motion, record.schedule, options)
    progress(0.6, "attributing failures to tracking error or to the performer")
    whose = attribute_failures(rig, record.motion, checks, options, recorded.measured_wrench)
    return CheckResult(replace(dance, schedule=record.schedule, source=record), checks, (), recorded.notes, whose)


def summarise_checks(checks: Checks, unsupported_spans: tuple[str, ...] = ()) -> str:
    """The result of the checks in one sentence.

    Args:
        checks: of the dance.
        unsupported_spans: time spans without support, which explain what else fails there.
    """
    if checks.feasible:
        made = join_names(plural_names(margin.check for margin in checks.margins))
        return f"As far as it can be checked: {made} hold" if checks.skipped else "Feasible: every check holds"
    worst = checks.worst_failures
    which = join_names(plural_names(failure.check for failure in worst))
    share = f"Not feasible, {100.0 * float(checks.failed.mean()):.3g} % of the frames fail in {which}"
    return f"{share}: {unsupported_spans[0] if unsupported_spans else worst[0]}"


def describe_omitted_checks(checks: Checks) -> str:
    """The checks that were omitted, and why."""
    names = ", ".join(plural_names(checks.skipped))  # all of them, so that no omission is silent
    return f"Not checked, because no contacts are known: {names}"
