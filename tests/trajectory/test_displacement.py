"""The problem that displaces a trajectory: which fraction of a step is accepted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver import qp
from solver.contacts.schedule import Schedule
from solver.dance.authoring.authored_dance import AuthoredDance, Keyframe
from solver.feasibility import CheckOptions
from solver.options.authoring import SMOOTHING_TIME
from solver.rigs import hoap3
from solver.skeleton.rig import ROOT_NV
from solver.trajectory.displacement import (
    MIN_VISIBILITY,
    PREFERRED_DURATION,
    QP_TOLERANCE,
    SOFT_SOLVER_NAME,
    STEP_SHARES,
    TRUST_REGION,
    UNIT_SHARE,
    VIOLATION_PENALTY,
    DisplacementEvaluation,
    DisplacementProblem,
    Window,
    displacement_weights,
    point_motion,
)
from solver.trajectory.planted_feet import PlantedTrajectory, Rates
from solver.trajectory.trajectory_limits import TrajectoryLimits
from tests.dance.example_dances import home, shift_root


@pytest.fixture(scope="module")
def program() -> DisplacementProblem:
    """HOAP-3 leans over the edge of its feet and back."""
    rig = hoap3(torque="peak")
    q, anchors = home(rig)
    keys = tuple(Keyframe(t, k) for t, k in ((0.0, q), (0.6, shift_root(q, 0.05, 0.03, -0.02)), (1.2, q)))
    keyed = AuthoredDance(rig, keys, Schedule.constant(anchors, 0.0, 1.2))
    trajectory = PlantedTrajectory(rig, keyed.curve(), keyed.schedule, [])
    limits = TrajectoryLimits(trajectory, CheckOptions(reach=0.3), 1.0)
    weights = displacement_weights(rig, keyed.curve().at(np.zeros(1))[0][0], trajectory.free_columns, 1.0)
    return DisplacementProblem(trajectory, limits, Window(0.0, 1.2), 0.3, 20.0, weights)


@pytest.fixture(scope="module")
def step(program: DisplacementProblem) -> tuple[DisplacementEvaluation, qp.Solution]:
    """The zero displacement, and the solution of its subproblem."""
    point = program._evaluate(program.zero_displacement)
    assert point.values.violation > 0.0
    return point, program.solve_subproblem(point, program.linearise(point), TRUST_REGION.initial)


def stretched(program: DisplacementProblem, solution: qp.Solution, factor: float) -> qp.Solution:
    """A solution so many times as far away."""
    x = solution.x.copy()
    x[: program.zero_displacement.size] *= factor
    return replace(solution, x=x)


def taken(program: DisplacementProblem, after: DisplacementEvaluation, solution: qp.Solution) -> float:
    """The share of a solution's step from nothing that was taken."""
    m, n = after.x.shape
    wanted = program._respect_fixed_keys(solution.x[: m * n].reshape(n, m).T)
    share = float((after.x * wanted).sum() / (wanted * wanted).sum())
    np.testing.assert_allclose(after.x, share * wanted, atol=1e-12)
    return share


def test_the_largest_share_that_lowers_the_merit_is_taken(
    program: DisplacementProblem, step: tuple[DisplacementEvaluation, qp.Solution]
) -> None:
    """Of a step and of one far too long: the share lowers cost and penalty, every larger one does not, and whether it
    is the full step is reported.
    """
    point, solution = step
    shares = []
    for factor in (1.0, 4.0, 12.0):
        longer = stretched(program, solution, factor)
        found = program.try_step(point, longer)
        if found is None:
            continue
        after, whole = found
        assert after.merit < point.merit
        share = taken(program, after, longer)
        shares.append(share)
        place = int(np.argmin(np.abs(np.array(STEP_SHARES) - share)))
        assert share == pytest.approx(STEP_SHARES[place])
        assert whole == (place == 0)
        for larger in STEP_SHARES[:place]:
            assert program._evaluate(after.x * (larger / share)).merit >= point.merit
    assert len(set(np.round(shares, 6))) > 1


def test_no_share_of_a_step_that_only_harms_is_taken(
    program: DisplacementProblem, step: tuple[DisplacementEvaluation, qp.Solution]
) -> None:
    """The step the other way leads farther over the edge: none of it is taken."""
    point, solution = step
    assert program.try_step(point, stretched(program, solution, -1.0)) is None


def test_the_search_ends_below_where_it_began(
    program: DisplacementProblem, step: tuple[DisplacementEvaluation, qp.Solution]
) -> None:
    """What is solved violates less than nothing displaced, and fewer subproblems than allowed are needed."""
    found = program.solve(program.zero_displacement, 12)
    assert found.violation < 0.1 * step[0].values.violation
    assert found.iterations < 12


