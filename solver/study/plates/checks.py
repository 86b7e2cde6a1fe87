"""Checks of force plates: first of the recordings (frozen samples, mismatch), later of synchronised trials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...base.errors import InvalidValue
from ...dynamics import predicted_wrench
from ...options.plates import FROZEN, LAG, MASS, MISMATCH, PlateOptions
from ...signals import FilterPreset, resample, shift_wrenches
from ...skeleton.rig import Rig
from ...values.wrenches import Wrenches
from ..preparation import FilteredTrial
from .finding import UNKNOWN_INTERVAL, Action, Finding
from .frozen_samples import (
    find_constant_points,
    find_dropouts,
    find_frozen_samples,
    find_repeated_forces,
    find_repeated_markers,
    find_saturated_samples,
    find_unloaded_offsets,
    report_samples,
)
from .hypotheses import compute_mean_residual
from .joint_readings import find_joint_reading
from .mismatch import MAX_LAG, check_mismatch, find_lag, search_time_offsets
from .trial_wrenches import ForceMotionPair


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
        clean, found = _remove_bad_samples(trial, predicted, preset, mass, options)
        findings += found
        assert clean.wrenches is not None
        pair = ForceMotionPair(trial.name, trial.motion.times, predicted, trial.motion.q[:, :3], clean.wrenches)
        pair = replace(pair, time_offsets=search_time_offsets(pair, mass))
        lag = find_lag(pair.time_offsets, compute_mean_residual(pair, mass))
        if not options.only_reports(LAG) and lag and abs(lag) <= MAX_LAG:
            assert clean.recorded_wrenches is not None
            moved = resample(shift_wrenches(clean.recorded_wrenches, lag), trial.motion.times, preset)
            clean, pair = replace(clean, wrenches=moved, lag=lag), replace(pair, wrenches=moved, lag=lag)
        checked[trial.name] = clean
        pairs.append(pair)
    motions = {trial.name: trial.motion for trial in trials if trial.record.given is not None and not rig.is_person}
    joint_causes = {
        item.name: cause
        for item in pairs
        if item.name in motions and (cause := find_joint_reading(rig, motions[item.name], prior, item)) is not None
    }
    found = check_mismatch(pairs, mass, preset.cutoff, options.only_reports(MISMATCH), joint_causes)
    left_out = {name for finding in found if finding.done is Action.LEFT_OUT for name in finding.trials}
    if recorded and len(left_out) == len(recorded):
        reasons = "; ".join(f"{', '.join(finding.trials)}: {finding.text}" for finding in findings + found)
        text = f"no trial's forces belong to its motion: {reasons}. Continue nevertheless with --report-only {MISMATCH}"
        raise InvalidValue(text)
    return leave_out([checked.get(trial.name, trial) for trial in trials], findings + found), findings + found


def leave_out(trials: Sequence[FilteredTrial], findings: Sequence[Finding]) -> list[FilteredTrial]:
    """The trials in order, without the forces of those that findings other than of frozen samples leave out."""
    names = {name for f in findings if f.done is Action.LEFT_OUT and f.kind != FROZEN for name in f.trials}
    return [replace(t, recorded_wrenches=None, wrenches=None) if t.name in names else t for t in trials]


def _remove_bad_samples(
    trial: FilteredTrial, predicted: np.ndarray, preset: FilterPreset, mass: float, options: PlateOptions
) -> tuple[FilteredTrial, list[Finding]]:
    """The trial without lost samples, and without forces or markers that are frozen while the other side changes."""
    findings: list[Finding] = []
    overridden = options.only_reports(FROZEN)
    usable, markers = trial.is_usable, trial.record.recording.markers
    assert trial.recorded_wrenches is not None
    original = recorded = trial.recorded_wrenches
    times = recorded.times
    frozen = find_frozen_samples(
        find_repeated_forces(recorded, mass), times, predicted[:, :3], trial.motion.times, mass
    )
    done = Action.LEFT_OUT.unless(overridden)
    for lost, what in (
        (np.tile(frozen[:, None], len(recorded.frames)), "forces are frozen while the markers change"),
        (find_dropouts(recorded, mass), "forces are zero between two samples under load: samples were lost"),
        (find_saturated_samples(recorded), "forces are saturated: they stay at their largest value"),
    ):
        if lost.any():
            names = ", ".join(name for name, own in zip(recorded.frames, lost.T) if own.any())
            findings.append(report_samples(trial.name, times, lost.any(axis=1), f"the {what} ({names})", done))
            recorded = _without(recorded, lost)
    if (constant := find_constant_points(recorded, mass)).any():
        names = ", ".join(name for name, own in zip(recorded.frames, constant) if own)
        text = f"the centre of pressure of {names} is constant while the force changes: the moments are not used"
        findings.append(Finding(FROZEN, (trial.name,), np.nan, UNKNOWN_INTERVAL, "", done, text))
        recorded = recorded.without_axes((3, 4, 5))
    if markers is not None:
        still = find_repeated_markers(markers)
        still = find_frozen_samples(still, markers.times, original.total[:, :3], times, mass)
        if still.any():
            what = "the markers are frozen while the forces change"
            findings.append(report_samples(trial.name, markers.times, still, what, done))
            usable = usable & (np.interp(trial.motion.times, markers.times, still) == 0.0)
    if overridden:
        recorded, usable = original, trial.is_usable
    if (offsets := find_unloaded_offsets(recorded, mass)).any():
        listed = ", ".join(f"{name} {own[2]:.1f} N" for name, own in zip(recorded.frames, offsets) if own.any())
        text = f"plates do not read zero while nothing touches them: {listed} upwards, and horizontal forces"
        largest, done = float(np.abs(offsets[:, :3]).max()), Action.UNDONE.unless(options.only_reports(MASS))
        findings.append(Finding(MASS, (trial.name,), largest, UNKNOWN_INTERVAL, "N", done, text))
        if done is Action.UNDONE:
            recorded = replace(recorded, values=recorded.map(lambda values, _: values - offsets))
    wrenches = trial.wrenches if recorded is original else resample(recorded, trial.motion.times, preset)
    return replace(trial, is_usable=usable, recorded_wrenches=recorded, wrenches=wrenches), findings


def _without(wrenches: Wrenches, lost: np.ndarray) -> Wrenches:
    """The wrenches with NaN in lost samples (N, K) or (N, 1)."""
    return replace(wrenches, values=wrenches.map(lambda values, own: np.where(lost[own, :, None], np.nan, values)))
