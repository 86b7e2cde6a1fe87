"""Exciting motions, bonnet2016 (18) and (20): phrases from home by a posture and back, and transitions.

A plain path is balanced, and made smaller or slower until it is feasible. The search then deviates from it as far as
the limits allow. The result is checked at ten times the sampling rate of the search.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from ...feasibility.check_results import Checks
from ...options.checks import VERIFICATION_RATE
from ...options.dances import EXCITATION_RATE, DanceOptions
from ...skeleton.rig import ROOT_NV
from ...trajectory.legged_rig import Footing, LeggedRig
from ...trajectory.rebalancing import Rebalancer
from ...trajectory.segment import DanceSegment, SegmentChecker, free_control_count
from ...trajectory.splines import REST_CONTROLS, Spline
from ...trajectory.transition_problem import SPEED_SHARE, Objective, TransitionAim, TransitionProblem, sample_count
from ...trajectory.transition_search import search_transition
from ...values.motion import Motion

COARSE_RATE = 50.0
"""[1/s] Rate of a first check, at which most infeasible segments fail."""
SLOWDOWN = 1.4
STEP_SLOWDOWN = 1.12
"""Factors on the duration of an infeasible transition, and of an infeasible step; steps add little information."""
STEP_SPACING = 0.4
"""[s] Largest time between the knots of a step: the weight shifts faster than a phrase moves."""
MAX_SLOWDOWN = 5.4
"""Largest ratio of a segment's duration to its first one before the search gives up."""
IMPROVEMENT = 0.95
"""Largest ratio of successive violations by postures for which slower paths are tried."""
DEVIATION_FRACTIONS = (1.0, 0.97, 0.9, 0.8, 0.64, 0.5, 0.35, 0.2)
"""Fractions of a deviation that are tried in turn if all of it violates a limit between the search's instants."""
LOOP_FRACTIONS = (1.0, 0.8, 0.6, 0.45, 0.3)
"""Fractions of the way to a posture that a phrase goes, tried in turn, of the way that the speed limits allow. Chosen
on simulated people."""
MAX_DIP = 0.15
DIP_STEP = 0.03
"""Fractions of the leg's length: largest lowering of the root on the path, and its increment until the legs reach."""


