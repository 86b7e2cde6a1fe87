"""The recursive complementary filter of bailly2019, Figs. 3 and 4, over a whole recording.

Every iteration updates the quantities that depend on the estimates, the central axis's point (6b) and the wrench's
momentum rate (8), and filters again. The filters are applied to differences from the kinematic values, which begin at
rest, so that there is no transient.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..signals.filters import extend
from .complementary_filters import FilterBank, Section, build_filters
from .kinetics import Kinetics
from .settings import ComplementarySettings
from .values import CentroidalData, CentroidalEstimate

PAPER_SETTINGS = ComplementarySettings()
SETTLED_PERIODS = 3.0
"""Padding in periods of a cut-off; the transient of a critically damped filter has decayed to 1e-8 by then."""

LowPass = Callable[[np.ndarray], np.ndarray]


def complementary(data: CentroidalData, settings: ComplementarySettings = PAPER_SETTINGS) -> CentroidalEstimate:
    """Zero-phase form, for recordings.

    Args:
        data: signals; where the wrench is unknown the estimate is the kinematic one.
        settings: cut-offs and tolerance.

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
    return _iterate(data, settings, kinetics, (com_part, acceleration_part), (low, momentum), "complementary")


def causal_complementary(data: CentroidalData, settings: ComplementarySettings = PAPER_SETTINGS) -> CentroidalEstimate:
    """Causal form, for a whole recording at once; `CausalFilter` gives the same values live.

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
    return _iterate(data, settings, kinetics, (com_part, acceleration_part), (filters.low, momentum), "causal")


def _iterate(
    data: CentroidalData,
    settings: ComplementarySettings,
    kinetics: Kinetics,
    kinematic_part: tuple[np.ndarray, np.ndarray],
    filters: tuple[LowPass, LowPass],
    method: str,
) -> CentroidalEstimate:
    """Iterate Fig. 4 until both changes are within the tolerance; the figure's "and" would end it at the first.

    Args:
        data: signals.
        settings: tolerance and number of iterations.
        kinetics: of the data.
        kinematic_part: (3, N) centre of mass [m] and its acceleration [m/s^2] without the part from the central axis.
        filters: low-passes of the centre of mass and of the momentum rate.
        method: its name.
    """
    (com_part, acceleration_part), (low, momentum) = kinematic_part, filters
    measured = np.ascontiguousarray(data.com.T)
    kinematic = np.ascontiguousarray(data.momentum_rate.T)
    com, rate = measured, kinematic
    axis_part, trace, converged = np.zeros_like(com), [], False
    for _ in range(settings.iterations):
        axis = kinetics.axis_weight * (kinetics.axis_point(com, rate) - measured)
        force_rate = kinetics.weight * (kinetics.momentum_rate(com) - kinematic)
        axis_part = low(axis)
        before = com, rate
        com, rate = com_part + axis_part, kinematic + force_rate - momentum(force_rate)
        trace.append((float(np.abs(com - before[0]).max()), float(np.abs(rate - before[1]).max())))
        if max(trace[-1]) <= settings.tolerance:
            converged = True
            break
    axis_acceleration = np.zeros_like(axis_part)
    axis_acceleration[:, 1:-1] = np.diff(axis_part, 2, axis=1) * data.rate**2
    notes = [] if data.has_moment else ["the wrench has no moment: the central axis and its momentum rate are omitted"]
    if not converged:
        notes.append(
            f"the recursion did not converge: it still changed by {1e3 * trace[-1][0]:.2g} mm and {trace[-1][1]:.2g} "
            f"N m in its last of "
            f"{settings.iterations} iterations"
        )
    return CentroidalEstimate(
        method,
        data.times,
        data.mass,
        com.T,
        (acceleration_part + axis_acceleration).T,
        rate.T,
        data.momentum,
        tuple(trace),
        converged,
        tuple(notes),
    )


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
