"""Exciting transitions between postures, bonnet2016 (18) and (20).

The straight path between two postures is balanced and slowed down until it is feasible. The search then deviates from
it as far as the limits allow. The result is checked at ten times the sampling rate of the search.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from ...feasibility.check_results import Checks
from ...motion import Motion
from ...rig import ROOT_NV
from ...trajectory.legged_rig import Footing, LeggedRig
from ...trajectory.rebalancing import Rebalancer
from ...trajectory.segment import DanceSegment, SegmentChecker, free_control_count
from ...trajectory.splines import REST_CONTROLS, Spline
from ...trajectory.transition_problem import Objective, TransitionAim, TransitionProblem, sample_count
from ...trajectory.transition_search import search_transition
from .style import round_to_counts

FINE_RATE = 500.0
"""[1/s] Rate at which a segment is verified."""
COARSE_RATE = 50.0
"""[1/s] Rate of a first check, at which most infeasible segments fail."""
SLOWDOWN = 1.4
STEP_SLOWDOWN = 1.12
"""Factors on the duration of an infeasible transition, and of an infeasible step; steps add little information."""
MAX_SLOWDOWN = 5.4
"""Largest ratio of a segment's duration to its first one before the search gives up."""
IMPROVEMENT = 0.95
"""Largest ratio of successive violations by postures for which slower paths are tried."""
DEVIATION_FRACTIONS = (1.0, 0.97, 0.9, 0.8, 0.64, 0.5)
"""Fractions of a deviation that are tried in turn if all of it violates a limit between the search's instants."""
MAX_DIP = 0.15
DIP_STEP = 0.03
"""Fractions of the leg's length: largest lowering of the root on the path, and its increment until the legs reach."""


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """Options of the search for an exciting transition.

    Attributes:
        rounds: linear programs.
        via: N_K, free control values per joint; None: all of the segment.
        shortest: T_F [s], the least duration of a transition.
        quickest_step: [s] the least duration of a step.
        beat_duration: [s] duration of a beat, at which segments end; None: no beats.
        hold_before: [s] duration of the hold before a transition.
        spacing: [s] between the knots of a transition.
    """

    rounds: int = 6
    via: int | None = None
    shortest: float = 1.0
    quickest_step: float = 1.0
    beat_duration: float | None = None
    hold_before: float = 0.0
    spacing: float = 0.2

    def round_duration(self, seconds: float, kind: str) -> float:
        """[s] The shortest duration of at least ``seconds`` at which the segment ends on a beat, if there are beats."""
        if self.beat_duration is None:
            return seconds
        return round_to_counts(seconds, self.beat_duration, 0.0 if kind == "step" else self.hold_before)


