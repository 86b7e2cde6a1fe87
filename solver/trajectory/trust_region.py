"""The sequential programme of design and repair: a model that holds near a point, the step it proposes, and its trial.

Each round solves a programme that is linear or quadratic within a trust region about the point, tries the step, or
shares of it, on the true problem, and takes the first share that the problem accepts. Where none is accepted the model
was trusted too far, and the region shrinks. A programme whose solution is bad (`qp.Solution.usable`) proposes nothing:
the region shrinks, and the search says so.
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
    """How far the model is trusted, in the problem's own unit.

    Attributes:
        initial, minimum: at the beginning; below the other the search ends.
        rejected_factor, partial_factor, full_factor: factors after a step of which no share, a smaller share, all was
            accepted.
        maximum: never farther.
    """

    initial: float
    minimum: float
    rejected_factor: float
    partial_factor: float
    full_factor: float = 1.0
    maximum: float = np.inf


class SequentialProblem(Protocol[Point, Model]):
    """A problem that is solved by programmes about its points."""

    def linearise(self, point: Point) -> Model:
        """Objective and limits to first order about a point."""

    def solve_subproblem(self, point: Point, model: Model, trust_radius: float) -> Solution:
        """The programme about a point, solved."""

    def try_step(self, point: Point, solution: Solution) -> tuple[Point, bool] | None:
        """The point that a step leads to and whether all of the step was taken; None: no share is accepted."""

    def is_finished(self, before: Point, after: Point | None) -> bool:
        """Whether it is enough, after a step or (None) after one that was refused."""


@dataclass(frozen=True, slots=True)
class SearchResult(Generic[Point]):
    """What a search found.

    Attributes:
        point: the last accepted.
        accepted: accepted, from the start on.
        subproblems: solved.
        solver_failures: of programmes whose solutions were bad, a line each.
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
    """The best point of at most so many programmes from a start on; none begins after ``until`` of `time.monotonic`."""
    point, reach, done = start, region.initial, 0
    points, flaws = [start], []
    model: Model | None = None
    while done < max_iterations and reach > region.minimum and time.monotonic() < deadline:
        done += 1
        if model is None:
            model = problem.linearise(point)
        solution = problem.solve_subproblem(point, model, reach)
        if not solution.usable:
            flaws.append(f"programme {done}: {solution.summary}")
            reach *= region.rejected_factor
            continue
        taken = problem.try_step(point, solution)
        if taken is None:
            if problem.is_finished(point, None):
                break
            reach *= region.rejected_factor
            continue
        before, (point, whole), model = point, taken, None
        points.append(point)
        reach = min(reach * (region.full_factor if whole else region.partial_factor), region.maximum)
        if problem.is_finished(before, point):
            break
    return SearchResult(point, tuple(points), done, tuple(flaws))
