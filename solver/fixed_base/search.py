"""The sequential linear program that finds an exciting motion of a fixed-base robot, and its criteria."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from .. import qp
from ..base.errors import UnknownPreset
from ..options.exciting import CONDITION, CRITERIA, DEVIATIONS
from ..trajectory.splines import REST_CONTROLS, Spline
from ..values.motion import Motion
from .margins import Margins
from .robot import FixedBaseRobot

MODEL_RATE = 20.0
"""[1/s] least samples of the criterion and of the linear programs."""
LIMIT_RATE = 60.0
"""[1/s] samples at which a step must satisfy the limits."""
STEP_FRACTIONS = (1.0, 0.5, 0.2)
"""Fractions of a step, tried in this order."""
MIN_GAIN = 1e-3
"""Decrease of the criterion's logarithm below which the search ends."""
STEP = 1e-6
"""[rad, rad/s, rad/s^2] of a coordinate and its derivatives, for finite differences of the rows."""
TORQUE_FRACTION = 0.7
"""Torques above this fraction of the limit enter the linear program."""


@dataclass(frozen=True, slots=True)
class Point:
    """Control values (C, n) and the logarithm of the criterion there."""

    control: np.ndarray
    value: float


@dataclass(frozen=True, slots=True)
class SearchModel:
    """Linear model in the free control values, raveled joint by joint: gradient of the criterion, and rows <=
    margins."""

    gradient: np.ndarray
    rows: np.ndarray
    margins: np.ndarray


class ExcitationSearch:
    """The problem of robot, spline and criterion for `trajectory.trust_region.solve_sequentially`.

    Args:
        robot: that moves.
        spline: of all joints.
        margins: to satisfy.
        name: of the criterion.
        power: see `compute_criterion`.
    """

    def __init__(
        self, robot: FixedBaseRobot, spline: Spline, margins: Margins, name: str, power: float = np.inf
    ) -> None:
        self.robot, self.spline, self.margins = robot, spline, margins
        self.basis, self._limit_basis = (spline.basis(spline.samples(rate)) for rate in (MODEL_RATE, LIMIT_RATE))
        self._name, self._power = name, power
        self._columns = robot.independent_columns
        self._inner = slice(REST_CONTROLS, REST_CONTROLS + spline.free)
        self._basis_matrices = tuple(
            part[:, self._inner] for part in (self.basis.position, self.basis.velocity, self.basis.acceleration)
        )  # (N, free) of each free control value in y, dy, ddy

    def point(self, control: np.ndarray) -> Point:
        """Control values with their objective."""
        return Point(control, self.value(control))

    def value(self, control: np.ndarray) -> float:
        """Logarithm of the criterion."""
        return compute_criterion(self._rows(self._motion(*self.basis.curves(control))), self._name, self._power)[0]

    def satisfies_limits(self, control: np.ndarray) -> bool:
        """Whether every limit is satisfied: ranges and speeds at every instant, the others at the samples."""
        margins = self.margins
        inside = (control >= margins.lower - 1e-9).all() and (control <= margins.upper + 1e-9).all()
        slow = (np.abs(self.spline.speed_controls(control)) <= margins.speed * (1.0 + 1e-9)).all()
        if not (inside and slow):
            return False
        judged = self._limit_basis
        return bool(margins.are_kept(self.robot.motion(judged.times, *judged.curves(control))).all())

    def linearise(self, point: Point) -> SearchModel:
        """Criterion, torques and distances to first order."""
        curves = self.basis.curves(point.control)
        motion = self._motion(*curves)
        rows = self._rows(motion)
        _, by_rows = compute_criterion(rows, self._name, self._power)
        count = len(self.robot.names)
        gradient = np.zeros((count, self.spline.free))
        for joint in range(count):
            for order, share in enumerate(self._basis_matrices):
                moved = [np.array(curve) for curve in curves]
                moved[order][:, joint] += STEP
                change = (self._rows(self._motion(*moved)) - rows) / STEP
                contribution = (by_rows * change).reshape(len(motion), -1).sum(axis=1)
                gradient[joint] += contribution @ share
        torque_rows, torque_room = self._torque_rows(motion)
        near = self.margins.near_distances(curves[0])
        distance_rows = -near.gradients[:, :, None] * self._basis_matrices[0][near.frames][:, None, :]
        distance_rows = distance_rows.reshape(len(near.frames), gradient.size)
        return SearchModel(
            gradient.ravel(), np.concatenate([torque_rows, distance_rows]), np.r_[torque_room, near.margins]
        )

    def solve_subproblem(self, point: Point, model: SearchModel, trust_radius: float) -> qp.Solution:
        """The step that lowers the criterion's linear model most."""
        margins, free = self.margins, self.spline.free
        control = point.control[self._inner]
        reach = trust_radius * (margins.upper - margins.lower)
        low = np.minimum(np.maximum(margins.lower - control, -reach), 0.0).T.ravel()
        high = np.maximum(np.minimum(margins.upper - control, reach), 0.0).T.ravel()
        derivative = self.spline.speed_controls(np.eye(self.spline.count))[:, self._inner]
        speeds = self.spline.speed_controls(point.control)
        own = np.concatenate([derivative, -derivative])
        room = np.maximum(np.concatenate([margins.speed - speeds, margins.speed + speeds]), 0.0).T.ravel()
        remaining = np.maximum(model.margins, 0.0)
        active = remaining < np.abs(model.rows) @ np.maximum(-low, high)  # this step cannot violate the others
        speed_rows = sparse.kron(sparse.eye(len(reach)), own, "csr")
        matrix = sparse.vstack([speed_rows, sparse.csr_matrix(model.rows[active])], "csr")
        upper = np.concatenate([room, remaining[active]])
        names = ("speed",) * len(room) + ("torque or distance",) * int(active.sum())
        rows = qp.Rows(matrix, np.full(len(upper), -np.inf), upper, names)
        size = free * len(reach)
        cost = model.gradient / max(float(np.abs(model.gradient).max()), 1e-300)
        return qp.solve(qp.Problem(sparse.csc_array((size, size)), cost, rows, low, high), qp.LINEAR)

    def try_step(self, point: Point, solution: qp.Solution) -> tuple[Point, bool] | None:
        """The largest share of the step that lowers the criterion and keeps every limit."""
        step = np.zeros_like(point.control)
        step[self._inner] = solution.x.reshape(-1, self.spline.free).T
        for share in STEP_FRACTIONS:
            control = point.control + share * step
            value = self.value(control)
            if value < point.value and self.satisfies_limits(control):
                return Point(control, value), share == STEP_FRACTIONS[0]
        return None

    def is_finished(self, before: Point, after: Point | None) -> bool:
        """Whether the step gained too little to continue."""
        return after is not None and before.value - after.value < MIN_GAIN

    def _motion(self, y: np.ndarray, dy: np.ndarray, ddy: np.ndarray) -> Motion:
        return self.robot.motion(self.basis.times, y, dy, ddy)

    def _rows(self, motion: Motion) -> np.ndarray:
        """(N R, K)."""
        rows = self.robot.regressor(motion)[:, :, self._columns]
        return rows.reshape(-1, rows.shape[2])

    def _torque_rows(self, motion: Motion) -> tuple[np.ndarray, np.ndarray]:
        most = self.margins.torque
        tau, slopes = self.margins.torques(motion)
        frames, joints = np.nonzero((np.abs(tau) > TORQUE_FRACTION * most) & np.isfinite(most))
        signs = np.sign(tau[frames, joints])
        rows = np.zeros((len(frames), tau.shape[1], self.spline.free))
        for slope, share in zip(slopes, self._basis_matrices):
            rows += slope[frames, joints][:, :, None] * share[frames][:, None, :]
        room = most[joints] - np.abs(tau[frames, joints])
        return (signs[:, None, None] * rows).reshape(len(frames), tau.shape[1] * self.spline.free), room


