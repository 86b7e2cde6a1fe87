"""Quadratic programs with soft rows (an exact l1 penalty), solved by an active-set method on the dual.

    min 1/2 x'Px + p sum max(0, -(G x + c))   with   low <= x <= high

P^-1 is applied as a product (for instance the metric of splines). The dual then has only bounds, 0 <= y <= p, and few
rows of a trajectory bind: about 100 of 2,000.

- The most violated rows are freed in blocks.
- Newton's step on the free multipliers stops at the first bound, where that multiplier is fixed.
- The dual objective rises with every step, so no set of free rows recurs.
- Violated bounds of x, of which few bind, are added as rows without a penalty limit.
- Columns of G P^-1 G' are computed only for rows that have been free.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

KEPT = 1e-6
"""Tolerance of a row: its violation, or its slack while its multiplier is at the penalty."""
PASSED = 1e-9
"""Tolerance of a bound of x."""
BLOCK = 24
"""Rows freed at once."""
GIVE = 1e-10
"""Fraction of a row's own diagonal entry of G P^-1 G' added to it: dependent rows share their multiplier."""
TINY = 1e-14
"""Fraction of the largest diagonal entry added to each: a row that x cannot change is limited by its penalty only."""
STEPS = 5000
WORK = 5000.0
"""Limit of multiplications per nonzero of G. An interior point costs some thousands of them and is quicker if about
1,000 rows bind. Measured on postures, extremes and jumps: 60 to 1,200."""
COLUMNS = 128
"""Initial capacity for columns."""


@dataclass(frozen=True, slots=True)
class SoftSolution:
    """Optimum of a program with soft rows.

    Attributes:
        x: (n,).
        multipliers: (R,) y of the rows, from 0 (satisfied with slack) to the penalty (violated).
        bounds: (n,) multipliers of the bounds of x; positive where the upper one is active.
        steps: number of Newton steps.
    """

    x: np.ndarray
    multipliers: np.ndarray
    bounds: np.ndarray
    steps: int


def solve_soft(
    inverse: Callable[[np.ndarray], np.ndarray],
    rows: sparse.csr_array,
    offset: np.ndarray,
    penalty: float,
    box: tuple[np.ndarray, np.ndarray],
    guess: np.ndarray | None = None,
) -> SoftSolution | None:
    """The optimum; None without convergence within `STEPS`, or if an interior point would be quicker.

    Args:
        inverse: P^-1 times each of k vectors, (k, n) to (k, n); on the subspace to which x is restricted, if any.
        rows: (R, n) G.
        offset: (R,) c.
        penalty: p, cost of one unit of violation.
        box: lower and upper bounds (n,) of x; some x of the subspace is between them.
        guess: (R,) initial multipliers, for instance of a similar program; zero by default.
    """
    working = _DualActiveSet(inverse, sparse.csr_array(rows), offset, penalty)
    if guess is not None:
        working.begin(np.clip(guess, 0.0, penalty))
    while not working.is_slow:
        if not working.free_rows():
            x = working.x
            if not working.add_bounds(x, *box):
                return working.solution(x)
        working.newton_steps()
    return None


class _DualActiveSet:
    """Multipliers y, slack G x + c of the rows at x = P^-1 G'y, and the set of free rows."""

    def __init__(
        self, inverse: Callable[[np.ndarray], np.ndarray], rows: sparse.csr_array, offset: np.ndarray, penalty: float
    ) -> None:
        self._inverse, self._rows, self._count = inverse, rows, len(offset)
        self._slack, self._multipliers = np.array(offset, float), np.zeros(len(offset))
        self._most, self._free = np.full(len(offset), penalty), np.zeros(len(offset), bool)
        self._slot, self._used = np.full(len(offset), -1), 0
        self._directions = np.empty((COLUMNS, rows.shape[1]))
        self._columns = np.empty((COLUMNS, len(offset)))
        self._bounds: list[tuple[np.ndarray, np.ndarray]] = []
        self.steps, self._left = 0, WORK * rows.nnz

    def begin(self, prices: np.ndarray) -> None:
        """Start from these multipliers; those between their bounds are free."""
        paid = np.flatnonzero(prices)
        self._compute(paid)
        self._multipliers = prices
        self._slack += prices[paid] @ self._columns[self._slot[paid]]
        self._free = (prices > 0.0) & (prices < self._most)
        self.newton_steps()

    @property
    def x(self) -> np.ndarray:
        """(n,) at the current multipliers."""
        paid = np.flatnonzero(self._multipliers)
        return np.asarray(self._multipliers[paid] @ self._directions[self._slot[paid]])

    @property
    def is_slow(self) -> bool:
        """Whether an interior point would be quicker."""
        return self.steps >= STEPS or self._left < 0.0

    def free_rows(self) -> bool:
        """Free the most violated rows, and rows with slack and a positive multiplier; False if there are none."""
        pull = np.where(self._multipliers > 0.0, self._slack, -self._slack)
        pull[self._free] = 0.0
        wrong = np.flatnonzero(pull > KEPT)
        chosen = wrong[np.argsort(-pull[wrong])[:BLOCK]]
        self._compute(chosen)
        self._free[chosen] = True
        return bool(len(chosen))

    def newton_steps(self) -> None:
        """Newton steps on the free multipliers until a full step keeps all of them within their bounds."""
        while self._free.any() and not self.is_slow:
            self.steps += 1
            free = np.flatnonzero(self._free)
            columns = self._columns[self._slot[free]]
            self._left -= len(free) ** 3 / 3.0 + columns.size
            matrix = columns[:, free]
            diagonal = matrix.diagonal()
            matrix[np.diag_indices(len(free))] = (1.0 + GIVE) * diagonal + TINY * max(diagonal.max(), TINY)
            step = np.linalg.solve(matrix, -self._slack[free])
            prices, most = self._multipliers[free], self._most[free]
            with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
                shares = np.where(step < 0.0, -prices / step, np.where(step > 0.0, (most - prices) / step, np.inf))
            share = min(1.0, float(shares.min()))
            self._multipliers[free] = prices + share * step
            self._slack += (share * step) @ columns
            if share >= 1.0:
                return
            stopped = shares <= share * (1.0 + PASSED)
            self._multipliers[free[stopped]] = np.where(step < 0.0, 0.0, most)[stopped]
            self._free[free[stopped]] = False

    def add_bounds(self, x: np.ndarray, low: np.ndarray, high: np.ndarray) -> bool:
        """Add bounds that x violates as rows; False if it violates none."""
        passed = np.flatnonzero((x < low - PASSED) | (x > high + PASSED))
        if not len(passed):
            return False
        signs = np.where(x[passed] > high[passed], -1.0, 1.0)
        own = sparse.csr_array((signs, (np.arange(len(passed)), passed)), shape=(len(passed), len(x)))
        self._rows = sparse.csr_array(sparse.vstack([self._rows, own]))
        self._columns = np.concatenate([self._columns, self._directions[:, passed] * signs], axis=1)
        self._slack = np.append(self._slack, signs * x[passed] - np.where(signs > 0.0, low[passed], -high[passed]))
        self._multipliers = np.append(self._multipliers, np.zeros(len(passed)))
        self._most = np.append(self._most, np.full(len(passed), np.inf))
        self._free = np.append(self._free, np.zeros(len(passed), bool))
        self._slot = np.append(self._slot, np.full(len(passed), -1))
        self._bounds.append((passed, signs))
        self.free_rows()
        return True

    def solution(self, x: np.ndarray) -> SoftSolution:
        """The solution at the current multipliers."""
        bounds, first = np.zeros(len(x)), self._count
        for passed, signs in self._bounds:
            np.add.at(bounds, passed, -signs * self._multipliers[first : first + len(passed)])
            first += len(passed)
        return SoftSolution(x, self._multipliers[: self._count], bounds, self.steps)

    def _compute(self, chosen: np.ndarray) -> None:
        """Compute the columns of rows that are free for the first time."""
        new = chosen[self._slot[chosen] < 0]
        first, last = self._used, self._used + len(new)
        if not len(new):
            return
        while last > len(self._directions):
            self._directions = np.concatenate([self._directions, np.empty_like(self._directions)])
            self._columns = np.concatenate([self._columns, np.empty_like(self._columns)])
        self._directions[first:last] = self._inverse(self._rows[new].toarray())
        self._columns[first:last] = (self._rows @ self._directions[first:last].T).T
        self._slot[new], self._used = np.arange(first, last), last
