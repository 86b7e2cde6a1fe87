"""The body's mass from all trials, and the offset of plates that disagree.

Trials whose plates are unloaded at times (flight, swing) reveal any offset and determine the mass. Trials that never
unload their plates may hide an offset: those that disagree are grouped by the mass that they read, and each group gets
a constant bias wrench. If no trial unloads its plates and they disagree, the mass is undecided and the result says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from ..arrays import Array, ArrayValue, list_names
from ..errors import InvalidValue
from ..rig import GRAVITY
from ..signals.pooling import TWO_SIDED_STDS
from .trial_mass import MassEvidence, TrialMass, collect_mass_evidence, estimate_trial_mass

AGREEMENT_TOLERANCE = 0.015
"""Trials that differ by less than this fraction agree, whatever their own standard deviations."""
AGREEMENT_SIGMAS = 3.0
MIN_HORIZONTAL_STD = 0.5
"""[N] Smallest standard deviation of a trial's mean horizontal force: crosstalk of plates."""
UNVERIFIED_OFFSET_STD = 0.02
"""Standard deviation, in body weights, of the offset of plates that are never unloaded; real ones reached 5 %."""
STATED_STD = 0.5
"""[kg] Standard deviation of the mass that a person states: bathroom scale, clothes, time of day."""
STATED_TOLERANCE = 0.03
"""A stated mass further from the plates than this fraction causes a warning."""
OFFSET_ARM = 0.2
"""[m] Distance from the mean centre of pressure within which an offset acts: half a plate."""


@dataclass(frozen=True, slots=True)
class MassGroup(ArrayValue):
    """Trials whose plates agree.

    Attributes:
        trials: names.
        apparent_mass: [kg] as read.
        std: [kg]
        verified: True if the plates were unloaded at times.
        bias: (6,) constant wrench [N, N m] in the readings, world axes, about the world origin: subtract it
            (`Wrenches.without_bias`). The vertical force acts at the mean centre of pressure.
        bias_std: (6,)
        kind: "none", "offset", "gain" or "undecided": which of offset and gain explains the dynamic part of the force.
            It is modelled as an offset unless it is "none".
    """

    trials: tuple[str, ...]
    apparent_mass: float
    std: float
    verified: bool
    bias: Annotated[np.ndarray, Array(6)]
    bias_std: Annotated[np.ndarray, Array(6)]
    kind: str


@dataclass(frozen=True, slots=True)
class MassEstimate:
    """Mass of the body, and the offsets of the plates.

    Attributes:
        mass: [kg]
        std: [kg]
        groups: each trial that was used is in one.
        trials: what each trial reads.
        warnings: for the report.
    """

    mass: float
    std: float
    groups: tuple[MassGroup, ...]
    trials: tuple[TrialMass, ...]
    warnings: tuple[str, ...]

    @property
    def half_width(self) -> float:
        """Half of the 95 % interval of the mass [kg]."""
        return TWO_SIDED_STDS * self.std

    def bias_of(self, trial: str) -> np.ndarray:
        """Bias wrench (6,) of a trial's plates; zero for a trial that was not used."""
        for group in self.groups:
            if trial in group.trials:
                return group.bias
        return np.zeros(6)


