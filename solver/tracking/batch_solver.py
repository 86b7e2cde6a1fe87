"""Poses of many frames of recorded markers at once, each by Newton's method from a pose nearby.

Where every frame is to converge anyway, frames between two that are known need not be followed one after the other:
a curve through the known ones is near enough for steps of Newton's method, which NumPy takes in hundreds of frames at
once for a small part of the price of as many steps of Python. The cost and the joint limits are those of
`InverseKinematics`, so that both end at the same poses.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..coordinates import continuous_quaternions, quaternion_columns
from ..dynamics import integrate
from ..rig import ROOT_NV, Rig
from ..signals.manifold import fit_spline
from ..so3 import right_jacobian, skew
from .inverse_kinematics import CURVATURE_RATIO, MAX_ANGULAR_STEP, InverseKinematics
from .joint_limits import LimitStops

FRAMES_PER_BATCH = 256
"""Frames that are treated at once."""
MAX_ITERATIONS = 8
"""Newton steps after which a frame counts as lost."""
MAX_BOUND_CHANGES = 12
"""Changes of what is held at its limits after which a step's limits count as unsettled."""
BOUND_TOLERANCE = 1e-9
"""[rad, m] By which a step may pass a limit."""


@dataclass(frozen=True, slots=True)
class BatchSolution:
    """Where frames came to.

    Attributes:
        q: (N, nq) poses.
        converged: (N,) True where they converged.
        bounded: (N,) True where a joint limit holds.
        error: (N,) [m] root mean square distance of the points before the last step.
    """

    q: np.ndarray
    converged: np.ndarray
    bounded: np.ndarray
    error: np.ndarray


