"""Tracking sample by sample: one configuration that follows measurements as they come, rapetti2020 section 3."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np

from ..dynamics import difference
from ..errors import InvalidValue
from ..rig import Rig
from .baumgarte import BaumgarteRoot
from .initial_pose import find_initial_pose
from .inverse_kinematics import SLACK_TOLERANCE, InverseKinematics
from .joint_chains import ChainFit
from .newton import SolverState
from .options import TrackingOptions
from .tasks import TargetSample, Tasks

ROOT_QUATERNION = slice(3, 7)
"""Entries of q that hold the root's quaternion."""
MIN_POINTS = 4
"""A sample with fewer seen points cannot be tracked; the pose of its predecessor is held and does not count."""
RESTART_ANGLE_RATIO = 0.97
"""The same of the orientations' error, of which most may be out of reach however the fit is."""
RESTART_AFTER = (10, 40)
"""Frames whose orientations stay far from their targets before a new start is tried, and tried once more: a bad start
shows soon, and later they are out of reach, where another pose as good would only cut the motion."""
RESTART_ERROR_RATIO = 0.8
"""A new start is taken where it leaves less than this share of the error."""
MAX_EXTRAPOLATION = 3.0
"""A velocity read off two poses is believed for so many times the time between them."""
RESTART_INTERVAL = 10.0
"""[s] of samples between new starts where each has a time budget: one takes as long as some dozens of them."""
ALTERNATIVE_SAMPLES = 40
"""Samples after which a rival that is not better is given up."""


