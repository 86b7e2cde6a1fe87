"""Choices of the smoother."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...errors import InvalidValue
from ..options import TrackingOptions


@dataclass(frozen=True, slots=True)
class SmoothingOptions:
    """How a recording is smoothed; every default was chosen on runs and walks, none on the drop jumps it is judged by.

    Attributes:
        order: of the derivative of every joint's motion that is taken for white noise; 3 is jerk.
        com_order: the same of the centre of mass.
        window: [s] standard deviation of the Gaussian over which the variance of that noise is averaged; short enough
            to let a landing be rougher than the flight before it.
        noise_window: [s] the same of the measurements' noise.
        band: [Hz] in which the measurements' disagreement with a rigid body is taken for their noise: above what makes
            most of the marker error, below what cameras add. There the smoother must tell skin from body.
        iterations: Gauss-Newton steps at most.
        tolerance: [rad, m] largest change at which it has converged.
        tracking: what else weighs in a frame: posture, damping, fading of markers beside gaps.
    """

    order: int = 3
    com_order: int = 4
    window: float = 0.06
    noise_window: float = 0.1
    band: tuple[float, float] = (4.0, 15.0)
    iterations: int = 4
    tolerance: float = 3e-3
    tracking: TrackingOptions = field(default_factory=TrackingOptions)

    def __post_init__(self) -> None:
        if not (1 <= self.order <= 4 and 1 <= self.com_order <= 4):
            raise InvalidValue(f"orders {self.order} and {self.com_order} of the smoother must be 1 to 4")
        if not 0.0 < self.band[0] < self.band[1]:
            raise InvalidValue(f"the smoother's band {self.band[0]:g} to {self.band[1]:g} Hz must rise from above zero")
        if not (self.window > 0.0 and self.noise_window > 0.0 and self.tolerance > 0.0):
            raise InvalidValue("the smoother's windows and tolerance must be positive")
        if self.iterations < 1:
            raise InvalidValue("the smoother needs at least one iteration")
