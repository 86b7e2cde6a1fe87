"""The programme that displaces a trajectory: which share of a step is taken."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver import qp
from solver.contacts.schedule import Schedule
from solver.dance.authoring.keys import Keyed, Keyframe
from solver.feasibility import CheckOptions
from solver.rigs import hoap3
from solver.trajectory.displacement import ACCURACY, NAME, PENALTY, SHARES, TRUST, Judged, Program, Window
from solver.trajectory.limits import TrajectoryLimits
from solver.trajectory.planted_feet import PlantedTrajectory
from solver.trajectory.seen_moves import weights_of
from tests.dance.authored import home, moved


@pytest.fixture(scope="module")
def program() -> Program:
    """HOAP-3 leans over the edge of its feet and back."""
    rig = hoap3(torque="peak")
    q, anchors = home(rig)
    keys = tuple(Keyframe(t, k) for t, k in ((0.0, q), (0.6, moved(q, 0.05, 0.03, -0.02)), (1.2, q)))
    keyed = Keyed(rig, keys, Schedule.constant(anchors, 0.0, 1.2))
    trajectory = PlantedTrajectory(rig, keyed.curve(), keyed.schedule, [])
    limits = TrajectoryLimits(trajectory, CheckOptions(reach=0.3), 1.0)
    weights = weights_of(rig, keyed.curve().at(np.zeros(1))[0][0], trajectory.moved, 1.0)
    return Program(trajectory, limits, Window(0.0, 1.2), 0.3, 20.0, weights)


@pytest.fixture(scope="module")
def step(program: Program) -> tuple[Judged, qp.Solution]:
    """Where nothing is displaced, and the programme's own solution there."""
    point = program._judged(program.nothing)
    assert point.values.violation > 0.0
    return point, program.programme(point, program.model(point), TRUST.first)


def stretched(program: Program, solution: qp.Solution, factor: float) -> qp.Solution:
    """A solution so many times as far away."""
    x = solution.x.copy()
    x[: program.nothing.size] *= factor
    return replace(solution, x=x)


def taken(program: Program, after: Judged, solution: qp.Solution) -> float:
    """The share of a solution's step from nothing that was taken."""
    m, n = after.x.shape
    wanted = program._exact(solution.x[: m * n].reshape(n, m).T)
    share = float((after.x * wanted).sum() / (wanted * wanted).sum())
    np.testing.assert_allclose(after.x, share * wanted, atol=1e-12)
    return share


def test_the_largest_share_that_lowers_the_merit_is_taken(program: Program, step: tuple[Judged, qp.Solution]) -> None:
    """Of a step and of one far too long: the share lowers cost and penalty, every larger one does not, and whether it
    is the whole step is told.
    """
    point, solution = step
    shares = []
    for factor in (1.0, 4.0, 12.0):
        longer = stretched(program, solution, factor)
        found = program.tried(point, longer)
        if found is None:
            continue
        after, whole = found
        assert after.merit < point.merit
        share = taken(program, after, longer)
        shares.append(share)
        place = int(np.argmin(np.abs(np.array(SHARES) - share)))
        assert share == pytest.approx(SHARES[place])
        assert whole == (place == 0)
        for larger in SHARES[:place]:
            assert program._judged(after.x * (larger / share)).merit >= point.merit
    assert len(set(np.round(shares, 6))) > 1


def test_no_share_of_a_step_that_only_harms_is_taken(program: Program, step: tuple[Judged, qp.Solution]) -> None:
    """The step the other way leads farther over the edge: none of it is taken."""
    point, solution = step
    assert program.tried(point, stretched(program, solution, -1.0)) is None


def test_the_search_ends_below_where_it_began(program: Program, step: tuple[Judged, qp.Solution]) -> None:
    """What is solved violates less than nothing displaced, and fewer programmes than allowed are needed."""
    found = program.solve(program.nothing, 12)
    assert found.violation < 0.1 * step[0].values.violation
    assert found.iterations < 12


def test_rows_out_of_reach_are_left_out_of_the_programme(program: Program) -> None:
    """With little trust fewer rows enter, and what is found keeps all of them and costs no more than with all."""
    point = program._judged(program.nothing)
    model = program.model(point)
    matrix, values, whole = model.matrix, model.values, len(model.values)
    for trust, fewer in ((TRUST.first, False), (0.01 * TRUST.first, True)):
        found = program.programme(point, model, trust)
        slacks = len(found.x) - program.nothing.size
        assert slacks < whole if fewer else 0 < slacks <= whole
        below = np.maximum(-(values + matrix @ found.x[: program.nothing.size]), 0.0)
        assert below.sum() == pytest.approx(found.x[program.nothing.size :].sum(), abs=1e-4)


def test_every_way_of_solving_finds_the_same_displacement(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the rows that bind, from nothing and from the last ones, or by an interior point knot by knot or not."""
    point = program._judged(program.nothing)
    model = program.model(point)
    found = [program.programme(point, model, TRUST.first) for _ in range(2)]
    assert [solution.backend for solution in found] == [NAME, NAME]
    assert found[1].iterations <= found[0].iterations
    monkeypatch.setattr("solver.trajectory.displacement.softened", lambda *_: None)
    for full in (0.0, np.inf):
        monkeypatch.setattr("solver.trajectory.displacement.FULL", full)
        found.append(program.programme(point, model, TRUST.first))
        assert found[-1].backend != NAME
    count = program.nothing.size
    for other in found[1:]:
        assert np.abs(found[0].x[:count] - other.x[:count]).max() < 1e-4 * np.abs(found[0].x[:count]).max()
        # a row broken by the accuracy that is asked for costs its penalty
        assert found[0].objective == pytest.approx(other.objective, abs=PENALTY * ACCURACY)
