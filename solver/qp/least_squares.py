"""Nonlinear least squares of many small problems at once, by Levenberg-Marquardt iterations within bounds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

ITERATIONS = 60
FIRST_DAMPING, MIN_DAMPING, MAX_DAMPING = 1e-3, 1e-9, 1e6
"""Of the iterations, relative to the mean diagonal entry of the normal equations. Relative to each entry, iterations
towards the coordinates of an OpenSim model in a drop jump of subject_a took twice the time."""
NO_CURVATURE = 1e-12
"""Least mean entry: where nothing changes anything, nothing moves."""


def solve_least_squares(
    start: np.ndarray,
    equations: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]],
    cost: Callable[[np.ndarray, np.ndarray], np.ndarray],
    *,
    converged: float,
    bounds: tuple[np.ndarray, np.ndarray] = (np.array(-np.inf), np.array(np.inf)),
    move: Callable[[np.ndarray, np.ndarray], np.ndarray] = np.add,
) -> tuple[np.ndarray, np.ndarray]:
    """Values (N, n) of least cost near the given ones, and their costs (N,).

    Args:
        start: (N, n) values at which the iterations begin.
        equations: normal matrices (m, c, c) and descent gradients (m, c) at values (m, n) of problems (m,).
        cost: (m,) of values (m, n) of problems (m,).
        converged: largest change in an iteration that ends it.
        bounds: of the values, (n,) each.
        move: values (m, n) after changes (m, c).
    """
    values, damping, active = start.copy(), np.full(len(start), FIRST_DAMPING), np.arange(len(start))
    error = cost(values, active)
    for _ in range(ITERATIONS):
        own = values[active]
        normal, gradient = equations(own, active)
        free = np.ones(gradient.shape, bool)
        if np.ndim(bounds[0]):
            free = ~(((own <= bounds[0]) & (gradient < 0.0)) | ((own >= bounds[1]) & (gradient > 0.0)))
        normal = normal * (free[:, :, None] & free[:, None, :])
        diagonal = np.einsum("nii->ni", normal)
        diagonal += damping[active, None] * np.maximum(diagonal.mean(axis=1, keepdims=True), NO_CURVATURE)
        step = np.linalg.solve(normal, np.where(free, gradient, 0.0)[:, :, None])[:, :, 0]
        tried = np.clip(move(own, step), *bounds)
        new = cost(tried, active)
        better = new <= error[active]
        values[active[better]], error[active[better]] = tried[better], new[better]
        damping[active] = np.where(better, np.maximum(0.1 * damping[active], MIN_DAMPING), 10.0 * damping[active])
        going = (np.abs(tried - own).max(axis=1) > converged) & (damping[active] < MAX_DAMPING)
        active = active[going]
        if not len(active):
            break
    return values, error
