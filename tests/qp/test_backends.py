"""Laws of backends: they solve problems with known optima, and solutions measure their own residuals."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from solver.base.errors import BackendError, InvalidValue, UnknownPreset
from solver.qp import (
    BACKENDS,
    EXPONENTIAL,
    LINEAR,
    PSD,
    SECOND_ORDER,
    SPARSE,
    Cone,
    Problem,
    Rows,
    Solution,
    Status,
    matrix_of,
    solve,
    triangle_of,
)
from solver.qp.backends import highs, piqp

LIBRARIES = {"piqp": "piqp"}
"""Backends whose library is optional."""


def nearest_in_simplex() -> tuple[Problem, np.ndarray]:
    """The point of the unit simplex nearest to (1.2, 0.1, -5), by hand (1, 0, 0)."""
    rows = Rows.equalities(np.ones((1, 3)), np.array([1.0]), "sum")
    target = np.array([1.2, 0.1, -5.0])
    return Problem.least_squares(np.eye(3), target, rows=rows, lower=np.zeros(3)), np.array([1.0, 0.0, 0.0])


@pytest.mark.parametrize("backend", BACKENDS)
def test_known_optimum(backend: str) -> None:
    """Each backend finds the hand-computed optimum, with small measured residuals."""
    if backend in LIBRARIES:
        pytest.importorskip(LIBRARIES[backend])
    problem, optimum = nearest_in_simplex()
    found = solve(problem, backend)
    assert found.status is Status.OPTIMAL
    assert found.x == pytest.approx(optimum, abs=1e-6)
    assert found.is_optimal(1e-6)


@pytest.mark.parametrize("backend", BACKENDS)
def test_two_sided_rows(backend: str) -> None:
    """Minimising (x - 3)^2 + (y + 3)^2 with -1 <= x + y <= 1, -1 <= x - y <= 2 gives (1, -1), upper side."""
    if backend in LIBRARIES:
        pytest.importorskip(LIBRARIES[backend])
    rows = Rows(
        np.array([[1.0, 1.0], [1.0, -1.0]]), np.array([-1.0, -1.0]), np.array([1.0, 2.0]), ("sum", "difference")
    )
    found = solve(Problem.least_squares(np.eye(2), np.array([3.0, -3.0]), rows=rows), backend)
    assert found.x == pytest.approx([1.0, -1.0], abs=1e-6)
    assert found.row_duals == pytest.approx([0.0, 2.0], abs=1e-5)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("side", ["lower", "upper", "both"])
def test_some_variables_may_be_free(backend: str, side: str) -> None:
    """A bound of one variable stops it alone; the others, without bounds, go as far as they are pulled."""
    if backend in LIBRARIES:
        pytest.importorskip(LIBRARIES[backend])
    pull = -2.0 if side == "lower" else 2.0
    lower = np.array([-np.inf, -1.0, -np.inf]) if side != "upper" else None
    upper = np.array([np.inf, 1.0, np.inf]) if side != "lower" else None
    found = solve(Problem.least_squares(np.eye(3), np.full(3, pull), lower=lower, upper=upper), backend)
    assert found.x == pytest.approx([pull, np.sign(pull), pull], abs=1e-5)
    assert found.bound_duals == pytest.approx([0.0, np.sign(pull), 0.0], abs=1e-4)
    assert found.is_optimal(1e-5)


def test_a_linear_program_measures_its_residuals() -> None:
    """Least x + 2 y + 3 z with x + y + z = 2, x - y >= -1, y - z <= 5, 0 <= x <= 0.5, z <= 1: (0.5, 1.5, 0) by hand.

    Its duals are the slopes of that: an equality that costs 2 a unit, and a bound that is worth 1.
    """
    rows = Rows(
        np.array([[1.0, 1.0, 1.0], [1.0, -1.0, 0.0], [0.0, 1.0, -1.0]]), np.array([2.0, -1.0, -np.inf]),
        np.array([2.0, np.inf, 5.0]), ("sum", "at least", "at most"),
    )  # fmt: skip
    cost, most = np.array([1.0, 2.0, 3.0]), np.array([0.5, np.inf, 1.0])
    found = solve(Problem.quadratic(np.zeros((3, 3)), cost, rows=rows, lower=np.zeros(3), upper=most), LINEAR)
    assert found.status is Status.OPTIMAL
    assert found.x == pytest.approx([0.5, 1.5, 0.0], abs=1e-9)
    assert max(found.primal_residual, found.dual_residual, found.gap) < 1e-9
    assert found.objective == pytest.approx(3.5)


@pytest.mark.parametrize("seed", range(5))
def test_rows_are_added_until_none_is_violated(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Adding a few rows at a time gives the optimum of all two-sided rows, equalities and bounds, with its duals."""
    monkeypatch.setattr(highs, "AT_ONCE", 4)
    generator = np.random.default_rng(seed)
    inner, matrix = generator.uniform(-0.5, 0.5, 12), generator.standard_normal((60, 12))
    room = generator.uniform(0.05, 1.0, (2, 60)) * (np.arange(60) > 2)  # the first three are equalities
    lower, upper = matrix @ inner - room[0], matrix @ inner + room[1]
    lower[3:20], upper[20:30] = -np.inf, np.inf
    rows = Rows(matrix, lower, upper, tuple(map(str, range(60))))
    one = np.ones(12)
    problem = Problem.quadratic(np.zeros((12, 12)), generator.standard_normal(12), rows=rows, lower=-one, upper=one)
    found = solve(problem, LINEAR)
    assert found.status is Status.OPTIMAL
    assert max(found.primal_residual, found.dual_residual, found.gap) < 1e-7
    assert found.iterations > 0
    assert found.objective == pytest.approx(solve(problem, "clarabel").objective, abs=1e-6)


