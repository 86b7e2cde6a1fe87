"""The complementary filters of bailly2019, Table I, in discrete time, and their settings.

Tustin's substitution s -> 2/T (z - 1)/(z + 1) maps an identity between rational functions of s to one of z, so that
low, band and high-pass of the discrete filters sum to one at every frequency as the analogue ones do. Each cut-off is
prewarped so that it lies at the specified frequency.

The double integral of the force is never computed. High-passed by s^2/(s^2 + 2 zeta w s + w^2), it is the acceleration
filtered by 1/(s^2 + 2 zeta w s + w^2), and 1/s^2 becomes the trapezoidal rule twice.

Forwards and backwards (zero phase) a low-pass is squared. The high-pass is then one minus the squared complement and
not its own square, because the sum must be one: with L the complement of H = s^2/den, 1 - |L|^2 = H + H* - H H*, and
over s^2 (which is real) G + G* - G* H, with G = 1/den.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.signal import lfilter

from ..base.errors import InvalidValue

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


@dataclass(frozen=True, slots=True)
class Section:
    """One second-order filter in z.

    Attributes:
        b: (3,) numerator, the coefficient of the newest sample first.
        a: (3,) denominator, a[0] = 1.
    """

    b: np.ndarray
    a: np.ndarray

    def __call__(self, values: np.ndarray) -> np.ndarray:
        """Filter signals (C, N), time last, forwards from rest."""
        return lfilter(self.b, self.a, values, axis=-1)

    def response(self, frequencies: np.ndarray, rate: float) -> np.ndarray:
        """Complex gain at frequencies [Hz] for samples at ``rate`` [1/s]."""
        z = np.exp(-2j * np.pi * np.asarray(frequencies) / rate)
        return np.polyval(self.b[::-1], z) / np.polyval(self.a[::-1], z)


@dataclass(frozen=True, slots=True)
class FilterBank:
    """Table I for one sample rate. `high_twice` is the high-pass of a signal whose second derivative is given [s^2].

    The band-pass is the remainder of the other two and needs no filter of its own.

    Attributes:
        low: of the centre of mass, applied to the central axis.
        high: of the centre of mass.
        high_complement: one minus `high`.
        high_twice: `high` over s^2, applied to f/m + g.
        momentum: low-pass of the momentum rate; its high-pass is one minus it.
    """

    low: Section
    high: Section
    high_complement: Section
    high_twice: Section
    momentum: Section


def build_filters(settings: ComplementarySettings, rate: float) -> FilterBank:
    """The filters of Table I at a sample rate [1/s].

    Raises:
        InvalidValue: a cut-off is not below half the rate.
    """
    settings.require_rate(rate)
    step = 1.0 / rate

    def section(cutoff: float, numerator: tuple[float, float, float]) -> Section:
        """(n2 s^2 + n1 2 zeta w s + n0 w^2) / (s^2 + 2 zeta w s + w^2)."""
        turn = np.tan(np.pi * cutoff * step)  # w T / 2, moved
        middle, end = 2.0 * settings.damping * turn, turn**2
        n2, n1, n0 = numerator[0], numerator[1] * middle, numerator[2] * end
        lead = 1.0 + middle + end
        b = np.array([n2 + n1 + n0, 2.0 * (n0 - n2), n2 - n1 + n0]) / lead
        return Section(b, np.array([1.0, 2.0 * (end - 1.0) / lead, (1.0 - middle + end) / lead]))

    high = section(settings.high, (1.0, 0.0, 0.0))
    # over s^2: the factor (z - 1)^2 of the high pass becomes (T/2)^2 (z + 1)^2
    twice = Section(high.b[0] * (0.5 * step) ** 2 * np.array([1.0, 2.0, 1.0]), high.a)
    return FilterBank(
        low=section(settings.low, (0.0, 0.0, 1.0)),
        high=high,
        high_complement=section(settings.high, (0.0, 1.0, 1.0)),
        high_twice=twice,
        momentum=section(settings.momentum, (0.0, 0.0, 1.0)),
    )
