"""Tracking sample by sample: a configuration that follows measurements as they arrive, rapetti2020 section 3."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np

from ..base.errors import InvalidValue
from ..base.so3 import nearest_rotation, skew, to_matrix, to_quaternion
from ..dynamics import difference
from ..skeleton.rig import Rig
from .initial_pose import find_initial_pose
from .inverse_kinematics import SLACK_TOLERANCE, InverseKinematics
from .joint_chains import ChainFit
from .newton import SolverState
from .options import TrackingOptions
from .tasks import TargetSample, Tasks

ROOT_QUATERNION = slice(3, 7)
"""Entries of q that hold the root's quaternion. By definition."""
MIN_POINTS = 4
"""Fewest seen points of a sample that can be tracked; otherwise the previous pose is kept and does not count."""
RESTART_ERROR = 0.12
"""[m] Frame RMSE above which the frame is tried again from an initial fit."""
RESTART_ERROR_RATIO = 0.8
"""A new start is used if its error is less than this fraction of the current error."""
RESTART_ANGLE_RATIO = 0.97
"""The same for the orientation error, most of which may be out of reach in every pose."""
RESTART_AFTER = (10, 40)
"""Frames with a large orientation error before a new start is tried, and before it is tried once more. A bad start is
visible soon; later the targets are out of reach, and another pose as good would only interrupt the motion."""
MAX_EXTRAPOLATION = 3.0
"""A velocity from the difference of two poses is extrapolated over at most this multiple of their interval."""
RESTART_INTERVAL = 10.0
"""[s] of samples between new starts with a time budget: a new start takes as long as some dozens of samples."""
LONGEST_PAUSE = 1.0
"""[s] Longest pause between new starts that do not help, as with exchanged labels. It is doubled each time."""
BAUMGARTE_GAIN = 1.0
"""rho dt of rapetti2020 (14)."""
ALTERNATIVE_SAMPLES = 40
"""Samples after which an alternative trajectory that is not better is given up."""


@dataclass(frozen=True, slots=True)
class TrackerStep:
    """Result of one sample.

    Attributes:
        q: (nq,) configuration after it.
        is_tracked: False if too little was measured and the previous pose was kept.
        converged: the last refinement changed less than the tolerance; True without refinement.
        restarted: the fit was lost and a new start was used.
        error: [m] root mean square distance of the measured points; NaN if not tracked.
        orientation_error: [rad] root mean square angle of the measured orientations, 2 sin(angle / 2) each; NaN
            likewise.
        v: (nv,) velocity: of the step to this pose, or from the measured velocities at the new pose.
        slack: by how much the step violates its limits: above 0 they contradict each other, infinite if the quadratic
            program did not converge.
        seconds: [s] of wall time for the sample.
    """

    q: np.ndarray
    is_tracked: bool
    converged: bool = True
    restarted: bool = False
    error: float = float("nan")
    orientation_error: float = float("nan")
    v: np.ndarray = field(default_factory=lambda: np.zeros(0))
    slack: float = 0.0
    seconds: float = 0.0

    @property
    def is_feasible(self) -> bool:
        """Whether the step keeps all its limits."""
        return self.slack <= SLACK_TOLERANCE


@dataclass(slots=True)
class AlternativeTrajectory:
    """A second trajectory beside one with large errors; a new start at once would take the time of many samples.

    Attributes:
        q: (nq,) where it is.
        v: (nv,) its velocity.
        state: of its steps.
        samples: number of samples that it has followed.
    """

    q: np.ndarray
    v: np.ndarray
    state: SolverState
    samples: int = 0

    def advance(
        self,
        solver: InverseKinematics,
        previous: TargetSample,
        sample: TargetSample,
        dt: float,
        deadline: float = np.inf,
    ) -> tuple[bool, float, float]:
        """Follows one sample: whether it converged, and its errors. The solver's own trajectory is unchanged.

        ``deadline`` is that of `InverseKinematics.refine`.
        """
        own, solver.state = solver.state, self.state
        q, converged = solver.refine(solver.correction(self.q, self.v * dt, previous, sample, dt), sample, dt, deadline)
        error, orientation_error = solver.errors(q, sample)
        if self.samples:
            self.v = difference(solver.rig, self.q, q) / dt
        self.q = q
        self.samples += 1
        solver.state = own
        return converged, error, orientation_error


