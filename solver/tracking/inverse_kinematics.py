"""Dynamical inverse kinematics (rapetti2020 section 3): velocity correction, constrained inversion, integration."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from ..base.errors import BackendError
from ..base.so3 import vee
from ..dynamics import integrate
from ..qp.bounded import bounded_solver
from ..skeleton.rig import Rig
from .joint_limits import DEFAULT_SPEED, JointLimits
from .kinematics import Kinematics
from .newton import Linearisation, Newton, SolverState
from .options import DEAD_BEAT_GAIN, TrackingOptions
from .posture import Posture
from .task_rows import TaskRows
from .tasks import TargetSample, Tasks

MAX_ANGULAR_STEP = 0.6
"""[rad] Largest change of an angle in one step."""
DAMPING_FACTORS = (1e-3, 1e-2, 1e-1, 1.0)
"""Damping, as factors on the largest weight, tried in turn if a step is too long near a singularity."""
FEASIBLE = 1e-9
"""[rad] Violation within which a bound counts as satisfied."""
SLACK_TOLERANCE = 1e-6
"""[rad] By which a bound may be violated before a step counts as infeasible."""
HALF_VELOCITY_ERROR = 0.02
"""[rad^2] Squared angles out of reach at which a joint is predicted with half of its velocity: steps towards targets
out of reach fall short or overshoot, and a prediction from them would oscillate."""
MIN_POINTS_FOR_EXACT = 4
"""Fewest points for which the second-order term is computed."""
MIN_ANGLE_FOR_EXACT = 0.1
"""[rad] Smallest angle between an orientation and its target for which it is computed."""
MAX_STIFFENED = 6
"""Coordinates that may be stiffened before a Hessian counts as indefinite."""
STIFFEN_BELOW = 0.2
"""[rad] Largest change of the previous step after which an indefinite Hessian is stiffened. After longer steps it leads
to wrong poses, as in recordings of few frames a second; then a Gauss-Newton step is taken."""
CURVATURE_RATIO = 10.0
"""[1/rad] The error after a Newton step over the square of its length: the ratio of third to second derivatives."""
REUSE_RATIO = 0.02
"""A Hessian is used again if the next step is expected to be smaller than this fraction of the last one."""


class InverseKinematics:
    """Tasks on a rig, and the steps that bring it from a configuration to a sample of measurements.

    It stores no configuration: `Tracker` does.
    """

    def __init__(self, rig: Rig, tasks: Tasks, options: TrackingOptions) -> None:
        self.rig = rig
        self.kinematics = Kinematics(rig)
        self.posture = Posture(rig)
        self.limits = JointLimits(rig, DEFAULT_SPEED, options.coupled_limits, options.limit_gain)
        self.options = options
        self.tasks = tasks
        self.points = tasks.positions
        self.orientations = tasks.orientations
        self.rows = TaskRows(self.kinematics, tasks, options.huber_distance, angles=options.squared_angles)
        self._prices = options.posture_weight * self.posture.diagonal + options.damping
        self.kinematics.set_regularisation(self._prices)
        self._no_motion, self._full_trust = np.zeros(rig.nv), np.ones(rig.nv)
        self._solve_program = bounded_solver(options.backend)
        self._second_order = self.points is not None and len(self.points.names) >= MIN_POINTS_FOR_EXACT
        self._joints_between = _joints_between(
            self.kinematics, () if self.orientations is None else self.orientations.links
        )
        self._state = SolverState.initial(rig.nv)

    @property
    def state(self) -> SolverState:
        """State of the trajectory whose steps are computed; several trajectories may take turns."""
        return self._state

    @state.setter
    def state(self, other: SolverState) -> None:
        self._state = other
        self.kinematics.set_regularisation(self._prices + other.step_prices)

    def position_residuals(self, sample: TargetSample) -> np.ndarray:
        """Measured minus modelled positions (P, 3) [m] at the current pose; NaN where not measured."""
        assert self.points is not None
        return sample.positions - self.kinematics.points(self.points.links, self.points.offsets)

    def rotation_residuals(self, sample: TargetSample) -> np.ndarray:
        """sk(R h') as vectors in inertial axes (O, 3): rapetti2020 (5) in the axes of the Jacobian."""
        assert self.orientations is not None
        assert sample.rotations is not None
        return rotation_error(self.kinematics.rotations[self.orientations.links], sample.rotations)

    def correction(
        self, q: np.ndarray, displacement: np.ndarray, previous: TargetSample, sample: TargetSample, step: float
    ) -> np.ndarray:
        """Configuration (nq,) after one step from ``q`` at the previous sample, ``step`` [s] before: (9), (10).

        (9) sets v* = v + K r. Over the step, the fraction K dt of the innovation is removed. The innovation is the
        difference between the new sample and the old pose moved on with the measured velocities, averaged over the
        step; without measured velocities, the targets' own displacement replaces them and the same fraction of the old
        error is removed. (Printed (9) adds velocity and residual at the new targets, which counts one step of motion
        twice.) The equations are linearised at the predicted pose, ``q`` moved by ``displacement`` (nv,), so the error
        of the step is of second order in the acceleration, not in the velocity. Joints that move targets out of reach
        are predicted to slow down.
        """
        state = self._state
        state.newton, state.remaining = None, np.inf
        refines = self.options.iterations > 0 and state.last_step < np.inf
        if refines:  # converged poses do not oscillate
            state.velocity_trust = self._full_trust
        displacement = state.velocity_trust * displacement
        point = integrate(self.rig, q, displacement)
        remaining = self.rows.remaining_innovation(q, previous, sample, step, self.options.gain)
        self.kinematics.update_poses(point)
        self.rows.set_residuals(sample, remaining=remaining)
        linearisation = Linearisation(q, point, displacement, step)
        if refines and remaining is None and self.options.gain == DEAD_BEAT_GAIN:
            # this is the first of the refining steps, which would only have to undo the effect of step prices
            self._reset_step_prices()
            state.newton = self._build_newton(point)
            if state.newton is not None:
                change = self._solve_step(linearisation)
                state.last_step = float(np.abs(change).max())
                if state.last_step <= STIFFEN_BELOW:
                    state.remaining = self._remaining_step(state.last_step, np.inf)
                    return integrate(self.rig, point, change)
                state.newton = None
        self._update_step_prices()
        return integrate(self.rig, point, self._solve_step(linearisation))

    def refinement(self, q: np.ndarray, sample: TargetSample, step: float) -> np.ndarray:
        """One more step (nv,) towards a constant sample: v* = K r.

        Beyond the paper: if the residuals are large, their second-order term is added to J'WJ while the sum is positive
        definite (Newton's method instead of Gauss-Newton). Otherwise limbs whose markers are near their axis, and
        targets out of reach, would need dozens of steps to converge. The factorised Hessian is used again while steps
        shrink fast.
        """
        state = self._state
        self._reset_step_prices()  # step prices are for the frame's first step; here they would only slow convergence
        self.kinematics.update_poses(q)
        self.rows.set_residuals(sample, self.options.gain)
        if state.newton is None:
            state.newton = self._build_newton(q)
        result = self._solve_step(Linearisation(q, q, self._no_motion, step))
        longest = np.abs(result[3:]).max()
        return result * (MAX_ANGULAR_STEP / longest) if longest > MAX_ANGULAR_STEP else result

    def velocity(self, q: np.ndarray, sample: TargetSample, step: float) -> np.ndarray:
        """Velocity (nv,) [m/s, rad/s] at a pose from the measured velocities alone: (10) solved again without
        residuals.
        """
        state = self._state
        state.newton = None
        self.kinematics.update_poses(q)
        self.rows.set_velocities(sample, step)
        active_bounds = state.active_bounds
        result = self._solve_bounded(Linearisation(q, q, self._no_motion, step), self._no_motion) / step
        state.active_bounds = active_bounds
        return result

    def residuals(self, sample: TargetSample) -> tuple[np.ndarray | None, np.ndarray | None]:
        """`position_residuals` and `rotation_residuals`, each None without such a task."""
        points = None if self.points is None else self.position_residuals(sample)
        return points, None if self.orientations is None else self.rotation_residuals(sample)

    def normal_equations(self, q: np.ndarray, sample: TargetSample) -> tuple[np.ndarray, np.ndarray]:
        """J'WJ (nv, nv) with posture and damping, and J'W r (nv,) with the posture task's torque."""
        self.kinematics.update_poses(q)
        self.rows.set_residuals(sample)
        self.rows.load_tree()
        torques = self.options.posture_weight * self.posture.restoring_torque(q)
        return self.kinematics.hessian(q), self.kinematics.gradient(q, torques)

    def _reset_step_prices(self) -> None:
        state = self._state
        if state.step_prices.any():
            state.step_prices = np.zeros_like(state.step_prices)
            self.kinematics.set_regularisation(self._prices)

    def _solve_step(self, linearisation: Linearisation) -> np.ndarray:
        """Inverse differential kinematics (10) times the step: the change (nv,) from where it is linearised.

        An unobserved coordinate keeps its value instead of its velocity: the price is of the whole step.
        """
        torque = self.options.posture_weight * self.posture.restoring_torque(linearisation.point)
        return self._solve_bounded(
            linearisation, torque - (self.options.damping + self._state.step_prices) * linearisation.displacement
        )

    def _update_step_prices(self) -> None:
        """Sets the price of each joint's step from the error of the orientations that it moves (after Sugihara 2011).

        Targets out of reach and singularities cause no large steps; within reach a step is free.
        """
        if self.orientations is not None:
            errors, state = self._joints_between @ self.rows.orientation_costs, self._state
            state.step_prices = self.options.adaptive_damping * errors
            self.kinematics.set_regularisation(self._prices + state.step_prices)
            state.velocity_trust = (
                HALF_VELOCITY_ERROR / (HALF_VELOCITY_ERROR + errors)
                if self.options.adaptive_damping
                else np.ones_like(errors)
            )

    def _solve_bounded(self, linearisation: Linearisation, torques: np.ndarray) -> np.ndarray:
        """Solution of the equations loaded into the tree, by the quadratic program if limits are active."""
        point, has_limits, state = linearisation.point, self.options.limits and self.limits.has_limits, self._state
        newton = state.newton
        if newton is None or newton.gradient is None:
            self.rows.load_tree()
        if newton is None:
            gradient_vector = np.zeros(0)
        elif newton.gradient is None:
            gradient_vector = self.kinematics.gradient(point, torques)
        else:
            gradient_vector, newton.gradient = newton.gradient + torques, None
        state.slack = 0.0
        free: np.ndarray | None = None
        if not has_limits or state.active_bounds is None:
            free = self._solve_free(point, torques) if newton is None else newton.solve(gradient_vector)
            if not has_limits or self.limits.is_clear(
                linearisation.start, linearisation.displacement + free, linearisation.step
            ):
                return free
        bounds, turning = self.limits.step_bounds(linearisation.start, linearisation.step, point)
        if (
            free is not None
            and bounds.violation(free if turning is None else self.limits.to_coordinates(turning, free)) <= FEASIBLE
        ):
            return free
        matrix = self.kinematics.hessian(point) if newton is None else newton.matrix
        gradient = self.kinematics.gradient(point, torques) if newton is None else gradient_vector
        if turning is not None:
            gradient = self.limits.transpose_to_coordinates(turning, gradient)
            matrix = self.limits.transpose_to_coordinates(
                turning, self.limits.transpose_to_coordinates(turning, matrix).T
            )
        found = self._solve_program(matrix, gradient, bounds)
        state.slack = found.slack
        state.active_bounds = found.multipliers != 0.0 if found.multipliers.any() else None
        return found.x if turning is None else self.limits.to_angular_steps(turning, found.x)

    def _solve_free(self, q: np.ndarray, torques: np.ndarray) -> np.ndarray:
        """Solution without limits, damped if a step is too long."""
        tree, state = self.kinematics, self._state
        result = tree.solve(q, torques)
        if not np.isfinite(result).all():
            raise BackendError("tracking: the normal equations are not positive definite; check weights and damping")
        for share in DAMPING_FACTORS:
            if np.abs(result[3:]).max() <= MAX_ANGULAR_STEP:
                break
            tree.set_regularisation(self._prices + state.step_prices + share * self.rows.max_weight)
            result = tree.solve(q, torques)
            tree.set_regularisation(self._prices + state.step_prices)
        return result

    def _build_newton(self, q: np.ndarray) -> Newton | None:
        """The exact Hessian at ``q`` for the current residuals; None if it is indefinite or not needed."""
        if not self._second_order and self.rows.max_angle < MIN_ANGLE_FOR_EXACT:
            return None
        self.kinematics.update_jacobian(q)
        matrix, gradient = self.rows.equations()
        matrix.flat[:: len(gradient) + 1] += self._prices
        attempts = MAX_STIFFENED if self._state.last_step <= STIFFEN_BELOW else 0
        newton = Newton.from_hessian(matrix, attempts, self.rows.max_weight)
        if newton is not None:
            newton.gradient = gradient
        return newton

    def _remaining_step(self, size: float, before: float) -> float:
        """[rad] Estimated remaining change after a step of this size; ``before`` is the size of the previous step with
        the same Hessian.

        After an exact Newton step it is the square of the step times `CURVATURE_RATIO`; after a Gauss-Newton step it
        depends on the residual. Steps with one Hessian shrink by a constant factor, and so does the remaining change.
        """
        newton = self._state.newton
        if before < np.inf:
            return size * size / (before - size) if size < before else size
        if newton is not None and newton.is_exact(self._state.active_bounds):
            return CURVATURE_RATIO * size * size
        return size * (size + self.rows.max_angle) if newton is None and not self._second_order else size

    def _reuse_hessian(self, size: float, before: float) -> None:
        """Discards the Hessian unless the next step is expected to be a small fraction of this one."""
        if (CURVATURE_RATIO * size if before == np.inf else size / before) > REUSE_RATIO:
            self._state.newton = None

    def refine(
        self, q: np.ndarray, sample: TargetSample, step: float, deadline: float = np.inf
    ) -> tuple[np.ndarray, bool]:
        """Configuration after `refinement` steps until converged or out of iterations, and whether it converged: True
        if the options request no refinement.

        No step begins after the deadline [s] of `time.perf_counter`.
        """
        state = self._state
        remaining, state.remaining = state.remaining, np.inf
        if remaining < np.inf:
            self._reuse_hessian(state.last_step, np.inf)
        else:  # not after a `correction` by Newton's method
            state.newton, state.last_step = None, np.inf
        for _ in range(self.options.iterations):
            if remaining < self.options.tolerance:
                break
            if deadline < np.inf and time.perf_counter() > deadline:
                break
            before = np.inf if state.newton is None else state.last_step
            change = self.refinement(q, sample, step)
            q = integrate(self.rig, q, change)
            state.last_step = float(np.abs(change).max())
            remaining = self._remaining_step(state.last_step, before)
            self._reuse_hessian(state.last_step, before)
        converged = remaining < self.options.tolerance
        if not converged:
            state.last_step = np.inf
        return q, converged or not self.options.iterations

    def errors(self, q: np.ndarray, sample: TargetSample) -> tuple[float, float]:
        """Root mean squares at a configuration (nq,), see `TaskRows.errors`."""
        self.kinematics.update_poses(q)
        return self.rows.errors(sample)


def _joints_between(kinematics: Kinematics, links: Sequence[int] | np.ndarray) -> np.ndarray:
    """(nv, O): 1 where a joint's coordinate rotates one of ``links`` (O,) but none of those above it."""
    result = np.zeros((len(kinematics.link_of_column), len(links)))
    for place, link in enumerate(links):
        above = link
        while above > 0 and (above == link or above not in links):
            result[kinematics.link_of_column == above, place] = 1.0
            above = kinematics.parents[above]
    return result


def rotation_error(modelled: np.ndarray, measured: np.ndarray) -> np.ndarray:
    """vee(sk(R h')) (..., 3) in inertial axes = h vee(sk(h' R)) of rapetti2020 (5), R measured and h modelled."""
    return vee(measured @ np.swapaxes(modelled, -1, -2))
