"""The problem that displaces a trajectory: which fraction of a step is accepted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver import qp
from solver.contacts.schedule import Schedule
from solver.dance.authoring.authored_dance import AuthoredDance, Keyframe
from solver.feasibility import CheckOptions
from solver.rigs import hoap3
from solver.trajectory.displacement import (
    QP_TOLERANCE,
    SOFT_SOLVER_NAME,
    STEP_SHARES,
    TRUST_REGION,
    VIOLATION_PENALTY,
    DisplacementProblem,
    Evaluation,
    Window,
    displacement_weights,
)
from solver.trajectory.planted_feet import PlantedTrajectory
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
def step(program: DisplacementProblem) -> tuple[Evaluation, qp.Solution]:
    """The zero displacement, and the solution of its subproblem."""
    point = program._evaluate(program.zero_displacement)
    assert point.values.violation > 0.0
    return point, program.solve_subproblem(point, program.linearise(point), TRUST_REGION.initial)


def stretched(program: DisplacementProblem, solution: qp.Solution, factor: float) -> qp.Solution:
    """A solution so many times as far away."""
    x = solution.x.copy()
    x[: program.zero_displacement.size] *= factor
    return replace(solution, x=x)


def taken(program: DisplacementProblem, after: Evaluation, solution: qp.Solution) -> float:
    """The share of a solution's step from nothing that was taken."""
    m, n = after.x.shape
    wanted = program._respect_fixed_keys(solution.x[: m * n].reshape(n, m).T)
    share = float((after.x * wanted).sum() / (wanted * wanted).sum())
    np.testing.assert_allclose(after.x, share * wanted, atol=1e-12)
    return share


def test_the_largest_share_that_lowers_the_merit_is_taken(
    program: DisplacementProblem, step: tuple[Evaluation, qp.Solution]
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
    program: DisplacementProblem, step: tuple[Evaluation, qp.Solution]
) -> None:
    """The step the other way leads farther over the edge: none of it is taken."""
    point, solution = step
    assert program.try_step(point, stretched(program, solution, -1.0)) is None


def test_the_search_ends_below_where_it_began(
    program: DisplacementProblem, step: tuple[Evaluation, qp.Solution]
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
