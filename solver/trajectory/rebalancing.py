"""Rebalancing: the root's horizontal path that keeps the zero-moment point where it should be, bonnet2016 (20).

Legs carry the root, so moving the root horizontally is moving the legs. About any motion the zero-moment point answers
to a root displacement s nearly as an inverted pendulum's does, zmp = k (s - h/g s''), which is linear in the spline's
control values with a matrix that no candidate changes. Gauss-Newton with it needs two or three rounds and replaces the
paper's second nonlinear programme.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..coordinates import Curves
from .legged_rig import TRUNK_SHARE, LeggedRig
from .splines import AT_REST, Spline

GRAVITY = 9.81
ROUNDS = 3
FARTHEST = 0.1
"""[m] error of the zero-moment point beyond which a frame pulls no harder: it is near a singular posture."""
PULL = 0.35
"""How far the goal of the zero-moment point leaves the way between the postures for the middle of the support."""


class Rebalancer:
    """Rebalances segments of one duration.

    Args:
        legged: who dances.
        spline: of the segments.
        samples: instants at which the zero-moment point is looked at.
    """

    def __init__(self, legged: LeggedRig, spline: Spline, samples: int) -> None:
        self._legged, self.spline = legged, spline
        self.times = np.linspace(0.0, spline.duration, samples)
        self.basis = spline.basis(self.times)
        height = legged.straight_height
        pendulum = TRUNK_SHARE * (self.basis.position - height / GRAVITY * self.basis.acceleration)
        self.inverse = np.linalg.pinv(pendulum[:, AT_REST:-AT_REST])

    def goals(self, first: np.ndarray, last: np.ndarray, centre: np.ndarray) -> np.ndarray:
        """Zero-moment points (N, 2) [m] to aim at between two static postures, drawn towards the middle (2,)."""
        phase = (self.times / self.spline.duration)[:, None]
        way = phase**2 * (3.0 - 2.0 * phase)
        line = (1.0 - way) * first + way * last
        return line + PULL * np.sin(np.pi * phase) ** 2 * (centre - line)

    def started(self, control: np.ndarray, goals: np.ndarray, solved: Sequence[str]) -> np.ndarray:
        """Control values (C, D) whose root follows the statically balanced postures: where Newton begins."""
        some = slice(0, None, 2)
        y, good = self._legged.balanced(self.basis.position[some] @ control, goals[some], solved)
        if not good.any():
            return control
        control = control.copy()
        matrix = self.basis.position[some][good]
        inner = slice(AT_REST, -AT_REST)
        step = np.eye(matrix.shape[1])[1:] - np.eye(matrix.shape[1])[:-1]
        smooth = 0.1 * np.diff(step, axis=0)  # keeps the control values determined where postures are missing
        fixed = control[:, :2].copy()
        fixed[inner] = 0.0
        right = np.concatenate([y[good, :2] - matrix @ fixed, -smooth @ fixed])
        control[inner, :2] = np.linalg.lstsq(np.concatenate([matrix, smooth])[:, inner], right, rcond=None)[0]
        return control

    def rebalance(
        self, control: np.ndarray, goals: np.ndarray, solved: Sequence[str], rounds: int = ROUNDS
    ) -> np.ndarray:
        """Control values (K, C, D) of K candidates with the root's horizontal ones changed.

        Args:
            control: (K, C, D).
            goals: (N, 2) [m] at `times`.
            solved: sides of the solved legs.
        """
        control = np.array(control, float)
        count, frames = len(control), len(self.times)
        for _ in range(rounds):
            _, curves, good = self.evaluate(control, solved)
            error = goals - self._legged.zmp(curves).reshape(count, frames, 2)
            error = np.where(good.reshape(count, frames, 1), error, 0.0).clip(-FARTHEST, FARTHEST)
            control[:, AT_REST:-AT_REST, :2] += self.inverse @ error
        return control

    def evaluate(self, control: np.ndarray, solved: Sequence[str]) -> tuple[np.ndarray, Curves, np.ndarray]:
        """Coordinates, motion and solvability of all frames of all candidates, one after another."""
        parts = (self.basis.position, self.basis.velocity, self.basis.acceleration)
        y, dy, ddy = ((matrix @ control).reshape(-1, control.shape[2]) for matrix in parts)
        return self._legged.frames(y, dy, ddy, solved)
