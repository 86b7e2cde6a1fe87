"""From tracked recordings to trials: one filter on both sides, counted windows, mass, plate offset and time lag."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..calibration.mass import MassEstimate, estimate_mass
from ..calibration.mass_evidence import MassEvidence, mass_evidence
from ..dynamics import centroidal_momentum, predicted_wrench
from ..errors import InvalidValue
from ..motion import Motion
from ..plate_options import LAG, MASS, PlateOptions
from ..rig import Rig
from ..signals import (
    ContactEvidence,
    FilterPreset,
    Lag,
    Pulled,
    Windows,
    combined_lag,
    estimate_lag,
    find_windows,
    lighter,
    own_lags,
    resample,
    shift,
    smooth_motion,
)
from ..trial import Trial
from ..wrenches import Wrenches
from .motion_noise import MotionNoise, fitting, motion_noises, shaken_copies
from .plates.clock import lag_finding
from .plates.correction import UNCHANGED, VERTICAL, PlateCorrection
from .plates.finding import Finding
from .plates.first_look import Seen, first_look
from .plates.gain import gain_findings
from .plates.known import known_biases
from .plates.plausible import mass_findings, offset_findings, reading_findings
from .plates.suspicion import suspect
from .rough_mass import mass_readings
from .values import TrialRecord

WHOLLY = 0.99
"""A frame between two others is tracked when both were."""
USUAL = PlateOptions()


@dataclass(frozen=True, slots=True)
class Prepared:
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
class _Item:
    record: TrialRecord
    motion: Motion
    light: Motion
    usable: np.ndarray
    wrenches: Wrenches | None = None
    windows: Windows | None = None
    shaken: Collection[Motion] = ()
    native: Wrenches | None = None


def prepare(
    rig: Rig,
    records: Sequence[TrialRecord],
    preset: FilterPreset,
    *,
    stated_mass: float | None = None,
    synchronise: bool = True,
    plates: PlateOptions = USUAL,
) -> Prepared:
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
    noises = motion_noises(rig, records, preset)
    asked, preset = preset, fitting(rig, preset, records, noises)
    if preset.cutoff < asked.cutoff:
        warnings.append(
            f"above {preset.cutoff:.1f} Hz the motion is mostly noise: motion and forces were filtered at that instead "
            f"of {asked.cutoff:g} Hz"
        )
    items = [_moved(rig, record, preset, noises) for record in records]
    weighing = [(item.record.name, item.motion, item.wrenches) for item in items if item.wrenches is not None]
    readings = mass_readings(rig, weighing)
    findings = reading_findings(readings, plates.overrules(MASS))
    rough = readings[0].mass if readings else stated_mass or rig.prior.total_mass
    items, found = _looked_at(rig, items, preset, rough, plates)
    findings += found
    items = [_windowed(rig, item, preset, rough) for item in items]
    mass = _weigh(rig, items, rough, stated_mass, warnings)
    biases: dict[str, np.ndarray] = {}
    gains: dict[str, float] = {}
    if mass is not None:
        standing = next((reading for reading in readings if reading.standing), None)
        findings += mass_findings(mass, stated_mass, standing, plates.overrules(MASS))
        known, disagreements = known_biases(mass, plates)
        biases = {trial.name: mass.bias(trial.name) for trial in mass.trials} | known
        findings += offset_findings(mass)
        findings += disagreements
        odd, gains = gain_findings(mass, plates.overrules(MASS))
        findings += odd
        rig = rig.with_prior(rig.prior.scaled(mass.mass))
    measured = synchronise and any(item.wrenches is not None for item in items)
    lags, lag = _lags(rig, items, preset, warnings) if measured else ({}, None)
    if lag is not None:
        findings.append(lag_finding(lag, lags, plates.overrules(LAG)))
    if plates.overrules(LAG):
        lags = {}
    items = [_scaled(item, gains.get(item.record.name, 1.0)) for item in items]
    done = [_finished(item, preset, biases.get(item.record.name), lags.get(item.record.name)) for item in items]
    suspicion = suspect(rig, [record.trial for record in done if record.trial is not None], plates)
    for place, item in enumerate(items):
        correction = suspicion.of(item.record.name)
        if correction is not UNCHANGED:
            done[place] = _finished(item, preset, biases.get(item.record.name), done[place].lag, correction)
    return Prepared(rig, tuple(done), mass, lag, tuple(warnings), (*findings, *suspicion.findings))


def _moved(
    rig: Rig,
    record: TrialRecord,
    preset: FilterPreset,
    noises: Mapping[str, MotionNoise],
) -> _Item:
    native, poses = record.recording.wrenches, record.poses
    if poses is None:
        raise InvalidValue(f"trial {record.name!r} has no motion: neither markers nor joint coordinates")
    motion = smooth_motion(rig, poses.times, poses.q, preset)
    light = smooth_motion(rig, poses.times, poses.q, lighter(preset, motion.rate))
    usable = np.interp(motion.times, poses.times, poses.known.astype(float)) > WHOLLY
    copies = shaken_copies(rig, record, preset, noises)
    filtered = None if native is None else resample(native, motion.times, preset)
    return _Item(record, motion, light, usable, filtered, shaken=copies, native=native)


def _looked_at(
    rig: Rig, items: Sequence[_Item], preset: FilterPreset, mass: float, plates: PlateOptions
) -> tuple[list[_Item], list[Finding]]:
    """The items as the first look at their plates leaves them; without forces where those do not belong."""
    seen = [
        Seen(item.record.recording, item.motion, item.usable, item.native, item.wrenches)
        for item in items
        if item.native is not None and item.wrenches is not None
    ]
    kept, findings = first_look(rig, seen, preset, mass, plates)
    result = []
    for item in items:
        left = kept.get(item.record.name)
        if item.wrenches is None:
            result.append(item)
        elif left is None:
            result.append(replace(item, native=None, wrenches=None))
        else:
            result.append(replace(item, native=left.native, wrenches=left.wrenches, usable=left.usable))
    return result, findings


def _windowed(rig: Rig, item: _Item, preset: FilterPreset, mass: float) -> _Item:
    native, filtered = item.native, item.wrenches
    if native is None or filtered is None:
        return item
    load = np.nan_to_num(resample(native, item.motion.times).total[:, 2])
    evidence = ContactEvidence.of_motion(rig, item.motion, filtered, load=load, usable=item.usable)
    return replace(item, windows=find_windows(evidence, mass, preset))


def _weigh(
    rig: Rig, items: Sequence[_Item], rough: float, stated: float | None, warnings: list[str]
) -> MassEstimate | None:
    evidence: list[MassEvidence] = []
    for item in items:
        native = item.native
        if native is None or item.wrenches is None or item.windows is None or not item.windows.counted.any():
            continue
        velocity = centroidal_momentum(rig, item.motion, rig.prior).momentum[:, :3] / rig.prior.total_mass
        evidence.append(mass_evidence(item.record.name, velocity, item.wrenches, native, item.windows, rough))
    if not evidence:
        return None
    try:
        mass = estimate_mass(evidence, stated=stated)
    except InvalidValue as error:
        warnings.append(f"{error}; the prior's mass of {rig.prior.total_mass:.1f} kg is kept")
        return None
    warnings.extend(mass.warnings)
    return mass


def _scaled(item: _Item, factor: float) -> _Item:
    """The item with its forces times a factor."""
    if item.native is None or factor == 1.0:
        return item
    return replace(item, native=replace(item.native, values=factor * item.native.values))


def _lags(
    rig: Rig, items: Sequence[_Item], preset: FilterPreset, warnings: list[str]
) -> tuple[dict[str, Lag], Lag | None]:
    """The lag of each trial with forces that is likeliest beside the others', and of all."""
    found: dict[str, Lag] = {}
    for item in items:
        native = item.native
        if native is None or item.windows is None or not item.windows.counted.any():
            continue
        predicted = predicted_wrench(rig, item.motion, rig.prior, 0, axes="world")
        predicted[:, 3:] += np.cross(item.motion.q[:, :3], predicted[:, :3])
        measured = np.asarray(native.measured).all(axis=0)
        # The vertical moment has no say: the sign of its free moment is judged once the plates are in time.
        axes = tuple(int(axis) for axis in np.flatnonzero(measured) if axis != VERTICAL)
        try:
            found[item.record.name] = estimate_lag(
                item.motion.times, predicted[:, axes], native, preset=preset, counted=item.windows.counted, axes=axes
            )
        except InvalidValue:
            continue  # a trial too short for a lag of its own takes the others'
    try:
        mean, likeliest = combined_lag(list(found.values())), own_lags(list(found.values()))
    except InvalidValue as error:
        warnings.append(f"plates and motion were not synchronised: {error}")
        return {}, None
    own = dict(zip(found, likeliest))
    return {item.record.name: own.get(item.record.name, mean) for item in items if item.native is not None}, mean


