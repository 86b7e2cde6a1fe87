"""Poses of many frames of recorded markers at once, each by Newton's method from a pose nearby.

If every frame converges, frames between two known ones need not be tracked one after the other. A curve through the
known poses is near enough for steps of Newton's method, which NumPy computes for hundreds of frames at once, in a small
part of the time of as many steps in Python. Cost and joint limits are those of `InverseKinematics`, so that both end at
the same poses.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..base.file_arrays import cut_frames
from ..base.so3 import right_jacobian, skew
from ..dynamics import integrate
from ..dynamics.coordinates import continuous_quaternions, quaternion_columns
from ..qp.bounded import Bounds, solve_bounded
from ..signals.manifold import fit_spline
from ..skeleton.rig import ROOT_NV, Rig
from .inverse_kinematics import CURVATURE_RATIO, MAX_ANGULAR_STEP, InverseKinematics
from .joint_limits import LimitStops

MAX_ITERATIONS = 8
"""Newton steps after which a frame counts as not converged. Measured on a simulated dance of 3 s with gaps and
exchanged labels, whose joint centres are 13.4 mm off: half and twice the value end within 0.1 mm."""
BOUND_TOLERANCE = 1e-9
"""[rad, m] By which a step may violate a limit."""


@dataclass(frozen=True, slots=True)
class BatchSolution:
    """Poses of several frames.

    Attributes:
        q: (N, nq) poses.
        converged: (N,) True if they converged.
        error: (N,) [m] root mean square distance of the points before the last step.
    """

    q: np.ndarray
    converged: np.ndarray
    error: np.ndarray


class BatchSolver:
    """Solves many frames of the points of an `InverseKinematics`."""

    def __init__(self, solver: InverseKinematics) -> None:
        assert solver.points is not None
        self._solver, self._task = solver, solver.points
        tree, options = solver.kinematics, solver.options
        self._stops = LimitStops(solver.rig)
        self._limited = options.limits and self._stops.has_limits
        own = np.equal(self._task.links, np.arange(len(solver.rig.links))[:, None]).astype(float)
        self._point_subtrees = tree.subtree_matrix @ own
        """(L, P): 1 where a link moves a point."""
        self._prices = options.posture_weight * solver.posture.diagonal + options.damping
        self._columns = tree.link_of_column

    def solve(self, q: np.ndarray, positions: np.ndarray, weight_factors: np.ndarray) -> BatchSolution:
        """Poses that frames of measured points converge to.

        Args:
            q: (N, nq) poses nearby.
            positions: (N, P, 3) [m] world; NaN where not measured.
            weight_factors: (N, P) factor on the weight of each point.
        """
        result = BatchSolution(q.copy(), np.zeros(len(q), bool), np.zeros(len(q)))
        seen = np.isfinite(positions[:, :, 0])
        weights = np.where(seen, self._task.weights * weight_factors, 0.0)
        measured = np.where(seen[:, :, None], positions, 0.0)
        for frames in cut_frames(len(q)):
            active = np.arange(frames.start, frames.stop)
            for _ in range(MAX_ITERATIONS):
                step, is_valid = self._step(result, active, measured[active], weights[active])
                active, step = active[is_valid], step[is_valid]
                result.q[active] = integrate(self._solver.rig, result.q[active], step)
                close = CURVATURE_RATIO * np.abs(step).max(axis=1, initial=0.0) ** 2 < self._solver.options.tolerance
                result.converged[active[close]] = True
                active = active[~close]
                if not len(active):
                    break
        return result

    def _step(
        self, found: BatchSolution, active: np.ndarray, measured: np.ndarray, weights: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Newton's steps (n, nv) of the active frames (n,), and which of them (n,) are valid."""
        q = found.q[active]
        matrix, gradient, found.error[active] = self._equations(q, measured, weights)
        step = _solve_linear(matrix, gradient)
        # frames n, coordinates i: a step that does not descend leads to a saddle point
        descends = np.einsum("ni,ni->n", step, gradient) >= 0.0
        if self._limited:
            places = self._stops.coordinates(q)
            low, high = self._stops.lower - places, self._stops.upper - places
            turned = self._rotation_jacobians(places)
            change = _solve_linear(turned, step)[:, ROOT_NV:]
            at = np.flatnonzero(((change < low - BOUND_TOLERANCE) | (change > high + BOUND_TOLERANCE)).any(axis=1))
            if len(at):
                turning = turned[at]
                back = turning.swapaxes(1, 2)
                hessians, gradients = back @ matrix[at] @ turning, (back @ gradient[at][:, :, None])[:, :, 0]
                programs = zip(hessians, gradients, low[at], high[at])
                inner = [solve_bounded(h, g, _bounds(lower, upper)) for h, g, lower, upper in programs]
                step[at] = (turning @ np.array([each.x for each in inner])[:, :, None])[:, :, 0]
                descends[at] = [each.slack == 0.0 for each in inner]
        return step, descends & (np.abs(step[:, 3:]).max(axis=1) <= MAX_ANGULAR_STEP)

    def _rotation_jacobians(self, places: np.ndarray) -> np.ndarray:
        """(N, nv, nv): tangent steps per change of the joint coordinates (N, nv - 6); identity for the root."""
        size = ROOT_NV + places.shape[1]
        result = np.broadcast_to(np.eye(size), (len(places), size, size)).copy()
        for own in self._stops.rotation_slices:
            moves = slice(ROOT_NV + own.start, ROOT_NV + own.stop)
            result[:, moves, moves] = right_jacobian(places[:, own])
        return result

    def _equations(
        self, q: np.ndarray, measured: np.ndarray, weights: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Exact Hessians (N, nv, nv), descent gradients (N, nv), and the errors of `BatchSolution`; see
        `Kinematics`.
        """
        solver, task = self._solver, self._task
        axes, origins, jacobians = solver.kinematics.evaluate_batch(q)
        # frames n, points p, components c and d
        points = np.einsum("npcd,pd->npc", axes[:, task.links], task.offsets) + origins[:, task.links]
        residuals = measured - points
        weighing = (weights > 0.0).astype(float)
        error = np.sqrt(
            np.einsum("np,npc,npc->n", weighing, residuals, residuals) / np.maximum(weighing.sum(axis=1), 1.0)
        )
        pulls = weights[:, :, None] * residuals
        heavy = weights[:, :, None] * points
        columns = [weights[:, :, None], heavy, pulls]
        columns += [(points[:, :, :, None] * part[:, :, None, :]).reshape(*weights.shape, 9) for part in (heavy, pulls)]
        sums = self._point_subtrees @ np.concatenate(columns, axis=2)
        weight, first, force = sums[:, :, 0], sums[:, :, 1:4], sums[:, :, 4:7]
        second, moments = (part.reshape(*part.shape[:2], 3, 3) for part in (sums[:, :, 7:16], sums[:, :, 16:]))
        torque = np.stack([moments[:, :, k - 2, k - 1] - moments[:, :, k - 1, k - 2] for k in range(3)], axis=2)
        gradient = np.einsum("nic,nic->ni", jacobians, np.concatenate([force, torque], axis=2)[:, self._columns])
        gradient += solver.options.posture_weight * solver.posture.restoring_torque(q)
        # a column's force and moment about the world origin, minus the second-order term
        blocks = np.zeros((*weight.shape, 6, 6))
        one, arms = np.eye(3), skew(first)
        blocks[:, :, :3, :3] = weight[:, :, None, None] * one
        blocks[:, :, :3, 3:] = -arms
        blocks[:, :, 3:, :3] = arms + skew(force)
        second_moments = second + moments
        trace = np.trace(second_moments, axis1=2, axis2=3)[:, :, None, None]
        blocks[:, :, 3:, 3:] = trace * one - second_moments
        wrenches = (blocks[:, self._columns] @ jacobians[:, :, :, None])[:, :, :, 0]
        product = (jacobians @ wrenches.swapaxes(1, 2)) * solver.kinematics.pair_weights
        matrix = product + product.swapaxes(1, 2)
        np.einsum("nii->ni", matrix)[:] += self._prices
        return matrix, gradient, error


def interpolate_poses(rig: Rig, times: np.ndarray, known: np.ndarray, q: np.ndarray, frames: slice) -> np.ndarray:
    """Poses (n, nq) of consecutive frames on a curve through known ones.

    Args:
        rig: whose poses.
        times: (N,) [s] of all frames.
        known: (K,) frames, in order.
        q: (K, nq) their poses.
        frames: the consecutive frames.
    """
    if len(known) == 1:
        return np.repeat(q, frames.stop - frames.start, axis=0)
    result = fit_spline(times[known], continuous_quaternions(rig, q))(times[frames])
    for own in quaternion_columns(rig):
        result[:, own] /= np.linalg.norm(result[:, own], axis=1, keepdims=True)
    return result


def _solve_linear(matrices: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solutions (N, n) of equations (N, n, n), (N, n); NaN where there is none."""
    try:
        return np.linalg.solve(matrices, right[:, :, None])[:, :, 0]
    except np.linalg.LinAlgError:
        if len(matrices) == 1:
            return np.full_like(right, np.nan)
    half = len(matrices) // 2
    return np.concatenate([_solve_linear(matrices[part], right[part]) for part in (slice(half), slice(half, None))])


def _bounds(low: np.ndarray, high: np.ndarray) -> Bounds:
    """Bounds (nv - 6,) of the joint coordinates."""
    free = np.full(ROOT_NV, np.inf)
    return Bounds(np.concatenate([-free, low]), np.concatenate([free, high]), np.zeros((0, ROOT_NV + len(low))))
