"""Trials between recording and equations: filtered, with windows, and finally synchronised and corrected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..base.errors import InvalidValue
from ..identification.equations import base_origins
from ..identification.error_model.posture_wrenches import posture_wrenches
from ..signals import (
    ContactEvidence,
    FilterPreset,
    Windows,
    find_windows,
    is_still,
    light_preset,
    lower_cutoff,
    noise_floor,
    noise_frequency,
    resample,
    shift_wrenches,
    smooth_motion,
)
from ..signals.plate_errors import NO_ERRORS, PlateErrors, tolerated_wrenches
from ..signals.trial import Trial
from ..skeleton.rig import Rig
from ..tracking.motion_errors import MotionErrors
from ..values.motion import Motion
from ..values.wrenches import Wrenches
from .values import Poses, TrialRecord

INTERPOLATED_TRACKED = 0.99
"""An interpolated frame counts as tracked if both of its neighbours were. Derived: between two tracked neighbours the
interpolated mask is 1."""


@dataclass(frozen=True, slots=True)
class FilteredTrial:
    """A trial whose motion and wrenches are filtered.

    Attributes:
        record: with the recording and its poses.
        motion: N frames, filtered.
        lightly_filtered: N frames, filtered at a higher cut-off: the equations are filtered later.
        is_usable: (N,) False where the motion is interpolated or its markers are frozen.
        wrenches: at the motion's times, through its filter; None without forces.
        windows: which frames count; None without forces, or before the windows are known.
        recorded_wrenches: at their own rate, NaN where samples are frozen or lost; None without forces.
        lag: [s] roughly, of the recorded wrenches behind the motion; the others have none.
    """

    record: TrialRecord
    motion: Motion
    lightly_filtered: Motion
    is_usable: np.ndarray
    wrenches: Wrenches | None = None
    windows: Windows | None = None
    recorded_wrenches: Wrenches | None = None
    lag: float = 0.0

    @property
    def name(self) -> str:
        """Name of the trial."""
        return self.record.name


def filter_trial(rig: Rig, record: TrialRecord, preset: FilterPreset) -> FilteredTrial:
    """Filter motion and wrenches of a trial with the same filter.

    Raises:
        InvalidValue: the trial has no motion.
    """
    recorded, poses = record.recording.wrenches, record.poses
    if poses is None:
        raise InvalidValue(f"trial {record.name!r} has no motion: neither markers nor joint coordinates")
    motion = smooth_motion(rig, poses.times, poses.q, preset)
    light = smooth_motion(rig, poses.times, poses.q, light_preset(preset, motion.rate))
    usable = np.interp(motion.times, poses.times, poses.known.astype(float)) > INTERPOLATED_TRACKED
    filtered = None if recorded is None else resample(recorded, motion.times, preset)
    return FilteredTrial(record, motion, light, usable, filtered, None, recorded)


def find_trial_windows(rig: Rig, trial: FilteredTrial, preset: FilterPreset, mass: float) -> FilteredTrial:
    """Find the frames that count: those in which every contact is measured.

    Args:
        rig: of the motion.
        trial: filtered; without forces it is returned unchanged.
        preset: its filter.
        mass: [kg] of the body, roughly.
    """
    recorded, filtered = trial.recorded_wrenches, trial.wrenches
    if recorded is None or filtered is None:
        return trial
    load = np.nan_to_num(resample(shift_wrenches(recorded, trial.lag), trial.motion.times).total[:, 2])
    evidence = ContactEvidence.of_motion(rig, trial.motion, filtered, load=load, usable=trial.is_usable)
    return replace(trial, windows=find_windows(evidence, mass, preset))


def build_trial(trial: FilteredTrial, preset: FilterPreset, errors: PlateErrors = NO_ERRORS) -> TrialRecord:
    """Build the trial for the equations: lightly filtered, synchronised and corrected; without forces, motion only.

    Args:
        trial: with windows.
        preset: filter of the equations.
        errors: of the plates, to remove.
    """
    recorded, windows = trial.recorded_wrenches, trial.windows
    if recorded is None or windows is None:
        return replace(trial.record, motion=trial.motion)
    motion = trial.lightly_filtered
    wrenches = resample(errors.remove_from(recorded), motion.times, light_preset(preset, motion.rate))
    measured = np.asarray(wrenches.measured)
    wrenches = replace(wrenches, values=np.where(measured[:, None], wrenches.values, 0.0))
    counted = windows.counted & np.isfinite(wrenches.total).all(axis=1)
    built = Trial(
        trial.name,
        motion,
        wrenches,
        counted,
        windows.excluded,
        preset=preset,
    )
    return replace(trial.record, motion=trial.motion, trial=built, windows=windows, plate_errors=errors)


def add_posture_wrenches(
    rig: Rig,
    record: TrialRecord,
    base: str,
    plates: Mapping[str, PlateErrors],
    layouts: Sequence[tuple[str, ...]],
) -> TrialRecord:
    """A person's trial with the errors of its equations that follow posture, and of its plates; a robot's joints are
    measured.

    Args:
        rig: of the motion.
        record: without a trial it is returned unchanged.
        base: base link of the equations.
        plates: one standard deviation of the errors of the plates, by trial.
        layouts: names of the plates of all trials; plates of other names beside them are other ones.
    """
    trial = record.trial
    if trial is None or not rig.is_person:
        return record
    errors = MotionErrors.of_rig(rig) if record.motion_errors is None else record.motion_errors
    found, wrenches = posture_wrenches(rig, trial.motion, errors, rig.index(base)), record.filtered_trial.wrenches
    origins = base_origins(rig, trial, base)[found.frames]
    own = plates[record.name]
    of_plates = tolerated_wrenches(wrenches, found.frames, own, origins, layouts)
    found = replace(found, values=np.concatenate([found.values, of_plates], axis=2), layouts=tuple(layouts))
    return replace(record, trial=replace(trial, posture_wrenches=found, plate_tolerance=own))


def adapt_cutoff(rig: Rig, preset: FilterPreset, records: Sequence[TrialRecord]) -> FilterPreset:
    """The preset, with a lower cut-off if all trials with forces are mostly noise above it.

    Trials of a standing body do not count beside others: at all frequencies their motion is noise, or sway that the
    noise hides. If no trial moves, the cut-off is theirs: with more noise than motion in the equations, masses of five
    simulated people who hardly move were 3 times as far from the truth as those of the tables.

    Args:
        rig: of the motions.
        preset: requested filter.
        records: of all trials; those without forces or without a motion do not count. One whose noise cannot be
            estimated leaves the preset unchanged.
    """
    usable = [r.poses for r in records if r.recording.wrenches is not None and r.poses is not None]
    moving = [poses for poses in usable if not is_still(rig, poses.q[poses.known])]
    return lower_cutoff(preset, [_find_noise_frequency(rig, poses, preset) for poses in moving or usable])


def _find_noise_frequency(rig: Rig, poses: Poses, preset: FilterPreset) -> float:
    """Frequency [Hz] above which the motion is mostly noise; infinite if its noise cannot be estimated."""
    floor = noise_floor(rig, poses.times, poses.q, preset, poses.known)
    return np.inf if floor is None else noise_frequency(rig, poses.times, poses.q, floor)
