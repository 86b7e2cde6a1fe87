"""Every limit of a trajectory as one smooth number per sample, with derivatives by positions and their two rates.

All limits act instant by instant, so that the derivative of a limit by any spline's control values is its derivative
by (y, y', y'') at that instant times the spline's basis there. The former are differences of whole batches of frames.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise, product

import numpy as np

from ..check_options import CheckOptions
from ..coordinates import Curves, to_manifold
from ..dynamics.mechanics import State
from ..feasibility import table
from ..feasibility.capsules import CapsulePairs
from ..feasibility.check import FrameChecker
from ..feasibility.definition import Check
from ..feasibility.margins import Checks, Margin
from ..feasibility.situation import PlantedPhase, Situation
from ..rig import Rig
from .curve import sample_times
from .differences import STEPS, shifted
from .planted_feet import PlantedTrajectory, Rates

BATCH = 4096
"""Frames evaluated at once."""
BENT = 0.5
"""Regularity a solved leg should keep: half the bend of `Leg.bent`."""
LEG = "leg"
"""Name of the limit by which legs stay regular, in no check; it has no unit."""
DERIVATIVES = {"posture": 0, "speed": 1, "force": 2}
"""Highest derivative of the coordinates that a check depends on."""
FADE = 0.04
"""[s] from take-off, and to landing, within which slack fades."""
BEFORE = 1e-6
"""[s] A border of two phases is sampled so much before it as well, where the earlier one's limits hold."""


@dataclass(frozen=True, slots=True)
class Values:
    """Limits at N samples.

    Attributes:
        names: (G,) of the limits.
        values: (N, G) what is left, in units of the checks' `Programme.scale`; infinite where a limit does not apply.
        solved: coordinates with the legs solved.
        regular: (N, legs) see `PlantedTrajectory.with_legs`.
    """

    names: np.ndarray
    values: np.ndarray
    solved: Rates
    regular: np.ndarray

    @property
    def of_legs(self) -> np.ndarray:
        """(G,) True for limits that the solved legs see to."""
        given = [check.name for check in table.CHECKS if check.programme is not None and check.programme.give]
        return np.isin(self.names, [LEG, *given])

    @property
    def violation(self) -> float:
        """Sum of what is beyond the limits."""
        return float(np.maximum(-self.values, 0.0).sum())