def _finished(
    item: _Item,
    preset: FilterPreset,
    bias: np.ndarray | None,
    lag: Lag | None,
    correction: PlateCorrection = UNCHANGED,
) -> TrialRecord:
    native, windows = item.native, item.windows
    if native is None or windows is None:
        return replace(item.record, motion=item.motion)
    bias = np.zeros(6) if bias is None else bias
    corrected = correction.applied(native if lag is None else shift(native, lag.seconds))
    corrected = corrected.minus(bias) if bias.any() else corrected
    wrenches = resample(corrected, item.light.times, lighter(preset, item.light.rate))
    measured = np.asarray(wrenches.measured)
    wrenches = replace(wrenches, values=np.where(measured[:, None], wrenches.values, 0.0))
    counted = windows.counted & np.isfinite(wrenches.total).all(axis=1)
    trial = Trial(
        item.record.name, item.light, wrenches, counted, windows.excluded, item.shaken, preset, _pulled(item, preset)
    )
    return replace(item.record, motion=item.motion, trial=trial, windows=windows, lag=lag, bias=bias, plates=correction)


def _pulled(item: _Item, preset: FilterPreset) -> Pulled | None:
    tracked, motion = item.record.tracked, item.light
    if tracked is None or tracked.pulls is None:
        return None
    pulls = tracked.pulls
    light = lighter(preset, motion.rate)
    return Pulled(tracked.times, pulls.sums, pulls.weights, tracked.tracked, motion.times, light)
