"""The sequential search that design and repair share."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver import qp
from solver.trajectory.trust_region import TrustRegion, solve_sequentially

TRUST = TrustRegion(1.0, 1e-6, rejected_factor=0.3, partial_factor=0.5, full_factor=2.0)


class Banana:
    """Rosenbrock's valley f = 100 (y - x^2)^2 + (1 - x)^2, by linear programs; its minimum is zero at (1, 1)."""

    def __init__(self) -> None:
        self.models = 0
        self.inaccurate = 0

    @staticmethod
    def value(point: np.ndarray) -> float:
        """The valley's height."""
        x, y = point
        return float(100.0 * (y - x * x) ** 2 + (1.0 - x) ** 2)

    def linearise(self, point: np.ndarray) -> np.ndarray:
        """Its slope."""
        self.models += 1
        x, y = point
        return np.array([-400.0 * x * (y - x * x) - 2.0 * (1.0 - x), 200.0 * (y - x * x)])

    def solve_subproblem(self, point: np.ndarray, model: np.ndarray, trust_radius: float) -> qp.Solution:
        """Steepest step within a square; the first ``inaccurate`` solutions violate their bounds."""
        square = np.full(2, trust_radius)
        found = qp.solve(qp.Problem.quadratic(np.zeros((2, 2)), model, lower=-square, upper=square), qp.LINEAR)
        self.inaccurate -= 1
        return replace(found, x=found.x + 10.0) if self.inaccurate >= 0 else found

    def try_step(self, point: np.ndarray, solution: qp.Solution) -> tuple[np.ndarray, bool] | None:
        """All of the step or half of it."""
        for share in (1.0, 0.5):
            trial = point + share * solution.x
            if self.value(trial) < self.value(point):
                return trial, share == 1.0
        return None

    def is_finished(self, before: np.ndarray, after: np.ndarray | None) -> bool:
        """Never by itself."""
        return False


def test_every_step_goes_down() -> None:
    """No accepted point is worse than the one before, and the valley is followed to its floor."""
    found = solve_sequentially(Banana(), np.array([-1.0, 1.5]), TRUST, 400)
    values = [Banana.value(point) for point in found.accepted]
    assert (np.diff(values) < 0.0).all()
    assert values[-1] < 0.05 * values[0]
    assert found.solver_failures == ()


def test_a_point_is_linearised_once() -> None:
    """A refused step shrinks the region about the same model."""
    problem = Banana()
    found = solve_sequentially(problem, np.array([-1.0, 1.5]), TRUST, 60)
    assert problem.models <= len(found.accepted) < found.subproblems


def test_an_inaccurate_solution_is_reported_and_not_used() -> None:
    """A solution outside its bounds is no step: the region shrinks, the search continues and names the subproblem."""
    problem = Banana()
    problem.inaccurate = 2
    found = solve_sequentially(problem, np.array([-1.0, 1.5]), TRUST, 60)
    assert [flaw.split(":")[0] for flaw in found.solver_failures] == ["subproblem 1", "subproblem 2"]
    assert all("residual" in flaw for flaw in found.solver_failures)
    assert Banana.value(found.point) < Banana.value(np.array([-1.0, 1.5]))


@pytest.mark.parametrize("rounds", [0, 3])
def test_no_more_subproblems_than_requested(rounds: int) -> None:
    """The search ends after its rounds, or where its time is over before it begins."""
    assert solve_sequentially(Banana(), np.array([-1.0, 1.5]), TRUST, rounds).subproblems == rounds
    assert solve_sequentially(Banana(), np.array([-1.0, 1.5]), TRUST, rounds, deadline=0.0).subproblems == 0
