"""Fill the free postures of a keyed dance: the calm way between the others, or postures that excite.

Exciting postures are drawn and chosen as bonnet2016's optimal ones, (14); each then takes the place that lies nearest
to it. Only the neighbourhood of what is free changes, from the kept key before to the kept key after, where the dance
goes on as it was in place, speed and acceleration. What comes out there is repaired; where an exciting posture is too
far for the time there is, a posture part of the way is taken.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...errors import InvalidValue
from ...feasibility import CheckOptions, Checks
from ...feasibility.margins import Failure
from ...motion import Motion
from ...progress import Part, Progress, silent
from ...scene.summary import Status
from .exciting_postures import Drawing, Reach, exciting_reaches
from .filling import Filled, Filler, Gap, gaps_of
from .keys import Keyed
from .repair import REPAIRED, STATUSES, UNCHANGED, KeyTrouble, Moved, Repair, RepairOptions


@dataclass(frozen=True, slots=True)
class CompleteOptions:
    """How to fill free keys.

    Attributes:
        exciting: choose postures that excite; else the calm way between the other keys.
        pool: feasible postures drawn for each footing.
        starts: of the choice among them.
        share: share in (0, 1] of the way from the calm posture to the exciting one.
        seed: of the draws: the same seed fills the same way.
    """

    exciting: bool = True
    pool: int = 60
    starts: int = 2
    share: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0.0 < self.share <= 1.0:
            raise InvalidValue(f"the share of the way to an exciting posture lies in (0, 1], not {self.share:g}")
        if self.pool < 1 or self.starts < 1 or self.seed < 0:
            raise InvalidValue("postures and starts are counted from 1, seeds from 0")


@dataclass(frozen=True, slots=True)
class Completed:
    """A dance whose free keys are filled.

    Attributes:
        keyed: the dance with them, and its samples; those outside the gaps are the given ones.
        motion: at the rate asked for.
        gaps: one by one.
        filled: times [s] of the keys filled.
        calm: times [s] of those filled the calm way.
        after: checks of the whole dance at the fine sampling.
        elsewhere: the first failures of checks outside the gaps, where nothing was touched.
        notes: what could not be filled as wished, and why; what fails in kept keys beside a gap.
    """

    keyed: Keyed
    motion: Motion
    gaps: tuple[Filled, ...]
    filled: tuple[float, ...]
    calm: tuple[float, ...]
    after: Checks
    elsewhere: tuple[Failure, ...]
    notes: tuple[str, ...] = ()

    @property
    def feasible(self) -> bool:
        """Every check holds in the gaps, but for what kept keys beside them fail by themselves."""
        return all(found.holds for found in self.gaps)

    @property
    def worst(self) -> Repair:
        """Of the gap where most fails."""
        return max((found.repair for found in self.gaps), key=lambda repair: repair.violation)

    @property
    def status(self) -> Status:
        """The least of the gaps', one of `STATUSES`."""
        if self.feasible:
            return UNCHANGED if all(found.repair.status == UNCHANGED for found in self.gaps) else REPAIRED
        return max((found.repair.status for found in self.gaps if not found.holds), key=STATUSES.index)

    @property
    def iterations(self) -> int:
        """Quadratic programmes solved."""
        return sum(found.repair.iterations for found in self.gaps)

    @property
    def hurried(self) -> bool:
        """The search of some gap ended at its limit of effort."""
        return any(found.repair.hurried and not found.holds for found in self.gaps)

    @property
    def troubles(self) -> tuple[KeyTrouble, ...]:
        """Keys that stand in the way in gaps that could not be filled."""
        return tuple(trouble for found in self.gaps if not found.holds for trouble in found.repair.troubles)

    @property
    def moved(self) -> Moved:
        """From the filled dance, over all gaps."""
        moves = [found.repair.moved for found in self.gaps]
        seconds = np.array([found.gap.after.time - found.gap.before.time for found in self.gaps])
        squares = np.array([moved.rms**2 for moved in moves])
        largest = np.max([moved.largest for moved in moves], axis=0)
        return Moved(moves[0].names, largest, np.sqrt(seconds @ squares / seconds.sum()))


def complete(
    keyed: Keyed,
    checks: CheckOptions | None = None,
    options: CompleteOptions | None = None,
    repairing: RepairOptions | None = None,
    *,
    rate: float = 100.0,
    progress: Progress = silent,
) -> Completed:
    """Fill the free keys and repair what results, from the kept key before each to the kept key after it.

    Args:
        keyed: with fixed or preferred keys at its first and last time.
        checks: what must hold; by default what the dance carries.
        options: how to fill.
        repairing: options of the repair; its patience is for all gaps together, its programmes for each.
        rate: [1/s] of the motion returned, and of the samples in the gaps.
        progress: told how far it is.

    Raises:
        InvalidValue: no free key, or a free key at an end.
    """
    options = CompleteOptions() if options is None else options
    filler = Filler(keyed.held_to(checks), repairing or RepairOptions(), rate)
    gaps = gaps_of(keyed)
    calm = {key.time: q for gap in gaps for key, q in zip(gap.free, filler.calm(gap))}
    reaches: dict[float, Reach] = {}
    notes: list[str] = []
    if options.exciting:
        drawing = Drawing(options.pool, options.starts, options.seed)
        reaches, notes = exciting_reaches(keyed, calm, filler.checks, drawing, Part(progress, 0.0, 0.5))
    done, calmly = [], []
    for place, gap in enumerate(gaps):
        part = Part(progress, 0.5 + 0.5 * place / len(gaps), 0.5 + 0.5 * (place + 1) / len(gaps))
        own = {time: reach for time, reach in reaches.items() if gap.before.time < time < gap.after.time}
        found = filler.fill(gap, calm, own, options.share, len(gaps) - place, part)
        done.append(found)
        calmly += [key.time for key in gap.free if found.share == 0.0 or key.time not in own]
        if own and found.share < options.share:
            notes.append(f"{_named(gap)}: {_said(found.share)}, farther is not feasible in the time there")
        notes += [f"beside {_named(gap)}, where nothing was touched: {failure}" for failure in found.beside]
    result = filler.spliced(done)
    after = filler.checked(result)
    apart = np.all([(after.times < gap.before.time) | (after.times > gap.after.time) for gap in gaps], axis=0)
    filled = tuple(key.time for gap in gaps for key in gap.free)
    return Completed(
        result, result.motion(rate), tuple(done), filled, tuple(calmly), after, after.first_failures_in(apart),
        tuple(notes),
    )  # fmt: skip


def _named(gap: Gap) -> str:
    return f"{gap.free[0]}" if len(gap.free) == 1 else f"keys from {gap.free[0].time:g} to {gap.free[-1].time:g} s"


def _said(share: float) -> str:
    return f"{100.0 * share:.0f} % of the way to an exciting posture" if share else "filled the calm way"
