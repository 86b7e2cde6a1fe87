"""The solvers of quadratic programs on programs that this project solves: ``python -m benchmarks programs [--quick]``.

The programs are recorded as they are solved, all on simulated bodies: frames of a tracked person at its limits, events
of random drags, frequency weights of an identification, steps of a repair. Each solver gets the same programs. OSQP
and the active sets of this project start from the solution before where the programs are a sequence, as they do in
use; the others start from nothing. A solver's row counts the programs that it solved: without violating a bound or row,
and with the cost of the best of the solvers, which may use the tolerance of the constraints.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from solver import qp
from solver.dance.authoring.repair import repair
from solver.errors import BackendError, MissingDependency
from solver.identification.error_model import weight_estimation
from solver.posing import drag
from solver.qp.principal_pivoting import Box, BoxSolution, solve_box
from solver.qp.sequential import OsqpSequence
from solver.rigs import human
from solver.threads import one_blas_thread
from solver.tracking import Tracker
from solver.tracking.options import TrackingOptions
from solver.trajectory.displacement import QP_TOLERANCE

from .figures import simulated
from .figures.figure import Figure
from .figures.repairs import QUICK_BEATS, changed_dance
from .figures.table import FigureTable, add_output_option
from .posing import measure_drags
from .release import swinging_targets
from .repair_programs import LARGEST, record_programs

SAME = 1e-4
"""Tolerance of costs and constraints, relative to their sizes."""
FRAMES, QUICK_FRAMES = 400, 60
EVENTS, QUICK_EVENTS = 240, 60
AMPLITUDE = 1.2
"""[rad] Standard deviation of the joints' swings: many of them end at a limit."""
FAR = 1e29
"""Beyond it a bound counts as infinite."""
TITLES = {"in use": "in use", "osqp": "OSQP", "daqp": "DAQP", "piqp": "PIQP", "clarabel": "Clarabel"}


@dataclass(frozen=True, slots=True)
class RecordedProgram:
    """A program, and what the solver in use made of it.

    Attributes:
        problem: min 1/2 x'Px + q'x with rows and bounds.
        x: (n,) the solution that was used.
        processor: [s] of the solver in use.
        box: the same as a program in a box, where it is one of a sequence.
    """

    problem: qp.Problem
    x: np.ndarray
    processor: float
    box: tuple[np.ndarray, np.ndarray, Box] | None = None


@contextmanager
def replaced(owner: Any, name: str, function: Callable[..., Any]) -> Iterator[None]:
    """Replace an attribute of a module or class in the context."""
    before = getattr(owner, name)
    setattr(owner, name, function)
    try:
        yield
    finally:
        setattr(owner, name, before)


def tracked_frames(frames: int) -> list[RecordedProgram]:
    """A person whose targets swing beyond its limits; the active set in use starts from the frame before."""
    found: list[RecordedProgram] = []

    def record(self: OsqpSequence, hessian: np.ndarray, gradient: np.ndarray, box: Box, guess: Any) -> BoxSolution:
        began = time.process_time()
        solution = solve_box(hessian, gradient, box, guess)
        spent = time.process_time() - began
        found.append(RecordedProgram(_boxed(hessian, gradient, box), solution.x, spent, (hessian, gradient, box)))
        return solution

    rig = human(1.75, 70.0, "male")
    targets = swinging_targets(rig, frames, AMPLITUDE)
    with replaced(OsqpSequence, "__call__", record):
        tracker = Tracker(rig, targets.tasks, replace(TrackingOptions(), backend="osqp"))
        for sample in range(len(targets)):
            tracker.step(targets.sample(sample), 0.01)
    return found


def drag_events(events: int) -> list[RecordedProgram]:
    """Iterations of random drags of a person, which DAQP solves."""
    found: list[RecordedProgram] = []
    minimise = drag._Program.minimise

    def record(program: Any, solve: Callable[..., Any]) -> np.ndarray | None:
        began = time.process_time()
        x = minimise(program, solve)
        spent = time.process_time() - began
        if x is not None:
            high = np.full(len(program.low), np.inf)
            high[: program.equalities] = program.low[: program.equalities]
            rows = qp.Rows(sparse.csr_array(program.matrix), np.array(program.low), high, ("row",) * len(high))
            lower, upper = program.bounds
            hessian = 0.5 * (program.hessian + program.hessian.T)
            problem = qp.Problem.quadratic(hessian, program.gradient, rows=rows, lower=lower, upper=upper)
            found.append(RecordedProgram(problem, x, spent))
        return x

    rig = human(1.75, 70.0, "male")
    with replaced(drag._Program, "minimise", record):
        measure_drags(rig, np.array(rig.provenance["standing"]), events, 0)
    return found


def frequency_weights() -> list[RecordedProgram]:
    """Gains of an identification of a simulated person, which Clarabel solves."""
    found: list[RecordedProgram] = []
    solve = weight_estimation.solve

    def record(problem: qp.Problem, backend: str, **options: Any) -> qp.Solution:
        began = time.process_time()
        solution = solve(problem, backend, **options)
        found.append(RecordedProgram(problem, solution.x, time.process_time() - began))
        return solution

    with replaced(weight_estimation, "solve", record):
        simulated.noisy_motion_figures()
    return found


def repair_steps() -> list[RecordedProgram]:
    """Steps of the repair of one changed posture, which an active set of this project solves."""
    with record_programs() as programs:
        repair(changed_dance(human(1.75, 65.0, "female"), QUICK_BEATS))
    return [RecordedProgram(each.problem, each.solution.x, each.processor) for each in programs]


def _boxed(hessian: np.ndarray, gradient: np.ndarray, box: Box) -> qp.Problem:
    names = ("row",) * len(box.upper_rows)
    rows = qp.Rows(sparse.csr_array(box.rows), np.full(len(names), -np.inf), box.upper_rows, names) if names else None
    return qp.Problem.quadratic(0.5 * (hessian + hessian.T), -gradient, rows=rows, lower=box.low, upper=box.high)


def solve_all(name: str, programs: Sequence[RecordedProgram]) -> list[tuple[np.ndarray | None, float]]:
    """Solution and processor time [s] of each program; None where the solver failed."""
    if name == "in use":
        return [(each.x, each.processor) for each in programs]
    sequence = OsqpSequence()
    found: list[tuple[np.ndarray | None, float]] = []
    for each in programs:
        began = time.process_time()
        x: np.ndarray | None
        try:
            if name == "osqp" and each.box is not None:
                x = sequence(*each.box, None).x
            else:
                x = qp.solve(each.problem, name, tolerance=QP_TOLERANCE).x
        except (BackendError, MissingDependency):
            x = None
        found.append((x, time.process_time() - began))
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
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks programs", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="fewer programs")
    add_output_option(parser)
    options = parser.parse_args(arguments)
    table = FigureTable(["programs", *arguments], options.output)
    kinds: dict[str, Callable[[], list[RecordedProgram]]] = {
        "a frame of tracking at limits": lambda: tracked_frames(QUICK_FRAMES if options.quick else FRAMES),
        "an iteration of a drag": lambda: drag_events(QUICK_EVENTS if options.quick else EVENTS),
        "frequency weights of an axis": frequency_weights,
        "a step of a repair": repair_steps,
    }
    with one_blas_thread():
        for kind, record in kinds.items():
            table.add(program_figures(kind, record()))
    return table.close()


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