def estimate_mass(evidence: Sequence[MassEvidence], *, stated: float | None = None) -> MassEstimate:
    """Mass from all trials.

    Args:
        evidence: see `collect_mass_evidence`.
        stated: [kg] given by the user. Plates whose zero is verified override it, with a warning; others that differ
            from it by more than `STATED_TOLERANCE` are assumed to have an offset.

    Raises:
        InvalidValue: no trial has a counted interval that is long enough.
    """
    found = [(item.name, estimate_trial_mass(item)) for item in evidence]
    trials = tuple(trial for _, trial in found if trial is not None)
    if stated is not None and not stated > 0.0:
        raise InvalidValue(f"the stated mass must be positive, got {stated:g} kg")
    source = ""
    warnings = [
        f"{name}: no counted interval is long enough to estimate a mass" for name, trial in found if trial is None
    ]
    if not trials:
        raise InvalidValue("no trial has a counted interval with forces that is long enough to estimate the mass")
    verified = [trial for trial in trials if trial.unloaded is not None]
    clusters = _cluster([trial for trial in trials if trial.unloaded is None])
    if verified:
        mass, std = _combine(verified)
        agreeing = [cluster for cluster in clusters if _agree(*_combine(cluster), mass, std)]
        disagreeing = [cluster for cluster in clusters if cluster not in agreeing]
        trusted = verified + [trial for cluster in agreeing for trial in cluster]
        source = "trials with unloaded plates give"
    elif stated is not None and any(
        abs(_combine(cluster)[0] - stated) > STATED_TOLERANCE * stated for cluster in clusters
    ):
        disagreeing = [
            cluster for cluster in clusters if abs(_combine(cluster)[0] - stated) > STATED_TOLERANCE * stated
        ]
        trusted = [trial for cluster in clusters if cluster not in disagreeing for trial in cluster]
        mass, std = _combine(trusted) if trusted else (stated, STATED_STD)
        source = "plates that agree with the stated mass give" if trusted else "the stated mass is"
    elif len(clusters) == 1:
        trusted, disagreeing = clusters[0], []
        mass, std = _combine(trusted)
        std = float(np.hypot(std, UNVERIFIED_OFFSET_STD * mass))
    else:
        trusted, disagreeing = [], clusters
        readings = [_combine(cluster)[0] for cluster in clusters]
        mass, std = float(np.mean(readings)), float(np.ptp(readings) / 2.0)
        listed = "; ".join(
            f"{list_names(trial.name for trial in c)} read {r:.1f} kg" for c, r in zip(clusters, readings)
        )
        warnings.append(f"the plates disagree and are never unloaded, so none can be preferred: {listed}")
    groups = []
    if trusted:
        apparent, own = _combine(trusted)
        groups.append(_build_group(trusted, apparent, own, bool(verified), None))
    for cluster in disagreeing:
        apparent, own = _combine(cluster)
        group = _build_group(cluster, apparent, own, False, (mass, std, _mean_dynamic_mass(verified or trusted)))
        groups.append(group)
        if source:
            warnings.append(_describe_offset(group, mass, source))
    warnings += _warn_of_outliers(trusted, mass)
    warnings += _compare_with_stated(stated, mass, groups)
    return MassEstimate(mass, std, tuple(groups), trials, tuple(warnings))


def _correct_offset(trial: TrialMass) -> tuple[float, float]:
    """Mass and std [kg] without the measured offset; the std includes the offset's own."""
    if trial.unloaded is None:
        return trial.apparent_mass, trial.std
    return trial.apparent_mass - trial.unloaded.offset / GRAVITY, float(
        np.hypot(trial.std, trial.unloaded.std / GRAVITY)
    )


def _combine(trials: Sequence[TrialMass]) -> tuple[float, float]:
    """Weighted mean and its std [kg], inflated if the trials differ by more than their stds (Birge ratio).

    Weights decrease beyond 1.5 sigma (Huber), so that a single outlier does not decide.
    """
    values, stds = np.array([_correct_offset(trial) for trial in trials]).T
    centre = float(np.median(values))
    weights = stds**-2.0
    for _ in range(20):
        distance = np.abs(values - centre) / stds
        weights = np.minimum(1.0, 1.5 / np.maximum(distance, 1e-12)) * stds**-2.0
        centre = float(weights @ values / weights.sum())
    scatter = float(weights @ (values - centre) ** 2) / max(len(trials) - 1, 1)
    return centre, float(np.sqrt(max(scatter, 1.0) / weights.sum()))


def _agree(a: float, a_std: float, b: float, b_std: float) -> bool:
    return abs(a - b) <= max(AGREEMENT_SIGMAS * float(np.hypot(a_std, b_std)), AGREEMENT_TOLERANCE * b)


def _cluster(trials: Sequence[TrialMass]) -> list[list[TrialMass]]:
    """Trials grouped by the mass that they read: each joins the group whose mean it agrees with, most precise first."""
    groups: list[list[TrialMass]] = []
    for trial in sorted(trials, key=lambda item: item.std):
        if near := [group for group in groups if _agree(trial.apparent_mass, trial.std, *_combine(group))]:
            min(near, key=lambda group: abs(_combine(group)[0] - trial.apparent_mass)).append(trial)
        else:
            groups.append([trial])
    return groups


def _mean_dynamic_mass(trials: Sequence[TrialMass]) -> tuple[float, float] | None:
    """Factor of the dynamic part [kg] over trials that moved, and its standard deviation between trials."""
    if not (moved := [trial for trial in trials if np.isfinite(trial.dynamic_mass)]):
        return None
    values, stds = np.array([trial.dynamic_mass for trial in moved]), np.array([trial.dynamic_std for trial in moved])
    mean = float(np.average(values, weights=stds**-2.0))
    std = float(np.std(values, ddof=1)) if len(values) > 1 else 0.03 * mean
    return mean, max(std, float(np.sum(stds**-2.0) ** -0.5))


