"""Motions between postures that excite inertias, and that can be danced: bonnet2016 (18) and (20).

First feasible, then exciting. The plain way between two postures, rebalanced, is feasible or becomes so when slowed
down; candidates deviate from it within joint and speed limits, which their control values keep at every instant; they
are ranked by the criterion, rebalanced and judged in that order, and the first that keeps every limit is the next
point of departure. What is returned was judged at ten times the search's sampling.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from ..motion import Motion
from ..rig import ROOT_NV
from .balance import Rebalancer
from .charts import to_manifold
from .checks.margins import Checks
from .dancer import Dancer, Footing
from .grams import LinkGrams
from .information import Information
from .splines import AT_REST, VIA_POINTS, Spline
from .stretch import FINE, SLACK, Judge, Stretch

SAMPLES = 33
"""Instants of a stretch at which candidates are judged."""
FINE_RATE = 500.0
"""[1/s] at which a stretch is judged before it may be danced."""
STILL = ("self-collision", "floor", "joint angle")
"""Checks that do not depend on speed: what fails them is not cured by going slower."""
SLOWER = 1.4
SLOWEST = 6
"""Times a stretch may be slowed down by `SLOWER` before it is given up."""
DIP = 0.03
"""Share of the root's height by which it dips on the way, again and again, until the legs reach."""
SPEED_SHARE = 0.93
"""Share of the speed limits that candidates use: rotation vectors turn a little faster than their coordinates."""
ROOT_TURN, ROOT_RISE = 0.3, 0.05
"""How far [rad, share of the root's height] exciting motions may turn and lift the root beyond the postures."""


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """How hard to search for an exciting transition.

    Attributes:
        candidates: per round.
        rounds: of the search; each is narrower than the one before.
        judged: most candidates judged per round.
        shortest: T_F [s], the least duration of a transition.
    """

    candidates: int = 96
    rounds: int = 4
    judged: int = 12
    shortest: float = 5.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """A stretch found, or why there is none.

    Attributes:
        stretches: feasible at `FINE_RATE`; empty when none was found.
        grams: (n, k, k) what they add for the criterion.
        criterion: J_exc with them.
        plain: J_exc had the plain way been taken.
        notes: what had to be given up.
        judged: candidates judged.
    """

    stretches: tuple[Stretch, ...]
    grams: np.ndarray
    criterion: float
    plain: float
    notes: tuple[str, ...] = ()
    judged: int = 0


