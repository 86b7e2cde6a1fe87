"""The quadratic program of rapetti2020 (10) for frames in which a joint limit binds."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ..errors import BackendError
from ..qp import Problem, Rows, solve

ROUNDS = 12
"""Exchanges of active rows tried before a backend is asked; a handful of limits settles in two or three."""
FEASIBLE = 1e-9
"""[rad] Slack within which a bound counts as kept."""


def bounded_step(
    hessian: np.ndarray, gradient: np.ndarray, rows: np.ndarray, low: np.ndarray, high: np.ndarray, backend: str
) -> np.ndarray:
    """Minimise 1/2 x'Hx - g'x subject to low <= Gx <= high, exactly.

    Rows are exchanged from the violated bounds of the free optimum; if that does not settle, the backend's solution
    says which rows are active. Either way the active rows are solved for exactly, because the tolerance of a
    first-order method would show as noise in the accelerations.

    Args:
        hessian: (n, n) positive definite.
        gradient: (n,).
        rows: (m, n) G.
        low, high: (m,), infinite where free.
        backend: name of a `solver.qp` backend.

    Raises:
        BackendError: neither way came to an optimum.
    """
    free = np.linalg.solve(hessian, gradient)
    values = rows @ free
    found = _exchanged(hessian, gradient, rows, low, high, np.where(values > high, 1, np.where(values < low, -1, 0)))
    if found is not None:
        return found
    size = float(np.trace(hessian)) / len(hessian)
    bounded = np.isfinite(low) | np.isfinite(high)
    names = tuple(f"joint coordinate {place}" for place in np.flatnonzero(bounded))
    limits = Rows(sparse.csr_array(rows[bounded]), low[bounded], high[bounded], names)
    endless = np.full(len(gradient), np.inf)
    problem = Problem(sparse.csc_array(hessian / size), -gradient / size, limits, -endless, endless)
    solution = solve(problem, backend=backend)
    rough = solution.x
    values = rows @ rough
    near = 1e-5 * (1.0 + np.abs(values))
    sides = np.where(values >= high - near, 1, np.where(values <= low + near, -1, 0))
    exact = _exchanged(hessian, gradient, rows, low, high, sides)
    if exact is None and not solution.usable:
        raise BackendError(f"tracking: the joint limits of a frame could not be kept; {solution.verdict}")
    return rough if exact is None else exact


def _exchanged(
    hessian: np.ndarray, gradient: np.ndarray, rows: np.ndarray, low: np.ndarray, high: np.ndarray, sides: np.ndarray
) -> np.ndarray | None:
    """Optimum by exchanging active rows from a guess ``sides`` (+1 at high, -1 at low, 0 free); None if unsettled."""
    count = len(gradient)
    for _ in range(ROUNDS):
        active = np.flatnonzero(sides)
        bounds = np.where(sides > 0, high, low)[active]
        kkt = np.zeros((count + len(active), count + len(active)))
        kkt[:count, :count] = hessian
        kkt[:count, count:] = rows[active].T
        kkt[count:, :count] = rows[active]
        try:
            solution = np.linalg.solve(kkt, np.concatenate([gradient, bounds]))
        except np.linalg.LinAlgError:
            return None
        x, multipliers = solution[:count], solution[count:]
        wrong = multipliers * sides[active] < 0.0
        values = rows @ x
        above, below = values > high + FEASIBLE, values < low - FEASIBLE
        if not wrong.any() and not above.any() and not below.any():
            return x
        sides = sides.copy()
        sides[active[wrong]] = 0
        sides[above], sides[below] = 1, -1
    return None
