"""Hierarchical QP against Clarabel with all rows, and the cone program: `python -m benchmarks.solvers [--quick]`.

HRP-2 (stand-in, 31 links, 310 parameters), simulated motion of a body that differs from the prior, noise 3 N and 1 N m.
Timed from the accumulated regression to the result. The peer of the hierarchical QP, in the same run, is Clarabel given
every row of levels 1 and 2 (opposite directions once: v and -v make the same row) and the cost of level 3.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy import sparse

from solver.dynamics import integrate, predicted_wrench
from solver.identification.accumulate import accumulate_regression
from solver.identification.body_coordinates import BodyCoordinates
from solver.identification.consistent import ConsistentOptions, consistent
from solver.identification.constraints import (
    PAPER_FLOOR,
    ConstraintOptions,
    direction_rows,
    physical_rows,
    plausible_rows,
)
from solver.identification.directions import MIN_EIGENVALUE_FRACTION
from solver.identification.estimate import Estimate
from solver.identification.hierarchical import HierarchicalOptions, hierarchical
from solver.identification.regression import Regression
from solver.identification.weighted_equations import parameter_scale
from solver.inertials import InertialParameters
from solver.motion import Motion
from solver.qp import Problem, Rows, Solution, solve, triangle_of
from solver.rig import Rig
from solver.rigs import hrp2
from solver.trial import Trial
from solver.wrenches import Wrenches

from .reference import reference_line, to_ordinary

RATE, FRAMES = 200.0, 2000
NOISE = np.array([3.0, 3.0, 3.0, 1.0, 1.0, 1.0])
SPREAD = 0.1
"""Difference of the simulated body from its prior: standard deviation of the change of each link's pseudo-inertia."""
REPEATS, QUICK_REPEATS = 7, 3
PEER_TOLERANCE = 1e-9
MUST_SPEEDUP, AIM_SECONDS = 5.0, 0.3
MUST_RELATIVE = 1e-6
MUST_CONES, AIM_CONES = 0.3, 0.1
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured figure against its bounds."""

    what: str
    value: float
    must: str
    aim: str
    met: bool

    def __str__(self) -> str:
        status = "met" if self.met else "MISSED"
        return f"  {self.what:<74} {self.value:10.4g}  must {self.must:<8} aim {self.aim:<8} {status}"


def other_body(rig: Rig, seed: int = 0) -> InertialParameters:
    """A physical body near the rig's prior, of the same total mass."""
    generator = np.random.default_rng(seed)
    changes = np.eye(4) + SPREAD * generator.standard_normal((len(rig.links), 4, 4))
    x = np.concatenate([triangle_of(change @ change.T - np.eye(4)) for change in changes])
    return BodyCoordinates.from_reference(rig.prior).parameters(x).scaled(rig.prior.total_mass)


def simulate_trial(rig: Rig, truth: InertialParameters, seed: int = 7) -> Trial:
    """Sines in every joint, upright, with the wrench of ``truth`` and noise."""
    generator = np.random.default_rng(seed)
    count = rig.nv
    times = np.arange(FRAMES) / RATE
    rates, phases = generator.uniform(0.2, 1.0, count) * 2 * np.pi, generator.uniform(0, 2 * np.pi, count)
    # The root turns about one axis only: there, rates of the rotation vector are angular velocities.
    sizes = np.r_[0.1, 0.1, 0.1, 0.0, 0.0, 0.4, np.full(count - 6, 0.4)]
    angles = rates * times[:, None] + phases
    neutral = rig.neutral
    q = np.array([integrate(rig, neutral, move) for move in sizes * np.sin(angles)])
    v, a = sizes * rates * np.cos(angles), -sizes * rates**2 * np.sin(angles)
    motion = Motion(times, q, v, a)
    wrench = predicted_wrench(rig, motion, truth, axes="world") + NOISE * generator.standard_normal((FRAMES, 6))
    wrench[:, 3:] += np.cross(motion.q[:, :3], wrench[:, :3])
    return Trial("simulated", motion, Wrenches(times, ("plate",), wrench[:, None]), np.ones(FRAMES, bool))


