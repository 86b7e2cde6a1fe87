"""The body's mass from one trial: the impulse over its counted frames, and whether its plates read zero when unloaded.

Over any counted interval the impulse of the ground is the change of momentum and the weight, J(t) = int F dt = m (v(t)
+ g t) + const, for standing, a stride or a jump alike. J is fitted to v and to g t with separate factors. The factor of
v contains the error of the kinematic centre of mass (wrong segment masses, skin motion: up to 10 %); the factor of g t
is the mass.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from scipy.integrate import cumulative_trapezoid

from ..base.arrays import Array, ArrayValue, Times, true_runs
from ..base.errors import InvalidValue
from ..signals.windows import Windows
from ..skeleton.rig import GRAVITY
from ..values.wrenches import Wrenches

DYNAMIC_STD = 0.1
"""Relative standard deviation of the factor of v about the mass: the error of a kinematic centre of mass's motion."""
PLATE_LINEARITY = 0.003
"""Linearity of a force plate, as makers state it: the smallest relative std of a trial's mass."""
MIN_DURATION = 0.3
"""[s] Shorter counted intervals are not used."""
LOADED_FRACTION, UNLOADED_FRACTION = 0.5, 0.03
"""Fractions of body weight: above the first a sensor carried the body, below the second it is unloaded."""
MIN_UNLOADED_TIME = 0.03
"""[s] A sensor must be unloaded for at least this long to show its zero."""


@dataclass(frozen=True, slots=True)
class UnloadedReading:
    """What the sensors that carry the body in this trial read while nothing touches them.

    Attributes:
        offset: [N] vertical, mean over the counted time of the loaded sensors' readings.
        std: [N]
    """

    offset: float
    std: float


@dataclass(frozen=True, slots=True)
class MassEvidence(ArrayValue):
    """One trial's motion of the centre of mass and its forces.

    Attributes:
        name: of the trial.
        times: (N,) [s].
        velocity: (N, 3) [m/s] of the kinematic centre of mass, world.
        wrench: (N, 6) total measured, filtered like the motion, about the world origin; NaN where missing.
        counted: (N,) True where every contact is measured.
        unloaded: reading of the unloaded sensors; None if they are never unloaded in counted frames.
    """

    name: str
    times: Annotated[np.ndarray, Times()]
    velocity: Annotated[np.ndarray, Array("N", 3)]
    wrench: Annotated[np.ndarray, Array("N", 6, finite=False)]
    counted: Annotated[np.ndarray, Array("N", mask=True)]
    unloaded: UnloadedReading | None = None


@dataclass(frozen=True, slots=True)
class TrialMass:
    """The mass that one trial reads.

    Attributes:
        name: of the trial.
        apparent_mass: [kg] factor of g t: the mass, if the plates have no offset.
        std: [kg] of `apparent_mass`, without the effect of an unseen offset.
        unloaded: see `MassEvidence`.
        seconds: counted time [s].
    """

    name: str
    apparent_mass: float
    std: float
    unloaded: UnloadedReading | None
    seconds: float


def collect_mass_evidence(
    name: str, velocity: np.ndarray, filtered: Wrenches, native: Wrenches, windows: Windows, mass: float
) -> MassEvidence:
    """Motion and forces of one trial, for `estimate_mass`.

    Args:
        name: of the trial.
        velocity: (N, 3) [m/s] of the kinematic centre of mass, world.
        filtered: at the motion's times, filtered like it.
        native: unfiltered, at their own rate, for the readings of unloaded sensors.
        windows: counted frames.
        mass: [kg] roughly, to distinguish loaded from unloaded.
    """
    if len(filtered) != len(windows.times):
        raise InvalidValue(f"trial {name!r}: {len(filtered)} wrench samples for {len(windows.times)} frames")
    zero = read_unloaded_plates(native, windows, mass)
    return MassEvidence(name, windows.times, velocity, filtered.total, windows.counted, zero)


