"""Nonlinear least squares of many problems at once."""

from __future__ import annotations

import numpy as np
import pytest

from solver.qp.least_squares import solve_least_squares


def _residual(values: np.ndarray, _: np.ndarray) -> np.ndarray:
    """Rosenbrock's function as two residuals."""
    return np.column_stack([10.0 * (values[:, 1] - values[:, 0] ** 2), 1.0 - values[:, 0]])


def _equations(values: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    one, zero = np.ones(len(values)), np.zeros(len(values))
    jacobian = np.array([[-20.0 * values[:, 0], 10.0 * one], [-one, zero]]).transpose(2, 0, 1)
    across = jacobian.swapaxes(1, 2)
    return across @ jacobian, -(across @ _residual(values, rows)[:, :, None])[:, :, 0]


@pytest.mark.parametrize(("upper", "best"), [(2.0, (1.0, 1.0)), (0.5, (0.5, 0.25))])
def test_problems_reach_their_minimum_within_bounds(upper: float, best: tuple[float, float]) -> None:
    """From every start, however far; a bound that excludes the minimum is active at the solution."""
    starts = np.random.default_rng(2).uniform(-2.0, 0.5, (20, 2))
    bounds = (np.full(2, -2.0), np.array([upper, 2.0]))
    found, cost = solve_least_squares(
        starts, _equations, lambda v, rows: (_residual(v, rows) ** 2).sum(axis=1), converged=1e-9, bounds=bounds
    )
    assert found == pytest.approx(np.tile(best, (20, 1)), abs=1e-6)
    assert cost == pytest.approx((1.0 - best[0]) ** 2, abs=1e-9)