def test_an_unbounded_linear_program_is_reported() -> None:
    """A cost without a lower bound gives the status UNBOUNDED."""
    rows = Rows(np.ones((1, 1)), np.array([-np.inf]), np.ones(1), ("at most one",))
    found = solve(Problem.quadratic(np.zeros((1, 1)), np.ones(1), rows=rows), LINEAR)
    assert found.status is Status.UNBOUNDED
    assert not found.usable


def test_the_residuals_of_a_reported_optimum_are_measured() -> None:
    """A point that violates a row, or with a nonzero gradient, is not usable whatever the backend reports."""
    problem, _ = nearest_in_simplex()
    found = solve(problem, "clarabel")
    assert found.with_measured_status() is found
    for wrong in (replace(found, x=found.x + 0.1), replace(found, row_duals=found.row_duals + 1.0)):
        measured = wrong.with_measured_status()
        assert not wrong.is_optimal(1e-6)
        assert measured.status is Status.INACCURATE
        assert not measured.usable
        assert "residual" in measured.message
    assert replace(found, x=found.x + 0.1).primal_residual == pytest.approx(0.3, abs=1e-6)
    assert replace(found, row_duals=found.row_duals + 1.0).dual_residual == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("backend", ["clarabel", "piqp", SPARSE, LINEAR])
def test_infeasible_is_a_status(backend: str) -> None:
    """Contradictory rows give the status INFEASIBLE, not an exception, a summary without a point and no usable one."""
    if backend in LIBRARIES:
        pytest.importorskip(LIBRARIES[backend])
    rows = Rows(np.ones((2, 1)), np.array([1.0, -np.inf]), np.array([np.inf, 0.0]), ("at least one", "at most zero"))
    cost = np.zeros((1, 1)) if backend == LINEAR else np.eye(1)
    found = solve(Problem.quadratic(cost, np.zeros(1), rows=rows), backend)
    assert found.status is Status.INFEASIBLE
    assert not found.usable
    assert backend != LINEAR or found.summary == "highs: infeasible, no point"


