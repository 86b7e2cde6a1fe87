"""Laws of lexicographic least squares with inequalities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from scipy import sparse

from solver.base.errors import BackendError, InvalidValue
from solver.qp import HierarchySolution, Level, Problem, Rows, Status, solve, solve_hierarchy

CLARABEL = 1e-10


def rows_of(matrix: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> Rows:
    return Rows(matrix, lower, upper, tuple(f"row {i}" for i in range(len(lower))))


@dataclass
class Circle:
    """Half planes v'x <= 1 of a regular polygon with many sides; generates the most violated one."""

    sides: int
    searches: int = 0

    def __post_init__(self) -> None:
        angles = 2.0 * np.pi * np.arange(self.sides) / self.sides
        self.normals = np.column_stack([np.cos(angles), np.sin(angles)])

    def initial(self) -> Rows:
        return Rows.none(2)

    def violated(self, x: np.ndarray, tolerance: float) -> Rows:
        self.searches += 1
        worst = int(np.argmax(self.normals @ x))
        if self.normals[worst] @ x <= 1.0 + tolerance:
            return Rows.none(2)
        return Rows(self.normals[[worst]], np.array([-np.inf]), np.array([1.0]), (f"side {worst}",))


def reference(inequalities: Rows, A: np.ndarray, b: np.ndarray, wanted: np.ndarray) -> tuple[float, float, float]:
    """The three optima by Clarabel, every level a program of its own with the levels above as rows."""
    m, n = inequalities.matrix.shape
    wide = sparse.hstack([inequalities.matrix, sparse.eye_array(m)])
    slacks = Rows(wide, inequalities.lower, inequalities.upper, inequalities.names)
    cost = np.diag(np.concatenate([np.zeros(n), np.ones(m)]))
    first = solve(Problem.quadratic(cost, np.zeros(n + m), rows=slacks), "clarabel", tolerance=CLARABEL)
    slack = np.where(np.abs(first.x[n:]) < 1e-6, 0.0, first.x[n:])
    relaxed = Rows(
        inequalities.matrix,
        inequalities.lower - np.maximum(slack, 0.0) - 1e-9,
        inequalities.upper - np.minimum(slack, 0.0) + 1e-9,
        inequalities.names,
    )
    second = solve(Problem.least_squares(A, b, rows=relaxed), "clarabel", tolerance=CLARABEL)
    _, s, Vt = np.linalg.svd(A)
    seen = Vt[: int(np.sum(s > 1e-8 * s[0]))]
    # Clarabel finds no interior in rows that hold with equality; a little room, far below the compared digits.
    roomy = Rows(relaxed.matrix, relaxed.lower - 1e-7, relaxed.upper + 1e-7, relaxed.names)
    fixed = Rows.stack([roomy, Rows.equalities(seen, seen @ second.x, "seen")])
    third = solve(Problem.least_squares(np.eye(n), wanted, rows=fixed), "clarabel", tolerance=CLARABEL)
    assert {first.status, second.status, third.status} <= {Status.OPTIMAL, Status.INACCURATE}
    return (
        float(np.linalg.norm(slack)),
        float(np.linalg.norm(A @ second.x - b)),
        float(np.linalg.norm(third.x - wanted)),
    )


@pytest.mark.parametrize("seed", range(25))
def test_every_level_meets_the_optimum_of_a_solver_given_all_rows(seed: int) -> None:
    """Each level's optimum is Clarabel's, for feasible, infeasible and rank-deficient levels."""
    generator = np.random.default_rng(seed)
    n, m = int(generator.integers(3, 12)), int(generator.integers(1, 20))
    rank = int(generator.integers(1, n + 1))
    A = generator.standard_normal((15, rank)) @ generator.standard_normal((rank, n))
    b, wanted = 3.0 * generator.standard_normal(15), generator.standard_normal(n)
    centre = generator.standard_normal(m)
    lower = np.where(generator.random(m) < 0.8, centre - generator.random(m), -np.inf)
    upper = np.where(generator.random(m) < 0.3, centre + generator.random(m), np.inf)
    inequalities = rows_of(generator.standard_normal((m, n)), lower, upper)
    levels = [
        Level("rows", inequalities),
        Level("fit", Rows.equalities(A, b, "fit")),
        Level("near", Rows.equalities(np.eye(n), wanted, "near")),
    ]
    found = solve_hierarchy(levels)
    expected = reference(inequalities, A, b, wanted)
    assert [level.optimum for level in found.levels] == pytest.approx(expected, rel=1e-5, abs=1e-5)
    assert found.status is Status.OPTIMAL