class TrajectoryLimits:
    """Evaluates the limits of a trajectory.

    Args:
        trajectory: whose.
        options: of the checks.
        slack: multiple of the checks' slack to keep beyond each limit.
    """

    def __init__(self, trajectory: PlantedTrajectory, options: CheckOptions, slack: float) -> None:
        rig = trajectory.rig
        self.trajectory, self.options, self.slack = trajectory, options, slack
        self._checker = FrameChecker(rig, trajectory.schedule, options)
        self._phases = [PlantedPhase.of(rig, phase, options) for phase in trajectory.schedule.phases]
        self._checks = [check for check in table.CHECKS if check.programme is not None]
        both = zip(trajectory.schedule.phases, trajectory.schedule.phases[1:])
        self._flights = np.array([one.stop for one, other in both if one.airborne != other.airborne])
        self._widths = {check.name: self._width(check) for check in self._checks}
        self._depths = {check.name: DERIVATIVES[check.depends] for check in self._checks}

    def samples(
        self, start: float, stop: float, rate: float, also: np.ndarray, flown: np.ndarray | None = None
    ) -> np.ndarray:
        """Times (N,) from start to stop, others also given and those just before the borders of phases among them.

        Instants ``flown``, if given, stand for the even ones in the air: momentum keeps the sum of what a flight lacks.

        Where a flight begins or ends only its own limits are asked. They make every force zero, and there the standing
        phase's cones have their apex, where no derivative holds.
        """
        even = sample_times(start, stop, max(rate, 3.0 / (stop - start)))
        phases = self.trajectory.schedule.phases
        if flown is not None:
            even = even[~np.array([phases[k].airborne for k in self.trajectory.schedule.index_at(even)])]
            also = np.concatenate([also, flown])
        both = [(a, b) for a, b in pairwise(phases) if start < a.stop < stop]
        borders = np.array([a.stop for a, _ in both])
        also = also[(also > start) & (also < stop)]
        found = np.unique(np.concatenate([even, borders, borders - BEFORE, also]))
        apex = [a.stop - BEFORE * b.airborne for a, b in both if a.airborne != b.airborne]
        found = found[(np.abs(found[:, None] - np.array(apex)) > 0.1 * BEFORE).all(axis=1)]
        return found[np.diff(found, prepend=-np.inf) > 1e-7]

    def check(self, times: np.ndarray, rates: Rates) -> Checks:
        """The checks of a trajectory with these coordinates."""
        return self._checker.check_frames(self.trajectory.motion(times, rates))

    def values(self, times: np.ndarray, rates: Rates, near: Checks | None = None) -> Values:
        """Limits at samples; collisions only of pairs that a check of the same samples found near."""
        evaluated = _Evaluation(self, times, near)
        return evaluated.values(rates)

    def derivatives(
        self, times: np.ndarray, rates: Rates, near: Checks | None, wanted: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Rows of the derivative for the wanted (N, G) limits: sample (R,), limit (R,) and slopes (R, 3, moved).

        The three are by the coordinates, speeds and accelerations in the trajectory's ``moved`` columns.
        """
        frames = np.flatnonzero(wanted.any(axis=1))
        rows, limits = np.nonzero(wanted)
        slopes = np.zeros((len(rows), 3, len(self.trajectory.moved)))
        place = np.zeros(len(times), int)
        place[frames] = np.arange(len(frames))
        at, part = times[frames], tuple(r[frames] for r in rates)
        evaluation = _Evaluation(self, at, near, frames)
        start = evaluation.values((part[0], part[1], part[2]))
        depth = np.array([self._depths.get(name, 0) for name in start.names])[limits]
        deepest = np.zeros(len(frames), int)
        np.maximum.at(deepest, place[rows], depth)
        # where postures alone matter, neither forces are computed nor rates shifted
        parts = [(0, 0, deepest == 0), (0, 2, deepest > 0), (1, 2, deepest > 0), (2, 2, deepest > 1)]
        for (order, highest, mask), steering in product(parts, (True, False)):
            chosen, own = np.flatnonzero(mask), mask[place[rows]]
            if not own.any():
                continue
            into = (np.cumsum(mask) - 1)[place[rows[own]]]
            moved = np.flatnonzero(self.trajectory.steering == steering)
            per_batch = max(1, BATCH // len(chosen))
            for first in range(0, len(moved), per_batch):
                some = moved[first : first + per_batch]
                places = [(order, int(self.trajectory.moved[k])) for k in some]
                y, dy, ddy = shifted(np.stack(start.solved)[:, chosen], places).reshape(3, -1, start.solved[0].shape[1])
                known = (chosen, order, highest)
                found = evaluation.repeated(len(some), (y, dy, ddy), start, known, steering=bool(steering))
                with np.errstate(invalid="ignore"):
                    changes = found[:, into, limits[own]] - start.values[place[rows[own]], limits[own]]
                slopes[np.flatnonzero(own)[:, None], order, some] = changes.T / STEPS[order]
        return rows, limits, np.where(np.isfinite(slopes), slopes, 0.0)

    def parts(
        self, times: np.ndarray, curves: Curves, near: _Near, known: _Known
    ) -> tuple[list[tuple[Check, np.ndarray]], _Known]:
        """Values (N, k) of frames by every check of the table that programmes take, in physical units.

        Those that only depend on what is known not to have changed are left out (zero columns). Second: what is known
        now, for frames that stand alike.
        """
        pieces: list[tuple[np.ndarray, list[np.ndarray]]] = []
        states = []
        phases = self.trajectory.schedule.index_at(times)
        for number in np.unique(phases):
            cut = np.flatnonzero(phases == number)
            own = Curves(curves.q[cut], curves.v[cut], curves.a[cut])
            mechanics = self._checker.body.mechanics
            if known.state is not None:
                state = mechanics.with_rates(known.state.chosen(known.frames[cut]), own.q, own.v, own.a)
            elif known.highest:
                state = mechanics.state(own.q, own.v, own.a)
            else:
                state = mechanics.poses(own.q)
            planted, ground = self._phases[number], self.trajectory.schedule.ground
            now = Situation.of_state(self._checker.body, planted, ground, own, state, forces=known.highest > 0)
            none = np.zeros((len(cut), 0))
            pieces.append((cut, [near.margins(c, now) if known.changes(c) else none for c in self._checks]))
            states.append(state)
        parts = []
        for place, check in enumerate(self._checks):
            widest = max([known.changes(check) * self._widths[check.name], *(f[place].shape[1] for _, f in pieces)])
            values = np.full((len(times), widest), np.inf)
            for cut, found in pieces:
                values[cut, : found[place].shape[1]] = found[place]
            parts.append((check, values))
        order = np.argsort(np.concatenate([cut for cut, _ in pieces]), kind="stable")
        return parts, _Known(_joined(states), order)

    def eased(self, check: Check, times: np.ndarray) -> np.ndarray:
        """(N,) share of a check's slack: none where the body takes off and lands, for there the floor's force ends."""
        if check.when != "standing" or check.depends != "force" or not len(self._flights):
            return np.ones(len(times))
        return np.minimum(np.abs(times[:, None] - self._flights).min(axis=1) / FADE, 1.0)

    def _width(self, check: Check) -> int:
        """The largest number of values in any phase, which batches of other phases have as well."""
        smooth = check.programme.smooth if check.programme is not None else None
        if smooth is None:
            return 0
        nothing = Curves(
            *(np.zeros((0, n)) for n in (self.trajectory.rig.model.nq, *[self.trajectory.rig.model.nv] * 2))
        )
        phases = [Situation.of(self._checker.body, phase, 0.0, nothing) for phase in self._phases]
        return max((smooth(now).shape[1] for now in phases if check.applies(now)), default=0)


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of frames before they are evaluated.

    Attributes:
        state: of frames that stand alike; None: nothing is known.
        frames: (N,) which of the state's each is.
        order: derivative of the coordinates from which on they differ: from one on the configurations are the same.
        highest: derivative beyond which nothing is asked.
    """

    state: State | None = None
    frames: np.ndarray = field(default_factory=lambda: np.zeros(0, int))
    order: int = 0
    highest: int = 2

    def changes(self, check: Check) -> bool:
        """Whether what the check looks at may have changed, and is asked."""
        return self.order <= DERIVATIVES[check.depends] <= self.highest

    def repeated(self, count: int, frames: np.ndarray, order: int, highest: int) -> _Known:
        """Some of the frames count times, of which only derivatives from an order on differ."""
        if order:
            return _Known(self.state, np.tile(self.frames[frames], count), order, highest)
        return _Known(highest=highest)


def _joined(states: Sequence[State]) -> State:
    if len(states) == 1:
        return states[0]
    names = ("rotation", "position", "tau", "wrench", "com")
    return State(*(np.concatenate([getattr(state, name) for state in states]) for name in names))


class _Near:
    """Pairs and links near enough to touch, and how far the exact distances are from the capsules'."""

    def __init__(self, rig: Rig, near: Checks | None) -> None:
        self._pairs: dict[str, CapsulePairs] = {}
        self._links: dict[str, list[int]] = {}
        self.true: dict[str, np.ndarray] = {}
        for margin in () if near is None else near.margins:
            programme = margin.check.programme
            if programme is not None and programme.nearby == "pairs":
                self._take_pairs(rig, margin)
            elif programme is not None and programme.nearby == "links":
                low = margin.values.min(axis=0) < programme.scale
                self._links[margin.name] = [k for k, is_low in enumerate(low) if is_low]

    def _take_pairs(self, rig: Rig, margin: Margin) -> None:
        found = [k for k, pair in enumerate(margin.links) if len(pair) == 2]
        if not found:
            return
        wanted = [(margin.links[k][0], margin.links[k][1]) for k in found]
        capsules = CapsulePairs(rig, wanted)
        order = {frozenset(pair): k for pair, k in zip(wanted, found)}
        self._pairs[margin.name] = capsules
        self.true[margin.name] = margin.values[:, [order[frozenset(pair)] for pair in capsules.pairs]]

    def margins(self, check: Check, now: Situation) -> np.ndarray:
        """(N, k) of a check as programmes take it, of near items alone where it has many."""
        programme = check.programme
        assert programme is not None
        if programme.nearby == "pairs":
            capsules = self._pairs.get(check.name)
            return np.zeros((len(now), 0)) if capsules is None else _distances(capsules, now)
        if not check.applies(now):
            return np.full((len(now), len(check.items(now.body).names)), np.inf)
        if programme.nearby == "links" and not self._links.get(check.name):
            return np.zeros((len(now), 0))
        values = (programme.smooth or check.margins)(now)
        assert isinstance(values, np.ndarray)
        return values[:, self._links[check.name]] if programme.nearby == "links" else values


def _distances(capsules: CapsulePairs, now: Situation) -> np.ndarray:
    return capsules.distances(now.state.rotation, now.state.position)


class _Evaluation:
    """Limits of one set of samples, evaluated again and again."""

    def __init__(
        self, limits: TrajectoryLimits, times: np.ndarray, near: Checks | None, frames: np.ndarray | None = None
    ) -> None:
        self._limits, self._times = limits, times
        self._feet = limits.trajectory.feet_at(times)
        self._near = _Near(limits.trajectory.rig, near)
        every = slice(None) if frames is None else frames
        self._true = {name: values[every] for name, values in self._near.true.items()}
        self._offset: dict[str, np.ndarray] = {}
        self._known = _Known()

    def values(self, rates: Rates) -> Values:
        """At the samples."""
        solved, regular = self._limits.trajectory.with_legs(rates, self._feet)
        parts, self._known = self._parts(self._times, solved, _Known())
        names, values = self._scaled(parts, self._times, regular, np.arange(len(self._times)))
        self._widths = [values.shape[1] for _, values in parts]
        return Values(names, values, solved, regular)

    def repeated(
        self, count: int, rates: Rates, start: Values, known: tuple[np.ndarray, int, int], *, steering: bool
    ) -> np.ndarray:
        """(count, n, G) of coordinates of some frames, stacked count times; ``steering``: the legs follow them.

        ``known``: which frames (n,), from which derivative of the coordinates on they differ from the start's, and
        beyond which none is asked: what does not depend on those is not a number.
        """
        frames, order, highest = known
        regular, times = np.tile(start.regular[frames], (count, 1)), np.tile(self._times[frames], count)
        if steering:
            stacked = [[np.tile(part[frames], (count, 1)) for part in foot] for foot in self._feet]
            feet = [(place, rate, bend) for place, rate, bend in stacked]
            if order:
                rates = self._limits.trajectory.with_leg_rates(rates, feet)
            else:
                rates, regular = self._limits.trajectory.with_legs_after(rates, feet, still=not highest)
        before = self._known.repeated(count, *known)
        parts, _ = self._parts(times, rates, before)
        whole = [
            (check, values if before.changes(check) else np.full((len(times), width), np.nan))
            for (check, values), width in zip(parts, self._widths)
        ]
        return self._scaled(whole, times, regular, frames)[1].reshape(count, len(frames), -1)

    def _parts(self, times: np.ndarray, solved: Rates, known: _Known) -> tuple[list[tuple[Check, np.ndarray]], _Known]:
        return self._limits.parts(times, to_manifold(self._limits.trajectory.rig, *solved), self._near, known)

    def _scaled(
        self, parts: Sequence[tuple[Check, np.ndarray]], times: np.ndarray, regular: np.ndarray, frames: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        names: list[str] = []
        columns = []
        for check, values in parts:
            programme = check.programme
            assert programme is not None
            if check.name in self._true:
                if check.name not in self._offset:  # the exact distance, with the capsules' derivative
                    true = self._true[check.name]
                    self._offset[check.name] = np.where(true < self._limits.options.reach, true - values, np.inf)
                values = values + np.tile(self._offset[check.name][frames], (len(times) // len(frames), 1))
            slack = self._limits.slack * check.slack * self._limits.eased(check, times)[:, None]
            columns.append((values - (slack - programme.give)) / programme.scale)
            names += [check.name] * values.shape[1]
        columns.append(regular - BENT)
        names += [LEG] * regular.shape[1]
        return np.array(names), np.concatenate(columns, axis=1)


__all__ = ["TrajectoryLimits", "Values"]