def compute_criterion(rows: np.ndarray, name: str, power: float = np.inf) -> tuple[float, np.ndarray]:
    """The logarithm of a criterion of rows W (m, K) and its derivative (m, K) by them.

    ``condition`` is cond(W), or with a finite power p the product of the p-norms of W's singular values and of their
    inverses: at least cond(W), at most K^(2/p) times it, and smooth where cond(W) is not. ``deviations`` is the
    geometric mean over the columns of the standard deviations that least squares with unit noise would give.

    Raises:
        UnknownPreset: no such criterion.
    """
    factor, right = _singular_values(rows)
    if name == CONDITION:
        value, high, low = np.log(factor[0] / factor[-1]), np.zeros_like(factor), np.zeros_like(factor)
        high[0] = low[-1] = 1.0
        if np.isfinite(power):
            high, low = (factor / factor[0]) ** power, (factor[-1] / factor) ** power
            value += (np.log(high.sum()) + np.log(low.sum())) / power
        weights = (high / high.sum() - low / low.sum()) / factor**2
        return float(value), rows @ (right.T * weights) @ right
    if name == DEVIATIONS:
        inverse = (right.T / factor**2) @ right
        variances = np.diag(inverse)
        derivative = inverse @ (inverse / variances[:, None])
        return float(0.5 * np.log(variances).mean()), -(rows @ derivative) / len(variances)
    raise UnknownPreset(name, CRITERIA)


def _singular_values(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Singular values, descending, none of them zero, and the right singular vectors (K, K), one per row."""
    values, vectors = np.linalg.eigh(rows.T @ rows)
    least = np.finfo(float).eps * values[-1]
    return np.sqrt(np.maximum(values[::-1], least)), vectors[:, ::-1].T
