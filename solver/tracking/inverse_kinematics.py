"""Dynamical inverse kinematics (rapetti2020 section 3): velocity correction, constrained inversion, integration."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from ..dynamics import integrate
from ..errors import BackendError
from ..qp.principal_pivoting import FEASIBLE, ActiveBounds, Box, pivot, solve_box
from ..qp.sequential import sequential_solver
from ..rig import Rig
from ..so3 import vee
from .joint_limits import JointLimits
from .kinematics import Kinematics
from .newton import LOCK_STIFFNESS, IndefiniteHessian, Linearisation, Newton, SolverState
from .options import TrackingOptions
from .posture import Posture
from .task_rows import TaskRows
from .tasks import TargetSample, Tasks

MAX_ANGULAR_STEP = 0.6
"""[rad] Longest step taken at once: one beyond it is not trusted."""
DAMPING_FACTORS = (1e-3, 1e-2, 1e-1, 1.0)
"""Shares of the largest weight that price a step, tried in turn where a step comes out too long: near a singularity."""
SLACK_TOLERANCE = 1e-6
"""[rad] By which a bound may be passed before a step counts as infeasible."""
HALF_VELOCITY_ERROR = 0.02
"""[rad^2] Squared angles out of reach at which a joint is expected to go on with half of its velocity: steps towards
what is out of reach fall short or overshoot, and an expectation made of them would ring."""
MIN_POINTS_FOR_EXACT = 4
"""Points whose second-order term is worth its price."""
MIN_ANGLE_FOR_EXACT = 0.1
"""[rad] Angle between an orientation and its target beyond which its second-order term is."""
MAX_STIFFENED = 6
"""Coordinates that may be stiffened before a Hessian counts as indefinite."""
STIFFEN_BELOW = 0.2
"""[rad] Largest change of the step before it after which an indefinite Hessian is stiffened. From farther away that
leads astray, as it did recordings of few frames a second: there Gauss and Newton's step is taken."""
CURVATURE_RATIO = 10.0
"""[1/rad] Most that a Newton step leaves of the square of its length: the body's third derivatives over its second."""
REUSE_RATIO = 0.02
"""Share of the step before it beyond which a step asks for a new Hessian."""


