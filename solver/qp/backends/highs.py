"""HiGHS, by SciPy: linear programmes, simplex or interior point as it sees fit.

Of many rows few bind: HiGHS gets those that the optimum so far breaks, until it breaks none, which is the optimum of
all. What is left is small and dense, and its presolve would cost more than the simplex that it spares.
"""

from __future__ import annotations

import time

import numpy as np
from scipy import sparse
from scipy.optimize import OptimizeResult, linprog

from ...errors import BackendError
from ..problem import Problem
from ..solution import Solution, Status

NAME = "highs"
STATUS = {0: Status.OPTIMAL, 1: Status.LIMIT, 2: Status.INFEASIBLE, 3: Status.UNBOUNDED, 4: Status.INACCURATE}
AT_ONCE = 100
"""Rows that are added at most, the most broken first. Of 40 programmes of transitions, 200 variables and 1,000 rows
each, 60 to 400 took the same time within a sixth: a quarter to a tenth of all rows at once with presolve."""
BROKEN = 1e-9
"""Share of what a row may reach within the bounds by which it counts as broken."""


def solve(problem: Problem) -> Solution:
    """Solve with HiGHS, to its own tolerance of 1e-7.

    Raises:
        BackendError: the problem has cones or a quadratic term.
    """
    if problem.cones or problem.P.nnz:
        raise BackendError(f"{NAME}: takes linear programmes only; use osqp or clarabel")
    began = time.perf_counter()
    rows = problem.rows
    equal = rows.equality
    above, below = np.isfinite(rows.upper) & ~equal, np.isfinite(rows.lower) & ~equal
    matrix = sparse.vstack([rows.matrix[above], -rows.matrix[below]], "csr")
    limits = np.concatenate([rows.upper[above], -rows.lower[below]])
    fixed = (rows.matrix[equal], rows.upper[equal]) if equal.any() else (None, None)
    found, pushes, iterations = _by_broken_rows(problem, matrix, limits, fixed)
    row_duals, bound_duals = np.zeros(len(rows)), np.zeros(problem.variables)
    solved = found.x is not None
    if solved:  # SciPy's marginals are the optimum's slopes by the right-hand sides: minus the duals here
        upper, lower = np.split(pushes, [int(above.sum())])
        row_duals[above] -= upper
        row_duals[below] += lower
        if equal.any():
            row_duals[equal] = -np.asarray(found.eqlin.marginals, float)
        bound_duals = -np.asarray(found.lower.marginals, float) - np.asarray(found.upper.marginals, float)
    x = np.asarray(found.x, float) if solved else np.full(problem.variables, np.nan)
    status = STATUS.get(int(found.status), Status.FAILED)
    seconds = time.perf_counter() - began
    return Solution(
        problem, x, row_duals, bound_duals, (), status, iterations, seconds, NAME, " ".join(found.message.split())
    )


def _by_broken_rows(
    problem: Problem,
    matrix: sparse.csr_array,
    limits: np.ndarray,
    fixed: tuple[sparse.csr_array | None, np.ndarray | None],
) -> tuple[OptimizeResult, np.ndarray, int]:
    """SciPy's result, marginals of all rows ``matrix`` x <= ``limits``, and iterations in all."""
    bounds = np.stack([problem.lower, problem.upper], axis=1)
    few = np.isfinite(bounds).all()  # else an optimum of some rows need not be finite
    reach = abs(matrix) @ np.abs(bounds).max(axis=1) if few else np.ones(len(limits))
    dense = matrix.toarray() if few else matrix
    taken, iterations = np.full(len(limits), not few), 0
    while True:
        found = linprog(
            problem.q, A_ub=dense[taken], b_ub=limits[taken], A_eq=fixed[0], b_eq=fixed[1], bounds=bounds,
            method="highs", options={"presolve": not few},
        )  # fmt: skip
        iterations += int(found.nit)
        pushes = np.zeros(len(limits))
        if found.x is None:
            return found, pushes, iterations
        broken = np.where(taken, 0.0, dense @ found.x - limits) / np.maximum(reach, np.finfo(float).tiny)
        worst = np.argsort(-broken, kind="stable")[:AT_ONCE]
        worst = worst[broken[worst] > BROKEN]
        if not len(worst):
            pushes[taken] = found.ineqlin.marginals
            return found, pushes, iterations
        taken[worst] = True
