"""The sequential programme that design and repair share."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver import qp
from solver.trajectory.trust_region import Trust, descend

TRUST = Trust(1.0, 1e-6, refused=0.3, shortened=0.5, whole=2.0)


class Banana:
    """Rosenbrock's valley f = 100 (y - x^2)^2 + (1 - x)^2, by linear programmes; least, zero, at (1, 1)."""

    def __init__(self) -> None:
        self.models = 0
        self.spoiled = 0

    @staticmethod
    def value(point: np.ndarray) -> float:
        """The valley's height."""
        x, y = point
        return float(100.0 * (y - x * x) ** 2 + (1.0 - x) ** 2)

    def model(self, point: np.ndarray) -> np.ndarray:
        """Its slope."""
        self.models += 1
        x, y = point
        return np.array([-400.0 * x * (y - x * x) - 2.0 * (1.0 - x), 200.0 * (y - x * x)])

    def programme(self, point: np.ndarray, model: np.ndarray, trust: float) -> qp.Solution:
        """Steepest step within a square; the first few solutions are spoiled when asked for."""
        square = np.full(2, trust)
        found = qp.solve(qp.Problem.quadratic(np.zeros((2, 2)), model, lower=-square, upper=square), qp.LINEAR)
        self.spoiled -= 1
        return replace(found, x=found.x + 10.0) if self.spoiled >= 0 else found

    def tried(self, point: np.ndarray, solution: qp.Solution) -> tuple[np.ndarray, bool] | None:
        """All of the step or half of it."""
        for share in (1.0, 0.5):
            trial = point + share * solution.x
            if self.value(trial) < self.value(point):
                return trial, share == 1.0
        return None

    def ends(self, before: np.ndarray, after: np.ndarray | None) -> bool:
        """Never by itself."""
        return False


def test_every_step_goes_down() -> None:
    """No accepted point is worse than the one before, and the valley is followed to its floor."""
    found = descend(Banana(), np.array([-1.0, 1.5]), TRUST, 400)
    values = [Banana.value(point) for point in found.points]
    assert (np.diff(values) < 0.0).all()
    assert values[-1] < 0.05 * values[0]
    assert found.flaws == ()


def test_a_point_is_linearised_once() -> None:
    """A refused step shrinks the region about the same model."""
    problem = Banana()
    found = descend(problem, np.array([-1.0, 1.5]), TRUST, 60)
    assert problem.models <= len(found.points) < found.programmes


def test_a_bad_solution_is_not_used_and_told() -> None:
    """A solution outside its bounds is no step: the region shrinks, the search goes on and names the programme."""
    problem = Banana()
    problem.spoiled = 2
    found = descend(problem, np.array([-1.0, 1.5]), TRUST, 60)
    assert [flaw.split(":")[0] for flaw in found.flaws] == ["programme 1", "programme 2"]
    assert all("residual" in flaw for flaw in found.flaws)
    assert Banana.value(found.point) < Banana.value(np.array([-1.0, 1.5]))


@pytest.mark.parametrize("rounds", [0, 3])
def test_no_more_programmes_than_asked_for(rounds: int) -> None:
    """The search ends after its rounds, or where its time is over before it begins."""
    assert descend(Banana(), np.array([-1.0, 1.5]), TRUST, rounds).programmes == rounds
    assert descend(Banana(), np.array([-1.0, 1.5]), TRUST, rounds, until=0.0).programmes == 0
