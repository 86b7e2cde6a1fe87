"""From tracked recordings to trials: one filter on both sides, counted windows, mass, plate offset and time lag."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from .calibration.mass import MassEstimate, estimate_mass
from .calibration.mass_evidence import MassEvidence, mass_evidence
from .dynamics import centroidal_momentum, predicted_wrench
from .errors import InvalidValue
from .motion import Motion
from .rig import Rig
from .signals import (
    FilterPreset,
    Lag,
    Windows,
    combined_lag,
    estimate_lag,
    resample,
    shift,
    smooth_motion,
    windows_of,
)
from .study import TrialRecord
from .trial import Recording, Trial
from .wrenches import Wrenches

MASS_CLUE = 9.81
"""[m/s^2]"""


@dataclass(frozen=True, slots=True)
class Prepared:
    """Trials of one subject, ready for identification.

    Attributes:
        rig: with its prior scaled to the measured mass.
        records: one per recording, in order.
        mass: estimated from all trials with forces; None when no trial weighs the body.
        lag: of the plates behind the motion, over all trials; None when not estimated.
        warnings: for the report.
    """

    rig: Rig
    records: tuple[TrialRecord, ...]
    mass: MassEstimate | None
    lag: Lag | None
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Item:
    record: TrialRecord
    motion: Motion
    usable: np.ndarray
    wrenches: Wrenches | None = None
    windows: Windows | None = None


def first_mass(recordings: Sequence[Recording]) -> float | None:
    """A rough body mass [kg], right within some 10 %: the median of the vertical force in the steadiest recording."""
    found: list[tuple[float, float]] = []
    for recording in recordings:
        if recording.wrenches is None:
            continue
        vertical = recording.wrenches.total[:, 2]
        vertical = vertical[np.isfinite(vertical)]
        loaded = vertical[vertical > 0.2 * np.max(vertical, initial=0.0)]
        if len(loaded):
            found.append((float(np.std(loaded) / np.median(loaded)), float(np.median(loaded)) / MASS_CLUE))
    return min(found)[1] if found else None


def prepare(
    rig: Rig,
    records: Sequence[TrialRecord],
    preset: FilterPreset,
    *,
    motions: Mapping[str, Motion] | None = None,
    stated_mass: float | None = None,
    synchronise: bool = True,
) -> Prepared:
    """Trials from recordings whose motion is known.

    The order matters: windows need a rough mass, the mass needs windows, the lag needs the mass's scale.

    Args:
        rig: calibrated.
        records: with ``tracked`` filled in, or found in ``motions``.
        preset: filter of motion and wrenches alike.
        motions: already filtered motions by trial, of a robot's encoders say.
        stated_mass: [kg] what the user says.
        synchronise: estimate and remove the plates' lag.

    Raises:
        InvalidValue: no trial has forces, or none has a frame that counts.
    """
    motions = motions or {}
    rough = stated_mass or first_mass([record.recording for record in records]) or rig.prior.total_mass
    items = [_windowed(rig, _moved(rig, record, preset, motions), preset, rough) for record in records]
    warnings: list[str] = []
    mass = _weigh(rig, items, rough, stated_mass, warnings)
    if mass is not None:
        rig = rig.with_prior(rig.prior.scaled(mass.mass))
    lags, lag = _lags(rig, items, preset, warnings) if synchronise else ({}, None)
    seconds = 0.0 if lag is None else lag.seconds
    done = tuple(_finished(item, preset, mass, lags.get(item.record.name), seconds) for item in items)
    return Prepared(rig, done, mass, lag, tuple(warnings))


def _moved(rig: Rig, record: TrialRecord, preset: FilterPreset, motions: Mapping[str, Motion]) -> _Item:
    if record.name in motions:
        motion = motions[record.name]
        return _Item(record, motion, np.ones(len(motion), bool))
    if record.tracked is None:
        raise InvalidValue(f"trial {record.name!r} has no motion: neither markers nor joint angles")
    motion = smooth_motion(rig.model, record.tracked.times, record.tracked.q, preset)
    usable = np.interp(motion.times, record.tracked.times, record.tracked.tracked.astype(float)) > 0.99
    return _Item(record, motion, usable)


def _windowed(rig: Rig, item: _Item, preset: FilterPreset, mass: float) -> _Item:
    native = item.record.recording.wrenches
    if native is None:
        return item
    filtered = resample(native, item.motion.times, preset)
    load = resample(native, item.motion.times).total[:, 2]
    windows = windows_of(
        rig, item.motion, filtered, mass=mass, load=np.nan_to_num(load), usable=item.usable, preset=preset
    )
    return replace(item, wrenches=filtered, windows=windows)


def _weigh(
    rig: Rig, items: Sequence[_Item], rough: float, stated: float | None, warnings: list[str]
) -> MassEstimate | None:
    evidence: list[MassEvidence] = []
    for item in items:
        native = item.record.recording.wrenches
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


def _lags(
    rig: Rig, items: Sequence[_Item], preset: FilterPreset, warnings: list[str]
) -> tuple[dict[str, Lag], Lag | None]:
    found: dict[str, Lag] = {}
    for item in items:
        native = item.record.recording.wrenches
        if native is None or item.windows is None or not item.windows.counted.any():
            continue
        predicted = predicted_wrench(rig, item.motion, rig.prior, 0, axes="world")
        predicted[:, 3:] += np.cross(item.motion.q[:, :3], predicted[:, :3])
        measured = np.asarray(native.measured).all(axis=0)
        axes = tuple(int(axis) for axis in np.flatnonzero(measured))
        try:
            found[item.record.name] = estimate_lag(
                item.motion.times, predicted[:, axes], native, preset=preset, counted=item.windows.counted, axes=axes
            )
        except InvalidValue:
            continue  # a trial too short for a lag of its own takes the others'
    try:
        return found, combined_lag(list(found.values()))
    except InvalidValue as error:
        warnings.append(f"plates and motion were not synchronised: {error}")
        return found, None


def _finished(
    item: _Item, preset: FilterPreset, mass: MassEstimate | None, lag: Lag | None, seconds: float
) -> TrialRecord:
    native, windows = item.record.recording.wrenches, item.windows
    if native is None or windows is None:
        return replace(item.record, motion=item.motion)
    bias = np.zeros(6) if mass is None else mass.bias(item.record.name)
    corrected = shift(native, seconds)
    corrected = corrected.minus(bias) if bias.any() else corrected
    wrenches = resample(corrected, item.motion.times, preset)
    known = np.isfinite(wrenches.total).all(axis=1)
    counted = windows.counted & known
    filled = Wrenches(wrenches.times, wrenches.frames, np.nan_to_num(wrenches.values), wrenches.measured)
    trial = Trial(item.record.name, item.motion, filled, counted, windows.excluded)
    return replace(item.record, motion=item.motion, trial=trial, windows=windows, lag=lag, bias=bias)
