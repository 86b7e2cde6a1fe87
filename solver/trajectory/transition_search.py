"""The most exciting motion between two postures, bonnet2016 (18) and (20), by sequential linear programming.

Each linear program decreases the linear model of the criterion within a trust region. Joint ranges and speeds are
linear in the control values and hold at every instant. Limits of torques and solved legs hold to first order. All other
limits are checked: of several fractions of the step, and of steps of some joints only, the best that satisfies every
limit after rebalancing is accepted. On 6 transitions of HOAP-3, random starts instead of the straight path ended within
3 % of the same criterion, so one start is enough.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from .. import qp
from .splines import REST_CONTROLS
from .transition_derivatives import LinearModel, linearise
from .transition_problem import Candidate, TransitionProblem
from .trust_region import TrustRegion, solve_sequentially

TRUST_REGION = TrustRegion(0.3, 0.02, rejected_factor=0.35, partial_factor=0.6, full_factor=1.3)
"""Radius: largest step over a coordinate's range."""
STEP_SHARES = (0.7, 0.5, 0.25)
"""Fractions of a step that are tried with all coordinates. The full step satisfied the limits 4 times in 118."""
PARTIAL_TRIALS = 2
"""Further trials: half the step in a random half of the coordinates."""
MIN_GAIN = 2e-3
"""The search ends if the relative gain of a step is smaller."""
ZERO_DERIVATIVE = 1e-9
"""Smaller derivatives are zero."""


@dataclass(frozen=True, slots=True)
class TransitionResult:
    """Result of a search.

    Attributes:
        best: satisfies every limit at the instants if the start does.
        values: of the criterion, at the start and after each accepted step.
        solver_failures: linear programs whose solutions were inaccurate, and not used.
    """

    best: Candidate
    values: tuple[float, ...]
    solver_failures: tuple[str, ...] = ()


def search_transition(problem: TransitionProblem, seed: int, max_iterations: int) -> TransitionResult:
    """Search from the straight path, with at most ``max_iterations`` linear programs."""
    found = solve_sequentially(
        _DeviationProblem(problem, seed), problem.start_candidate(), TRUST_REGION, max_iterations
    )
    return TransitionResult(found.point, tuple(point.value for point in found.accepted), found.solver_failures)


class _DeviationProblem:
    """A transition as a `SequentialProblem`."""

    def __init__(self, problem: TransitionProblem, seed: int) -> None:
        self._problem, self._generator = problem, np.random.default_rng(seed)

    def linearise(self, point: Candidate) -> LinearModel:
        """Criterion and limits to first order."""
        return linearise(self._problem, point)

    def solve_subproblem(self, point: Candidate, model: LinearModel, trust_radius: float) -> qp.Solution:
        """Solution of the linear program."""
        return qp.solve(build_subproblem(self._problem, point, model, trust_radius), qp.LINEAR)

    def try_step(self, point: Candidate, solution: qp.Solution) -> tuple[Candidate, bool] | None:
        """The best fraction of the step, or step of some joints, that satisfies every limit after rebalancing."""
        problem = self._problem
        step = deviation_step(problem, solution)
        steps = [share * step for share in STEP_SHARES]
        steps += [0.5 * step * (self._generator.random(step.shape[1]) < 0.5) for _ in range(PARTIAL_TRIALS)]
        reached, trials = problem.evaluate_steps(point.offsets + np.array(steps), point)
        better = [k for k in range(len(trials)) if reached[k] and trials[k].value < point.value]
        better.sort(key=lambda k: trials[k].value)
        margins = problem.margins([trials[k] for k in better]) if better else np.zeros(0)
        taken = next((k for k, margin in zip(better, margins) if margin >= 0.0), None)
        return None if taken is None else (trials[taken], taken == 0)

    def is_finished(self, before: Candidate, after: Candidate | None) -> bool:
        """The last step gained little."""
        return after is not None and 1.0 - after.value / before.value < MIN_GAIN


def deviation_step(problem: TransitionProblem, solution: qp.Solution) -> np.ndarray:
    """Change (V, n) of the deviations from a solution of `build_subproblem`."""
    return solution.x.reshape(len(problem.columns), -1).T


def build_subproblem(
    problem: TransitionProblem, candidate: Candidate, model: LinearModel, trust_radius: float
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
