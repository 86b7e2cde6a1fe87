"""A second trajectory beside one in doubt: to find a new start at once would take the time of many samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..dynamics import difference
from .inverse_kinematics import InverseKinematics
from .memory import SolverState
from .tasks import TargetSample

ALTERNATIVE_SAMPLES = 40
"""Samples after which a rival that is not better is given up."""


@dataclass(slots=True)
class AlternativeTrajectory:
    """A trajectory of its own, led by the same steps.

    Attributes:
        q: (nq,) where it is.
        v: (nv,) its velocity.
        state: what its steps leave.
        samples: that it has followed.
    """

    q: np.ndarray
    v: np.ndarray
    state: SolverState
    samples: int = 0

    @staticmethod
    def start_at(q: np.ndarray, nv: int) -> AlternativeTrajectory:
        """One that sets out at a configuration (nq,)."""
        return AlternativeTrajectory(q, np.zeros(nv), SolverState.initial(nv))

    def advance(
        self,
        solver: InverseKinematics,
        previous: TargetSample,
        sample: TargetSample,
        dt: float,
        deadline: float = np.inf,
    ) -> tuple[bool, float, float]:
        """Go one sample on: whether it converged, and its errors there. The solver's own trajectory is left alone.

        ``until`` is that of `InverseKinematics.refine`.
        """
        own, solver.state = solver.state, self.state
        there = solver.correction(self.q, self.v * dt, previous, sample, dt)
        q, converged = solver.refine(there, sample, dt, deadline)
        found, turned = solver.errors(q, sample)
        if self.samples:
            self.v = difference(solver.rig, self.q, q) / dt
        self.q = q
        self.samples += 1
        solver.state = own
        return converged, found, turned
