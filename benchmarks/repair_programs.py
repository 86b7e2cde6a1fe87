"""The quadratic programs of repairs by other solvers: `python -m benchmarks.solvers --repairs [--quick]`.

The programs are those of repairs, recorded as they are solved: one changed posture of a dance, three keyed
extremes, a jump (`figures.repairs`, `figures.jump`; simulated persons). Each solves for a displacement x and slacks s,

    min 1/2 x'Px + q'x + p sum s   with   G x + s >= -c,  s >= 0,  fixed keys,  a box about x

What repairs use is solved within them, each program from the one before; the others begin with nothing. DAQP, dense
and by active sets, also gets the program in its own form: rows with a violation price instead of slacks.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from solver import qp
from solver.dance.authoring.authored_dance import AuthoredDance
from solver.dance.authoring.repair import repair
from solver.errors import BackendError, MissingDependency
from solver.options.authoring import RepairOptions
from solver.qp.backends import piqp
from solver.rigs import human
from solver.trajectory.displacement import QP_TOLERANCE, VIOLATION_PENALTY, DisplacementProblem, Evaluation, LinearModel

from .figures.jump import JUMPERS, ROUNDS, keyed_jump
from .figures.repairs import BEATS, EXTREMES, HASTE, QUICK_BEATS, changed_dance, keyed_postures
from .reference import reference_line

REFERENCE = 1e-10
"""Tolerance of the reference solution, Clarabel's."""
SAME = 1e-4
"""Share of the reference's objective, or of one unit's price, by which another may differ."""
LARGEST = 2500
"""Variables and rows above which dense solvers are left out: their matrices alone take minutes."""
FLAT = 1e8
"""Reciprocal quadratic price of DAQP's soft rows, whose price is to be as good as linear."""
IN_USE = "in use"


@dataclass(frozen=True, slots=True)
class RecordedProgram:
    """A quadratic program as a repair solved it.

    Attributes:
        solution: what the repair went on with.
        processor: [s] that it took, building the program included.
        order: (n,) the variables in the order of time.
    """

    solution: qp.Solution
    processor: float
    order: np.ndarray

    @property
    def problem(self) -> qp.Problem:
        """The problem."""
        return self.solution.problem


@dataclass(frozen=True, slots=True)
class SolverResult:
    """Result of a solver on a program: whether optimal, its objective, iterations, processor seconds."""

    good: bool
    objective: float
    iterations: int
    processor: float


Solver = Callable[[RecordedProgram], tuple[np.ndarray, int]]


@contextmanager
def record_programs() -> Iterator[list[RecordedProgram]]:
    """Record every program that is solved in the context."""
    found: list[RecordedProgram] = []
    solve = DisplacementProblem.solve_subproblem

    def program(self: DisplacementProblem, point: Evaluation, model: LinearModel, trust_radius: float) -> qp.Solution:
        began = time.process_time()
        solution = solve(self, point, model, trust_radius)
        found.append(
            RecordedProgram(solution, time.process_time() - began, time_order(solution.problem, *point.x.shape))
        )
        return solution

    DisplacementProblem.solve_subproblem = program  # type: ignore[method-assign]
    try:
        yield found
    finally:
        DisplacementProblem.solve_subproblem = solve  # type: ignore[method-assign]


def time_order(problem: qp.Problem, m: int, n: int) -> np.ndarray:
    """(n m + R,) displacements by knot, each of R slacks behind the last knot that its row depends on."""
    entries = problem.rows.matrix[: problem.variables - n * m, : n * m].tocoo()
    last = np.zeros(entries.shape[0])
    np.maximum.at(last, entries.row, entries.col % m)
    return np.argsort(np.concatenate([np.tile(np.arange(m), n), last]), kind="stable")


def repairs(quick: bool) -> Iterator[tuple[str, AuthoredDance, RepairOptions]]:
    """The repairs: name, keyed motion, options."""
    rig = human(1.75, 65.0, "female")
    dance = changed_dance(rig, QUICK_BEATS if quick else BEATS)
    yield f"one changed posture of {dance.stop - dance.start:.0f} s", dance, RepairOptions()
    if quick:
        return
    yield "three keyed extremes", keyed_postures(rig, EXTREMES, HASTE), RepairOptions()
    yield "a jump", keyed_jump(JUMPERS[0].rig(), JUMPERS[0].leap), RepairOptions(passes=ROUNDS)


def library(name: str) -> Solver:
    """A backend of `solver.qp` on the program as it is; ``"piqp by blocks"`` with the variables in time."""

    def solve(program: RecordedProgram) -> tuple[np.ndarray, int]:
        if name == "piqp by blocks":
            found = piqp.solve(program.problem, QP_TOLERANCE, program.order)
        else:
            found = qp.solve(program.problem, name, tolerance=QP_TOLERANCE)
        return found.x, found.iterations

    return solve