def random_programme() -> Problem:
    """Thirty variables, half of them slacks of soft rows, as in the programs of repairs."""
    generator = np.random.default_rng(3)
    matrix = np.concatenate([generator.standard_normal((15, 15)), np.eye(15)], axis=1)
    rows = Rows(matrix, generator.uniform(0.5, 2.0, 15), np.full(15, np.inf), ("limit",) * 15)
    lower, upper = np.r_[np.full(15, -0.7), np.zeros(15)], np.r_[np.full(15, 0.7), np.full(15, np.inf)]
    cost = np.r_[np.zeros(15), np.full(15, 3.0)]
    return Problem.quadratic(np.diag(np.r_[np.ones(15), np.zeros(15)]), cost, rows=rows, lower=lower, upper=upper)


def test_sparse_programs_are_solved_without_the_optional_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """PIQP, or Clarabel if PIQP is not installed, finds the same point and duals."""
    pytest.importorskip("piqp")
    problem = random_programme()
    quick = solve(problem, SPARSE)
    monkeypatch.setitem(sys.modules, "piqp", None)
    other = solve(problem, SPARSE)
    assert (quick.backend, other.backend) == ("piqp", "clarabel")
    assert quick.is_optimal(1e-6)
    assert quick.x == pytest.approx(other.x, abs=1e-5)
    assert quick.row_duals == pytest.approx(other.row_duals, abs=1e-4)
    assert quick.bound_duals == pytest.approx(other.bound_duals, abs=1e-4)
    assert np.abs(quick.bound_duals).max() > 0.1 < np.abs(quick.row_duals).max()


def test_clarabel_solves_what_piqp_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """If PIQP reaches its iteration limit, Clarabel finds the optimum."""
    pytest.importorskip("piqp")
    monkeypatch.setattr(piqp, "MOST", 1)
    assert solve(random_programme(), "piqp").status is Status.LIMIT
    found = solve(random_programme(), SPARSE)
    assert found.status is Status.OPTIMAL
    assert found.backend == "clarabel"


def test_sparse_programs_with_cones_are_solved_by_clarabel() -> None:
    """The sparse backend solves cones by Clarabel; PIQP selected by name refuses them."""
    cone = Cone(PSD, sparse.eye_array(3), np.zeros(3))
    problem = Problem.quadratic(np.eye(3), np.zeros(3), cones=(cone,))
    assert solve(problem, SPARSE).backend == "clarabel"
    pytest.importorskip("piqp")
    with pytest.raises(BackendError, match="piqp"):
        solve(problem, "piqp")


def test_psd_cone_is_the_eigenvalue_projection() -> None:
    """The nearest positive semi-definite matrix keeps the positive part of the spectrum."""
    generator = np.random.default_rng(0)
    matrix = generator.standard_normal((4, 4))
    matrix = matrix + matrix.T
    values, vectors = np.linalg.eigh(matrix)
    expected = (vectors * np.maximum(values, 0.0)) @ vectors.T
    cone = Cone(PSD, sparse.eye_array(10), np.zeros(10))
    found = solve(Problem.least_squares(np.eye(10), triangle_of(matrix), cones=(cone,)), "clarabel")
    assert matrix_of(found.x) == pytest.approx(expected, abs=1e-6)
    assert found.is_optimal(1e-6)


def test_exponential_cone_bounds_the_logarithm() -> None:
    """Minimising (c - 5)^2 / 2 - a with exp(a) <= c meets c - 5 = 1 / c."""
    # Triple (a, 1, c) of x = (a, c).
    matrix = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
    cone = Cone(EXPONENTIAL, matrix, np.array([0.0, 1.0, 0.0]))
    found = solve(
        Problem.quadratic(np.diag([0.0, 1.0]), np.array([-1.0, -5.0]), cones=(cone,)), "clarabel", tolerance=1e-11
    )
    root = (5.0 + np.sqrt(29.0)) / 2.0
    assert found.x == pytest.approx([np.log(root), root], abs=1e-5)
    assert found.is_optimal(1e-6)


