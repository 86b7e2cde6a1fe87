"""Small dense quadratic programs with bounds, solved exactly by block principal pivoting from a guessed active set.

Suited to sequences such as the steps of a tracker, whose active sets change little. Variables at a bound are
eliminated, so bounds cost no accuracy. All wrong choices are exchanged at once while their number falls; otherwise one
at a time, by the last index, which always terminates (Murty 1974; Judice and Pires 1994).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dposv

from ..errors import BackendError

FEASIBLE = 1e-9
"""Violation within which a bound counts as satisfied."""
GIVE = 1e-10
"""Compliance of a row, relative to its own: dependent rows share their multiplier, and contradictory rows are violated
instead of making the matrix singular."""
TINY = 1e-30
PATIENCE = 8
"""Block exchanges without fewer wrong choices before single exchanges begin."""
EXCHANGES = 500
ActiveBounds = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True, slots=True)
class Box:
    """Constraints low <= x <= high and G x <= upper_rows.

    Attributes:
        low, high: (n,), infinite where free.
        rows: (m, n) G, few.
        upper_rows: (m,) upper bounds of G x.
    """

    low: np.ndarray
    high: np.ndarray
    rows: np.ndarray
    upper_rows: np.ndarray

    def violation(self, x: np.ndarray) -> float:
        """Largest violation of a bound."""
        worst = max(0.0, float((x - self.high).max()), float((self.low - x).max()))
        return max(worst, float((self.rows @ x - self.upper_rows).max())) if len(self.upper_rows) else worst


@dataclass(frozen=True, slots=True)
class BoxSolution:
    """Minimum of a quadratic program with bounds.

    Attributes:
        x: (n,).
        active: (n + m,) +1 where a variable or row is at its upper bound, -1 at its lower one, 0 where it is free.
        slack: largest violation of a bound; above about 1e-6 no x satisfies all of them.
        converged: False if the exchanges did not terminate.
    """

    x: np.ndarray
    active: np.ndarray
    slack: float
    converged: bool


def solve_box(hessian: np.ndarray, gradient: np.ndarray, box: Box, guess: np.ndarray | None = None) -> BoxSolution:
    """Minimise 1/2 x'Hx - g'x within a box.

    Args:
        hessian: (n, n) positive definite.
        gradient: (n,) g.
        box: constraints on x.
        guess: (n + m,) guessed active set as in `BoxSolution.active`; None: empty.

    Raises:
        BackendError: H is not positive definite.
    """
    return pivot(lambda active: _solve_with_active(hessian, gradient, box, active), box, guess)


def pivot(solve: ActiveBounds, box: Box, guess: np.ndarray | None = None) -> BoxSolution:
    """Exchange members of the active set until every bound holds and every multiplier has the right sign.

    Args:
        solve: of an active set (n + m,): the minimum (n,) with these variables and rows at their bounds, and the
            multipliers (n + m,).
        box: constraints on x.
        guess: see `solve_box`.
    """
    low, high = box.low, box.high
    if len(box.upper_rows):
        low, high = np.concatenate([low, np.full(len(box.upper_rows), -np.inf)]), np.concatenate([high, box.upper_rows])
    if guess is None:
        active = np.zeros(len(low), int)
    else:
        active = guess.copy()
        indices = active.nonzero()[0]
        bounded = np.isfinite(np.where(active[indices] > 0, high[indices], low[indices]))
        if not bounded.all():
            active[indices[~bounded]] = 0
    fewest, patience = len(active) + 1, PATIENCE
    for _ in range(EXCHANGES):
        x, multipliers = solve(active)
        values = np.concatenate([x, box.rows @ x]) if len(box.upper_rows) else x
        above, below = values - high, low - values
        violation = np.maximum(above, below)
        wrong = violation > FEASIBLE
        indices = active.nonzero()[0]
        wrong[indices] = multipliers[indices] * active[indices] < 0.0
        found = wrong.nonzero()[0]
        if len(found) == 0:
            return BoxSolution(x, active, max(0.0, float(violation.max())), True)
        if len(found) < fewest:
            fewest, patience = len(found), PATIENCE
        else:
            patience -= 1
        if patience < 0:
            found = found[-1:]
        active[found] = np.where(active[found], 0, np.where(above[found] > FEASIBLE, 1, -1))
    return BoxSolution(np.clip(x, box.low, box.high), active, box.violation(x), False)


def _solve_with_active(
    hessian: np.ndarray, gradient: np.ndarray, box: Box, active: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Minimum (n,) with the active variables and rows (n + m,) at their bounds, and the multipliers (n + m,)."""
    count = len(gradient)
    fixed, rows = np.flatnonzero(active[:count]), np.flatnonzero(active[count:])
    free = np.flatnonzero(active[:count] == 0)
    x = np.zeros(count)
    x[fixed] = np.where(active[fixed] > 0, box.high[fixed], box.low[fixed])
    reduced = gradient[free] - hessian[np.ix_(free, fixed)] @ x[fixed] if len(fixed) else gradient
    right = np.column_stack([reduced, box.rows[np.ix_(rows, free)].T]) if len(rows) else reduced
    found, failed = right, 0
    if len(free):
        _, found, failed = dposv(hessian[np.ix_(free, free)] if len(fixed) else hessian, right, lower=1)
    if failed:
        raise BackendError("the quadratic program's matrix is not positive definite")
    multipliers = np.zeros(len(active))
    if len(rows):
        columns, matrix = found[:, 1:], box.rows[rows]
        schur = matrix[:, free] @ columns
        compliance = np.maximum((matrix * matrix) @ (1.0 / np.diag(hessian)), TINY)
        schur[np.diag_indices(len(rows))] += GIVE * compliance
        row_multipliers = np.linalg.solve(
            schur, matrix[:, free] @ found[:, 0] + matrix[:, fixed] @ x[fixed] - box.upper_rows[rows]
        )
        x[free] = found[:, 0] - columns @ row_multipliers
        multipliers[count + rows] = row_multipliers
    else:
        x[free] = found
    if len(fixed):
        multipliers[fixed] = gradient[fixed] - hessian[fixed] @ x
        if len(rows):
            multipliers[fixed] -= box.rows[np.ix_(rows, fixed)].T @ multipliers[count + rows]
    return x, multipliers
