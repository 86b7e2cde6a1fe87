"""Newton's method for a quadratic plus the entropic divergence of many bodies, subject to linear rows.

The log-determinant is the barrier of the cone: it keeps every body strictly consistent. It is self-concordant, so that
damped Newton steps converge from any feasible start, quadratically at the end (Nesterov and Nemirovskii, 1994). Each
step is a quadratic program over the rows. If the rows that were active last still solve it, one linear system gives
the step; otherwise the active-set method does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from ..base.errors import BackendError
from ..qp import Rows, Status
from ..qp.active_set import RowPool, nearest_point
from ..values.inertials import PER_LINK
from .body_coordinates import BASIS, PSEUDO_INERTIA_ORDER, BodyCoordinates

MAX_ITERATIONS = 200
DECREMENT_TOLERANCE = 1e-12
"""Expected further decrease, relative to 1 + |objective|, at which the iterations end."""
SUFFICIENT_DECREASE = 1e-4
"""Fraction of the expected decrease that a step must achieve."""
MAX_BOUNDARY_FRACTION = 0.95
"""Largest fraction of the way to the boundary of consistency that one step may go."""
MIN_STEP = 1e-10


@dataclass(frozen=True, slots=True)
class Minimum:
    """Result of `minimise`: the point, how it ended, and the indices of the active rows."""

    x: np.ndarray
    status: Status
    active: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RowSides:
    """Linear rows as one-sided rows of unit length, prepared for any number of programs.

    Attributes:
        pool: g x >= b of every finite side.
        normals: (m, n) g, dense.
        equal: (m,) True for the two sides of an equality.
        equalities: indices of one side of each equality.
    """

    pool: RowPool
    normals: np.ndarray
    equal: np.ndarray
    equalities: tuple[int, ...]

    @staticmethod
    def of_rows(rows: Rows) -> RowSides:
        """Sides of the rows: all lower ones, then all upper ones."""
        pool = RowPool(np.ones(rows.variables))
        pool.add(rows)
        low, high = np.isfinite(rows.lower), np.isfinite(rows.upper)
        equal = np.concatenate([rows.equality[low], rows.equality[high]])
        first = tuple(int(index) for index in np.flatnonzero(equal[: low.sum()]))
        return RowSides(pool, pool.matrix.toarray(), equal, first)


def minimise(
    hessian: np.ndarray,
    gradient: np.ndarray,
    strengths: np.ndarray,
    rows: RowSides,
    start: np.ndarray,
    active: tuple[int, ...] = (),
) -> Minimum:
    """Minimise 1/2 x'Hx + g'x + sum_k s_k (tr X_k - log det(1 + X_k)) subject to the rows.

    Args:
        hessian: (10 L, 10 L) H of the data.
        gradient: (10 L,) g of the data.
        strengths: (L,) s_k, positive.
        rows: in x.
        start: satisfies the rows, all 1 + X_k positive definite.
        active: rows that were active in a similar program.

    Raises:
        BackendError: the rows contradict each other.
    """
    x = np.array(start)
    active = active or rows.equalities
    value = _value(hessian, gradient, strengths, x)
    for _ in range(MAX_ITERATIONS):
        total_gradient, curvature = _derivatives(hessian, gradient, strengths, x)
        step, active = _newton_step(total_gradient, curvature, rows, active, x)
        decrement = -float(total_gradient @ step)
        if 0.5 * decrement <= DECREMENT_TOLERANCE * (1.0 + abs(value)):
            return Minimum(x, Status.OPTIMAL, active)
        length = min(1.0, MAX_BOUNDARY_FRACTION * _boundary_distance(x, step))
        while length > MIN_STEP:
            trial_value = _value(hessian, gradient, strengths, x + length * step)
            if trial_value <= value - SUFFICIENT_DECREASE * length * decrement:
                break
            length *= 0.5
        else:
            # Rounding hides the remaining decrease.
            return Minimum(x, Status.INACCURATE, active)
        x, value = x + length * step, trial_value
    return Minimum(x, Status.LIMIT, active)


def compute_divergence(strengths: np.ndarray, x: np.ndarray) -> float:
    """sum_k s_k (tr X_k - log det(1 + X_k)) of coordinates (10 L,); infinite for inconsistent bodies."""
    eigenvalues = np.linalg.eigvalsh(BodyCoordinates.matrices(x))
    if np.any(eigenvalues <= 0.0):
        return np.inf
    entropy = eigenvalues.sum(axis=1) - PSEUDO_INERTIA_ORDER - np.log(eigenvalues).sum(axis=1)
    return float(strengths @ entropy)


def _value(hessian: np.ndarray, gradient: np.ndarray, strengths: np.ndarray, x: np.ndarray) -> float:
    return float(0.5 * x @ (hessian @ x) + gradient @ x + compute_divergence(strengths, x))


def _derivatives(
    hessian: np.ndarray, gradient: np.ndarray, strengths: np.ndarray, x: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    inverses = np.linalg.inv(BodyCoordinates.matrices(x))
    # links l, coordinates c and d of a link, rows and columns i, j, k of a pseudo-inertia
    gradients = np.einsum("ij,cij->c", np.eye(PSEUDO_INERTIA_ORDER), BASIS) - np.einsum("lij,cij->lc", inverses, BASIS)
    products = np.einsum("lij,cjk->lcik", inverses, BASIS)
    curvatures = strengths[:, None, None] * np.einsum("lcik,ldki->lcd", products, products)
    curvature = hessian.copy()
    for k, block in enumerate(curvatures):
        part = slice(PER_LINK * k, PER_LINK * (k + 1))
        curvature[part, part] += block
    return hessian @ x + gradient + (strengths[:, None] * gradients).ravel(), curvature


def _newton_step(
    total_gradient: np.ndarray, curvature: np.ndarray, rows: RowSides, active: tuple[int, ...], x: np.ndarray
) -> tuple[np.ndarray, tuple[int, ...]]:
    """The step to the minimum of the local quadratic model over the rows, and the active rows."""
    lower = _cholesky_root(curvature)
    target = -solve_triangular(lower, total_gradient, lower=True, check_finite=False)
    step = solve_triangular(lower, target, lower=True, trans="T", check_finite=False)
    pool, held = rows.pool, list(active)
    multipliers = np.zeros(0)
    if held:
        normals = solve_triangular(lower, rows.normals[held].T, lower=True, check_finite=False)
        multipliers = np.linalg.solve(normals.T @ normals, -pool.excess(x + step)[held])
        step = step + solve_triangular(lower, normals @ multipliers, lower=True, trans="T", check_finite=False)
    if np.all((multipliers >= 0.0) | rows.equal[held]) and np.all(pool.excess(x + step) >= -ROW_TOLERANCE):
        return step, active
    basis = solve_triangular(lower, np.eye(len(x)), lower=True, check_finite=False).T
    found = nearest_point(x, basis, target, pool, start=active)
    if not found.feasible:
        raise BackendError("the total mass, boxes or bounds contradict each other")
    return found.x - x, found.active


def _cholesky_root(curvature: np.ndarray) -> np.ndarray:
    """Lower triangular root of a curvature; rounding may have made the matrix of nearly exact data indefinite."""
    lift = 0.0
    for _ in range(MAX_SHIFTS):
        try:
            return np.asarray(cholesky(curvature + lift * np.eye(len(curvature)), lower=True, check_finite=False))
        except LinAlgError:
            lift = max(10.0 * lift, float(np.finfo(float).eps * np.trace(curvature)))
    raise BackendError("the matrix of the equations is not positive semi-definite: a weight or an entry is not finite")


MAX_SHIFTS = 8
"""Number of diagonal shifts, each ten times the one before, after which a matrix is called indefinite."""
ROW_TOLERANCE = 1e-9
"""Violation of a row of unit length that counts as rounding."""


def _boundary_distance(x: np.ndarray, step: np.ndarray) -> float:
    """Multiple of a step at which the first body reaches the boundary of consistency."""
    roots = np.linalg.inv(np.linalg.cholesky(BodyCoordinates.matrices(x)))
    # links l, coordinates c of a link, rows i and columns j of a pseudo-inertia
    change = np.einsum("lc,cij->lij", step.reshape(-1, PER_LINK), BASIS)
    lowest = float(np.linalg.eigvalsh(roots @ change @ np.swapaxes(roots, 1, 2))[:, 0].min())
    return np.inf if lowest >= 0.0 else -1.0 / lowest
