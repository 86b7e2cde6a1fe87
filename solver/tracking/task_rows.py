"""Residuals, weights and gains of all tasks as rows, summed link by link.

A Gauss-Newton step takes them as weights and forces on the links of a tree (`load_tree`); a Newton step as the exact
Hessian and gradient of their cost (`equations`).
"""

from __future__ import annotations

import math

import numpy as np

from ..base.so3 import skew
from ..dynamics.weighted_least_squares import DIAGONAL_COLUMNS, WEIGHT_SUMS, WRENCH_SIZE
from .kinematics import BLOCK_SIZE, IDENTITY, NEGATIVE_SKEW, Kinematics
from .tasks import TargetSample, Tasks

VEE = np.zeros((9, 3))
"""Maps the nine entries of a matrix to vee of its skew part. By definition."""
VEE[[7, 2, 3], [0, 1, 2]], VEE[[5, 6, 1], [0, 1, 2]] = 0.5, -0.5
TRACE = IDENTITY.ravel()
TINY = 1e-12
CHORD = 0.5 * (np.outer(TRACE, TRACE) - np.eye(9)[np.arange(9).reshape(3, 3).T.ravel()])
"""Maps E to (tr(E) 1 - E') / 2, both flat. By definition."""
SMALL_ROTATION_TRACE = 3.0 - 1e-3
"""Trace of a rotation so small (0.03 rad) that its angle and sine count as one. Derived: 3 less the square of the
angle."""
POINT_FEATURES = 16
"""Features of a point at p of weight w and force f: w, w p, f, and p (w p + f)'. Derived: 1 + 3 + 3 + 9."""


def _point_map() -> np.ndarray:
    """(POINT_FEATURES, 42): maps features to force and moment f, p x f, and to the matrix that gives those of -J for a
    twist.
    """
    result = np.zeros((POINT_FEATURES, WRENCH_SIZE + BLOCK_SIZE))
    result[4:7, :3] = IDENTITY
    result[7:, 3:WRENCH_SIZE] = -2.0 * VEE.T.reshape(3, 9).T
    block = result[:, WRENCH_SIZE:].reshape(POINT_FEATURES, WRENCH_SIZE, WRENCH_SIZE)
    crossed = -NEGATIVE_SKEW.reshape(3, 3, 3)
    block[0, :3, :3] = IDENTITY
    block[1:4, :3, 3:] = -crossed
    block[1:4, 3:, :3] = block[4:7, 3:, :3] = crossed
    block[7:, 3:, 3:] = (np.outer(TRACE, TRACE) - np.eye(9)).reshape(9, 3, 3)
    return result


POINT_MAP = _point_map()


