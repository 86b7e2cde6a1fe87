"""An exact Hessian, factorised with what is held at its bounds: Newton's steps between bounds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from ..errors import BackendError
from ..qp.principal_pivoting import ActiveBounds, Box

LOCK_STIFFNESS = 1e8
"""Price of leaving a bound, beside the largest weight: what is held gives by a hundred millionth of its force."""


class IndefiniteHessian(BackendError):
    """The Hessian has no minimum when what was held lets go."""


@dataclass(slots=True)
class Newton:
    """A Hessian (nv, nv) and its Cholesky factor.

    Attributes:
        matrix: the Hessian, positive definite where what is held cannot move.
        attempts: how many times a coordinate may be stiffened until it is, whenever what is held changes.
        stiffness: what coordinates along which it bends down are stiffened by.
        stiffened: which those are.
        gradient: (nv,) minus the cost's, the posture's left out, where the Hessian was made; None once it was used.
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
        """Of a Hessian, of which at most ``attempts`` coordinates are stiffened; None where it stays indefinite.

        Against a limit, or far from its target, a coordinate's cost may bend down: it is held there more stiffly, where
        it is not ``held`` (nv,) at its bound anyway.
        """
        newton = Newton(matrix, attempts, stiffness, [], b"", matrix)
        return (
            newton
            if newton._factorise(np.zeros(0, int) if active_bounds is None else active_bounds.nonzero()[0])
            else None
        )

    def is_exact(self, active_bounds: np.ndarray | None) -> bool:
        """Whether a step is Newton's own: what was stiffened was held at its bound anyway, where ``held`` is not 0."""
        return not self.stiffened or (active_bounds is not None and bool(active_bounds[self.stiffened].all()))

    def solve(self, gradient: np.ndarray) -> np.ndarray:
        """Step (nv,) without bounds.

        Raises:
            Indefinite: there is none.
        """
        return self._solve_fixed(gradient, np.zeros(0, int))

    def solve_within(self, gradient: np.ndarray, box: Box) -> ActiveBounds:
        """Minima of H's program with some variables at their bounds, see `pivoted`, for a ``gradient`` (nv,).

        To be held is to be priced so highly that nothing else counts; what is left of the way to the bound tells the
        force.

        Raises:
            Indefinite: by what is returned, where it has none.
        """
        lock = LOCK_STIFFNESS * self.stiffness

        def at(held: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            forces = np.zeros(len(held))
            places = held.nonzero()[0]
            if not len(places):
                return self._solve_fixed(gradient, places), forces
            bounds = np.where(held[places] > 0, box.high[places], box.low[places])
            pushed = gradient.copy()
            pushed[places] += lock * bounds
            x = self._solve_fixed(pushed, places)
            forces[places] = lock * (x[places] - bounds)
            x[places] = bounds
            return x, forces

        return at

    def _solve_fixed(self, gradient: np.ndarray, indices: np.ndarray) -> np.ndarray:
        if not (indices.tobytes() == self._fixed or self._factorise(indices)):
            raise IndefiniteHessian("tracking: a step has no minimum")
        return np.asarray(dpotrs(self._factor, gradient, lower=1)[0])

    def _factorise(self, indices: np.ndarray) -> bool:
        """Factorise with some coordinates held; whether that was possible."""
        locked = self.matrix.copy()
        locked[indices, indices] += LOCK_STIFFNESS * self.stiffness
        for _ in range(self.attempts + 1):
            self._factor, failed = dpotrf(locked.T, lower=1, clean=0)  # columns first, as LAPACK has it
            if not failed:
                self._fixed = indices.tobytes()
                return True
            self.stiffened.append(failed - 1)
            for matrix in (self.matrix, locked):
                matrix[failed - 1, failed - 1] += self.stiffness
        return False


@dataclass(frozen=True, slots=True)
class Linearisation:
    """One step on its way.

    Attributes:
        start: (nq,) where it sets out.
        point: (nq,) where the equations are linearised.
        displacement: (nv,) the change from start to there.
        step: [s] that it lasts.
    """

    start: np.ndarray
    point: np.ndarray
    displacement: np.ndarray
    step: float


@dataclass(slots=True)
class SolverState:
    """What one trajectory leaves from frame to frame.

    Attributes:
        step_prices: (nv,) prices of steps for what is out of reach.
        velocity_trust: (nv,) shares of its velocity with which each joint is expected to go on.
        active_bounds: which bounds hold, as `Pivoted.active`; None for none.
        active_velocity_bounds: the same of the second solve, for velocities.
        newton: the Hessian in use.
        last_step: [rad] largest change of the step before; infinite before a trajectory's first, and where none was
            trustworthy.
        remaining: [rad] what that step left to go; infinite where nothing is known of it.
        bound_steps: steps in which a joint limit was active.
        slack: [rad] by which the last step passes its bounds.
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
        """Of a trajectory that begins."""
        return SolverState(np.zeros(nv), np.ones(nv))