def daqp_soft(program: RecordedProgram) -> tuple[np.ndarray, int]:
    """DAQP without slacks: rows that had one may be broken at its price."""
    import daqp

    problem, rows = program.problem, program.problem.rows
    equal, soft = rows.equality, ~rows.equality
    size = problem.variables - int(soft.sum())  # those left out are slacks of soft rows
    none = np.zeros(size)
    model = daqp.Model()
    matrix = np.ascontiguousarray(rows.matrix[:, :size].toarray())
    far = 1e30
    high = np.clip(np.concatenate([problem.upper[:size], rows.upper]), -far, far)
    low = np.clip(np.concatenate([problem.lower[:size], rows.lower]), -far, far)
    sense = np.concatenate([none, 5 * equal + 8 * soft]).astype(np.int32)
    cost = np.ascontiguousarray(problem.P[:size, :size].toarray())
    flag, _ = model.setup(cost, np.array(problem.q[:size]), matrix, high, low, sense)
    if flag < 0:
        raise BackendError(f"daqp: setup says {flag}")
    model.settings = {"iter_limit": 100_000, "primal_tol": QP_TOLERANCE}
    price, flat = np.full(len(high), VIOLATION_PENALTY), np.full(len(high), FLAT)
    model.soft_weights(flat, flat, price, price)
    x, _, flag, info = model.solve()
    if flag not in (1, 2):
        raise BackendError(f"daqp: ended with {flag}")
    x = np.array(x)
    return np.concatenate([x, np.maximum(rows.lower - matrix @ x, 0.0)[soft]]), int(info["iterations"])


SOLVERS: dict[str, Solver] = {
    "piqp by blocks": library("piqp by blocks"),
    **{name: library(name) for name in ("piqp", "clarabel", "osqp", "daqp")},
    "daqp, soft rows": daqp_soft,
}
DENSE = ("daqp",)


def run_solver(solver: Solver, program: RecordedProgram, reference: float) -> SolverResult:
    """Run one solver on one program; its displacement is compared by cost, with the slacks that it requires."""
    began = time.process_time()
    try:
        x, iterations = solver(program)
    except (BackendError, MissingDependency, ImportError):
        return SolverResult(False, np.nan, 0, time.process_time() - began)
    spent = time.process_time() - began
    objective = compute_cost(program.problem, x)
    return SolverResult(
        abs(objective - reference) <= SAME * (abs(reference) + VIOLATION_PENALTY), objective, iterations, spent
    )


def compute_cost(problem: qp.Problem, x: np.ndarray) -> float:
    """Objective with the slacks that the displacement requires; fixed keys and bounds are assumed satisfied."""
    equal = problem.rows.equality
    slacks = int((~equal).sum())
    size = problem.variables - slacks
    exact = np.array(x)
    needed = problem.rows.lower[~equal] - problem.rows.matrix[:, :size][~equal] @ exact[:size]
    exact[size:] = np.maximum(needed, 0.0)
    return problem.objective(exact)


def report(quick: bool) -> None:
    """Measure and print."""
    print(reference_line())
    for name, keyed, options in repairs(quick):
        with record_programs() as found:
            repair(keyed, options=options)
        if not found:
            print(f"{name}: nothing to solve")
            continue
        sizes = [(k.problem.variables, len(k.problem.rows)) for k in found]
        print(f"{name}: {len(found)} programs of {min(s[0] for s in sizes)} to {max(s[0] for s in sizes)} variables, "
              f"{min(s[1] for s in sizes)} to {max(s[1] for s in sizes)} rows")  # fmt: skip
        print(f"  {'solver':<18}{'solved':>6}{'optimal':>9}{'median s':>10}{'in all s':>10}{'iterations':>12}"
              f"{'worst difference':>18}")  # fmt: skip
        references = [compute_cost(k.problem, qp.solve(k.problem, "clarabel", tolerance=REFERENCE).x) for k in found]
        own = [
            SolverResult(abs(compute_cost(k.problem, k.solution.x) - r) <= SAME * (abs(r) + VIOLATION_PENALTY),
                  compute_cost(k.problem, k.solution.x), k.solution.iterations, k.processor)
            for k, r in zip(found, references)
        ]  # fmt: skip
        print(line(IN_USE, own, references))
        for title, solver in SOLVERS.items():
            chosen = [max(s) <= LARGEST or title not in DENSE for s in sizes]
            rows = [run_solver(solver, k, r) for k, r, c in zip(found, references, chosen) if c]
            print(line(title, rows, [r for r, c in zip(references, chosen) if c]), flush=True)


def line(title: str, rows: list[SolverResult], references: list[float]) -> str:
    """One solver's row of the table."""
    if not rows:
        return f"  {title:<18}{0:>6}   left out: larger than {LARGEST}"
    apart = [
        abs(t.objective - r) / (abs(r) + VIOLATION_PENALTY)
        for t, r in zip(rows, references)
        if np.isfinite(t.objective)
    ]
    return (
        f"  {title:<18}{len(rows):>6}{sum(t.good for t in rows):>9}"
        f"{statistics.median(t.processor for t in rows):>10.4f}{sum(t.processor for t in rows):>10.3f}"
        f"{statistics.median(t.iterations for t in rows):>12.0f}{max(apart, default=np.nan):>18.1e}"
    )
