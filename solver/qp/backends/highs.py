"""HiGHS for linear programs, by `highspy` with warm starts.

Few of many rows bind. So rows are added only where the current optimum violates them, until it violates none. The dual
simplex continues from the last basis each time. To restart, as SciPy does, took three to four times as long for 99
programs of transitions of a robot and a person (210 variables and 1,900 rows each).
"""

from __future__ import annotations

import time
from typing import Any

import highspy
import numpy as np
from scipy import sparse

from ...base.errors import BackendError
from ..problem import Problem, Rows
from ..solution import Solution, Status

NAME = "highs"
AT_ONCE = 200
"""Largest number of rows added at once, the most violated first: Measured on 99 programs of transitions of a robot and
a person: 100 to 2,000 took the same time within a third."""
BROKEN = 1e-9
"""Violation from which a row counts as violated, as a fraction of its largest value within the bounds."""
DEVEX, UNSCALED = 1, 0
OPTIONS = {
    "output_flag": False,
    "threads": 1,
    "simplex_dual_edge_weight_strategy": DEVEX,
    "simplex_scale_strategy": UNSCALED,
}
"""Rows have similar size and iterations are few, so steepest edges do not pay: each saves a tenth of the time."""
STATUS = {
    "kOptimal": Status.OPTIMAL,
    "kModelEmpty": Status.OPTIMAL,
    "kInfeasible": Status.INFEASIBLE,
    "kUnbounded": Status.UNBOUNDED,
    "kTimeLimit": Status.LIMIT,
    "kIterationLimit": Status.LIMIT,
}


def solve(problem: Problem) -> Solution:
    """Solve with HiGHS, to its own tolerance of 1e-7.

    Raises:
        BackendError: the problem has cones or a quadratic term.
    """
    if problem.cones or problem.P.nnz:
        raise BackendError(f"{NAME}: takes linear programs only; use clarabel")
    began = time.perf_counter()
    rows = problem.rows
    bounds = np.maximum(np.abs(problem.lower), np.abs(problem.upper))
    within = bool(np.isfinite(bounds).all())  # otherwise the optimum of a subset of the rows may be infinite
    matrix = rows.matrix.toarray() if within else rows.matrix
    reach = np.maximum(abs(matrix) @ bounds, np.finfo(float).tiny) if within else np.ones(len(rows))
    simplex = HighsSolver(problem, presolve=not within)
    taken = np.full(len(rows), not within) | rows.equality
    first = np.flatnonzero(taken)
    if within:
        x = np.clip(np.where(problem.q > 0.0, problem.lower, problem.upper), problem.lower, problem.upper)
        first = np.concatenate([first, _violated(rows, matrix @ x, reach, taken)])
    order, iterations = [first], 0
    while True:
        status, x, marginals, reduced, spent = simplex.solve_with(order[-1], matrix)
        iterations += spent
        taken[order[-1]] = True
        more = _violated(rows, matrix @ x, reach, taken) if status is Status.OPTIMAL and within else first[:0]
        if not len(more):
            break
        order.append(more)
    row_duals = np.zeros(len(rows))
    row_duals[np.concatenate(order)] = -marginals  # derivatives of the optimum by the right-hand sides
    seconds = time.perf_counter() - began
    return Solution(problem, x, row_duals, -reduced, (), status, iterations, seconds, NAME, simplex.message)


def _violated(rows: Rows, values: np.ndarray, reach: np.ndarray, taken: np.ndarray) -> np.ndarray:
    """Indices of the rows, of those not taken yet, that values (m,) of G x violate most."""
    with np.errstate(over="ignore"):  # of a row without coefficients: infinite if it is violated
        over = np.where(taken, 0.0, np.maximum(values - rows.upper, rows.lower - values) / reach)
    worst = np.argsort(-over, kind="stable")[:AT_ONCE]
    return worst[over[worst] > BROKEN]


class HighsSolver:
    """A linear program to which rows are added.

    Args:
        problem: with costs and bounds.
        presolve: whether HiGHS presolves.

    Attributes:
        message: the library's last status message.
    """

    def __init__(self, problem: Problem, *, presolve: bool) -> None:
        self._rows, self._variables, self._count = problem.rows, problem.variables, 0
        self._highs = highspy.Highs()
        for name, value in ({**OPTIONS, "presolve": "on" if presolve else "off"}).items():
            self._highs.setOptionValue(name, value)
        lower, upper = (_reals(side) for side in (problem.lower, problem.upper))
        self._highs.addVars(problem.variables, lower, upper)
        self._highs.changeColsCost(problem.variables, np.arange(problem.variables, dtype=np.int32), _reals(problem.q))
        self.message = ""

    def solve_with(self, more: np.ndarray, matrix: Any) -> tuple[Status, np.ndarray, np.ndarray, np.ndarray, int]:
        """Add rows and solve: status, x (n,), marginals of all rows so far, reduced costs (n,) and iterations."""
        highs, some = self._highs, sparse.csr_array(matrix[more])
        lower, upper = _reals(self._rows.lower[more]), _reals(self._rows.upper[more])
        starts, indices = some.indptr[:-1].astype(np.int32), some.indices.astype(np.int32)
        highs.addRows(len(more), lower, upper, some.nnz, starts, indices, _reals(some.data))
        self._count += len(more)
        highs.run()
        ended = highs.getModelStatus()
        status = STATUS.get(ended.name, Status.FAILED)
        self.message = highs.modelStatusToString(ended)
        found, info = highs.getSolution(), highs.getInfo()
        spent = max(0, int(info.simplex_iteration_count)) + max(0, int(info.ipm_iteration_count))
        if status is not Status.OPTIMAL:
            return status, np.full(self._variables, np.nan), np.zeros(self._count), np.zeros(self._variables), spent
        return status, np.array(found.col_value), np.array(found.row_dual), np.array(found.col_dual), spent


def _reals(values: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(values, float)