class BatchSolver:
    """The points of an `InverseKinematics` at rest, over many frames."""

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
        """The poses that frames of measured points converge to.

        Args:
            q: (N, nq) poses nearby.
            positions: (N, P, 3) [m] world; NaN where not measured.
            weight_factors: (N, P) of its weight that each point keeps.
        """
        result = BatchSolution(q.copy(), np.zeros(len(q), bool), np.zeros(len(q), bool), np.zeros(len(q)))
        seen = np.isfinite(positions[:, :, 0])
        weights = np.where(seen, self._task.weights * weight_factors, 0.0)
        measured = np.where(seen[:, :, None], positions, 0.0)
        for start in range(0, len(q), FRAMES_PER_BATCH):
            going = np.arange(start, min(start + FRAMES_PER_BATCH, len(q)))
            for _ in range(MAX_ITERATIONS):
                step, sure = self._step(result, going, measured[going], weights[going])
                going, step = going[sure], step[sure]
                result.q[going] = integrate(self._solver.rig, result.q[going], step)
                close = CURVATURE_RATIO * np.abs(step).max(axis=1, initial=0.0) ** 2 < self._solver.options.tolerance
                result.converged[going[close]] = True
                going = going[~close]
                if not len(going):
                    break
        return result

    def _step(
        self, found: BatchSolution, going: np.ndarray, measured: np.ndarray, weights: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Newton's steps (n, nv) of the frames that still go (n,), and which of them (n,) are to be trusted."""
        q = found.q[going]
        matrix, slope, found.error[going] = self._equations(q, measured, weights)
        step = _solve_linear(matrix, slope)
        # frames n, coordinates i: a step that does not lead down is one to a saddle
        down = np.einsum("ni,ni->n", step, slope) >= 0.0
        bounded = np.zeros(len(q), bool)
        if self._limited:
            places = self._stops.coordinates(q)
            low, high = self._stops.lower - places, self._stops.upper - places
            turned = self._rotation_jacobians(places)
            outside = _violates(_solve_linear(turned, step)[:, ROOT_NV:], low, high)
            bounded = outside.any(axis=1)
            at = np.flatnonzero(bounded)
            if len(at):
                turning = turned[at]
                back = turning.swapaxes(1, 2)
                inner, settled = _solve_within_bounds(
                    back @ matrix[at] @ turning, (back @ slope[at][:, :, None])[:, :, 0], low[at], high[at]
                )
                step[at] = (turning @ inner[:, :, None])[:, :, 0]
                down[at] = settled
        found.bounded[going] = bounded
        return step, down & (np.abs(step[:, 3:]).max(axis=1) <= MAX_ANGULAR_STEP)

    def _rotation_jacobians(self, places: np.ndarray) -> np.ndarray:
        """(N, nv, nv): tangent steps of changes of the joint coordinates (N, nv - 6), the root's being its own."""
        size = ROOT_NV + places.shape[1]
        result = np.broadcast_to(np.eye(size), (len(places), size, size)).copy()
        for own in self._stops.rotation_slices:
            moves = slice(ROOT_NV + own.start, ROOT_NV + own.stop)
            result[:, moves, moves] = right_jacobian(places[:, own])
        return result

    def _equations(
        self, q: np.ndarray, measured: np.ndarray, weights: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Exact Hessians (N, nv, nv), slopes (N, nv) downwards, and the errors of `BatchSolution`; see `Kinematics`."""
        solver, task = self._solver, self._task
        axes, origins, jacobians = solver.kinematics.evaluate_batch(q)
        # frames n, points p, components c and d
        points = np.einsum("npcd,pd->npc", axes[:, task.links], task.offsets) + origins[:, task.links]
        apart = measured - points
        weighing = (weights > 0.0).astype(float)
        error = np.sqrt(np.einsum("np,npc,npc->n", weighing, apart, apart) / np.maximum(weighing.sum(axis=1), 1.0))
        pulls = weights[:, :, None] * apart
        heavy = weights[:, :, None] * points
        columns = [weights[:, :, None], heavy, pulls]
        columns += [(points[:, :, :, None] * part[:, :, None, :]).reshape(*weights.shape, 9) for part in (heavy, pulls)]
        sums = self._point_subtrees @ np.concatenate(columns, axis=2)
        weight, first, force = sums[:, :, 0], sums[:, :, 1:4], sums[:, :, 4:7]
        second, moments = (part.reshape(*part.shape[:2], 3, 3) for part in (sums[:, :, 7:16], sums[:, :, 16:]))
        torque = np.stack([moments[:, :, k - 2, k - 1] - moments[:, :, k - 1, k - 2] for k in range(3)], axis=2)
        slope = np.einsum("nic,nic->ni", jacobians, np.concatenate([force, torque], axis=2)[:, self._columns])
        slope += solver.options.posture_weight * solver.posture.restoring_torque(q)
        # a column's force and moment about the world origin, less what the second-order term takes off
        blocks = np.zeros((*weight.shape, 6, 6))
        one, arms = np.eye(3), skew(first)
        blocks[:, :, :3, :3] = weight[:, :, None, None] * one
        blocks[:, :, :3, 3:] = -arms
        blocks[:, :, 3:, :3] = arms + skew(force)
        bent = second + moments
        trace = np.trace(bent, axis1=2, axis2=3)[:, :, None, None]
        blocks[:, :, 3:, 3:] = trace * one - bent
        felt = (blocks[:, self._columns] @ jacobians[:, :, :, None])[:, :, :, 0]
        product = (jacobians @ felt.swapaxes(1, 2)) * solver.kinematics.pair_weights
        matrix = product + product.swapaxes(1, 2)
        np.einsum("nii->ni", matrix)[:] += self._prices
        return matrix, slope, error


def interpolate_poses(rig: Rig, times: np.ndarray, known: np.ndarray, q: np.ndarray, frames: slice) -> np.ndarray:
    """Poses (n, nq) in a row of frames of a curve through those of known ones.

    Args:
        rig: that is posed.
        times: (N,) [s] of all frames.
        known: (K,) frames, in order.
        q: (K, nq) their poses.
        frames: the row.
    """
    if len(known) == 1:
        return np.repeat(q, frames.stop - frames.start, axis=0)
    result = fit_spline(times[known], continuous_quaternions(rig, q))(times[frames])
    for own in quaternion_columns(rig):
        result[:, own] /= np.linalg.norm(result[:, own], axis=1, keepdims=True)
    return result


def _solve_linear(matrices: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solutions (N, n) of equations (N, n, n), (N, n); NaN where they have none."""
    try:
        return np.linalg.solve(matrices, right[:, :, None])[:, :, 0]
    except np.linalg.LinAlgError:
        if len(matrices) == 1:
            return np.full_like(right, np.nan)
    half = len(matrices) // 2
    return np.concatenate([_solve_linear(matrices[part], right[part]) for part in (slice(half), slice(half, None))])


def _violates(change: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    return (change < low - BOUND_TOLERANCE) | (change > high + BOUND_TOLERANCE)


def _solve_within_bounds(
    matrix: np.ndarray, slope: np.ndarray, low: np.ndarray, high: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Changes (N, nv) that lead down most within bounds (N, nv - 6) of the joint coordinates, by active sets.

    Returns:
        The changes, and in which frames (N,) a set was found at which no bound is passed and none pulls.
    """
    count, size = slope.shape
    free = np.full((count, ROOT_NV), np.inf)
    low, high = np.hstack([-free, low]), np.hstack([free, high])
    held, change = np.zeros((count, size), int), np.zeros((count, size))
    left = np.arange(count)
    for _ in range(MAX_BOUND_CHANGES):
        at, own = held[left] != 0, matrix[left]
        bounds = np.where(at, np.where(held[left] > 0, high[left], low[left]), 0.0)
        right = slope[left] - (own @ bounds[:, :, None])[:, :, 0]
        locked = np.where(at[:, :, None] | at[:, None, :], np.eye(size), own)
        found = _solve_linear(locked, np.where(at, bounds, right))
        change[left] = found
        force = slope[left] - (own @ found[:, :, None])[:, :, 0]
        pulled = at & (force * held[left] < 0.0)
        passed = (found > high[left] + BOUND_TOLERANCE).astype(int) - (found < low[left] - BOUND_TOLERANCE)
        passed[at] = 0
        same = ~pulled.any(axis=1) & ~passed.any(axis=1)
        held[left] = np.where(pulled, 0, held[left]) + passed
        left = left[~same]
        if not len(left):
            break
    settled = np.ones(count, bool)
    settled[left] = False
    return change, settled