class InverseKinematics:
    """Tasks on a rig, and the steps that bring it from a configuration to a sample of measurements.

    It keeps no configuration: `Tracker` does.
    """

    def __init__(self, rig: Rig, tasks: Tasks, options: TrackingOptions) -> None:
        self.rig = rig
        self.kinematics = Kinematics(rig)
        self.posture = Posture(rig, options.free_twist)
        self.limits = JointLimits(rig, options.default_joint_speed, options.coupled_limits)
        self.options = options
        self.tasks = tasks
        self.points = tasks.positions
        self.orientations = tasks.orientations
        self.rows = TaskRows(self.kinematics, tasks, options.huber_distance, angles=options.squared_angles)
        self._prices = options.posture_weight * self.posture.diagonal + options.damping
        self.kinematics.set_regularisation(self._prices)
        self._no_motion, self._full_trust = np.zeros(rig.model.nv), np.ones(rig.model.nv)
        self._solve_program = sequential_solver(options.backend)
        self._single_bounds = self.limits.single_bounds and self._solve_program is solve_box
        self._second_order = self.points is not None and len(self.points.names) >= MIN_POINTS_FOR_EXACT
        self._joints_between = _joints_between(
            self.kinematics, () if self.orientations is None else self.orientations.links
        )
        self._state = SolverState.initial(rig.model.nv)

    @property
    def state(self) -> SolverState:
        """Of the trajectory whose steps are taken; another one goes on from its own."""
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
        """sk(R h') as vectors in inertial axes (O, 3): rapetti2020 (5) turned into the axes of the Jacobian."""
        assert self.orientations is not None
        assert sample.rotations is not None
        return rotation_error(self.kinematics.rotations[self.orientations.links], sample.rotations)

    def correction(
        self, q: np.ndarray, displacement: np.ndarray, previous: TargetSample, sample: TargetSample, step: float
    ) -> np.ndarray:
        """The configuration (nq,) after one step from ``q`` at the previous sample, ``step`` [s] before: (9), (10).

        (9) asks for v* = v + K r. Taken over the step, the share K dt of the innovation is taken off, which is what
        the new sample says beyond the old pose moved on with the measured velocities, averaged over the step; where
        none are measured the targets' own displacement stands for them and the same share of the old error is taken
        off. (Printed (9) adds velocity and residual at the new targets, which counts one step of motion twice.) The
        equations are linearised where the body will be if it goes on by ``going`` (nv,), not where it was: the error
        of the step is then of second order in the acceleration, not in the velocity. Joints that move targets out of
        reach are expected to slow down.
        """
        memory = self._state
        memory.newton, memory.remaining = None, np.inf
        settling = self.options.iterations > 0 and memory.last_step < np.inf
        if settling:  # poses that came to rest do not ring
            memory.velocity_trust = self._full_trust
        displacement = memory.velocity_trust * displacement
        there = integrate(self.rig, q, displacement)
        kept = self.rows.remaining_innovation(q, previous, sample, step, self.options.step_gain(step))
        self.kinematics.update_poses(there)
        self.rows.set_residuals(sample, remaining=kept)
        stride = Linearisation(q, there, displacement, step)
        if settling and kept is None and self.options.step_gain(step) == 1.0:
            # it is the first of the steps that settle, which would only have to take back what a price did
            self._reset_step_prices()
            memory.newton = self._build_newton(there)
            if memory.newton is not None:
                change = self._solve_step(stride)
                memory.last_step = float(np.abs(change).max())
                if memory.last_step <= STIFFEN_BELOW:
                    memory.remaining = self._remaining_step(memory.last_step, np.inf)
                    return integrate(self.rig, there, change)
                memory.newton = None
        self._update_step_prices()
        return integrate(self.rig, there, self._solve_step(stride))

    def refinement(self, q: np.ndarray, sample: TargetSample, step: float) -> np.ndarray:
        """One more step (nv,) towards a sample that stands still: v* = K r.

        Beyond the paper: where the residuals are large their second-order term joins J'WJ while that stays positive
        definite (Newton's method instead of Gauss-Newton's), or limbs whose markers lie near their axis and targets out
        of reach would need dozens of steps to settle. Its factor serves on while steps shrink fast.
        """
        memory = self._state
        self._reset_step_prices()  # the price was of the frame's first step; here it would only slow the settling
        self.kinematics.update_poses(q)
        self.rows.set_residuals(sample, self.options.step_gain(step))
        if memory.newton is None:
            memory.newton = self._build_newton(q)
        result = self._solve_step(Linearisation(q, q, self._no_motion, step))
        longest = np.abs(result[3:]).max()
        return result * (MAX_ANGULAR_STEP / longest) if longest > MAX_ANGULAR_STEP else result

    def velocity(self, q: np.ndarray, sample: TargetSample, step: float) -> np.ndarray:
        """Velocity (nv,) [m/s, rad/s] at a pose by the measured velocities alone: a second solve of (10), K = 0."""
        memory = self._state
        memory.newton = None
        self.kinematics.update_poses(q)
        self.rows.set_velocities(sample, step)
        memory.active_bounds, memory.active_velocity_bounds = memory.active_velocity_bounds, memory.active_bounds
        result = self._solve_bounded(Linearisation(q, q, self._no_motion, step), self._no_motion) / step
        memory.active_bounds, memory.active_velocity_bounds = memory.active_velocity_bounds, memory.active_bounds
        return result

    def residuals(self, sample: TargetSample) -> tuple[np.ndarray | None, np.ndarray | None]:
        """`position_residuals` and `rotation_residuals`, each None without such a task."""
        points = None if self.points is None else self.position_residuals(sample)
        return points, None if self.orientations is None else self.rotation_residuals(sample)

    def normal_equations(self, q: np.ndarray, sample: TargetSample) -> tuple[np.ndarray, np.ndarray]:
        """J'WJ (nv, nv) with posture and damping, and J'W r (nv,) with the pull towards neutral."""
        self.kinematics.update_poses(q)
        self.rows.set_residuals(sample)
        self.rows.load_tree()
        torques = self.options.posture_weight * self.posture.restoring_torque(q)
        return self.kinematics.hessian(q), self.kinematics.gradient(q, torques)

    def _reset_step_prices(self) -> None:
        memory = self._state
        if memory.step_prices.any():
            memory.step_prices = np.zeros_like(memory.step_prices)
            self.kinematics.set_regularisation(self._prices)

    def _solve_step(self, linearisation: Linearisation) -> np.ndarray:
        """Inverse differential kinematics (10) times the step: the change (nv,) from where it is linearised.

        A coordinate that nothing shows stays where it was, not where it would go: the price is of the whole step.
        """
        pull = self.options.posture_weight * self.posture.restoring_torque(linearisation.point)
        return self._solve_bounded(
            linearisation, pull - (self.options.damping + self._state.step_prices) * linearisation.displacement
        )

    def _update_step_prices(self) -> None:
        """Price the step of each joint by how far the orientations next to it are out of reach (after Sugihara 2011).

        There what little is won is not worth a leap, nor near a singularity; within reach a step stays free.
        """
        if self.orientations is not None:
            missed, memory = self._joints_between @ self.rows.orientation_costs, self._state
            memory.step_prices = self.options.adaptive_damping * missed
            self.kinematics.set_regularisation(self._prices + memory.step_prices)
            memory.velocity_trust = (
                HALF_VELOCITY_ERROR / (HALF_VELOCITY_ERROR + missed)
                if self.options.adaptive_damping
                else np.ones_like(missed)
            )

    def _solve_bounded(self, linearisation: Linearisation, torques: np.ndarray) -> np.ndarray:
        """Solution of the equations that stand in the tree, by the quadratic program where limits bind."""
        try:
            return self._solve_within_limits(linearisation, torques)
        except IndefiniteHessian:
            self._state.newton = None
            return self._solve_within_limits(linearisation, torques)

    def _solve_within_limits(self, linearisation: Linearisation, torques: np.ndarray) -> np.ndarray:
        there, limited, memory = linearisation.point, self.options.limits and self.limits.has_limits, self._state
        newton = memory.newton
        if newton is None or newton.gradient is None:
            self.rows.load_tree()
        if newton is None:
            slope = np.zeros(0)
        elif newton.gradient is None:
            slope = self.kinematics.gradient(there, torques)
        else:
            slope, newton.gradient = newton.gradient + torques, None
        memory.slack = 0.0
        free: np.ndarray | None = None
        if not limited or memory.active_bounds is None:
            free = self._solve_free(there, torques) if newton is None else newton.solve(slope)
            if not limited or self.limits.is_clear(
                linearisation.start, linearisation.displacement + free, linearisation.step
            ):
                return free
        box, turning = self.limits.step_bounds(linearisation.start, linearisation.step, there)
        if (
            free is not None
            and box.violation(free if turning is None else self.limits.to_coordinates(turning, free)) <= FEASIBLE
        ):
            return free
        if self._single_bounds:
            held = self._solver_at_bounds(there, torques, box) if newton is None else newton.solve_within(slope, box)
            found = pivot(held, box, memory.active_bounds)
        else:
            matrix = self.kinematics.hessian(there) if newton is None else newton.matrix
            gradient = self.kinematics.gradient(there, torques) if newton is None else slope
            if turning is not None:
                gradient = self.limits.transpose_to_coordinates(turning, gradient)
                matrix = self.limits.transpose_to_coordinates(
                    turning, self.limits.transpose_to_coordinates(turning, matrix).T
                )
            found = self._solve_program(matrix, gradient, box, memory.active_bounds)
        memory.slack = found.slack if found.converged else np.inf
        memory.active_bounds = found.active if found.active.any() else None
        memory.bound_steps += memory.active_bounds is not None
        return found.x if turning is None else self.limits.to_angular_steps(turning, found.x)

    def _solver_at_bounds(self, q: np.ndarray, torques: np.ndarray, box: Box) -> ActiveBounds:
        """Solutions with some coordinates at their bounds, without building the matrix.

        To be held is to be priced so highly that nothing else counts; the articulated-body algorithm, which takes the
        joints out one by one, loses no accuracy by that, and what is left of the way to the bound tells the force.
        """
        tree, prices, lock = (
            self.kinematics,
            self._prices + self._state.step_prices,
            LOCK_STIFFNESS * self.rows.max_weight,
        )

        def at(held: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            forces = np.zeros(len(held))
            places = held.nonzero()[0]
            if not len(places):
                return tree.solve(q, torques), forces
            bounds = np.where(held[places] > 0, box.high[places], box.low[places])
            stiff, pushed = prices.copy(), torques.copy()
            stiff[places] += lock
            pushed[places] += lock * bounds
            tree.set_regularisation(stiff)
            x = tree.solve(q, pushed)
            tree.set_regularisation(prices)
            forces[places] = lock * (x[places] - bounds)
            x[places] = bounds
            return x, forces

        return at

    def _solve_free(self, q: np.ndarray, torques: np.ndarray) -> np.ndarray:
        """Solution without limits, damped where it would leap."""
        tree, memory = self.kinematics, self._state
        result = tree.solve(q, torques)
        if not np.isfinite(result).all():
            raise BackendError("tracking: the normal equations are not positive definite; check weights and damping")
        for share in DAMPING_FACTORS:
            if np.abs(result[3:]).max() <= MAX_ANGULAR_STEP:
                break
            tree.set_regularisation(self._prices + memory.step_prices + share * self.rows.max_weight)
            result = tree.solve(q, torques)
            tree.set_regularisation(self._prices + memory.step_prices)
        return result

    def _build_newton(self, q: np.ndarray) -> Newton | None:
        """The exact Hessian at ``q`` for the rows as taken there; None where it is not worth it or indefinite."""
        if not self._second_order and self.rows.max_angle < MIN_ANGLE_FOR_EXACT:
            return None
        tree = self.kinematics
        tree.update_jacobian(q)
        matrix, slope = self.rows.equations()
        matrix.flat[:: len(slope) + 1] += self._prices
        attempts = MAX_STIFFENED if self._state.last_step <= STIFFEN_BELOW else 0
        newton = Newton.from_hessian(
            matrix, attempts, self.rows.max_weight, self._state.active_bounds if self._single_bounds else None
        )
        if newton is not None:
            newton.gradient = slope
        return newton

    def _remaining_step(self, size: float, before: float) -> float:
        """[rad] What is left to go after a step of this size; of a Hessian that served ``before``, after a longer one.

        It is the square of the step times `BENDS` if it was Newton's own, its share of the residual if it was Gauss and
        Newton's. Steps made with one Hessian shrink by one share, and so does what they leave.
        """
        newton = self._state.newton
        if before < np.inf:
            return size * size / (before - size) if size < before else size
        if newton is not None and newton.is_exact(self._state.active_bounds):
            return CURVATURE_RATIO * size * size
        return size * (size + self.rows.max_angle) if newton is None and not self._second_order else size

    def _reuse_hessian(self, size: float, before: float) -> None:
        """Let the Hessian serve on where the next step is expected to be a small share of this one."""
        if (CURVATURE_RATIO * size if before == np.inf else size / before) > REUSE_RATIO:
            self._state.newton = None

    def settle(self, q: np.ndarray, sample: TargetSample, step: float) -> np.ndarray:
        """Configuration after `refinement` steps until converged or out of iterations."""
        return self.refine(q, sample, step)[0]

    def refine(
        self, q: np.ndarray, sample: TargetSample, step: float, deadline: float = np.inf
    ) -> tuple[np.ndarray, bool]:
        """`settled`, and whether it converged: True when the options ask for no refinement.

        None is begun after ``until`` [s] of `time.perf_counter`.
        """
        memory = self._state
        left, memory.remaining = memory.remaining, np.inf
        if left < np.inf:
            self._reuse_hessian(memory.last_step, np.inf)
        else:  # not after a `correction` that was Newton's
            memory.newton, memory.last_step = None, np.inf
        for _ in range(self.options.iterations):
            if left < self.options.tolerance:
                break
            if deadline < np.inf and time.perf_counter() > deadline:
                break
            before = np.inf if memory.newton is None else memory.last_step
            change = self.refinement(q, sample, step)
            q = integrate(self.rig, q, change)
            memory.last_step = float(np.abs(change).max())
            left = self._remaining_step(memory.last_step, before)
            self._reuse_hessian(memory.last_step, before)
        arrived = left < self.options.tolerance
        if not arrived:
            memory.last_step = np.inf
        return q, arrived or not self.options.iterations

    def errors(self, q: np.ndarray, sample: TargetSample) -> tuple[float, float]:
        """Root mean squares at a configuration (nq,), see `TaskRows.errors`."""
        self.kinematics.update_poses(q)
        return self.rows.errors(sample)


def _joints_between(kinematics: Kinematics, links: Sequence[int] | np.ndarray) -> np.ndarray:
    """(nv, O): 1 where a joint's coordinate turns one of ``links`` (O,) but none of those above it."""
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
