"""Fill the free postures of a keyed dance: the calm way between the others, or postures that excite.

Exciting postures are drawn and chosen as bonnet2016's optimal ones, (14); each then takes the place that lies nearest
to it. Only the neighbourhood of what is free changes, from the kept key before to the kept key after, where the dance
goes on as it was in place, speed and acceleration. What comes out there is repaired; where an exciting posture is too
far for the time there is, a posture part of the way is taken.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from ...contacts.schedule import Phase, Schedule
from ...coordinates import joint_coordinates
from ...errors import InvalidValue
from ...feasibility import CheckOptions, Checks, check_motion
from ...feasibility.margins import Failure
from ...motion import Motion
from ...progress import Part, Progress, silent
from ...trajectory.curve import FlatCurve, sample_times
from .exciting_postures import Drawing, Reach, exciting_reaches
from .keys import Keyed, Keyframe, Samples
from .repair import FINER, REPAIRED, STATUSES, UNCHANGED, Excerpt, KeyTrouble, Moved, Repair, RepairOptions, repair

SHARES = (1.0, 0.5, 0.25, 0.0)
"""Of the way to an exciting posture, tried until one is feasible; the last is the calm way."""
FASTEST = 1.875
"""Speed in the middle of the smoothest way between two rests, over that of a steady one."""
SLIVER = 0.025
"""[s] A footing that lasts no longer at an end of a gap is left out: scenes round keys and contacts to their frames."""
APART = 1e-6
"""[s] Samples of a filled gap keep this far from its ends, which are samples already."""


@dataclass(frozen=True, slots=True)
class CompleteOptions:
    """How to fill free keys.

    Attributes:
        exciting: choose postures that excite; else the calm way between the other keys.
        pool: feasible postures drawn for each footing.
        starts: of the choice among them.
        share: of the way from the calm posture to the exciting one, in (0, 1].
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


@dataclass(frozen=True, slots=True)
class Gap:
    """Free keys between two that are not.

    Attributes:
        before, after: the keys kept.
        free: between them, in order; calm until they are filled.
    """

    before: Keyframe
    after: Keyframe
    free: tuple[Keyframe, ...]


