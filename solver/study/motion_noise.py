"""The filter cut-off that the noise of measured motions allows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..rig import Rig
from ..signals import FilterPreset, is_still, lower_cutoff, noise_floor, noise_frequency
from .values import Poses, TrialRecord


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