@pytest.mark.parametrize("seed", range(10))
def test_lower_levels_never_worsen_upper_ones(seed: int) -> None:
    """With five contradictory levels each keeps the optimum that it has without the levels below."""
    generator = np.random.default_rng(100 + seed)
    n = 8
    levels = []
    for k in range(5):
        row = generator.standard_normal((1, n))
        matrix = generator.standard_normal((3, n)) if k % 2 else np.vstack([row, -row])
        values = generator.standard_normal(len(matrix))
        upper = values if k % 2 else np.full(len(matrix), np.inf)
        levels.append(Level(f"level {k}", rows_of(matrix, values, upper)))
    whole = solve_hierarchy(levels)
    for count in range(1, 6):
        part = solve_hierarchy(levels[:count])
        assert whole.levels[count - 1].final == pytest.approx(part.levels[-1].optimum, abs=1e-7)
    assert max(level.violation_of_higher_levels for level in whole.levels) < 1e-9


@pytest.mark.parametrize("units", [1.0, 250.0])
def test_lower_levels_keep_the_violation_of_contradictory_rows(units: float) -> None:
    """2x + y <= -1 and 2x + y >= 1 share the violation, 100 y <= 0 is met; the point nearest to (5, 3) is 0."""
    normals = np.array([[2.0, 1.0], [2.0, 1.0], [0.0, 100.0]]) * [units, 1.0]
    rows = rows_of(normals, np.array([-np.inf, 1.0, -np.inf]), np.array([-1.0, np.inf, 0.0]))
    near = Level("near", Rows.equalities(np.diag([units, 1.0]), np.array([5.0, 3.0]), "x"))
    found = solve_hierarchy([Level("rows", rows), near], scale=np.array([1.0 / units, 1.0]))
    assert found.x * [units, 1.0] == pytest.approx([0.0, 0.0], abs=1e-7)
    assert found.levels[0].optimum == pytest.approx(np.sqrt(2.0))
    assert found.levels[0].violation_of_higher_levels == pytest.approx(0.0, abs=1e-7)
    below = Level("below", Rows.equalities(np.array([[0.0, 1.0]]), np.array([-4.0]), "y"))
    found = solve_hierarchy([Level("rows", rows), below], scale=np.array([1.0 / units, 1.0]))
    assert found.x * [units, 1.0] == pytest.approx([2.0, -4.0], abs=1e-6)


def test_a_source_generates_only_violated_rows() -> None:
    """A polygon of 100,000 sides is met exactly with only a few generated rows."""
    source = Circle(100_000)
    target = np.array([3.0, 4.0])
    pull = Level("pull", Rows.equalities(np.eye(2), target, "x"))
    found = solve_hierarchy([Level("circle", Rows.none(2), source), pull])
    assert np.max(source.normals @ found.x) <= 1.0 + 1e-8
    everything = rows_of(source.normals, np.full(100_000, -np.inf), np.ones(100_000))
    best = solve(Problem.least_squares(np.eye(2), target, rows=everything), "clarabel", tolerance=1e-9)
    assert found.levels[1].optimum == pytest.approx(np.linalg.norm(best.x - target), rel=1e-7)
    assert source.searches < 30


