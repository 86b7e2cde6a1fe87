"""Dynamical inverse kinematics (rapetti2020 section 3): velocity correction, constrained inversion, integration."""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dposv

from ..errors import BackendError
from ..pinocchio_loader import pin
from ..rig import ROOT_NV, Rig
from .bounded import bounded_step
from .kinematics import Kinematics, add_orientation_rows, row_sums
from .options import TrackingOptions
from .posture import JointLimits, Posture, skew
from .targets import Targets

POSITION = slice(0, 3)
ROTATION = slice(3, 7)
"""Entries of q that hold the root's position and quaternion."""
TURN_LIMIT = 0.6
"""[rad] Longest step taken at once while refining: a Gauss-Newton step beyond it is not trusted."""


class InverseKinematics:
    """Targets of one recording on one rig, and the steps that bring the rig to them."""

    def __init__(self, rig: Rig, targets: Targets, options: TrackingOptions) -> None:
        self.rig = rig
        self.model = rig.model
        self.kinematics = Kinematics(rig)
        self.posture = Posture(rig, options.free_twist)
        self.limits = JointLimits(rig, options.limit_speed)
        self.options = options
        self.targets = targets
        self.points = targets.positions
        self.turns = targets.orientations
        if self.points is not None:
            self._selector = np.zeros((len(rig.links), len(self.points.names)))
            self._selector[self.points.links, np.arange(len(self.points.names))] = 1.0
            self._weights = self.points.weights * faded(targets.times, self.points.positions, options.fade)
        self._diagonal = np.diag_indices(rig.model.nv)
        self.bound_steps = 0
        """Steps in which a joint limit was active."""

    def position_residuals(self, frame: int) -> np.ndarray:
        """Measured minus modelled positions (P, 3) [m] at the current pose; NaN where not measured."""
        assert self.points is not None
        return self.points.positions[frame] - self.kinematics.points(self.points.links, self.points.offsets)

    def rotation_residuals(self, frame: int) -> np.ndarray:
        """sk(R h') as vectors in inertial axes (O, 3): rapetti2020 (5) turned into the axes of the Jacobian."""
        assert self.turns is not None
        return rotation_error(self.kinematics.rotations[self.turns.links], self.turns.rotations[frame])

    def correction(self, q: np.ndarray, frame: int, step: float) -> np.ndarray:
        """One step (nv,) from ``q`` at the previous frame: (9), (10), with measured target velocities.

        v* = v + K r, with r taken at the previous frame's targets where v sets out: the same target motion enters
        once. (Printed (9) takes r at the new targets, which leads by one step of target motion.) Where the previous
        sample is missing, the new one gives the residual and v is zero.
        """
        self.kinematics.update(q)
        previous = max(frame - 1, 0)
        points = turns = None
        if self.points is not None:
            residual, now = self.position_residuals(previous), self.position_residuals(frame)
            velocities = self.points.velocities
            moved = now - residual if velocities is None else velocities[frame] * step
            points = np.where(np.isfinite(residual + moved), moved + self.options.gain * residual, now)
        if self.turns is not None:
            residual, now = self.rotation_residuals(previous), self.rotation_residuals(frame)
            if self.turns.velocities is not None:
                moved = self.turns.velocities[frame] * step
            else:
                moved = rotation_error(self.turns.rotations[previous], self.turns.rotations[frame])
            turns = np.where(np.isfinite(residual + moved), moved + self.options.gain * residual, now)
        return self._inverted(q, frame, points, turns, step)

    def refinement(self, q: np.ndarray, frame: int, step: float) -> np.ndarray:
        """One more step (nv,) at a frame whose targets stand still: v* = K r at the new targets.

        Beyond the paper: the points' second-order term joins J'WJ while that stays positive definite (Newton's method
        instead of Gauss-Newton's), or limbs whose markers lie near their axis would need dozens of steps to settle.
        """
        self.kinematics.update(q)
        points = None if self.points is None else self.options.gain * self.position_residuals(frame)
        turns = None if self.turns is None else self.options.gain * self.rotation_residuals(frame)
        result = self._inverted(q, frame, points, turns, step, exact=True)
        longest = np.abs(result[3:]).max()
        return result if longest <= TURN_LIMIT else result * (TURN_LIMIT / longest)

    def normal_equations(
        self, q: np.ndarray, frame: int, points: np.ndarray | None, turns: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """J'WJ (nv, nv) and J'W u (nv,) with posture and damping, for wanted displacements of points and links."""
        hessian, gradient, _ = self._equations(q, frame, points, turns, exact=False)
        return hessian, gradient

    def _equations(
        self, q: np.ndarray, frame: int, points: np.ndarray | None, turns: np.ndarray | None, *, exact: bool
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """`normal_equations`, and the second-order term of the points if ``exact``."""
        options = self.options
        sums = np.zeros((len(self.rig.links), 19))
        curvature = None
        if points is not None and self.points is not None:
            seen = np.isfinite(points[:, 0])
            weights = np.where(seen, self._weights[frame], 0.0)
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
        frame: int,
        points: np.ndarray | None,
        turns: np.ndarray | None,
        step: float,
        *,
        exact: bool = False,
    ) -> np.ndarray:
        """Inverse differential kinematics (10) times the step; the quadratic program only where a limit binds."""
        hessian, gradient, curvature = self._equations(q, frame, points, turns, exact=exact)
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

    def settled(self, q: np.ndarray, frame: int, step: float) -> np.ndarray:
        """Configuration after `refinement` steps until converged or out of iterations."""
        for _ in range(self.options.iterations):
            change = self.refinement(q, frame, step)
            q = pin.integrate(self.model, q, change)
            if np.abs(change).max() < self.options.tolerance:
                break
        return q


def rotation_error(modelled: np.ndarray, measured: np.ndarray) -> np.ndarray:
    """vee(sk(R h')) (..., 3) in inertial axes = h vee(sk(h' R)) of rapetti2020 (5), R measured and h modelled."""
    product = measured @ np.swapaxes(modelled, -1, -2)
    return 0.5 * np.stack(
        [
            product[..., 2, 1] - product[..., 1, 2],
            product[..., 0, 2] - product[..., 2, 0],
            product[..., 1, 0] - product[..., 0, 1],
        ],
        axis=-1,
    )


def faded(times: np.ndarray, positions: np.ndarray, fade: float) -> np.ndarray:
    """Share (N, P) of its weight that each point (N, P, 3) keeps: 1 far from gaps, smoothly to 0 at a missing sample.

    The start and the end of the recording are no gaps.
    """
    seen = np.isfinite(positions[:, :, 0])
    shares = seen.astype(float)
    if fade > 0.0:
        for point in np.flatnonzero(~seen.all(axis=0) & seen.any(axis=0)):
            missing = times[~seen[:, point]]
            after = np.searchsorted(missing, times)
            left = times - missing[np.maximum(after - 1, 0)]
            right = missing[np.minimum(after, len(missing) - 1)] - times
            distance = np.minimum(np.where(after > 0, left, np.inf), np.where(after < len(missing), right, np.inf))
            reach = np.clip(distance / fade, 0.0, 1.0)
            shares[:, point] *= reach**2 * (3.0 - 2.0 * reach)
    return shares


class BaumgarteRoot:
    """Root rotation as a matrix integrated with rapetti2020 (14)-(15), the paper's alternative to the manifold."""

    def __init__(self, quaternion: np.ndarray, gain: float) -> None:
        self.matrix = np.asarray(pin.Quaternion(*quaternion[[3, 0, 1, 2]]).toRotationMatrix())
        self.gain = gain

    def advance(self, turn: np.ndarray) -> np.ndarray:
        """Quaternion xyzw after the angular step ``turn`` (3,) [rad] in root axes.

        R' = R (S(w) + A), A = rho / 2 ((R'R)^-1 - 1), one explicit Euler step.
        """
        pull = 0.5 * self.gain * (np.linalg.inv(self.matrix.T @ self.matrix) - np.eye(3))
        self.matrix = self.matrix + self.matrix @ (skew(turn) + pull)
        left, _, right = np.linalg.svd(self.matrix)
        return np.asarray(pin.Quaternion(left @ right).coeffs())

    @property
    def drift(self) -> float:
        """|R'R - 1|: how far the matrix is from a rotation."""
        return float(np.linalg.norm(self.matrix.T @ self.matrix - np.eye(3)))
