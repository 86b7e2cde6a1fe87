"""One file per library that solves a `Problem`; `solve` picks one by name."""

from __future__ import annotations

from ...errors import UnknownPreset
from ..problem import Problem
from ..solution import Solution
from . import clarabel, highs, osqp, proxqp

BACKENDS = ("clarabel", "osqp", "proxqp")
LINEAR = "highs"
"""The backend of linear programmes."""
DEFAULT_TOLERANCE = 1e-8
"""Relative; each backend scales it to the sizes in the problem."""


def solve(
    problem: Problem,
    backend: str = "osqp",
    *,
    tolerance: float = DEFAULT_TOLERANCE,
    start: Solution | None = None,
) -> Solution:
    """Solve a problem, and measure what came back: a point that a library calls optimal and is not is `INACCURATE`.

    Args:
        problem: to solve.
        backend: ``"osqp"`` (fast, warm-starts, rows and bounds only), ``"clarabel"`` (accurate, cones) or ``"proxqp"``
            (small dense problems; optional library), or `LINEAR` where P is zero and there are no cones.
        tolerance: relative.
        start: solution of a similar problem to start from; Clarabel, an interior-point method, ignores it.

    Raises:
        BackendError: the library failed, or cannot take this kind of problem.
        UnknownPreset: no backend of that name.
        MissingDependency: the library is not installed.
    """
    if backend == "clarabel":
        return clarabel.solve(problem, tolerance).measured()
    if backend == "osqp":
        return osqp.solve(problem, tolerance, start).measured()
    if backend == "proxqp":
        return proxqp.solve(problem, tolerance, start).measured()
    if backend == LINEAR:
        return highs.solve(problem).measured()
    raise UnknownPreset(backend, (*BACKENDS, LINEAR))