class TaskRows:
    """The rows of all tasks at the current pose of the tree."""

    def __init__(self, tree: Kinematics, tasks: Tasks, huber: float, *, angles: bool = False) -> None:
        self._tree, self._huber, self._angles = tree, huber, angles
        points, rotations = tasks.positions, tasks.orientations
        self._point_count = 0 if points is None else len(points.names)
        self._orientation_count = 0 if rotations is None else len(rotations.names)
        none = np.zeros(0)
        self._links = np.concatenate([none if t is None else t.links for t in (points, rotations)]).astype(int)
        self._task_weights = np.concatenate([none if t is None else t.weights for t in (points, rotations)])
        own = (self._task_weights > 0.0).nonzero()[0]
        self._counted = own[own < self._point_count], own[own >= self._point_count] - self._point_count
        self._gains = np.concatenate([none if t is None else t.gains for t in (points, rotations)])
        self.equal_gains = bool((self._gains == 1.0).all())
        self._offsets = np.zeros((0, 3)) if points is None else points.offsets
        self._arms = skew(self._offsets) if self._offsets.any() else None
        self._selector = np.zeros((len(tree.rotations), len(self._links)))
        self._selector[self._links, np.arange(len(self._links))] = 1.0
        self._carried = tree.moves_link @ self._selector
        self._basis = np.zeros((len(self._links), WEIGHT_SUMS))
        x, y, z = self._offsets.T
        ones = np.ones(self._point_count)
        squares = [y * y + z * z, -x * y, x * x + z * z, -x * z, -y * z, x * x + y * y]
        self._basis[: self._point_count] = np.array([ones, x, y, z, *squares]).T
        self._basis[self._point_count :, DIAGONAL_COLUMNS] = 1.0
        self._forces = np.zeros((len(self._links), WRENCH_SIZE))
        self._relative = np.tile(TRACE, (self._orientation_count, 1))
        self._traces = self._relative @ TRACE
        self._row_terms = np.zeros((len(self._links), WRENCH_SIZE + BLOCK_SIZE))
        self._row_hessians = self._row_terms[:, WRENCH_SIZE:].reshape(-1, WRENCH_SIZE, WRENCH_SIZE)
        self._seen = np.zeros((self._point_count, POINT_FEATURES))
        self._axes, self._point_positions = tree.local_poses(self._links)
        self._pull = np.zeros((len(self._links), 3))
        self._weights = np.zeros(0)
        self._set_weights(self._task_weights)

    @property
    def max_weight(self) -> float:
        """Largest current weight of a row."""
        return float(self._weights.max())

    def set_residuals(self, sample: TargetSample, gain: float = 1.0, remaining: np.ndarray | None = None) -> None:
        """Sets the rows to the fraction ``gain`` of the residuals (5), minus the ``remaining`` ones (T, 3), world
        axes.
        """
        desired = self._residuals(sample)
        if remaining is not None:
            desired -= remaining
        if gain != 1.0 or (remaining is None and not self.equal_gains):
            desired *= gain * self._gains[:, None]
        self._set_rows(desired, sample)

    def load_tree(self) -> None:
        """Writes the current rows into the tree, as forces on its links."""
        count = self._point_count
        forces = (self._axes @ self._pull[:, :, None])[:, :, 0]
        self._forces[:count, :3] = forces[:count]
        self._forces[count:, 3:] = forces[count:]
        if self._arms is not None:
            self._forces[:count, 3:] = (self._arms @ forces[:count, :, None])[:, :, 0]
        np.matmul(self._selector, self._forces, out=self._tree.forces)

    def equations(self) -> tuple[np.ndarray, np.ndarray]:
        """The exact Hessian (nv, nv) of half the rows' cost at gain 1, and minus its gradient (nv,).

        For coordinates i above j both are sums over what j moves, see `Kinematics.equations`. A point p of weight w and
        residual r adds the second-order term of `Kinematics` to w J'J. An orientation's cost 2 w (1 - cos angle), with
        the gradient (5), adds w (tr(E) 1 - E') / 2 between two successive rotations, E = R h'. Squared angles w t^2
        with the gradient w t n add a (1 - n n') + n n', a = t / 2 / tan(t / 2), and half the cross product of t n.
        """
        count = self._point_count
        if count:
            weights, forces, positions, features = (
                self._weights[:count, None],
                self._pull[:count],
                self._point_positions,
                self._seen,
            )
            weighted_positions = weights * positions
            features[:, :1], features[:, 1:4], features[:, 4:7] = weights, weighted_positions, forces
            features[:, 7:] = (positions[:, :, None] * (weighted_positions + forces)[:, None, :]).reshape(-1, 9)
            np.matmul(features, POINT_MAP, out=self._row_terms[:count])
        if self._orientation_count:
            self._row_terms[count:, 3:WRENCH_SIZE] = self._pull[count:]
            self._row_hessians[count:, 3:, 3:] = self._orientation_hessians().reshape(-1, 3, 3)
        return self._tree.equations(self._row_terms, self._carried)

    def _orientation_hessians(self) -> np.ndarray:
        """(O, 9) of orientations, see `equations`."""
        weights, relative, traces = self._weights[self._point_count :, None], self._relative, self._traces
        if not math.isfinite(traces.sum()):
            relative = np.where(np.isfinite(relative), relative, 0.0)
            traces = relative @ TRACE
        if not self._angles:
            return np.asarray((relative @ CHORD) * weights)
        rotation_vectors = _angle_over_sine(0.5 * (traces - 1.0))[:, None] * (relative @ VEE)
        angles = np.sqrt((rotation_vectors * rotation_vectors).sum(axis=1))
        axes = rotation_vectors / np.maximum(angles, TINY)[:, None]
        reductions = 1.0 - 0.5 * angles / np.tan(np.maximum(0.5 * angles, TINY))
        perpendicular = (TRACE - (axes[:, :, None] * axes[:, None, :]).reshape(-1, 9)) * reductions[:, None]
        return np.asarray((TRACE - perpendicular + 0.5 * skew(rotation_vectors).reshape(-1, 9)) * weights)

    def set_velocities(self, sample: TargetSample, step: float) -> None:
        """Sets the rows to the measured velocities over a step [s]; rows without any have no weight."""
        self._axes, _ = self._tree.local_poses(self._links)
        self._set_rows(step * self._velocities(sample), sample)

    def remaining_innovation(
        self,
        q: np.ndarray,
        previous: TargetSample,
        sample: TargetSample,
        step: float,
        share: float,
    ) -> np.ndarray | None:
        """The part of the innovation (T, 3) that a step does not remove, world axes; None if it removes all, at K dt =
        1.

        The innovation is the error at ``q`` before the step, plus the difference between the new sample and the old one
        moved on with the measured velocities.
        """
        if share == 1.0 and self.equal_gains:
            return None
        self._tree.update_poses(q)
        result = self._residuals(previous)
        if sample.velocities is not None or sample.angular_velocities is not None:
            speeds = self._velocities(sample)
            before = self._velocities(previous)
            mean = np.where(np.isfinite(before), 0.5 * (before + speeds), speeds)
            surprise = self._displacements(previous, sample) - step * mean
            result += np.where(np.isfinite(surprise), surprise, 0.0)
        result *= 1.0 - share * self._gains[:, None]
        return np.where(np.isfinite(result), result, 0.0)

    @property
    def max_angle(self) -> float:
        """[rad] Largest angle, 2 sin(angle / 2), of the current weighted orientations; 0 without any."""
        if not self._orientation_count:
            return 0.0
        traces = self._traces[self._weights[self._point_count :] > 0.0]
        return math.sqrt(max(3.0 - float(traces.min(initial=3.0)), 0.0))

    @property
    def orientation_costs(self) -> np.ndarray:
        """(O,) w 2 (1 - cos angle) of the current orientations."""
        weights = self._weights[self._point_count :]
        return weights * (3.0 - np.where(weights > 0.0, self._traces, 3.0))

    def errors(self, sample: TargetSample) -> tuple[float, float]:
        """Root mean squares over measured targets with a weight: distance [m] of points, 2 sin(angle / 2) [rad] of
        orientations.

        Each is 0 without such tasks, NaN if none of them was measured.
        """
        self._update_poses(sample)
        points, orientations = self._counted
        distance = 0.0
        if self._point_count:
            residuals = sample.positions - self._point_positions
            distance = _root_mean((residuals * residuals).sum(axis=1)[points])
        return distance, _root_mean(3.0 - self._traces[orientations]) if self._orientation_count else 0.0

    def _update_poses(self, sample: TargetSample) -> None:
        """Updates the positions of the points, and the rotations from links to measurements."""
        self._axes, origins = self._tree.local_poses(self._links)
        count = self._point_count
        if count:
            positions = origins[:count]
            if self._arms is not None:
                positions = positions + (self._offsets[:, None] @ self._axes[:count])[:, 0]
            self._point_positions = positions
        if self._orientation_count:
            assert sample.rotations is not None
            self._relative = (sample.rotations @ self._axes[count:]).reshape(-1, 9)
            self._traces = self._relative @ TRACE

    def _residuals(self, sample: TargetSample) -> np.ndarray:
        """(T, 3) world axes, NaN where not measured."""
        self._update_poses(sample)
        result = np.empty((len(self._links), 3))
        count = self._point_count
        if count:
            assert sample.positions is not None
            np.subtract(sample.positions, self._point_positions, out=result[:count])
        if self._orientation_count:
            rotations = result[count:]
            np.matmul(self._relative, VEE, out=rotations)
            if self._angles and not self._traces.min() > SMALL_ROTATION_TRACE:
                rotations *= _angle_over_sine(0.5 * (self._traces - 1.0))[:, None]
        return result

    def _velocities(self, sample: TargetSample) -> np.ndarray:
        """(T, 3) measured, world axes; NaN where none."""
        result = np.full((len(self._links), 3), np.nan)
        if sample.velocities is not None:
            result[: self._point_count] = sample.velocities
        if sample.angular_velocities is not None:
            result[self._point_count :] = sample.angular_velocities
        return result

    def _displacements(self, previous: TargetSample, sample: TargetSample) -> np.ndarray:
        """(T, 3) displacement of the targets from one sample to the next, world axes."""
        result = np.empty((len(self._links), 3))
        if sample.positions is not None and previous.positions is not None:
            result[: self._point_count] = sample.positions - previous.positions
        if sample.rotations is not None and previous.rotations is not None:
            result[self._point_count :] = (sample.rotations @ previous.rotations.swapaxes(1, 2)).reshape(-1, 9) @ VEE
        return result

    def _set_rows(self, desired: np.ndarray, sample: TargetSample) -> None:
        weights = self._task_weights
        if sample.weight_factors is not None or self._huber > 0.0 or not math.isfinite(desired.sum()):
            seen = np.isfinite(desired).all(axis=1)
            weights = np.where(seen, weights, 0.0)
            desired = np.where(seen[:, None], desired, 0.0)
            if sample.weight_factors is not None:
                weights[: self._point_count] *= sample.weight_factors
            if self._huber > 0.0:
                lengths = np.linalg.norm(desired[: self._point_count], axis=1)
                weights[: self._point_count] *= np.minimum(1.0, self._huber / np.maximum(lengths, 1e-12))
        if weights is not self._weights and not np.array_equal(weights, self._weights):
            self._set_weights(weights)
        self._pull = weights[:, None] * desired

    def _set_weights(self, weights: np.ndarray) -> None:
        self._weights = weights
        self._tree.set_weights(self._selector @ (weights[:, None] * self._basis))


def _angle_over_sine(cosines: np.ndarray) -> np.ndarray:
    """t / sin t of cos t, 1 where t is 0; finite at half a turn, where the axis is unknown."""
    cosines = np.minimum(np.maximum(cosines, -1.0 + 1e-9), 1.0 - TINY)
    return np.asarray(np.arccos(cosines) / np.sqrt(1.0 - cosines * cosines))


def _root_mean(squares: np.ndarray) -> float:
    total = float(squares.sum())
    if math.isfinite(total) and len(squares):
        return math.sqrt(max(total / len(squares), 0.0))
    known = np.isfinite(squares)
    return float(np.sqrt(max(squares[known].mean(), 0.0))) if known.any() else float("nan")
