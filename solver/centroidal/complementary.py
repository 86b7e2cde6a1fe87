"""The recursive complementary filter of bailly2019, Figs. 3 and 4, over a whole recording.

The quantities that depend on the estimates, the central axis's point (6b) and the wrench's momentum rate (8), are
affine in them, and the filters are linear: one iteration of Fig. 4 is x -> T x + b for x = (centre of mass, momentum
rate). Its fixed point is solved for directly. The slowest mode of T, a constant offset along the mean force, would take
hundreds of iterations per factor e, so that a stopping rule decides what is left of it.

The three axes of the moment are weighed by what the estimates leave of them, which the paper does not do.

The filters are applied to differences from the centre of mass without the central axis, (low + band) kinematics + high
force, and from the kinematic momentum rate, which begin at rest, so that there is no transient. The former replaces the
kinematic centre of mass of the paper: their difference, which the low-pass should remove, would leak through it at the
ends of a recording and be amplified by the slowest mode.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse.linalg import LinearOperator, gmres

from ..signals.filters import extend
from .causal_filter import CausalFilter, LiveSample
from .complementary_filters import ComplementarySettings, FilterBank, Section, build_filters
from .kinetics import Kinetics
from .values import CentroidalData, CentroidalEstimate

PAPER_SETTINGS = ComplementarySettings()
SETTLED_PERIODS = 3.0
"""Padding in periods of a cut-off; the transient of a critically damped filter has decayed to 1e-8 by then. Derived:
e^(-6 pi) is 7e-9."""

ROUNDING = 1e-8
"""Residual of the fixed point over the signals, at which the solution ends."""
SMALLEST_VARIANCE = 1e-3
"""Variance of an axis over the largest, below which it gains no weight."""
WEIGHINGS = 4
"""How often the axes of the moment are weighed; their weights have settled then."""
RESTART, RESTARTS = 25, 40
"""Vectors that GMRES stores, and how often it begins again."""
LENGTH = 1e-3
"""[m] of the centre of mass that weighs as much as 1 N m of the momentum rate."""
LowPass = Callable[[np.ndarray], np.ndarray]


def complementary(data: CentroidalData, settings: ComplementarySettings = PAPER_SETTINGS) -> CentroidalEstimate:
    """Zero-phase form, for recordings.

    Args:
        data: signals; where the wrench is unknown the estimate is the kinematic one.
        settings: cut-offs.

    Raises:
        InvalidValue: a cut-off is not below half the sample rate.
    """
    recursion, acceleration = zero_phase_recursion(data, settings)
    found, solved = recursion.solve()
    for _ in range(WEIGHINGS if data.has_moment else 0):
        recursion = recursion.weighed(*found)
        found, solved = recursion.solve(found)
    estimate = _build_estimate(data, recursion, found, acceleration, "complementary")
    note = "the filter's fixed point was not reached: what the forces determine least is between it and the kinematics"
    return estimate if solved else replace(estimate, notes=(*estimate.notes, note))


def zero_phase_recursion(
    data: CentroidalData, settings: ComplementarySettings = PAPER_SETTINGS
) -> tuple[Recursion, np.ndarray]:
    """Fig. 4 for a whole recording, and the acceleration (3, N) [m/s^2] without the central axis.

    Raises:
        InvalidValue: a cut-off is not below half the sample rate.
    """
    filters = build_filters(settings, data.rate)
    pads = {
        cutoff: int(np.ceil(SETTLED_PERIODS * data.rate / cutoff))
        for cutoff in (settings.low, settings.high, settings.momentum)
    }
    com, acceleration = data.com.T, data.acceleration.T
    force_acceleration = np.ascontiguousarray(data.force_acceleration.T)
    low_part = _filter_both_ways(filters.high_complement, com, pads[settings.high], odd=True)
    com_part = low_part + _integrate_twice(filters, force_acceleration, pads[settings.high])
    acceleration_part = force_acceleration - _filter_both_ways(
        filters.high_complement, force_acceleration - acceleration, pads[settings.high], odd=True
    )

    def low(values: np.ndarray) -> np.ndarray:
        return _filter_both_ways(filters.low, values, pads[settings.low], odd=False)

    def momentum(values: np.ndarray) -> np.ndarray:
        return _filter_both_ways(filters.momentum, values, pads[settings.momentum], odd=False)

    kinetics = Kinetics.from_data(data, causal=False)
    return Recursion(kinetics, com_part, np.ascontiguousarray(data.momentum_rate.T), low, momentum), acceleration_part


def causal_complementary(data: CentroidalData, settings: ComplementarySettings = PAPER_SETTINGS) -> CentroidalEstimate:
    """Causal form, for a whole recording: the values of `CausalFilter`, and their acceleration.

    Raises:
        InvalidValue: a cut-off is not below half the sample rate.
    """
    recursion, acceleration = causal_recursion(data, settings)
    if data.has_moment:
        live = CausalFilter(data.mass, data.rate, settings)
        rows = zip(data.com.tolist(), data.momentum_rate.tolist(), data.wrench.tolist(), data.acceleration.tolist())
        steps = [
            live.step(LiveSample(com, rate, wrench if known else None, pushed))
            for (com, rate, wrench, pushed), known in zip(rows, data.known)
        ]
        com, rate = np.array(steps).transpose(1, 2, 0)
    else:
        com, rate = recursion.com_part, recursion.kinematic_rate
    return _build_estimate(data, recursion, (com, rate), acceleration, "causal")


def causal_recursion(
    data: CentroidalData, settings: ComplementarySettings = PAPER_SETTINGS
) -> tuple[Recursion, np.ndarray]:
    """Fig. 4 with filters that use the past alone, and the acceleration (3, N) [m/s^2] without the central axis.

    Raises:
        InvalidValue: a cut-off is not below half the sample rate.
    """
    filters = build_filters(settings, data.rate)
    com, acceleration = data.com.T, data.acceleration.T
    force_acceleration = np.ascontiguousarray(data.force_acceleration.T)
    start = com[:, :1]
    # without the initial translation, of which the high-pass leaves nothing
    translation = com - start - (com[:, 1:2] - start) * np.arange(len(data))
    com_part = com - filters.high(translation) + filters.high_twice(force_acceleration)
    acceleration_part = acceleration + filters.high(force_acceleration - acceleration)

    def momentum(values: np.ndarray) -> np.ndarray:
        # starts at the kinematic value: a difference that existed before the first sample
        return filters.momentum(values - values[:, :1]) + values[:, :1]

    kinetics = Kinetics.from_data(data, causal=True)
    kinematic_rate = np.ascontiguousarray(data.momentum_rate.T)
    return Recursion(kinetics, com_part, kinematic_rate, filters.low, momentum), acceleration_part


@dataclass(frozen=True, slots=True)
class Recursion:
    """One iteration of Fig. 4 over a recording.

    Attributes:
        kinetics: of the data.
        com_part: (3, N) [m] centre of mass without the part from the central axis.
        kinematic_rate: (3, N) [N m] momentum rate by the kinematics.
        low: low-pass of the centre of mass.
        momentum: low-pass of the momentum rate.
        weights: (3,) of the axes of the moment, see `Kinetics.axis_point`; None: equal, as in the paper.
    """

    kinetics: Kinetics
    com_part: np.ndarray
    kinematic_rate: np.ndarray
    low: LowPass
    momentum: LowPass
    weights: np.ndarray | None = None

    def weighed(self, com: np.ndarray, rate: np.ndarray) -> Recursion:
        """With weights by the low frequencies of the moments that estimates (3, N) leave unexplained.

        The errors of the kinematic momentum rate differ between the axes.
        """
        left = self.low(self.kinetics.momentum_rate(com) - rate)[:, self.kinetics.axis_weight >= 0.5]
        variance = np.mean(left**2, axis=1) if left.shape[1] else np.ones(3)
        return replace(
            self, weights=1.0 / np.maximum(variance, SMALLEST_VARIANCE * variance.max() + np.finfo(float).tiny)
        )

    def step(self, com: np.ndarray, rate: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Centre of mass (3, N) [m] and momentum rate (3, N) [N m] after one more iteration."""
        kinetics, kinematic = self.kinetics, self.kinematic_rate
        axis = kinetics.axis_weight * (kinetics.axis_point(com, rate, self.weights) - self.com_part)
        force_rate = kinetics.weight * (kinetics.momentum_rate(com) - kinematic)
        return self.com_part + self.low(axis), kinematic + force_rate - self.momentum(force_rate)

    def solve(self, start: tuple[np.ndarray, np.ndarray] | None = None) -> tuple[tuple[np.ndarray, np.ndarray], bool]:
        """The fixed point of `step`, from a guess, and whether it was reached within `ROUNDING`."""
        size, shape = self.com_part.size, self.com_part.shape
        units = np.concatenate([np.full(size, LENGTH), np.ones(size)])

        def stack(values: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
            return np.concatenate([values[0].reshape(-1), values[1].reshape(-1)]) / units

        def split(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            com, rate = (values * units).reshape(2, *shape)
            return com, rate

        base = (self.com_part, self.kinematic_rate) if start is None else start
        origin, moved = stack(base), stack(self.step(*base))

        def remainder(change: np.ndarray) -> np.ndarray:
            """(1 - T) times a change."""
            return np.asarray(change - (stack(self.step(*split(origin + change))) - moved))

        operator = LinearOperator((2 * size, 2 * size), matvec=remainder, dtype=float)
        right = moved - origin
        least = ROUNDING * float(np.linalg.norm(stack((self.com_part, self.kinematic_rate))))
        change, unsolved = gmres(operator, right, rtol=0.0, atol=least, restart=RESTART, maxiter=RESTARTS)
        return split(origin + change), unsolved == 0


def _build_estimate(
    data: CentroidalData,
    recursion: Recursion,
    fixed_point: tuple[np.ndarray, np.ndarray],
    acceleration_part: np.ndarray,
    method: str,
) -> CentroidalEstimate:
    """The fixed point as an estimate.

    Args:
        data: signals.
        recursion: of the data.
        fixed_point: centre of mass (3, N) [m] and momentum rate (3, N) [N m].
        acceleration_part: (3, N) [m/s^2] of the centre of mass without the central axis.
        method: its name.
    """
    com, rate = fixed_point
    axis_acceleration = np.zeros_like(com)
    axis_acceleration[:, 1:-1] = np.diff(com - recursion.com_part, 2, axis=1) * data.rate**2
    notes = () if data.has_moment else ("the wrench has no moment: the central axis and its momentum rate are omitted",)
    acceleration = (acceleration_part + axis_acceleration).T
    return CentroidalEstimate(method, data.times, data.mass, com.T, acceleration, rate.T, data.momentum, notes)


def _filter_both_ways(section: Section, values: np.ndarray, pad: int, *, odd: bool) -> np.ndarray:
    """A low-pass (3, N) forwards and backwards, over a reflection at the ends.

    An ``odd`` reflection continues the signal's slope. An even one keeps the mean of a fluctuating difference, where
    the odd one would follow its last sample.
    """
    if odd:
        padded, start = extend(values.T, pad, pad)
        padded = np.ascontiguousarray(padded.T)
    else:
        padded, start = np.pad(values, ((0, 0), (pad, pad)), mode="symmetric"), pad
    filtered = _filter_from_rest(section, _filter_from_rest(section, padded)[:, ::-1])[:, ::-1]
    return filtered[:, start : start + values.shape[1]]


def _filter_from_rest(section: Section, values: np.ndarray) -> np.ndarray:
    first = values[:, :1]
    return section(values - first) + first


def _integrate_twice(filters: FilterBank, acceleration: np.ndarray, pad: int) -> np.ndarray:
    """Zero-phase high-pass (3, N) [m] of the double integral of an acceleration: G + G* - H G*, see
    `complementary_filters`.

    Beyond the ends the acceleration belongs to an oddly reflected position, as that of the kinematic signal does.
    """
    pad = min(pad, acceleration.shape[1] - 1)
    zeros = np.zeros((len(acceleration), 1))
    padded = np.concatenate(
        [-acceleration[:, pad:0:-1], zeros, acceleration[:, 1:-1], zeros, -acceleration[:, -2 : -pad - 2 : -1]], axis=1
    )
    forwards = filters.high_twice(padded)
    backwards = filters.high_twice(padded[:, ::-1])[:, ::-1]
    return (forwards + backwards - filters.high(backwards))[:, pad : pad + acceleration.shape[1]]
