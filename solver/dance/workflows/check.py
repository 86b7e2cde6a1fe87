"""Is a dance feasible: the verdict on all of its samples, in a sentence, a table and for a scene."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ...errors import InvalidValue
from ...feasibility import CheckOptions, Checks, check_motion
from ...feasibility.attribution import Attribution, attribute_failures
from ...feasibility.messages import describe_unsupported, plural_names
from ...formats.output_folder import write_folder
from ...formats.text_table import format_table
from ...progress import Progress, silent
from ...scene.dance_folder import SUMMARY_FILE
from ...scene.labels import display_name, join_names
from ...scene.motion_record import MotionRecord
from ...scene.summary import SUMMARY, SceneSummary
from ..authoring.authored_dance import AuthoredDance
from .loading import LoadedDance
from .recorded_contacts import find_contacts
from .summaries import EXCITATION_RATE, excitation_by_link, failed_time_ranges, scene_failures, scene_keys, scene_strips

VERIFICATION_RATE = 500.0
"""[1/s] at which a dance is judged."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What the checks say of a dance.

    Attributes:
        dance: that was checked.
        checks: every margin in every frame.
        unsupported_spans: spans in which nothing carries the body, a sentence each: they explain what else fails there.
        assumptions: what was found or assumed of a recording, a sentence each.
        attributions: of a recording, whose doing each failing check is.
    """

    dance: LoadedDance
    checks: Checks
    unsupported_spans: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    attributions: tuple[Attribution, ...] = ()

    @property
    def feasible(self) -> bool:
        """Does every check hold in every frame."""
        return self.checks.feasible

    @property
    def message(self) -> str:
        """The verdict in one sentence."""
        return summarise_checks(self.checks, self.unsupported_spans)

    @property
    def report(self) -> str:
        """A table of every check, and the sentence."""
        return "\n".join([format_check_table(self.checks), self.message, *self._remarks])

    @property
    def _remarks(self) -> tuple[str, ...]:
        """What the checks alone do not say."""
        left_out = (describe_omitted_checks(self.checks),) if self.checks.skipped else ()
        return (
            *left_out,
            *(f"Assumed: {told}" for told in self.assumptions),
            *(f"Whose doing: {doing}" for doing in self.attributions),
        )

    def summary(self) -> SceneSummary:
        """The same for a scene, with what the dance excites."""
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
        """Write ``summary.json`` into a folder, which appears complete or not at all."""
        summary = self.summary()
        with write_folder(Path(path)) as folder:
            SUMMARY.write(folder / SUMMARY_FILE, summary)


def check(
    dance: LoadedDance | AuthoredDance | MotionRecord | str | Path,
    options: CheckOptions | None = None,
    *,
    rate: float | None = None,
    progress: Progress = silent,
) -> CheckResult:
    """Judge a dance by every check, in every sample.

    A recording does not tell which foot stands when: that is found from its motion and its forces, and the verdict says
    of every check that fails whose doing it is, the tracking's or the person's. Where nothing shows what stands, as of
    a rig without soles, the checks that need it are left out, and named.

    Args:
        dance: a file, or what `load_dance` read of it.
        options: of the checks; by default those that the dance carries.
        rate: [1/s] of the samples; by default `VERIFICATION_RATE`, and a motion's own samples.
        progress: told about the progress; may cancel.

    Raises:
        InputError: no dance, or damaged.
        InvalidValue: a timeline that contradicts itself, a rig without contact patches, a rate that is not positive,
            or a rate for a motion in samples of its own.

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
    """A recording, with the contacts that it shows."""
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
    progress(0.6, "telling the tracking's failures from the person's")
    whose = attribute_failures(rig, record.motion, checks, options, recorded.measured_wrench)
    found = replace(dance, schedule=record.schedule, source=record)
    return CheckResult(found, checks, (), recorded.notes, whose)


def summarise_checks(checks: Checks, unsupported_spans: tuple[str, ...] = ()) -> str:
    """What the checks say, in one sentence.

    Args:
        checks: of the dance.
        unsupported_spans: spans in which nothing carries the body, which explain what else fails there.
    """
    if checks.feasible:
        made = join_names(plural_names(margin.check for margin in checks.margins))
        return f"As far as it can be checked: {made} hold" if checks.skipped else "Feasible: every check holds"
    worst = checks.worst_failures
    which = join_names(plural_names(failure.check for failure in worst))
    share = f"Not feasible, {100.0 * float(checks.failed.mean()):.3g} % of the frames fail in {which}"
    return f"{share}: {unsupported_spans[0] if unsupported_spans else worst[0]}"


def describe_omitted_checks(checks: Checks) -> str:
    """The checks that were not made, and why."""
    names = ", ".join(plural_names(checks.skipped))  # all of them: nothing is left out silently
    return f"Not checked, because nothing tells which foot stands when: {names}"


def format_check_table(checks: Checks) -> str:
    """Every check in a row: where it first fails, and its worst margin."""
    first = {failure.check.name: failure for failure in checks.first_failures}
    rows = []
    for margin in checks.margins:
        frame = int(np.argmin(margin.smallest))
        worst = margin.values[frame].min()
        failure = first.get(margin.name)
        rows.append((
            margin.name,
            "fails" if failure else "holds",
            f"{failure.time:.3f}" if failure else "",
            display_name(failure.item) if failure else "",
            f"{checks.times[frame]:.3f}",
            display_name(margin.items[int(margin.worst_items[frame])]),
            f"{worst:+.4g} {margin.unit}",
        ))  # fmt: skip
    head = ("check", "", "first [s]", "culprit", "worst [s]", "culprit", "margin")
    return format_table(head, rows)
