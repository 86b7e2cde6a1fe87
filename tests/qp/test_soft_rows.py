"""Laws of quadratic programs with soft rows: the active set's optimum is the interior point's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from solver import qp
from solver.qp.soft_rows import SoftSolution, solve_soft

SIZE, ROWS = 30, 90


class Case:
    """Rows of which some cannot be satisfied, some depend on each other, and one is constant."""

    def __init__(self, seed: int, reach: float) -> None:
        generator = np.random.default_rng(seed)
        root = generator.standard_normal((SIZE, SIZE))
        self.metric = root @ root.T + 0.1 * np.eye(SIZE)
        rows = generator.standard_normal((ROWS, SIZE)) * (generator.random((ROWS, SIZE)) < 0.3)
        rows[-2], rows[-1] = rows[-3], 0.0
        self.rows, self.offset = sparse.csr_array(rows), generator.standard_normal(ROWS) - 0.3
        self.offset[-2], self.offset[-1] = self.offset[-3], -0.5
        centre = 0.02 * generator.standard_normal(SIZE)
        self.low, self.high = centre - reach, centre + reach
        self.normals = generator.standard_normal((2, SIZE))
        self.normals -= np.outer(self.normals @ centre, centre) / (centre @ centre)

    def solve(self, penalty: float, guess: np.ndarray | None = None, *, on_subspace: bool) -> SoftSolution:
        inverse = np.linalg.inv(self.metric)
        if on_subspace:
            leads = inverse @ self.normals.T
            inverse = inverse - leads @ np.linalg.solve(self.normals @ leads, leads.T)
        found = solve_soft(
            lambda forces: forces @ inverse, self.rows, self.offset, penalty, (self.low, self.high), guess
        )
        assert found is not None
        return found

    def peer(self, penalty: float, *, on_subspace: bool) -> np.ndarray:
        """x by an interior point, with a slack for every row."""
        soft = sparse.hstack([self.rows, sparse.eye(ROWS)])
        rows, lower, upper = [soft], [-self.offset], [np.full(ROWS, np.inf)]
        if on_subspace:
            rows.append(sparse.hstack([sparse.csr_array(self.normals), sparse.csr_array((2, ROWS))]))
            lower.append(np.zeros(2))
            upper.append(np.zeros(2))
        matrix = sparse.csr_array(sparse.vstack(rows))
        problem = qp.Problem(
            sparse.block_diag([self.metric, sparse.csc_array((ROWS, ROWS))], "csc"),
            np.concatenate([np.zeros(SIZE), np.full(ROWS, penalty)]),
            qp.Rows(matrix, np.concatenate(lower), np.concatenate(upper), ("row",) * matrix.shape[0]),
            np.concatenate([self.low, np.zeros(ROWS)]),
            np.concatenate([self.high, np.full(ROWS, np.inf)]),
        )
        solution = qp.solve(problem, "clarabel", tolerance=1e-10)
        assert solution.usable
        return solution.x[:SIZE]


@pytest.mark.parametrize("on_subspace", [False, True], ids=["free", "on a subspace"])
@pytest.mark.parametrize("reach", [0.05, 0.3, 10.0])
@pytest.mark.parametrize("penalty", [0.3, 30.0])
def test_the_optimum_is_that_of_an_interior_point(penalty: float, reach: float, *, on_subspace: bool) -> None:
    """Both find the same x within its bounds; multipliers are between 0 and the penalty, and zero with slack."""
    for seed in range(4):
        case = Case(seed, reach)
        found = case.solve(penalty, on_subspace=on_subspace)
        np.testing.assert_allclose(found.x, case.peer(penalty, on_subspace=on_subspace), atol=2e-5)
        room = case.rows @ found.x + case.offset
        assert (found.multipliers >= 0.0).all()
        assert (found.multipliers <= penalty).all()
        assert np.abs(found.multipliers[room > 1e-5]).max(initial=0.0) == 0.0
        np.testing.assert_allclose(found.multipliers[room < -1e-5], penalty)
        pull = case.metric @ found.x - case.rows.T @ found.multipliers + found.bounds
        free = pull - case.normals.T @ np.linalg.lstsq(case.normals.T, pull, rcond=None)[0] if on_subspace else pull
        np.testing.assert_allclose(free, 0.0, atol=1e-6 * (1.0 + penalty))
        assert reach < 1.0 or not found.bounds.any()
        assert reach > 0.1 or found.bounds.any()


@pytest.mark.parametrize("reach", [0.05, 10.0])
def test_any_multipliers_may_be_guessed(reach: float) -> None:
    """Every guess of the multipliers leads to the same optimum, the optimum's own in few steps."""
    case = Case(7, reach)
    found = case.solve(1.0, on_subspace=False)
    guesses = [found.multipliers, Case(8, reach).solve(1.0, on_subspace=False).multipliers, np.full(ROWS, 5.0)]
    for guess in guesses:
        again = case.solve(1.0, guess, on_subspace=False)
        np.testing.assert_allclose(again.x, found.x, atol=1e-5)
    if not found.bounds.any():  # whose multipliers are not guessed
        assert case.solve(1.0, found.multipliers, on_subspace=False).steps <= found.steps // 2


@pytest.mark.parametrize("size", [1e-9, 1e9])
@pytest.mark.parametrize("reach", [0.05, 10.0])
def test_the_size_of_the_cost_does_not_change_the_optimum(reach: float, size: float) -> None:
    """A quadratic term and a penalty so many times as large give the same x, and multipliers as many times as large."""
    plain, scaled = Case(3, reach), Case(3, reach)
    scaled.metric = size * scaled.metric
    one, other = plain.solve(1.0, on_subspace=False), scaled.solve(size, on_subspace=False)
    np.testing.assert_allclose(other.x, one.x, atol=2e-5)
    np.testing.assert_allclose(other.multipliers, size * one.multipliers, atol=1e-4 * size)
    np.testing.assert_allclose(other.bounds, size * one.bounds, atol=1e-4 * size * (1.0 + np.abs(one.bounds).max()))


def test_more_rows_than_columns_are_stored_bind(monkeypatch: pytest.MonkeyPatch) -> None:
    """The storage for columns, and the number of rows freed at once, do not change the optimum."""
    case = Case(5, 0.05)
    plain = case.solve(30.0, on_subspace=False)
    monkeypatch.setattr("solver.qp.soft_rows.COLUMNS", 2)
    monkeypatch.setattr("solver.qp.soft_rows.BLOCK", 3)
    small = case.solve(30.0, on_subspace=False)
    np.testing.assert_allclose(small.x, plain.x, atol=2e-5)
    np.testing.assert_allclose(small.bounds, plain.bounds, atol=1e-3)
    assert small.steps > plain.steps


def test_the_solver_stops_at_its_work_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """The result is None if the optimum needs more work than the limit, with and without a guess."""
    case = Case(7, 10.0)
    inverse = np.linalg.inv(case.metric)

    def found(guess: np.ndarray | None) -> object:
        return solve_soft(lambda forces: forces @ inverse, case.rows, case.offset, 1.0, (case.low, case.high), guess)

    guesses = (None, case.solve(1.0, on_subspace=False).multipliers)
    assert None not in [found(guess) for guess in guesses]
    monkeypatch.setattr("solver.qp.soft_rows.WORK", 1.0)
    assert [found(guess) for guess in guesses] == [None, None]
