"""Settings of the complementary filters, the paper's as defaults."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import InvalidValue

FLIGHT = 0.05
"""Fraction of the body weight at which the central axis has half of its weight, and below which a body flies. The
weight is 0 without force and 1 - `RIDGE` at twice this fraction: any less would draw a loaded body to its
kinematics."""
RIDGE = 1e-4
"""Weight of the kinematics beside the central axis. The height of the centre of mass follows from the horizontal force,
f_h^2 / f^2: one below a hundredth of the weight, as in quiet standing, determines no height."""


@dataclass(frozen=True, slots=True)
class ComplementarySettings:
    """Cut-offs of Table I.

    Attributes:
        name: of the settings.
        low: [Hz] below it the centre of mass follows the central axis.
        high: [Hz] above it the force.
        momentum: [Hz] below it the momentum rate follows the kinematics, above it the wrench.
        damping: zeta of all filters, a ratio; 1 is critical.
        note: source of the values.
    """

    name: str = "bailly2019"
    low: float = 1.0
    high: float = 25.0
    momentum: float = 2.0
    damping: float = 1.0
    note: str = ""

    def __post_init__(self) -> None:
        for name in ("low", "high", "momentum", "damping"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value > 0.0):
                raise InvalidValue(f"{name} of the filters {self.name!r} must be positive, got {value!r}")
        if not self.low < self.high:
            raise InvalidValue(
                f"filters {self.name!r}: the low cut-off {self.low:g} Hz must lie below the high one {self.high:g} Hz"
            )

    def require_rate(self, rate: float) -> None:
        """Refuse a sample rate that is too low for the filters.

        Raises:
            InvalidValue: the highest cut-off is not below half the sample rate [1/s].
        """
        highest = max(self.high, self.momentum)
        if not highest < 0.5 * rate:
            raise InvalidValue(
                f"filters {self.name!r} cut off at {highest:g} Hz, which is not below half the sample rate "
                f"({0.5 * rate:g} Hz); choose a lower cut-off or data at a higher rate"
            )
