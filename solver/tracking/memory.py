"""What a step of inverse kinematics is given, and what a trajectory leaves from one frame to the next."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .newton import Newton


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
