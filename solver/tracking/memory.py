"""What a step of inverse kinematics is given, and what a trajectory leaves from one frame to the next."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .newton import Newton


@dataclass(frozen=True, slots=True)
class Stride:
    """One step on its way.

    Attributes:
        start: (nq,) where it sets out.
        there: (nq,) where the equations are linearised.
        going: (nv,) the change from start to there.
        step: [s] that it lasts.
    """

    start: np.ndarray
    there: np.ndarray
    going: np.ndarray
    step: float


@dataclass(slots=True)
class Memory:
    """What one trajectory leaves from frame to frame.

    Attributes:
        unreached: (nv,) prices of steps for what is out of reach.
        trust: (nv,) shares of its velocity with which each joint is expected to go on.
        held: which bounds hold, as `Pivoted.held`; None for none.
        held_rates: the same of the second solve, for velocities.
        newton: the Hessian in use.
        last: [rad] largest change of the step before; infinite before a trajectory's first, and where none was
            trustworthy.
        left: [rad] what that step left to go; infinite where nothing is known of it.
        bound_steps: steps in which a joint limit was active.
        slack: [rad] by which the last step passes its bounds.
    """

    unreached: np.ndarray
    trust: np.ndarray
    held: np.ndarray | None = None
    held_rates: np.ndarray | None = None
    newton: Newton | None = None
    last: float = np.inf
    left: float = np.inf
    bound_steps: int = 0
    slack: float = 0.0

    @staticmethod
    def of(freedoms: int) -> Memory:
        """Of a trajectory that begins."""
        return Memory(np.zeros(freedoms), np.ones(freedoms))
