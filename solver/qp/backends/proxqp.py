"""ProxQP: proximal augmented Lagrangian for small dense problems; an optional library."""

from __future__ import annotations

import time

import numpy as np

from ...errors import BackendError, MissingDependency
from ..problem import Problem
from ..solution import Solution, Status

NAME = "proxqp"


def solve(problem: Problem, tolerance: float, start: Solution | None) -> Solution:
    """Solve with ProxQP's dense backend.

    Raises:
        MissingDependency: proxsuite is not installed.
        BackendError: ProxQP raised, or the problem has cones.
    """
    try:
        from proxsuite import proxqp as library
    except ImportError as error:
        raise MissingDependency("ProxQP is not installed: `pip install proxsuite`") from error
    if problem.cones:
        raise BackendError(f"{NAME}: takes no cones; use clarabel")
    began = time.perf_counter()
    n, rows = problem.variables, problem.rows
    equal = rows.equality
    matrix = rows.matrix.toarray()
    bounded = bool(np.isfinite(problem.lower).any() or np.isfinite(problem.upper).any())
    equalities, inequalities = int(equal.sum()), int((~equal).sum())
    try:
        solver = library.dense.QP(n, equalities, inequalities, bounded)
        solver.settings.eps_abs = tolerance
        solver.settings.eps_rel = tolerance
        solver.init(
            problem.P.toarray(),
            np.array(problem.q),
            matrix[equal],
            rows.upper[equal],
            matrix[~equal],
            rows.lower[~equal],
            rows.upper[~equal],
            *([np.array(problem.lower), np.array(problem.upper)] if bounded else []),
        )
        if start is None:
            solver.solve()
        else:
            inequality_duals = start.row_duals[~equal]
            both = np.concatenate([inequality_duals, start.bound_duals]) if bounded else inequality_duals
            solver.solve(start.x, start.row_duals[equal], both)
        found = solver.results
    except Exception as error:
        raise BackendError(f"{NAME}: {error}") from error
    names = {
        library.PROXQP_SOLVED: Status.OPTIMAL,
        library.PROXQP_PRIMAL_INFEASIBLE: Status.INFEASIBLE,
        library.PROXQP_DUAL_INFEASIBLE: Status.UNBOUNDED,
        library.PROXQP_MAX_ITER_REACHED: Status.LIMIT,
    }
    row_duals = np.zeros(len(rows))
    row_duals[equal] = found.y
    row_duals[~equal] = found.z[:inequalities]
    bound_duals = np.array(found.z[inequalities:]) if bounded else np.zeros(n)
    seconds = time.perf_counter() - began
    status = names.get(found.info.status, Status.FAILED)
    return Solution(
        problem, np.array(found.x), row_duals, bound_duals, (), status, int(found.info.iter), seconds, NAME, str(status)
    )
