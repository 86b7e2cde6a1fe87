"""The solvers of quadratic programs on programs that this project solves: ``python -m benchmarks programs [--quick]``.

The programs are recorded as they are solved, all on simulated bodies: frames of a tracked person at its limits, events
of random drags, steps of a repair. Each library gets the same programs in its
own form, and only its call is timed. OSQP starts from the solution before in the frames of a track, as in rapetti2020;
so does the active set of repairs; the others start from nothing. A solver's row counts the programs that it solved:
without violating a bound or row, and with the cost of the best of the solvers, which may use the tolerance of the
constraints.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import clarabel
import daqp
import numpy as np
import osqp
from scipy import sparse

from solver import qp
from solver.base.errors import BackendError
from solver.base.threads import one_blas_thread
from solver.dance.authoring.repair import repair_dance
from solver.posing import drag
from solver.qp.bounded import EQUALITY, BoundedSolution, Bounds, OsqpSequence, solve_bounded
from solver.rigs import human
from solver.tracking import Tracker
from solver.tracking.options import TrackingOptions
from solver.trajectory.displacement import QP_TOLERANCE, DisplacementProblem

from .figures.figure import Figure
from .figures.repairs import QUICK_BEATS, changed_dance
from .figures.table import FigureTable, table_parser
from .posing import measure_drags
from .release import swinging_targets

SAME = 1e-4
"""Tolerance of costs and constraints, relative to their sizes."""
FRAMES, QUICK_FRAMES = 400, 60
EVENTS, QUICK_EVENTS = 240, 60
AMPLITUDE = 1.2
"""[rad] Standard deviation of the joints' swings: many of them end at a limit."""
FAR, UNLIMITED = 1e29, 1e30
"""Beyond the first a bound counts as infinite; the second is PIQP's infinity."""
LARGEST = 2500
"""Variables and rows above which dense solvers are left out: their matrices alone take minutes."""
DENSE = 200
"""Variables up to which PIQP gets dense matrices."""
TITLES = {"in use": "in use", "osqp": "OSQP", "daqp": "DAQP", "piqp": "PIQP", "clarabel": "Clarabel"}
Call = Callable[[], np.ndarray]
"""A library's call, which returns x (n,)."""


@dataclass(frozen=True, slots=True)
class RecordedProgram:
    """A program, and what the solver in use made of it.

    Attributes:
        problem: min 1/2 x'Px + q'x with rows and bounds.
        x: (n,) the solution that was used.
        processor: [s] of the solver in use.
        bounded: the same as hessian, gradient and bounds, where it is one of a sequence.
    """

    problem: qp.Problem
    x: np.ndarray
    processor: float
    bounded: tuple[np.ndarray, np.ndarray, Bounds] | None = None


@contextmanager
def replaced(owner: Any, name: str, function: Callable[..., Any]) -> Iterator[None]:
    """Replace an attribute of a module or class in the context."""
    before = getattr(owner, name)
    setattr(owner, name, function)
    try:
        yield
    finally:
        setattr(owner, name, before)


def recorder(found: list[RecordedProgram], *, sequence: bool = False) -> Callable[..., BoundedSolution]:
    """`solve_bounded` that appends the programs that it solves."""

    def solve(hessian: np.ndarray, gradient: np.ndarray, bounds: Bounds, *tolerance: float) -> BoundedSolution:
        began = time.process_time()
        solution = solve_bounded(hessian, gradient, bounds, *tolerance)
        spent = time.process_time() - began
        if not solution.slack:
            n, names = len(gradient), ("row",) * len(bounds.rows)
            rows = qp.Rows(sparse.csr_array(bounds.rows), bounds.low[n:], bounds.high[n:], names) if names else None
            problem = qp.Problem.quadratic(
                0.5 * (hessian + hessian.T), -gradient, rows=rows, lower=bounds.low[:n], upper=bounds.high[:n]
            )
            whole = (hessian.copy(), gradient, bounds) if sequence else None
            found.append(RecordedProgram(problem, solution.x, spent, whole))
        return solution

    return solve


def tracked_frames(frames: int) -> list[RecordedProgram]:
    """A person whose targets swing beyond its limits."""
    found: list[RecordedProgram] = []
    rig = human(1.75, 70.0, "male")
    targets = swinging_targets(rig, frames, AMPLITUDE)
    tracker = Tracker(rig, targets.tasks, TrackingOptions())
    with replaced(tracker.solver, "_solve_program", recorder(found, sequence=True)):
        for sample in range(len(targets)):
            tracker.step(targets.sample(sample), 0.01)
    return found


