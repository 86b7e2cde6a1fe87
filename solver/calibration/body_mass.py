"""The body's mass from all trials, and which plates disagree.

Trials whose plates are unloaded at times (flight, swing) reveal any offset and determine the mass. Trials that never
unload their plates may hide an offset: they are grouped by the mass that they read (`study.plates` finds the cause). If
no trial unloads its plates and they disagree, the mass is undecided and the result says so. A stated mass is the mass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..base.arrays import list_names
from ..base.errors import InvalidValue
from ..signals.pooling import TWO_SIDED_STDS
from ..skeleton.rig import GRAVITY
from .trial_mass import MassEvidence, TrialMass, estimate_trial_mass

AGREEMENT_TOLERANCE = 0.015
"""Trials that differ by less than this fraction agree, whatever their own standard deviations."""
AGREEMENT_SIGMAS = 3.0
"""Number of standard deviations up to which trials agree. Derived: 0.3 % of normal errors are larger."""
UNVERIFIED_OFFSET_STD = 0.02
"""Standard deviation, in body weights, of the offset of plates that are never unloaded; real ones reached 5 %."""
STATED_STD = 0.5
"""[kg] Standard deviation of the mass that a person states: bathroom scale, clothes, time of day."""


@dataclass(frozen=True, slots=True)
class MassGroup:
    """Trials whose plates agree.

    Attributes:
        trials: names.
        apparent_mass: [kg] as read.
        std: [kg]
    """

    trials: tuple[str, ...]
    apparent_mass: float
    std: float


@dataclass(frozen=True, slots=True)
class MassEstimate:
    """Mass of the body, and what the plates read.

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


def estimate_mass(evidence: Sequence[MassEvidence], *, stated: float | None = None) -> MassEstimate:
    """Mass from all trials.

    Args:
        evidence: see `trial_mass.collect_mass_evidence`.
        stated: [kg] given by the user: the mass.

    Raises:
        InvalidValue: no trial has a counted interval that is long enough.
    """
    found = [(item.name, estimate_trial_mass(item)) for item in evidence]
    trials = tuple(trial for _, trial in found if trial is not None)
    if stated is not None and not stated > 0.0:
        raise InvalidValue(f"the stated mass must be positive, got {stated:g} kg")
    warnings = [
        f"{name}: no counted interval is long enough to estimate a mass" for name, trial in found if trial is None
    ]
    if not trials:
        raise InvalidValue("no trial has a counted interval with forces that is long enough to estimate the mass")
    verified = [trial for trial in trials if trial.unloaded is not None]
    clusters = _cluster([trial for trial in trials if trial.unloaded is None])
    if stated is not None:
        mass, std = stated, STATED_STD
    elif verified:
        mass, std = _combine(verified)
    elif len(clusters) == 1:
        mass, std = _combine(clusters[0])
        std = float(np.hypot(std, UNVERIFIED_OFFSET_STD * mass))
    else:
        readings = [_combine(cluster)[0] for cluster in clusters]
        mass, std = float(np.mean(readings)), float(np.ptp(readings) / 2.0)
        listed = "; ".join(
            f"{list_names(trial.name for trial in c)} read {r:.1f} kg" for c, r in zip(clusters, readings)
        )
        warnings.append(f"the plates disagree and are never unloaded, so none can be preferred: {listed}")
    groups = [MassGroup(tuple(trial.name for trial in own), *_combine(own)) for own in (verified, *clusters) if own]
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