def read_unloaded_plates(native: Wrenches, windows: Windows, mass: float) -> UnloadedReading | None:
    """Readings of the sensors that carry the body, in counted moments (flight, swing) in which nothing touches them.

    Readings of exactly zero were cut by software; then the lowest reading in contact bounds the offset, because the
    ground only pushes. Frames in which a chair carries the body do not count. None if any loaded sensor is never
    unloaded.
    """
    nearest = np.searchsorted(windows.times, native.times).clip(0, len(windows.times) - 1)
    counted = windows.counted[nearest] & (native.times <= windows.times[-1])
    weight = mass * GRAVITY
    offsets, deviations, shares = [], [], []
    for load in native.map(lambda values, _: values[:, :, 2]).T:
        known = counted & np.isfinite(load)
        if not np.any(load[known] > LOADED_FRACTION * weight):
            continue
        empty = known & (np.abs(load) < UNLOADED_FRACTION * weight)
        for start, stop in true_runs(empty):
            if (stop - start) / native.rate < MIN_UNLOADED_TIME:
                empty[start:stop] = False
        if not empty.any():
            return None
        readings = load[empty]
        lowest = np.min(load[np.isfinite(load) & (load > 0.0)])
        cut = np.mean(readings == 0.0) > 0.5
        offsets.append(0.0 if cut else float(np.median(readings)))
        deviations.append(min(lowest, UNLOADED_FRACTION * weight) if cut else max(float(np.std(readings)), 1.0))
        shares.append(np.sum(known & ~empty) / np.sum(known))
    if not offsets:
        return None
    loaded = np.array(shares)
    return UnloadedReading(float(loaded @ offsets), float(np.linalg.norm(loaded * deviations)))


def estimate_trial_mass(evidence: MassEvidence) -> TrialMass | None:
    """Mass read by one trial; None if no counted interval is long enough."""
    known = evidence.counted & np.isfinite(evidence.wrench).all(axis=1)
    rate = (len(known) - 1) / (evidence.times[-1] - evidence.times[0])
    intervals = [slice(start, stop) for start, stop in true_runs(known) if (stop - start) / rate >= MIN_DURATION]
    if not intervals:
        return None
    force = evidence.wrench[:, :3]
    steady, std = _fit_impulse(evidence, intervals, force[:, 2])
    return TrialMass(
        evidence.name,
        steady / GRAVITY,
        float(np.hypot(std / GRAVITY, PLATE_LINEARITY * steady / GRAVITY)),
        evidence.unloaded,
        sum(span.stop - span.start for span in intervals) / rate,
    )


def _fit_impulse(evidence: MassEvidence, intervals: list[slice], force: np.ndarray) -> tuple[float, float]:
    """The vertical factor of t and its std [N] in int F dt = dynamic v + steady t + a constant per interval.

    Residuals are treated as correlated.
    """
    rows, impulses = [], []
    for span in intervals:
        t = evidence.times[span]
        table = np.stack([evidence.velocity[span, 2], t], axis=1)
        impulse = cumulative_trapezoid(force[span], t, initial=0.0)
        rows.append(table - table.mean(axis=0))
        impulses.append(impulse - impulse.mean())
    table, impulse = np.concatenate(rows), np.concatenate(impulses)
    weight = float(np.mean(np.concatenate([evidence.wrench[span, 2] for span in intervals])))
    mass = weight / GRAVITY
    prior = np.array([1.0, -1.0 / GRAVITY]) / (DYNAMIC_STD * mass)  # dynamic is about steady / g
    noise = 0.01 * mass  # first guess: 1 cm/s of the centre of mass
    solution, covariance = np.zeros(2), np.zeros((2, 2))
    for _ in range(3):
        normal = table.T @ table / noise**2 + np.outer(prior, prior)
        covariance = np.linalg.inv(normal)
        solution = covariance @ (table.T @ impulse / noise**2)
        residual = impulse - table @ solution
        inflation = np.mean(
            [variance_inflation(part) for part in np.split(residual, np.cumsum([len(r) for r in rows])[:-1])]
        )
        noise = max(float(np.sqrt(np.mean(residual**2) * inflation)), 1e-6 * mass)
    return float(solution[1]), float(np.sqrt(covariance[1, 1]))


def variance_inflation(residual: np.ndarray) -> float:
    """Ratio of samples to independent samples: 1 + 2 sum of the autocorrelation up to its first zero."""
    square = float(residual @ residual)
    if square <= 0.0 or len(residual) < 3:
        return 1.0
    size = 1 << (2 * len(residual) - 1).bit_length()
    spectrum = np.abs(np.fft.rfft(residual, size)) ** 2
    correlation = np.fft.irfft(spectrum, size)[: len(residual)] / square
    below = np.flatnonzero(correlation <= 0.0)
    return float(1.0 + 2.0 * correlation[1 : below[0] if len(below) else len(residual)].sum())
