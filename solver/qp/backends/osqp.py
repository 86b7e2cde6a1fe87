"""OSQP: operator splitting, fast, warm-starts; rows and bounds only."""

from __future__ import annotations

import time

import numpy as np
import osqp as library
from scipy import sparse

from ...errors import BackendError
from ..problem import Problem
from ..solution import Solution, Status

NAME = "osqp"
ITERATIONS = 20_000
STATUS = {
    "solved": Status.OPTIMAL,
    "solved inaccurate": Status.INACCURATE,
    "primal infeasible": Status.INFEASIBLE,
    "primal infeasible inaccurate": Status.INFEASIBLE,
    "dual infeasible": Status.UNBOUNDED,
    "dual infeasible inaccurate": Status.UNBOUNDED,
    "maximum iterations reached": Status.LIMIT,
    "run time limit reached": Status.LIMIT,
}


def solve(problem: Problem, tolerance: float, start: Solution | None) -> Solution:
    """Solve with OSQP, polished.

    Raises:
        BackendError: OSQP raised, or the problem has cones.
    """
    if problem.cones:
        raise BackendError(f"{NAME}: takes no cones; use clarabel")
    began = time.perf_counter()
    n = problem.variables
    bounded = np.isfinite(problem.lower) | np.isfinite(problem.upper)
    matrix = sparse.vstack([problem.rows.matrix, sparse.eye_array(n, format="csr")[bounded]])
    lower = np.concatenate([problem.rows.lower, problem.lower[bounded]])
    upper = np.concatenate([problem.rows.upper, problem.upper[bounded]])
    solver = library.OSQP()
    try:
        solver.setup(
            sparse.csc_matrix(sparse.triu(problem.P)),
            np.array(problem.q),
            sparse.csc_matrix(matrix),
            lower,
            upper,
            verbose=False,
            eps_abs=tolerance,
            eps_rel=tolerance,
            max_iter=ITERATIONS,
            polishing=True,
        )
        if start is not None:
            solver.warm_start(x=start.x, y=np.concatenate([start.row_duals, start.bound_duals[bounded]]))
        found = solver.solve(raise_error=False)
    except Exception as error:
        raise BackendError(f"{NAME}: {error}") from error
    status = STATUS.get(found.info.status, Status.FAILED)
    solved = status in (Status.OPTIMAL, Status.INACCURATE, Status.LIMIT)
    x = np.array(found.x) if solved else np.full(n, np.nan)
    duals = np.array(found.y) if solved else np.full(len(lower), np.nan)
    count = len(problem.rows)
    bound_duals = np.zeros(n)
    bound_duals[bounded] = duals[count:]
    seconds = time.perf_counter() - began
    return Solution(
        problem, x, duals[:count], bound_duals, (), status, int(found.info.iter), seconds, NAME, found.info.status
    )
