"""Sequential linear or quadratic programming with a trust region, for design and repair.

Every iteration:

1. `linearise` the problem about the point, if the point is new;
2. `solve_subproblem`, a linear or quadratic program within the trust region;
3. `try_step`: evaluate fractions of the step on the true problem and accept the first that is good enough;
4. adapt the trust region: shrink it if no fraction was accepted or the solution was inaccurate
   (`qp.Solution.usable`), which is reported;
5. stop if the problem `is_finished`.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np

from ..qp import Solution

Point = TypeVar("Point")
Model = TypeVar("Model")


@dataclass(frozen=True, slots=True)
class TrustRegion:
    """Radius of the trust region, in the problem's own unit.

    Attributes:
        initial, minimum: radius at the start, and below which the search ends.
        rejected_factor, partial_factor, full_factor: of the radius after a step of which nothing, a part, or all was
            accepted.
        maximum: largest radius.
    """

    initial: float
    minimum: float
    rejected_factor: float
    partial_factor: float
    full_factor: float = 1.0
    maximum: float = np.inf


class SequentialProblem(Protocol[Point, Model]):
    """A problem that is solved by subproblems about its points."""

    def linearise(self, point: Point) -> Model:
        """Objective and constraints to first order about a point."""

    def solve_subproblem(self, point: Point, model: Model, trust_radius: float) -> Solution:
        """Solution of the subproblem about a point."""

    def try_step(self, point: Point, solution: Solution) -> tuple[Point, bool] | None:
        """The accepted point, and whether it is the full step; None: no fraction of the step is accepted."""

    def is_finished(self, before: Point, after: Point | None) -> bool:
        """Whether to stop after an accepted step or, with None, after a rejected one."""


@dataclass(frozen=True, slots=True)
class SearchResult(Generic[Point]):
    """Result of a search.

    Attributes:
        point: last accepted point.
        accepted: all accepted points, from the start on.
        subproblems: number of subproblems solved.
        solver_failures: one line for every subproblem whose solution was inaccurate.
    """

    point: Point
    accepted: tuple[Point, ...]
    subproblems: int
    solver_failures: tuple[str, ...]


def solve_sequentially(
    problem: SequentialProblem[Point, Model],
    start: Point,
    region: TrustRegion,
    max_iterations: int,
    deadline: float = np.inf,
) -> SearchResult[Point]:
    """Improve a point step by step.

    Args:
        problem: to solve.
        start: first point.
        region: trust region.
        max_iterations: largest number of subproblems.
        deadline: of `time.monotonic`, after which no iteration begins.
    """
    point, radius, count = start, region.initial, 0
    accepted, failures = [start], []
    model: Model | None = None
    while count < max_iterations and radius > region.minimum and time.monotonic() < deadline:
        count += 1
        if model is None:
            model = problem.linearise(point)
        solution = problem.solve_subproblem(point, model, radius)
        if not solution.usable:
            failures.append(f"subproblem {count}: {solution.summary}")
            radius *= region.rejected_factor
            continue
        step = problem.try_step(point, solution)
        if step is None:
            if problem.is_finished(point, None):
                break
            radius *= region.rejected_factor
            continue
        before, (point, is_full), model = point, step, None
        accepted.append(point)
        radius = min(radius * (region.full_factor if is_full else region.partial_factor), region.maximum)
        if problem.is_finished(before, point):
            break
    return SearchResult(point, tuple(accepted), count, tuple(failures))
