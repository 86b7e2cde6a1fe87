"""The most exciting motion between two postures, bonnet2016 (18) and (20), by sequential linear programming.

Each linear program decreases the linear model of the criterion within a trust region. Joint ranges and speeds are
linear in the control values and hold at every instant. Limits of torques and solved legs hold to first order. All
other limits are checked: a large fraction of the step is accepted if it satisfies every limit after rebalancing; else
the best smaller fraction that does. On 6 transitions of HOAP-3, random starts instead of
the straight path ended within 3 % of the same criterion, so one start is enough.

Criterion and limits depend on single instants. Each derivative is therefore that by coordinates, velocities and
accelerations at an instant, times the spline's basis. Those of the criterion use the derivatives of the regressor,
those of the limits the derivatives of inverse dynamics. Legs depend on the root, and the root on the zero-moment point.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from .. import qp
from ..feasibility.checks.joint_limits import ANGLE_SAMPLING_MARGIN, JOINT_TORQUE
from ..identification.excitation.excitation import base_gradients, base_regressor
from .flat_derivatives import FlatDerivatives, leg_derivatives_by_root
from .splines import REST_CONTROLS
from .transition_problem import SPEED_SHARE, TransitionCandidate, TransitionProblem, to_motion
from .trust_region import SearchResult, TrustRegion, solve_sequentially

TRUST_REGION = TrustRegion(0.3, 0.02, rejected_factor=0.35, partial_factor=0.6, full_factor=1.3)
"""Radius: largest step over a coordinate's range."""
STEP_SHARES = (0.7, 0.5, 0.25)
"""Fractions of a step that are tried, the first alone: measured on 68 steps of HOAP-3 and a person, it satisfied the
limits in 28 and was then the best. The full step satisfied them 4 times in 118."""
MIN_GAIN = 2e-3
"""The search ends if the relative gain of a step is smaller."""
ZERO_DERIVATIVE = 1e-9
"""Smaller derivatives are zero."""


def search_transition(problem: TransitionProblem, max_iterations: int) -> SearchResult[TransitionCandidate]:
    """Search from the straight path, with at most ``max_iterations`` linear programs; the result satisfies every limit
    at the instants if the start does.
    """
    return solve_sequentially(_DeviationProblem(problem), problem.start, TRUST_REGION, max_iterations)


class _DeviationProblem:
    """A transition as a `SequentialProblem`."""

    def __init__(self, problem: TransitionProblem) -> None:
        self._problem = problem

    def linearise(self, point: TransitionCandidate) -> LinearModel:
        """Criterion and limits to first order."""
        return linearise(self._problem, point)

    def solve_subproblem(self, point: TransitionCandidate, model: LinearModel, trust_radius: float) -> qp.Solution:
        """Solution of the linear program."""
        return qp.solve(build_subproblem(self._problem, point, model, trust_radius), qp.LINEAR)

    def try_step(self, point: TransitionCandidate, solution: qp.Solution) -> tuple[TransitionCandidate, bool] | None:
        """A large fraction of the step, else the best smaller one, within every limit."""
        step = deviation_step(self._problem, solution)
        large = self._find_feasible(point, [STEP_SHARES[0] * step])
        found = large or self._find_feasible(point, [share * step for share in STEP_SHARES[1:]])
        return None if found is None else (found, found is large)

    def _find_feasible(self, point: TransitionCandidate, steps: list[np.ndarray]) -> TransitionCandidate | None:
        """The best of several steps from a point that satisfy every limit after rebalancing and improve it."""
        problem = self._problem
        reached, trials = problem.evaluate_steps(point.offsets + np.array(steps), point)
        better = [trial for trial, found in zip(trials, reached) if found and trial.value < point.value]
        better.sort(key=lambda trial: trial.value)
        margins = problem.margins(better) if better else np.zeros(0)
        return next((trial for trial, margin in zip(better, margins) if margin >= 0.0), None)

    def is_finished(self, before: TransitionCandidate, after: TransitionCandidate | None) -> bool:
        """The last step gained little."""
        return after is not None and 1.0 - after.value / before.value < MIN_GAIN


def deviation_step(problem: TransitionProblem, solution: qp.Solution) -> np.ndarray:
    """Change (V, n) of the deviations from a solution of `build_subproblem`."""
    return solution.x.reshape(len(problem.columns), -1).T


