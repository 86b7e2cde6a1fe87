"""One transition as a nonlinear programme: its variables, what a choice of them is worth, and what it must keep.

Variables are deviations (V, n) of V control values of n coordinates from the plain way. The root's horizontal way is no
variable: it follows from the zero-moment point's goals (`Rebalancer`), and solved legs follow from root and feet.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..coordinates import Curves, to_manifold
from ..identification.excitation.expected_deviations import Information
from ..identification.excitation.gram_matrices import LinkGrams
from ..motion import Motion
from ..rig import ROOT_NV
from .legged_rig import Footing
from .rebalancing import Rebalancer
from .segment import SLACK, Judge, Stretch
from .splines import AT_REST, Spline

if TYPE_CHECKING:
    from .legged_rig import Dancer

Meter = LinkGrams | Information
"""What an exciting motion is sought by."""

SAMPLES = 33
"""Instants of a stretch, at least, at which it is judged while it is sought."""
SPEED_SHARE = 0.93
"""Share of the speed limits that is used: rotation vectors turn a little faster than their coordinates."""
ROOT_TURN, ROOT_RISE = 0.3, 0.05
"""How far [rad, share of the root's height] exciting motions may turn and lift the root beyond the postures."""
RATE = 50.0
"""[1/s] at which the criterion counts samples, as bonnet2016 does."""
PER_KNOT = 4


@dataclass(frozen=True, slots=True)
class Trial:
    """A choice of the variables.

    Attributes:
        offsets: (V, n) deviations.
        control: (C, D) of the motion, rebalanced.
        rates: (3, N, D) coordinates, velocities and accelerations at the instants, legs solved.
        value: of the criterion with the history.
    """

    offsets: np.ndarray
    control: np.ndarray
    rates: np.ndarray
    value: float


class TransitionProblem:
    """What may be chosen between two postures, and what it is worth.

    Args:
        dancer: who dances.
        judge: with the slack that the frames between the instants need.
        plain: the feasible way that is deviated from.
        footing: of the stretch.
        meter: of the criterion.
        history: of everything danced before, as the meter keeps it.
        columns: (n,) of the coordinates that deviate.
        via: V, control values of each; all that the stretch has, or 2.

    Attributes:
        basis: of the stretch's splines at the instants.
        inner: (C, V) control values of the stretch per variable.
        lower, upper: (n,) of the control values, which keep the joints' ranges at every instant.
        scale: (n,) their distance.
        speed: (n,) limits of the speeds.
        share: samples that an instant stands for.
        judged: trials judged so far.
    """

    def __init__(
        self, dancer: Dancer, judge: Judge, plain: Stretch, footing: Footing, meter: Meter, history: np.ndarray,
        columns: np.ndarray, via: int,
    ) -> None:  # fmt: skip
        self.dancer, self.judge, self.plain, self.meter, self.history = dancer, judge, plain, meter, history
        self.columns = columns
        spline = plain.spline
        if via == spline.free:
            self.inner = np.eye(spline.count)[:, AT_REST:-AT_REST]
        else:
            self.inner = Spline(spline.duration, via).refinement(spline)[:, AT_REST : AT_REST + via]
        self.balancer = Rebalancer(dancer, spline, instants(spline))
        self.basis = self.balancer.basis
        self._goals = self.balancer.goals(*dancer.ends(plain.start, plain.stop, footing), footing.polygon.centre)
        self.share = RATE * plain.duration / len(self.basis.times)
        self.judged = 0
        self._set_limits()

    def _set_limits(self) -> None:
        dancer, columns = self.dancer, self.columns
        control = self.plain.control[:, columns]
        reach = np.full(len(columns), np.inf)
        reach[(columns >= 3) & (columns < ROOT_NV)] = ROOT_TURN
        reach[columns == 2] = ROOT_RISE * dancer.straight_height
        off = 1.5 * SLACK["joint angle"]
        low, high = control.min(axis=0), control.max(axis=0)
        self.lower = np.minimum(np.maximum(dancer.lower[columns] + off, low - reach), low)
        self.upper = np.maximum(np.minimum(dancer.upper[columns] - off, high + reach), high)
        self.scale = np.where(np.isfinite(self.upper - self.lower), self.upper - self.lower, 1.0)
        fastest = np.abs(self.basis.velocity @ control).max(axis=0)
        self.speed = np.maximum(SPEED_SHARE * dancer.speed[columns], fastest)

    def start(self) -> Trial:
        """The plain way."""
        nothing = np.zeros((1, self.inner.shape[1], len(self.columns)))
        return self._evaluated(nothing, self.plain.control[None])[1][0]

    def tried(self, offsets: np.ndarray, near: Trial, rounds: int = 2) -> tuple[np.ndarray, list[Trial]]:
        """Which of K deviations (K, V, n) the legs reach, (K,), and all of them, rebalanced from a trial near by."""
        control = np.tile(near.control, (len(offsets), 1, 1))
        control[:, :, self.columns] += self.inner @ (offsets - near.offsets)
        return self._evaluated(offsets, self.balancer.rebalance(control, self._goals, self.plain.solved, rounds))

    def margins(self, trials: list[Trial]) -> np.ndarray:
        """Worst margin (K,) of each trial over all checks; negative: refused."""
        self.judged += len(trials)
        curves = self.curves(np.concatenate([trial.rates for trial in trials], axis=1))
        return self.judge.margins(curves, self.plain.anchors).reshape(len(trials), -1).min(axis=1)

    def curves(self, rates: np.ndarray) -> Curves:
        """Motion of coordinates with rates (3, N, D), legs solved."""
        nv = self.dancer.rig.model.nv
        return to_manifold(self.dancer.rig, rates[0, :, :nv], rates[1, :, :nv], rates[2, :, :nv])

    def _evaluated(self, offsets: np.ndarray, control: np.ndarray) -> tuple[np.ndarray, list[Trial]]:
        count, frames = len(control), len(self.basis.times)
        parts = (self.basis.position, self.basis.velocity, self.basis.acceleration)
        flat = [(matrix @ control).reshape(-1, control.shape[2]) for matrix in parts]
        solved, good = self.dancer.legs_solved(flat[0], flat[1], flat[2], self.plain.solved)
        rates = np.stack(solved)
        motion = as_motion(self.curves(rates))
        values = self.meter.criterion(self.history + self.share * self.meter.of_motion(self.dancer.rig, motion, count))
        rates = rates.reshape(3, count, frames, -1)
        trials = [Trial(offsets[k], control[k], rates[:, k], float(values[k])) for k in range(count)]
        return good.reshape(count, frames).all(axis=1), trials


def instants(spline: Spline) -> int:
    """How many instants of a stretch are looked at while it is sought."""
    return max(SAMPLES, PER_KNOT * spline.free + 1)


def as_motion(curves: Curves) -> Motion:
    """Frames as a motion whose times mean nothing."""
    return Motion(np.arange(float(len(curves.q))), curves.q, curves.v, curves.a)


__all__ = ["Meter", "TransitionProblem", "Trial", "as_motion", "instants"]
