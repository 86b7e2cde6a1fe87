"""Options of the tracker."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from ..base.arrays import Array, ArrayValue, Names
from ..base.errors import InvalidValue, UnknownName
from ..skeleton.rig import ROOT_NV, Rig

DEAD_BEAT_GAIN = 1.0
"""K dt at which a step removes the whole error; a larger rate K would only overshoot. Derived from one step of the
error, rapetti2020."""
INTEGRATORS = ("manifold", "baumgarte")


@dataclass(frozen=True, slots=True)
class CoupledLimits(ArrayValue):
    """Limits shared by several joints, A s <= b of rapetti2020 (11), as of shoulders that are moved by tendons.

    Attributes:
        joints: J names of joints with one coordinate each, s.
        coefficients: (M, J) A.
        bounds: (M,) b [rad].
    """

    joints: Annotated[tuple[str, ...], Names("J")]
    coefficients: Annotated[np.ndarray, Array("K", "J")]
    bounds: Annotated[np.ndarray, Array("K")]

    def matrix(self, rig: Rig) -> np.ndarray:
        """A over all joint coordinates of a rig (M, nv - 6).

        Raises:
            UnknownName: the rig lacks a joint.
            InvalidValue: a joint has more than one coordinate.
        """
        names = [joint.name for joint in rig.joints]
        starts = np.cumsum([0, *(joint.nv for joint in rig.joints)])
        result = np.zeros((len(self.bounds), rig.nv - ROOT_NV))
        for name, column in zip(self.joints, self.coefficients.T):
            if name not in names:
                raise UnknownName(name, names)
            index = names.index(name)
            if rig.joints[index].nv != 1:
                raise InvalidValue(
                    f"joint {name!r} has {rig.joints[index].nv} coordinates; coupled limits need joints with one angle"
                )
            result[:, starts[index] - ROOT_NV] += column
        return result


@dataclass(frozen=True, slots=True)
class TrackingOptions:
    """Options of the tracker; the defaults are for recordings, ``TrackingOptions.one_pass()`` is for live data.

    Attributes:
        gain: K dt of rapetti2020 (9), dimensionless: the fraction of the error removed per step; stable below 2, 1 is
            dead-beat.
        iterations: further velocity corrections per frame after the first, until ``tolerance`` is met.
        tolerance: [rad] largest coordinate change at which a frame counts as converged.
        posture_weight: [m^2] price of joint coordinates one radian away from neutral, relative to squared marker
            errors. It determines what no marker observes (a head without markers) and is small against everything that
            markers do observe.
        damping: [m^2] price of a step, so that an unobserved coordinate keeps its value.
        adaptive_damping: price of a joint's step as a fraction of the squared angles [rad^2] by which the next
            orientations that it moves miss their targets, so that targets out of reach move nothing else and
            singularities are passed slowly; 0 for none.
        limits: keep joint limits by rapetti2020 (12)-(13).
        coupled_limits: limits shared by several joints, (11); used if ``limits`` is True.
        limit_gain: k of (12) [1/rad]: the smaller, the earlier and softer a joint slows down before its limit. It acts
            up to 1 / (speed limit x step), the steepest with which no limit is violated; infinite: always that one.
        integrator: ``"manifold"`` (Pinocchio's, exact) or ``"baumgarte"`` (rapetti2020 (14)-(15), root rotation only).
        huber_distance: [m] error above which a marker's cost grows linearly; 0 for none.
        fade_time: [s] over which a marker's weight decreases towards a gap and grows after it, so that a marker that
            appears or disappears does not bend the motion in one frame; 0 for full weight up to the gap.
        backend: of the quadratic programs where limits bind: ``"daqp"``, exact, or ``"osqp"``, as in rapetti2020.
        restart_turn: [rad] frame RMSE of orientations above which the frame is tried again from an initial fit; only
            once in a while, since they may be out of reach.
        squared_angles: an orientation's error counts as its squared angle, not as 2 (1 - cos angle), which (5) makes of
            it and whose gradient decreases beyond a right angle. Within reach both are the same; beyond it, (5) gives
            up the farthest targets, which then move faster.
        time_budget: [s] of wall time for one sample, None for no limit: refinement ends when it is used up, and the
            frame counts as not converged; a new start, which takes longer, is tried only once in a while.
    """

    gain: float = 1.0
    iterations: int = 15
    tolerance: float = 1e-6
    posture_weight: float = 2.5e-5
    damping: float = 1e-7
    adaptive_damping: float = 0.3
    limits: bool = True
    coupled_limits: CoupledLimits | None = None
    limit_gain: float = math.inf
    integrator: str = "manifold"
    huber_distance: float = 0.0
    fade_time: float = 0.1
    backend: str = "daqp"
    restart_turn: float = 0.2
    squared_angles: bool = False
    time_budget: float | None = None

    def __post_init__(self) -> None:
        if not 0.0 < self.gain < 2.0:
            raise InvalidValue(f"gain K dt = {self.gain:g} is unstable; rapetti2020 (9) needs 0 < K dt < 2")
        if not self.limit_gain > 0.0:
            raise InvalidValue(f"limit_gain must be positive, not {self.limit_gain:g}")
        if self.time_budget is not None and not self.time_budget > 0.0:
            raise InvalidValue(f"a time budget must be positive, not {self.time_budget:g} s")
        if self.integrator not in INTEGRATORS:
            raise InvalidValue(f"integrator {self.integrator!r} is none of {', '.join(INTEGRATORS)}")
        if self.iterations < 0 or not self.tolerance > 0.0:
            raise InvalidValue("iterations must not be negative and tolerance must be positive")
        if min(self.posture_weight, self.damping, self.adaptive_damping, self.huber_distance, self.fade_time) < 0.0:
            raise InvalidValue(
                "posture_weight, damping, adaptive_damping, huber_distance and fade_time must not be negative"
            )

    @staticmethod
    def one_pass(gain: float = 1.0) -> TrackingOptions:
        """One velocity correction per frame, as rapetti2020 in real time, with squared angles of orientations."""
        return TrackingOptions(gain=gain, iterations=0, fade_time=0.0, squared_angles=True)
