"""One transition as a nonlinear program: variables, criterion and limits.

Variables are deviations (V, n) of V control values of n coordinates from the straight path. The root's horizontal path
is no variable: it follows from the zero-moment point's goals (`Rebalancer`), and solved legs follow from root and feet.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..dynamics.coordinates import Curves, to_manifold
from ..feasibility.checks.joint_limits import ANGLE_SAMPLING_MARGIN
from ..identification.excitation.expected_deviations import ExpectedDeviations
from ..identification.excitation.gram_matrices import GramMatrices
from ..options.dances import EXCITATION_RATE
from ..skeleton.rig import ROOT_NV
from ..values.motion import Motion
from .legged_rig import Footing
from .rebalancing import Rebalancer
from .segment import DanceSegment, SegmentChecker
from .splines import REST_CONTROLS, Spline

if TYPE_CHECKING:
    from .legged_rig import LeggedRig

Objective = GramMatrices | ExpectedDeviations
"""Criterion of an exciting motion."""

MIN_SAMPLES = 33
"""Smallest number of instants at which a segment is evaluated during the search."""
SPEED_SHARE = 0.93
"""Share of the speed limits that is used, since rotation vectors rotate a little faster than their coordinates."""
MAX_ROOT_ROTATION, MAX_ROOT_RISE = 0.3, 0.05
"""Largest rotation [rad] and rise (share of the leg length) of the root beyond those of the end postures."""
SAMPLES_PER_KNOT = 3
"""Instants per knot of a segment."""
SPEED_SAMPLING = 2
"""Ratio of instants with limits on speeds to others: these rows are cheap, since speeds of splines are linear."""


@dataclass(frozen=True, slots=True)
class TransitionCandidate:
    """A choice of the variables.

    Attributes:
        offsets: (V, n) deviations.
        control: (C, D) of the motion, rebalanced.
        rates: (3, N, D) coordinates, velocities and accelerations at the instants, legs solved.
        value: of the criterion with the history.
    """

    offsets: np.ndarray
    control: np.ndarray
    rates: np.ndarray
    value: float


@dataclass(frozen=True, slots=True)
class TransitionAim:
    """What a transition should excite, and with which coordinates.

    Attributes:
        objective: criterion.
        history: of all earlier segments, as the objective stores it.
        columns: (n,) of the coordinates that deviate.
        via: V, number of control values of each: all that the segment has, or 2.
    """

    objective: Objective
    history: np.ndarray
    columns: np.ndarray
    via: int


class TransitionProblem:
    """The search for a transition between two postures.

    Args:
        legged: rig.
        checker: with the sampling margins that frames between the instants need.
        straight: feasible path from which the transition deviates.
        footing: of the segment.
        aim: what to excite.

    Attributes:
        basis: of the segment's splines at the instants.
        speed_basis: (M, C) speeds of the splines at the instants and between them.
        variable_map: (C, V) control values of the segment per variable.
        lower, upper: (n,) limits of the control values, which keep the joints' ranges at every instant.
        scale: (n,) their difference.
        speed: (n,) limits of the speeds.
        share: number of samples that an instant represents.
        start: the straight path.
    """

    def __init__(
        self, legged: LeggedRig, checker: SegmentChecker, straight: DanceSegment, footing: Footing, aim: TransitionAim
    ) -> None:
        self.legged, self.checker, self.straight = legged, checker, straight
        self.objective, self.history, self.columns = aim.objective, aim.history, aim.columns
        spline, via = straight.spline_space, aim.via
        if via == spline.free:
            self.variable_map = np.eye(spline.count)[:, REST_CONTROLS:-REST_CONTROLS]
        else:
            self.variable_map = Spline(spline.duration, via).refinement_matrix(spline)[
                :, REST_CONTROLS : REST_CONTROLS + via
            ]
        self.balancer = Rebalancer(legged, spline, sample_count(spline))
        self.basis = self.balancer.basis
        often = np.linspace(0.0, spline.duration, SPEED_SAMPLING * (sample_count(spline) - 1) + 1)
        self.speed_basis = spline.basis(often).velocity
        self._goals = self.balancer.plan_goals(
            *legged.end_coms(straight.start, straight.stop, footing), footing.polygon
        )
        self.share = EXCITATION_RATE * straight.duration / len(self.basis.times)
        self._set_limits()
        # a straight path with margins below the sampling margins may be deviated from, but not towards the limits
        nothing = np.zeros((1, self.variable_map.shape[1], len(self.columns)))
        self.start = self._evaluate(nothing, straight.control[None])[1][0]
        self._margin_allowances = checker.margin_allowances(self.curves(self.start.rates), straight.anchors)

    def _set_limits(self) -> None:
        legged, columns = self.legged, self.columns
        control = self.straight.control[:, columns]
        reach = np.full(len(columns), np.inf)
        reach[(columns >= 3) & (columns < ROOT_NV)] = MAX_ROOT_ROTATION
        reach[columns == 2] = MAX_ROOT_RISE * legged.rig.leg_length
        off = 1.5 * ANGLE_SAMPLING_MARGIN
        low, high = control.min(axis=0), control.max(axis=0)
        self.lower = np.minimum(np.maximum(legged.lower[columns] + off, low - reach), low)
        self.upper = np.maximum(np.minimum(legged.upper[columns] - off, high + reach), high)
        self.scale = np.where(np.isfinite(self.upper - self.lower), self.upper - self.lower, 1.0)
        fastest = np.abs(self.basis.velocity @ control).max(axis=0)
        self.speed = np.maximum(SPEED_SHARE * legged.speed[columns], fastest)

    def evaluate_steps(
        self, offsets: np.ndarray, near: TransitionCandidate, iterations: int = 1
    ) -> tuple[np.ndarray, list[TransitionCandidate]]:
        """Whether the legs reach K deviations (K, V, n), and these candidates, rebalanced from a nearby one."""
        control = np.tile(near.control, (len(offsets), 1, 1))
        control[:, :, self.columns] += self.variable_map @ (offsets - near.offsets)
        return self._evaluate(offsets, self.balancer.rebalance(control, self._goals, self.straight.solved, iterations))

    def margins(self, trials: list[TransitionCandidate]) -> np.ndarray:
        """Smallest margin (K,) of each trial over all checks; negative: infeasible."""
        curves = self.curves(np.concatenate([candidate.rates for candidate in trials], axis=1))
        return (
            self.checker.worst_margins(curves, self.straight.anchors, self._margin_allowances)
            .reshape(len(trials), -1)
            .min(axis=1)
        )

    def curves(self, rates: np.ndarray) -> Curves:
        """Motion of coordinates with rates (3, N, D), legs solved."""
        nv = self.legged.rig.nv
        return to_manifold(self.legged.rig, rates[0, :, :nv], rates[1, :, :nv], rates[2, :, :nv])

    def _evaluate(self, offsets: np.ndarray, control: np.ndarray) -> tuple[np.ndarray, list[TransitionCandidate]]:
        count, frames = len(control), len(self.basis.times)
        solved, good = self.legged.solve_legs(*self.balancer.evaluate_splines(control), self.straight.solved)
        rates = np.stack(solved)
        motion = to_motion(self.curves(rates))
        values = self.objective.value(
            self.history + self.share * self.objective.motion_matrices(self.legged.rig, motion, count)
        )
        rates = rates.reshape(3, count, frames, -1)
        trials = [TransitionCandidate(offsets[k], control[k], rates[:, k], float(values[k])) for k in range(count)]
        return good.reshape(count, frames).all(axis=1), trials


def sample_count(spline: Spline) -> int:
    """Number of instants at which a segment is evaluated during the search."""
    return max(MIN_SAMPLES, SAMPLES_PER_KNOT * spline.free + 1)


def to_motion(curves: Curves) -> Motion:
    """Frames as a motion with arbitrary times."""
    return Motion(np.arange(float(len(curves.q))), curves.q, curves.v, curves.a)
