"""PIQP: proximal interior-point method for sparse programs with rows and bounds; accurate as Clarabel, but quicker."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from ...base.errors import BackendError, MissingDependency
from ..problem import Problem
from ..solution import Solution, Status

NAME = "piqp"
FAR = 1e30
"""PIQP's infinity. By definition of PIQP."""
STAGED = "sparse_multistage"
"""PIQP's name of the block factorisation; older versions do not have it."""
SOLVED, TIRED = "PIQP_SOLVED", "PIQP_MAX_ITER_REACHED"
MOST = 80
"""Iteration limit. Measured on programs of repairs: those that PIQP solves take 20 to 30 iterations. It solved none of
the others within its own limit of 250, which took ten times as long as Clarabel."""
STATUS = {
    SOLVED: Status.OPTIMAL,
    TIRED: Status.LIMIT,
    "PIQP_PRIMAL_INFEASIBLE": Status.INFEASIBLE,
    "PIQP_DUAL_INFEASIBLE": Status.UNBOUNDED,
}


def solve(problem: Problem, tolerance: float, order: np.ndarray | None = None) -> Solution:
    """Solve with PIQP's sparse factorisation, or with its block factorisation if an order is given.

    Args:
        problem: without cones.
        tolerance: of residuals and gap.
        order: (n,) order of the variables in which rows and costs are banded. If the block factorisation ends with
            neither a solution nor the iteration limit, the general factorisation is used.

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
    rows, equal = problem.rows, problem.rows.equality
    staged = order is not None and hasattr(library.KKTSolver, STAGED)
    chosen = np.arange(problem.variables) if order is None or not staged else order
    P, matrix = problem.P[chosen][:, chosen], rows.matrix[:, chosen]
    parts = (
        sparse.csc_matrix(P),
        problem.q[chosen],
        sparse.csc_matrix(matrix[equal]),
        rows.upper[equal],
        sparse.csc_matrix(matrix[~equal]),
        _finite(rows.lower[~equal]),
        _finite(rows.upper[~equal]),
        _finite(problem.lower[chosen]),
        _finite(problem.upper[chosen]),
    )
    try:
        status, found = _solve(library, parts, tolerance, staged=staged)
        if staged and status not in (SOLVED, TIRED):
            status, found = _solve(library, parts, tolerance, staged=False)
    except Exception as error:
        raise BackendError(f"{NAME}: {error}") from error
    x, bound_duals, row_duals = np.empty(len(chosen)), np.empty(len(chosen)), np.zeros(len(rows))
    x[chosen], bound_duals[chosen] = found.x, found.z_bu - found.z_bl
    row_duals[equal], row_duals[~equal] = found.y, found.z_u - found.z_l
    return Solution(
        problem,
        x,
        row_duals,
        bound_duals,
        (),
        STATUS.get(status, Status.FAILED),
        int(found.info.iter),
        time.perf_counter() - began,
        NAME,
        status,
    )


def _solve(library: Any, parts: Sequence[Any], tolerance: float, *, staged: bool) -> tuple[str, Any]:
    """PIQP's status and result."""
    solver = library.SparseSolver()
    solver.settings.verbose = False
    solver.settings.max_iter = MOST
    solver.settings.eps_abs = solver.settings.eps_rel = tolerance
    solver.settings.eps_duality_gap_abs = solver.settings.eps_duality_gap_rel = tolerance
    if staged:
        solver.settings.kkt_solver = getattr(library.KKTSolver, STAGED)
    solver.setup(*parts)
    return str(solver.solve().name), solver.result


def _finite(values: np.ndarray) -> np.ndarray:
    return np.clip(values, -FAR, FAR)
