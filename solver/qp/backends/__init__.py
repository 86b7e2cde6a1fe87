"""One file per library that solves a `Problem`; `solve` picks one by name."""

from __future__ import annotations

import numpy as np

from ...errors import MissingDependency, UnknownPreset
from ..problem import Problem
from ..solution import Solution, Status
from . import clarabel, highs, osqp, piqp, proxqp

BACKENDS = ("clarabel", "osqp", "piqp", "proxqp")
LINEAR = "highs"
"""The backend of linear programmes."""
SPARSE = "sparse"
"""PIQP, and Clarabel where that is not installed or its solution is bad: sharp optima of large sparse programmes."""
DEFAULT_TOLERANCE = 1e-8
"""Relative; each backend scales it to the sizes in the problem."""


def solve(
    problem: Problem,
    backend: str = "osqp",
    *,
    tolerance: float = DEFAULT_TOLERANCE,
    start: Solution | None = None,
    order: np.ndarray | None = None,
) -> Solution:
    """Solve a problem, and measure what came back: a point that a library calls optimal and is not is `INACCURATE`.

    Args:
        problem: to solve.
        backend: ``"osqp"`` (fast, warm-starts, rows and bounds only), ``"clarabel"`` (accurate, cones), ``"piqp"``
            (accurate, sparse, rows and bounds only) or ``"proxqp"`` (small dense problems; optional library);
            `SPARSE_INTERVAL`,
            the quickest accurate one of large sparse programmes; or `LINEAR_MOMENTUM_COLOUR` where P is zero and
            there are no cones.
        tolerance: relative.
        start: solution of a similar problem to start from; interior-point methods ignore it.
        order: (n,) the variables such that rows and costs join near ones only, as those of a trajectory in the order
            of time: quicker with `SPARSE_INTERVAL`; the others ignore it.

    Raises:
        BackendError: the library failed, or cannot take this kind of problem.
        UnknownPreset: no backend of that name.
        MissingDependency: the library is not installed.
    """
    if backend == "clarabel":
        return clarabel.solve(problem, tolerance).with_measured_status()
    if backend == "osqp":
        return osqp.solve(problem, tolerance, start).with_measured_status()
    if backend == "piqp":
        return piqp.solve(problem, tolerance).with_measured_status()
    if backend == SPARSE:
        return _verified(problem, tolerance, order)
    if backend == "proxqp":
        return proxqp.solve(problem, tolerance, start).with_measured_status()
    if backend == LINEAR:
        return highs.solve(problem).with_measured_status()
    raise UnknownPreset(backend, (*BACKENDS, SPARSE, LINEAR))


def _verified(problem: Problem, tolerance: float, order: np.ndarray | None) -> Solution:
    if not problem.cones:
        try:
            found = piqp.solve(problem, tolerance, order).with_measured_status()
        except MissingDependency:
            pass
        else:
            if found.usable or found.status is Status.INFEASIBLE:
                return found
    return clarabel.solve(problem, tolerance).with_measured_status()
