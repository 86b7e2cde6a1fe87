"""The body's mass before it is known which frames count: what each trial's plates read, and whom to trust first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..dynamics import centroidal_momentum, ground_wrench
from ..motion import Motion
from ..rig import GRAVITY, Rig
from ..trial import Recording
from ..wrenches import Wrenches

AVERAGING_TIME = 0.4
"""[s] Over this time errors of a kinematic acceleration have mostly cancelled."""
LOADED_FRACTION, FREE_FALL_FRACTION = 0.2, 0.3
"""Shares: of the largest reading, above which a plate carries the body; of gravity, below which the body falls."""
MAX_STANDING_SPEED = 0.05
"""[m/s] Root mean square of the speed of a centre of mass that rests: over a second its acceleration averages to 1 % of
gravity at most. Standing people of three laboratories have 0.004 to 0.011, the slowest squat of any 0.16."""
MAX_BALANCE_ERROR = 0.06
"""[m] The centre of pressure of a body at rest is under its centre of mass, which a prior misses by 5 cm at most
(3 standard deviations of five people); a foot that no plate carries moves it by half the distance between the feet."""


@dataclass(frozen=True, slots=True)
class MassReading:
    """Body mass that one trial's plates read.

    Attributes:
        trial: its name.
        mass: [kg]
        relative_width: width of the densest half of the readings over the mass.
        is_standing: whether the body rests, carried by the plates alone.
    """

    trial: str
    mass: float
    relative_width: float
    is_standing: bool


def estimate_rough_mass(recordings: Sequence[Recording]) -> float | None:
    """Body mass [kg] before any motion is known: the mean vertical force of the steadiest recording while it is loaded.

    Good enough for a calibration, whose markers hardly depend on the mass; `compute_mass_readings` are for what comes
    after.
    """
    found: list[tuple[float, float]] = []
    for recording in recordings:
        if recording.wrenches is None:
            continue
        vertical = recording.wrenches.total[:, 2]
        vertical = vertical[np.isfinite(vertical)]
        loaded = np.flatnonzero(vertical > LOADED_FRACTION * np.max(vertical, initial=0.0))
        if len(loaded):
            variation = np.std(vertical[loaded]) / np.median(vertical[loaded])
            found.append((float(variation), float(np.mean(vertical[loaded[0] : loaded[-1] + 1])) / GRAVITY))
    return min(found)[1] if found else None


def compute_mass_readings(rig: Rig, trials: Sequence[tuple[str, Motion, Wrenches]]) -> list[MassReading]:
    """What each trial reads, the most trustworthy first: standing before moving, each by its spread.

    Where every contact is measured, the force over a_com + g is the mass; where some are not, it is anything less. The
    mass of a trial is therefore where half of its ratios lie closest together. Of a body that moves, both are averaged
    over `AVERAGING_TIME`, and a shorter trial reads nothing; a body at rest needs no average. A body at rest that the
    plates carry only in part (one foot beside them, a chair) is found by its centre of pressure, and reads nothing.

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
    """Whether the plates' force acts where a resting body needs it; True where no centre of pressure was measured."""
    if not np.asarray(wrenches.measured).all(axis=0)[3:5].all():
        return True
    total, needed = wrenches.total, ground_wrench(rig, motion, rig.prior)
    known = np.isfinite(total).all(axis=1) & (np.nan_to_num(total[:, 2]) > 0.0)
    if not known.any():
        return False
    acts, should = (wrench[known][:, [4, 3]] / wrench[known, 2:3] for wrench in (total, needed))
    return bool(np.linalg.norm(np.median(acts - should, axis=0)) < MAX_BALANCE_ERROR)
