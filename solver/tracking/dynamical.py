"""Dynamical inverse kinematics (rapetti2020 section 3): velocity correction, constrained inversion, integration."""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dposv

from ..dynamics import integrate
from ..errors import BackendError
from ..rig import ROOT_NV, Rig
from ..so3 import vee
from .bounded import bounded_step
from .kinematics import COLUMNS, Kinematics, add_orientation_rows, row_sums
from .options import TrackingOptions
from .posture import JointLimits, Posture
from .tasks import TargetSample, Tasks

TURN_LIMIT = 0.6
"""[rad] Longest step taken at once while refining: a Gauss-Newton step beyond it is not trusted."""


class InverseKinematics:
    """Tasks on a rig, and the steps that bring it from a configuration to a sample of measurements.

    It keeps no configuration: `Tracker` does.
    """

    def __init__(self, rig: Rig, tasks: Tasks, options: TrackingOptions) -> None:
        self.rig = rig
        self.kinematics = Kinematics(rig)
        self.posture = Posture(rig, options.free_twist)
        self.limits = JointLimits(rig, options.limit_speed)
        self.options = options
        self.tasks = tasks
        self.points = tasks.positions
        self.turns = tasks.orientations
        if self.points is not None:
            self._selector = np.zeros((len(rig.links), len(self.points.names)))
            self._selector[self.points.links, np.arange(len(self.points.names))] = 1.0
        self._diagonal = np.diag_indices(rig.model.nv)
        self.bound_steps = 0
        """Steps in which a joint limit was active."""

    def position_residuals(self, sample: TargetSample) -> np.ndarray:
        """Measured minus modelled positions (P, 3) [m] at the current pose; NaN where not measured."""
        assert self.points is not None
        return sample.positions - self.kinematics.points(self.points.links, self.points.offsets)

    def rotation_residuals(self, sample: TargetSample) -> np.ndarray:
        """sk(R h') as vectors in inertial axes (O, 3): rapetti2020 (5) turned into the axes of the Jacobian."""
        assert self.turns is not None
        assert sample.rotations is not None
        return rotation_error(self.kinematics.rotations[self.turns.links], sample.rotations)

    def correction(self, q: np.ndarray, previous: TargetSample, sample: TargetSample, step: float) -> np.ndarray:
        """One step (nv,) from ``q`` at the previous sample, ``step`` [s] before this one: (9), (10).

        v* = v + K r, with r taken at the previous sample's targets where v sets out: the same target motion enters
        once. (Printed (9) takes r at the new targets, which leads by one step of target motion.) Where the previous
        sample is missing, the new one gives the residual and v is zero.
        """
        self.kinematics.update(q)
        points = turns = None
        if self.points is not None:
            residual, now = self.position_residuals(previous), self.position_residuals(sample)
            moved = now - residual if sample.velocities is None else sample.velocities * step
            points = np.where(np.isfinite(residual + moved), moved + self.options.gain * residual, now)
        if self.turns is not None:
            residual, now = self.rotation_residuals(previous), self.rotation_residuals(sample)
            if sample.angular_velocities is not None:
                moved = sample.angular_velocities * step
            else:
                assert previous.rotations is not None
                assert sample.rotations is not None
                moved = rotation_error(previous.rotations, sample.rotations)
            turns = np.where(np.isfinite(residual + moved), moved + self.options.gain * residual, now)
        return self._inverted(q, sample, points, turns, step)

    def refinement(self, q: np.ndarray, sample: TargetSample, step: float) -> np.ndarray:
        """One more step (nv,) towards a sample that stands still: v* = K r.

        Beyond the paper: the points' second-order term joins J'WJ while that stays positive definite (Newton's method
        instead of Gauss-Newton's), or limbs whose markers lie near their axis would need dozens of steps to settle.
        """
        self.kinematics.update(q)
        points, turns = self.residuals(sample)
        points = None if points is None else self.options.gain * points
        turns = None if turns is None else self.options.gain * turns
        result = self._inverted(q, sample, points, turns, step, exact=True)
        longest = np.abs(result[3:]).max()
        return result if longest <= TURN_LIMIT else result * (TURN_LIMIT / longest)

    def residuals(self, sample: TargetSample) -> tuple[np.ndarray | None, np.ndarray | None]:
        """`position_residuals` and `rotation_residuals`, each None without such a task."""
        points = None if self.points is None else self.position_residuals(sample)
        return points, None if self.turns is None else self.rotation_residuals(sample)

    def normal_equations(
        self, q: np.ndarray, sample: TargetSample, points: np.ndarray | None, turns: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """J'WJ (nv, nv) and J'W u (nv,) with posture and damping, for wanted displacements of points and links."""
        hessian, gradient, _ = self._equations(q, sample, points, turns, exact=False)
        return hessian, gradient

    def _equations(
        self, q: np.ndarray, sample: TargetSample, points: np.ndarray | None, turns: np.ndarray | None, *, exact: bool
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """`normal_equations`, and the second-order term of the points if ``exact``."""
        options = self.options
        sums = np.zeros((len(self.rig.links), COLUMNS))
        curvature = None
        if points is not None and self.points is not None:
            seen = np.isfinite(points[:, 0])
            shares = self.points.weights if sample.shares is None else self.points.weights * sample.shares
            weights = np.where(seen, shares, 0.0)
            points = np.where(seen[:, None], points, 0.0)
            if options.huber > 0.0:
                weights = weights * np.minimum(1.0, options.huber / np.maximum(np.linalg.norm(points, axis=1), 1e-12))
            places = self.kinematics.points(self.points.links, self.points.offsets)
            sums += row_sums(self._selector, places, weights, points)
            if exact:
                outer = (weights[:, None] * places)[:, :, None] * points[:, None, :]
                moments = (self._selector @ outer.reshape(len(points), 9)).reshape(-1, 3, 3)
                curvature = self.kinematics.curvature(moments, sums)
        if turns is not None and self.turns is not None:
            seen = np.isfinite(turns[:, 0])
            add_orientation_rows(
                sums, self.turns.links, np.where(seen, self.turns.weights, 0.0), np.where(seen[:, None], turns, 0.0)
            )
        hessian, gradient = self.kinematics.normal_equations(sums)
        self.posture.add(q, options.posture, hessian, gradient)
        hessian[self._diagonal] += options.damping
        return hessian, gradient, curvature

    def _inverted(
        self,
        q: np.ndarray,
        sample: TargetSample,
        points: np.ndarray | None,
        turns: np.ndarray | None,
        step: float,
        *,
        exact: bool = False,
    ) -> np.ndarray:
        """Inverse differential kinematics (10) times the step; the quadratic program only where a limit binds."""
        hessian, gradient, curvature = self._equations(q, sample, points, turns, exact=exact)
        failed = 1
        if curvature is not None:
            _, result, failed = dposv(hessian + curvature, gradient)
        if failed:
            _, result, failed = dposv(hessian, gradient)
        elif curvature is not None:
            hessian = hessian + curvature
        if failed:
            raise BackendError("tracking: the normal equations are not positive definite; check weights and damping")
        if self.options.limits and self.limits.any:
            rows, low, high = self.limits.rows(q, step)
            change = rows @ result[ROOT_NV:]
            if np.any(change < low) or np.any(change > high):
                self.bound_steps += 1
                rows = np.hstack([np.zeros((len(low), ROOT_NV)), rows])
                result = bounded_step(hessian, gradient, rows, low, high, self.options.backend)
        return result

    def settled(self, q: np.ndarray, sample: TargetSample, step: float) -> np.ndarray:
        """Configuration after `refinement` steps until converged or out of iterations."""
        return self.refined(q, sample, step)[0]

    def refined(self, q: np.ndarray, sample: TargetSample, step: float) -> tuple[np.ndarray, bool]:
        """`settled`, and whether it converged: True when the options ask for no refinement."""
        for _ in range(self.options.iterations):
            change = self.refinement(q, sample, step)
            q = integrate(self.rig, q, change)
            if np.abs(change).max() < self.options.tolerance:
                return q, True
        return q, self.options.iterations == 0

    def error(self, q: np.ndarray, sample: TargetSample) -> float:
        """Root mean square distance [m] of the weighing points that were measured; NaN for none, 0 without points."""
        if self.points is None:
            return 0.0
        self.kinematics.update(q)
        errors = np.linalg.norm(self.position_residuals(sample), axis=1)[self.points.weights > 0.0]
        seen = np.isfinite(errors)
        return float(np.sqrt(np.mean(errors[seen] ** 2))) if seen.any() else float("nan")


def rotation_error(modelled: np.ndarray, measured: np.ndarray) -> np.ndarray:
    """vee(sk(R h')) (..., 3) in inertial axes = h vee(sk(h' R)) of rapetti2020 (5), R measured and h modelled."""
    return vee(measured @ np.swapaxes(modelled, -1, -2))
