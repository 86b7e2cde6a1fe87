"""Before anything else: whether forces and motion of each trial belong together at all, and are in newtons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...arrays import stretches
from ...dynamics import predicted_wrench
from ...errors import InvalidValue
from ...motion import Motion
from ...plate_options import BELONGING, MASS, STANDSTILL, PlateOptions
from ...rig import Rig
from ...signals import FilterPreset, resample
from ...trial import Recording
from ...wrenches import Wrenches
from .belonging import belonging_findings
from .copies import copy_findings
from .finding import Done, Finding
from .pair import Pair, mean_misfit, pair
from .plausible import unit_findings
from .standstill import dropout_finding, dropouts, frozen, standstill_finding, still_forces, still_markers


@dataclass(frozen=True, slots=True)
class Seen:
    """One trial with forces as it is looked at, and as it goes on.

    Attributes:
        recording: as read.
        motion: N frames, filtered.
        usable: (N,) False where the motion is not to be trusted.
        native: wrenches at their own rate; what stands still is NaN.
        wrenches: at the motion's times, through its filter.
    """

    recording: Recording
    motion: Motion
    usable: np.ndarray
    native: Wrenches
    wrenches: Wrenches

    @property
    def name(self) -> str:
        """Name of the trial."""
        return self.recording.name


def first_look(
    rig: Rig, trials: Sequence[Seen], preset: FilterPreset, mass: float, options: PlateOptions
) -> tuple[dict[str, Seen], list[Finding]]:
    """The trials that belong together, by name, without what stands still; and what was found.

    Args:
        rig: its prior says what the motion needs.
        trials: with forces.
        preset: of motion and wrenches.
        mass: [kg] of the body, roughly.
        options: what overrules.

    Raises:
        InvalidValue: the forces are in another unit, or no trial's forces belong to its motion.
    """
    findings = unit_findings(rig, mass, [trial.name for trial in trials], options.overrules(MASS))
    prior = rig.prior.scaled(mass)
    seen: dict[str, Seen] = {}
    pairs: list[Pair] = []
    for trial in trials:
        predicted = predicted_wrench(rig, trial.motion, prior, 0, axes="world")
        moving, found = _without_standstill(trial, predicted, preset, mass, options.overrules(STANDSTILL))
        findings += found
        seen[trial.name] = moving
        pairs.append(pair(rig, trial.motion, moving.wrenches, predicted, trial.name))
    found = belonging_findings(pairs, mass, options.overrules(BELONGING))
    forces = {trial.name: trial.native for trial in trials}
    misfits = {item.name: mean_misfit(item, mass) for item in pairs}
    found += copy_findings(forces, misfits, options.overrules(BELONGING))
    left_out = {name for finding in found if finding.done is Done.LEFT_OUT for name in finding.trials}
    if trials and len(left_out) == len(trials):
        words = "; ".join(f"{', '.join(finding.trials)}: {finding.text}" for finding in findings + found)
        text = f"no trial's forces belong to its motion: {words}. --overrule {BELONGING} goes on nevertheless"
        raise InvalidValue(text)
    return {name: trial for name, trial in seen.items() if name not in left_out}, findings + found


def _without_standstill(
    trial: Seen, predicted: np.ndarray, preset: FilterPreset, mass: float, overruled: bool
) -> tuple[Seen, list[Finding]]:
    """The trial without forces and frames that stand still while the other side moves, and without lost samples."""
    found, native, usable = [], trial.native, trial.usable
    times, markers = native.times, trial.recording.markers
    spans = frozen(still_forces(native, mass), times, predicted[:, :3], trial.motion.times, mass)
    if spans:
        ends = [(float(times[start]), float(times[stop - 1])) for start, stop in spans]
        found.append(standstill_finding(trial.name, ends, "forces", "markers", overruled))
        values = native.values.copy()
        for start, stop in spans:
            values[start:stop] = np.nan
        native = Wrenches(times, native.frames, values, native.measured)
    if (lost := dropouts(native, mass)).any():
        step = 1.0 / native.rate
        plates = {
            name: [(float(times[start]), float(times[stop - 1] + step)) for start, stop in stretches(own)]
            for name, own in zip(native.frames, lost.T)
            if own.any()
        }
        found.append(dropout_finding(trial.name, plates, overruled))
        native = Wrenches(times, native.frames, np.where(lost[:, :, None], np.nan, native.values), native.measured)
    if markers is not None:
        still = still_markers(markers)
        spans = frozen(still, markers.times, trial.native.total[:, :3], times, mass)
        if spans:
            ends = [(float(markers.times[start]), float(markers.times[stop - 1])) for start, stop in spans]
            found.append(standstill_finding(trial.name, ends, "markers", "forces", overruled))
            usable = usable & ~_within(trial.motion.times, ends)
    if overruled or not found:
        return trial, found
    wrenches = trial.wrenches if native is trial.native else resample(native, trial.motion.times, preset)
    return replace(trial, usable=usable, native=native, wrenches=wrenches), found


def _within(times: np.ndarray, spans: Sequence[tuple[float, float]]) -> np.ndarray:
    inside = np.zeros(len(times), bool)
    for start, stop in spans:
        inside |= (times >= start) & (times <= stop)
    return inside
