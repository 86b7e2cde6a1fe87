"""Laws of quadratic programs with bounds."""

from __future__ import annotations

import numpy as np
import pytest

from solver import qp
from solver.base.errors import UnknownPreset
from solver.qp.bounded import COMPLIANCE, Bounds, bounded_solver, solve_bounded


def program(seed: int, size: float) -> tuple[np.ndarray, np.ndarray, Bounds]:
    """Twelve variables of which three are free, three rows, one of them an equality; 0 is inside."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(12, 8))
    hessian = root @ root.T + 1e-2 * np.eye(12)
    low, high = -rng.uniform(0.0, 0.2, 15), rng.uniform(0.0, 0.2, 15)
    low[:3], high[:3], high[5], low[12:14] = -np.inf, np.inf, np.inf, -np.inf
    low[14] = high[14] = 0.0
    return hessian, hessian @ rng.normal(size=12) * size, Bounds(low, high, rng.normal(size=(3, 12)))


def conflict(seed: int) -> tuple[np.ndarray, np.ndarray, Bounds]:
    """The same with a fourth row and a fifth, which contradict the third and what the bounds allow."""
    hessian, gradient, bounds = program(seed, 1.0)
    rows = np.vstack([bounds.rows, bounds.rows[2] + 0.1 * bounds.rows[1], np.eye(12)[7]])
    low, high = (np.append(side, more) for side, more in ((bounds.low, [0.5, 1.0]), (bounds.high, [np.inf, 2.0])))
    return hessian, gradient, Bounds(low, high, rows)


@pytest.mark.parametrize("size", [0.05, 1.0, 20.0])
@pytest.mark.parametrize("seed", range(12))
def test_a_minimum_satisfies_its_optimality_conditions(seed: int, size: float) -> None:
    """Every bound holds, and multipliers, of the right sign and only at bounds, balance the gradient."""
    hessian, gradient, bounds = program(seed, size)
    found = solve_bounded(hessian, gradient, bounds)
    assert found.slack == 0.0
    assert bounds.violation(found.x) < 1e-9
    scale = 1.0 + np.abs(gradient).max()
    forces = found.multipliers[:12] + bounds.rows.T @ found.multipliers[12:]
    np.testing.assert_allclose(hessian @ found.x + forces, gradient, atol=1e-9 * scale)
    values = np.append(found.x, bounds.rows @ found.x)
    np.testing.assert_allclose(values[found.multipliers > 0.0], bounds.high[found.multipliers > 0.0], atol=1e-9)
    np.testing.assert_allclose(values[found.multipliers < 0.0], bounds.low[found.multipliers < 0.0], atol=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_contradictory_rows_share_their_violation(seed: int) -> None:
    """The bounds of the variables hold; the rows' violations have the least squares, each relative to its compliance,
    as Clarabel finds them with a slack for each row."""
    hessian, gradient, bounds = conflict(seed)
    found = solve_bounded(hessian, gradient, bounds)
    own = 1.0 / np.sqrt(np.einsum("mi,mi->m", bounds.rows, np.linalg.solve(hessian, bounds.rows.T).T))
    matrix = np.hstack([own[:, None] * bounds.rows, np.eye(5)])
    rows = qp.Rows(matrix, own * bounds.low[12:], own * bounds.high[12:], ("row",) * 5)
    block = np.block([[COMPLIANCE * hessian, np.zeros((12, 5))], [np.zeros((5, 12)), np.eye(5)]])
    free = np.full(5, np.inf)
    slacks = qp.Problem.quadratic(
        block, np.append(-COMPLIANCE * gradient, np.zeros(5)), rows=rows,
        lower=np.append(bounds.low[:12], -free), upper=np.append(bounds.high[:12], free),
    )  # fmt: skip
    expected = qp.solve(slacks, "clarabel", tolerance=1e-13).x
    violated = bounds.rows @ found.x - np.clip(bounds.rows @ found.x, bounds.low[12:], bounds.high[12:])
    assert found.slack == pytest.approx(np.abs(violated).max())
    assert found.slack > 0.1
    np.testing.assert_allclose(own * violated, -expected[12:], atol=1e-8)
    assert (found.x >= bounds.low[:12]).all()
    assert (found.x <= bounds.high[:12]).all()
    forces = found.multipliers[:12] + bounds.rows.T @ found.multipliers[12:]
    np.testing.assert_allclose(hessian @ found.x + forces, gradient, atol=1e-8 * np.abs(found.multipliers).max())


@pytest.mark.parametrize("rows", [0, 1])
def test_without_a_minimum_the_slack_is_infinite(rows: int) -> None:
    """An indefinite matrix or one that is not finite has no solution; the point returned is inside the bounds."""
    bounds = Bounds(np.full(2 + rows, 0.25), np.ones(2 + rows), np.eye(2)[:rows])
    for matrix in (np.diag([1.0, -1.0]), np.full((2, 2), np.nan)):
        found = solve_bounded(matrix, np.ones(2), bounds)
        assert found.slack == np.inf
        np.testing.assert_array_equal(found.x, [0.25, 0.25])


@pytest.mark.parametrize("count", [0, 3])
def test_a_violation_is_the_largest_of_any_side(count: int) -> None:
    """A point inside violates nothing; moved beyond one bound or row it violates that one by as much."""
    rng = np.random.default_rng(6)
    low, high = (
        np.array([-1.0, -np.inf, -3.0, *[-np.inf] * count]),
        np.array([np.inf, 2.0, 3.0, *[4.0, 4.0, 1.0][:count]]),
    )
    bounds = Bounds(low, high, np.eye(3)[:count] * 0.5)
    assert bounds.violation(np.array([0.5, 1.0, -0.5])) == 0.0
    for by in rng.uniform(0.1, 1.0, (20, 3)):
        for x, expected in (
            ([low[0] - by[0], 0.0, 0.0], by[0]),
            ([0.0, high[1] + by[1], 0.0], by[1]),
            ([0.0, 0.0, low[2] - by[2]], by[2]),
            ([low[0] - by[0], high[1] + by[1], low[2] - by[2]], by.max()),
            ([8.0 + by[0], 0.0, 0.0], 0.5 * by[0] if count else 0.0),
        ):
            assert bounds.violation(np.array(x)) == pytest.approx(expected)


def test_osqp_finds_the_minima_of_a_sequence() -> None:
    """OSQP finds the minima and multipliers of programs that change a little from one to the next."""
    rng = np.random.default_rng(2)
    root, rows, sequence = rng.normal(size=(10, 8)), rng.normal(size=(2, 8)), bounded_solver("osqp")
    for _ in range(6):
        root = root + 0.05 * rng.normal(size=root.shape)
        hessian, gradient = root.T @ root + 0.1 * np.eye(8), 3.0 * rng.normal(size=8)
        low, high = -rng.uniform(0.05, 0.3, 10), rng.uniform(0.05, 0.3, 10)
        low[8:] = -np.inf
        bounds = Bounds(low, high, rows)
        found, exact = sequence(hessian, gradient, bounds), solve_bounded(hessian, gradient, bounds)
        assert found.slack < 1e-8
        np.testing.assert_allclose(found.x, exact.x, atol=1e-6)
        np.testing.assert_array_equal(np.sign(found.multipliers), np.sign(exact.multipliers))


def test_an_unknown_solver_lists_the_known_ones() -> None:
    """The error of an unknown name lists the known names."""
    with pytest.raises(UnknownPreset, match="daqp, osqp"):
        bounded_solver("pivoting")