@pytest.mark.parametrize("seed", range(6))
def test_units_do_not_change_how_contradictory_levels_are_relaxed(seed: int) -> None:
    """In other units, with the scale to match, every level has the same optimum, rows, verdict and active rows."""
    generator = np.random.default_rng(200 + seed)
    n = 8
    units = 10.0 ** generator.uniform(-3, 3, n)
    normals = generator.standard_normal((2, n))
    mixed = np.vstack([normals, normals, generator.standard_normal((2, n))])
    lower = np.concatenate([np.ones(2), np.full(2, -np.inf), np.zeros(2)])
    upper = np.concatenate([np.full(2, np.inf), -generator.uniform(0.5, 1.0, 2), np.zeros(2)])
    aim, wanted = generator.standard_normal((2, n)), generator.standard_normal(n)

    def solution(scale: np.ndarray, guess: np.ndarray) -> HierarchySolution:
        levels = [
            Level("contradiction", rows_of(mixed * scale, lower, upper)),
            Level("half spaces", rows_of(aim * scale, np.full(2, 0.3), np.full(2, np.inf))),
            Level("near", Rows.equalities(np.diag(scale), wanted, "near")),
        ]
        return solve_hierarchy(levels, scale=1.0 / scale, guess=guess / scale)

    guess = generator.standard_normal(n)
    plain, scaled = solution(np.ones(n), guess), solution(units, guess)
    assert scaled.x * units == pytest.approx(plain.x, rel=1e-6, abs=1e-6)
    assert scaled.active == plain.active
    assert [level.met for level in plain.levels] == [level.met for level in scaled.levels] == [False, True, False]
    for one, other in zip(plain.levels, scaled.levels):
        assert (one.optimum, one.final) == pytest.approx((other.optimum, other.final), rel=1e-6, abs=1e-7)
    slack = Rows(mixed, lower, upper, ("",) * 6).slack(plain.x)
    assert plain.levels[0].optimum == pytest.approx(np.linalg.norm(slack))
    # of each contradiction both sides are violated by the same
    assert slack[:2] == pytest.approx(-slack[2:4], abs=1e-6)
    # a guess only starts the search, since the last level determines every direction
    assert solution(np.ones(n), np.zeros(n)).x == pytest.approx(plain.x, abs=1e-6)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_equalities_and_inequalities_of_one_level_hold_together(seed: int, size: float) -> None:
    """Rows of any length, of both kinds, are met exactly, and the point is the one nearest to what is wanted."""
    generator = np.random.default_rng(400 + seed)
    inner, wanted = generator.standard_normal(6), 3.0 * generator.standard_normal(6)
    matrix = generator.standard_normal((8, 6))
    room = generator.uniform(0.1, 0.5, 8) * (np.arange(8) > 2)  # the first three are equalities
    both = rows_of(size * matrix, size * (matrix @ inner), size * (matrix @ inner + room))
    near = Rows.equalities(np.eye(6), wanted, "near")
    found = solve_hierarchy([Level("both", both), Level("near", near)], guess=generator.standard_normal(6))
    assert found.levels[0].met
    assert found.status is Status.OPTIMAL
    plain = rows_of(matrix, matrix @ inner, matrix @ inner + room)
    best = solve(Problem.least_squares(np.eye(6), wanted, rows=plain), "clarabel", tolerance=1e-10)
    assert found.x == pytest.approx(best.x, abs=1e-5)


def test_one_contradiction_among_equalities_is_shared() -> None:
    """Of x = 0, 2 y = 0 and y = 1, with an inequality that holds, the first is met, the others violated by 0.4, 0.8."""
    matrix = np.array([[1.0, 0.0], [0.0, 2.0], [0.0, 1.0], [1.0, 1.0]])
    rows = rows_of(matrix, np.array([0.0, 0.0, 1.0, -9.0]), np.array([0.0, 0.0, 1.0, np.inf]))
    found = solve_hierarchy([Level("both", rows)], guess=np.array([0.0, 0.0]))
    assert found.x == pytest.approx([0.0, 0.2], abs=1e-7)
    assert not found.levels[0].met
    assert found.levels[0].optimum == pytest.approx(np.sqrt(0.8))


def test_a_guess_decides_only_what_no_level_determines() -> None:
    """x = 1 leaves y as guessed, in any units of y."""
    for unit in (1.0, 1e3):
        level = Level("x", Rows.equalities(np.array([[1.0, 0.0]]), np.ones(1), "x"))
        found = solve_hierarchy([level], scale=np.array([1.0, unit]), guess=np.array([5.0, 7.0 * unit]))
        assert found.x == pytest.approx([1.0, 7.0 * unit])
        assert [found.levels[0].rows, found.levels[0].met, found.levels[0].optimum] == [1, True, pytest.approx(0.0)]


def test_active_rows_are_named() -> None:
    """Rows at a bound of the solution are named, others are not."""
    rows = rows_of(np.eye(2), np.array([1.0, -5.0]), np.array([np.inf, np.inf]))
    found = solve_hierarchy([Level("rows", rows), Level("pull", Rows.equalities(np.eye(2), np.zeros(2), "x"))])
    assert found.active == ("row 0",)
    assert found.x == pytest.approx([1.0, 0.0])


def test_bad_hierarchies_are_refused() -> None:
    """Levels of different width, and a source that contradicts the level above, are errors with the cause."""
    with pytest.raises(InvalidValue, match="share their variables"):
        solve_hierarchy([Level("a", Rows.none(2)), Level("b", Rows.none(3))])
    far = rows_of(np.array([[1.0, 0.0]]), np.array([2.0]), np.array([np.inf]))
    for wrong in range(3):
        with pytest.raises(InvalidValue, match=f"variable {wrong} is not positive"):
            solve_hierarchy([Level("a", Rows.none(3))], scale=np.ones(3) - np.eye(3)[wrong])
    with pytest.raises(BackendError, match="'circle'"):
        solve_hierarchy([Level("far", far), Level("circle", Rows.none(2), Circle(64))])


class Tolerant:
    """x0 - |x1| / 10 >= 1, but from one half on nothing is violated: new rows demand more than is tolerated."""

    def initial(self) -> Rows:
        return Rows.none(2)

    def violated(self, x: np.ndarray, tolerance: float) -> Rows:
        slope = 0.1 * np.sign(x[1])
        if x[0] - slope * x[1] >= 0.5:
            return Rows.none(2)
        return rows_of(np.array([[1.0, -slope]]), np.ones(1), np.full(1, np.inf))