@dataclass(frozen=True, slots=True)
class Choreographer:
    """Everything a transition's search needs.

    Attributes:
        dancer: who dances.
        coarse: judge with slack, for the search.
        fine: judge by the limits, for what is returned.
        options: of the search.
    """

    dancer: Dancer
    coarse: Judge
    fine: Judge
    options: SearchOptions = field(default_factory=SearchOptions)

    def plain(
        self, name: str, start: np.ndarray, stop: np.ndarray, footing: Footing, kind: str = "straight",
        lift: dict[str, float] | None = None, least: float = 0.0,
    ) -> tuple[Stretch | None, str]:  # fmt: skip
        """The plain way between two static postures, slowed down until it keeps every limit, or why there is none.

        Args:
            name: of the stretch.
            start, stop: (D,) flat coordinates, balanced.
            footing: of the stretch.
            kind: of the stretch.
            lift: [m] by which each side's foot is raised on the way.
            least: [s] duration to begin with, if longer than the options' and what the speeds need.
        """
        duration = max(self.options.shortest, self._shortest(start, stop), least)
        trouble, dip = "", 0.0
        for _ in range(SLOWEST):
            stretch, reached = self._rebalanced(name, kind, start, stop, footing, duration, dip, lift)
            if not reached:
                trouble, dip = "the legs do not reach", dip + DIP * self.dancer.straight_height
                continue
            checks, worst = self.judged(stretch)
            if worst >= 0.0:
                return stretch, ""
            failures = checks.worst_failures
            trouble = "; ".join(str(failure) for failure in failures)
            if any(failure.check in STILL for failure in failures if failure.failed):
                break
            duration *= SLOWER
        return None, f"{name}: {trouble}"

    def judged(self, stretch: Stretch, rate: float = FINE_RATE) -> tuple[Checks, float]:
        """All margins of a stretch at a rate, and the worst of them; negative: not feasible."""
        times = stretch.spline.samples(rate)
        _, curves, good = stretch.frames(self.dancer, times)
        checks = self.fine.checks(times, curves, stretch.anchors)
        return checks, float(self.fine.worst(checks).min()) if good.all() else -np.inf

    def exciting(
        self,
        plain: Stretch,
        footing: Footing,
        meter: LinkGrams | Information,
        history: np.ndarray,
        columns: Iterable[int],
        seed: int,
    ) -> Outcome:
        """The best deviation from a feasible plain way, (18) then (20).

        Args:
            plain: feasible.
            footing: of the stretch.
            meter: of the criterion over the links to excite.
            history: (n, k, k) of everything danced before.
            columns: of y that excite, Table I.
            seed: of the candidates.
        """
        generator = np.random.default_rng(seed)
        search = _Search(self, plain, footing, meter, history, np.array(sorted(columns), int))
        best, best_value = plain.control, search.values(plain.control[None])[0]
        first = best_value
        centre = np.zeros((VIA_POINTS, len(search.columns)))
        judged = 0
        for number in range(self.options.rounds):
            spread = 0.45 * 0.45**number
            offsets = search.offsets(centre, spread, generator, self.options.candidates)
            candidates = search.with_offsets(offsets)
            values = search.values(candidates)
            for place in np.argsort(values)[: self.options.judged]:
                if values[place] >= best_value:
                    break
                judged += 1
                control = search.feasible(candidates[place])
                if control is not None:
                    best, best_value, centre = control, float(search.values(control[None])[0]), offsets[place]
                    break
        result = Stretch(plain.name, "exciting", plain.duration, best, plain.solved, plain.anchors)
        for _ in range(4):
            if self.judged(result)[1] >= 0.0:
                break
            best = plain.control + 0.8 * (best - plain.control)
            result = Stretch(plain.name, "exciting", plain.duration, best, plain.solved, plain.anchors)
        else:
            result = plain
        return self._outcome(result, meter, history, float(first), judged)

    def added(self, stretch: Stretch, meter: LinkGrams | Information, rate: float = 50.0) -> np.ndarray:
        """Gram matrices (n, k, k) a stretch adds at 50 Hz, the paper's sampling."""
        times = stretch.spline.samples(rate)
        _, curves, _ = stretch.frames(self.dancer, times)
        return meter.of_motion(self.dancer.rig, Motion(times, curves.q, curves.v, curves.a))[0]

    def _outcome(
        self, stretch: Stretch, meter: LinkGrams | Information, history: np.ndarray, plain: float, judged: int
    ) -> Outcome:
        grams = self.added(stretch, meter)
        return Outcome((stretch,), grams, float(np.squeeze(meter.criterion(history + grams))), plain, (), judged)

    def _shortest(self, start: np.ndarray, stop: np.ndarray) -> float:
        """[s] a straight spline needs to keep the speed limits with a reserve for the rebalancing."""
        unit = Spline(1.0, FINE)
        way = unit.straight(np.zeros(1), np.ones(1))
        fastest = unit.basis(unit.samples(200.0)).velocity @ way
        joints = slice(ROOT_NV, self.dancer.rig.model.nv)
        with np.errstate(invalid="ignore"):
            share = np.abs(stop - start)[joints] / self.dancer.speed[joints]
        return float(1.15 * fastest.max() * np.nan_to_num(share).max(initial=0.0))

    def _rebalanced(
        self, name: str, kind: str, start: np.ndarray, stop: np.ndarray, footing: Footing, duration: float,
        dip: float, lift: dict[str, float] | None,
    ) -> tuple[Stretch, bool]:  # fmt: skip
        spline = Spline(duration, FINE)
        control = spline.straight(start, stop)
        bump = np.sin(np.pi * np.linspace(0.0, 1.0, FINE + 2))[1:-1]
        control[AT_REST:-AT_REST, 2] -= dip * bump
        for side, height in (lift or {}).items():
            control[AT_REST:-AT_REST, self.dancer.foot_columns[side][2]] += height * bump
        balancer = Rebalancer(self.dancer, spline, SAMPLES)
        ends = self._ends(start, stop, footing)
        wanted = balancer.goals(ends[0], ends[1], footing.polygon.centre)
        control = balancer.started(control, wanted, footing.solved)
        control = balancer.rebalance(control[None], wanted, footing.solved)
        reached = bool(balancer.evaluate(control, footing.solved)[2].all())
        return Stretch(name, kind, duration, control[0], footing.solved, footing.anchors), reached

    def _ends(self, start: np.ndarray, stop: np.ndarray, footing: Footing) -> tuple[np.ndarray, np.ndarray]:
        _, curves, _ = self.dancer.still(np.stack([start, stop]), footing.solved)
        com = self.dancer.com(curves)[:, :2]
        return com[0], com[1]


