"""Small dense quadratic programs between bounds, exactly: block principal pivoting from a guess of what is held.

Made for sequences, as the steps of a tracker: what was held in one program is mostly held in the next. Variables at a
bound are taken out, so that no bound costs accuracy. All wrong ones are exchanged at once while their number falls;
where it does not, one at a time by the last index, which always ends (Murty 1974; Judice and Pires 1994).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dposv

from ..errors import BackendError

FEASIBLE = 1e-9
"""Slack within which a bound counts as kept."""
GIVE = 1e-10
"""Give of a row, as a share of what it would take alone: rows that depend on each other share their force, rows that
contradict each other or the bounds part ways instead of breaking the method."""
TINY = 1e-30
PATIENCE = 8
"""Block exchanges that may fail to lower the number of wrong choices before single ones begin."""
EXCHANGES = 500
ActiveBounds = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True, slots=True)
class Box:
    """What x is held to: low <= x <= high, and G x <= most.

    Attributes:
        low, high: (n,), infinite where free.
        rows: (m, n) G, few.
        upper_rows: (m,).
    """

    low: np.ndarray
    high: np.ndarray
    rows: np.ndarray
    upper_rows: np.ndarray

    def violation(self, x: np.ndarray) -> float:
        """Largest amount by which a bound is not kept."""
        worst = max(0.0, float((x - self.high).max()), float((self.low - x).max()))
        return max(worst, float((self.rows @ x - self.upper_rows).max())) if len(self.upper_rows) else worst


@dataclass(frozen=True, slots=True)
class BoxSolution:
    """A minimum between bounds.

    Attributes:
        x: (n,).
        active: (n + m,) +1 where a variable or row is held at its upper bound, -1 at its lower one, 0 where it is free.
        slack: largest amount by which a bound is not kept; beyond 1e-6 or so no x keeps all of them.
        converged: False when the exchanges did not end.
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
        box: what x is held to.
        guess: (n + m,) what may be held, as `Pivoted.active`; None: nothing.

    Raises:
        BackendError: H is not positive definite.
    """
    return pivot(lambda held: _solve_with_active(hessian, gradient, box, held), box, guess)


def pivot(at: ActiveBounds, box: Box, guess: np.ndarray | None = None) -> BoxSolution:
    """Exchange what is held until every bound is kept and no held one pulls.

    Args:
        at: the minimum (n,) with some variables and rows (n + m,) held at their bounds, and the forces (n + m,) that
            hold them.
        box: what x is held to.
        guess: see `solve_box`.
    """
    low, high = box.low, box.high
    if len(box.upper_rows):
        low, high = np.concatenate([low, np.full(len(box.upper_rows), -np.inf)]), np.concatenate([high, box.upper_rows])
    if guess is None:
        held = np.zeros(len(low), int)
    else:
        held = guess.copy()
        places = held.nonzero()[0]
        bounded = np.isfinite(np.where(held[places] > 0, high[places], low[places]))
        if not bounded.all():
            held[places[~bounded]] = 0
    fewest, patience = len(held) + 1, PATIENCE
    for _ in range(EXCHANGES):
        x, forces = at(held)
        values = np.concatenate([x, box.rows @ x]) if len(box.upper_rows) else x
        above, below = values - high, low - values
        passed = np.maximum(above, below)
        wrong = passed > FEASIBLE
        places = held.nonzero()[0]
        wrong[places] = forces[places] * held[places] < 0.0
        found = wrong.nonzero()[0]
        if len(found) == 0:
            return BoxSolution(x, held, max(0.0, float(passed.max())), True)
        if len(found) < fewest:
            fewest, patience = len(found), PATIENCE
        else:
            patience -= 1
        if patience < 0:
            found = found[-1:]
        held[found] = np.where(held[found], 0, np.where(above[found] > FEASIBLE, 1, -1))
    return BoxSolution(np.clip(x, box.low, box.high), held, box.violation(x), False)


def _solve_with_active(
    hessian: np.ndarray, gradient: np.ndarray, box: Box, held: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Minimum (n,) with some variables and rows held at their bounds, and the forces (n + m,) that hold them."""
    count = len(gradient)
    fixed, rows = np.flatnonzero(held[:count]), np.flatnonzero(held[count:])
    free = np.flatnonzero(held[:count] == 0)
    x = np.zeros(count)
    x[fixed] = np.where(held[fixed] > 0, box.high[fixed], box.low[fixed])
    wanted = gradient[free] - hessian[np.ix_(free, fixed)] @ x[fixed] if len(fixed) else gradient
    right = np.column_stack([wanted, box.rows[np.ix_(rows, free)].T]) if len(rows) else wanted
    found, failed = right, 0
    if len(free):
        _, found, failed = dposv(hessian[np.ix_(free, free)] if len(fixed) else hessian, right, lower=1)
    if failed:
        raise BackendError("the quadratic program's matrix is not positive definite")
    forces = np.zeros(len(held))
    if len(rows):
        share, apart = found[:, 1:], box.rows[rows]
        meeting = apart[:, free] @ share
        alone = np.maximum((apart * apart) @ (1.0 / np.diag(hessian)), TINY)
        meeting[np.diag_indices(len(rows))] += GIVE * alone
        pull = np.linalg.solve(
            meeting, apart[:, free] @ found[:, 0] + apart[:, fixed] @ x[fixed] - box.upper_rows[rows]
        )
        x[free] = found[:, 0] - share @ pull
        forces[count + rows] = pull
    else:
        x[free] = found
    if len(fixed):
        forces[fixed] = gradient[fixed] - hessian[fixed] @ x
        if len(rows):
            forces[fixed] -= box.rows[np.ix_(rows, fixed)].T @ forces[count + rows]
    return x, forces