@dataclass(frozen=True, slots=True)
class TransitionResult:
    """A transition that was found.

    Attributes:
        segments: feasible at `FINE_RATE`; empty if none was found.
        matrices: (n, k, k) Gram matrices that they add to the criterion.
        criterion: J_exc with them.
        straight_criterion: J_exc with the straight path instead.
        notes: rejected steps of the search.
    """

    segments: tuple[DanceSegment, ...]
    matrices: np.ndarray
    criterion: float
    straight_criterion: float
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TransitionPlanner:
    """Plans transitions of one rig.

    Attributes:
        legged: the rig.
        coarse_checker: with slack, for the search.
        fine_checker: with the limits themselves, for results.
        step_checker: the same for steps, whose feet leave and meet the floor, without clearance.
        options: of the search.
    """

    legged: LeggedRig
    coarse_checker: SegmentChecker
    fine_checker: SegmentChecker
    step_checker: SegmentChecker
    options: SearchOptions = field(default_factory=SearchOptions)

    def plan_straight(
        self, name: str, start: np.ndarray, stop: np.ndarray, footing: Footing, kind: str = "straight",
        lift: dict[str, float] | None = None,
    ) -> tuple[DanceSegment | None, str]:  # fmt: skip
        """The straight path between two static postures, slowed down until it is feasible; or None and the reason.

        Args:
            name: of the segment.
            start, stop: (D,) flat coordinates, balanced.
            footing: of the segment.
            kind: of the segment.
            lift: [m] by which each side's foot is raised on the way.
        """
        least, slower = (
            (self.options.quickest_step, STEP_SLOWDOWN) if kind == "step" else (self.options.shortest, SLOWDOWN)
        )
        least -= self.options.hold_before if kind != "step" else 0.0  # with beats, the duration includes the hold
        duration = first = self.options.round_duration(max(least, self._shortest_duration(start, stop)), kind)
        trouble, dip, beyond = "", 0.0, -np.inf
        while duration <= MAX_SLOWDOWN * first and dip <= MAX_DIP * self.legged.rig.leg_length:
            control = Spline(duration, free_control_count(duration, self.options.spacing)).straight_line(start, stop)
            even = DanceSegment(name, kind, duration, control, footing.solved, footing.anchors)
            segment, reached = self._rebalance(even, footing, dip, lift or {})
            if not reached:
                trouble, dip = "the legs do not reach", dip + DIP_STEP * self.legged.rig.leg_length
                continue
            checks, worst = self.check_segment(segment, COARSE_RATE)
            if worst >= 0.0:
                checks, worst = self.check_segment(segment)
                if worst >= 0.0:
                    return segment, ""
            failures = checks.worst_failures
            # a slower path sways less and overshoots its ends less, which can repair even failures of postures; those
            # that slowing down hardly changes end the search
            lasting = [failure for failure in failures if failure.failed and failure.check.fails_at_rest]
            trouble = "; ".join(str(failure) for failure in lasting or failures)
            if lasting:
                if lasting[0].margin <= IMPROVEMENT * beyond:
                    break
                beyond = lasting[0].margin
            duration = self.options.round_duration(duration * slower, kind)
        return None, f"{name}: {trouble}"

    def check_segment(self, segment: DanceSegment, rate: float = FINE_RATE) -> tuple[Checks, float]:
        """All checks of a segment at a rate [1/s], and the worst margin; negative: not feasible."""
        times = segment.spline_space.samples(rate)
        _, curves, good = segment.evaluate(self.legged, times)
        judge = self.step_checker if segment.kind == "step" else self.fine_checker
        checks = judge.checks(times, curves, segment.anchors)
        return checks, float(judge.worst_of(checks).min()) if good.all() else -np.inf

    @property
    def foot_clearance(self) -> float:
        """[m] by which a lifted foot must clear the floor."""
        return self.fine_checker.options.foot_clearance

    def describe_low_foot(self, segment: DanceSegment, footing: Footing) -> str:
        """A note on a foot whose clearance during a step is too low; empty if it is high enough.

        Clearance counts where the foot is farther than the required clearance from its start and end.
        """
        curves = segment.evaluate(self.legged, segment.spline_space.samples(FINE_RATE))[1]
        loaded = {anchor.patch for anchor in footing.anchors}
        for leg in (leg for leg in self.legged.legs if leg.side in footing.solved and leg.patch not in loaded):
            patch = self.legged.rig.patch(leg.patch)
            corners = self.legged.place_points(curves, patch.link, patch.vertices)
            centre = corners.mean(axis=1)[:, :2]
            away = np.minimum(*(np.linalg.norm(centre - centre[end], axis=1) for end in (0, -1)))
            height = np.where(away > self.foot_clearance, corners[:, :, 2].min(axis=1), np.inf).min()
            if height < self.foot_clearance:
                required = 1e3 * self.foot_clearance
                clearance = f"{1e3 * height:.1f} mm, not {required:g} mm (--foot-clearance)"
                return f"the {leg.side} foot clears the floor by {clearance}"
        return ""

    def plan_exciting(
        self,
        straight: DanceSegment,
        footing: Footing,
        objective: Objective,
        history: np.ndarray,
        columns: Iterable[int],
        seed: int,
    ) -> TransitionResult:
        """The best deviation from a feasible straight path, (18) then (20).

        Args:
            straight: feasible straight path.
            footing: of the segment.
            objective: criterion over the links to excite.
            history: (n, k, k) Gram matrices of all earlier motion.
            columns: of y that excite, Table I.
            seed: of the candidates.
        """
        via = self.options.via or straight.spline_space.free
        aim = TransitionAim(objective, history, np.array(sorted(columns), int), via)
        problem = TransitionProblem(self.legged, self.coarse_checker, straight, footing, aim)
        found = search_transition(problem, seed, self.options.rounds)
        plain, result = straight.control, straight
        for share in DEVIATION_FRACTIONS:
            trial = replace(straight, kind="exciting", control=plain + share * (found.best.control - plain))
            if self.check_segment(trial, COARSE_RATE)[1] >= 0.0 and self.check_segment(trial)[1] >= 0.0:
                result = trial
                break
        matrices = self.added_information(result, objective)
        value = float(np.squeeze(objective.value(history + matrices)))
        notes = tuple(f"{straight.name}: a step was left out, {flaw}" for flaw in found.solver_failures)
        return TransitionResult((result,), matrices, value, found.values[0], notes)

    def added_information(self, segment: DanceSegment, objective: Objective, rate: float = 50.0) -> np.ndarray:
        """Gram matrices (n, k, k) that a segment adds, sampled at 50 Hz as in the paper."""
        times = segment.spline_space.samples(rate)
        _, curves, _ = segment.evaluate(self.legged, times)
        return objective.motion_matrices(self.legged.rig, Motion(times, curves.q, curves.v, curves.a))[0]

    def _shortest_duration(self, start: np.ndarray, stop: np.ndarray) -> float:
        """[s] Duration of a straight spline at the speed limits, with a reserve for the rebalancing."""
        unit = Spline(1.0, free_control_count(1.0, self.options.spacing))
        fastest = unit.basis(unit.samples(200.0)).velocity @ unit.straight_line(np.zeros(1), np.ones(1))
        joints = slice(ROOT_NV, self.legged.rig.nv)
        with np.errstate(invalid="ignore"):
            share = np.abs(stop - start)[joints] / self.legged.speed[joints]
        return float(1.15 * fastest.max() * np.nan_to_num(share).max(initial=0.0))

    def _rebalance(
        self, even: DanceSegment, footing: Footing, dip: float, lift: dict[str, float]
    ) -> tuple[DanceSegment, bool]:
        """The straight path with a balanced zero-moment point, lowered root and lifted feet [m]; whether legs reach."""
        spline, control = even.spline_space, np.array(even.control)
        inner, phase = slice(REST_CONTROLS, -REST_CONTROLS), np.linspace(0.0, 1.0, spline.free + 2)[1:-1]
        if lift:  # a foot leaves and meets the floor slowly: a nearly straight knee would turn too fast
            share = phase**3 * (10.0 - 15.0 * phase + 6.0 * phase**2)
            control[inner] = even.start + share[:, None] * (even.stop - even.start)
        control[inner, 2] -= dip * np.sin(np.pi * phase)
        for side, height in lift.items():
            control[inner, self.legged.foot_columns[side][2]] += height * np.sin(np.pi * phase) ** 2
        balancer = Rebalancer(self.legged, spline, sample_count(spline))
        wanted = balancer.plan_goals(*self.legged.end_coms(even.start, even.stop, footing), footing.polygon)
        control = balancer.balanced_start(control, wanted.com, footing.solved)
        control, guess = balancer.rebalance(control[None], wanted.zmp, footing.solved)
        return replace(even, control=control[0]), bool(balancer.evaluate(control, footing.solved, guess)[2].all())
