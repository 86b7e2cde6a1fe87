"""Choices of the tracker."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import InvalidValue

INTEGRATORS = ("manifold", "baumgarte")


@dataclass(frozen=True, slots=True)
class TrackingOptions:
    """How to track; the defaults are for recordings, ``TrackingOptions.one_pass()`` for live data.

    Attributes:
        gain: K dt of rapetti2020 (9), dimensionless: the share of the error taken off per step; stable below 2,
            1 is dead-beat.
        iterations: further velocity corrections per frame after the first, until ``tolerance`` is met.
        tolerance: [rad] largest coordinate change at which a frame counts as converged.
        posture: [m^2] price of joint coordinates one radian away from neutral beside squared marker errors. It decides
            what no marker shows (a head without markers) and is small against everything that markers do show.
        free_twist: links whose turn about their own z axis costs nothing: the human rig's forearms do not pronate, so
            its hands do. Names the rig lacks are ignored.
        damping: [m^2] price of a step, so that a coordinate nobody sees stays where it is.
        limits: keep joint limits by rapetti2020 (12)-(13).
        limit_speed: [rad/s] bound on joint speed where the rig states none.
        integrator: ``"manifold"`` (Pinocchio's, exact) or ``"baumgarte"`` (rapetti2020 (14)-(15), root rotation only).
        baumgarte_gain: rho dt of (14), dimensionless.
        huber: [m] error beyond which a marker's pull no longer grows; 0 for none.
        fade: [s] time over which a marker's weight falls towards a gap and grows after it, so that a marker that comes
            or goes does not bend the motion in one frame; 0 to count it fully up to the gap.
        restart_error: [m] frame RMSE beyond which the frame is tried again from a robust start.
        backend: of the quadratic program, used only in frames where a limit binds.
    """

    gain: float = 1.0
    iterations: int = 15
    tolerance: float = 1e-6
    posture: float = 2.5e-5
    free_twist: tuple[str, ...] = ("right_hand", "left_hand")
    damping: float = 1e-7
    limits: bool = True
    limit_speed: float = 40.0
    integrator: str = "manifold"
    baumgarte_gain: float = 1.0
    huber: float = 0.0
    fade: float = 0.1
    restart_error: float = 0.12
    backend: str = "osqp"

    def __post_init__(self) -> None:
        if not 0.0 < self.gain < 2.0:
            raise InvalidValue(f"gain K dt = {self.gain:g} is unstable; rapetti2020 (9) needs 0 < K dt < 2")
        if self.integrator not in INTEGRATORS:
            raise InvalidValue(f"integrator {self.integrator!r} is none of {', '.join(INTEGRATORS)}")
        if self.iterations < 0 or not self.tolerance > 0.0:
            raise InvalidValue("iterations must not be negative and tolerance must be positive")
        if min(self.posture, self.damping, self.huber, self.fade, self.baumgarte_gain) < 0.0:
            raise InvalidValue("posture, damping, huber, fade and baumgarte_gain must not be negative")

    @staticmethod
    def one_pass(gain: float = 1.0) -> TrackingOptions:
        """One velocity correction per frame, as rapetti2020 runs in real time."""
        return TrackingOptions(gain=gain, iterations=0, fade=0.0)
