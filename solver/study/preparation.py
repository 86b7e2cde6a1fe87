"""From tracked recordings to trials: one filter on both sides, counted windows, mass, plate offset and time lag."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..calibration.body_mass import MassEstimate, estimate_mass
from ..calibration.trial_mass import MassEvidence, collect_mass_evidence
from ..dynamics import centroidal_momentum, predicted_wrench
from ..errors import InvalidValue
from ..motion import Motion
from ..plate_options import LAG, MASS, PlateOptions
from ..rig import Rig
from ..signals import (
    ContactEvidence,
    FilterPreset,
    Lag,
    MarkerDisplacements,
    Windows,
    combine_lags,
    estimate_lag,
    find_windows,
    light_preset,
    resample,
    shift_wrenches,
    smooth_motion,
    trial_lags,
)
from ..trial import Trial
from ..wrenches import Wrenches
from .motion_noise import MotionNoise, adapt_cutoff, estimate_motion_noise, make_noise_replicas
from .plates.checks import CheckedTrial, check_recordings
from .plates.clock import report_lag
from .plates.correction import NO_CORRECTION, VERTICAL_MOMENT, PlateCorrection
from .plates.finding import Finding
from .plates.gain import check_gains
from .plates.known_plates import find_known_biases
from .plates.plausibility import check_mass, check_readings, report_offsets
from .plates.suspicion import check_plates
from .rough_mass import compute_mass_readings
from .values import TrialRecord

INTERPOLATED_TRACKED = 0.99
"""A frame between two others is tracked when both were."""
DEFAULT_PLATES = PlateOptions()


@dataclass(frozen=True, slots=True)
class PreparedTrials:
    """Trials of one subject, ready for identification.

    Attributes:
        rig: with its prior scaled to the measured mass.
        records: one per recording, in order.
        mass: estimated from all trials with forces; None when no trial weighs the body.
        lag: of the plates behind the motion, over all trials; None when not estimated.
        warnings: for the report.
        findings: what the plates were suspected of, and what was done.
    """

    rig: Rig
    records: tuple[TrialRecord, ...]
    mass: MassEstimate | None
    lag: Lag | None
    warnings: tuple[str, ...]
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class _FilteredTrial:
    record: TrialRecord
    motion: Motion
    lightly_filtered: Motion
    is_usable: np.ndarray
    wrenches: Wrenches | None = None
    windows: Windows | None = None
    noise_replicas: Collection[Motion] = ()
    recorded_wrenches: Wrenches | None = None


def prepare(
    rig: Rig,
    records: Sequence[TrialRecord],
    preset: FilterPreset,
    *,
    stated_mass: float | None = None,
    synchronise: bool = True,
    plates: PlateOptions = DEFAULT_PLATES,
) -> PreparedTrials:
    """Trials from recordings whose motion is known.

    The order matters: windows need a rough mass, the mass needs windows, the lag needs the mass's scale, and the plates
    are judged by wrenches that are in time and without offset.

    Args:
        rig: calibrated.
        records: with poses, tracked or given.
        preset: filter of both sides of the equations; its cut-off is lowered where every motion is mostly noise above.
        stated_mass: [kg] what the user says.
        synchronise: estimate and remove the plates' lag.
        plates: what is to be done about plates that are suspected.

    Raises:
        InvalidValue: no trial has forces, or none has a frame that counts.
    """
    warnings: list[str] = []
    noises = estimate_motion_noise(rig, records, preset)
    asked, preset = preset, adapt_cutoff(rig, preset, records, noises)
    if preset.cutoff < asked.cutoff:
        warnings.append(
            f"above {preset.cutoff:.1f} Hz the motion is mostly noise: motion and forces were filtered at that instead "
            f"of {asked.cutoff:g} Hz"
        )
    items = [_filter_trial(rig, record, preset, noises) for record in records]
    weighing = [(item.record.name, item.motion, item.wrenches) for item in items if item.wrenches is not None]
    readings = compute_mass_readings(rig, weighing)
    findings = check_readings(readings, plates.overrules(MASS))
    rough = readings[0].mass if readings else stated_mass or rig.prior.total_mass
    items, found = _check_recordings(rig, items, preset, rough, plates)
    findings += found
    items = [_find_windows(rig, item, preset, rough) for item in items]
    mass = _estimate_mass(rig, items, rough, stated_mass, warnings)
    biases: dict[str, np.ndarray] = {}
    gains: dict[str, float] = {}
    if mass is not None:
        standing = next((reading for reading in readings if reading.is_standing), None)
        findings += check_mass(mass, stated_mass, standing, plates.overrules(MASS))
        known, disagreements = find_known_biases(mass, plates)
        biases = {trial.name: mass.bias_of(trial.name) for trial in mass.trials} | known
        findings += report_offsets(mass)
        findings += disagreements
        odd, gains = check_gains(mass, plates.overrules(MASS))
        findings += odd
        rig = rig.with_prior(rig.prior.scaled(mass.mass))
    measured = synchronise and any(item.wrenches is not None for item in items)
    lags, lag = _estimate_lags(rig, items, preset, warnings) if measured else ({}, None)
    if lag is not None:
        findings.append(report_lag(lag, lags, plates.overrules(LAG)))
    if plates.overrules(LAG):
        lags = {}
    items = [_scale_forces(item, gains.get(item.record.name, 1.0)) for item in items]
    done = [_build_trial(item, preset, biases.get(item.record.name), lags.get(item.record.name)) for item in items]
    suspicion = check_plates(rig, [record.trial for record in done if record.trial is not None], plates)
    for place, item in enumerate(items):
        correction = suspicion.get_correction(item.record.name)
        if correction is not NO_CORRECTION:
            done[place] = _build_trial(item, preset, biases.get(item.record.name), done[place].lag, correction)
    return PreparedTrials(rig, tuple(done), mass, lag, tuple(warnings), (*findings, *suspicion.findings))


def _filter_trial(
    rig: Rig,
    record: TrialRecord,
    preset: FilterPreset,
    noises: Mapping[str, MotionNoise],
) -> _FilteredTrial:
    native, poses = record.recording.wrenches, record.poses
    if poses is None:
        raise InvalidValue(f"trial {record.name!r} has no motion: neither markers nor joint coordinates")
    motion = smooth_motion(rig, poses.times, poses.q, preset)
    light = smooth_motion(rig, poses.times, poses.q, light_preset(preset, motion.rate))
    usable = np.interp(motion.times, poses.times, poses.known.astype(float)) > INTERPOLATED_TRACKED
    copies = make_noise_replicas(rig, record, preset, noises)
    filtered = None if native is None else resample(native, motion.times, preset)
    return _FilteredTrial(record, motion, light, usable, filtered, noise_replicas=copies, recorded_wrenches=native)


def _check_recordings(
    rig: Rig, items: Sequence[_FilteredTrial], preset: FilterPreset, mass: float, plates: PlateOptions
) -> tuple[list[_FilteredTrial], list[Finding]]:
    """The items as the first look at their plates leaves them; without forces where those do not belong."""
    seen = [
        CheckedTrial(item.record.recording, item.motion, item.is_usable, item.recorded_wrenches, item.wrenches)
        for item in items
        if item.recorded_wrenches is not None and item.wrenches is not None
    ]
    kept, findings = check_recordings(rig, seen, preset, mass, plates)
    result = []
    for item in items:
        left = kept.get(item.record.name)
        if item.wrenches is None:
            result.append(item)
        elif left is None:
            result.append(replace(item, recorded_wrenches=None, wrenches=None))
        else:
            result.append(
                replace(
                    item, recorded_wrenches=left.recorded_wrenches, wrenches=left.wrenches, is_usable=left.is_usable
                )
            )
    return result, findings


def _find_windows(rig: Rig, item: _FilteredTrial, preset: FilterPreset, mass: float) -> _FilteredTrial:
    native, filtered = item.recorded_wrenches, item.wrenches
    if native is None or filtered is None:
        return item
    load = np.nan_to_num(resample(native, item.motion.times).total[:, 2])
    evidence = ContactEvidence.of_motion(rig, item.motion, filtered, load=load, usable=item.is_usable)
    return replace(item, windows=find_windows(evidence, mass, preset))


def _estimate_mass(
    rig: Rig, items: Sequence[_FilteredTrial], rough: float, stated: float | None, warnings: list[str]
) -> MassEstimate | None:
    evidence: list[MassEvidence] = []
    for item in items:
        native = item.recorded_wrenches
        if native is None or item.wrenches is None or item.windows is None or not item.windows.counted.any():
            continue
        velocity = centroidal_momentum(rig, item.motion, rig.prior).momentum[:, :3] / rig.prior.total_mass
        evidence.append(collect_mass_evidence(item.record.name, velocity, item.wrenches, native, item.windows, rough))
    if not evidence:
        return None
    try:
        mass = estimate_mass(evidence, stated=stated)
    except InvalidValue as error:
        warnings.append(f"{error}; the prior's mass of {rig.prior.total_mass:.1f} kg is kept")
        return None
    warnings.extend(mass.warnings)
    return mass


def _scale_forces(item: _FilteredTrial, factor: float) -> _FilteredTrial:
    """The item with its forces times a factor."""
    if item.recorded_wrenches is None or factor == 1.0:
        return item
    return replace(
        item, recorded_wrenches=replace(item.recorded_wrenches, values=factor * item.recorded_wrenches.values)
    )


def _estimate_lags(
    rig: Rig, items: Sequence[_FilteredTrial], preset: FilterPreset, warnings: list[str]
) -> tuple[dict[str, Lag], Lag | None]:
    """The lag of each trial with forces that is likeliest beside the others', and of all."""
    found: dict[str, Lag] = {}
    for item in items:
        native = item.recorded_wrenches
        if native is None or item.windows is None or not item.windows.counted.any():
            continue
        predicted = predicted_wrench(rig, item.motion, rig.prior, 0, axes="world")
        predicted[:, 3:] += np.cross(item.motion.q[:, :3], predicted[:, :3])
        measured = np.asarray(native.measured).all(axis=0)
        # The vertical moment has no say: the sign of its free moment is judged once the plates are in time.
        axes = tuple(int(axis) for axis in np.flatnonzero(measured) if axis != VERTICAL_MOMENT)
        try:
            found[item.record.name] = estimate_lag(
                item.motion.times, predicted[:, axes], native, preset=preset, counted=item.windows.counted, axes=axes
            )
        except InvalidValue:
            continue  # a trial too short for a lag of its own takes the others'
    try:
        mean, likeliest = combine_lags(list(found.values())), trial_lags(list(found.values()))
    except InvalidValue as error:
        warnings.append(f"plates and motion were not synchronised: {error}")
        return {}, None
    own = dict(zip(found, likeliest))
    return {
        item.record.name: own.get(item.record.name, mean) for item in items if item.recorded_wrenches is not None
    }, mean