@dataclass(frozen=True, slots=True)
class DesignedTransition:
    """A transition that was found.

    Attributes:
        segment: feasible at `VERIFICATION_RATE`.
        matrices: (n, k, k) Gram matrices that it adds to the criterion.
        criterion: J_exc with it.
        straight_criterion: J_exc with the straight path instead.
        notes: rejected steps of the search.
    """

    segment: DanceSegment
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
        options: of the dance.
    """

    legged: LeggedRig
    coarse_checker: SegmentChecker
    fine_checker: SegmentChecker
    step_checker: SegmentChecker
    options: DanceOptions

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
            (self.options.quickest_step, STEP_SLOWDOWN) if kind == "step" else (self.options.min_duration, SLOWDOWN)
        )
        duration = first = self._round_duration(max(least, self._shortest_duration(start, stop)))
        trouble, dip, beyond = "", 0.0, -np.inf
        while duration <= MAX_SLOWDOWN * first and dip <= MAX_DIP * self.legged.rig.leg_length:
            spacing = min(self.options.knot_spacing, STEP_SPACING) if kind == "step" else self.options.knot_spacing
            control = Spline(duration, free_control_count(duration, spacing)).straight_line(start, stop)
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
            duration = self._round_duration(duration * slower)
        return None, f"{name}: {trouble}"

    def plan_loop(
        self, name: str, home: np.ndarray, posture: np.ndarray, duration: float, footing: Footing
    ) -> DanceSegment | None:
        """The path from home by a posture and back, as far as it is feasible at `COARSE_RATE`; or None.

        Args:
            name: of the segment.
            home, posture: (D,) flat coordinates, balanced.
            duration: [s].
            footing: of the segment.
        """
        shape, reach = self.loop_shape(duration)[1], self.loop_reach(home, posture, duration)
        whole, *between, least = LOOP_FRACTIONS

        def go(share: float) -> DanceSegment | None:
            control = home + share * reach * shape[:, None] * (posture - home)
            even = DanceSegment(name, "straight", duration, control, footing.solved, footing.anchors)
            segment, reached = self._rebalance(even, footing, 0.0, {})
            return segment if reached and self.check_segment(segment, COARSE_RATE)[1] >= 0.0 else None

        found = go(whole)
        if found is not None or (small := go(least)) is None:  # what fails a little from home fails farther away
            return found
        return next((path for path in map(go, between) if path is not None), small)

    def loop_shape(self, duration: float) -> tuple[Spline, np.ndarray]:
        """The spline of a phrase, and the fraction of the way to its posture at each control value (C,)."""
        spline = Spline(duration, free_control_count(duration, self.options.knot_spacing))
        phase = np.linspace(0.0, 1.0, spline.free + 2)[1:-1]
        return spline, np.pad(np.minimum(1.3 * np.sin(np.pi * phase) ** 2, 1.15), REST_CONTROLS)

    def loop_reach(self, home: np.ndarray, posture: np.ndarray, duration: float) -> float:
        """Fraction of the way to a posture (D,) that a phrase goes within the speed limits."""
        spline, shape = self.loop_shape(duration)
        fastest = np.abs(spline.basis(spline.samples(COARSE_RATE)).velocity @ shape).max()
        joints = slice(ROOT_NV, self.legged.rig.nv)
        with np.errstate(invalid="ignore"):
            used = fastest * np.abs(posture - home)[joints] / (SPEED_SHARE * self.legged.speed[joints])
        return float(1.0 / max(np.nan_to_num(used).max(initial=0.0), 1.0))

    def check_segment(self, segment: DanceSegment, rate: float = VERIFICATION_RATE) -> tuple[Checks, float]:
        """All checks of a segment at a rate [1/s], and the worst margin; negative: not feasible.

        A phrase also keeps the speeds of the dancer's skill, which the checks do not know.
        """
        times = segment.spline_space.samples(rate)
        _, curves, good = segment.evaluate(self.legged, times)
        if self._counted and segment.kind != "step":
            good &= (np.abs(curves.v[:, ROOT_NV:]) <= self.legged.speed[ROOT_NV : self.legged.rig.nv]).all(axis=1)
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
        curves = segment.evaluate(self.legged, segment.spline_space.samples(VERIFICATION_RATE))[1]
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
    ) -> DesignedTransition:
        """The best deviation from a feasible plain path, (18) then (20).

        Args:
            straight: feasible plain path; a step stays one.
            footing: of the segment.
            objective: criterion over the links to excite.
            history: (n, k, k) Gram matrices of all earlier motion.
            columns: of y that excite, Table I.
        """
        via = self.options.via or straight.spline_space.free
        aim = TransitionAim(objective, history, np.array(sorted(columns), int), via)
        checker, kind = self.coarse_checker, "exciting"
        if straight.kind == "step":
            checker, kind = SegmentChecker(self.legged.rig, self.step_checker.options, 1.0), "step"
        problem = TransitionProblem(self.legged, checker, straight, footing, aim)
        found = search_transition(problem, self.options.rounds)
        plain, result = straight.control, straight
        for share in DEVIATION_FRACTIONS:
            trial = replace(straight, kind=kind, control=plain + share * (found.point.control - plain))
            if self.check_segment(trial, COARSE_RATE)[1] >= 0.0 and self.check_segment(trial)[1] >= 0.0:
                result = trial
                break
        matrices = self.added_information(result, objective)
        value = float(np.squeeze(objective.value(history + matrices)))
        notes = tuple(f"{straight.name}: a step was left out, {flaw}" for flaw in found.solver_failures)
        return DesignedTransition(result, matrices, value, found.accepted[0].value, notes)

    def added_information(self, segment: DanceSegment, objective: Objective) -> np.ndarray:
        """Gram matrices (n, k, k) that a segment adds, sampled at 50 Hz as in the paper."""
        times = segment.spline_space.samples(EXCITATION_RATE)
        _, curves, _ = segment.evaluate(self.legged, times)
        return objective.motion_matrices(self.legged.rig, Motion(times, curves.q, curves.v, curves.a))[0]

    @property
    def _counted(self) -> bool:
        """Whether durations are whole counts."""
        return self.options.objective == "sigma"

    def _round_duration(self, seconds: float) -> float:
        """[s] The shortest duration of at least ``seconds`` that lasts whole counts, if there are counts."""
        count = self.options.count_duration
        return float(np.ceil(seconds / count - 1e-9)) * count if self._counted else seconds

    def _shortest_duration(self, start: np.ndarray, stop: np.ndarray) -> float:
        """[s] Duration of a straight spline at the speed limits, with a reserve for the rebalancing."""
        unit = Spline(1.0, free_control_count(1.0, self.options.knot_spacing))
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
        control = balancer.rebalance(control[None], wanted, footing.solved)
        return replace(even, control=control[0]), bool(balancer.evaluate(control, footing.solved)[2].all())
