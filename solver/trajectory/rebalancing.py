"""Rebalancing: the root's horizontal path that brings the zero-moment point to its goals, bonnet2016 (20).

About any motion the zero-moment point depends on a root displacement s nearly as that of an inverted pendulum,
zmp = k (s - h/g s''). This is linear in the spline's control values, with a matrix that is the same for all candidates.
Gauss-Newton with it needs two or three iterations and replaces the second nonlinear program of the paper.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from .. import qp
from ..contacts.support import SupportPolygon
from ..dynamics.coordinates import Curves
from ..skeleton.rig import GRAVITY
from .legged_rig import COM_RATIO, LeggedRig
from .splines import REST_CONTROLS, Spline

ITERATIONS = 3
MAX_ERROR = 0.1
"""[m] Errors of the zero-moment point are limited to this, since larger ones occur near singular postures."""
CENTRE_WEIGHT = 0.35
"""Largest weight of the support's centre, against the path between the postures, in the goal of the ZMP."""

BACKEND = qp.SPARSE
SUPPORT_RESERVE = 0.012
"""[m] Distance of a pendulum's zero-moment point from the edges of the support, if feasible."""
RESERVE_WEIGHT = 10.0
"""[m] Weight of the reserve against the mean square distance from the straight path."""


class Rebalancer:
    """Rebalances segments of one duration.

    Args:
        legged: rig.
        spline: of the segments.
        samples: number of instants at which the zero-moment point is evaluated.
    """

    def __init__(self, legged: LeggedRig, spline: Spline, samples: int) -> None:
        self._legged, self.spline = legged, spline
        self.times = np.linspace(0.0, spline.duration, samples)
        self.basis = spline.basis(self.times)
        self._pendulum = self.basis.position - legged.rig.leg_length / GRAVITY * self.basis.acceleration
        inner = slice(REST_CONTROLS, -REST_CONTROLS)
        self.inverse = np.linalg.pinv(COM_RATIO * self._pendulum[:, inner])
        self._fit = np.linalg.pinv(self.basis.position[:, inner])

    def plan_goals(self, first: np.ndarray, last: np.ndarray, support: SupportPolygon) -> np.ndarray:
        """Goals (N, 2) [m] of the zero-moment point between postures with the centre of mass above first and last (2,).

        They follow the line between them, shifted towards the centre of the support. A fast motion
        cannot follow this line, because its zero-moment point leads while it accelerates and overshoots while it
        brakes. Its goals come from a pendulum whose zero-moment point stays inside the support.
        """
        phase = (self.times / self.spline.duration)[:, None]
        way = phase**2 * (3.0 - 2.0 * phase)
        line = (1.0 - way) * first + way * last
        even = line + CENTRE_WEIGHT * np.sin(np.pi * phase) ** 2 * (support.centre - line)
        control = self.spline.straight_line(first, last)
        inner = slice(REST_CONTROLS, -REST_CONTROLS)
        fixed, matrix = self._pendulum @ _without_inner(control, inner), self._pendulum[:, inner]
        followed = np.linalg.lstsq(matrix, even - fixed, rcond=None)[0]
        if support.edge_distances(fixed + matrix @ followed).min() >= min(
            SUPPORT_RESERVE, float(support.edge_distances(np.stack([first, last])).min())
        ):
            return even
        solution = _solve_pendulum(matrix, fixed, even, support)
        if solution is None:
            return even
        control[inner] = solution
        return self._pendulum @ control

    def rebalance(
        self, control: np.ndarray, goals: np.ndarray, solved: Sequence[str], iterations: int = ITERATIONS
    ) -> np.ndarray:
        """Control values (K, C, D) of K candidates with rebalanced root; those of solved legs nearly solve them.

        Args:
            control: (K, C, D).
            goals: (N, 2) [m] at `times`.
            solved: sides of the solved legs.
            iterations: of Gauss-Newton.
        """
        control = np.array(control, float)
        count, frames, inner = len(control), len(self.times), control[:, REST_CONTROLS:-REST_CONTROLS]
        legs = np.concatenate([*(self._legged.leg_columns[side] for side in solved), np.zeros(0, int)]).astype(int)
        for _ in range(iterations):
            y, curves, good = self.evaluate(control, solved)
            error = goals - self._legged.compute_zmp(curves).reshape(count, frames, 2)
            error = np.where(good.reshape(count, frames, 1), error, 0.0).clip(-MAX_ERROR, MAX_ERROR)
            beside = y.reshape(count, frames, -1)[:, :, legs] - self.basis.position @ control[:, :, legs]
            inner[:, :, :2] += self.inverse @ (error * self._legged.root_free[:2])
            inner[:, :, legs] += self._fit @ beside
        return control

    def evaluate(self, control: np.ndarray, solved: Sequence[str]) -> tuple[np.ndarray, Curves, np.ndarray]:
        """Coordinates, motion, and whether each frame was solved, for all frames of all candidates (K, C, D)."""
        return self._legged.solve_motion(*self.evaluate_splines(control), solved)

    def evaluate_splines(self, control: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Coordinates (K N, D) and their rates, the solved legs' not solved yet; see `evaluate`."""
        y, dy, ddy = (
            (matrix @ control).reshape(-1, control.shape[2])
            for matrix in (self.basis.position, self.basis.velocity, self.basis.acceleration)
        )
        return y, dy, ddy


def _without_inner(control: np.ndarray, inner: slice) -> np.ndarray:
    ends = control.copy()
    ends[inner] = 0.0
    return ends


def _solve_pendulum(
    matrix: np.ndarray, fixed: np.ndarray, even: np.ndarray, support: SupportPolygon
) -> np.ndarray | None:
    """Control values (m, 2) of a pendulum whose zero-moment point keeps a distance from the support's edges.

    Args:
        matrix: (N, m) derivatives of the zero-moment points by the control values.
        fixed: (N, 2) [m] zero-moment points due to the ends.
        even: (N, 2) [m] goals.
        support: polygon.
    """
    count, m = matrix.shape
    near = matrix.T @ matrix / count
    wish = -matrix.T @ (even - fixed) / count
    edges = [
        sparse.csr_array(np.hstack([nx * matrix, ny * matrix, -np.ones((count, 1))])) for nx, ny in support.normals
    ]
    least = np.concatenate([offset - fixed @ normal for normal, offset in zip(support.normals, support.offsets)])
    free = np.full(2 * m, np.inf)
    problem = qp.Problem(
        sparse.block_diag([near, near, sparse.csc_matrix((1, 1))], "csc"),
        np.concatenate([wish.T.ravel(), [-RESERVE_WEIGHT]]),
        qp.Rows(sparse.csr_array(sparse.vstack(edges)), least, np.full(len(least), np.inf), ("edge",) * len(least)),
        np.concatenate([-free, [-np.inf]]),
        np.concatenate([free, [SUPPORT_RESERVE]]),
    )
    solution = qp.solve(problem, BACKEND)
    return solution.x[:-1].reshape(2, m).T if solution.usable else None
