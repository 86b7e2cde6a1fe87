"""Rough body mass before it is known which frames count: one reading per trial, the most reliable first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..dynamics import centroidal_momentum, ground_wrench
from ..signals.trial import Recording
from ..skeleton.rig import GRAVITY, Rig
from ..values.motion import Motion
from ..values.wrenches import Wrenches

AVERAGING_TIME = 0.4
"""[s] Averaging time over which errors of the kinematic acceleration mostly cancel."""
LOADED_FRACTION, FREE_FALL_FRACTION = 0.2, 0.3
"""Fraction of the largest reading above which a plate carries the body; fraction of gravity below which the body
falls."""
MAX_STANDING_SPEED = 0.05
"""[m/s] Largest RMS speed of the centre of mass of a standing body: over a second its acceleration then averages to at
most 1 % of gravity. Measured on standing people of three laboratories: 0.004 to 0.011, 0.16 for the slowest squat."""
MAX_BALANCE_ERROR = 0.06
"""[m] Largest distance between the centre of pressure of a standing body and the prior's centre of mass. The prior is
wrong by at most 5 cm (3 standard deviations, measured on five people); a foot off the plates moves the centre of
pressure by half the distance between the feet."""


@dataclass(frozen=True, slots=True)
class MassReading:
    """Body mass measured by one trial's plates.

    Attributes:
        trial: its name.
        mass: [kg]
        relative_width: width of the densest half of the readings, as a fraction of the mass.
        is_standing: whether the body is at rest and carried by the plates alone.
    """

    trial: str
    mass: float
    relative_width: float
    is_standing: bool


def estimate_rough_mass(recordings: Sequence[Recording]) -> float | None:
    """Body mass [kg] before any motion is known: the mean vertical force of the steadiest recording while it is loaded.

    Accurate enough for a calibration, which hardly depends on the mass; later steps use `compute_mass_readings`.
    """
    found: list[tuple[float, float]] = []
    for recording in recordings:
        if recording.wrenches is None:
            continue
        vertical = recording.wrenches.map(lambda values, _: values[:, :, 2].sum(axis=1))
        vertical = vertical[np.isfinite(vertical)]
        loaded = np.flatnonzero(vertical > LOADED_FRACTION * np.max(vertical, initial=0.0))
        if len(loaded):
            variation = np.std(vertical[loaded]) / np.median(vertical[loaded])
            found.append((float(variation), float(np.mean(vertical[loaded[0] : loaded[-1] + 1])) / GRAVITY))
    return min(found)[1] if found else None


def compute_mass_readings(rig: Rig, trials: Sequence[tuple[str, Motion, Wrenches]]) -> list[MassReading]:
    """Mass reading of each trial, the most reliable first: standing before moving, then by relative width.

    If every contact is measured, force / (a_com + g) is the mass; otherwise it is smaller. The mass of a trial is
    therefore the median of the densest half of these ratios. For a moving body, force and acceleration are averaged
    over `AVERAGING_TIME` first, and a shorter trial gives no reading. A standing body that the plates carry only in
    part (one foot beside them, a chair) is recognised by its centre of pressure and gives no reading.

    Args:
        rig: any reasonable prior; its total mass does not matter.
        trials: name, filtered motion, and wrenches at its times through the same filter.
    """
    found = []
    for name, motion, wrenches in trials:
        momentum = centroidal_momentum(rig, motion, rig.prior)
        velocity = momentum.momentum[:, :3] / rig.prior.total_mass
        resting = bool(np.sqrt(np.mean(np.sum(velocity**2, axis=1))) < MAX_STANDING_SPEED)
        if resting and not _is_balanced(rig, motion, wrenches):
            continue
        steps = 1 if resting else max(1, round(AVERAGING_TIME * motion.rate))
        needed, force = momentum.rate[:, 2] / rig.prior.total_mass + GRAVITY, wrenches.total[:, 2]
        known = np.isfinite(force)
        if known.sum() < 2 * steps:
            continue
        needed, force = (np.convolve(part[known], np.ones(steps) / steps, mode="valid") for part in (needed, force))
        ratio = np.sort(force[needed > FREE_FALL_FRACTION * GRAVITY] / needed[needed > FREE_FALL_FRACTION * GRAVITY])
        ratio = ratio[ratio > LOADED_FRACTION * ratio[-1]] if len(ratio) else ratio
        half = len(ratio) // 2
        if half < steps:
            continue
        widths = ratio[half:] - ratio[: len(ratio) - half]
        start = int(np.argmin(widths))
        mass = float(np.median(ratio[start : start + half + 1]))
        found.append(MassReading(name, mass, float(widths[start]) / mass, resting))
    return sorted(found, key=lambda reading: (not reading.is_standing, reading.relative_width))


def _is_balanced(rig: Rig, motion: Motion, wrenches: Wrenches) -> bool:
    """Whether the centre of pressure is where a standing body needs it; True if none was measured."""
    if not np.asarray(wrenches.measured).all(axis=0)[3:5].all():
        return True
    total, needed = wrenches.total, ground_wrench(rig, motion, rig.prior)
    known = np.isfinite(total).all(axis=1) & (np.nan_to_num(total[:, 2]) > 0.0)
    if not known.any():
        return False
    acts, should = (wrench[known][:, [4, 3]] / wrench[known, 2:3] for wrench in (total, needed))
    return bool(np.linalg.norm(np.median(acts - should, axis=0)) < MAX_BALANCE_ERROR)
