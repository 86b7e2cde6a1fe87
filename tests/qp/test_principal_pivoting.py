"""Laws of quadratic programs with bounds."""

from __future__ import annotations

import numpy as np
import pytest

from solver.errors import BackendError
from solver.qp.principal_pivoting import Box, solve_box


def program(seed: int, size: float) -> tuple[np.ndarray, np.ndarray, Box]:
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(12, 8))
    hessian = root @ root.T + 1e-2 * np.eye(12)
    low, high = -rng.uniform(0.0, 0.2, 12), rng.uniform(0.0, 0.2, 12)
    low[:3], high[:3], high[5] = -np.inf, np.inf, np.inf
    rows = rng.normal(size=(3, 12)) * (rng.random((3, 12)) < 0.4)
    return hessian, hessian @ rng.normal(size=12) * size, Box(low, high, rows, rng.uniform(0.0, 0.1, 3))


@pytest.mark.parametrize("size", [0.05, 1.0, 20.0])
@pytest.mark.parametrize("seed", range(12))
def test_a_minimum_satisfies_its_optimality_conditions(seed: int, size: float) -> None:
    """Every bound holds, and the gradient is a combination of active bounds with multipliers of the right sign."""
    hessian, gradient, box = program(seed, size)
    found = solve_box(hessian, gradient, box)
    assert found.converged
    assert found.slack <= 1e-7
    left = gradient - hessian @ found.x
    held = found.active
    rows = np.flatnonzero(held[12:])
    pushes = np.vstack([np.diag(held[:12])[held[:12] != 0], box.rows[rows]])
    if len(pushes) == 0:
        np.testing.assert_allclose(left, 0.0, atol=1e-8)
        return
    forces, *_ = np.linalg.lstsq(pushes.T, left, rcond=None)
    np.testing.assert_allclose(pushes.T @ forces, left, atol=1e-6 * (1.0 + np.abs(left).max()))
    assert (forces >= -1e-6 * (1.0 + np.abs(left).max())).all()


def test_any_guess_leads_to_the_same_minimum() -> None:
    """The guessed active set does not change the minimum."""
    hessian, gradient, box = program(3, 1.0)
    found = solve_box(hessian, gradient, box).x
    rng = np.random.default_rng(5)
    for _ in range(20):
        guess = np.concatenate([rng.integers(-1, 2, 12), rng.integers(0, 2, 3)])
        np.testing.assert_allclose(solve_box(hessian, gradient, box, guess).x, found, atol=1e-7)


def test_contradictory_bounds_are_reported_and_share_the_violation() -> None:
    """Rows x <= 0.3 and x >= 0.5 give the point in the middle, with a reported violation of 0.1."""
    box = Box(np.zeros(3), np.ones(3), np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]]), np.array([0.3, -0.5]))
    found = solve_box(np.eye(3), np.ones(3), box)
    np.testing.assert_allclose(found.x, [0.4, 1.0, 1.0], atol=1e-6)
    assert found.slack == pytest.approx(0.1, abs=1e-6)


def test_a_matrix_without_minimum_is_refused() -> None:
    """A singular Hessian is an error."""
    box = Box(np.full(2, -np.inf), np.full(2, np.inf), np.zeros((0, 2)), np.zeros(0))
    with pytest.raises(BackendError, match="positive definite"):
        solve_box(np.diag([1.0, -1.0]), np.ones(2), box)


def test_all_variables_may_be_at_a_bound() -> None:
    """A corner of the box is found, with and without rows."""
    for rows in (0, 1):
        box = Box(-np.ones(2), np.ones(2), np.ones((rows, 2)), np.full(rows, 5.0))
        found = solve_box(np.eye(2), np.array([3.0, -3.0]), box, np.ones(2 + rows))
        np.testing.assert_allclose(found.x, [1.0, -1.0])


@pytest.mark.parametrize("count", [0, 3])
def test_a_violation_is_the_largest_of_any_side(count: int) -> None:
    """A point inside violates nothing; moved beyond one bound or row it violates that one by as much."""
    rng = np.random.default_rng(6)
    low, high = np.array([-1.0, -np.inf, -3.0]), np.array([np.inf, 2.0, 3.0])
    box = Box(low, high, np.eye(3)[:count] * 0.5, np.array([4.0, 4.0, 1.0])[:count])
    inside = np.array([0.5, 1.0, -0.5])
    assert box.violation(inside) == 0.0
    for _ in range(20):
        by = rng.uniform(0.1, 1.0, 3)
        for x, expected in (
            ([low[0] - by[0], 0.0, 0.0], by[0]),
            ([0.0, high[1] + by[1], 0.0], by[1]),
            ([0.0, 0.0, low[2] - by[2]], by[2]),
            ([low[0] - by[0], high[1] + by[1], low[2] - by[2]], by.max()),
            ([8.0 + by[0], 0.0, 0.0], 0.5 * by[0] if count else 0.0),
        ):
            assert box.violation(np.array(x)) == pytest.approx(expected)


def test_a_search_that_does_not_end_returns_a_point_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without exchanges left the result says so; its variables are within their bounds, its slack that of its rows."""
    monkeypatch.setattr("solver.qp.principal_pivoting.EXCHANGES", 1)
    for seed in range(12):
        hessian, gradient, box = program(seed, 20.0)
        found = solve_box(hessian, gradient, box)
        assert not found.converged
        assert (found.x >= box.low).all()
        assert (found.x <= box.high).all()
        assert found.slack > 0.0
