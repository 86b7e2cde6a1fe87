"""Checks of force plates: first of the recordings (units, missing samples, mismatch), later of synchronised trials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...arrays import true_runs
from ...dynamics import predicted_wrench
from ...errors import InvalidValue
from ...motion import Motion
from ...plate_options import BELONGING, MASS, STANDSTILL, PlateOptions
from ...rig import Rig
from ...signals import FilterPreset, resample
from ...trial import Recording
from ...wrenches import Wrenches
from .copies import check_copies
from .finding import Action, Finding
from .frozen_samples import (
    find_dropouts,
    find_frozen_intervals,
    find_repeated_forces,
    find_repeated_markers,
    report_dropouts,
    report_frozen_samples,
)
from .mismatch import check_mismatch
from .plausibility import check_units
from .trial_wrenches import ForceMotionPair, compute_mean_residual, pair_forces_with_motion


@dataclass(frozen=True, slots=True)
class CheckedTrial:
    """One trial with forces, before and after the checks of its recording.

    Attributes:
        recording: as read.
        motion: N frames, filtered.
        is_usable: (N,) False where the motion is not usable.
        recorded_wrenches: wrenches at their own rate; frozen samples are NaN.
        wrenches: at the motion's times, through its filter.
    """

    recording: Recording
    motion: Motion
    is_usable: np.ndarray
    recorded_wrenches: Wrenches
    wrenches: Wrenches

    @property
    def name(self) -> str:
        """Name of the trial."""
        return self.recording.name


def check_recordings(
    rig: Rig, trials: Sequence[CheckedTrial], preset: FilterPreset, mass: float, options: PlateOptions
) -> tuple[dict[str, CheckedTrial], list[Finding]]:
    """Check units, frozen samples, and whether forces and motion of each trial belong together.

    Args:
        rig: its prior predicts the wrenches of the motion.
        trials: with forces.
        preset: filter of motion and wrenches.
        mass: [kg] of the body, roughly.
        options: findings to override.

    Returns:
        the trials whose forces belong to their motion, by name, without frozen samples; and the findings.

    Raises:
        InvalidValue: the forces are in another unit, or no trial's forces belong to its motion.
    """
    findings = check_units(rig, mass, [trial.name for trial in trials], options.overrules(MASS))
    prior = rig.prior.scaled(mass)
    seen: dict[str, CheckedTrial] = {}
    pairs: list[ForceMotionPair] = []
    for trial in trials:
        predicted = predicted_wrench(rig, trial.motion, prior, 0, axes="world")
        moving, found = _remove_bad_samples(trial, predicted, preset, mass, options.overrules(STANDSTILL))
        findings += found
        seen[trial.name] = moving
        pairs.append(pair_forces_with_motion(rig, trial.motion, moving.wrenches, predicted, trial.name))
    found = check_mismatch(pairs, mass, options.overrules(BELONGING))
    forces = {trial.name: trial.recorded_wrenches for trial in trials}
    misfits = {item.name: compute_mean_residual(item, mass) for item in pairs}
    found += check_copies(forces, misfits, options.overrules(BELONGING))
    left_out = {name for finding in found if finding.done is Action.LEFT_OUT for name in finding.trials}
    if trials and len(left_out) == len(trials):
        words = "; ".join(f"{', '.join(finding.trials)}: {finding.text}" for finding in findings + found)
        text = f"no trial's forces belong to its motion: {words}. Continue nevertheless with --overrule {BELONGING}"
        raise InvalidValue(text)
    return {name: trial for name, trial in seen.items() if name not in left_out}, findings + found


def _remove_bad_samples(
    trial: CheckedTrial, predicted: np.ndarray, preset: FilterPreset, mass: float, overridden: bool
) -> tuple[CheckedTrial, list[Finding]]:
    """The trial without lost samples, and without forces or markers that are frozen while the other side changes."""
    found, native, usable = [], trial.recorded_wrenches, trial.is_usable
    times, markers = native.times, trial.recording.markers
    spans = find_frozen_intervals(find_repeated_forces(native, mass), times, predicted[:, :3], trial.motion.times, mass)
    if spans:
        ends = [(float(times[start]), float(times[stop - 1])) for start, stop in spans]
        found.append(report_frozen_samples(trial.name, ends, "forces", "markers", overridden))
        values = native.values.copy()
        for start, stop in spans:
            values[start:stop] = np.nan
        native = Wrenches(times, native.frames, values, native.measured)
    if (lost := find_dropouts(native, mass)).any():
        step = 1.0 / native.rate
        plates = {
            name: [(float(times[start]), float(times[stop - 1] + step)) for start, stop in true_runs(own)]
            for name, own in zip(native.frames, lost.T)
            if own.any()
        }
        found.append(report_dropouts(trial.name, plates, overridden))
        native = Wrenches(times, native.frames, np.where(lost[:, :, None], np.nan, native.values), native.measured)
    if markers is not None:
        still = find_repeated_markers(markers)
        spans = find_frozen_intervals(still, markers.times, trial.recorded_wrenches.total[:, :3], times, mass)
        if spans:
            ends = [(float(markers.times[start]), float(markers.times[stop - 1])) for start, stop in spans]
            found.append(report_frozen_samples(trial.name, ends, "markers", "forces", overridden))
            usable = usable & ~_is_within(trial.motion.times, ends)
    if overridden or not found:
        return trial, found
    wrenches = trial.wrenches if native is trial.recorded_wrenches else resample(native, trial.motion.times, preset)
    return replace(trial, is_usable=usable, recorded_wrenches=native, wrenches=wrenches), found


def _is_within(times: np.ndarray, spans: Sequence[tuple[float, float]]) -> np.ndarray:
    inside = np.zeros(len(times), bool)
    for start, stop in spans:
        inside |= (times >= start) & (times <= stop)
    return inside
