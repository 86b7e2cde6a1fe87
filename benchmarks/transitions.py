"""Solvers of one transition compared: ``python -m benchmarks.transitions [--transitions N] [--via N]``.

Transitions of a HOAP-3 dance, simulated; each solver gets the same variables, start, criterion and limits, and exact
first derivatives (`solver.trajectory.transition_derivatives`). Reported are the criterion reached (the mean deviation
to expect, lower is better) as a share of the straight path's, the worst margin over all checks (negative: not feasible)
and processor seconds.

- seeded: random deviations, ranked and checked, four narrowing rounds of 96;
- programs: the sequential linear programs of `solver.trajectory.transition_search`, which the dances use;
- SLSQP and trust-constr: SciPy's, from the straight path, and from the programs' result as a polish.

Found on six transitions of 26 to 38 variables (two via points), means of the feasible results and seconds in all, on a
busy core: programs 0.857, 6 of 6 feasible, 7 s; seeded 0.886, 6 of 6, 18 s; SLSQP 0.860, 3 of 6, 20 s; programs,
then SLSQP 0.843, 5 of 6, 24 s. A polish lowers the criterion by 1.6 % for two and a half times as much time again, so
there is none. With all eight control values (104 variables; one transition) the programs reach 0.635 in 1.3 s, seeded
0.768 in 2.6 s; SLSQP had not ended after a minute. trust-constr on two of the transitions: 0.936 in 18 s, programs
0.864 in 1.5 s.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import LinearConstraint, NonlinearConstraint, minimize

from solver.dance.design.footsteps import StepPlanner
from solver.dance.design.plan import build_transition_planner
from solver.dance.design.postures import DrawOptions, draw_posture_pool
from solver.dance.design.sequence import free_columns
from solver.identification.base_parameters import base_parameters
from solver.identification.excitation.expected_deviations import ExpectedDeviations
from solver.options.dances import FOOT_CONFIGURATIONS, DanceOptions
from solver.rigs import hoap3
from solver.threads import one_blas_thread
from solver.trajectory.splines import REST_CONTROLS
from solver.trajectory.transition_derivatives import LinearModel, linearise
from solver.trajectory.transition_problem import Candidate, TransitionAim, TransitionProblem
from solver.trajectory.transition_search import search_transition

from .reference import reference_line

ROUNDS = 6
CANDIDATES, JUDGED, SEEDED_ROUNDS = 96, 12, 4
ITERATIONS = 20
"""Of SciPy's solvers: each costs one linearisation, as a program does."""
NEAR = 0.5
"""Limits whose room at the start is above what so large a share of all joints' ranges could take are left out."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of a solver on a transition."""

    value: float
    margin: float
    seconds: float
    evaluations: int


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.transitions", description=__doc__)
    parser.add_argument("--transitions", type=int, default=8, help="how many (8)")
    parser.add_argument("--via", type=int, default=2, choices=(2, 8), help="control values of each joint (2)")
    parser.add_argument("--seed", type=int, default=1, help="of postures and searches (1)")
    parser.add_argument("--solvers", nargs="+", default=list(SOLVERS), choices=list(SOLVERS), help="which")
    options = parser.parse_args(arguments)
    print(reference_line())
    print(f"{'transition':22s} {'variables':>9s}  " + "  ".join(f"{name:>26s}" for name in options.solvers))
    print(f"{'':33s}" + "  ".join(f"{'criterion  margin      s':>26s}" for _ in options.solvers))
    reached: dict[str, list[Outcome]] = {name: [] for name in options.solvers}
    with one_blas_thread():
        for name, problem in problems(options.transitions, options.via, options.seed):
            start = problem.start_candidate()
            print(f"{name:22s} {start.offsets.size:9d}", end="", flush=True)
            for solver in options.solvers:
                problem.checked_count = 0
                outcome = measure_solver(problem, start, SOLVERS[solver], options.seed)
                reached[solver].append(outcome)
                cell = f"{outcome.value:10.4f} {outcome.margin:+8.1g} {outcome.seconds:6.1f}"
                print(f"  {cell:>26s}", end="", flush=True)
            print()
    print("\nmean of the feasible ones; feasible; seconds in all")
    for solver, outcomes in reached.items():
        good = [o.value for o in outcomes if o.margin >= 0.0]
        mean = np.mean(good) if good else np.nan
        print(f"{solver:22s} {mean:10.4f} {len(good):4d}/{len(outcomes)} {sum(o.seconds for o in outcomes):8.1f} s")
    return 0