def build_subproblem(
    problem: TransitionProblem, candidate: TransitionCandidate, model: LinearModel, trust_radius: float
) -> qp.Problem:
    """Linear program for the step (n, V), flattened, that decreases the linear model most within region and limits."""
    via, n = model.gradient.shape
    inner = problem.variable_map[REST_CONTROLS:-REST_CONTROLS]
    control = candidate.control[REST_CONTROLS:-REST_CONTROLS, problem.columns]
    up, down = np.maximum(problem.upper - control, 0.0), np.minimum(problem.lower - control, 0.0)
    high = trust_radius * np.tile(problem.scale, (via, 1))
    low = -high
    own = problem.speed_basis @ problem.variable_map
    velocity = problem.speed_basis @ candidate.control[:, problem.columns]
    most, least = np.maximum(problem.speed - velocity, 0.0), np.minimum(-problem.speed - velocity, 0.0)
    if via == len(inner):  # the control values are the variables: their limits are bounds
        low, high = np.maximum(low, down), np.minimum(high, up)
    else:
        own, most, least = (np.concatenate(parts) for parts in ((inner, own), (up, most), (down, least)))
    reach = np.maximum(-low, high)
    # a row that no step within the bounds brings to its limit is left out
    near_own = (np.minimum(most, -least) < np.abs(own) @ reach).T.ravel()
    rows = model.limits.reshape(len(model.upper), -1)
    upper, lower = np.maximum(model.upper, 0.0), np.minimum(model.lower, 0.0)
    near = np.minimum(upper, -lower) < np.abs(rows) @ reach.T.ravel()
    cost = model.gradient.T.ravel()
    matrix = sparse.vstack(
        [
            sparse.kron(sparse.eye(n), own, "csr")[near_own],
            sparse.csr_matrix(np.where(np.abs(rows[near]) > ZERO_DERIVATIVE, rows[near], 0.0)),
        ],
        "csr",
    )
    names = ("range or speed",) * int(near_own.sum()) + ("limit",) * int(near.sum())
    return qp.Problem(
        sparse.csc_array((via * n, via * n)),
        cost / max(float(np.abs(cost).max()), 1e-300),
        qp.Rows(
            matrix,
            np.concatenate([least.T.ravel()[near_own], lower[near]]),
            np.concatenate([most.T.ravel()[near_own], upper[near]]),
            names,
        ),
        low.T.ravel(),
        high.T.ravel(),
    )


@dataclass(frozen=True, slots=True)
class LinearModel:
    """A candidate to first order.

    Attributes:
        gradient: (V, n) of the criterion.
        limits: (R, n, V) derivatives of angles and speeds of solved legs, torques and other checks.
        lower, upper: (R,) least and largest change of each; a change in the wrong direction: the limit is exceeded.
    """

    gradient: np.ndarray
    limits: np.ndarray
    lower: np.ndarray
    upper: np.ndarray


def linearise(problem: TransitionProblem, candidate: TransitionCandidate) -> LinearModel:
    """The linear model of a problem about a candidate."""
    legged, basis, rig = problem.legged, problem.basis, problem.legged.rig
    frames, n = len(basis.times), len(problem.columns)
    columns = np.concatenate([problem.columns, [0, 1]])  # the root's horizontal path is dependent
    curves, legs = problem.curves(candidate.rates), leg_columns(problem)
    motion, structure = to_motion(curves), problem.objective.structure
    regressor = base_regressor(rig, motion, structure)
    weights = problem.share * problem.objective.gradient(rig, motion, regressor, problem.history, problem.share)
    loads = problem.checker.linearise_loads(curves, problem.straight.anchors)
    tangent = np.concatenate([base_gradients(rig, motion, structure, weights)[:, :, None], loads.derivatives], axis=2)
    flat = FlatDerivatives(
        rig, candidate.rates, leg_derivatives_by_root(legged, candidate.rates, problem.straight.solved)
    )
    torques = loads.torques.shape[1]
    # of the criterion, torques, zero-moment point, other margins, angles and speeds of solved legs
    rows = np.concatenate([flat.to_flat(tangent), flat.leg_rows], axis=2)[..., columns]
    whole = np.stack([basis.position, basis.velocity, basis.acceleration])
    ours, root = whole @ problem.variable_map, whole[:, :, REST_CONTROLS:-REST_CONTROLS]
    moved = _by_variables(rows[..., :n], ours)
    follow = -np.tensordot(problem.balancer.inverse, moved[:, 1 + torques : 3 + torques], 1).swapaxes(0, 1)
    follow[~legged.root_free[:2]] = 0.0
    by_root = _by_variables(rows[..., n:], root).reshape(frames, rows.shape[2], -1)
    moved += (by_root @ follow.reshape(by_root.shape[2], -1)).reshape(moved.shape)
    sampling_margin = problem.checker.sampling_factor * JOINT_TORQUE.sampling_margin
    left = 1.0 - problem.checker.options.torque_reserve - sampling_margin
    torque, anywhere = left * rig.limits.torque, np.full(2, np.inf)
    off, speed = ANGLE_SAMPLING_MARGIN, SPEED_SHARE * legged.speed[legs]
    quantities = np.concatenate(
        [loads.torques, loads.zmp, loads.other_margins, candidate.rates[0][:, legs], candidate.rates[1][:, legs]],
        axis=1,
    )
    above = np.full(len(loads.sampling_margins), np.inf)
    upper = np.concatenate([torque, anywhere, above, legged.upper[legs] - off, speed]) - quantities
    lower = np.concatenate([-torque, -anywhere, loads.sampling_margins, legged.lower[legs] + off, -speed]) - quantities
    bounded = np.isfinite(lower) | np.isfinite(upper)
    return LinearModel(moved[:, 0].sum(axis=0).T, moved[:, 1:][bounded], lower[bounded], upper[bounded])


def _by_variables(derivatives: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """Derivatives (N, h, k, V) by the variables of k coordinates, from those (3, N, h, k) by the coordinates' rates and
    the rates' own (3, N, V) by the variables of a coordinate.
    """
    _, frames, count, coordinates = derivatives.shape
    rates = np.ascontiguousarray(derivatives.transpose(1, 2, 3, 0)).reshape(frames, -1, len(basis))
    return (rates @ basis.swapaxes(0, 1)).reshape(frames, count, coordinates, -1)


def leg_columns(problem: TransitionProblem) -> np.ndarray:
    """Columns of the coordinates of the solved legs."""
    solved = [problem.legged.leg_columns[side] for side in problem.straight.solved]
    return np.concatenate([*solved, np.zeros(0, int)]).astype(int)
