"""Fill the free keys of an authored dance with exciting postures, or by interpolation between the other keys.

Exciting postures are drawn and chosen as bonnet2016's optimal ones, (14). Each is assigned to the free key nearest to
it. Only the gap changes, from the last key before the free ones to the first key after them; position, speed and
acceleration are continuous at both. The filled gap is repaired. Where the time is too short for an exciting posture, a
posture part of the way towards it is used.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...base.progress import PartialProgress, Progress, silent
from ...feasibility import CheckOptions, Checks
from ...feasibility.check_results import Failure
from ...options.authoring import CompleteOptions, RepairOptions
from ...scene.summary import Status
from ...values.motion import Motion
from .authored_dance import AuthoredDance
from .exciting_postures import PostureBlend, find_exciting_postures
from .gap_filling import FilledGap, Gap, GapFiller, find_gaps
from .repair import REPAIRED, STATUSES, UNCHANGED, KeyConflict, MoveSizes, RepairedDance


@dataclass(frozen=True, slots=True)
class CompletedDance:
    """A dance whose free keys are filled.

    Attributes:
        dance: the dance with the filled keys and its samples; samples outside the gaps are unchanged.
        motion: at the requested rate.
        gaps: each filled gap.
        filled_times: times [s] of the filled keys.
        interpolated_times: times [s] of those filled by interpolation.
        after: checks of the whole dance at the verification rate.
        failures_elsewhere: the first failures of checks outside the gaps, where nothing was changed.
        notes: what could not be filled as requested, and why; what fails in the keys at the ends of a gap.
    """

    dance: AuthoredDance
    motion: Motion
    gaps: tuple[FilledGap, ...]
    filled_times: tuple[float, ...]
    interpolated_times: tuple[float, ...]
    after: Checks
    failures_elsewhere: tuple[Failure, ...]
    notes: tuple[str, ...] = ()

    @property
    def feasible(self) -> bool:
        """Whether every check holds in the gaps, except what the keys at their ends fail by themselves."""
        return all(found.feasible for found in self.gaps)

    @property
    def worst_repair(self) -> RepairedDance:
        """Repair of the gap where most fails."""
        return max((found.repair for found in self.gaps), key=lambda repair: repair.violation)

    @property
    def status(self) -> Status:
        """The worst status of all gaps, one of `STATUSES`."""
        if self.feasible:
            return UNCHANGED if all(found.repair.status == UNCHANGED for found in self.gaps) else REPAIRED
        return max((found.repair.status for found in self.gaps if not found.feasible), key=STATUSES.index)

    @property
    def iterations(self) -> int:
        """Number of quadratic programs solved."""
        return sum(found.repair.iterations for found in self.gaps)

    @property
    def limit_reached(self) -> bool:
        """Whether the search of some gap ended at its limit of programs or time."""
        return any(found.repair.limit_reached and not found.feasible for found in self.gaps)

    @property
    def conflicts(self) -> tuple[KeyConflict, ...]:
        """Keys at the ends of gaps that could not be filled, which cannot be kept; with their own roles."""
        return tuple(
            replace(conflict, key=found.gap.before if conflict.key.time == found.gap.before.time else found.gap.after)
            for found in self.gaps
            if not found.feasible
            for conflict in found.repair.conflicts
        )

    @property
    def moved(self) -> MoveSizes:
        """How far the repairs moved the filled dance, over all gaps."""
        moves = [found.repair.moved for found in self.gaps]
        seconds = np.array([found.gap.after.time - found.gap.before.time for found in self.gaps])
        squares = np.array([moved.rms**2 for moved in moves])
        largest = np.max([moved.largest for moved in moves], axis=0)
        return MoveSizes(moves[0].names, largest, np.sqrt(seconds @ squares / seconds.sum()))


def complete(
    keyed: AuthoredDance,
    checks: CheckOptions | None = None,
    options: CompleteOptions | None = None,
    repair_options: RepairOptions | None = None,
    *,
    rate: float = 100.0,
    progress: Progress = silent,
) -> CompletedDance:
    """Fill the free keys and repair each gap, from the last key before it to the first key after it.

    Args:
        keyed: with fixed or preferred keys at its first and last time.
        checks: that must hold; by default those stored with the dance.
        options: how to fill.
        repair_options: of the repair; the time limit applies to all gaps together, the limit of programs to each.
        rate: [1/s] of the motion returned, and of the samples in the gaps.
        progress: receives the progress.

    Raises:
        InvalidValue: no free key, or a free key at an end.
    """
    options = CompleteOptions() if options is None else options
    gaps = find_gaps(keyed)
    filler = GapFiller(keyed.with_checks(checks), repair_options or RepairOptions(), rate)
    calm = {key.time: q for gap in gaps for key, q in zip(gap.free, filler.interpolate(gap))}
    reaches: dict[float, PostureBlend] = {}
    notes: list[str] = []
    if not options.interpolate:
        reaches, notes = find_exciting_postures(
            keyed, calm, filler.checks, options, PartialProgress(progress, 0.0, 0.5)
        )
    done, calmly = [], []
    for place, gap in enumerate(gaps):
        part = PartialProgress(progress, 0.5 + 0.5 * place / len(gaps), 0.5 + 0.5 * (place + 1) / len(gaps))
        own = {time: reach for time, reach in reaches.items() if gap.before.time < time < gap.after.time}
        found = filler.fill(gap, calm, own, options.share, len(gaps) - place, part)
        done.append(found)
        calmly += [key.time for key in gap.free if found.fraction == 0.0 or key.time not in own]
        if own and found.fraction < options.share:
            notes.append(
                f"{_describe_gap(gap)}: {100.0 * found.fraction:.0f} % of the way to an exciting posture, more is not "
                "feasible in the time"
            )
        notes += [
            f"beside {_describe_gap(gap)}, where nothing was changed: {failure}" for failure in found.failures_at_ends
        ]
    result = filler.splice(done)
    after = filler.check(result)
    apart = np.all([(after.times < gap.before.time) | (after.times > gap.after.time) for gap in gaps], axis=0)
    filled = tuple(key.time for gap in gaps for key in gap.free)
    return CompletedDance(
        result, result.motion(rate), tuple(done), filled, tuple(calmly), after, after.find_first_failures(apart),
        tuple(notes),
    )  # fmt: skip


def _describe_gap(gap: Gap) -> str:
    return f"{gap.free[0]}" if len(gap.free) == 1 else f"keys from {gap.free[0].time:g} to {gap.free[-1].time:g} s"