def drag_events(events: int) -> list[RecordedProgram]:
    """Iterations of random drags of a person."""
    found: list[RecordedProgram] = []
    rig = human(1.75, 70.0, "male")
    with replaced(drag, "solve_bounded", recorder(found)):
        measure_drags(rig, np.array(rig.provenance["standing"]), events, 0)
    return found


def repair_steps() -> list[RecordedProgram]:
    """Steps of the repair of one changed posture, which an active set of this project solves; the time includes that of
    building the programs."""
    found: list[RecordedProgram] = []
    solve = DisplacementProblem.solve_subproblem

    def record(*values: Any) -> qp.Solution:
        began = time.process_time()
        solution = solve(*values)
        found.append(RecordedProgram(solution.problem, solution.x, time.process_time() - began))
        return solution

    with replaced(DisplacementProblem, "solve_subproblem", record):
        repair_dance(changed_dance(human(1.75, 65.0, "female"), QUICK_BEATS))
    return found


def daqp_call(problem: qp.Problem) -> Call:
    """DAQP with dense arrays."""
    rows = problem.rows
    upper, lower = (np.concatenate(parts) for parts in ((problem.upper, rows.upper), (problem.lower, rows.lower)))
    sense = np.concatenate([np.zeros(problem.variables, bool), rows.equality]) * np.int32(EQUALITY)
    arrays = problem.P.toarray(), np.array(problem.q), rows.matrix.toarray(), upper, lower, sense
    return lambda: np.array(daqp.solve(*arrays, primal_tol=QP_TOLERANCE)[0])


def osqp_call(problem: qp.Problem) -> Call:
    """OSQP, set up anew."""
    matrix = sparse.vstack([problem.rows.matrix, sparse.eye_array(problem.variables)], format="csc")
    sides = [np.concatenate(s) for s in ((problem.rows.lower, problem.lower), (problem.rows.upper, problem.upper))]
    arrays = sparse.csc_matrix(sparse.triu(problem.P)), np.array(problem.q), sparse.csc_matrix(matrix), *sides

    def call() -> np.ndarray:
        solver = osqp.OSQP()
        solver.setup(
            *arrays, verbose=False, eps_abs=QP_TOLERANCE, eps_rel=QP_TOLERANCE, max_iter=20_000, polishing=True
        )
        return np.array(solver.solve(raise_error=False).x)

    return call


def piqp_call(problem: qp.Problem) -> Call:
    """PIQP with dense matrices for small programs, sparse ones for the others."""
    import piqp

    rows, equal, dense = problem.rows, problem.rows.equality, problem.variables <= DENSE
    form: Callable[[Any], Any] = (lambda m: np.asfortranarray(m.toarray())) if dense else sparse.csc_matrix
    arrays = (
        form(problem.P), problem.q, form(rows.matrix[equal]), rows.upper[equal], form(rows.matrix[~equal]),
        *(side.clip(-UNLIMITED, UNLIMITED) for side in (
            rows.lower[~equal], rows.upper[~equal], problem.lower, problem.upper)),
    )  # fmt: skip

    def call() -> np.ndarray:
        solver = piqp.DenseSolver() if dense else piqp.SparseSolver()
        solver.settings.eps_abs = solver.settings.eps_rel = QP_TOLERANCE
        solver.settings.eps_duality_gap_abs = solver.settings.eps_duality_gap_rel = QP_TOLERANCE
        solver.setup(*arrays)
        solver.solve()
        return np.array(solver.result.x)

    return call


def clarabel_call(problem: qp.Problem) -> Call:
    """Clarabel with one cone of equalities and one of inequalities."""
    rows, eye = problem.rows, sparse.eye_array(problem.variables, format="csr")
    matrix = sparse.vstack([rows.matrix, eye], format="csr")
    low, high = np.concatenate([rows.lower, problem.lower]), np.concatenate([rows.upper, problem.upper])
    equal = low == high
    above, below = np.isfinite(high) & ~equal, np.isfinite(low) & ~equal
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = QP_TOLERANCE
    cones = [clarabel.ZeroConeT(int(equal.sum())), clarabel.NonnegativeConeT(int(above.sum() + below.sum()))]
    arrays = (
        sparse.csc_matrix(sparse.triu(problem.P)), np.array(problem.q),
        sparse.csc_matrix(sparse.vstack([matrix[equal], matrix[above], -matrix[below]])),
        np.concatenate([high[equal], high[above], -low[below]]), cones, settings,
    )  # fmt: skip
    return lambda: np.array(clarabel.DefaultSolver(*arrays).solve().x)


