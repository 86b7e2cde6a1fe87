"""Dynamical inverse kinematics (rapetti2020 section 3): velocity correction, constrained inversion, integration."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from ..dynamics import integrate
from ..errors import BackendError
from ..qp.pivoting import FEASIBLE, Box, Held, between_bounds, pivoted
from ..qp.stepwise import stepwise
from ..rig import Rig
from ..so3 import vee
from ..tracking_methods import DYNAMICAL
from .kinematics import Kinematics
from .memory import Memory, Stride
from .newton import LOCK, Indefinite, Newton
from .options import TrackingOptions
from .posture import JointLimits, Posture
from .residuals import LinkRows
from .tasks import TargetSample, Tasks

TURN_LIMIT = 0.6
"""[rad] Longest step taken at once: one beyond it is not trusted."""
DAMPED = (1e-3, 1e-2, 1e-1, 1.0)
"""Shares of the largest weight that price a step, tried in turn where a step comes out too long: near a singularity."""
SLACK = 1e-6
"""[rad] By which a bound may be passed before a step counts as infeasible."""
DOUBTED = 0.02
"""[rad^2] Squared angles out of reach at which a joint is expected to go on with half of its velocity: steps towards
what is out of reach fall short or overshoot, and an expectation made of them would ring."""
FEWEST_CURVED = 4
"""Points whose second-order term is worth its price."""
EXACT_TURN = 0.1
"""[rad] Angle between an orientation and its target beyond which its second-order term is."""
STIFFENED = 6
"""Coordinates that may be stiffened before a Hessian counts as indefinite."""
NEAR = 0.2
"""[rad] Largest change of the step before it after which an indefinite Hessian is stiffened. From farther away that
leads astray, as it did recordings of few frames a second: there Gauss and Newton's step is taken."""
BENDS = 10.0
"""[1/rad] Most that a Newton step leaves of the square of its length: the body's third derivatives over its second."""
SHRINKS = 0.02
"""Share of the step before it beyond which a step asks for a new Hessian."""


