"""Tracking sample by sample: one configuration that follows measurements as they come, rapetti2020 section 3."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..dynamics import integrate
from ..errors import InvalidValue
from ..rig import Rig
from .baumgarte import BaumgarteRoot
from .dynamical import InverseKinematics
from .options import TrackingOptions
from .start import robust_start
from .tasks import TargetSample, Tasks

ROTATION = slice(3, 7)
"""Entries of q that hold the root's quaternion."""
FEWEST_POINTS = 4
"""A sample with fewer seen points cannot be tracked; the pose of its predecessor is held and does not count."""
RESTART_GAIN = 0.8
"""A new start is taken where it leaves less than this share of the error."""


@dataclass(frozen=True, slots=True)
class TrackerStep:
    """What one sample did.

    Attributes:
        q: (nq,) configuration after it.
        tracked: False where too little was measured and the pose was held.
        converged: the last refinement changed less than the tolerance; True where none was asked for.
        bounded: a joint limit was active.
        restarted: the fit had been lost and a new start was taken.
        error: [m] root mean square distance of the measured points; NaN where the pose was held.
    """

    q: np.ndarray
    tracked: bool
    converged: bool = True
    bounded: bool = False
    restarted: bool = False
    error: float = float("nan")


class Tracker:
    """A rig that follows samples of its tasks, within its limits.

    A recording is a loop over `step`; a stream calls it as samples come. It keeps the configuration and the sample
    before, nothing else, so memory and time per sample do not grow.
    """

    def __init__(self, rig: Rig, tasks: Tasks, options: TrackingOptions | None = None) -> None:
        """Prepare; nothing is posed before the first sample.

        Args:
            rig: any rig.
            tasks: what is followed.
            options: see `TrackingOptions`; `TrackingOptions.one_pass()` is meant for live data.
        """
        self.rig = rig
        self.tasks = tasks
        self.options = options or TrackingOptions()
        self.solver = InverseKinematics(rig, tasks, self.options)
        self.q: np.ndarray | None = None
        """(nq,) where the rig is; None before the first sample that shows enough."""
        self.drift = 0.0
        """Largest |R'R - 1| of the root with Baumgarte integration, 0 with the manifold's."""
        self._previous: TargetSample | None = None
        self._root: BaumgarteRoot | None = None

    def usable(self, sample: TargetSample) -> bool:
        """Does the sample show enough to be tracked: `FEWEST_POINTS` weighing points, or one orientation."""
        count = 0
        if self.tasks.positions is not None and sample.positions is not None:
            count += int(np.isfinite(sample.positions[self.tasks.positions.weights > 0.0, 0]).sum())
        if self.tasks.orientations is not None and sample.rotations is not None:
            count += FEWEST_POINTS * int(np.isfinite(sample.rotations[:, 0, 0]).sum())
        return count >= FEWEST_POINTS

    def start(self, sample: TargetSample, step: float, q: np.ndarray | None = None) -> TrackerStep:
        """Pose the rig by one sample alone, or from a given configuration (nq,).

        Raises:
            InvalidValue: the sample's shapes are not those of the tasks, or q has another length.
        """
        self.tasks.require(sample)
        if q is None:
            q = robust_start(self.rig, self.tasks, sample, self.options)
        elif np.shape(q) != (self.rig.model.nq,):
            raise InvalidValue(
                f"a start has shape {np.shape(q)}; rig {self.rig.name!r} asks for ({self.rig.model.nq},)"
            )
        before = self.solver.bound_steps
        self.q, converged = self.solver.refined(np.asarray(q, float), sample, step)
        if self.options.integrator == "baumgarte":
            self._root = BaumgarteRoot(self.q[ROTATION], self.options.baumgarte_gain)
        self._previous = sample
        bounded = self.solver.bound_steps > before
        return TrackerStep(self.q, True, converged, bounded, error=self.solver.error(self.q, sample))

    def step(self, sample: TargetSample, dt: float) -> TrackerStep:
        """Follow one sample that comes ``dt`` [s] after the one before; the first one that shows enough starts.

        Raises:
            InvalidValue: the sample's shapes are not those of the tasks, or time does not advance.
        """
        self.tasks.require(sample)
        if not dt > 0.0:
            raise InvalidValue(f"a sample must come after the one before; dt is {dt:g} s")
        if not self.usable(sample):
            self._previous = sample
            return TrackerStep(self.rig.neutral if self.q is None else self.q, False)
        if self.q is None or self._previous is None:
            return self.start(sample, dt)
        before = self.solver.bound_steps
        q, converged = self._advanced(self.q, self._previous, sample, dt)
        error = self.solver.error(q, sample)
        restarted = False
        if self.options.iterations and error > self.options.restart_error:
            again = robust_start(self.rig, self.tasks, sample, self.options)
            again, settled = self.solver.refined(again, sample, dt)
            found = self.solver.error(again, sample)
            if found < RESTART_GAIN * error:
                q, converged, error, restarted = again, settled, found, True
                if self._root is not None:
                    self._root.restart(q[ROTATION])
        self.q, self._previous = q, sample
        return TrackerStep(q, True, converged, self.solver.bound_steps > before, restarted, error)

    def _advanced(
        self, q: np.ndarray, previous: TargetSample, sample: TargetSample, dt: float
    ) -> tuple[np.ndarray, bool]:
        change = self.solver.correction(q, previous, sample, dt)
        following = integrate(self.rig, q, change)
        if self._root is not None:
            following[ROTATION] = self._root.advance(change[3:6])
            self.drift = max(self.drift, self._root.drift)
        following, converged = self.solver.refined(following, sample, dt)
        if self._root is not None and self.options.iterations:
            self._root.restart(following[ROTATION])
        return following, converged
