"""Flights, and checks of the signals before an estimate: drift of the plates, missing wrenches, short flights, load."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from ..base.errors import InvalidValue
from ..signals import GRAVITY, find_flights, true_runs
from .complementary_filters import FLIGHT
from .values import CentroidalData

MIN_FLIGHT = 0.05
"""[s] least duration of a flight."""
MAX_WINDOWS, MIN_WINDOWS = 8, 4
"""Contact is divided into this many windows, of at most a second; with fewer than the least number no drift is
estimated."""
MIN_WINDOW = 0.2
"""[s] least duration over which force and kinematic acceleration are averaged: both measure the change of the body's
speed over a window, the more accurately the longer it is."""
CONFIDENCE = 0.99
"""Level of a trend's interval, which must exclude zero for the trend to be reported."""
MIN_DRIFT = 0.015
"""Fraction of the body weight by which the plates must drift over the recording to be reported."""
FALL_FRACTION = 0.5
"""Fraction of gravity from which a body without load falls; otherwise it stands on something unmeasured."""


def is_unloaded(data: CentroidalData) -> np.ndarray:
    """(N,) True where the measured force is almost zero, and where nothing is measured."""
    return np.asarray(np.linalg.norm(data.force, axis=1) < FLIGHT * data.mass * GRAVITY)


def flight_intervals(data: CentroidalData, *, by_motion: bool = True) -> tuple[tuple[int, int], ...]:
    """First frame and one past the last of each flight.

    Args:
        data: signals.
        by_motion: whether the fall of the kinematic centre of mass indicates flight where contacts are not measured.
    """
    falling = find_flights(data.times, data.acceleration[:, 2]) & by_motion
    spans = true_runs(np.where(data.known, is_unloaded(data), falling))
    return tuple((start, stop) for start, stop in spans if stop - start >= MIN_FLIGHT * data.rate)


def check_signals(data: CentroidalData) -> tuple[str, ...]:
    """Sentences about problems of signals that can still be used."""
    found = []
    drift = estimate_drift(data)
    if drift is not None and drift.is_significant(data):
        seconds = data.times[-1] - data.times[0]
        found.append(
            f"the plates drift: their vertical force minus the force that the motion requires changes by "
            f"{drift.change:+.0f} N "
            f"(+- {drift.interval:.0f} N) over the {seconds:.2g} s; zero the plates again, or subtract the drift"
        )
    between = np.flatnonzero(data.known)
    unknown = int(np.ptp(between)) + 1 - len(between) if len(between) else 0
    if unknown:
        found.append(
            f"between known samples the wrench is unknown for {unknown / data.rate:.2g} s (a gap, or a contact off "
            "the plates): there the estimate follows from neighbouring samples and the motion"
        )
    unloaded = true_runs(data.known & is_unloaded(data))
    if short := len(unloaded) - len(flight_intervals(data, by_motion=False)):
        each = "an interval" if short == 1 else f"{short} intervals"
        found.append(f"{each} without load, shorter than {MIN_FLIGHT * 1e3:.0f} ms: too short to be used as a flight")
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Drift:
    """Trend of the measured vertical force minus the force that the motion requires.

    Attributes:
        change: [N] from first to last sample.
        interval: [N] half width of its interval of level `CONFIDENCE`, by Student's distribution.
    """

    change: float
    interval: float

    def is_significant(self, data: CentroidalData) -> bool:
        """Whether the trend exceeds its interval and is large enough to matter for this body."""
        return abs(self.change) > max(self.interval, MIN_DRIFT * data.mass * GRAVITY)


def estimate_drift(data: CentroidalData) -> Drift | None:
    """Trend of the measured vertical force minus the required one; None if contact is too short.

    A short contact is divided into shorter windows, which vary more: the interval accounts for it.
    """
    residual = data.force[:, 2] - data.mass * (data.acceleration[:, 2] + GRAVITY)
    loaded = data.known & ~is_unloaded(data)
    contacts = [span for span in true_runs(loaded) if span[1] - span[0] >= MIN_WINDOW * data.rate]
    if not contacts:
        return None
    lengths = [end - begin for begin, end in contacts]
    size = round(min(np.median(lengths), np.clip(sum(lengths) / MAX_WINDOWS, MIN_WINDOW * data.rate, data.rate)))
    starts = [first for begin, end in contacts for first in range(begin, end - size + 1, size)]
    if len(starts) < MIN_WINDOWS:
        return None
    means = np.array([residual[first : first + size].mean() for first in starts])
    times = np.array([data.times[first : first + size].mean() for first in starts])
    design = np.column_stack([np.ones(len(times)), times - times.mean()])
    fit, *_ = np.linalg.lstsq(design, means, rcond=None)
    degrees_of_freedom = len(means) - design.shape[1]
    residual_std = np.sqrt(np.sum((means - design @ fit) ** 2) / degrees_of_freedom)
    seconds = data.times[-1] - data.times[0]
    error = residual_std / np.linalg.norm(design[:, 1]) * seconds
    return Drift(float(fit[1] * seconds), float(stdtrit(degrees_of_freedom, 0.5 + 0.5 * CONFIDENCE) * error))


def require_load(data: CentroidalData, name: str) -> None:
    """Refuse forces that show no load on a body that does not fall: they are of another time, or were not recorded.

    Raises:
        InvalidValue: no measured sample is loaded, and in half of them the kinematic centre of mass does not fall.
    """
    unloaded = data.known & is_unloaded(data)
    if not data.known.any() or not np.array_equal(unloaded, data.known):
        return
    if np.mean(data.acceleration[unloaded, 2] > -FALL_FRACTION * GRAVITY) > 0.5:
        raise InvalidValue(
            f"trial {name!r}: the plates show no load in any measured frame, and the body does not fall: its forces "
            "were not recorded, or belong to another trial; omit them, or give the right file"
        )