def _build_group(
    trials: Sequence[TrialMass],
    apparent_mass: float,
    std: float,
    verified: bool,
    reference: tuple[float, float, tuple[float, float] | None] | None,
) -> MassGroup:
    bias, bias_std, kind = np.zeros(6), np.zeros(6), "none"
    names = tuple(trial.name for trial in trials)
    if reference is None:
        seen = [trial.unloaded for trial in trials if trial.unloaded is not None]
        offset = float(np.mean([zero.offset for zero in seen])) if seen else 0.0
        bias[2], bias_std[2] = offset, GRAVITY * std
    else:
        mass, mass_std, dynamic = reference
        loaded = float(np.mean([trial.loaded_fraction for trial in trials]))
        sides = np.array([trial.horizontal for trial in trials])
        weights = np.array([np.maximum(trial.horizontal_std, MIN_HORIZONTAL_STD) for trial in trials]) ** -2.0
        bias[:2] = (weights * sides).sum(axis=0) / weights.sum(axis=0)
        scatter = (weights * (sides - bias[:2]) ** 2).sum(axis=0) / max(len(trials) - 1, 1)
        bias_std[:2] = np.sqrt(np.maximum(scatter, 1.0) / weights.sum(axis=0))
        bias[2] = (apparent_mass - mass) * GRAVITY / loaded
        bias_std[2] = GRAVITY * np.hypot(std, mass_std) / loaded
        kind = _classify_error(_mean_dynamic_mass(trials), dynamic, apparent_mass / mass)
    seconds = np.array([trial.seconds for trial in trials])
    x, y = seconds @ np.array([trial.centre_of_pressure for trial in trials]) / seconds.sum()
    bias[3:] = np.cross([x, y, 0.0], bias[:3])
    bias_std[3:] = OFFSET_ARM * np.linalg.norm(bias[:3]) + np.abs(np.cross([x, y, 0.0], bias_std[:3]))
    return MassGroup(names, apparent_mass, std, verified, bias, bias_std, kind)


def _classify_error(own: tuple[float, float] | None, other: tuple[float, float] | None, ratio: float) -> str:
    """ "gain" if the dynamic part scales like the weight, "offset" if it does not, by one sigma; else "undecided"."""
    if own is None or other is None:
        return "undecided"
    dynamic = own[0] / other[0]
    std = dynamic * float(np.hypot(own[1] / own[0], other[1] / other[0]))
    from_offset, from_gain = abs(dynamic - 1.0) / std, abs(dynamic - ratio) / std
    if abs(from_offset - from_gain) < 1.0:
        return "undecided"
    return "offset" if from_offset < from_gain else "gain"


def _describe_offset(group: MassGroup, mass: float, source: str) -> str:
    evidence = {
        "offset": "an offset, not a gain, because the dynamic part of the force is unchanged",
        "gain": "the dynamic part of the force suggests a gain, but an offset is subtracted",
        "undecided": "the motion does not distinguish offset from gain",
    }[group.kind]
    return (
        f"{list_names(group.trials)}: the plates read {group.apparent_mass:.1f} kg where {source} {mass:.1f} kg; a "
        f"constant vertical offset of {group.bias[2]:.0f} N is subtracted ({evidence})"
    )


def _warn_of_outliers(trials: Sequence[TrialMass], mass: float) -> list[str]:
    return [
        f"{trial.name} reads {value:.1f} ± {TWO_SIDED_STDS * std:.1f} kg, {100 * (value / mass - 1):+.1f} % from the "
        "mass of all trials"
        for trial in trials
        for value, std in [_correct_offset(trial)]
        if abs(value - mass) > max(AGREEMENT_TOLERANCE * mass, std)
    ]


def _compare_with_stated(stated: float | None, mass: float, groups: Sequence[MassGroup]) -> list[str]:
    if stated is None:
        return []
    result = []
    if abs(mass - stated) > STATED_TOLERANCE * stated:
        result.append(
            f"the plates give {mass:.1f} kg, {100 * (mass / stated - 1):+.1f} % from the stated {stated:g} kg"
        )
    for group in groups:
        if (
            abs(group.apparent_mass - stated) > STATED_TOLERANCE * stated
            and abs(mass - stated) <= STATED_TOLERANCE * stated
        ):
            share = 100 * (group.apparent_mass / stated - 1)
            result.append(f"{list_names(group.trials)}: the plates read {share:+.1f} % from the stated {stated:g} kg")
    return result


__all__ = [
    "MassEstimate",
    "MassEvidence",
    "MassGroup",
    "TrialMass",
    "collect_mass_evidence",
    "estimate_mass",
    "estimate_trial_mass",
]
