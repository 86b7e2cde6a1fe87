"""Small dense quadratic programs with bounds: each exactly, by DAQP, or a sequence of them by OSQP.

DAQP is a dual active-set method (Arnstroem, Bemporad and Axehill, IEEE Trans. Automatic Control 67, 2022).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import daqp
import numpy as np
from scipy import sparse

from ..base.errors import UnknownPreset

if TYPE_CHECKING:
    import osqp

EQUALITY, SOFT = 5, 8
"""DAQP's marks of constraints."""
TOLERANCE = 1e-10
"""Violation within which DAQP counts a bound as satisfied."""
COMPLIANCE = 1e-10
"""Compliance of a contradictory row a, relative to its own, a H^-1 a'."""
ITERATIONS = 10_000
OSQP_TOLERANCE = 1e-9
"""OSQP's absolute and relative tolerance, in radians: larger residuals would be noise in the accelerations."""
OSQP_ITERATIONS = 4000
PUSHING = 1e-9
"""Fraction of OSQP's largest multiplier below which a bound counts as free."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Constraints low <= (x, G x) <= high.

    Attributes:
        low, high: (n + m,) of the variables, then of the rows; infinite where free.
        rows: (m, n) G, few.
    """

    low: np.ndarray
    high: np.ndarray
    rows: np.ndarray

    def violation(self, x: np.ndarray) -> float:
        """Largest violation of a bound."""
        values = np.concatenate([x, self.rows @ x])
        return max(0.0, float((values - self.high).max()), float((self.low - values).max()))


@dataclass(frozen=True, slots=True)
class BoundedSolution:
    """Minimum of a quadratic program with bounds.

    Attributes:
        x: (n,).
        multipliers: (n + m,) derivatives of the least cost by the bounds, negated: positive where a variable or row is
            at its upper bound, negative at its lower one, 0 where it is free.
        slack: 0 if every bound holds; otherwise the largest violation, infinite if there is no solution.
    """

    x: np.ndarray
    multipliers: np.ndarray
    slack: float


BoundedSolver = Callable[[np.ndarray, np.ndarray, Bounds], BoundedSolution]


def solve_bounded(
    hessian: np.ndarray, gradient: np.ndarray, bounds: Bounds, tolerance: float = TOLERANCE
) -> BoundedSolution:
    """Minimise 1/2 x'Hx - g'x within bounds; of contradictory ones those of the variables hold, and the rows share the
    violation.

    Args:
        hessian: (n, n) positive definite; otherwise there is no solution.
        gradient: (n,) g.
        bounds: on x.
        tolerance: violation within which a bound counts as satisfied.
    """
    count, low, high = len(gradient), np.array(bounds.low), np.array(bounds.high)
    sense = (low == high) * np.int32(EQUALITY)
    for is_soft in (False, True) if len(bounds.rows) else (False,):
        if is_soft:
            sense[count:] = SOFT
        x, _, status, found = daqp.solve(
            np.array(hessian), -gradient, np.array(bounds.rows), high, low, sense,
            primal_tol=tolerance, iter_limit=ITERATIONS, rho_soft=COMPLIANCE,
        )  # fmt: skip
        if status > 0 and np.isfinite(x).all():
            x = np.minimum(np.maximum(x, low[:count]), high[:count])
            return BoundedSolution(x, np.array(found["lam"]), bounds.violation(x) if is_soft else 0.0)
    return BoundedSolution(np.clip(0.0, low[:count], high[:count]), np.zeros(len(low)), np.inf)


class OsqpSequence:
    """OSQP, set up once: matrices and bounds are updated in place, every program starts at the last one's solution."""

    def __init__(self) -> None:
        self._solver: osqp.OSQP | None = None

    def __call__(self, hessian: np.ndarray, gradient: np.ndarray, bounds: Bounds) -> BoundedSolution:
        """See `solve_bounded`; the programs have one shape."""
        count, size = len(gradient), float(np.trace(hessian)) / len(gradient)
        columns, rows = np.tril_indices(count)
        values = hessian[rows, columns] / size
        if self._solver is None:
            import osqp

            starts = np.concatenate([[0], np.cumsum(np.arange(1, count + 1))])
            upper = sparse.csc_matrix((values, rows, starts), shape=(count, count))
            bounded = sparse.vstack([sparse.eye(count), sparse.csr_matrix(bounds.rows)], format="csc")
            self._solver = osqp.OSQP()
            self._solver.setup(
                upper, -gradient / size, bounded, bounds.low, bounds.high, verbose=False, eps_abs=OSQP_TOLERANCE,
                eps_rel=OSQP_TOLERANCE, max_iter=OSQP_ITERATIONS, polishing=True,
            )  # fmt: skip
        else:
            self._solver.update(q=-gradient / size, l=bounds.low, u=bounds.high, Px=values)
        found = self._solver.solve(raise_error=False)
        x, multipliers = np.asarray(found.x), size * np.asarray(found.y)
        multipliers[np.abs(multipliers) <= PUSHING * np.max(np.abs(multipliers), initial=0.0)] = 0.0
        return BoundedSolution(x, multipliers, bounds.violation(x) if found.info.status == "solved" else np.inf)


def bounded_solver(name: str) -> BoundedSolver:
    """A solver for a sequence of programs of one shape.

    Args:
        name: ``"daqp"`` (exact, and the fastest that was measured) or ``"osqp"`` (rapetti2020's).

    Raises:
        UnknownPreset: no solver of that name.
    """
    if name == "daqp":
        return solve_bounded
    if name == "osqp":
        return OsqpSequence()
    raise UnknownPreset(name, ("daqp", "osqp"))
