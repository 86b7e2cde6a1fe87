"""The sequential linear programme that finds an exciting motion of an arm on a bench."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from .. import qp
from ..motion import Motion
from ..trajectory.splines import AT_REST, Spline
from .bench import Bench
from .criterion import criterion
from .margins import Margins

SEARCH_RATE = 20.0
"""[1/s] Least samples of the criterion and of the linear programmes."""
JUDGE_RATE = 60.0
"""[1/s] Samples at which a step must keep the limits."""
SHARES = (1.0, 0.5, 0.2)
"""Of a step, tried in this order."""
LEAST_GAIN = 1e-3
"""Fall of the criterion's logarithm below which the search ends."""
STEP = 1e-6
"""[rad, rad/s, rad/s^2] Of a coordinate and its derivatives, for the slopes of the rows."""
NEAR = 0.7
"""Torques above this share of the most that is allowed enter the linear programme."""


@dataclass(frozen=True, slots=True)
class Point:
    """Control values (C, n) and the logarithm of the criterion there."""

    control: np.ndarray
    value: float


@dataclass(frozen=True, slots=True)
class Model:
    """To first order in the free control values, raveled joint by joint: the criterion's slope and rows <= room."""

    gradient: np.ndarray
    rows: np.ndarray
    room: np.ndarray


class Search:
    """A bench, a spline and a criterion as `trajectory.trust_region.descend` asks for them.

    Args:
        bench: that moves.
        spline: of all joints.
        margins: that are kept.
        name: of the criterion.
        power: see `criterion`.
    """

    def __init__(self, bench: Bench, spline: Spline, margins: Margins, name: str, power: float = np.inf) -> None:
        self.bench, self.spline, self.margins = bench, spline, margins
        self.basis, self._judged = (spline.basis(spline.samples(rate)) for rate in (SEARCH_RATE, JUDGE_RATE))
        self._name, self._power = name, power
        self._columns = bench.columns
        self._inner = slice(AT_REST, AT_REST + spline.free)
        self._shares = tuple(
            part[:, self._inner] for part in (self.basis.position, self.basis.velocity, self.basis.acceleration)
        )  # (N, free) of each free control value in y, dy, ddy

    def point(self, control: np.ndarray) -> Point:
        """With its value."""
        return Point(control, self.value(control))

    def value(self, control: np.ndarray) -> float:
        """Logarithm of the criterion."""
        return criterion(self._rows(self._motion(*self.basis.curves(control))), self._name, self._power)[0]

    def keeps(self, control: np.ndarray) -> bool:
        """Whether every limit holds: ranges and speeds at every instant, the others at the samples."""
        margins = self.margins
        inside = (control >= margins.lower - 1e-9).all() and (control <= margins.upper + 1e-9).all()
        slow = (np.abs(self.spline.speeds(control)) <= margins.speed * (1.0 + 1e-9)).all()
        judged = self._judged
        return bool(inside and slow) and margins.keeps(self.bench.motion(judged.times, *judged.curves(control)))

    def model(self, point: Point) -> Model:
        """Criterion, torques and distances to first order."""
        curves = self.basis.curves(point.control)
        motion = self._motion(*curves)
        rows = self._rows(motion)
        _, by_rows = criterion(rows, self._name, self._power)
        count = len(self.bench.names)
        gradient = np.zeros((count, self.spline.free))
        for joint in range(count):
            for order, share in enumerate(self._shares):
                moved = [np.array(curve) for curve in curves]
                moved[order][:, joint] += STEP
                change = (self._rows(self._motion(*moved)) - rows) / STEP
                felt = (by_rows * change).reshape(len(motion), -1).sum(axis=1)
                gradient[joint] += felt @ share
        torque_rows, torque_room = self._torque_rows(motion)
        near = self.margins.close(curves[0])
        touching = -near.slopes[:, :, None] * self._shares[0][near.frames][:, None, :]
        touching = touching.reshape(len(near.frames), gradient.size)
        return Model(gradient.ravel(), np.concatenate([torque_rows, touching]), np.r_[torque_room, near.room])

    def programme(self, point: Point, model: Model, trust: float) -> qp.Solution:
        """The step that lowers the criterion's linear model most."""
        margins, free = self.margins, self.spline.free
        control = point.control[self._inner]
        reach = trust * (margins.upper - margins.lower)
        low = np.minimum(np.maximum(margins.lower - control, -reach), 0.0).T.ravel()
        high = np.maximum(np.minimum(margins.upper - control, reach), 0.0).T.ravel()
        derivative = self.spline.speeds(np.eye(self.spline.count))[:, self._inner]
        speeds = self.spline.speeds(point.control)
        own = np.concatenate([derivative, -derivative])
        room = np.maximum(np.concatenate([margins.speed - speeds, margins.speed + speeds]), 0.0).T.ravel()
        left = np.maximum(model.room, 0.0)
        reached = left < np.abs(model.rows) @ np.maximum(-low, high)  # no other can be broken by this step
        speed_rows = sparse.kron(sparse.eye(len(reach)), own, "csr")
        matrix = sparse.vstack([speed_rows, sparse.csr_matrix(model.rows[reached])], "csr")
        upper = np.concatenate([room, left[reached]])
        names = ("speed",) * len(room) + ("torque or distance",) * int(reached.sum())
        rows = qp.Rows(matrix, np.full(len(upper), -np.inf), upper, names)
        size = free * len(reach)
        cost = model.gradient / max(float(np.abs(model.gradient).max()), 1e-300)
        return qp.solve(qp.Problem(sparse.csc_array((size, size)), cost, rows, low, high), qp.LINEAR)

    def tried(self, point: Point, solution: qp.Solution) -> tuple[Point, bool] | None:
        """The largest share of the step that lowers the criterion and keeps every limit."""
        step = np.zeros_like(point.control)
        step[self._inner] = solution.x.reshape(-1, self.spline.free).T
        for share in SHARES:
            control = point.control + share * step
            value = self.value(control)
            if value < point.value and self.keeps(control):
                return Point(control, value), share == SHARES[0]
        return None

    def ends(self, before: Point, after: Point | None) -> bool:
        """Little was gained."""
        return after is not None and before.value - after.value < LEAST_GAIN

    def _motion(self, y: np.ndarray, dy: np.ndarray, ddy: np.ndarray) -> Motion:
        return self.bench.motion(self.basis.times, y, dy, ddy)

    def _rows(self, motion: Motion) -> np.ndarray:
        """(N R, K)."""
        rows = self.bench.rows(motion)[:, :, self._columns]
        return rows.reshape(-1, rows.shape[2])

    def _torque_rows(self, motion: Motion) -> tuple[np.ndarray, np.ndarray]:
        most = self.margins.torque
        tau, slopes = self.margins.torques(motion)
        frames, joints = np.nonzero((np.abs(tau) > NEAR * most) & np.isfinite(most))
        signs = np.sign(tau[frames, joints])
        rows = np.zeros((len(frames), tau.shape[1], self.spline.free))
        for slope, share in zip(slopes, self._shares):
            rows += slope[frames, joints][:, :, None] * share[frames][:, None, :]
        room = most[joints] - np.abs(tau[frames, joints])
        return (signs[:, None, None] * rows).reshape(len(frames), tau.shape[1] * self.spline.free), room
