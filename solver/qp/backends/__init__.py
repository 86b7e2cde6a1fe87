"""Solvers of a `Problem`, one file per library; `solve` selects one by name."""

from __future__ import annotations

import numpy as np

from ...base.errors import MissingDependency, UnknownPreset
from ..problem import Problem
from ..solution import Solution, Status
from . import clarabel, highs, piqp

BACKENDS = ("clarabel", "piqp")
LINEAR = "highs"
"""The backend of linear programs."""
SPARSE = "sparse"
"""Accurate optima of large sparse programs: PIQP, or Clarabel if PIQP is not installed or inaccurate."""
DEFAULT_TOLERANCE = 1e-8
"""Relative tolerance; each backend scales it to the sizes in the problem."""


def solve(
    problem: Problem,
    backend: str,
    *,
    tolerance: float = DEFAULT_TOLERANCE,
    order: np.ndarray | None = None,
) -> Solution:
    """Solve a problem and measure the residuals: a solution wrongly reported as optimal gets status `INACCURATE`.

    Args:
        problem: to solve.
        backend: ``"clarabel"`` (accurate, cones) or ``"piqp"`` (accurate, sparse, rows and bounds only); `SPARSE`, the
            quickest accurate one for large sparse programs; or `LINEAR` for linear programs without cones. Small dense
            programs are for `solve_bounded`.
        tolerance: relative.
        order: (n,) order of the variables in which rows and costs are banded, for a trajectory the order of time.
            It makes `SPARSE` quicker; the others ignore it.

    Raises:
        BackendError: the library failed, or cannot take this kind of problem.
        UnknownPreset: no backend of that name.
        MissingDependency: the library is not installed.
    """
    if backend == "clarabel":
        return clarabel.solve(problem, tolerance).with_measured_status()
    if backend == "piqp":
        return piqp.solve(problem, tolerance).with_measured_status()
    if backend == SPARSE:
        return _verified(problem, tolerance, order)
    if backend == LINEAR:
        return highs.solve(problem).with_measured_status()
    raise UnknownPreset(backend, (*BACKENDS, SPARSE, LINEAR))


def _verified(problem: Problem, tolerance: float, order: np.ndarray | None) -> Solution:
    if not problem.cones:
        try:
            found = piqp.solve(problem, tolerance, order).with_measured_status()
        except MissingDependency:
            pass
        else:
            if found.usable or found.status is Status.INFEASIBLE:
                return found
    return clarabel.solve(problem, tolerance).with_measured_status()
