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
class Trust:
    """How far the model is trusted, in the problem's own unit.

    Attributes:
        first, least: at the beginning; below the other the search ends.
        refused, shortened, whole: factors after a step of which no share, a smaller share, all was accepted.
        most: never farther.
    """

    first: float
    least: float
    refused: float
    shortened: float
    whole: float = 1.0
    most: float = np.inf


class Sequential(Protocol[Point, Model]):
    """A problem that is solved by programmes about its points."""

    def model(self, point: Point) -> Model:
        """Objective and limits to first order about a point."""

    def programme(self, point: Point, model: Model, trust: float) -> Solution:
        """The programme about a point, solved."""

    def tried(self, point: Point, solution: Solution) -> tuple[Point, bool] | None:
        """The point that a step leads to and whether all of the step was taken; None: no share is accepted."""

    def ends(self, before: Point, after: Point | None) -> bool:
        """Whether it is enough, after a step or (None) after one that was refused."""


@dataclass(frozen=True, slots=True)
class Descent(Generic[Point]):
    """What a search found.

    Attributes:
        point: the last accepted.
        points: accepted, from the start on.
        programmes: solved.
        flaws: of programmes whose solutions were bad, a line each.
    """

    point: Point
    points: tuple[Point, ...]
    programmes: int
    flaws: tuple[str, ...]


def descend(
    problem: Sequential[Point, Model], start: Point, trust: Trust, rounds: int, until: float = np.inf
) -> Descent[Point]:
    """The best point of at most so many programmes from a start on; none begins after ``until`` of `time.monotonic`."""
    point, reach, done = start, trust.first, 0
    points, flaws = [start], []
    model: Model | None = None
    while done < rounds and reach > trust.least and time.monotonic() < until:
        done += 1
        if model is None:
            model = problem.model(point)
        solution = problem.programme(point, model, reach)
        if not solution.usable:
            flaws.append(f"programme {done}: {solution.verdict}")
            reach *= trust.refused
            continue
        taken = problem.tried(point, solution)
        if taken is None:
            if problem.ends(point, None):
                break
            reach *= trust.refused
            continue
        before, (point, whole), model = point, taken, None
        points.append(point)
        reach = min(reach * (trust.whole if whole else trust.shortened), trust.most)
        if problem.ends(before, point):
            break
    return Descent(point, tuple(points), done, tuple(flaws))