def problems(count: int, via: int, seed: int) -> list[tuple[str, TransitionProblem]]:
    """Transitions between feasible postures of HOAP-3, with the history of those before them on the straight path."""
    rig = hoap3("middle", torque="peak")
    parent = build_transition_planner(rig, DanceOptions(step=0.1))
    structure = base_parameters(rig)
    objective = ExpectedDeviations(structure, rig.prior, np.ones(len(rig.links)))
    result: list[tuple[str, TransitionProblem]] = []
    history = objective.prior_matrices
    each = -(-count // len(FOOT_CONFIGURATIONS))
    for number, name in enumerate(FOOT_CONFIGURATIONS):
        ground = StepPlanner(parent).stance_postures(name)
        pool = draw_posture_pool(
            parent.legged,
            parent.coarse_checker,
            ground.footing,
            ground.home,
            structure,
            DrawOptions(4 * each, seed + number),
        )
        here, found = ground.home, 0
        for there in pool.y:
            plain, _ = parent.plan_straight(f"{name} {found + 1}", here, there, ground.footing)
            if plain is None or found == each or len(plain.control) != 8 + 2 * REST_CONTROLS:
                continue
            columns = np.sort(free_columns(parent.legged, name))
            aim = TransitionAim(objective, history, columns, via)
            problem = TransitionProblem(parent.legged, parent.coarse_checker, plain, ground.footing, aim)
            result.append((plain.name, problem))
            history = history + parent.added_information(plain, objective)
            here, found = there, found + 1
    return result[:count]


Solver = Callable[[TransitionProblem, Candidate, int], tuple[Candidate, int]]


def measure_solver(problem: TransitionProblem, start: Candidate, solver: Solver, seed: int) -> Outcome:
    """Run one solver on one transition."""
    began = time.process_time()
    best, evaluations = solver(problem, start, seed)
    seconds = time.process_time() - began
    return Outcome(best.value / start.value, float(problem.margins([best])[0]), seconds, evaluations)


def random_search(problem: TransitionProblem, start: Candidate, seed: int) -> tuple[Candidate, int]:
    """Random deviations about the best so far, ranked after rebalancing; the first of them that keeps every limit."""
    generator = np.random.default_rng(seed)
    best = start
    for number in range(SEEDED_ROUNDS):
        spread = 0.45 * 0.45**number * problem.scale
        noise = spread * generator.standard_normal((CANDIDATES, *start.offsets.shape))
        share = generator.choice([1.0, 0.5, 0.25], (CANDIDATES, 1, 1))
        noise = np.where(generator.random((CANDIDATES, 1, len(spread))) < share, noise, 0.0)
        offsets = best.offsets + noise * _margins(problem, best, noise)
        reached, trials = problem.evaluate_steps(offsets, best, 3)
        order = [k for k in np.argsort([t.value for t in trials]) if reached[k] and trials[k].value < best.value]
        for k in order[:JUDGED]:
            if problem.margins([trials[k]])[0] >= 0.0:
                best = trials[k]
                break
    return best, SEEDED_ROUNDS * CANDIDATES


def _margins(problem: TransitionProblem, best: Candidate, noise: np.ndarray) -> np.ndarray:
    """Largest share (K, 1, n) of each coordinate's deviations within joint ranges and speeds."""
    control, velocity = best.control[:, problem.columns], best.rates[1][:, problem.columns]
    fine = np.einsum("cv,kvn->kcn", problem.variable_map, noise)
    fast = np.einsum("fv,kvn->kfn", problem.basis.velocity @ problem.variable_map, noise)
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.where(fine > 0.0, (problem.upper - control) / fine, (problem.lower - control) / fine)
        room = np.where(np.abs(fine) < 1e-12, np.inf, room).min(axis=1)
        left = np.where(fast > 0.0, (problem.speed - velocity) / fast, (-problem.speed - velocity) / fast)
        left = np.where(np.abs(fast) < 1e-12, np.inf, left).min(axis=1)
    return np.clip(np.minimum(room, left), 0.0, 1.0)[:, None, :]


def linear_programs(problem: TransitionProblem, start: Candidate, seed: int) -> tuple[Candidate, int]:
    """The search of the dances."""
    found = search_transition(problem, seed, ROUNDS)
    return found.best, len(found.values) - 1


class _CachedDerivatives:
    """A problem as SciPy's solvers ask for it: criterion, limits and their derivatives by flat variables."""

    def __init__(self, problem: TransitionProblem, start: Candidate) -> None:
        self.problem, self.start, self.shape = problem, start, start.offsets.shape
        self.evaluations = 0
        self._x: np.ndarray | None = None
        self._trial, self._slopes = start, None  # type: Candidate, LinearModel | None
        first = self.derivatives(start.offsets.ravel())
        change = np.abs(first.limits).sum(axis=2) @ problem.scale
        self.rows = np.flatnonzero(first.room < NEAR * change)

    def candidate(self, x: np.ndarray) -> Candidate:
        """The motion of the variables, rebalanced."""
        if self._x is None or not np.array_equal(x, self._x):
            self._x, self._slopes = x.copy(), None
            self._trial = self.problem.evaluate_steps(x.reshape(1, *self.shape), self.start, 3)[1][0]
            self.evaluations += 1
        return self._trial

    def derivatives(self, x: np.ndarray) -> LinearModel:
        """Its linear model."""
        candidate = self.candidate(x)
        if self._slopes is None:
            self._slopes = linearise(self.problem, candidate)
        return self._slopes

    def value(self, x: np.ndarray) -> float:
        """Criterion."""
        return self.candidate(x).value / self.start.value

    def gradient(self, x: np.ndarray) -> np.ndarray:
        """Its derivative."""
        return self.derivatives(x).gradient.ravel() / self.start.value

    def room(self, x: np.ndarray) -> np.ndarray:
        """What is left of the limits."""
        return self.derivatives(x).room[self.rows]

    def room_slopes(self, x: np.ndarray) -> np.ndarray:
        """Their derivative."""
        return -self.derivatives(x).limits[self.rows].transpose(0, 2, 1).reshape(len(self.rows), x.size)

    def linear(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Rows and bounds of joint ranges and speeds of the deviating coordinates."""
        problem, n = self.problem, self.shape[1]
        inner = problem.variable_map[REST_CONTROLS:-REST_CONTROLS]
        control = self.start.control[REST_CONTROLS:-REST_CONTROLS, problem.columns]
        velocity = self.start.rates[1][:, problem.columns]
        matrix = np.concatenate([inner, problem.basis.velocity @ problem.variable_map])
        low = np.concatenate([problem.lower - control, -problem.speed - velocity])
        high = np.concatenate([problem.upper - control, problem.speed - velocity])
        offsets = matrix @ self.start.offsets
        finite = (np.isfinite(low) & np.isfinite(high)).ravel()
        rows = np.kron(matrix, np.eye(n))[finite]
        low, high = np.minimum(low, 0.0) + offsets, np.maximum(high, 0.0) + offsets
        return rows, low.ravel()[finite], high.ravel()[finite]


def slsqp(problem: TransitionProblem, start: Candidate, seed: int) -> tuple[Candidate, int]:
    """SciPy's SLSQP."""
    cached = _CachedDerivatives(problem, start)
    rows, low, high = cached.linear()
    bounds = np.concatenate([-low, high])
    limits = [
        {"type": "ineq", "fun": lambda x: bounds - np.concatenate([-rows @ x, rows @ x]),
         "jac": lambda x: -np.concatenate([-rows, rows])},
        {"type": "ineq", "fun": cached.room, "jac": cached.room_slopes},
    ]  # fmt: skip
    found = minimize(
        cached.value, start.offsets.ravel(), jac=cached.gradient, method="SLSQP", constraints=limits,
        options={"maxiter": ITERATIONS, "ftol": 1e-5},
    )  # fmt: skip
    return cached.candidate(found.x), cached.evaluations


def trust_constr(problem: TransitionProblem, start: Candidate, seed: int) -> tuple[Candidate, int]:
    """SciPy's trust-constr, an interior-point method with quasi-Newton curvature."""
    cached = _CachedDerivatives(problem, start)
    rows, low, high = cached.linear()
    nothing = np.zeros(len(cached.rows))
    limits = [
        LinearConstraint(rows, low, high),
        NonlinearConstraint(cached.room, nothing, np.inf, jac=cached.room_slopes),
    ]
    found = minimize(
        cached.value, start.offsets.ravel(), jac=cached.gradient, method="trust-constr", constraints=limits,
        options={"maxiter": ITERATIONS, "sparse_jacobian": False},
    )  # fmt: skip
    return cached.candidate(found.x), cached.evaluations


def programs_then_slsqp(problem: TransitionProblem, start: Candidate, seed: int) -> tuple[Candidate, int]:
    """The programs' result, then SLSQP from there."""
    first, count = linear_programs(problem, start, seed)
    best, more = slsqp(problem, first, seed)
    return best, count + more


SOLVERS: dict[str, Solver] = {
    "seeded": random_search,
    "linear programs": linear_programs,
    "SLSQP": slsqp,
    "trust-constr": trust_constr,
    "linear programs + SLSQP": programs_then_slsqp,
}

if __name__ == "__main__":
    raise SystemExit(main())