def test_rows_that_a_tolerated_point_violates_do_not_contradict_it() -> None:
    """Such a row is moved to the optimum of the levels above, which its source accepts."""
    levels = [
        Level("source", Rows.none(2), Tolerant()),
        Level("fixed", rows_of(np.array([[1.0, 0.0]]), np.array([0.6]), np.array([0.6]))),
        Level("far", rows_of(np.array([[0.0, 1.0]]), np.array([5.0]), np.array([5.0]))),
    ]
    found = solve_hierarchy(levels, guess=np.array([0.6, 0.0]))
    assert found.status is Status.OPTIMAL
    assert found.x == pytest.approx([0.6, 0.0], abs=1e-7)


def test_rounding_at_a_feasible_point_is_no_contradiction() -> None:
    """A row without free directions, violated by 1e-9 at a point known to be feasible, is accepted."""
    from solver.qp.active_set import RowPool, nearest_point

    pool = RowPool(np.ones(2))
    pool.add(Rows(sparse.csr_array([[1.0, 0.0]]), np.array([1e-9]), np.array([np.inf]), ("row",)))
    origin, basis = np.zeros(2), np.array([[1e-3], [1.0]])
    basis /= np.linalg.norm(basis)
    pool.absorb_rounding(origin, 1e-7)
    found = nearest_point(origin, basis, np.array([2.0]), pool)
    assert found.feasible
    assert found.z == pytest.approx([2.0])
    far = RowPool(np.ones(2))
    far.add(Rows(sparse.csr_array([[1.0, 0.0]]), np.array([0.1]), np.array([np.inf]), ("row",)))
    far.absorb_rounding(origin, 1e-7)
    assert far.bounds == pytest.approx([0.1])


@pytest.mark.parametrize("seed", range(8))
def test_any_start_leads_to_the_nearest_point(seed: int) -> None:
    """From any set of active rows, also dependent ones, the same point is found, with the multipliers of an optimum."""
    from solver.qp.active_set import RowPool, nearest_point

    generator = np.random.default_rng(300 + seed)
    normals = generator.standard_normal((12, 4))
    normals[6:9] = normals[:3]  # the same rows, with the same bounds
    lower = normals @ (0.3 * generator.standard_normal(4)) - generator.uniform(0.0, 0.5, 12)
    lower[6:9] = lower[:3]
    pool = RowPool(np.array([1.0, 2.0, 0.5, 1.0]))
    pool.add(rows_of(normals, lower, np.full(12, np.inf)))
    np.testing.assert_allclose(np.linalg.norm(pool.matrix.toarray(), axis=1), 1.0)
    origin, basis = generator.standard_normal(4), np.linalg.qr(generator.standard_normal((4, 4)))[0][:, :3]
    target = 3.0 * generator.standard_normal(3)
    starts = [
        (),
        *(tuple(generator.choice(12, size, replace=False).tolist()) for size in (1, 2, 3, 5)),
        (0, 6),
        (1, 7, 2),
    ]
    found = [nearest_point(origin, basis, target, pool, start=start) for start in starts if len(start) <= 3]
    for one in found:
        assert one.feasible == found[0].feasible
        if not one.feasible:
            continue
        np.testing.assert_allclose(one.z, found[0].z, atol=1e-8)
        np.testing.assert_allclose(one.x, origin + basis @ one.z, atol=1e-12)
        assert pool.excess(one.x).min() > -1e-9
        assert (one.multipliers >= 0.0).all()
        active = np.array([pool.row(index, basis) for index in one.active]).reshape(-1, 3)
        np.testing.assert_allclose(one.z - target, active.T @ one.multipliers, atol=1e-8)
        np.testing.assert_allclose(pool.excess(one.x)[list(one.active)], 0.0, atol=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_ill_conditioned_contradictions_are_solved_to_the_optimum(seed: int) -> None:
    """Where no level is above it, the slacks of a contradictory level are orthogonal to its columns: A' s = 0."""
    generator = np.random.default_rng(seed)
    n, m = int(generator.integers(6, 25)), int(generator.integers(20, 60))
    rank = n // 2 + 1
    spread = 10.0 ** generator.uniform(-3.0, 0.0, rank)
    A = (generator.standard_normal((m, rank)) * spread) @ generator.standard_normal((rank, n))
    lower = generator.standard_normal(m)
    level = Level("contradiction", rows_of(A, lower, lower + 0.1))
    slack = level.rows.slack(solve_hierarchy([level]).x)
    assert np.linalg.norm(A.T @ slack) <= 1e-7 * np.linalg.norm(A) * np.linalg.norm(slack)
