"""Newton's steps of inverse kinematics: the factorised exact Hessian, and the solver's state between frames."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs


@dataclass(slots=True)
class Newton:
    """A Hessian (nv, nv) and its Cholesky factor.

    Attributes:
        matrix: the Hessian, positive definite.
        factor: its lower factor.
        stiffened: indices of coordinates that were stiffened to make it so.
        gradient: (nv,) minus the cost's gradient, without the posture's, where the Hessian was computed; None after
            use.
    """

    matrix: np.ndarray
    factor: np.ndarray
    stiffened: list[int]
    gradient: np.ndarray | None = None

    @staticmethod
    def from_hessian(matrix: np.ndarray, attempts: int, stiffness: float) -> Newton | None:
        """Factorises a Hessian with at most ``attempts`` coordinates stiffened by ``stiffness``, in place; None if it
        stays indefinite.

        At a limit, or far from its target, a coordinate's cost may have negative curvature.
        """
        stiffened: list[int] = []
        for _ in range(attempts + 1):
            factor, failed = dpotrf(matrix.T, lower=1, clean=0)  # column-major, for LAPACK
            if not failed:
                return Newton(matrix, factor, stiffened)
            stiffened.append(failed - 1)
            matrix[failed - 1, failed - 1] += stiffness
        return None

    def is_exact(self, active_bounds: np.ndarray | None) -> bool:
        """Whether a step is Newton's own: every stiffened coordinate is at its bound, where ``active_bounds`` is
        True.
        """
        return not self.stiffened or (active_bounds is not None and bool(active_bounds[self.stiffened].all()))

    def solve(self, gradient: np.ndarray) -> np.ndarray:
        """Step (nv,) without bounds."""
        return np.asarray(dpotrs(self.factor, gradient, lower=1)[0])


@dataclass(frozen=True, slots=True)
class Linearisation:
    """Where one step is linearised.

    Attributes:
        start: (nq,) before the step.
        point: (nq,) at which the equations are linearised.
        displacement: (nv,) the change from start to point.
        step: [s] duration.
    """

    start: np.ndarray
    point: np.ndarray
    displacement: np.ndarray
    step: float


@dataclass(slots=True)
class SolverState:
    """State of one trajectory between frames.

    Attributes:
        step_prices: (nv,) prices of steps towards targets out of reach.
        velocity_trust: (nv,) fraction of its velocity with which each joint is predicted.
        active_bounds: (nv + m,) True where the last step is at a bound of a coordinate or of one of m coupled limits;
            None for none.
        newton: the current Hessian.
        last_step: [rad] largest change of the previous step; infinite before a trajectory's first step, and after one
            that did not converge.
        remaining: [rad] estimated remaining change after that step; infinite if unknown.
        slack: [rad] by which the last step violates its bounds.
    """

    step_prices: np.ndarray
    velocity_trust: np.ndarray
    active_bounds: np.ndarray | None = None
    newton: Newton | None = None
    last_step: float = np.inf
    remaining: float = np.inf
    slack: float = 0.0

    @staticmethod
    def initial(nv: int) -> SolverState:
        """At the beginning of a trajectory."""
        return SolverState(np.zeros(nv), np.ones(nv))