@dataclass(frozen=True, slots=True)
class Filled:
    """What became of a gap.

    Attributes:
        gap: as it was.
        repair: of the filled gap.
        share: of the way to exciting postures that was taken.
        beside: what the dance as given fails in the two kept keys, which is nothing that filling could mend.
    """

    gap: Gap
    repair: Repair
    share: float
    beside: tuple[Failure, ...]

    @property
    def holds(self) -> bool:
        """Every check holds, or fails by no more than it does in a kept key beside the gap."""
        known: dict[str, float] = {}
        for failure in self.beside:
            known[failure.check.name] = min(failure.margin, known.get(failure.check.name, 0.0))
        margins = self.repair.after.margins
        return all(float(m.smallest.min()) >= known.get(m.name, 0.0) - m.tolerance for m in margins)


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
    def status(self) -> str:
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
        """The search of some gap ended because its time was over."""
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
        repairing: options of the repair; its patience is for all gaps together.
        rate: [1/s] of the motion returned, and of the samples in the gaps.
        progress: told how far it is.

    Raises:
        InvalidValue: no free key, or a free key at an end.
    """
    options = CompleteOptions() if options is None else options
    filler = _Filler(keyed.held_to(checks), repairing or RepairOptions(), rate)
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


def gaps_of(keyed: Keyed) -> list[Gap]:
    """Runs of free keys with the kept ones around them.

    Raises:
        InvalidValue: no free key, or a free key at an end.
    """
    kept = [number for number, key in enumerate(keyed.keys) if key.role != "free"]
    if len(kept) == len(keyed.keys):
        raise InvalidValue(f"dance {keyed.name!r} has no free key to fill")
    if len(kept) < 2 or kept[0] != 0 or kept[-1] != len(keyed.keys) - 1:
        raise InvalidValue("the first and the last key must be fixed or preferred: what is free lies between them")
    return [Gap(keyed.keys[a], keyed.keys[b], keyed.keys[a + 1 : b]) for a, b in pairwise(kept) if b > a + 1]


class _Filler:
    """Fills the gaps of one dance."""

    def __init__(self, keyed: Keyed, repairing: RepairOptions, rate: float) -> None:
        self.keyed, self.checks, self._repairing, self._rate = keyed, keyed.checks, repairing, rate
        self._until = time.monotonic() + repairing.patience
        self._given = keyed.curve()

    def calm(self, gap: Gap) -> np.ndarray:
        """Configurations (K, nq) of the free keys on the calm way."""
        return self._curve(gap, {}).motion(self.keyed.rig, np.array([key.time for key in gap.free])).q

    def fill(
        self,
        gap: Gap,
        calm: Mapping[float, np.ndarray],
        reaches: Mapping[float, Reach],
        most: float,
        left: int,
        progress: Progress,
    ) -> Filled:
        """The gap repaired with the largest share of the exciting postures that is feasible.

        Args:
            gap: to be filled.
            calm: configuration of each free key on the calm way, by time.
            reaches: of those that may excite, by time.
            most: the share wished for.
            left: gaps that share the time that is left.
            progress: told how far the repair is.
        """
        shares = [most * share for share in SHARES] if reaches else [0.0]
        until = time.monotonic() + (self._until - time.monotonic()) / left
        beside = self._beside(gap)
        tried: list[Filled] = []
        for number, share in enumerate(shares):
            q = {key.time: reaches[key.time].at(share) if share and key.time in reaches else calm[key.time]
                 for key in gap.free}  # fmt: skip
            if share and self._too_fast(gap, q):
                continue
            patience = (until - time.monotonic()) / (len(shares) - number)
            found = repair(self._excerpt(gap, q), self.checks, replace(self._repairing, patience=patience),
                           rate=self._rate, progress=progress)  # fmt: skip
            tried.append(Filled(gap, found, share, beside))
            if tried[-1].holds:
                return tried[-1]
        return min(tried, key=lambda filled: filled.repair.violation)

    def spliced(self, filled: Sequence[Filled]) -> Keyed:
        """The dance with the repaired gaps; its other samples are the given ones."""
        keyed = self.keyed
        if keyed.samples is None:
            times = sample_times(keyed.start, keyed.stop, self._rate)
            samples = Samples(times, self._given.motion(keyed.rig, times).q)
        else:
            samples = keyed.samples
        times, q = np.array(samples.times), np.array(samples.q)
        keys = {key.time: key for key in keyed.keys}
        for gap, found in ((each.gap, each.repair) for each in filled):
            outside = (times <= gap.before.time + APART) | (times >= gap.after.time - APART)
            at = found.motion.times
            inside = (at > gap.before.time + APART) & (at < gap.after.time - APART)
            times = np.concatenate([times[outside], at[inside]])
            order = np.argsort(times, kind="stable")
            times, q = times[order], np.concatenate([q[outside], found.motion.q[inside]])[order]
            keys |= {key.time: key for key in found.keyed.keys[1:-1]}
        return replace(keyed, keys=tuple(keys[time] for time in sorted(keys)), samples=Samples(times, q))

    def checked(self, keyed: Keyed) -> Checks:
        """Checks of a whole dance at the fine sampling."""
        fine = sample_times(keyed.start, keyed.stop, FINER * self._repairing.rate)
        return check_motion(keyed.rig, keyed.curve().motion(keyed.rig, fine), keyed.schedule, self.checks)

    def _beside(self, gap: Gap) -> tuple[Failure, ...]:
        times = np.array([gap.before.time, gap.after.time])
        checks = check_motion(
            self.keyed.rig, self._given.motion(self.keyed.rig, times), self.keyed.schedule, self.checks
        )
        return checks.first_failures

    def _curve(self, gap: Gap, q: Mapping[float, np.ndarray]) -> FlatCurve:
        """Through postures (nq,) at times within a gap; the dance goes on without a jump at its ends."""
        ends = self._given.motion(self.keyed.rig, np.array([gap.before.time, gap.after.time]))
        times = [gap.before.time, *q, gap.after.time]
        postures = [ends.q[0], *q.values(), ends.q[1]]
        return FlatCurve.through_keys(
            self.keyed.rig, np.array(times), postures, self.keyed.interpolation, (ends.v, ends.a)
        )

    def _excerpt(self, gap: Gap, q: Mapping[float, np.ndarray]) -> Excerpt:
        schedule, start, stop = self.keyed.schedule, gap.before.time, gap.after.time
        spans = [(phase.anchors, max(phase.start, start), min(phase.stop, stop)) for phase in schedule.phases]
        long = [(anchors, first, last) for anchors, first, last in spans if last - first > SLIVER]
        edges = [start, *(first for _, first, _ in long[1:]), stop]
        phases = [Phase(first, last, anchors) for (anchors, _, _), (first, last) in zip(long, pairwise(edges))]
        keys = [replace(gap.before, role="fixed"), *(replace(key, q=q[key.time]) for key in gap.free),
                replace(gap.after, role="fixed")]  # fmt: skip
        part = replace(self.keyed, keys=tuple(keys), schedule=Schedule(tuple(phases), schedule.ground), samples=None)
        return Excerpt(part, self._curve(gap, q))

    def _too_fast(self, gap: Gap, q: Mapping[float, np.ndarray]) -> bool:
        """Some joint cannot come from one posture to the next in time, at rest in each."""
        times = np.array([gap.before.time, *q, gap.after.time])
        angles = joint_coordinates(self.keyed.rig, np.array([gap.before.q, *q.values(), gap.after.q]))
        speeds = FASTEST * np.abs(np.diff(angles, axis=0)) / np.diff(times)[:, None]
        return bool((speeds > self.keyed.rig.limits.speed).any())


def _named(gap: Gap) -> str:
    return f"{gap.free[0]}" if len(gap.free) == 1 else f"keys from {gap.free[0].time:g} to {gap.free[-1].time:g} s"


def _said(share: float) -> str:
    return f"{100.0 * share:.0f} % of the way to an exciting posture" if share else "filled the calm way"
