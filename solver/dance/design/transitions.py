"""Motions between postures that excite inertias, and that can be danced: bonnet2016 (18) and (20).

First feasible, then exciting. The plain way between two postures, rebalanced, is feasible or becomes so when slowed
down; `search` deviates from it as far as the limits allow. What is returned was judged at ten times the search's
sampling.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from ...feasibility.margins import Checks
from ...motion import Motion
from ...rig import ROOT_NV
from ...trajectory.legged_rig import Dancer, Footing
from ...trajectory.rebalancing import Rebalancer
from ...trajectory.segment import Judge, Stretch, fine
from ...trajectory.splines import AT_REST, Spline
from ...trajectory.transition_problem import Meter, TransitionProblem, instants
from ...trajectory.transition_search import search

FINE_RATE = 500.0
"""[1/s] at which a stretch is judged before it may be danced."""
STILL = ("self-collision", "floor", "joint angle")
"""Checks that do not depend on speed: what fails them is not cured by going slower."""
SLOWER = 1.4
SLOWEST = 6
"""Times a stretch may be slowed down by `SLOWER` before it is given up."""
DIP = 0.03
"""Share of the root's height by which it dips on the way, again and again, until the legs reach."""


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """How hard to search for an exciting transition.

    Attributes:
        rounds: linear programmes.
        via: N_K, free control values per joint; None: all that the stretch has.
        shortest: T_F [s], the least duration of a transition.
    """

    rounds: int = 6
    via: int | None = None
    shortest: float = 1.0


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
        meter: Meter,
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
        via = self.options.via or plain.spline.free
        columns = np.array(sorted(columns), int)
        problem = TransitionProblem(self.dancer, self.coarse, plain, footing, meter, history, columns, via)
        found = search(problem, seed, self.options.rounds)
        best = found.best.control
        result = Stretch(plain.name, "exciting", plain.duration, best, plain.solved, plain.anchors)
        for _ in range(4):
            if self.judged(result)[1] >= 0.0:
                break
            best = plain.control + 0.8 * (best - plain.control)
            result = Stretch(plain.name, "exciting", plain.duration, best, plain.solved, plain.anchors)
        else:
            result = plain
        return self._outcome(result, meter, history, found.values[0], problem.judged)

    def added(self, stretch: Stretch, meter: Meter, rate: float = 50.0) -> np.ndarray:
        """Gram matrices (n, k, k) a stretch adds at 50 Hz, the paper's sampling."""
        times = stretch.spline.samples(rate)
        _, curves, _ = stretch.frames(self.dancer, times)
        return meter.of_motion(self.dancer.rig, Motion(times, curves.q, curves.v, curves.a))[0]

    def _outcome(self, stretch: Stretch, meter: Meter, history: np.ndarray, plain: float, judged: int) -> Outcome:
        grams = self.added(stretch, meter)
        return Outcome((stretch,), grams, float(np.squeeze(meter.criterion(history + grams))), plain, (), judged)

    def _shortest(self, start: np.ndarray, stop: np.ndarray) -> float:
        """[s] a straight spline needs to keep the speed limits with a reserve for the rebalancing."""
        unit = Spline(1.0, fine(1.0))
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
        spline = Spline(duration, fine(duration))
        control = spline.straight(start, stop)
        bump = np.sin(np.pi * np.linspace(0.0, 1.0, spline.free + 2))[1:-1]
        control[AT_REST:-AT_REST, 2] -= dip * bump
        for side, height in (lift or {}).items():
            control[AT_REST:-AT_REST, self.dancer.foot_columns[side][2]] += height * bump
        balancer = Rebalancer(self.dancer, spline, instants(spline))
        ends = self.dancer.ends(start, stop, footing)
        wanted = balancer.goals(*ends, footing.polygon.centre)
        control = balancer.started(control, wanted, footing.solved)
        control = balancer.rebalance(control[None], wanted, footing.solved)
        reached = bool(balancer.evaluate(control, footing.solved)[2].all())
        return Stretch(name, kind, duration, control[0], footing.solved, footing.anchors), reached
