"""Nearest point of a polyhedron to a target: dual active-set method with row generation.

Every strictly convex quadratic program has this form after a change of variables. The method starts at the target and
activates one violated row at a time. So it needs no feasible start, and rows that stay satisfied cost only the search
for violated ones, even if there are 300,000 of them.
(Goldfarb and Idnani, Math. Programming 27, 1983.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse
from scipy.linalg import qr, qr_delete, solve_triangular
from scipy.linalg.blas import dger
from scipy.linalg.lapack import dtrtrs

from ..base.errors import BackendError
from .problem import Rows

FEASIBLE = 1e-10
"""Violation that counts as none, for rows of unit length in scaled variables."""
DEPENDENT = 1e-11
"""Fraction of a row outside the span of the active rows below which it counts as dependent on them."""
ACCEPTED = 1e-7
"""Violation of a dependent row that is attributed to rounding; a larger one is a contradiction."""
ITERATIONS = 20_000


@dataclass
class RowPool:
    """Growing set of one-sided rows g x >= b of unit length in scaled variables."""

    scale: np.ndarray
    """(n,) typical sizes: x = scale * scaled x."""
    matrix: sparse.csr_array = field(init=False)
    bounds: np.ndarray = field(init=False)
    names: list[str] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self.matrix = sparse.csr_array((0, len(self.scale)))
        self.bounds = np.zeros(0)

    def copy(self) -> RowPool:
        """An independent copy."""
        result = RowPool(self.scale)
        result.matrix, result.bounds = self.matrix, self.bounds
        result.names = list(self.names)
        return result

    def widen(self, more: int) -> RowPool:
        """A copy over ``more`` additional variables of scale one, with zero coefficients in all rows."""
        result = RowPool(np.concatenate([self.scale, np.ones(more)]))
        m = self.matrix
        result.matrix = sparse.csr_array((m.data, m.indices, m.indptr), shape=(m.shape[0], m.shape[1] + more))
        result.bounds, result.names = self.bounds, list(self.names)
        return result

    def adopt(self, other: RowPool, chosen: slice) -> None:
        """Append rows of a widened pool."""
        self.matrix = sparse.csr_array(sparse.vstack([self.matrix, other.matrix[chosen][:, : len(self.scale)]]))
        self.bounds = np.concatenate([self.bounds, other.bounds[chosen]])
        self.names += other.names[chosen]

    def add(self, rows: Rows) -> None:
        """Append both sides of the rows."""
        low, high = np.isfinite(rows.lower), np.isfinite(rows.upper)
        matrix = sparse.vstack([rows.matrix[low], -rows.matrix[high]], format="csr") * self.scale[None, :]
        matrix = sparse.csr_array(matrix)
        bounds = np.concatenate([rows.lower[low], -rows.upper[high]])
        lengths = np.sqrt(np.asarray((matrix * matrix).sum(axis=1)).ravel())
        lengths[lengths == 0.0] = 1.0
        matrix = sparse.csr_array(sparse.diags_array(1.0 / lengths) @ matrix)
        self.matrix = sparse.csr_array(sparse.vstack([self.matrix, matrix], format="csr"))
        self.bounds = np.concatenate([self.bounds, bounds / lengths])
        self.names += [rows.names[i] for i in np.flatnonzero(low)] + [rows.names[i] for i in np.flatnonzero(high)]

    def excess(self, x: np.ndarray) -> np.ndarray:
        """g x - b at scaled x; negative where violated."""
        return self.matrix @ x - self.bounds

    def absorb_rounding(self, x: np.ndarray, tolerance: float) -> None:
        """Move bounds that scaled x, known to be feasible, violates by rounding so that x satisfies them."""
        excess = self.excess(x)
        rounding = (excess < 0.0) & (excess >= -tolerance)
        self.bounds = np.where(rounding, self.bounds + excess, self.bounds)

    def row(self, index: int, basis: np.ndarray) -> np.ndarray:
        """One row in the coordinates of a basis (n, d)."""
        span = slice(self.matrix.indptr[index], self.matrix.indptr[index + 1])
        return self.matrix.data[span] @ basis[self.matrix.indices[span]]


@dataclass(frozen=True, slots=True)
class NearestPoint:
    """Result of `nearest_point`.

    Attributes:
        z: (d,) nearest point, coordinates of the basis.
        x: (n,) the same, scaled variables.
        feasible: False when the rows contradict each other.
        active: indices of active rows in the pool.
        multipliers: of the active rows, not negative.
        iterations: active-set changes.
        rounds: number of searches for violated rows.
    """

    z: np.ndarray
    x: np.ndarray
    feasible: bool
    active: tuple[int, ...]
    multipliers: np.ndarray
    iterations: int
    rounds: int


def nearest_point(
    origin: np.ndarray,
    basis: np.ndarray,
    target: np.ndarray,
    pool: RowPool,
    add_violated: Callable[[np.ndarray], int] = lambda x: 0,
    start: tuple[int, ...] = (),
) -> NearestPoint:
    """Minimise 1/2 ||z - target||^2 subject to the pool's rows at x = origin + basis z.

    Args:
        origin: (n,) scaled variables.
        basis: (n, d).
        target: (d,).
        pool: rows; `add_violated` appends to them.
        add_violated: given a scaled x that satisfies the pool, appends violated rows to it and returns their number.
        start: active rows of a similar problem.

    Raises:
        BackendError: no convergence within `ITERATIONS`.
    """
    work = _ActiveSet(origin, basis, pool, target)
    work.begin(start)
    iterations = rounds = refreshed = refreshes = 0
    extended = -1
    while iterations < ITERATIONS:
        x = origin + basis @ work.z
        excess = pool.excess(x)
        excess[work.active] = np.inf
        excess[work.settled] = np.inf
        worst = int(np.argmin(excess)) if len(excess) else -1
        # the tolerance grows with each refresh: a row at the tolerance could otherwise alternate for ever
        if worst < 0 or excess[worst] >= -FEASIBLE * (1 + refreshes):
            rounds += 1
            # at most one search per point: rows without effect (dependent ones) would be found again for ever
            if extended != iterations and add_violated(x):
                extended = iterations
                continue
            if refreshed == iterations:
                return NearestPoint(work.z, x, True, tuple(work.active), work.u.copy(), iterations, rounds)
            work.begin(tuple(work.active))
            refreshed, refreshes = iterations, refreshes + 1
            continue
        iterations += 1
        if not work.activate(worst, float(excess[worst])):
            return NearestPoint(work.z, x, False, tuple(work.active), work.u.copy(), iterations, rounds)
    raise BackendError(f"active set: no convergence after {ITERATIONS} changes of the active set")


class _ActiveSet:
    """Active rows N = Q [R; 0] (d, q), multipliers u and the point z = target + N u."""

    def __init__(self, origin: np.ndarray, basis: np.ndarray, pool: RowPool, target: np.ndarray) -> None:
        self.origin, self.basis, self.pool, self.target = origin, basis, pool, target
        self.clear()

    def clear(self) -> None:
        size = len(self.target)
        self.Q = np.asfortranarray(np.eye(size))
        self.R = np.zeros((size, size), order="F")
        self.active: list[int] = []
        self.settled: list[int] = []
        self.u = np.zeros(0)
        self.z = self.target.copy()

    def begin(self, rows: tuple[int, ...]) -> None:
        """Restart from active rows, without those with a negative multiplier; this also removes rounding errors."""
        rows = tuple(rows)
        while True:
            self.clear()
            if not rows:
                return
            normals = np.array([self.pool.row(index, self.basis) for index in rows]).T
            Q, R = qr(normals, check_finite=False)
            count = len(rows)
            triangle = R[:count, :count]
            sound = np.abs(np.diag(triangle)) > DEPENDENT * np.linalg.norm(triangle, axis=0)
            if sound.all():
                bounds = self.pool.bounds[list(rows)] - self.pool.matrix[list(rows)] @ self.origin
                along = solve_triangular(triangle, bounds - normals.T @ self.target, trans="T", check_finite=False)
                u = solve_triangular(triangle, along, check_finite=False)
                sound = u >= 0.0
            if sound.all():
                break
            rows = tuple(index for index, good in zip(rows, sound) if good)
        self.Q = np.asfortranarray(Q)
        self.R[:, :count] = R
        self.active, self.u = list(rows), u
        self.z = self.target + Q[:, :count] @ along

    def activate(self, index: int, excess: float) -> bool:
        """Activate a violated row and drop rows that block it; False if the rows contradict each other."""
        row = self.pool.row(index, self.basis)
        length = float(np.linalg.norm(row))
        own = 0.0
        while True:
            count = len(self.active)
            d = row @ self.Q
            share = float(np.linalg.norm(d[count:]))
            dual = _solve_triangular(self.R[:count, :count], d[:count])
            blocking, reach = _blocking_step(self.u, dual)
            free = share > DEPENDENT * length and length > 0.0
            step = min(reach, -excess / share**2) if free else reach
            if not np.isfinite(step):
                if excess < -ACCEPTED:
                    return False
                self.settled.append(index)
                return True
            self.u -= step * dual
            own += step
            if free:
                self.z += step * (self.Q[:, count:] @ d[count:])
                excess += step * share**2
            if free and step < reach:
                self._append(index, d, own)
                return True
            self._drop(blocking)

    def _append(self, index: int, d: np.ndarray, multiplier: float) -> None:
        count = len(self.active)
        v = d[count:].copy()
        corner = -np.copysign(np.linalg.norm(v), v[0])
        v[0] -= corner
        rest = self.Q[:, count:]
        dger(-2.0 / (v @ v), rest @ v, v, a=rest, overwrite_a=True)
        self.R[:count, count] = d[:count]
        self.R[count, count] = corner
        self.active.append(index)
        self.u = np.append(self.u, multiplier)

    def _drop(self, position: int) -> None:
        count = len(self.active)
        self.Q, reduced = qr_delete(
            self.Q, self.R[:, :count], position, which="col", overwrite_qr=True, check_finite=False
        )
        self.R[:, : count - 1] = reduced
        self.R[:, count - 1] = 0.0
        del self.active[position]
        self.u = np.delete(self.u, position)


def _solve_triangular(triangle: np.ndarray, right: np.ndarray) -> np.ndarray:
    """R^-1 b; LAPACK called directly, because this is the innermost loop."""
    return dtrtrs(triangle, right)[0] if len(right) else np.zeros(0)


def _blocking_step(u: np.ndarray, dual: np.ndarray) -> tuple[int, float]:
    """Index of the multiplier that reaches zero first along -dual, and the step to there."""
    falling = np.flatnonzero(dual > 0.0)
    if not len(falling):
        return -1, np.inf
    steps = u[falling] / dual[falling]
    first = int(np.argmin(steps))
    return int(falling[first]), max(0.0, float(steps[first]))
