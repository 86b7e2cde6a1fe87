"""Clarabel: interior point, accurate, takes every cone."""

from __future__ import annotations

import time
from typing import Any

import clarabel as library
import numpy as np
from scipy import sparse

from ...base.errors import BackendError
from ..problem import EXPONENTIAL, PSD, SECOND_ORDER, Cone, Problem
from ..solution import Solution, Status

NAME = "clarabel"
ITERATIONS = 200
STATUS = {
    "Solved": Status.OPTIMAL,
    "AlmostSolved": Status.INACCURATE,
    "PrimalInfeasible": Status.INFEASIBLE,
    "AlmostPrimalInfeasible": Status.INFEASIBLE,
    "DualInfeasible": Status.UNBOUNDED,
    "AlmostDualInfeasible": Status.UNBOUNDED,
    "MaxIterations": Status.LIMIT,
    "MaxTime": Status.LIMIT,
}


def solve(problem: Problem, tolerance: float) -> Solution:
    """Solve with Clarabel.

    Raises:
        BackendError: Clarabel raised.
    """
    start = time.perf_counter()
    n, rows = problem.variables, problem.rows
    eye = sparse.eye_array(n, format="csr")
    equal = rows.equality
    above, below = np.isfinite(rows.upper) & ~equal, np.isfinite(rows.lower) & ~equal
    high, low = np.isfinite(problem.upper), np.isfinite(problem.lower)
    blocks = [
        rows.matrix[equal], rows.matrix[above], -rows.matrix[below], eye[high], -eye[low],
        *(-cone.matrix for cone in problem.cones),
    ]  # fmt: skip
    offsets = [
        rows.upper[equal], rows.upper[above], -rows.lower[below], problem.upper[high], -problem.lower[low],
        *(cone.offset for cone in problem.cones),
    ]  # fmt: skip
    sizes = [len(offset) for offset in offsets]
    inequalities = sum(sizes[1:5])
    cones = [library.ZeroConeT(sizes[0])] if sizes[0] else []
    cones += [library.NonnegativeConeT(inequalities)] if inequalities else []
    for cone in problem.cones:
        cones += _cones(cone)
    settings = library.DefaultSettings()
    settings.verbose = False
    settings.max_iter = ITERATIONS
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
    data = (
        sparse.csc_matrix(sparse.triu(problem.P)),
        np.array(problem.q),
        sparse.csc_matrix(sparse.vstack(blocks)),
        np.concatenate(offsets),
        cones,
    )
    try:
        found = _run(library, data, settings)
    except BackendError:  # its iterates broke down; with the problem's own scaling they take another path
        settings.equilibrate_enable = False
        found = _run(library, data, settings)
    duals = np.split(np.array(found.z), np.cumsum(sizes)[:-1])
    row_duals, bound_duals = np.zeros(len(rows)), np.zeros(n)
    row_duals[equal] = duals[0]
    row_duals[above] += duals[1]
    row_duals[below] -= duals[2]
    bound_duals[high] += duals[3]
    bound_duals[low] -= duals[4]
    return Solution(
        problem,
        np.array(found.x),
        row_duals,
        bound_duals,
        tuple(duals[5:]),
        STATUS.get(str(found.status), Status.FAILED),
        int(found.iterations),
        time.perf_counter() - start,
        NAME,
        str(found.status),
    )


def _run(library: Any, data: tuple[Any, ...], settings: Any) -> Any:
    try:
        return library.DefaultSolver(*data, settings).solve()
    except BaseException as error:  # a Rust panic is raised as a BaseException that is not an Exception
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise
        raise BackendError(f"{NAME}: {error}") from error


def _cones(cone: Cone) -> list[object]:
    if cone.kind == PSD:
        return [library.PSDTriangleConeT(cone.order)]
    if cone.kind == EXPONENTIAL:
        return [library.ExponentialConeT() for _ in range(len(cone) // 3)]
    assert cone.kind == SECOND_ORDER
    return [library.SecondOrderConeT(len(cone))]
