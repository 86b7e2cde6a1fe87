"""Solution of a backend, with residuals measured independently of the backend."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum

import numpy as np

from .problem import EXPONENTIAL, PSD, Problem, matrix_of

MEASURED = 1e-4
"""Relative residual above which a point that a library reports as optimal counts as inaccurate."""


class Status(Enum):
    """How a solve ended."""

    OPTIMAL = "optimal"
    INACCURATE = "inaccurate"
    """The backend met only its reduced tolerances, or its residuals are larger than it reports."""
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"
    LIMIT = "iteration or time limit"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Solution:
    """Primal and dual point of a problem, with P x + q + G'y + bounds - sum F'z = 0 at an optimum.

    Attributes:
        problem: the problem solved.
        x: (n,); NaN if none was found.
        row_duals: (m,) y; positive where the upper side of a row is active, negative where the lower side is.
        bound_duals: (n,) the same for the bounds.
        cone_duals: one (m_k,) per cone, in the dual cone.
        status: how the solve ended.
        iterations: of the backend.
        seconds: building and solving.
        backend: its name.
    """

    problem: Problem
    x: np.ndarray
    row_duals: np.ndarray
    bound_duals: np.ndarray
    cone_duals: tuple[np.ndarray, ...]
    status: Status
    iterations: int
    seconds: float
    backend: str
    message: str = field(default="")

    @property
    def objective(self) -> float:
        """1/2 x'Px + q'x."""
        return self.problem.objective(self.x)

    @property
    def primal_residual(self) -> float:
        """Largest violation of any row, bound or cone."""
        problem, x = self.problem, self.x
        parts = [np.abs(problem.rows.slack(x)), problem.lower - x, x - problem.upper, [0.0]]
        parts += [[cone.violation(x)] for cone in problem.cones]
        return float(np.max(np.concatenate(parts)))

    @property
    def dual_residual(self) -> float:
        """Largest entry of the gradient of the Lagrangian, or of a dual outside its cone."""
        problem = self.problem
        gradient = problem.P @ self.x + problem.q + problem.rows.matrix.T @ self.row_duals + self.bound_duals
        outside = 0.0
        for cone, dual in zip(problem.cones, self.cone_duals, strict=True):
            gradient = gradient - cone.matrix.T @ dual
            outside = max(outside, _outside_dual(cone.kind, dual))
        return max(outside, float(np.max(np.abs(gradient), initial=0.0)))

    @property
    def gap(self) -> float:
        """|primal - dual objective|."""
        problem, x = self.problem, self.x
        total = x @ (problem.P @ x) + problem.q @ x
        total += _support(problem.rows.lower, problem.rows.upper, self.row_duals)
        total += _support(problem.lower, problem.upper, self.bound_duals)
        total += sum(cone.offset @ dual for cone, dual in zip(problem.cones, self.cone_duals, strict=True))
        return abs(float(total))

    @property
    def usable(self) -> bool:
        """Whether the measured residuals are below `MEASURED`, whatever the backend reports."""
        return self.is_optimal(MEASURED)

    def with_measured_status(self) -> Solution:
        """This solution, with status INACCURATE if its measured residuals exceed `MEASURED`."""
        if self.status is not Status.OPTIMAL or self.usable:
            return self
        return replace(self, status=Status.INACCURATE, message=f"reported as optimal, but {self.residuals}")

    @property
    def residuals(self) -> str:
        """Text of all three residuals."""
        if not np.isfinite(self.x).all():
            return "no point"
        return f"primal residual {self.primal_residual:.1e}, dual {self.dual_residual:.1e}, gap {self.gap:.1e}"

    @property
    def summary(self) -> str:
        """Backend, status and residuals in one line, for traces and notes."""
        return f"{self.backend}: {self.status.value}, {self.residuals}"

    def is_optimal(self, tolerance: float) -> bool:
        """Whether all three residuals are below ``tolerance``, each relative to the size of its own terms."""
        if not np.isfinite(self.x).all():
            return False
        problem, x = self.problem, self.x
        primal = 1.0 + max(np.max(np.abs(problem.rows.matrix @ x), initial=0.0), np.max(np.abs(x), initial=0.0))
        dual = 1.0 + max(np.max(np.abs(problem.P @ x), initial=0.0), np.max(np.abs(problem.q), initial=0.0))
        return bool(
            self.primal_residual <= tolerance * primal
            and self.dual_residual <= tolerance * dual
            and self.gap <= tolerance * (1.0 + abs(self.objective))
        )


def _support(lower: np.ndarray, upper: np.ndarray, duals: np.ndarray) -> float:
    """Support function of an interval; duals of an absent side are part of the dual residual and not counted here."""
    above, below = (duals > 0) & np.isfinite(upper), (duals < 0) & np.isfinite(lower)
    return float(upper[above] @ duals[above] + lower[below] @ duals[below])


def _outside_dual(kind: str, dual: np.ndarray) -> float:
    if kind == PSD:
        return max(0.0, -float(np.linalg.eigvalsh(matrix_of(dual))[0]))
    if kind == EXPONENTIAL:
        a, b, c = dual.reshape(-1, 3).T
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            excess = np.where(a < 0.0, -a * np.exp(b / a - 1.0) - c, np.maximum(np.maximum(a, -b), -c))
        return max(0.0, float(excess.max()))
    return max(0.0, float(np.linalg.norm(dual[1:]) - dual[0]))