class Tracker:
    """A rig that follows samples of its tasks, within its limits.

    A recording is a loop over `step`; a stream calls it for each sample. It stores the configuration and the previous
    sample alone, so memory and time per sample do not grow.
    """

    def __init__(self, rig: Rig, tasks: Tasks, options: TrackingOptions | None = None) -> None:
        """Prepares the tracker; the first sample poses the rig.

        Args:
            rig: any rig.
            tasks: points and links to follow.
            options: see `TrackingOptions`; use `TrackingOptions.one_pass()` for live data.
        """
        self.rig = rig
        self.tasks = tasks
        self.options = options or TrackingOptions()
        self.solver = InverseKinematics(rig, tasks, self.options)
        self.q: np.ndarray | None = None
        """(nq,) current configuration; None before the first usable sample."""
        self.v = np.zeros(rig.nv)
        """(nv,) [m/s, rad/s] its velocity, with which the next pose is predicted."""
        self._frames_off_target = 0
        self.drift = 0.0
        """Largest |R'R - 1| of the root with Baumgarte integration, 0 with the manifold's."""
        self._previous: TargetSample | None = None
        self._root: BaumgarteRoot | None = None
        self._started_at, self._deadline = 0.0, np.inf
        self._pose_interval = np.inf
        """[s] between the poses whose difference is the velocity; infinite if it was measured."""
        self._change: np.ndarray | None = None
        """(nv,) change of velocity at the previous sample; None if either pose did not converge."""
        self._is_steady = False
        """Whether that change was predicted by the one before it, better than no change."""
        self._since_start = np.inf
        """[s] of samples since a new start was tried."""
        self._pause = 0.0
        """[s] of samples to pass before the next new start."""
        self._alternative: AlternativeTrajectory | None = None
        fit = None if tasks.orientations is None else ChainFit(rig, tasks.orientations.links)
        self._chains = fit if fit is not None and len(fit) else None

    def is_usable(self, sample: TargetSample) -> bool:
        """Whether the sample shows enough to be tracked: `MIN_POINTS` points with a weight, or one orientation."""
        if sample.rotations is not None and len(sample.rotations) and np.isfinite(sample.rotations[0, 0, 0]):
            return True
        count = 0
        if self.tasks.positions is not None and sample.positions is not None:
            count += int(np.isfinite(sample.positions[self.tasks.positions.weights > 0.0, 0]).sum())
        if self.tasks.orientations is not None and sample.rotations is not None:
            count += MIN_POINTS * int(np.isfinite(sample.rotations[:, 0, 0]).sum())
        return count >= MIN_POINTS

    def start(self, sample: TargetSample, step: float, q: np.ndarray | None = None) -> TrackerStep:
        """Poses the rig by one sample alone, or from a given configuration (nq,).

        Raises:
            InvalidValue: the sample's shapes are not those of the tasks, or q has another length.
        """
        self.tasks.require(sample)
        self._start_clock()
        if q is None:
            q = find_initial_pose(self.rig, self.tasks, sample, self.options)
        elif np.shape(q) != (self.rig.nq,):
            raise InvalidValue(f"a start has shape {np.shape(q)}; rig {self.rig.name!r} needs ({self.rig.nq},)")
        self.q, converged = self._settle(np.asarray(q, float), sample, step)
        if self.options.integrator == "baumgarte":
            self._root = BaumgarteRoot(self.q[ROOT_QUATERNION])
        return self._finish_step(self.q, sample, step, converged=converged)

    def step(self, sample: TargetSample, dt: float, received_at: float | None = None) -> TrackerStep:
        """Tracks one sample that comes ``dt`` [s] after the one before; the first usable one starts the trajectory.

        Args:
            sample: measurements.
            dt: [s] after the one before.
            received_at: [s] of `time.perf_counter` when the time budget begins; None: now. A sample that has waited for
                longer than the budget is tracked by one step, to catch up.

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
            self.v, self._change = np.zeros(self.rig.nv), None
            return TrackerStep(self.rig.neutral if self.q is None else self.q, False, v=self.v)
        if self.q is None or self._previous is None:
            return self.start(sample, dt)
        following, converged = self._advance(self.q, self._previous, sample, dt)
        return self._finish_step(following, sample, dt, converged=converged)

    def _settle(self, q: np.ndarray, sample: TargetSample, step: float) -> tuple[np.ndarray, bool]:
        """The pose (nq,) that fits one sample alone, from a configuration nearby, and whether it converged."""
        settled = self.solver.refine(q, sample, step)
        self.solver.state.last_step = np.inf  # the next change is unknown
        return settled

    def _advance(
        self, q: np.ndarray, previous: TargetSample, sample: TargetSample, dt: float
    ) -> tuple[np.ndarray, bool]:
        solver = self.solver
        # two samples with nearly the same time stamp, as jitter causes, would give a useless velocity
        horizon = min(dt, MAX_EXTRAPOLATION * self._pose_interval)
        displacement = self.v * horizon
        if self._change is not None and self._is_steady:
            displacement += self._change * (0.5 * horizon * (horizon / self._pose_interval + 1.0))
        following = solver.correction(q, displacement, previous, sample, dt)
        if self._root is not None:
            following[ROOT_QUATERNION] = self._root.advance(difference(self.rig, q, following)[3:6])
            self.drift = max(self.drift, self._root.drift)
            solver.state.remaining = np.inf
        following, converged = solver.refine(following, sample, dt, self._deadline)
        if self._root is not None and self.options.iterations:
            self._root.restart(following[ROOT_QUATERNION])
        return following, converged

    def _start_clock(self, received_at: float | None = None) -> None:
        """Notes when the work on a sample begins, and when it has to end."""
        self._started_at = time.perf_counter()
        if self.options.time_budget is not None:
            self._deadline = (self._started_at if received_at is None else received_at) + self.options.time_budget

    def _finish_step(self, q: np.ndarray, sample: TargetSample, dt: float, *, converged: bool) -> TrackerStep:
        """Sets the new pose, or a better one if the fit was lost, and returns the result."""
        solver, slack = self.solver, self.solver.state.slack
        error, orientation_error = solver.errors(q, sample)
        found = self._try_restart(sample, dt, error, orientation_error) if self.q is not q else None
        restarted = found is not None
        if found is not None:
            q, converged, error, orientation_error = found
            if self._root is not None:
                self._root.restart(q[ROOT_QUATERNION])
        measured = sample.velocities is not None or sample.angular_velocities is not None
        before = self.v
        if measured:
            self.v = solver.velocity(q, sample, dt)
        elif restarted or self.q is q or self.q is None:
            self.v = np.zeros(self.rig.nv)
        else:
            self.v = difference(self.rig, self.q, q) / dt
        at_rest = converged and self.options.iterations > 0 and not (measured or restarted)
        change = self.v - before if at_rest and self._pose_interval < np.inf else None
        if change is not None and self._change is not None:
            difference_of_changes = change - self._change
            self._is_steady = bool(difference_of_changes @ difference_of_changes < change @ change)
        else:
            self._is_steady = False
        self._change = change
        self._pose_interval = np.inf if measured else dt
        self.q, self._previous = q, sample
        seconds = time.perf_counter() - self._started_at
        return TrackerStep(q, True, converged, restarted, error, orientation_error, self.v, slack, seconds)

    def _try_restart(
        self, sample: TargetSample, dt: float, error: float, orientation_error: float
    ) -> tuple[np.ndarray, bool, float, float] | None:
        """A new start's pose, convergence and errors, if the fit was lost and the new one is clearly better."""
        lost = error > RESTART_ERROR and self.options.iterations > 0
        suspect = False
        if orientation_error > self.options.restart_turn:
            self._frames_off_target += 1
            suspect = self._frames_off_target in RESTART_AFTER
        if lost or (suspect and self._chains is None):
            if self._since_start < (self._pause if self.options.time_budget is None else RESTART_INTERVAL):
                return None
            self._since_start = 0.0
            candidate = find_initial_pose(self.rig, self.tasks, sample, self.options)
            candidate, converged = self.solver.refine(candidate, sample, dt)
            new_error, new_orientation_error = self.solver.errors(candidate, sample)
            self._pause = min(2.0 * max(self._pause, dt), LONGEST_PAUSE) if new_error > RESTART_ERROR else 0.0
            return (
                (candidate, converged, new_error, new_orientation_error)
                if _is_better(new_error, new_orientation_error, error, orientation_error)
                else None
            )
        return self._try_alternative(sample, dt, error, orientation_error, restart=suspect)

    def _try_alternative(
        self, sample: TargetSample, dt: float, error: float, orientation_error: float, *, restart: bool
    ) -> tuple[np.ndarray, bool, float, float] | None:
        """The same for an alternative trajectory, which begins with each chain of joints fitted by itself."""
        if restart and self._chains is not None and self.q is not None and sample.rotations is not None:
            self._alternative = AlternativeTrajectory(
                self._chains.fit_pose(self.q, sample.rotations), np.zeros(self.rig.nv), SolverState.initial(self.rig.nv)
            )
            if not self.options.iterations:
                return None
        alternative = self._alternative
        if alternative is None or self._previous is None:
            return None
        converged, new_error, new_orientation_error = alternative.advance(
            self.solver, self._previous, sample, dt, self._deadline
        )
        better = _is_better(new_error, new_orientation_error, error, orientation_error)
        if better:
            self.solver.state = alternative.state
        if better or self.options.iterations or alternative.samples >= ALTERNATIVE_SAMPLES:
            self._alternative = None
        return (alternative.q, converged, new_error, new_orientation_error) if better else None


