"""Quadratic programmes whose rows may be broken at a price, by active sets of their duals.

    min 1/2 x'Px + p sum max(0, -(G x + c))   with   low <= x <= high

Where P is inverted by a product, as the metric of splines is, the dual has only bounds, 0 <= y <= p, and its optimum
names the few rows that bind: of two thousand rows of a trajectory some hundred. Those that are broken most are freed
in blocks, Newton's step on the free ones is cut at the first that reaches a bound, which is held there; the dual rises
with every step, so no set of free rows comes twice. Bounds of x, of which hardly any bind, become rows of any price
once they are passed. Columns of G P^-1 G' are computed for rows that were free only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

KEPT = 1e-6
"""Of a row, by which it may be broken, or have room with its full price paid."""
PASSED = 1e-9
"""Of a bound of x."""
BLOCK = 24
"""Rows freed at once."""
GIVE = 1e-10
"""Share of what a row takes alone, added to it: rows that depend on each other share their price."""
TINY = 1e-14
"""Share of the most that a row takes, added to it: a row that nothing moves has no price but its penalty."""
STEPS = 5000
WORK = 5000.0
"""Multiplications for each number of G after which it is given up: an interior point, which costs as much as some
thousands for each, is quicker where a thousand rows bind. Postures, extremes and jumps took 60 to 1,200."""
COLUMNS = 128
"""Room for columns, at first."""


@dataclass(frozen=True, slots=True)
class SoftSolution:
    """An optimum.

    Attributes:
        x: (n,).
        multipliers: (R,) y of the rows, from 0 (kept with room) to the penalty (broken).
        bounds: (n,) of the bounds of x; positive where the upper one pushes.
        steps: of Newton's.
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
    """The optimum; None where the steps did not come to an end, or would take longer than an interior point.

    Args:
        inverse: P^-1 times each of k vectors, (k, n) to (k, n); on a subspace to which x is held, if there is one.
        rows: (R, n) G.
        offset: (R,) c.
        penalty: p, of one unit by which a row is broken.
        box: lower and upper bounds (n,) of x; some x of the subspace is between them.
        guess: (R,) prices to begin with, as of a similar programme; by default none is paid.
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
    """Prices y, room G x + c that rows have at x = P^-1 G'y, and which rows are free."""

    def __init__(
        self, inverse: Callable[[np.ndarray], np.ndarray], rows: sparse.csr_array, offset: np.ndarray, penalty: float
    ) -> None:
        self._inverse, self._rows, self._count = inverse, rows, len(offset)
        self._room, self._prices = np.array(offset, float), np.zeros(len(offset))
        self._most, self._free = np.full(len(offset), penalty), np.zeros(len(offset), bool)
        self._slot, self._used = np.full(len(offset), -1), 0
        self._ways = np.empty((COLUMNS, rows.shape[1]))
        self._columns = np.empty((COLUMNS, len(offset)))
        self._bounds: list[tuple[np.ndarray, np.ndarray]] = []
        self.steps, self._left = 0, WORK * rows.nnz

    def begin(self, prices: np.ndarray) -> None:
        """Pay these, and free what they leave free."""
        paid = np.flatnonzero(prices)
        self._compute(paid)
        self._prices = prices
        self._room += prices[paid] @ self._columns[self._slot[paid]]
        self._free = (prices > 0.0) & (prices < self._most)
        self.newton_steps()

    @property
    def x(self) -> np.ndarray:
        """(n,) at the prices."""
        paid = np.flatnonzero(self._prices)
        return np.asarray(self._prices[paid] @ self._ways[self._slot[paid]])

    @property
    def is_slow(self) -> bool:
        """Whether an interior point would have been quicker."""
        return self.steps >= STEPS or self._left < 0.0

    def free_rows(self) -> bool:
        """Free the rows that are broken most, or overpaid; False: none is."""
        pull = np.where(self._prices > 0.0, self._room, -self._room)
        pull[self._free] = 0.0
        wrong = np.flatnonzero(pull > KEPT)
        chosen = wrong[np.argsort(-pull[wrong])[:BLOCK]]
        self._compute(chosen)
        self._free[chosen] = True
        return bool(len(chosen))

    def newton_steps(self) -> None:
        """Newton's steps on the free prices, until none is out of its bounds."""
        while self._free.any() and not self.is_slow:
            self.steps += 1
            free = np.flatnonzero(self._free)
            columns = self._columns[self._slot[free]]
            self._left -= len(free) ** 3 / 3.0 + columns.size
            meeting = columns[:, free]
            alone = meeting.diagonal()
            meeting[np.diag_indices(len(free))] = (1.0 + GIVE) * alone + TINY * max(alone.max(), TINY)
            step = np.linalg.solve(meeting, -self._room[free])
            prices, most = self._prices[free], self._most[free]
            with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
                shares = np.where(step < 0.0, -prices / step, np.where(step > 0.0, (most - prices) / step, np.inf))
            share = min(1.0, float(shares.min()))
            self._prices[free] = prices + share * step
            self._room += (share * step) @ columns
            if share >= 1.0:
                return
            stopped = shares <= share * (1.0 + PASSED)
            self._prices[free[stopped]] = np.where(step < 0.0, 0.0, most)[stopped]
            self._free[free[stopped]] = False

    def add_bounds(self, x: np.ndarray, low: np.ndarray, high: np.ndarray) -> bool:
        """Make rows of bounds that x passes; False: it passes none."""
        passed = np.flatnonzero((x < low - PASSED) | (x > high + PASSED))
        if not len(passed):
            return False
        signs = np.where(x[passed] > high[passed], -1.0, 1.0)
        places = (np.arange(len(passed)), passed)
        own = sparse.csr_array((signs, places), shape=(len(passed), len(x)))
        self._rows = sparse.csr_array(sparse.vstack([self._rows, own]))
        self._columns = np.concatenate([self._columns, self._ways[:, passed] * signs], axis=1)
        self._room = np.append(self._room, signs * x[passed] - np.where(signs > 0.0, low[passed], -high[passed]))
        self._prices = np.append(self._prices, np.zeros(len(passed)))
        self._most = np.append(self._most, np.full(len(passed), np.inf))
        self._free = np.append(self._free, np.zeros(len(passed), bool))
        self._slot = np.append(self._slot, np.full(len(passed), -1))
        self._bounds.append((passed, signs))
        self.free_rows()
        return True

    def solution(self, x: np.ndarray) -> SoftSolution:
        """What the prices say."""
        bounds, first = np.zeros(len(x)), self._count
        for passed, signs in self._bounds:
            np.add.at(bounds, passed, -signs * self._prices[first : first + len(passed)])
            first += len(passed)
        return SoftSolution(x, self._prices[: self._count], bounds, self.steps)

    def _compute(self, chosen: np.ndarray) -> None:
        """Columns of rows that never were free."""
        new = chosen[self._slot[chosen] < 0]
        first, last = self._used, self._used + len(new)
        if not len(new):
            return
        while last > len(self._ways):
            self._ways = np.concatenate([self._ways, np.empty_like(self._ways)])
            self._columns = np.concatenate([self._columns, np.empty_like(self._columns)])
        self._ways[first:last] = self._inverse(self._rows[new].toarray())
        self._columns[first:last] = (self._rows @ self._ways[first:last].T).T
        self._slot[new], self._used = np.arange(first, last), last
