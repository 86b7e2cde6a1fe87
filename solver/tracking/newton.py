"""Newton's steps of inverse kinematics: the factorised exact Hessian, and the solver's state between frames."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from ..errors import BackendError
from ..qp.principal_pivoting import ActiveBounds, Box

LOCK_STIFFNESS = 1e8
"""Stiffness at an active bound over the largest weight: the bound is violated by 1e-8 of its force."""


class IndefiniteHessian(BackendError):
    """The Hessian has no minimum after a bound is released."""


@dataclass(slots=True)
class Newton:
    """A Hessian (nv, nv) and its Cholesky factor.

    Attributes:
        matrix: the Hessian, positive definite in the coordinates that are not at bounds.
        attempts: largest number of coordinates that are stiffened to make it so, for each set of active bounds.
        stiffness: by which coordinates of negative curvature are stiffened.
        stiffened: indices of those coordinates.
        gradient: (nv,) minus the cost's gradient, without the posture's, where the Hessian was computed; None after
            use.
    """

    matrix: np.ndarray
    attempts: int
    stiffness: float
    stiffened: list[int]
    _fixed: bytes
    _factor: np.ndarray
    gradient: np.ndarray | None = None

    @staticmethod
    def from_hessian(
        matrix: np.ndarray, attempts: int, stiffness: float, active_bounds: np.ndarray | None = None
    ) -> Newton | None:
        """Factorises a Hessian with at most ``attempts`` stiffened coordinates; None if it stays indefinite.

        At a limit, or far from its target, a coordinate's cost may have negative curvature. It is then stiffened,
        unless it is at its bound anyway (``active_bounds`` (nv,) not 0).
        """
        newton = Newton(matrix, attempts, stiffness, [], b"", matrix)
        return (
            newton
            if newton._factorise(np.zeros(0, int) if active_bounds is None else active_bounds.nonzero()[0])
            else None
        )

    def is_exact(self, active_bounds: np.ndarray | None) -> bool:
        """Whether a step is Newton's own: every stiffened coordinate is at its bound, where ``active_bounds`` is
        not 0.
        """
        return not self.stiffened or (active_bounds is not None and bool(active_bounds[self.stiffened].all()))

    def solve(self, gradient: np.ndarray) -> np.ndarray:
        """Step (nv,) without bounds.

        Raises:
            IndefiniteHessian: there is no minimum.
        """
        return self._solve_fixed(gradient, np.zeros(0, int))

    def solve_within(self, gradient: np.ndarray, box: Box) -> ActiveBounds:
        """Solver of H's quadratic program with some variables at their bounds, for a ``gradient`` (nv,).

        Variables at bounds get a very large stiffness; the remaining distance to the bound gives the force.

        Raises:
            IndefiniteHessian: raised by the returned function if there is no minimum.
        """
        lock = LOCK_STIFFNESS * self.stiffness

        def at(active: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            forces = np.zeros(len(active))
            indices = active.nonzero()[0]
            if not len(indices):
                return self._solve_fixed(gradient, indices), forces
            bounds = np.where(active[indices] > 0, box.high[indices], box.low[indices])
            loaded = gradient.copy()
            loaded[indices] += lock * bounds
            x = self._solve_fixed(loaded, indices)
            forces[indices] = lock * (x[indices] - bounds)
            x[indices] = bounds
            return x, forces

        return at

    def _solve_fixed(self, gradient: np.ndarray, indices: np.ndarray) -> np.ndarray:
        if not (indices.tobytes() == self._fixed or self._factorise(indices)):
            raise IndefiniteHessian("tracking: a step has no minimum")
        return np.asarray(dpotrs(self._factor, gradient, lower=1)[0])

    def _factorise(self, indices: np.ndarray) -> bool:
        """Factorises with some coordinates fixed; whether it succeeded."""
        locked = self.matrix.copy()
        locked[indices, indices] += LOCK_STIFFNESS * self.stiffness
        for _ in range(self.attempts + 1):
            self._factor, failed = dpotrf(locked.T, lower=1, clean=0)  # column-major, for LAPACK
            if not failed:
                self._fixed = indices.tobytes()
                return True
            self.stiffened.append(failed - 1)
            for matrix in (self.matrix, locked):
                matrix[failed - 1, failed - 1] += self.stiffness
        return False


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
        active_bounds: as `BoxSolution.active_bounds`; None for none.
        active_velocity_bounds: the same of the second solution, for velocities.
        newton: the current Hessian.
        last_step: [rad] largest change of the previous step; infinite before a trajectory's first step, and after one
            that did not converge.
        remaining: [rad] estimated remaining change after that step; infinite if unknown.
        bound_steps: number of steps in which a joint limit was active.
        slack: [rad] by which the last step violates its bounds.
    """

    step_prices: np.ndarray
    velocity_trust: np.ndarray
    active_bounds: np.ndarray | None = None
    active_velocity_bounds: np.ndarray | None = None
    newton: Newton | None = None
    last_step: float = np.inf
    remaining: float = np.inf
    bound_steps: int = 0
    slack: float = 0.0

    @staticmethod
    def initial(nv: int) -> SolverState:
        """At the beginning of a trajectory."""
        return SolverState(np.zeros(nv), np.ones(nv))