def median_seconds(work: Callable[[], object], repeats: int) -> tuple[float, float]:
    """Median wall-clock and processor seconds, after one run that does not count."""
    work()
    walls, processors = [], []
    for _ in range(repeats):
        wall, processor = time.perf_counter(), time.process_time()
        work()
        walls.append(time.perf_counter() - wall)
        processors.append(time.process_time() - processor)
    return statistics.median(walls), statistics.median(processors)


def all_rows(rig: Rig, limits: ConstraintOptions) -> Rows:
    """Every row of levels 1 and 2."""
    parts = [physical_rows(rig, limits), plausible_rows(rig, rig.prior, limits)]
    return Rows.stack([*parts, direction_rows(rig, rig.prior, limits).all()])


def quick_peer(regression: Regression, rows: Rows, scale: np.ndarray) -> Solution:
    """Clarabel with all rows and the cost squared, x'R'R x: its faster form, and less exact."""
    scaled = Rows(rows.matrix * scale[None, :], rows.lower, rows.upper, rows.names)
    problem = Problem.least_squares(regression.factor * scale, regression.target, rows=scaled)
    return solve(problem, "clarabel", tolerance=PEER_TOLERANCE)


def exact_peer(regression: Regression, rows: Rows, scale: np.ndarray) -> Solution:
    """Clarabel with all rows, scaled parameters x and residuals z = R x - c: minimise z'z / 2, no square of R."""
    count, equations = len(scale), len(regression.target)
    inequalities = sparse.csr_array(rows.matrix * scale[None, :])
    residuals = sparse.hstack([sparse.csr_array(regression.factor * scale), -sparse.eye_array(equations)])
    matrix = sparse.vstack([sparse.hstack([inequalities, sparse.csr_array((len(rows), equations))]), residuals])
    lower, upper = (np.concatenate([side, regression.target]) for side in (rows.lower, rows.upper))
    names = (*rows.names, *("residual",) * equations)
    cost = sparse.diags_array(np.r_[np.zeros(count), np.ones(equations)])
    problem = Problem.quadratic(cost, np.zeros(count + equations), rows=Rows(matrix, lower, upper, names))
    return solve(problem, "clarabel", tolerance=PEER_TOLERANCE)


def compare(regression: Regression, rig: Rig, floor: float | None, repeats: int, quick: bool) -> list[Figure]:
    """Hierarchical QP and its peer on the same data."""
    # Sampled rows only, as the paper and the peer have them.
    limits = ConstraintOptions(total_mass=rig.prior.total_mass, floor=floor, min_eigenvalue_fraction=None)
    options = HierarchicalOptions(limits)
    found = hierarchical(regression, rig, options)
    wall, processor = median_seconds(partial(hierarchical, regression, rig, options), repeats)
    rows, scale = all_rows(rig, limits), parameter_scale(rig, rig.prior).ravel()
    start = time.perf_counter()
    fast = quick_peer(regression, rows, scale)
    peer_wall = time.perf_counter() - start
    best = fast if quick else exact_peer(regression, rows, scale)
    other = InertialParameters.from_vector(rig.links, scale * best.x[: len(scale)])
    label = "eps by link" if floor is None else f"eps {floor:g}"
    changes = sum(level.iterations for level in found.levels)
    written = sum(level.rows for level in found.levels) - len(regression.target) - len(scale)
    exact = "" if quick else f"; residuals as variables {best.seconds:.2f} s, {best.status.value}"
    print(
        f"  {label}: {len(rows)} rows, {written} of them written down, {changes} changes of the active set, processor "
        f"{processor:.3f} s\n"
        f"    Clarabel with all rows: squared cost {peer_wall:.2f} s, {fast.status.value}{exact}\n"
        f"    worst violation of any row, ours {violation(rows, found.parameters):.1e}, Clarabel "
        f"{violation(rows, other):.1e}; cost above the unremovable part, ours "
        f"{found.cost - regression.residual_cost:.9g}, "
        f"Clarabel {regression.cost(other) - regression.residual_cost:.9g}"
    )
    difference = (found.cost - regression.cost(other)) / regression.cost(other)
    # With the rows of the eigenvectors as well, as the method has them by default.
    whole = hierarchical(
        regression, rig, HierarchicalOptions(replace(limits, min_eigenvalue_fraction=MIN_EIGENVALUE_FRACTION))
    )
    smallest = float(whole.parameters.rotational_margin.min())
    worsening = max(level.violation_of_higher_levels for level in found.levels)
    return [
        Figure(f"hierarchical QP, {label} [s]", wall, "", f"< {AIM_SECONDS:g}", True),
        Figure(f"{label}: times faster than Clarabel with all rows", peer_wall / wall, f">= {MUST_SPEEDUP:g}", "",
               peer_wall / wall >= MUST_SPEEDUP),
        Figure(f"{label}: relative difference of the optimal cost", difference, f"< {MUST_RELATIVE:g}", "",
               abs(difference) < MUST_RELATIVE),
        Figure(f"{label}: worst relative worsening of an upper level", worsening, f"< {MUST_RELATIVE:g}", "",
               worsening < MUST_RELATIVE),
        Figure(f"{label}: smallest eigenvalue of a rotational inertia [kg m^2]", smallest, "> 0", "", smallest > 0.0),
    ]  # fmt: skip


