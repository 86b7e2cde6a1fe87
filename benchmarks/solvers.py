"""Hierarchical QP against Clarabel with all rows, and the cone program, for `figures.speed`.

HRP-2 (stand-in, 31 links, 310 parameters), simulated motion of a body that differs from the prior, noise 3 N and 1 N m.
Timed from the accumulated regression to the result. The peer of the hierarchical QP, in the same run, is Clarabel given
every row of levels 1 and 2 (opposite directions once: v and -v make the same row) and the cost of level 3.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
from scipy import sparse

from solver.dynamics import integrate, predicted_wrench
from solver.identification.body_coordinates import BodyCoordinates
from solver.identification.consistent import ConsistentOptions, consistent
from solver.identification.constraints import (
    ConstraintOptions,
    direction_rows,
    physical_rows,
    plausible_rows,
)
from solver.identification.hierarchical import HierarchicalOptions, hierarchical
from solver.identification.regression import Regression
from solver.identification.weighted_equations import parameter_scale
from solver.qp import Problem, Rows, Solution, solve, triangle_of
from solver.signals.trial import Trial
from solver.skeleton.rig import Rig
from solver.values.inertials import InertialParameters
from solver.values.motion import Motion
from solver.values.wrenches import Wrenches

RATE, FRAMES = 200.0, 2000
NOISE = np.array([3.0, 3.0, 3.0, 1.0, 1.0, 1.0])
SPREAD = 0.1
"""Difference of the simulated body from its prior: standard deviation of the change of each link's pseudo-inertia."""
REPEATS = 7
PEER_TOLERANCE = 1e-9
MUST_SPEEDUP, AIM_SECONDS = 5.0, 0.3
MUST_RELATIVE = 1e-6
MUST_CONES, AIM_CONES = 0.3, 0.1


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


def median_seconds(work: Callable[[], object]) -> float:
    """Median wall-clock seconds, after one run that does not count."""
    work()
    walls = []
    for _ in range(REPEATS):
        wall = time.perf_counter()
        work()
        walls.append(time.perf_counter() - wall)
    return statistics.median(walls)


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


def compare(regression: Regression, rig: Rig, floor: float | None) -> tuple[float, float, float, float]:
    """Hierarchical QP and its peer on the same data.

    Returns:
        seconds of the hierarchical QP, times that it is faster, relative difference of the optimal cost, and the worst
        relative worsening of an upper level.
    """
    # Sampled rows only, as the paper and the peer have them.
    limits = ConstraintOptions(total_mass=rig.prior.total_mass, floor=floor, min_eigenvalue_fraction=None)
    options = HierarchicalOptions(limits)
    found = hierarchical(regression, rig, options)
    wall = median_seconds(partial(hierarchical, regression, rig, options))
    rows, scale = all_rows(rig, limits), parameter_scale(rig, rig.prior).ravel()
    start = time.perf_counter()
    quick_peer(regression, rows, scale)
    peer_wall = time.perf_counter() - start
    best = exact_peer(regression, rows, scale)
    cost = regression.cost(InertialParameters.from_vector(rig.links, scale * best.x[: len(scale)]))
    worsening = max(level.violation_of_higher_levels for level in found.levels)
    return wall, peer_wall / wall, abs(found.cost - cost) / cost, worsening


def cones(regression: Regression, rig: Rig) -> tuple[str, float]:
    """The exactly consistent method, its noise given: its name, and seconds."""
    free = ConsistentOptions(constraints=ConstraintOptions(total_mass=rig.prior.total_mass, boxes=False))
    found = consistent(regression, rig, free)
    fixed = replace(
        free,
        data_inflation=found.settings["data inflation"],
        noise_variance=found.settings["noise variance"],
    )
    return found.method, median_seconds(partial(consistent, regression, rig, fixed))
