"""A second trajectory beside one in doubt: to find a new start at once would take the time of many samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..dynamics import difference
from .dynamical import InverseKinematics
from .memory import Memory
from .tasks import TargetSample

TRIAL = 40
"""Samples after which a rival that is not better is given up."""


@dataclass(slots=True)
class Rival:
    """A trajectory of its own, led by the same steps.

    Attributes:
        q: (nq,) where it is.
        v: (nv,) its velocity.
        memory: what its steps leave.
        samples: that it has followed.
    """

    q: np.ndarray
    v: np.ndarray
    memory: Memory
    samples: int = 0

    @staticmethod
    def at(q: np.ndarray, freedoms: int) -> Rival:
        """One that sets out at a configuration (nq,)."""
        return Rival(q, np.zeros(freedoms), Memory.of(freedoms))

    def follow(
        self, solver: InverseKinematics, previous: TargetSample, sample: TargetSample, dt: float, until: float = np.inf
    ) -> tuple[bool, float, float]:
        """Go one sample on: whether it converged, and its errors there. The solver's own trajectory is left alone.

        ``until`` is that of `InverseKinematics.refined`.
        """
        own, solver.memory = solver.memory, self.memory
        there = solver.correction(self.q, self.v * dt, previous, sample, dt)
        q, converged = solver.refined(there, sample, dt, until)
        found, turned = solver.errors(q, sample)
        if self.samples:
            self.v = difference(solver.rig, self.q, q) / dt
        self.q = q
        self.samples += 1
        solver.memory = own
        return converged, found, turned