class _Search:
    """Candidates around one plain stretch."""

    def __init__(
        self, parent: Choreographer, plain: Stretch, footing: Footing, meter: LinkGrams | Information,
        history: np.ndarray, columns: np.ndarray,
    ) -> None:  # fmt: skip
        self.parent, self.plain, self.footing, self.meter, self.history = parent, plain, footing, meter, history
        self.columns = columns
        dancer = parent.dancer
        spline = plain.spline
        self._inner = spline_offsets(plain.duration)
        self._balancer = Rebalancer(dancer, spline, SAMPLES)
        ends = parent._ends(plain.start, plain.stop, footing)
        self._goals = self._balancer.goals(ends[0], ends[1], footing.polygon.centre)
        control = plain.control[:, columns]
        reach = np.full(len(columns), np.inf)
        reach[(columns >= 3) & (columns < ROOT_NV)] = ROOT_TURN
        reach[columns == 2] = ROOT_RISE * dancer.straight_height
        off = 1.5 * SLACK["joint angle"]
        self._lower = np.minimum(
            np.maximum(dancer.lower[columns] + off, control.min(axis=0) - reach), control.min(axis=0)
        )
        self._upper = np.maximum(
            np.minimum(dancer.upper[columns] - off, control.max(axis=0) + reach), control.max(axis=0)
        )
        self._scale = np.where(np.isfinite(self._upper - self._lower), self._upper - self._lower, 1.0)
        self._speed = SPEED_SHARE * dancer.speed[columns]
        self._moved_legs = [side for side in dancer.leg_columns if side not in plain.solved]

    def offsets(self, centre: np.ndarray, spread: float, generator: np.random.Generator, count: int) -> np.ndarray:
        """Deviations (K, 2, n) of the free control values from the plain way, within joint and speed limits."""
        steps = spread * self._scale * generator.standard_normal((count, *centre.shape))
        some = generator.random((count, 1, len(self.columns))) < generator.choice([1.0, 0.5, 0.25], (count, 1, 1))
        offsets = centre + np.where(some, steps, 0.0)
        fine = np.einsum("ck,jkn->jcn", self._inner, offsets)
        base = self.plain.control[:, self.columns]
        # the largest share of each deviation that keeps all control values within the limits
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(fine > 0.0, (self._upper - base) / fine, (self._lower - base) / fine)
            room = np.where(fine == 0.0, np.inf, room).min(axis=1)
            basis = self._balancer.basis.velocity
            slow, fast = basis @ base, basis @ fine
            left = np.where(fast > 0.0, (self._speed - slow) / fast, (-self._speed - slow) / fast)
            left = np.where(np.abs(fast) < 1e-12, np.inf, left).min(axis=1)
        share = np.clip(np.minimum(room, left), 0.0, 1.0)
        return offsets * share[:, None, :]

    def with_offsets(self, offsets: np.ndarray) -> np.ndarray:
        """Control values (K, C, D) of deviations."""
        control = np.tile(self.plain.control, (len(offsets), 1, 1))
        control[:, :, self.columns] += np.einsum("ck,jkn->jcn", self._inner, offsets)
        return control

    def values(self, control: np.ndarray) -> np.ndarray:
        """J_exc (K,) with the history. Solved legs stay as guessed: their links do not count in this criterion."""
        basis = self._balancer.basis
        nv = self.parent.dancer.rig.model.nv
        y, dy, ddy = (
            (matrix @ control[:, :, :nv]).reshape(-1, nv)
            for matrix in (basis.position, basis.velocity, basis.acceleration)
        )
        curves = to_manifold(self.parent.dancer.rig, y, dy, ddy)
        motion = Motion(np.arange(float(len(y))), curves.q, curves.v, curves.a)
        share = 50.0 * self.plain.duration / SAMPLES  # as many samples as at 50 Hz
        grams = share * self.meter.of_motion(self.parent.dancer.rig, motion, len(control))
        return self.meter.criterion(self.history + grams)

    def feasible(self, control: np.ndarray) -> np.ndarray | None:
        """The candidate rebalanced if it keeps every limit, else None."""
        balanced = self._balancer.rebalance(control[None], self._goals, self.plain.solved)
        _, curves, good = self._balancer.evaluate(balanced, self.plain.solved)
        if not good.all() or self.parent.coarse.margins(curves, self.plain.anchors).min() < 0.0:
            return None
        return balanced[0]


def spline_offsets(duration: float) -> np.ndarray:
    """(C, 2): control values of a fine stretch when one of the two coarse free ones is raised by one."""
    coarse, fine = Spline(duration, VIA_POINTS), Spline(duration, FINE)
    return coarse.refinement(fine)[:, AT_REST : AT_REST + VIA_POINTS]
