"""HiGHS, by SciPy: linear programmes, simplex or interior point as it sees fit."""

from __future__ import annotations

import time

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from ...errors import BackendError
from ..problem import Problem
from ..solution import Solution, Status

NAME = "highs"
STATUS = {0: Status.OPTIMAL, 1: Status.LIMIT, 2: Status.INFEASIBLE, 3: Status.UNBOUNDED, 4: Status.INACCURATE}


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
    found = linprog(
        problem.q,
        A_ub=sparse.vstack([rows.matrix[above], -rows.matrix[below]], "csr"),
        b_ub=np.concatenate([rows.upper[above], -rows.lower[below]]),
        A_eq=rows.matrix[equal] if equal.any() else None,
        b_eq=rows.upper[equal] if equal.any() else None,
        bounds=np.stack([problem.lower, problem.upper], axis=1),
        method="highs",
    )
    row_duals, bound_duals = np.zeros(len(rows)), np.zeros(problem.variables)
    solved = found.x is not None
    if solved:  # SciPy's marginals are the optimum's slopes by the right-hand sides: minus the duals here
        upper, lower = np.split(np.asarray(found.ineqlin.marginals, float), [int(above.sum())])
        row_duals[above] -= upper
        row_duals[below] += lower
        if equal.any():
            row_duals[equal] = -np.asarray(found.eqlin.marginals, float)
        bound_duals = -np.asarray(found.lower.marginals, float) - np.asarray(found.upper.marginals, float)
    x = np.asarray(found.x, float) if solved else np.full(problem.variables, np.nan)
    status = STATUS.get(int(found.status), Status.FAILED)
    seconds = time.perf_counter() - began
    return Solution(
        problem, x, row_duals, bound_duals, (), status, int(found.nit), seconds, NAME, " ".join(found.message.split())
    )