@dataclass(frozen=True, slots=True)
class TrackerStep:
    """What one sample did.

    Attributes:
        q: (nq,) configuration after it.
        is_tracked: False where too little was measured and the pose was held.
        converged: the last refinement changed less than the tolerance; True where none was asked for.
        at_limit: a joint limit was active.
        restarted: the fit had been lost and a new start was taken.
        error: [m] root mean square distance of the measured points; NaN where the pose was held.
        orientation_error: [rad] root mean square angle of the measured orientations, 2 sin(angle / 2) each; NaN
            likewise.
        v: (nv,) velocity: of the step that led here, or by the measured velocities at the new pose.
        slack: by how much the step passes the limits on it: above 0 they contradict each other, infinite where the
            quadratic program did not end.
        seconds: [s] of wall time that the sample took.
    """

    q: np.ndarray
    is_tracked: bool
    converged: bool = True
    at_limit: bool = False
    restarted: bool = False
    error: float = float("nan")
    orientation_error: float = float("nan")
    v: np.ndarray = field(default_factory=lambda: np.zeros(0))
    slack: float = 0.0
    seconds: float = 0.0

    @property
    def is_feasible(self) -> bool:
        """Whether the step keeps every limit on it."""
        return self.slack <= SLACK_TOLERANCE


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
        self.v = np.zeros(rig.model.nv)
        """(nv,) [m/s, rad/s] its velocity, with which it is expected to go on."""
        self._frames_off_target = 0
        self.drift = 0.0
        """Largest |R'R - 1| of the root with Baumgarte integration, 0 with the manifold's."""
        self._previous: TargetSample | None = None
        self._root: BaumgarteRoot | None = None
        self._started_at, self._deadline = 0.0, np.inf
        self._pose_interval = np.inf
        """[s] between the poses that the velocity was read off; infinite where it was measured."""
        self._change: np.ndarray | None = None
        """(nv,) by which the velocity changed at the sample before; None where one of both was not of poses at rest."""
        self._is_steady = False
        """Whether that change had been foretold by the one before it, better than no change."""
        self._since_start = np.inf
        """[s] of samples since a new start was tried."""
        self._alternative: AlternativeTrajectory | None = None
        fit = None if tasks.orientations is None else ChainFit(rig, tasks.orientations.links)
        self._chains = fit if fit is not None and len(fit) else None

    def is_usable(self, sample: TargetSample) -> bool:
        """Does the sample show enough to be tracked: `MIN_POINTS` weighing points, or one orientation."""
        if sample.rotations is not None and len(sample.rotations) and np.isfinite(sample.rotations[0, 0, 0]):
            return True
        count = 0
        if self.tasks.positions is not None and sample.positions is not None:
            count += int(np.isfinite(sample.positions[self.tasks.positions.weights > 0.0, 0]).sum())
        if self.tasks.orientations is not None and sample.rotations is not None:
            count += MIN_POINTS * int(np.isfinite(sample.rotations[:, 0, 0]).sum())
        return count >= MIN_POINTS

    def start(self, sample: TargetSample, step: float, q: np.ndarray | None = None) -> TrackerStep:
        """Pose the rig by one sample alone, or from a given configuration (nq,).

        Raises:
            InvalidValue: the sample's shapes are not those of the tasks, or q has another length.
        """
        self.tasks.require(sample)
        self._start_clock()
        if q is None:
            q = find_initial_pose(self.rig, self.tasks, sample, self.options)
        elif np.shape(q) != (self.rig.model.nq,):
            raise InvalidValue(
                f"a start has shape {np.shape(q)}; rig {self.rig.name!r} asks for ({self.rig.model.nq},)"
            )
        before = self.solver.state.bound_steps
        start = np.asarray(q, float)
        self.q, converged = self._settle(start, sample, step)
        if self.options.integrator == "baumgarte":
            self._root = BaumgarteRoot(self.q[ROOT_QUATERNION], self.options.baumgarte_gain)
        return self._finish_step(self.q, sample, step, before, converged=converged)

    def step(self, sample: TargetSample, dt: float, received_at: float | None = None) -> TrackerStep:
        """Follow one sample that comes ``dt`` [s] after the one before; the first one that shows enough starts.

        Args:
            sample: to follow.
            dt: [s] after the one before.
            received_at: [s] of `time.perf_counter` when the time budget begins; None: now. A sample that has waited
                for longer than the budget is followed by one step, so that what is late catches up.

        Raises:
            InvalidValue: the sample's shapes are not those of the tasks, or time does not advance.
        """
        self.tasks.require(sample)
        if not dt > 0.0:
            raise InvalidValue(f"a sample must come after the one before; dt is {dt:g} s")
        self._start_clock(received_at)
        self._since_start += dt
        if not self.is_usable(sample):
            self._previous = sample
            self.v, self._change = np.zeros(self.rig.model.nv), None
            return TrackerStep(self.rig.neutral if self.q is None else self.q, False, v=self.v)
        if self.q is None or self._previous is None:
            return self.start(sample, dt)
        before = self.solver.state.bound_steps
        following, converged = self._advance(self.q, self._previous, sample, dt)
        return self._finish_step(following, sample, dt, before, converged=converged)

    def _settle(self, q: np.ndarray, sample: TargetSample, step: float) -> tuple[np.ndarray, bool]:
        """The pose (nq,) that fits one sample alone, from a configuration nearby, and whether it converged."""
        settled = self.solver.refine(q, sample, step)
        self.solver.state.last_step = np.inf  # the next change is unknown
        return settled

    def _advance(
        self, q: np.ndarray, previous: TargetSample, sample: TargetSample, dt: float
    ) -> tuple[np.ndarray, bool]:
        solver = self.solver
        # or two samples with nearly one time stamp, as jitter makes them, would throw the body away at the next
        ahead = min(dt, MAX_EXTRAPOLATION * self._pose_interval)
        going = self.v * ahead
        if self._change is not None and self._is_steady:
            going += self._change * (0.5 * ahead * (ahead / self._pose_interval + 1.0))
        following = solver.correction(q, going, previous, sample, dt)
        if self._root is not None:
            following[ROOT_QUATERNION] = self._root.advance(difference(self.rig, q, following)[3:6])
            self.drift = max(self.drift, self._root.drift)
            solver.state.remaining = np.inf
        following, converged = solver.refine(following, sample, dt, self._deadline)
        if self._root is not None and self.options.iterations:
            self._root.restart(following[ROOT_QUATERNION])
        return following, converged

    def _start_clock(self, received_at: float | None = None) -> None:
        """Note when the work on a sample begins, and when it has to end."""
        self._started_at = time.perf_counter()
        if self.options.time_budget is not None:
            self._deadline = (self._started_at if received_at is None else received_at) + self.options.time_budget

    def _finish_step(
        self, q: np.ndarray, sample: TargetSample, dt: float, bound_steps: int, *, converged: bool
    ) -> TrackerStep:
        """Take a new pose, or a better one where the fit was lost, and tell of it."""
        solver, slack = self.solver, self.solver.state.slack
        error, turn = solver.errors(q, sample)
        bounded = solver.state.bound_steps > bound_steps
        found = self._try_restart(sample, dt, error, turn) if self.q is not q else None
        restarted = found is not None
        if found is not None:
            q, converged, error, turn = found
            if self._root is not None:
                self._root.restart(q[ROOT_QUATERNION])
        measured = sample.velocities is not None or sample.angular_velocities is not None
        before = self.v
        if measured:
            self.v = solver.velocity(q, sample, dt)
        elif restarted or self.q is q or self.q is None:
            self.v = np.zeros(self.rig.model.nv)
        else:
            self.v = difference(self.rig, self.q, q) / dt
        settled = converged and self.options.iterations > 0 and not (measured or restarted)
        change = self.v - before if settled and self._pose_interval < np.inf else None
        if change is not None and self._change is not None:
            foretold = change - self._change
            self._is_steady = bool(foretold @ foretold < change @ change)
        else:
            self._is_steady = False
        self._change = change
        self._pose_interval = np.inf if measured else dt
        self.q, self._previous = q, sample
        seconds = time.perf_counter() - self._started_at
        return TrackerStep(q, True, converged, bounded, restarted, error, turn, self.v, slack, seconds)

    def _try_restart(
        self, sample: TargetSample, dt: float, error: float, orientation_error: float
    ) -> tuple[np.ndarray, bool, float, float] | None:
        """A new start's pose, convergence and errors where the fit was lost and the new one is clearly better."""
        lost = error > self.options.restart_error and self.options.iterations > 0
        doubted = False
        if orientation_error > self.options.restart_turn:
            self._frames_off_target += 1
            doubted = self._frames_off_target in RESTART_AFTER
        if lost or (doubted and self._chains is None):
            if self.options.time_budget is not None and self._since_start < RESTART_INTERVAL:
                return None
            self._since_start = 0.0
            again = find_initial_pose(self.rig, self.tasks, sample, self.options)
            again, settled = self.solver.refine(again, sample, dt)
            found, turned = self.solver.errors(again, sample)
            return (again, settled, found, turned) if _is_better(found, turned, error, orientation_error) else None
        return self._try_alternative(sample, dt, error, orientation_error, restart=doubted)

    def _try_alternative(
        self, sample: TargetSample, dt: float, error: float, orientation_error: float, *, restart: bool
    ) -> tuple[np.ndarray, bool, float, float] | None:
        """The same of a trajectory beside this one, which sets out where each chain of joints fits by itself."""
        if restart and self._chains is not None and self.q is not None and sample.rotations is not None:
            self._alternative = AlternativeTrajectory.start_at(
                self._chains.fit_pose(self.q, sample.rotations), self.rig.model.nv
            )
            if not self.options.iterations:
                return None
        rival = self._alternative
        if rival is None or self._previous is None:
            return None
        settled, found, turned = rival.advance(self.solver, self._previous, sample, dt, self._deadline)
        better = _is_better(found, turned, error, orientation_error)
        if better:
            rival.state.bound_steps = self.solver.state.bound_steps
            self.solver.state = rival.state
        if better or self.options.iterations or rival.samples >= ALTERNATIVE_SAMPLES:
            self._alternative = None
        return (rival.q, settled, found, turned) if better else None


def _is_better(found: float, turned: float, error: float, turn: float) -> bool:
    """Whether errors of a new start are clearly smaller than those there are."""
    return found < RESTART_ERROR_RATIO * error or (turned < RESTART_ANGLE_RATIO * turn and not found > error)