def _build_trial(
    item: _FilteredTrial,
    preset: FilterPreset,
    bias: np.ndarray | None,
    lag: Lag | None,
    correction: PlateCorrection = NO_CORRECTION,
) -> TrialRecord:
    native, windows = item.recorded_wrenches, item.windows
    if native is None or windows is None:
        return replace(item.record, motion=item.motion)
    bias = np.zeros(6) if bias is None else bias
    corrected = correction.apply(native if lag is None else shift_wrenches(native, lag.seconds))
    corrected = corrected.without_bias(bias) if bias.any() else corrected
    wrenches = resample(corrected, item.lightly_filtered.times, light_preset(preset, item.lightly_filtered.rate))
    measured = np.asarray(wrenches.measured)
    wrenches = replace(wrenches, values=np.where(measured[:, None], wrenches.values, 0.0))
    counted = windows.counted & np.isfinite(wrenches.total).all(axis=1)
    trial = Trial(
        item.record.name,
        item.lightly_filtered,
        wrenches,
        counted,
        windows.excluded,
        item.noise_replicas,
        preset,
        _marker_displacements(item, preset),
    )
    return replace(
        item.record, motion=item.motion, trial=trial, windows=windows, lag=lag, bias=bias, plate_correction=correction
    )


def _marker_displacements(item: _FilteredTrial, preset: FilterPreset) -> MarkerDisplacements | None:
    tracked, motion = item.record.tracked, item.lightly_filtered
    if tracked is None or tracked.link_residuals is None:
        return None
    pulls = tracked.link_residuals
    light = light_preset(preset, motion.rate)
    return MarkerDisplacements(tracked.times, pulls.sums, pulls.weights, tracked.is_tracked, motion.times, light)
