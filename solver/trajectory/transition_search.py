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
from scipy.optimize import linprog

from .splines import AT_REST
from .transition_problem import Candidate, TransitionProblem
from .transition_slopes import Slopes, slopes_of

TRUST, LEAST_TRUST = 0.3, 0.02
"""Largest first step as a share of a coordinate's range; below the other the search ends."""
SHARES = (1.0, 0.5, 0.2)
"""Of a step, tried with all coordinates."""
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
        values: of the criterion, from the start on, after each step.
    """

    best: Candidate
    values: tuple[float, ...]


def search(problem: TransitionProblem, seed: int, rounds: int) -> Found:
    """The best of at most so many linear programmes from the straight path on."""
    generator = np.random.default_rng(seed)
    best, trust = problem.start(), TRUST
    values = [best.value]
    for _ in range(rounds):
        step = programme(problem, best, slopes_of(problem, best), trust)
        steps = [share * step for share in SHARES]
        steps += [0.5 * step * (generator.random(step.shape[1]) < 0.5) for _ in range(PARTIAL)]
        reached, trials = problem.tried(best.offsets + np.array(steps), best)
        better = [k for k in range(len(trials)) if reached[k] and trials[k].value < best.value]
        better.sort(key=lambda k: trials[k].value)
        margins = problem.margins([trials[k] for k in better]) if better else np.zeros(0)
        taken = next((k for k, margin in zip(better, margins) if margin >= 0.0), None)
        if taken is None:
            trust *= 0.35
        else:
            gain = 1.0 - trials[taken].value / best.value
            best = trials[taken]
            trust *= 1.3 if taken == 0 else 0.8
            if gain < LEAST_GAIN:
                break
        values.append(best.value)
        if trust < LEAST_TRUST:
            break
    return Found(best, tuple(values))


def programme(problem: TransitionProblem, candidate: Candidate, slopes: Slopes, trust: float) -> np.ndarray:
    """The step (V, n) that lowers the linear model most within trust and limits."""
    via, n = slopes.gradient.shape
    inner = problem.inner[AT_REST:-AT_REST]
    control = candidate.control[AT_REST:-AT_REST, problem.columns]
    up, down = np.maximum(problem.upper - control, 0.0), np.maximum(control - problem.lower, 0.0)
    high = trust * np.tile(problem.scale, (via, 1))
    low = -high
    matrix = problem.basis.velocity @ problem.inner
    velocity = candidate.rates[1][:, problem.columns]
    own = np.concatenate([matrix, -matrix])
    room = np.concatenate([problem.speed - velocity, problem.speed + velocity])
    if via == len(inner):  # the control values are the variables: their limits are bounds
        low, high = np.maximum(low, -down), np.minimum(high, up)
    else:
        own, room = np.concatenate([inner, -inner, own]), np.concatenate([up, down, room])
    room = np.maximum(room, 0.0).T.ravel()
    finite = np.isfinite(room)
    rows = slopes.limits.reshape(len(slopes.room), -1)
    left = np.maximum(slopes.room, 0.0)
    near = left < np.abs(rows) @ np.maximum(-low, high).T.ravel()  # no other can be reached
    cost = slopes.gradient.T.ravel()
    found = linprog(
        cost / max(float(np.abs(cost).max()), 1e-300),
        A_ub=sparse.vstack(
            [
                sparse.kron(sparse.eye(n), own, "csr")[finite],
                sparse.csr_matrix(np.where(np.abs(rows[near]) > NOTHING, rows[near], 0.0)),
            ],
            "csr",
        ),
        b_ub=np.concatenate([room[finite], left[near]]),
        bounds=np.stack([low.T.ravel(), high.T.ravel()], axis=1),
        method="highs",
    )
    return np.zeros((via, n)) if found.x is None else found.x.reshape(n, via).T
