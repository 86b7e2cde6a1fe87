"""What the targets ask of the links: residuals, weights and gains of all tasks as rows, summed link by link."""

from __future__ import annotations

import math

import numpy as np

from ..dynamics.weighted import DIAGONAL, FORCE, SUMS
from ..so3 import skew
from .kinematics import UNIT, Kinematics, bends
from .tasks import TargetSample, Tasks

VEE = np.zeros((9, 3))
"""Takes vee of a matrix's skew part from its nine entries."""
VEE[[7, 2, 3], [0, 1, 2]], VEE[[5, 6, 1], [0, 1, 2]] = 0.5, -0.5
TRACE = UNIT.ravel()
TINY = 1e-12
ALIKE = 3.0 - 1e-3
"""Trace of a rotation by so little (0.03 rad) that its angle and sine count as one."""


class LinkRows:
    """The rows of all tasks at the pose where the tree stands, written into it as weights and forces.

    Points come first, then orientations: T rows of three numbers, in the axes of their links, where places on links
    and weights never change.
    """

    def __init__(self, tree: Kinematics, tasks: Tasks, huber: float, *, angles: bool = False) -> None:
        self._tree, self._huber, self._angles = tree, huber, angles
        points, turns = tasks.positions, tasks.orientations
        self._points = 0 if points is None else len(points.names)
        self._turns = 0 if turns is None else len(turns.names)
        none = np.zeros(0)
        self._links = np.concatenate([none if t is None else t.links for t in (points, turns)]).astype(int)
        self._base = np.concatenate([none if t is None else t.weights for t in (points, turns)])
        own = (self._base > 0.0).nonzero()[0]
        self._counted = own[own < self._points], own[own >= self._points] - self._points
        self._gains = np.concatenate([none if t is None else t.gains for t in (points, turns)])
        self.alike = bool((self._gains == 1.0).all())
        self._offsets = np.zeros((0, 3)) if points is None else points.offsets
        self._arms = skew(self._offsets) if self._offsets.any() else None
        self._selector = np.zeros((len(tree.rotations), len(self._links)))
        self._selector[self._links, np.arange(len(self._links))] = 1.0
        self._carried = tree.carried @ self._selector
        self._basis = np.zeros((len(self._links), SUMS))
        x, y, z = self._offsets.T
        ones = np.ones(self._points)
        squares = [y * y + z * z, -x * y, x * x + z * z, -x * z, -y * z, x * x + y * y]
        self._basis[: self._points] = np.array([ones, x, y, z, *squares]).T
        self._basis[self._points :, DIAGONAL] = 1.0
        self._forces = np.zeros((len(self._links), FORCE))
        self._relative = np.tile(TRACE, (self._turns, 1))
        self._traces = self._relative @ TRACE
        self._measured = np.tile(UNIT, (self._turns, 1, 1))
        self._blocks = np.zeros((len(self._links), 3, 6))
        self._axes, self._origins = tree.local_poses(self._links)
        self._pull = np.zeros((len(self._links), 3))
        self._weights = np.zeros(0)
        self._weigh(self._base)

    @property
    def heaviest(self) -> float:
        """Largest weight of a row now."""
        return float(self._weights.max())

    def take(self, sample: TargetSample, gain: float = 1.0, kept: np.ndarray | None = None) -> None:
        """Ask for the share ``gain`` of the residuals (5), less what is ``kept`` of them (T, 3), world axes."""
        wanted, axes = self._residuals(sample)
        if kept is not None:
            wanted -= (axes @ kept[:, :, None])[:, :, 0]
        if gain != 1.0 or (kept is None and not self.alike):
            wanted *= gain * self._gains[:, None]
        self._write(wanted, sample)

    def second_order(self) -> tuple[np.ndarray, np.ndarray]:
        """What turns J'WJ into the exact Hessian for the rows as last taken, at gain 1, by `Kinematics.curvature`.

        An orientation's cost 2 w (1 - cos angle), whose slope is (5), bends by w (tr(E) 1 - sym E) / 2, E = h'R, where
        Gauss and Newton have w 1; with half the cross product of its moment, a turn's slope falls short by
        w (1 - tr(E) / 2) 1 + w E' / 2, which in world axes has h R' for E'. Squared angles w t^2 with the slope w t n
        bend by a (1 - n n') + n n', a = t / 2 / tan(t / 2).

        Returns:
            Blocks (T, 3, 6) of the rows, and which coordinates move them (nv, T).
        """
        count, axes, blocks = self._points, self._axes, self._blocks
        if self._turns:
            self._shortfalls(axes[count:], blocks[count:, :, 3:])
        if count:
            turns = axes[:count].swapaxes(1, 2)
            forces = (turns @ self._pull[:count, :, None])[:, :, 0]
            places = self._origins[:count]
            if self._arms is not None:
                places = places + (turns @ self._offsets[:, :, None])[:, :, 0]
            blocks[:count] = bends(places[:, :, None] * forces[:, None, :], forces)
        return blocks, self._carried

    def _shortfalls(self, axes: np.ndarray, result: np.ndarray) -> None:
        """Write those (O, 3, 3) of `second_order`; axes (O, 3, 3) are transposed."""
        weights, relative, measured, traces = (
            self._weights[self._points :],
            self._relative,
            self._measured,
            self._traces,
        )
        if not math.isfinite(traces.sum()):
            relative, measured = (np.where(np.isfinite(each), each, 0.0) for each in (relative, measured))
            traces = relative @ TRACE
        if not self._angles:
            np.multiply((measured @ axes).swapaxes(1, 2), (0.5 * weights)[:, None, None], out=result)
            result += (weights * (1.0 - 0.5 * traces))[:, None, None] * UNIT
            return
        way = _angle_over_sine(0.5 * (traces - 1.0))[:, None] * (relative @ VEE)
        angles = np.sqrt((way * way).sum(axis=1))
        ways = way / np.maximum(angles, TINY)[:, None]
        across = 1.0 - 0.5 * angles / np.tan(np.maximum(0.5 * angles, TINY))
        around = (UNIT - ways[:, :, None] * ways[:, None, :]) * across[:, None, None]
        result[:] = axes.swapaxes(1, 2) @ ((around - 0.5 * skew(way)) * weights[:, None, None]) @ axes

    def take_velocities(self, sample: TargetSample, step: float) -> None:
        """Ask for the measured velocities over a step [s]; rows without any carry no weight."""
        axes, _ = self._tree.local_poses(self._links)
        self._write((axes @ (step * self._velocities(sample))[:, :, None])[:, :, 0], sample)

    def kept(
        self,
        q: np.ndarray,
        previous: TargetSample,
        sample: TargetSample,
        step: float,
        share: float,
    ) -> np.ndarray | None:
        """What a step leaves of the innovation (T, 3), world axes; None where nothing is left, at K dt = 1.

        The innovation is the error at ``q`` before the step, and by how much the new sample differs from the old one
        moved on with the measured velocities.
        """
        if share == 1.0 and self.alike:
            return None
        self._tree.locate(q)
        error, axes = self._residuals(previous)
        result = (axes.swapaxes(1, 2) @ error[:, :, None])[:, :, 0]
        if sample.velocities is not None or sample.angular_velocities is not None:
            speeds = self._velocities(sample)
            before = self._velocities(previous)
            mean = np.where(np.isfinite(before), 0.5 * (before + speeds), speeds)
            surprise = self._displacements(previous, sample) - step * mean
            result += np.where(np.isfinite(surprise), surprise, 0.0)
        result *= 1.0 - share * self._gains[:, None]
        return np.where(np.isfinite(result), result, 0.0)

    @property
    def misfit(self) -> float:
        """[rad] Largest angle, 2 sin(angle / 2), of the weighing orientations as last taken; 0 without any."""
        if not self._turns:
            return 0.0
        traces = self._traces[self._weights[self._points :] > 0.0]
        return math.sqrt(max(3.0 - float(traces.min(initial=3.0)), 0.0))

    @property
    def missed(self) -> np.ndarray:
        """(O,) w 2 (1 - cos angle) of the orientations as last taken."""
        weights = self._weights[self._points :]
        return weights * (3.0 - np.where(weights > 0.0, self._traces, 3.0))

    def errors(self, sample: TargetSample) -> tuple[float, float]:
        """Root mean squares over what weighs and was measured: distance [m] of points, 2 sin(angle / 2) [rad] of turns.

        Each is 0 without such tasks, NaN where none of them was measured.
        """
        wanted, _ = self._residuals(sample)
        points, turns = self._counted
        distance = _root_mean((wanted[: self._points] ** 2).sum(axis=1)[points]) if self._points else 0.0
        return distance, _root_mean(3.0 - self._traces[turns]) if self._turns else 0.0

    def _residuals(self, sample: TargetSample) -> tuple[np.ndarray, np.ndarray]:
        """(T, 3) in link axes, NaN where not measured, and the turns (T, 3, 3) from world to link axes."""
        axes, origins = self._axes, self._origins = self._tree.local_poses(self._links)
        result = np.empty((len(axes), 3))
        count = self._points
        if count:
            apart = sample.positions - origins[:count]
            result[:count] = (axes[:count] @ apart[:, :, None])[:, :, 0] - self._offsets
        if self._turns:
            assert sample.rotations is not None
            relative = (axes[count:] @ sample.rotations).reshape(-1, 9)
            result[count:] = relative @ VEE
            traces = relative @ TRACE
            self._relative, self._traces, self._measured = relative, traces, sample.rotations
            if self._angles and not traces.min() > ALIKE:
                result[count:] *= _angle_over_sine(0.5 * (traces - 1.0))[:, None]
        return result, axes

    def _velocities(self, sample: TargetSample) -> np.ndarray:
        """(T, 3) measured, world axes; NaN where none."""
        result = np.full((len(self._links), 3), np.nan)
        if sample.velocities is not None:
            result[: self._points] = sample.velocities
        if sample.angular_velocities is not None:
            result[self._points :] = sample.angular_velocities
        return result

    def _displacements(self, previous: TargetSample, sample: TargetSample) -> np.ndarray:
        """(T, 3) of the targets from one sample to the next, world axes."""
        result = np.empty((len(self._links), 3))
        if sample.positions is not None and previous.positions is not None:
            result[: self._points] = sample.positions - previous.positions
        if sample.rotations is not None and previous.rotations is not None:
            relative = (sample.rotations @ previous.rotations.swapaxes(1, 2)).reshape(-1, 9)
            result[self._points :] = relative @ VEE
        return result

    def _write(self, wanted: np.ndarray, sample: TargetSample) -> None:
        weights = self._base
        if sample.shares is not None or self._huber > 0.0 or not math.isfinite(wanted.sum()):
            seen = np.isfinite(wanted).all(axis=1)
            weights = np.where(seen, weights, 0.0)
            wanted = np.where(seen[:, None], wanted, 0.0)
            if sample.shares is not None:
                weights[: self._points] *= sample.shares
            if self._huber > 0.0:
                lengths = np.linalg.norm(wanted[: self._points], axis=1)
                weights[: self._points] *= np.minimum(1.0, self._huber / np.maximum(lengths, 1e-12))
        if weights is not self._weights and not np.array_equal(weights, self._weights):
            self._weigh(weights)
        pull = self._pull = weights[:, None] * wanted
        count = self._points
        self._forces[:count, :3] = pull[:count]
        self._forces[count:, 3:] = pull[count:]
        if self._arms is not None:
            self._forces[:count, 3:] = (self._arms @ pull[:count, :, None])[:, :, 0]
        np.matmul(self._selector, self._forces, out=self._tree.forces)

    def _weigh(self, weights: np.ndarray) -> None:
        self._weights = weights
        self._tree.weigh(self._selector @ (weights[:, None] * self._basis))


def _angle_over_sine(cosines: np.ndarray) -> np.ndarray:
    """t / sin t of cos t, 1 where t is 0; finite where it is half a turn, of which no axis is known."""
    cosines = np.minimum(np.maximum(cosines, -1.0 + 1e-9), 1.0 - TINY)
    return np.asarray(np.arccos(cosines) / np.sqrt(1.0 - cosines * cosines))


def _root_mean(squares: np.ndarray) -> float:
    total = float(squares.sum())
    if math.isfinite(total) and len(squares):
        return math.sqrt(max(total / len(squares), 0.0))
    seen = np.isfinite(squares)
    return float(np.sqrt(max(squares[seen].mean(), 0.0))) if seen.any() else float("nan")
