"""Compares the plates of one layout: location and gain of each, from the time in which it alone carries the body.

The error of the body model is the same on every plate. A difference between plates is therefore an error of the plates,
or the difference between a left and a right step. Plates that are only loaded together cannot be compared, because any
fraction of the weight may be on either.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...options.plates import MASS, POSITION
from ...signals.pooling import TWO_SIDED_STDS, blocks_of, fit_blocks, pool
from ...wrenches import LEAST_LOAD
from .finding import CERTAIN_STDS, Action, Finding, PlateCorrection, compute_interval
from .location import DIRECTION_WORDS, MIN_FRAMES, compute_heading, is_planar
from .trial_wrenches import LOADED_FRACTION, ComparedTrial

STEP_STD = np.array([0.007, 0.008])
"""[m] Standard deviations, forwards and sideways, of the apparent displacement between left and right steps: in four
walks and three runs of four people they differ by 5.4 and 7.1 mm (RMS)."""
STEP_GAIN_STD = 0.008
"""The same for the gain; measured on the same steps: 0.6 %."""


@dataclass(frozen=True, slots=True)
class PlateChange:
    """Corrections of the single plates of a layout.

    Attributes:
        shifts: (K, 3) [m] displacement of each plate, world, in addition to that of all plates.
        gains: (K,) factors of each plate's readings.
    """

    shifts: np.ndarray
    gains: np.ndarray

    @property
    def is_changed(self) -> bool:
        """Whether anything is corrected."""
        return bool(self.shifts.any() or (self.gains != 1.0).any())

    def add_to(self, before: PlateCorrection) -> PlateCorrection:
        """A correction, and then this one."""
        shifts = self.shifts + before.shifts if len(before.shifts) else self.shifts
        gains = self.gains * before.gains if len(before.gains) else self.gains
        return replace(before, shifts=shifts, gains=gains)


def check_single_plates(
    items: Sequence[ComparedTrial], keep_location: bool, keep_gain: bool
) -> list[tuple[Finding, PlateChange]]:
    """Find plates that certainly differ from the mean of their layout, each with its correction.

    Args:
        items: trials whose forces are synchronised with the motion.
        keep_location, keep_gain: True: do not correct it.
    """
    layouts: dict[tuple[str, ...], list[ComparedTrial]] = {}
    for item in items:
        layouts.setdefault(item.layout, []).append(item)
    found = []
    for plates, trials in layouts.items():
        readings_by_plate = {
            k: readings for k in range(len(plates)) if (readings := _estimate_readings(trials, k)) is not None
        }
        if len(readings_by_plate) < 2:
            continue
        names = tuple(trial.name for trial in trials)
        heading = np.mean([compute_heading(trial.trial.motion.q[trial.trial.counted]) for trial in trials], axis=0)
        values, stds = (np.array([readings[part] for readings in readings_by_plate.values()]) for part in (0, 1))
        values[:, :2] = values[:, :2] @ heading
        deviations, stds = _subtract_mean(values, stds)
        if any(map(is_planar, trials)):
            stds[:, 1] = np.inf
        for (k, deviation), std in zip(zip(readings_by_plate, deviations), stds):
            found += _build_findings(names, plates, k, (deviation, std), heading, (keep_location, keep_gain))
    return found


def _estimate_readings(trials: Sequence[ComparedTrial], plate: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Apparent displacement (2) [m], world, and gain of a plate over trials: (3,), with standard deviations (3,)."""
    found = []
    for item in trials:
        vertical = item.trial.wrenches.values[:, :, 2]
        weight = float(np.nanmedian(item.predicted[:, 2]))
        others = np.delete(vertical, plate, axis=1).sum(axis=1)
        used = (
            item.counted_frames(range(5))
            & (vertical[:, plate] > LOADED_FRACTION * weight)
            & (np.abs(others) < LEAST_LOAD)
        )
        if used.sum() < MIN_FRAMES:
            continue
        missing, blocks = item.predicted - item.measured, blocks_of(item.trial.motion.times, used)
        table = vertical[:, plate : plate + 1]
        fits = [fit_blocks(table, target, blocks) for target in (-missing[:, 4], missing[:, 3], item.predicted[:, 2])]
        if np.isfinite([std[0] for _, std in fits]).all():
            found.append([(float(value[0]), float(std[0])) for value, std in fits])
    if not found:
        return None
    both = [pool([trial[part][0] for trial in found], [trial[part][1] for trial in found]) for part in range(3)]
    return np.array([value for value, _ in both]), np.array([std for _, std in both])


def _subtract_mean(values: np.ndarray, stds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Values (K, 3) minus their mean over plates, with standard deviations; gains relative to their mean."""
    count = len(values)
    mean = values.mean(axis=0)
    deviations = values - mean
    deviations[:, 2] /= mean[2]
    rest = 1.0 - 1.0 / count
    variance = stds**2 * rest**2 + ((stds**2).sum(axis=0) - stds**2) / count**2
    return deviations, np.sqrt(variance + rest * np.append(STEP_STD, STEP_GAIN_STD) ** 2)


def _build_findings(
    trials: tuple[str, ...],
    plates: tuple[str, ...],
    plate: int,
    reading: tuple[np.ndarray, np.ndarray],
    heading: np.ndarray,
    overridden: tuple[bool, bool],
) -> list[tuple[Finding, PlateChange]]:
    """The findings about one plate; none if nothing is certain."""
    values, stds = reading
    certain = np.abs(values) > CERTAIN_STDS * stds
    nothing = PlateChange(np.zeros((len(plates), 3)), np.ones(len(plates)))
    found = []
    if certain[:2].any():
        quantities = " and ".join(
            f"{1e3 * abs(value):.1f} ± {1e3 * TWO_SIDED_STDS * std:.1f} mm {words[int(value < 0.0)]}"
            for value, std, words, sure in zip(values, stds, DIRECTION_WORDS, certain)
            if sure
        )
        text = (
            f"{plates[plate]} is {quantities} of the body from its file's location, relative to the mean of its layout"
        )
        most = int(np.argmax(np.abs(values[:2]) / stds[:2]))
        evidence, interval = 1e3 * float(values[most]), compute_interval(1e3 * values[most], 1e3 * stds[most])
        shifts = np.zeros((len(plates), 3))
        shifts[plate, :2] = heading @ np.where(certain[:2], values[:2], 0.0)
        each = nothing if overridden[0] else PlateChange(shifts, nothing.gains)
        found.append(
            (Finding(POSITION, trials, evidence, interval, "mm", Action.UNDONE.unless(overridden[0]), text), each)
        )
    if certain[2]:
        low, high = compute_interval(1.0 / (1.0 + values[2]), stds[2])
        text = f"{plates[plate]} reads {1.0 / (1.0 + values[2]):.3f} ({low:.3f} to {high:.3f}, 95 %) times what the "
        text += "plates of its layout read on average (only a specified mass could show which of them is right)"
        gains = np.ones(len(plates))
        gains[plate] += values[2]
        each = nothing if overridden[1] else PlateChange(nothing.shifts, gains)
        found.append(
            (
                Finding(
                    MASS,
                    trials,
                    1.0 / (1.0 + float(values[2])),
                    (low, high),
                    "",
                    Action.UNDONE.unless(overridden[1]),
                    text,
                ),
                each,
            )
        )
    return found