def test_rows_out_of_reach_are_omitted(program: DisplacementProblem) -> None:
    """With little trust fewer rows enter, and what is found keeps all of them and costs no more than with all."""
    point = program._evaluate(program.zero_displacement)
    model = program.linearise(point)
    matrix, values, whole = model.matrix, model.values, len(model.values)
    for trust, fewer in ((TRUST_REGION.initial, False), (0.01 * TRUST_REGION.initial, True)):
        found = program.solve_subproblem(point, model, trust)
        slacks = len(found.x) - program.zero_displacement.size
        assert slacks < whole if fewer else 0 < slacks <= whole
        below = np.maximum(-(values + matrix @ found.x[: program.zero_displacement.size]), 0.0)
        assert below.sum() == pytest.approx(found.x[program.zero_displacement.size :].sum(), abs=1e-4)


def test_every_way_of_solving_finds_the_same_displacement(
    program: DisplacementProblem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the rows that bind, from nothing and from the last ones, or by an interior point knot by knot or not."""
    point = program._evaluate(program.zero_displacement)
    model = program.linearise(point)
    found = [program.solve_subproblem(point, model, TRUST_REGION.initial) for _ in range(2)]
    assert [solution.backend for solution in found] == [SOFT_SOLVER_NAME, SOFT_SOLVER_NAME]
    assert found[1].iterations <= found[0].iterations
    monkeypatch.setattr("solver.trajectory.displacement.solve_soft", lambda *_: None)
    for full in (0.0, np.inf):
        monkeypatch.setattr("solver.trajectory.displacement.DENSE_SHARE", full)
        found.append(program.solve_subproblem(point, model, TRUST_REGION.initial))
        assert found[-1].backend != SOFT_SOLVER_NAME
    count = program.zero_displacement.size
    for other in found[1:]:
        assert np.abs(found[0].x[:count] - other.x[:count]).max() < 1e-4 * np.abs(found[0].x[:count]).max()
        # a row violated by the accuracy of the solution costs its penalty
        assert found[0].objective == pytest.approx(other.objective, abs=VIOLATION_PENALTY * QP_TOLERANCE)


FIXED, PREFERRED = (0.4,), (0.8, 0.9)


@pytest.fixture(scope="module")
def keyed(program: DisplacementProblem) -> DisplacementProblem:
    """The same, open at its start, with fixed and preferred keys inside."""
    window = Window(0.0, 1.2, open_start=True, fixed=FIXED, preferred=PREFERRED)
    return DisplacementProblem(program.trajectory, program.limits, window, 0.15, 20.0, program.weights)


def some_displacement(problem: DisplacementProblem) -> np.ndarray:
    return problem._respect_fixed_keys(0.05 * np.random.default_rng(1).standard_normal(problem.zero_displacement.shape))


def rates_of(problem: DisplacementProblem, x: np.ndarray, times: np.ndarray) -> Rates:
    """What a displacement adds to every flat coordinate, and to its derivatives."""
    zeros = np.zeros((len(times), problem.trajectory.rig.nv))
    return problem.displacement(x).apply(times, (zeros, zeros, zeros))


def test_a_displacement_vanishes_where_it_must(keyed: DisplacementProblem) -> None:
    """At fixed keys nothing moves; a closed end stays, an open one moves, both at rest; solved legs have no columns."""
    x = some_displacement(keyed)
    times = np.array([-0.5, 0.0, *FIXED, *PREFERRED, 1.2, 1.5])
    position, velocity, acceleration = rates_of(keyed, x, times)
    columns = keyed.trajectory.free_columns
    np.testing.assert_allclose(position[[0, 2, 5, 6]], 0.0, atol=1e-9)
    assert (np.abs(position[[1, 3, 4]][:, columns]).max(axis=1) > 1e-3).all()
    for part in (velocity, acceleration):
        np.testing.assert_allclose(part[[0, 1, 5, 6]], 0.0, atol=1e-6)
    assert not np.delete(position, columns, axis=1).any()
    np.testing.assert_allclose(keyed.project(rates_of(keyed, x, keyed.times)[0]), x, atol=1e-8)
    np.testing.assert_allclose(keyed.project_displacement(keyed.displacement(x)), x, atol=1e-8)


def test_the_cost_is_the_mean_square_displacement(keyed: DisplacementProblem) -> None:
    """By dense sampling: positions, accelerations at the smoothing time, and what moves at preferred keys."""
    x, columns = some_displacement(keyed), keyed.trajectory.free_columns
    times = np.linspace(0.0, 1.2, 20_001)
    position, _, acceleration = (part[:, columns] for part in rates_of(keyed, x, times))
    mean = (position**2).mean(axis=0) + SMOOTHING_TIME**4 * (acceleration**2).mean(axis=0)
    at_keys = (rates_of(keyed, x, np.array(PREFERRED))[0][:, columns] ** 2).sum(axis=0)
    expected = keyed.weights @ (mean + PREFERRED_DURATION / 1.2 * at_keys)
    assert keyed._evaluate(x).cost == pytest.approx(float(expected), rel=0.03)


def test_a_lowered_root_is_lower_by_as_much(keyed: DisplacementProblem) -> None:
    """The root alone is lowered, by the whole drop at an open end, and by nothing at fixed keys."""
    position, _, _ = rates_of(keyed, keyed.lower_root(0.02), np.array([0.0, *FIXED, 1.2]))
    np.testing.assert_allclose(position[:, 2], [-0.02, 0.0, 0.0], atol=2e-3)
    assert not np.delete(position, 2, axis=1).any()


def test_a_subproblem_with_fixed_keys_satisfies_its_optimality_conditions(
    keyed: DisplacementProblem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The active set's point and multipliers of limits, bounds and fixed keys are an interior point's."""
    point = keyed._evaluate(some_displacement(keyed))
    model = keyed.linearise(point)
    found = keyed.solve_subproblem(point, model, TRUST_REGION.initial)
    assert found.backend == SOFT_SOLVER_NAME
    assert found.is_optimal(1e-5)
    monkeypatch.setattr("solver.trajectory.displacement.solve_soft", lambda *_: None)
    other = keyed.solve_subproblem(point, model, TRUST_REGION.initial)
    assert other.backend != SOFT_SOLVER_NAME
    count = point.x.size
    np.testing.assert_allclose(found.x[:count], other.x[:count], atol=1e-3 * np.abs(other.x[:count]).max())
    within = np.abs(found.x[:count] - point.x.T.ravel()) - keyed._box(len(point.x), TRUST_REGION.initial)
    assert within.max() < 1e-6


def test_a_unit_of_the_root_moves_every_point_by_one(program: DisplacementProblem) -> None:
    """Shifting the root moves all points alike; a joint moves fewer, costs its preference, and counts at any size."""
    rig, y = program.trajectory.rig, program.given_coordinates[0][: program.trajectory.rig.nv]
    seen, size = point_motion(rig, y)
    np.testing.assert_allclose(seen[:3], 1.0, atol=1e-6)
    assert (seen[3:] < 4.0 * size**2).all()
    assert 1.5 * rig.standing_height < size < 4.0 * rig.standing_height
    columns = np.arange(rig.nv)
    plain, dear = (displacement_weights(rig, y, columns, preference) for preference in (1.0, 3.0))
    np.testing.assert_allclose(plain[:3], 1.0 / (UNIT_SHARE * size) ** 2, rtol=1e-6)
    np.testing.assert_allclose(dear / plain, np.where(columns < ROOT_NV, 1.0, 3.0))
    assert (plain >= MIN_VISIBILITY / UNIT_SHARE**2 * (1.0 - 1e-9))[3:].all()
    np.testing.assert_allclose(displacement_weights(rig, y, columns[4:9], 3.0), dear[4:9])


def test_a_rotation_moves_points_by_their_distance_from_the_axis(program: DisplacementProblem) -> None:
    """Rotating the root moves the corners of the links' boxes, and the links' origins, by their lever each."""
    rig = program.trajectory.rig
    seen, size = point_motion(rig, np.zeros(rig.nv))
    turns, origins = rig.rest
    corners = np.array([[[box[i, 0], box[j, 1], box[k, 2]] for i, j, k in np.ndindex(2, 2, 2)] for box in rig.boxes])
    places = np.einsum("lij,lpj->lpi", turns, corners) + origins[:, None] - origins[0]
    points = np.concatenate([places, origins[:, None] - origins[0]], axis=1).reshape(-1, 3)
    for axis in range(3):
        levers = np.delete(points, axis, axis=1)
        assert seen[3 + axis] == pytest.approx((levers**2).sum(axis=1).mean(), rel=1e-4)
    assert size == pytest.approx(np.linalg.norm(np.ptp(points, axis=0)))


def test_places_of_a_displacement_add_up(keyed: DisplacementProblem) -> None:
    """A displacement changes positions and their derivatives by its own, and only inside its window."""
    x = some_displacement(keyed)
    times = np.linspace(-0.3, 1.5, 91)
    given = tuple(np.random.default_rng(2).standard_normal((3, len(times), keyed.trajectory.rig.nv)))
    moved = keyed.displacement(x).apply(times, (given[0], given[1], given[2]))
    for part, before, added in zip(moved, given, rates_of(keyed, x, times)):
        np.testing.assert_allclose(part - before, added, atol=1e-12)
    step = 1e-5
    inside = np.linspace(0.1, 1.1, 11)
    before, here, after = (rates_of(keyed, x, inside + d) for d in (-step, 0.0, step))
    for order in range(2):
        np.testing.assert_allclose((after[order] - before[order]) / (2.0 * step), here[order + 1], atol=1e-4)