def violation(rows: Rows, parameters: InertialParameters) -> float:
    """Largest violation of any row [kg, kg m, kg m^2]."""
    return float(np.abs(rows.slack(parameters.vector)).max())


def cones(regression: Regression, rig: Rig, repeats: int) -> list[Figure]:
    """The exactly consistent method, noise given and noise estimated from the data."""
    free = ConsistentOptions(constraints=ConstraintOptions(total_mass=rig.prior.total_mass, boxes=False))
    found = consistent(regression, rig, free)
    fixed = replace(
        free,
        data_inflation=found.settings["data inflation"],
        noise_variance=found.settings["noise variance"],
    )
    wall, processor = median_seconds(partial(consistent, regression, rig, fixed), repeats)
    whole, _ = median_seconds(partial(consistent, regression, rig, free), repeats)
    print(f"  {found.method}: processor {processor:.3f} s; with the noise estimated as well {whole:.3f} s")
    what, must, aim = f"{found.method}, 31 cones [s]", f"< {MUST_CONES:g}", f"< {AIM_CONES:g}"
    return [Figure(what, wall, must, aim, to_ordinary(wall) < MUST_CONES), _consistency(found)]


def _consistency(found: Estimate) -> Figure:
    smallest = float(found.parameters.consistency_margin.min())
    return Figure(f"{found.method}: smallest eigenvalue of a pseudo-inertia", smallest, ">= 0", "", smallest >= 0.0)


def run(quick: bool) -> bool:
    """Measure and print; False when a must is missed."""
    print(reference_line())
    repeats = QUICK_REPEATS if quick else REPEATS
    rig = hrp2()
    regression = accumulate_regression(rig, [simulate_trial(rig, other_body(rig))]).with_weights(1.0 / NOISE)
    assert regression.factor.shape[1] == 310
    floors = (PAPER_FLOOR,) if quick else (None, PAPER_FLOOR)
    figures = [figure for floor in floors for figure in compare(regression, rig, floor, repeats, quick)]
    figures += cones(regression, rig, repeats)
    print("\n".join(map(str, figures)))
    return all(figure.met for figure in figures)


def main(arguments: list[str] | None = None) -> int:
    """Run in a process with one BLAS thread (matrices this small are slower on several); 1 when a must is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.solvers", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="the paper's eps only, fewer repetitions")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.here:
        return 0 if run(options.quick) else 1
    command = [sys.executable, "-m", "benchmarks.solvers", "--here", *(["--quick"] if options.quick else [])]
    environment = {**os.environ, **dict.fromkeys(THREAD_VARIABLES, "1")}
    return subprocess.run(command, env=environment, check=False).returncode


if __name__ == "__main__":
    raise SystemExit(main())
