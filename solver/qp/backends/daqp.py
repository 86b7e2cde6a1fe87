"""DAQP: a dual active-set method for small dense problems."""

from __future__ import annotations

import time

import numpy as np

from ...errors import BackendError, MissingDependency
from ..problem import Problem
from ..solution import Solution, Status

NAME = "daqp"
UNLIMITED = 1e30
"""DAQP's infinity."""
EQUALITY = 5
"""DAQP's mark of an equality."""
ITERATIONS = 100_000
STATUSES = {
    1: Status.OPTIMAL,
    2: Status.OPTIMAL,  # within soft rows, of which there are none
    -1: Status.INFEASIBLE,
    -3: Status.UNBOUNDED,
    -4: Status.LIMIT,
}


def solve(problem: Problem, tolerance: float) -> Solution:
    """Solve with DAQP from an empty active set; a cost that is not strictly convex is regularised by DAQP.

    Raises:
        MissingDependency: DAQP is not installed.
        BackendError: the problem has cones.
    """
    try:
        import daqp
    except ImportError as error:
        raise MissingDependency("DAQP is not installed: `pip install daqp`") from error
    if problem.cones:
        raise BackendError(f"{NAME}: takes no cones; use clarabel")
    began = time.perf_counter()
    n, rows = problem.variables, problem.rows
    upper = np.concatenate([problem.upper, rows.upper]).clip(-UNLIMITED, UNLIMITED)
    lower = np.concatenate([problem.lower, rows.lower]).clip(-UNLIMITED, UNLIMITED)
    sense = np.concatenate([np.zeros(n, bool), rows.equality]) * np.int32(EQUALITY)
    hessian, matrix = np.ascontiguousarray(problem.P.toarray()), np.ascontiguousarray(rows.matrix.toarray())
    x, _, flag, found = daqp.solve(
        hessian, np.array(problem.q), matrix, upper, lower, sense, primal_tol=tolerance, iter_limit=ITERATIONS
    )
    status = STATUSES.get(flag, Status.FAILED)
    duals = np.array(found["lam"]) if len(found["lam"]) == len(upper) else np.zeros(len(upper))
    seconds = time.perf_counter() - began
    return Solution(
        problem, np.array(x), duals[n:], duals[:n], (), status, int(found["iterations"]), seconds, NAME, f"flag {flag}"
    )
