"""PIQP: proximal interior points for sparse programmes with rows and bounds; Clarabel's accuracy in less time."""

from __future__ import annotations

import time

import numpy as np
from scipy import sparse

from ...errors import BackendError, MissingDependency
from ..problem import Problem
from ..solution import Solution, Status

NAME = "piqp"
FAR = 1e30
"""What PIQP takes for infinite."""
STATUS = {
    "PIQP_SOLVED": Status.OPTIMAL,
    "PIQP_MAX_ITER_REACHED": Status.LIMIT,
    "PIQP_PRIMAL_INFEASIBLE": Status.INFEASIBLE,
    "PIQP_DUAL_INFEASIBLE": Status.UNBOUNDED,
}


def solve(problem: Problem, tolerance: float) -> Solution:
    """Solve with PIQP's sparse factorisation.

    Raises:
        MissingDependency: piqp is not installed.
        BackendError: PIQP raised, or the problem has cones.
    """
    try:
        import piqp as library
    except ImportError as error:
        raise MissingDependency("PIQP is not installed: `pip install piqp`") from error
    if problem.cones:
        raise BackendError(f"{NAME}: takes no cones; use clarabel")
    began = time.perf_counter()
    rows = problem.rows
    equal = rows.equality
    try:
        solver = library.SparseSolver()
        solver.settings.verbose = False
        solver.settings.eps_abs = solver.settings.eps_rel = tolerance
        solver.settings.eps_duality_gap_abs = solver.settings.eps_duality_gap_rel = tolerance
        solver.setup(
            sparse.csc_matrix(problem.P),
            np.array(problem.q),
            sparse.csc_matrix(rows.matrix[equal]),
            rows.upper[equal],
            sparse.csc_matrix(rows.matrix[~equal]),
            _finite(rows.lower[~equal]),
            _finite(rows.upper[~equal]),
            _finite(problem.lower),
            _finite(problem.upper),
        )
        status = solver.solve()
        found = solver.result
    except Exception as error:
        raise BackendError(f"{NAME}: {error}") from error
    row_duals = np.zeros(len(rows))
    row_duals[equal] = found.y
    row_duals[~equal] = found.z_u - found.z_l
    return Solution(
        problem,
        np.array(found.x),
        row_duals,
        np.asarray(found.z_bu - found.z_bl, float),
        (),
        STATUS.get(status.name, Status.FAILED),
        int(found.info.iter),
        time.perf_counter() - began,
        NAME,
        str(status.name),
    )


def _finite(values: np.ndarray) -> np.ndarray:
    return np.clip(values, -FAR, FAR)
