"""Solvers, selected by name, for sequences of small quadratic programs with bounds."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import osqp
from scipy import sparse

from ..errors import UnknownPreset
from .principal_pivoting import Box, BoxSolution, solve_box

SEQUENTIAL_SOLVERS = ("pivoting", "osqp")
TOLERANCE = 1e-9
"""OSQP's absolute and relative tolerance, in radians: larger residuals would be noise in the accelerations."""
ITERATIONS = 4000
PUSHING = 1e-9
"""Fraction of the largest multiplier above which a bound counts as active."""


class SequentialSolver(Protocol):
    """Solves one program after another."""

    def __call__(self, hessian: np.ndarray, gradient: np.ndarray, box: Box, guess: np.ndarray | None) -> BoxSolution:
        """Minimise 1/2 x'Hx - g'x within a box, see `solve_box`."""


class OsqpSequence:
    """OSQP, set up once: matrices and bounds are updated in place, every program starts at the last one's solution."""

    def __init__(self) -> None:
        self._solver: osqp.OSQP | None = None
        self._entries: tuple[np.ndarray, np.ndarray] = (np.zeros(0, int), np.zeros(0, int))

    def __call__(self, hessian: np.ndarray, gradient: np.ndarray, box: Box, guess: np.ndarray | None) -> BoxSolution:
        """See `solve_box`; the start is the last program's solution, ``guess`` is ignored."""
        count, size = len(gradient), float(np.trace(hessian)) / len(gradient)
        low, high = (
            np.concatenate([box.low, np.full(len(box.upper_rows), -np.inf)]),
            np.concatenate([box.high, box.upper_rows]),
        )
        if self._solver is None:
            columns, rows = np.tril_indices(count)
            self._entries = rows, columns
            values = hessian[rows, columns] / size
            starts = np.concatenate([[0], np.cumsum(np.arange(1, count + 1))])
            upper = sparse.csc_matrix((values, rows, starts), shape=(count, count))
            bounded = sparse.vstack([sparse.eye(count), sparse.csr_matrix(box.rows)], format="csc")
            self._solver = osqp.OSQP()
            self._solver.setup(
                upper, -gradient / size, bounded, low, high, verbose=False, eps_abs=TOLERANCE, eps_rel=TOLERANCE,
                max_iter=ITERATIONS, polishing=True,
            )  # fmt: skip
        else:
            self._solver.update(q=-gradient / size, l=low, u=high, Px=hessian[self._entries] / size)
        found = self._solver.solve(raise_error=False)
        x, multipliers = np.asarray(found.x), np.asarray(found.y)
        threshold = PUSHING * float(np.max(np.abs(multipliers), initial=0.0))
        active = np.where(np.abs(multipliers) > threshold, np.sign(multipliers), 0.0).astype(int)
        return BoxSolution(x, active, box.violation(x), str(found.info.status) == "solved")


def sequential_solver(name: str) -> SequentialSolver:
    """A solver for a sequence of programs of one shape.

    Args:
        name: ``"pivoting"`` (exact, and the fastest that was measured) or ``"osqp"`` (rapetti2020's).

    Raises:
        UnknownPreset: no solver of that name.
    """
    if name == "pivoting":
        return solve_box
    if name == "osqp":
        return OsqpSequence()
    raise UnknownPreset(name, SEQUENTIAL_SOLVERS)
