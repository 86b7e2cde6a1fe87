"""Noise of measured motions, and the filter cut-off that it allows."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..motion import Motion, rate_of
from ..rig import Rig
from ..signals import FilterPreset, is_still, light_preset, lower_cutoff, noise_floor, noise_frequency
from ..signals.noise_replicas import NoiseReplicas
from .values import TrialRecord

NEGLIGIBLE_NOISE = 2.0
"""Multiple of the cut-off: if the motion exceeds its noise up to there, the noise needs no correction."""


@dataclass(frozen=True, slots=True)
class MotionNoise:
    """Noise of one tracked trial.

    Attributes:
        covariance: (nv, nv) covariance of the white noise of one frame.
        frequency: [Hz] frequency above which the motion is mostly noise.
    """

    covariance: np.ndarray
    frequency: float


def estimate_motion_noise(rig: Rig, records: Sequence[TrialRecord], preset: FilterPreset) -> dict[str, MotionNoise]:
    """Noise of the motions that have forces, by trial; trials whose noise cannot be estimated are missing.

    Args:
        rig: of the motions.
        records: with poses or not.
        preset: requested filter.
    """
    result = {}
    for record in records:
        poses = record.poses
        if poses is None or record.recording.wrenches is None:
            continue
        floor = noise_floor(rig, poses.times, poses.q, preset, poses.known)
        if floor is not None:
            result[record.name] = MotionNoise(floor, noise_frequency(rig, poses.times, poses.q, floor))
    return result


def adapt_cutoff(
    rig: Rig, preset: FilterPreset, records: Sequence[TrialRecord], noises: Mapping[str, MotionNoise]
) -> FilterPreset:
    """The preset, with a lower cut-off if all trials with forces are mostly noise above it.

    Trials of a standing body do not count beside others: at all frequencies their motion is noise, or sway that the
    noise hides. If no trial moves, the cut-off is theirs: with more noise than motion in the equations, masses of five
    simulated people who hardly move were 3 times as far from the truth as those of the tables.

    Args:
        rig: of the motions.
        preset: requested filter.
        records: of all trials; those without forces or without a motion do not count.
        noises: by trial, see `estimate_motion_noise`; a trial without one leaves the preset unchanged.
    """
    usable = [(r, r.poses) for r in records if r.recording.wrenches is not None and r.poses is not None]
    moving = [(r, poses) for r, poses in usable if not is_still(rig, poses.q[poses.known])]
    return lower_cutoff(preset, [noises[r.name].frequency if r.name in noises else np.inf for r, _ in moving or usable])


def make_noise_replicas(
    rig: Rig,
    record: TrialRecord,
    preset: FilterPreset,
    noises: Mapping[str, MotionNoise],
) -> Collection[Motion]:
    """Copies of the trial's motion with its own noise added once more; none if the noise is unknown or negligible."""
    noise, poses = noises.get(record.name), record.poses
    if noise is None or poses is None or noise.frequency >= NEGLIGIBLE_NOISE * preset.cutoff:
        return ()
    light = light_preset(preset, rate_of(poses.times))
    return NoiseReplicas(rig, poses.times, poses.q, light, noise.covariance, record.name)
