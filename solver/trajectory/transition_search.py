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
    return solve_sequentially(_DeviationProblem(problem), problem.start_candidate(), TRUST_REGION, max_iterations)


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
    up, down = np.maximum(problem.upper - control, 0.0), np.maximum(control - problem.lower, 0.0)
    high = trust_radius * np.tile(problem.scale, (via, 1))
    low = -high
    matrix = problem.speed_basis @ problem.variable_map
    velocity = problem.speed_basis @ candidate.control[:, problem.columns]
    own = np.concatenate([matrix, -matrix])
    room = np.concatenate([problem.speed - velocity, problem.speed + velocity])
    if via == len(inner):  # the control values are the variables: their limits are bounds
        low, high = np.maximum(low, -down), np.minimum(high, up)
    else:
        own, room = np.concatenate([inner, -inner, own]), np.concatenate([up, down, room])
    reach = np.maximum(-low, high)
    near_own = (room < np.abs(own) @ reach).T.ravel()  # no other can be reached
    room = np.maximum(room, 0.0).T.ravel()
    rows = model.limits.reshape(len(model.room), -1)
    left = np.maximum(model.room, 0.0)
    near = left < np.abs(rows) @ reach.T.ravel()
    cost = model.gradient.T.ravel()
    matrix = sparse.vstack(
        [
            sparse.kron(sparse.eye(n), own, "csr")[near_own],
            sparse.csr_matrix(np.where(np.abs(rows[near]) > ZERO_DERIVATIVE, rows[near], 0.0)),
        ],
        "csr",
    )
    names = ("range or speed",) * int(near_own.sum()) + ("limit",) * int(near.sum())
    upper = np.concatenate([room[near_own], left[near]])
    return qp.Problem(
        sparse.csc_array((via * n, via * n)),
        cost / max(float(np.abs(cost).max()), 1e-300),
        qp.Rows(matrix, np.full(len(upper), -np.inf), upper, names),
        low.T.ravel(),
        high.T.ravel(),
    )


@dataclass(frozen=True, slots=True)
class LinearModel:
    """A candidate to first order.

    Attributes:
        gradient: (V, n) of the criterion.
        limits: (R, n, V) derivatives of angles and speeds of solved legs, torques and other checks, in both directions.
        room: (R,) by which each may grow; negative: the limit is exceeded.
    """

    gradient: np.ndarray
    limits: np.ndarray
    room: np.ndarray


def linearise(problem: TransitionProblem, candidate: TransitionCandidate) -> LinearModel:
    """The linear model of a problem about a candidate."""
    legged, basis, rig = problem.legged, problem.basis, problem.legged.rig
    frames, n = len(basis.times), len(problem.columns)
    columns = np.concatenate([problem.columns, [0, 1]])  # the root's horizontal path is dependent
    curves, legs = problem.curves(candidate.rates), leg_columns(problem)
    motion, structure = to_motion(curves), problem.objective.structure
    rows = base_regressor(rig, motion, structure)
    weights = problem.share * problem.objective.gradient(rig, motion, rows, problem.history, problem.share)
    loads = problem.checker.linearise_loads(curves, problem.straight.anchors)
    tangent = np.concatenate([base_gradients(rig, motion, structure, weights)[:, :, None], loads.derivatives], axis=2)
    flat = FlatDerivatives(
        rig, candidate.rates, leg_derivatives_by_root(legged, candidate.rates, problem.straight.solved)
    )
    by_joints, by_legs = flat.to_flat(tangent)[..., columns], flat.leg_rows[..., columns]
    torques = loads.torques.shape[1]
    gain, drift = by_joints[:, :, 0], by_joints[:, :, 1 + torques : 3 + torques]
    moved = np.concatenate([by_legs, by_joints[:, :, 1 : 1 + torques], by_joints[:, :, 3 + torques :]], axis=2)
    # letters of the sums: order o of the rate, f instants, k coordinates, v variables of a coordinate, i inner control
    # values of the root's path, j and a its two coordinates, h limited quantities
    whole = np.stack([basis.position, basis.velocity, basis.acceleration])
    ours, root = whole @ problem.variable_map, whole[:, :, REST_CONTROLS:-REST_CONTROLS]
    follow = -np.einsum("if,ofjk,ofv->jikv", problem.balancer.inverse, drift[..., :n], ours, optimize=True)
    follow[~legged.root_free[:2]] = 0.0
    gradient = np.einsum("ofk,ofv->vk", gain[..., :n], ours)
    gradient += np.einsum("ofj,ofi,jikv->vk", gain[..., n:], root, follow, optimize=True)
    matrix = np.einsum("ofhk,ofv->fhkv", moved[..., :n], ours, optimize=True)
    matrix += np.einsum("ofhj,ofi,jikv->fhkv", moved[..., n:], root, follow, optimize=True)
    sampling_margin = problem.checker.sampling_factor * JOINT_TORQUE.sampling_margin
    left = 1.0 - problem.checker.options.torque_reserve - sampling_margin
    torque = left * rig.limits.torque
    off, speed = ANGLE_SAMPLING_MARGIN, SPEED_SHARE * legged.speed[legs]
    quantities = np.concatenate(
        [candidate.rates[0][:, legs], candidate.rates[1][:, legs], loads.torques, loads.other_margins], axis=1
    )
    upper = np.concatenate([legged.upper[legs] - off, speed, torque, np.full(len(loads.sampling_margins), np.inf)])
    lower = np.concatenate([legged.lower[legs] + off, -speed, -torque, loads.sampling_margins])
    room = np.concatenate([(upper - quantities).ravel(), (quantities - lower).ravel()])
    matrix = matrix.reshape(frames * quantities.shape[1], n, -1)
    bounded = np.isfinite(room)
    return LinearModel(gradient, np.concatenate([matrix, -matrix])[bounded], room[bounded])


def leg_columns(problem: TransitionProblem) -> np.ndarray:
    """Columns of the coordinates of the solved legs."""
    solved = [problem.legged.leg_columns[side] for side in problem.straight.solved]
    return np.concatenate([*solved, np.zeros(0, int)]).astype(int)