class InverseKinematics:
    """Tasks on a rig, and the steps that bring it from a configuration to a sample of measurements.

    It keeps no configuration: `Tracker` does.
    """

    def __init__(self, rig: Rig, tasks: Tasks, options: TrackingOptions) -> None:
        self.rig = rig
        self.kinematics = Kinematics(rig)
        self.posture = Posture(rig, options.free_twist)
        self.limits = JointLimits(rig, options.limit_speed, options.coupled, hurried=options.method != DYNAMICAL)
        self.options = options
        self.tasks = tasks
        self.points = tasks.positions
        self.turns = tasks.orientations
        self.rows = LinkRows(self.kinematics, tasks, options.huber, angles=options.angles)
        self._prices = options.posture * self.posture.prices + options.damping
        self.kinematics.price(self._prices)
        self._still, self._all = np.zeros(rig.model.nv), np.ones(rig.model.nv)
        self._programs = stepwise(options.backend)
        self._plain = self.limits.plain and self._programs is between_bounds
        self._curved = self.points is not None and len(self.points.names) >= FEWEST_CURVED
        self._reach = _between(self.kinematics, () if self.turns is None else self.turns.links)
        self._memory = Memory.of(rig.model.nv)

    @property
    def memory(self) -> Memory:
        """Of the trajectory whose steps are taken; another one goes on from its own."""
        return self._memory

    @memory.setter
    def memory(self, other: Memory) -> None:
        self._memory = other
        self.kinematics.price(self._prices + other.unreached)

    def position_residuals(self, sample: TargetSample) -> np.ndarray:
        """Measured minus modelled positions (P, 3) [m] at the current pose; NaN where not measured."""
        assert self.points is not None
        return sample.positions - self.kinematics.points(self.points.links, self.points.offsets)

    def rotation_residuals(self, sample: TargetSample) -> np.ndarray:
        """sk(R h') as vectors in inertial axes (O, 3): rapetti2020 (5) turned into the axes of the Jacobian."""
        assert self.turns is not None
        assert sample.rotations is not None
        return rotation_error(self.kinematics.rotations[self.turns.links], sample.rotations)

    def correction(
        self, q: np.ndarray, going: np.ndarray, previous: TargetSample, sample: TargetSample, step: float
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
        memory = self._memory
        memory.newton, memory.left = None, np.inf
        settling = self.options.iterations > 0 and memory.last < np.inf
        if settling:  # poses that came to rest do not ring
            memory.trust = self._all
        going = memory.trust * going
        there = integrate(self.rig, q, going)
        kept = self.rows.kept(q, previous, sample, step, self.options.share(step))
        self.kinematics.locate(there)
        self.rows.take(sample, kept=kept)
        stride = Stride(q, there, going, step)
        if settling and kept is None and self.options.share(step) == 1.0:
            # it is the first of the steps that settle, which would only have to take back what a price did
            self._free_of_charge()
            memory.newton = self._exact(there)
            if memory.newton is not None:
                change = self._inverted(stride)
                memory.last = float(np.abs(change).max())
                if memory.last <= NEAR:
                    memory.left = self._left(memory.last, np.inf)
                    return integrate(self.rig, there, change)
                memory.newton = None
        self._adapt()
        return integrate(self.rig, there, self._inverted(stride))

    def refinement(self, q: np.ndarray, sample: TargetSample, step: float) -> np.ndarray:
        """One more step (nv,) towards a sample that stands still: v* = K r.

        Beyond the paper: where the residuals are large their second-order term joins J'WJ while that stays positive
        definite (Newton's method instead of Gauss-Newton's), or limbs whose markers lie near their axis and targets out
        of reach would need dozens of steps to settle. Its factor serves on while steps shrink fast.
        """
        memory = self._memory
        self._free_of_charge()  # the price was of the frame's first step; here it would only slow the settling
        self.kinematics.locate(q)
        self.rows.take(sample, self.options.share(step))
        if memory.newton is None:
            memory.newton = self._exact(q)
        result = self._inverted(Stride(q, q, self._still, step))
        longest = np.abs(result[3:]).max()
        return result * (TURN_LIMIT / longest) if longest > TURN_LIMIT else result

    def velocity(self, q: np.ndarray, sample: TargetSample, step: float) -> np.ndarray:
        """Velocity (nv,) [m/s, rad/s] at a pose by the measured velocities alone: a second solve of (10), K = 0."""
        memory = self._memory
        memory.newton = None
        self.kinematics.locate(q)
        self.rows.take_velocities(sample, step)
        memory.held, memory.held_rates = memory.held_rates, memory.held
        result = self._bounded(Stride(q, q, self._still, step), self._still) / step
        memory.held, memory.held_rates = memory.held_rates, memory.held
        return result

    def residuals(self, sample: TargetSample) -> tuple[np.ndarray | None, np.ndarray | None]:
        """`position_residuals` and `rotation_residuals`, each None without such a task."""
        points = None if self.points is None else self.position_residuals(sample)
        return points, None if self.turns is None else self.rotation_residuals(sample)

    def normal_equations(self, q: np.ndarray, sample: TargetSample) -> tuple[np.ndarray, np.ndarray]:
        """J'WJ (nv, nv) with posture and damping, and J'W r (nv,) with the pull towards neutral."""
        self.kinematics.locate(q)
        self.rows.take(sample)
        self.rows.load()
        torques = self.options.posture * self.posture.pull(q)
        return self.kinematics.hessian(q), self.kinematics.gradient(q, torques)

    def _free_of_charge(self) -> None:
        memory = self._memory
        if memory.unreached.any():
            memory.unreached = np.zeros_like(memory.unreached)
            self.kinematics.price(self._prices)

    def _inverted(self, stride: Stride) -> np.ndarray:
        """Inverse differential kinematics (10) times the step: the change (nv,) from where it is linearised.

        A coordinate that nothing shows stays where it was, not where it would go: the price is of the whole step.
        """
        pull = self.options.posture * self.posture.pull(stride.there)
        return self._bounded(stride, pull - (self.options.damping + self._memory.unreached) * stride.going)

    def _adapt(self) -> None:
        """Price the step of each joint by how far the orientations next to it are out of reach (after Sugihara 2011).

        There what little is won is not worth a leap, nor near a singularity; within reach a step stays free.
        """
        if self.turns is not None:
            missed, memory = self._reach @ self.rows.missed, self._memory
            memory.unreached = self.options.adaptive * missed
            self.kinematics.price(self._prices + memory.unreached)
            memory.trust = DOUBTED / (DOUBTED + missed) if self.options.adaptive else np.ones_like(missed)

    def _bounded(self, stride: Stride, torques: np.ndarray) -> np.ndarray:
        """Solution of the equations that stand in the tree, by the quadratic program where limits bind."""
        try:
            return self._within(stride, torques)
        except Indefinite:
            self._memory.newton = None
            return self._within(stride, torques)

    def _within(self, stride: Stride, torques: np.ndarray) -> np.ndarray:
        there, limited, memory = stride.there, self.options.limits and self.limits.any, self._memory
        newton = memory.newton
        if newton is None or newton.slope is None:
            self.rows.load()
        if newton is None:
            slope = np.zeros(0)
        elif newton.slope is None:
            slope = self.kinematics.gradient(there, torques)
        else:
            slope, newton.slope = newton.slope + torques, None
        memory.slack = 0.0
        free: np.ndarray | None = None
        if not limited or memory.held is None:
            free = self._free(there, torques) if newton is None else newton.solution(slope)
            if not limited or self.limits.clear(stride.start, stride.going + free, stride.step):
                return free
        box, turning = self.limits.box(stride.start, stride.step, there)
        if free is not None and box.slack(free if turning is None else self.limits.unspun(turning, free)) <= FEASIBLE:
            return free
        if self._plain:
            held = self._locked(there, torques, box) if newton is None else newton.within(slope, box)
            found = pivoted(held, box, memory.held)
        else:
            matrix = self.kinematics.hessian(there) if newton is None else newton.matrix
            gradient = self.kinematics.gradient(there, torques) if newton is None else slope
            if turning is not None:
                gradient = self.limits.unturned(turning, gradient)
                matrix = self.limits.unturned(turning, self.limits.unturned(turning, matrix).T)
            found = self._programs(matrix, gradient, box, memory.held)
        memory.slack = found.slack if found.settled else np.inf
        memory.held = found.held if found.held.any() else None
        memory.bound_steps += memory.held is not None
        return found.x if turning is None else self.limits.turned(turning, found.x)

    def _locked(self, q: np.ndarray, torques: np.ndarray, box: Box) -> Held:
        """Solutions with some coordinates at their bounds, without building the matrix.

        To be held is to be priced so highly that nothing else counts; the articulated-body algorithm, which takes the
        joints out one by one, loses no accuracy by that, and what is left of the way to the bound tells the force.
        """
        tree, prices, lock = self.kinematics, self._prices + self._memory.unreached, LOCK * self.rows.heaviest

        def at(held: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            forces = np.zeros(len(held))
            places = held.nonzero()[0]
            if not len(places):
                return tree.solution(q, torques), forces
            bounds = np.where(held[places] > 0, box.high[places], box.low[places])
            stiff, pushed = prices.copy(), torques.copy()
            stiff[places] += lock
            pushed[places] += lock * bounds
            tree.price(stiff)
            x = tree.solution(q, pushed)
            tree.price(prices)
            forces[places] = lock * (x[places] - bounds)
            x[places] = bounds
            return x, forces

        return at

    def _free(self, q: np.ndarray, torques: np.ndarray) -> np.ndarray:
        """Solution without limits, damped where it would leap."""
        tree, memory = self.kinematics, self._memory
        result = tree.solution(q, torques)
        if not np.isfinite(result).all():
            raise BackendError("tracking: the normal equations are not positive definite; check weights and damping")
        for share in DAMPED:
            if np.abs(result[3:]).max() <= TURN_LIMIT:
                break
            tree.price(self._prices + memory.unreached + share * self.rows.heaviest)
            result = tree.solution(q, torques)
            tree.price(self._prices + memory.unreached)
        return result

    def _exact(self, q: np.ndarray) -> Newton | None:
        """The exact Hessian at ``q`` for the rows as taken there; None where it is not worth it or indefinite."""
        if not self._curved and self.rows.misfit < EXACT_TURN:
            return None
        tree = self.kinematics
        tree.derive(q)
        matrix, slope = self.rows.equations()
        matrix.flat[:: len(slope) + 1] += self._prices
        attempts = STIFFENED if self._memory.last <= NEAR else 0
        newton = Newton.of(matrix, attempts, self.rows.heaviest, self._memory.held if self._plain else None)
        if newton is not None:
            newton.slope = slope
        return newton

    def _left(self, size: float, before: float) -> float:
        """[rad] What is left to go after a step of this size; of a Hessian that served ``before``, after a longer one.

        It is the square of the step times `BENDS` if it was Newton's own, its share of the residual if it was Gauss and
        Newton's. Steps made with one Hessian shrink by one share, and so does what they leave.
        """
        newton = self._memory.newton
        if before < np.inf:
            return size * size / (before - size) if size < before else size
        if newton is not None and newton.exact(self._memory.held):
            return BENDS * size * size
        return size * (size + self.rows.misfit) if newton is None and not self._curved else size

    def _keep(self, size: float, before: float) -> None:
        """Let the Hessian serve on where the next step is expected to be a small share of this one."""
        if (BENDS * size if before == np.inf else size / before) > SHRINKS:
            self._memory.newton = None

    def settled(self, q: np.ndarray, sample: TargetSample, step: float) -> np.ndarray:
        """Configuration after `refinement` steps until converged or out of iterations."""
        return self.refined(q, sample, step)[0]

    def refined(
        self, q: np.ndarray, sample: TargetSample, step: float, until: float = np.inf
    ) -> tuple[np.ndarray, bool]:
        """`settled`, and whether it converged: True when the options ask for no refinement.

        None is begun after ``until`` [s] of `time.perf_counter`.
        """
        memory = self._memory
        left, memory.left = memory.left, np.inf
        if left < np.inf:
            self._keep(memory.last, np.inf)
        else:  # not after a `correction` that was Newton's
            memory.newton, memory.last = None, np.inf
        for _ in range(self.options.iterations):
            if left < self.options.tolerance:
                break
            if until < np.inf and time.perf_counter() > until:
                break
            before = np.inf if memory.newton is None else memory.last
            change = self.refinement(q, sample, step)
            q = integrate(self.rig, q, change)
            memory.last = float(np.abs(change).max())
            left = self._left(memory.last, before)
            self._keep(memory.last, before)
        arrived = left < self.options.tolerance
        if not arrived:
            memory.last = np.inf
        return q, arrived or not self.options.iterations

    def errors(self, q: np.ndarray, sample: TargetSample) -> tuple[float, float]:
        """Root mean squares at a configuration (nq,), see `LinkRows.errors`."""
        self.kinematics.locate(q)
        return self.rows.errors(sample)


def _between(kinematics: Kinematics, links: Sequence[int] | np.ndarray) -> np.ndarray:
    """(nv, O): 1 where a joint's coordinate turns one of ``links`` (O,) but none of those above it."""
    result = np.zeros((len(kinematics.column_link), len(links)))
    for place, link in enumerate(links):
        above = link
        while above > 0 and (above == link or above not in links):
            result[kinematics.column_link == above, place] = 1.0
            above = kinematics.parents[above]
    return result


def rotation_error(modelled: np.ndarray, measured: np.ndarray) -> np.ndarray:
    """vee(sk(R h')) (..., 3) in inertial axes = h vee(sk(h' R)) of rapetti2020 (5), R measured and h modelled."""
    return vee(measured @ np.swapaxes(modelled, -1, -2))