def test_a_dual_outside_its_exponential_cone_is_a_residual() -> None:
    """(a, b, c) is dual to exp(a) <= c if a < 0 and -a exp(b / a - 1) <= c; the violation is the dual residual."""
    matrix = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
    cone = Cone(EXPONENTIAL, matrix, np.array([0.0, 1.0, 0.0]))
    problem = Problem.quadratic(np.zeros((2, 2)), np.zeros(2), cones=(cone,))
    a, b = -2.0, 0.7
    least = -a * np.exp(b / a - 1.0)
    for c in (least - 0.3, least, least + 0.3):
        dual = np.array([a, b, c])
        q = matrix.T @ dual  # so that the gradient of the Lagrangian vanishes
        at = replace(problem, q=q)
        found = Solution(at, np.array([0.0, 1.0]), np.zeros(0), np.zeros(2), (dual,), Status.OPTIMAL, 1, 0.0, "by hand")
        assert found.dual_residual == pytest.approx(max(0.0, least - c), abs=1e-12)


@pytest.mark.parametrize("kind", ["quadratic", "cone"])
def test_a_linear_solver_refuses_what_is_not_linear(kind: str) -> None:
    """A quadratic term or a cone, either alone, is an error that names a suitable backend."""
    cone = Cone(SECOND_ORDER, np.eye(2), np.zeros(2))
    problem = Problem.quadratic(
        np.eye(2) if kind == "quadratic" else np.zeros((2, 2)), np.ones(2), cones=(cone,) if kind == "cone" else ()
    )
    with pytest.raises(BackendError, match="clarabel"):
        solve(problem, "highs")


def test_triangle_keeps_inner_products() -> None:
    """The scaled triangle of symmetric matrices keeps their inner product, and is invertible."""
    generator = np.random.default_rng(1)
    a, b = (m + m.T for m in generator.standard_normal((2, 4, 4)))
    assert triangle_of(a) @ triangle_of(b) == pytest.approx(np.sum(a * b))
    assert matrix_of(triangle_of(a)) == pytest.approx(a)


def test_bad_problems_are_refused() -> None:
    """Empty intervals, asymmetric P and unknown backends are errors that name the cause."""
    with pytest.raises(InvalidValue, match="'crossed'"):
        Rows(np.eye(1), np.array([1.0]), np.array([0.0]), ("crossed",))
    with pytest.raises(InvalidValue, match="not symmetric"):
        Problem.quadratic(np.array([[1.0, 1.0], [0.0, 1.0]]), np.zeros(2))
    with pytest.raises(UnknownPreset, match="clarabel"):
        solve(Problem.quadratic(np.eye(3), np.zeros(3)), "clarabell")


def chained_programme(seed: int) -> tuple[Problem, np.ndarray]:
    """Soft rows over neighbours in a chain of twelve triples, one row that must hold; and the chain's order.

    The variables are numbered coordinate by coordinate, their slacks behind them, as in the programs of repairs.
    """
    generator = np.random.default_rng(seed)
    count, rows = 36, 20
    place = np.tile(np.arange(12), 3)
    first = generator.integers(0, 11, rows)
    reach = (place >= first[:, None]) & (place <= first[:, None] + 1)
    matrix = np.zeros((rows + 1, count + rows))
    matrix[:rows, :count] = np.where(reach, generator.standard_normal((rows, count)), 0.0)
    matrix[:rows, count:] = np.eye(rows)
    matrix[rows, :count] = place == 5
    lower = np.append(generator.uniform(0.5, 2.0, rows), 0.25)
    upper = np.append(np.full(rows, np.inf), 0.25)
    cost, penalty = np.diag(np.r_[np.ones(count), np.zeros(rows)]), np.r_[np.zeros(count), np.full(rows, 3.0)]
    least, most = np.r_[np.full(count, -0.7), np.zeros(rows)], np.r_[np.full(count, 0.7), np.full(rows, np.inf)]
    problem = Problem.quadratic(
        cost, penalty, rows=Rows(matrix, lower, upper, ("row",) * (rows + 1)), lower=least, upper=most
    )
    return problem, np.argsort(np.r_[place, first + 1], kind="stable")


