"""Checks of force plates: first of the recordings (frozen samples, mismatch), later of synchronised trials."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType

import numpy as np

from ...arrays import true_runs
from ...dynamics import predicted_wrench
from ...errors import InvalidValue
from ...options.plates import FROZEN, LOAD_MOMENT, MASS, MISMATCH, POSITION, PlateOptions
from ...rig import Rig
from ...signals import FilterPreset, resample
from ...trial import Trial
from ...wrenches import Wrenches
from ..preparation import FilteredTrial
from .finding import NO_CORRECTION, Action, Finding, PlateCorrection
from .frozen_samples import (
    find_dropouts,
    find_frozen_intervals,
    find_repeated_forces,
    find_repeated_markers,
    report_dropouts,
    report_frozen_samples,
)
from .hypotheses import compute_mean_residual
from .joint_readings import find_joint_reading
from .known_plates import apply_known_plates
from .location import check_location
from .mismatch import check_copies, check_mismatch
from .single_plates import check_single_plates
from .trial_wrenches import ForceMotionPair, compare_trial, pair_forces_with_motion
from .vertical_moment import check_free_moment, check_load_moment


def check_recordings(
    rig: Rig, trials: Sequence[FilteredTrial], preset: FilterPreset, mass: float, options: PlateOptions
) -> tuple[list[FilteredTrial], list[Finding]]:
    """Check frozen samples, and whether forces and motion of each trial belong together.

    Args:
        rig: its prior predicts the wrenches of the motion.
        trials: with or without forces.
        preset: filter of motion and wrenches.
        mass: [kg] of the body, roughly.
        options: findings to override.

    Returns:
        the trials in order, without frozen samples, and without forces that do not belong to the motion; the findings.

    Raises:
        InvalidValue: no trial's forces belong to its motion.
    """
    recorded = {trial.name: trial.recorded_wrenches for trial in trials if trial.recorded_wrenches is not None}
    findings: list[Finding] = []
    prior = rig.prior.scaled(mass)
    checked: dict[str, FilteredTrial] = {}
    pairs: list[ForceMotionPair] = []
    for trial in trials:
        if trial.name not in recorded:
            continue
        predicted = predicted_wrench(rig, trial.motion, prior, 0, axes="world")
        clean, found = _remove_bad_samples(trial, predicted, preset, mass, options.only_reports(FROZEN))
        findings += found
        checked[trial.name] = clean
        assert clean.wrenches is not None
        pairs.append(pair_forces_with_motion(rig, trial.motion, clean.wrenches, predicted, trial.name))
    motions = {trial.name: trial.motion for trial in trials if trial.record.given is not None and not rig.is_person}
    joint_causes = {
        item.name: cause
        for item in pairs
        if item.name in motions and (cause := find_joint_reading(rig, motions[item.name], prior, item)) is not None
    }
    found = check_mismatch(pairs, mass, options.only_reports(MISMATCH), joint_causes)
    residuals = {item.name: compute_mean_residual(item, mass) for item in pairs}
    found += check_copies(recorded, residuals, options.only_reports(MISMATCH))
    left_out = {name for finding in found if finding.done is Action.LEFT_OUT for name in finding.trials}
    if recorded and len(left_out) == len(recorded):
        reasons = "; ".join(f"{', '.join(finding.trials)}: {finding.text}" for finding in findings + found)
        text = f"no trial's forces belong to its motion: {reasons}. Continue nevertheless with --report-only {MISMATCH}"
        raise InvalidValue(text)
    result = [
        replace(trial, recorded_wrenches=None, wrenches=None)
        if trial.name in left_out
        else checked.get(trial.name, trial)
        for trial in trials
    ]
    return result, findings + found


def _remove_bad_samples(
    trial: FilteredTrial, predicted: np.ndarray, preset: FilterPreset, mass: float, overridden: bool
) -> tuple[FilteredTrial, list[Finding]]:
    """The trial without lost samples, and without forces or markers that are frozen while the other side changes."""
    findings: list[Finding] = []
    usable, markers = trial.is_usable, trial.record.recording.markers
    assert trial.recorded_wrenches is not None
    original = recorded = trial.recorded_wrenches
    times = recorded.times
    repeated = find_repeated_forces(recorded, mass)
    if spans := find_frozen_intervals(repeated, times, predicted[:, :3], trial.motion.times, mass):
        ends = [(float(times[start]), float(times[stop - 1])) for start, stop in spans]
        findings.append(report_frozen_samples(trial.name, ends, "forces", "markers", overridden))
        values = recorded.values.copy()
        for start, stop in spans:
            values[start:stop] = np.nan
        recorded = Wrenches(times, recorded.frames, values, recorded.measured)
    if (lost := find_dropouts(recorded, mass)).any():
        step = 1.0 / recorded.rate
        plates = {
            name: [(float(times[start]), float(times[stop - 1] + step)) for start, stop in true_runs(own)]
            for name, own in zip(recorded.frames, lost.T)
            if own.any()
        }
        findings.append(report_dropouts(trial.name, plates, overridden))
        values = np.where(lost[:, :, None], np.nan, recorded.values)
        recorded = Wrenches(times, recorded.frames, values, recorded.measured)
    if markers is not None:
        repeated = find_repeated_markers(markers)
        if spans := find_frozen_intervals(repeated, markers.times, original.total[:, :3], times, mass):
            ends = [(float(markers.times[start]), float(markers.times[stop - 1])) for start, stop in spans]
            findings.append(report_frozen_samples(trial.name, ends, "markers", "forces", overridden))
            usable = usable & ~_is_within(trial.motion.times, ends)
    if overridden or not findings:
        return trial, findings
    wrenches = trial.wrenches if recorded is original else resample(recorded, trial.motion.times, preset)
    return replace(trial, is_usable=usable, recorded_wrenches=recorded, wrenches=wrenches), findings


def _is_within(times: np.ndarray, spans: Sequence[tuple[float, float]]) -> np.ndarray:
    inside = np.zeros(len(times), bool)
    for start, stop in spans:
        inside |= (times >= start) & (times <= stop)
    return inside


@dataclass(frozen=True, slots=True)
class PlateChecks:
    """Result of the checks of synchronised trials.

    Attributes:
        findings: of every check.
        corrections: by trial; trials without a correction are missing.
    """

    findings: tuple[Finding, ...]
    corrections: Mapping[str, PlateCorrection]

    def __post_init__(self) -> None:
        object.__setattr__(self, "corrections", MappingProxyType(dict(self.corrections)))

    def get_correction(self, trial: str) -> PlateCorrection:
        """The correction of a trial's wrenches."""
        return self.corrections.get(trial, NO_CORRECTION)


