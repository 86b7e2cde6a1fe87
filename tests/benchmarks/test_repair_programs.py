"""Quadratic programs of repairs for other solvers: recorded unchanged, ordered in time, and solved alike."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from benchmarks.figures.repairs import changed_dance
from benchmarks.repair_programs import (
    REFERENCE,
    SAME,
    SOLVERS,
    VIOLATION_PENALTY,
    RecordedProgram,
    compute_cost,
    record_programs,
    run_solver,
    time_order,
)
from solver import qp
from solver.dance.authoring.repair import repair
from solver.errors import BackendError
from solver.options.authoring import RepairOptions
from solver.rigs import human
from solver.trajectory.displacement import DisplacementProblem

BEATS = 3
LIBRARIES = ("piqp by blocks", "piqp", "clarabel")
"""Libraries of the solver's own requirements."""


@pytest.fixture(scope="module")
def found() -> list[RecordedProgram]:
    """Programs of one changed posture of a short dance."""
    dance = changed_dance(human(1.75, 65.0, "female"), BEATS)
    with record_programs() as program:
        repair(dance, options=RepairOptions(passes=1, programs=2))
    return program


def test_programs_are_recorded_only_in_the_context(found: list[RecordedProgram]) -> None:
    """Programs are recorded, each with a permutation of its variables; nothing is recorded afterwards."""
    assert found
    for program in found:
        assert program.solution.usable
        assert program.processor > 0.0
        np.testing.assert_array_equal(np.sort(program.order), np.arange(program.problem.variables))
    own = DisplacementProblem.solve_subproblem
    with record_programs():
        assert DisplacementProblem.solve_subproblem is not own
    assert DisplacementProblem.solve_subproblem is own


@pytest.mark.parametrize("name", LIBRARIES)
def test_every_library_finds_the_same_optimum(found: list[RecordedProgram], name: str) -> None:
    """Every library's displacement costs as much as the one that the repair used."""
    program = found[0]
    reference = compute_cost(program.problem, qp.solve(program.problem, "clarabel", tolerance=REFERENCE).x)
    assert run_solver(SOLVERS[name], program, reference).good
    used = compute_cost(program.problem, program.solution.x)
    assert abs(used - reference) <= SAME * (abs(reference) + VIOLATION_PENALTY)


def test_a_point_that_is_not_optimal_is_reported(found: list[RecordedProgram]) -> None:
    """A displacement that costs more, and a solver that fails, are not good."""
    program = found[0]
    reference = compute_cost(program.problem, program.solution.x)
    worse = program.solution.x.copy()
    worse[: len(worse) // 2] = program.problem.upper[: len(worse) // 2]
    assert not run_solver(lambda _: (worse, 1), program, reference).good

    def fails(_: RecordedProgram) -> tuple[np.ndarray, int]:
        raise BackendError("no")

    assert not run_solver(fails, program, reference).good


def test_slacks_follow_the_last_knot_of_their_row() -> None:
    """Two coordinates of three knots; a row of the first two knots, one of the last."""
    displaced = np.array([[1.0, 1.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]])
    matrix = sparse.csr_matrix(np.concatenate([displaced, np.eye(2)], axis=1))
    rows = qp.Rows(matrix, np.zeros(2), np.full(2, np.inf), ("a", "b"))
    problem = qp.Problem(sparse.csc_array((8, 8)), np.ones(8), rows, np.zeros(8), np.ones(8))
    assert time_order(problem, 3, 2).tolist() == [0, 3, 1, 4, 6, 2, 5, 7]
