"""The best motion between two postures, bonnet2016 (18) and (20), by sequential linear programming.

Each step's linear programme lowers the criterion's linear model within a trust region. Joint ranges and speeds are
linear in the control values and hold at every instant; torques and the solved legs hold to first order; everything
else is judged: of several shares of the step, and of steps of some joints only, the best that keeps every limit after
rebalancing is taken. On 6 transitions of HOAP-3, starting from random deviations instead of the straight path ended
within 3 % of the same criterion, so one start is enough.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from .. import qp
from .splines import AT_REST
from .transition_problem import Candidate, TransitionProblem
from .transition_slopes import Slopes, slopes_of
from .trust_region import Trust, descend

TRUST = Trust(0.3, 0.02, refused=0.35, shortened=0.6, whole=1.3)
"""Largest step as a share of a coordinate's range."""
SHARES = (0.7, 0.5, 0.25)
"""Of a step, tried with all coordinates. All of it, to a corner of what is linear, kept the limits 4 times in 118."""
PARTIAL = 2
"""Trials besides, of half the step in a random half of the coordinates."""
LEAST_GAIN = 2e-3
"""Relative gain of a step below which the search ends."""
NOTHING = 1e-9
"""Slopes below are zero."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found.

    Attributes:
        best: keeps every limit at the instants if the start did.
        values: of the criterion, from the start on, after each step taken.
        flaws: of linear programmes whose solutions were bad, and not used.
    """

    best: Candidate
    values: tuple[float, ...]
    flaws: tuple[str, ...] = ()


def search(problem: TransitionProblem, seed: int, rounds: int) -> Found:
    """The best of at most so many linear programmes from the straight path on."""
    found = descend(_Deviation(problem, seed), problem.start(), TRUST, rounds)
    return Found(found.point, tuple(point.value for point in found.points), found.flaws)


class _Deviation:
    """A transition as `descend` asks for it."""

    def __init__(self, problem: TransitionProblem, seed: int) -> None:
        self._problem, self._generator = problem, np.random.default_rng(seed)

    def model(self, point: Candidate) -> Slopes:
        """Criterion and limits to first order."""
        return slopes_of(self._problem, point)

    def programme(self, point: Candidate, model: Slopes, trust: float) -> qp.Solution:
        """The linear programme, solved."""
        return qp.solve(programme(self._problem, point, model, trust), qp.LINEAR)

    def tried(self, point: Candidate, solution: qp.Solution) -> tuple[Candidate, bool] | None:
        """The best share of the step, or step of some joints only, that keeps every limit once rebalanced."""
        problem = self._problem
        step = step_of(problem, solution)
        steps = [share * step for share in SHARES]
        steps += [0.5 * step * (self._generator.random(step.shape[1]) < 0.5) for _ in range(PARTIAL)]
        reached, trials = problem.tried(point.offsets + np.array(steps), point)
        better = [k for k in range(len(trials)) if reached[k] and trials[k].value < point.value]
        better.sort(key=lambda k: trials[k].value)
        margins = problem.margins([trials[k] for k in better]) if better else np.zeros(0)
        taken = next((k for k, margin in zip(better, margins) if margin >= 0.0), None)
        return None if taken is None else (trials[taken], taken == 0)

    def ends(self, before: Candidate, after: Candidate | None) -> bool:
        """Little was gained."""
        return after is not None and 1.0 - after.value / before.value < LEAST_GAIN


def step_of(problem: TransitionProblem, solution: qp.Solution) -> np.ndarray:
    """(V, n) change of the deviations that a solution of `programme` means."""
    return solution.x.reshape(len(problem.columns), -1).T


def programme(problem: TransitionProblem, candidate: Candidate, slopes: Slopes, trust: float) -> qp.Problem:
    """The step (n, V), raveled, that lowers the linear model most within trust and limits."""
    via, n = slopes.gradient.shape
    inner = problem.inner[AT_REST:-AT_REST]
    control = candidate.control[AT_REST:-AT_REST, problem.columns]
    up, down = np.maximum(problem.upper - control, 0.0), np.maximum(control - problem.lower, 0.0)
    high = trust * np.tile(problem.scale, (via, 1))
    low = -high
    matrix = problem.rising @ problem.inner
    velocity = problem.rising @ candidate.control[:, problem.columns]
    own = np.concatenate([matrix, -matrix])
    room = np.concatenate([problem.speed - velocity, problem.speed + velocity])
    if via == len(inner):  # the control values are the variables: their limits are bounds
        low, high = np.maximum(low, -down), np.minimum(high, up)
    else:
        own, room = np.concatenate([inner, -inner, own]), np.concatenate([up, down, room])
    reach = np.maximum(-low, high)
    near_own = (room < np.abs(own) @ reach).T.ravel()  # no other can be reached
    room = np.maximum(room, 0.0).T.ravel()
    rows = slopes.limits.reshape(len(slopes.room), -1)
    left = np.maximum(slopes.room, 0.0)
    near = left < np.abs(rows) @ reach.T.ravel()
    cost = slopes.gradient.T.ravel()
    matrix = sparse.vstack(
        [
            sparse.kron(sparse.eye(n), own, "csr")[near_own],
            sparse.csr_matrix(np.where(np.abs(rows[near]) > NOTHING, rows[near], 0.0)),
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
