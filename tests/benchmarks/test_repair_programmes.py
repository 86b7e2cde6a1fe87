"""Programmes of repairs for other solvers: kept as they are, in the order of time, and solved alike."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from benchmarks.figures.repairs import changed_dance
from benchmarks.repair_programmes import (
    REFERENCE,
    SAME,
    SOLVERS,
    VIOLATION_PENALTY,
    Kept,
    cost_of,
    in_time,
    keeping,
    tried,
)
from solver import qp
from solver.dance.authoring.repair import RepairOptions, repair
from solver.errors import BackendError
from solver.rigs import human
from solver.trajectory.displacement import DisplacementProblem

BEATS = 3
ASKED = ("piqp by blocks", "piqp", "clarabel")
"""Libraries of the solver's own requirements."""


@pytest.fixture(scope="module")
def found() -> list[Kept]:
    """Those of one changed posture of a short dance."""
    dance = changed_dance(human(1.75, 65.0, "female"), BEATS)
    with keeping() as kept:
        repair(dance, options=RepairOptions(passes=1, max_programs=2))
    return kept


def test_programmes_are_kept_meanwhile_only(found: list[Kept]) -> None:
    """Some were solved, each with a permutation of its variables; afterwards nothing is kept any more."""
    assert found
    for kept in found:
        assert kept.solution.usable
        assert kept.processor > 0.0
        np.testing.assert_array_equal(np.sort(kept.order), np.arange(kept.problem.variables))
    own = DisplacementProblem.solve_subproblem
    with keeping():
        assert DisplacementProblem.solve_subproblem is not own
    assert DisplacementProblem.solve_subproblem is own


@pytest.mark.parametrize("name", ASKED)
def test_every_library_finds_the_same_optimum(found: list[Kept], name: str) -> None:
    """Which is what the repair went on with, by what its displacement costs."""
    kept = found[0]
    reference = cost_of(kept.problem, qp.solve(kept.problem, "clarabel", tolerance=REFERENCE).x)
    assert tried(SOLVERS[name], kept, reference).good
    used = cost_of(kept.problem, kept.solution.x)
    assert abs(used - reference) <= SAME * (abs(reference) + VIOLATION_PENALTY)


def test_what_is_no_optimum_is_told(found: list[Kept]) -> None:
    """A displacement that costs more, and a solver that fails, are not good."""
    kept = found[0]
    reference = cost_of(kept.problem, kept.solution.x)
    worse = kept.solution.x.copy()
    worse[: len(worse) // 2] = kept.problem.upper[: len(worse) // 2]
    assert not tried(lambda _: (worse, 1), kept, reference).good

    def fails(_: Kept) -> tuple[np.ndarray, int]:
        raise BackendError("no")

    assert not tried(fails, kept, reference).good


def test_slacks_stand_behind_the_last_knot_of_their_row() -> None:
    """Two coordinates of three knots; a row of the first two knots, one of the last."""
    displaced = np.array([[1.0, 1.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]])
    matrix = sparse.csr_matrix(np.concatenate([displaced, np.eye(2)], axis=1))
    rows = qp.Rows(matrix, np.zeros(2), np.full(2, np.inf), ("a", "b"))
    problem = qp.Problem(sparse.csc_array((8, 8)), np.ones(8), rows, np.zeros(8), np.ones(8))
    assert in_time(problem, 3, 2).tolist() == [0, 3, 1, 4, 6, 2, 5, 7]