CALLS = {"osqp": osqp_call, "daqp": daqp_call, "piqp": piqp_call, "clarabel": clarabel_call}


def solve_all(name: str, programs: Sequence[RecordedProgram]) -> list[tuple[np.ndarray | None, float]]:
    """Solution and processor time [s] of each program; None where the library is missing or found no point."""
    if name == "in use":
        return [(each.x, each.processor) for each in programs]
    sequence = OsqpSequence()
    found: list[tuple[np.ndarray | None, float]] = []
    for each in programs:
        try:
            call = CALLS[name](each.problem)
        except ImportError:
            found.append((None, 0.0))
            continue
        began = time.process_time()
        x = sequence(*each.bounded).x if name == "osqp" and each.bounded is not None else call()
        spent = time.process_time() - began
        found.append((x if np.isfinite(x).all() else None, spent))
    return found


def program_figures(kind: str, programs: Sequence[RecordedProgram]) -> Iterator[Figure]:
    """A row for each solver: median processor time over that of the solver in use, and how many it solved.

    Raises:
        BackendError: no program was recorded.
    """
    if not programs:
        raise BackendError(f"{kind}: no program was solved")
    variables, rows = (max(sizes) for sizes in zip(*((p.problem.variables, len(p.problem.rows)) for p in programs)))
    size = f"simulated, {len(programs)} programs of at most {variables} variables and {rows} rows"
    too_large = variables + rows > LARGEST
    results = {name: solve_all(name, programs) for name in TITLES if not (name == "daqp" and too_large)}
    best = [
        min(
            (each.problem.objective(x) for x, _ in found if x is not None and is_feasible(each.problem, x)),
            default=np.nan,
        )
        for each, *found in zip(programs, *results.values())
    ]
    base = statistics.median(each.processor for each in programs)
    for name, title in TITLES.items():
        if name not in results:
            note = f"left out: dense, more than {LARGEST} variables and rows"
            yield Figure(f"{kind}: {title}", size, None, note=note)
            continue
        solved = sum(
            x is not None and is_feasible(each.problem, x) and has_cost(each.problem, x, cost)
            for each, cost, (x, _) in zip(programs, best, results[name])
        )
        seconds = statistics.median(spent for _, spent in results[name])
        note = f"{1e3 * seconds:.3g} ms here; {solved} of {len(programs)} solved"
        yield Figure(f"{kind}: {title}", size, seconds / base, "x", note=note)


def is_feasible(problem: qp.Problem, x: np.ndarray) -> bool:
    """Whether no bound or row is violated by more than `SAME` of the largest of them."""
    low, high = np.concatenate([problem.lower, problem.rows.lower]), np.concatenate([problem.upper, problem.rows.upper])
    values, ends = np.concatenate([x, problem.rows.matrix @ x]), np.abs(np.concatenate([low, high]))
    scale = float(ends[ends < FAR].max(initial=0.0))
    return max(float((low - values).max()), float((values - high).max())) <= SAME * scale


def has_cost(problem: qp.Problem, x: np.ndarray, best: float) -> bool:
    """Whether the cost exceeds the best by no more than `SAME` of its two parts."""
    linear = float(problem.q @ x)
    return problem.objective(x) - best <= SAME * (abs(linear) + abs(problem.objective(x) - linear))


def main(arguments: list[str]) -> int:
    """Print the table."""
    parser = table_parser("programs", __doc__, quick="fewer programs")
    options = parser.parse_args(arguments)
    table = FigureTable(["programs", *arguments], options.output)
    kinds: dict[str, Callable[[], list[RecordedProgram]]] = {
        "a frame of tracking at limits": lambda: tracked_frames(QUICK_FRAMES if options.quick else FRAMES),
        "an iteration of a drag": lambda: drag_events(QUICK_EVENTS if options.quick else EVENTS),
        "a step of a repair": repair_steps,
    }
    with one_blas_thread():
        for kind, record in kinds.items():
            table.add(program_figures(kind, record()))
    return table.close()