def _is_better(new_error: float, new_orientation_error: float, error: float, turn: float) -> bool:
    """Whether errors of a new start are clearly smaller than the current ones."""
    return new_error < RESTART_ERROR_RATIO * error or (
        new_orientation_error < RESTART_ANGLE_RATIO * turn and not new_error > error
    )


class BaumgarteRoot:
    """Root rotation as a matrix integrated with rapetti2020 (14)-(15), an alternative to the exact integration."""

    def __init__(self, quaternion: np.ndarray) -> None:
        self.restart(quaternion)

    def restart(self, quaternion: np.ndarray) -> None:
        """Takes the rotation of a quaternion xyzw (4,)."""
        self.matrix = to_matrix(quaternion)

    def advance(self, rotation_step: np.ndarray) -> np.ndarray:
        """Quaternion xyzw after the angular step ``turn`` (3,) [rad] in root axes.

        R' = R (S(w) + A), A = rho / 2 ((R'R)^-1 - 1), one explicit Euler step.
        """
        correction = 0.5 * BAUMGARTE_GAIN * (np.linalg.inv(self.matrix.T @ self.matrix) - np.eye(3))
        self.matrix = self.matrix + self.matrix @ (skew(rotation_step) + correction)
        return to_quaternion(nearest_rotation(self.matrix))

    @property
    def drift(self) -> float:
        """|R'R - 1|: distance of the matrix from a rotation."""
        return float(np.linalg.norm(self.matrix.T @ self.matrix - np.eye(3)))
