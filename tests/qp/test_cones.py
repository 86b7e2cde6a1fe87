"""Laws of cones and of the residuals of solutions: they agree with the cones' definitions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import sparse

from solver.base.errors import InvalidValue
from solver.qp import EXPONENTIAL, PSD, SECOND_ORDER, Cone, Problem, Rows, Solution, Status, triangle_of
from solver.qp.solution import _outside_dual

Generator = np.random.Generator


def in_psd(generator: Generator) -> np.ndarray:
    root = generator.standard_normal((4, int(generator.integers(1, 5))))
    return triangle_of(root @ root.T)


def in_second_order(generator: Generator) -> np.ndarray:
    v = generator.standard_normal(3)
    return np.append(np.linalg.norm(v) + generator.exponential(), v)


def in_exponential(generator: Generator) -> np.ndarray:
    """b exp(a / b) <= c, twice."""
    a, b = generator.standard_normal(2), generator.uniform(0.2, 3.0, 2)
    return np.column_stack([a, b, b * np.exp(a / b) + generator.exponential(size=2)]).ravel()


def in_dual_exponential(generator: Generator) -> np.ndarray:
    """a < 0, -a exp(b / a - 1) <= c, twice."""
    a, b = -generator.uniform(0.2, 3.0, 2), generator.standard_normal(2)
    return np.column_stack([a, b, -a * np.exp(b / a - 1.0) + generator.exponential(size=2)]).ravel()


CONES = {
    PSD: (in_psd, in_psd),
    SECOND_ORDER: (in_second_order, in_second_order),
    EXPONENTIAL: (in_exponential, in_dual_exponential),
}
"""Random members of each cone, and of its dual."""


def excess_in_cone(kind: str, value: np.ndarray) -> float:
    return Cone(kind, sparse.eye_array(len(value)), np.zeros(len(value))).violation(value)


@pytest.mark.parametrize("kind", CONES)
@pytest.mark.parametrize("dual", [False, True], ids=["cone", "dual cone"])
def test_a_violation_scales_and_vanishes_inside(kind: str, *, dual: bool) -> None:
    """Inside a cone nothing is violated; outside, the violation grows in proportion to the point."""
    member = CONES[kind][dual]

    def violation(value: np.ndarray) -> float:
        return _outside_dual(kind, value) if dual else excess_in_cone(kind, value)

    generator, outside = np.random.default_rng(0), 0
    for _ in range(40):
        inside = member(generator)
        value = inside + generator.standard_normal(len(inside))
        assert violation(inside) <= 1e-12 * np.abs(inside).max()
        for factor in (0.3, 7.0):
            assert violation(factor * value) == pytest.approx(factor * violation(value), rel=1e-9, abs=1e-12)
        outside += violation(value) > 0.0
        assert violation(-inside) > 0.0
    assert 5 < outside < 40


@pytest.mark.parametrize("kind", CONES)
def test_members_of_a_cone_and_of_its_dual_have_no_negative_product(kind: str) -> None:
    """What has a negative product with a member of the dual is outside the cone, and the other way round."""
    member, of_dual = CONES[kind]
    generator, found = np.random.default_rng(1), 0
    for _ in range(200):
        inside, dual = member(generator), of_dual(generator)
        assert inside @ dual >= -1e-9
        value, other = generator.standard_normal((2, len(inside)))
        if value @ dual < 0.0:
            found += 1
            assert excess_in_cone(kind, value) > 0.0
        if other @ inside < 0.0:
            assert _outside_dual(kind, other) > 0.0
    assert found > 20


@pytest.mark.parametrize("place", [1, 2])
def test_the_border_of_an_exponential_cone_belongs_to_it(place: int) -> None:
    """With b = 0 members have a <= 0 <= c, with a = 0 those of the dual 0 <= b, c; violations are exact."""
    for sign in (1.0, -1.0):
        member = np.array([-1.0, 0.0, 2.0]) if place == 1 else np.array([-1.0, 0.0, 2.0 * sign])
        member[0] = -1.0 if place == 2 else -sign
        expected = 0.0 if sign > 0.0 else (1.0 if place == 1 else 2.0)
        assert excess_in_cone(EXPONENTIAL, member) == pytest.approx(expected)
        dual = np.array([0.0, 1.5, 2.0])
        dual[place] *= sign
        assert _outside_dual(EXPONENTIAL, dual) == pytest.approx(0.0 if sign > 0.0 else abs(dual[place]))


def test_a_second_order_cone_bounds_a_length() -> None:
    """The violation is the excess of |v| over t: 5 - 2 of (2, 3, 4), and 0 of (6, 3, 4)."""
    assert excess_in_cone(SECOND_ORDER, np.array([2.0, 3.0, 4.0])) == pytest.approx(3.0)
    assert excess_in_cone(SECOND_ORDER, np.array([6.0, 3.0, 4.0])) == 0.0


@pytest.mark.parametrize("wrong", range(3))
def test_an_error_names_what_is_wrong(wrong: int) -> None:
    """Crossed bounds of a row or a variable are reported by their own name, wherever they are."""
    lower, upper = np.zeros(3), np.ones(3)
    lower[wrong] = 2.0
    with pytest.raises(InvalidValue, match=f"'row {wrong}'.*2, 1"):
        Rows(np.eye(3), lower, upper, ("row 0", "row 1", "row 2"))
    with pytest.raises(InvalidValue, match=f"variable {wrong} "):
        Problem.quadratic(np.eye(3), np.zeros(3), lower=lower, upper=upper)


@pytest.mark.parametrize(("kind", "sizes"), [(PSD, {1, 3, 6, 10}), (EXPONENTIAL, {3, 6, 9}), (SECOND_ORDER, None)])
def test_a_cone_has_a_size_of_its_kind(kind: str, sizes: set[int] | None) -> None:
    """Triangles of symmetric matrices, triples, or any number of rows; other sizes are errors."""
    for size in range(1, 11):
        if sizes is None or size in sizes:
            assert len(Cone(kind, sparse.eye_array(size), np.zeros(size))) == size
        else:
            with pytest.raises(InvalidValue, match=f"{size} rows"):
                Cone(kind, sparse.eye_array(size), np.zeros(size))


def by_hand(problem: Problem, x: np.ndarray, rows: np.ndarray, bounds: np.ndarray) -> Solution:
    return Solution(problem, x, rows, bounds, (), Status.OPTIMAL, 1, 0.0, "by hand")


def test_residuals_are_those_of_the_optimality_conditions() -> None:
    """Every residual is the size of the one condition that a point violates, with the duals of every side.

    Minimise 1/2 |x|^2 - 4 x1 + 4 x2 + 4 x3 - 4 x4 with x1 <= 1, x2 >= -1, 3 x3 >= -3, 3 x4 <= 3: (1, -1, -1, 1).
    """
    inf = np.inf
    rows = Rows(np.eye(4)[2:] * 3.0, np.array([-3.0, -inf]), np.array([inf, 3.0]), ("third", "fourth"))
    problem = Problem.quadratic(
        np.eye(4), np.array([-4.0, 4.0, 4.0, -4.0]), rows=rows,
        lower=np.array([-inf, -1.0, -inf, -inf]), upper=np.array([1.0, inf, inf, inf]),
    )  # fmt: skip
    x, duals, bounds = np.array([1.0, -1.0, -1.0, 1.0]), np.array([-1.0, 1.0]), np.array([3.0, -3.0, 0.0, 0.0])
    optimum = by_hand(problem, x, duals, bounds)
    assert optimum.objective == pytest.approx(-14.0)
    assert max(optimum.primal_residual, optimum.dual_residual, optimum.gap) < 1e-12
    for k, sign in enumerate((1.0, -1.0, -1.0, 1.0)):
        step = 0.25 * sign * np.eye(4)[k]
        # beyond the limit, by its rows' factor; within it the primal residual stays zero
        assert by_hand(problem, x + step, duals, bounds).primal_residual == pytest.approx(
            0.25 * (3.0 if k > 1 else 1.0)
        )
        inside = by_hand(problem, x - step, duals, bounds)
        assert inside.primal_residual == 0.0
        assert inside.dual_residual == pytest.approx(0.25)
    for k in range(2):
        assert by_hand(problem, x, duals + 0.5 * np.eye(2)[k], bounds).dual_residual == pytest.approx(1.5)
        assert by_hand(problem, x, duals, bounds + 0.5 * np.eye(4)[k]).dual_residual == pytest.approx(0.5)
    # half of the way from nothing to the optimum: x'Px + q'x + support of the duals by hand
    half = by_hand(problem, 0.5 * x, 0.5 * duals, 0.5 * bounds)
    assert half.gap == pytest.approx(abs(0.25 * 4.0 - 0.5 * 16.0 + 0.5 * (3.0 + 3.0) + 0.5 * (3.0 + 3.0)))


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_a_point_is_judged_relative_to_its_numbers(size: float) -> None:
    """x = c of |x - c|^2 is optimal to 1e-6 with an error of 1e-7 of 1 + |c|, and not with one of 1e-5 of that."""
    target = size * np.array([1.0, -2.0])
    problem = Problem.least_squares(np.eye(2), target, lower=target, upper=target)
    error = np.array([1.0, 0.0]) * (1.0 + 2.0 * size)
    nothing = np.zeros(0)
    assert by_hand(problem, target + 1e-7 * error, nothing, np.zeros(2)).is_optimal(1e-6)
    assert not by_hand(problem, target + 1e-5 * error, nothing, np.zeros(2)).is_optimal(1e-6)


PROGRAMS: dict[str, Callable[[np.ndarray], Problem]] = {
    "row": lambda limit: Problem.quadratic(
        np.eye(2), -np.ones(2), rows=Rows(np.eye(2), np.full(2, -np.inf), limit, ("a", "b"))
    ),
    "bound": lambda limit: Problem.quadratic(np.eye(2), -np.ones(2), upper=limit),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_gap_is_that_of_the_two_objectives(name: str) -> None:
    """With x = 1 - y, the gap is y'(limit - x), what the multipliers pay for slack."""
    limit, duals = np.array([0.25, 0.5]), np.array([0.5, 0.25])
    x, none = 1.0 - duals, np.zeros(2)
    found = by_hand(PROGRAMS[name](limit), x, *((duals, none) if name == "row" else (np.zeros(0), duals)))
    assert found.dual_residual == pytest.approx(0.0)
    assert found.gap == pytest.approx(abs(duals @ (limit - x)))