@pytest.mark.parametrize("seed", range(4))
def test_an_order_of_variables_does_not_change_the_optimum(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The block factorisation gives the optimum and all its duals in the problem's own numbering."""
    pytest.importorskip("piqp")
    from solver.qp.backends import piqp

    problem, order = chained_programme(seed)
    ways: list[bool] = []
    solved = piqp._solve

    def watched(library: object, parts: Sequence[object], tolerance: float, *, staged: bool) -> tuple[str, object]:
        ways.append(staged)
        return solved(library, parts, tolerance, staged=staged)

    monkeypatch.setattr(piqp, "_solve", watched)
    found, plain = solve(problem, SPARSE, order=order), solve(problem, "clarabel")
    assert ways == [True]
    assert found.backend == "piqp"
    assert found.is_optimal(1e-6)
    assert found.x == pytest.approx(plain.x, abs=1e-5)


def test_the_general_factorisation_is_used_if_the_block_one_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the block factorisation fails, the general one gives the optimum in the problem's own numbering."""
    pytest.importorskip("piqp")
    from solver.qp.backends import piqp

    problem, order = chained_programme(0)
    solved = piqp._solve

    def failing(library: object, parts: Sequence[object], tolerance: float, *, staged: bool) -> tuple[str, object]:
        status, result = solved(library, parts, tolerance, staged=staged)
        return ("PIQP_NUMERICS" if staged else status), result

    monkeypatch.setattr(piqp, "_solve", failing)
    found = solve(problem, SPARSE, order=order)
    assert found.backend == "piqp"
    assert found.status is Status.OPTIMAL
    assert found.is_optimal(1e-6)


@pytest.mark.parametrize("bounded", [True, False])
def test_rows_that_do_not_bind_change_nothing(bounded: bool) -> None:
    """If few of many rows bind, the optimum of all rows is found with its duals, with and without bounds."""
    generator = np.random.default_rng(4)
    normals = generator.standard_normal((900, 6))
    rows = Rows(sparse.csr_array(normals), np.full(900, -np.inf), np.linalg.norm(normals, axis=1), ("plane",) * 900)
    most = np.full(6, 3.0 if bounded else np.inf)
    problem = Problem.quadratic(np.zeros((6, 6)), generator.standard_normal(6), rows=rows, lower=-most, upper=most)
    found, exact = solve(problem, LINEAR), solve(problem, "clarabel")
    assert found.is_optimal(1e-7)
    np.testing.assert_allclose(found.x, exact.x, atol=1e-6)
    np.testing.assert_allclose(found.row_duals, exact.row_duals, atol=1e-6)
    assert 0 < np.count_nonzero(found.row_duals) <= 6


def test_rows_that_the_best_corner_keeps_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the corner of the bounds with the least cost violates no row, it is the optimum, found without a row."""
    generator, taken = np.random.default_rng(5), []
    solved = highs.HighsSolver.solve_with

    def counted(self: highs.HighsSolver, more: np.ndarray, matrix: object) -> object:
        taken.append(len(more))
        return solved(self, more, matrix)

    monkeypatch.setattr(highs.HighsSolver, "solve_with", counted)
    cost = generator.choice([-1.0, 1.0], 6) * generator.uniform(0.5, 1.0, 6)
    corner, normals = -np.sign(cost), generator.standard_normal((40, 6))
    rows = Rows(normals, np.full(40, -np.inf), normals @ corner + 0.1, ("plane",) * 40)
    found = solve(Problem.quadratic(np.zeros((6, 6)), cost, rows=rows, lower=-np.ones(6), upper=np.ones(6)), LINEAR)
    np.testing.assert_allclose(found.x, corner)
    assert taken == [0]
    assert found.is_optimal(1e-9)