def check_plates(rig: Rig, trials: Sequence[Trial], options: PlateOptions) -> PlateChecks:
    """Check the plates of synchronised trials: free moment, load moment, location and gain.

    Args:
        rig: its prior, with the right total mass, predicts the wrenches of the motion.
        trials: with synchronised motion and wrenches, without plate offset.
        options: options that override findings.
    """
    items = [compare_trial(rig, trial) for trial in trials if trial.counted.any()]
    findings: list[Finding] = []
    corrections: dict[str, PlateCorrection] = {}

    def correct(finding: Finding, is_changed: bool, change: Callable[[PlateCorrection], PlateCorrection]) -> None:
        findings.append(finding)
        for name in finding.trials if is_changed else ():
            corrections[name] = change(corrections.get(name, NO_CORRECTION))

    for finding, factor in check_free_moment(items, options.free_moment):
        correct(finding, factor != 1.0, partial(replace, free_moment=factor))
    factors = {name: correction.free_moment for name, correction in corrections.items()}
    for finding, couple in check_load_moment(items, factors, options.only_reports(LOAD_MOMENT)):
        correct(finding, couple != 0.0, partial(replace, couple=couple))
    for finding, shift in check_location(items, options.only_reports(POSITION)):
        correct(finding, bool(shift.any()), partial(replace, shift=shift))
    for finding, change in check_single_plates(items, options.only_reports(POSITION), options.only_reports(MASS)):
        correct(finding, change.is_changed, change.add_to)
    layouts = {item.name: item.layout for item in items}
    corrections, disagreements = apply_known_plates(layouts, corrections, findings, options)
    return PlateChecks((*findings, *disagreements), corrections)
