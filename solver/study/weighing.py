"""The steps that weigh the body: roughly before the windows are known, then from all frames that count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..base.errors import InvalidValue
from ..calibration.body_mass import MassEstimate, estimate_mass
from ..calibration.trial_mass import MassEvidence, collect_mass_evidence
from ..dynamics import centroidal_momentum
from ..options.plates import MASS, PlateOptions
from ..skeleton.rig import Rig
from .plates.finding import Action, Finding
from .plates.plausibility import check_mass, check_readings, check_units, report_readings
from .preparation import FilteredTrial
from .rough_mass import MassReading, compute_mass_readings


@dataclass(frozen=True, slots=True)
class RoughMass:
    """Rough mass of the body.

    Attributes:
        mass: [kg]
        readings: of the trials with forces, the most reliable first.
        findings: of the checks of readings and unit.
    """

    mass: float
    readings: tuple[MassReading, ...]
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class WeighedBody:
    """Mass of the body.

    Attributes:
        rig: with its prior scaled to the mass.
        mass: None if no trial weighs the body.
        findings: of the checks of the mass.
        warnings: for the report.
    """

    rig: Rig
    mass: MassEstimate | None = None
    findings: tuple[Finding, ...] = ()
    warnings: tuple[str, ...] = ()


def weigh_roughly(
    rig: Rig, trials: Sequence[FilteredTrial], stated_mass: float | None, plates: PlateOptions
) -> RoughMass:
    """Estimate a rough mass from the most reliable reading; without one, the specified or the prior's mass.

    Raises:
        InvalidValue: a reading contradicts the best standing trial, or the forces are in another unit.
    """
    weighing = [(trial.name, trial.motion, trial.wrenches) for trial in trials if trial.wrenches is not None]
    readings = compute_mass_readings(rig, weighing)
    findings = check_readings(readings, stated_mass, plates.only_reports(MASS))
    odd = {name for finding in findings for name in finding.trials if finding.done is Action.LEFT_OUT}
    readings = [reading for reading in readings if reading.trial not in odd]
    mass = readings[0].mass if readings else stated_mass or rig.prior.total_mass
    findings += check_units(rig, mass, [name for name, *_ in weighing], plates.only_reports(MASS))
    return RoughMass(mass, tuple(readings), tuple(findings))


def weigh(
    rig: Rig, trials: Sequence[FilteredTrial], rough: RoughMass, stated_mass: float | None, plates: PlateOptions
) -> WeighedBody:
    """Estimate the body mass from all frames that count.

    Args:
        rig: of the motions, with any reasonable prior.
        trials: with windows.
        rough: see `weigh_roughly`.
        stated_mass: mass that the user specifies [kg].
        plates: findings to override.

    Raises:
        InvalidValue: the plates contradict the specified mass or a standing body, or their offsets are implausible.
    """
    evidence: list[MassEvidence] = []
    for trial in trials:
        recorded = trial.recorded_wrenches
        if recorded is None or trial.wrenches is None or trial.windows is None or not trial.windows.counted.any():
            continue
        velocity = centroidal_momentum(rig, trial.motion, rig.prior).momentum[:, :3] / rig.prior.total_mass
        evidence.append(
            collect_mass_evidence(trial.name, velocity, trial.wrenches, recorded, trial.windows, rough.mass)
        )
    if not evidence:
        return WeighedBody(rig)
    try:
        mass = estimate_mass(evidence, stated=stated_mass)
    except InvalidValue as error:
        return WeighedBody(rig, warnings=(f"{error}; the prior's mass of {rig.prior.total_mass:.1f} kg is used",))
    standing = next((reading for reading in rough.readings if reading.is_standing), None)
    found = check_mass(mass, stated_mass, standing, plates.only_reports(MASS))
    return WeighedBody(
        rig.with_prior(rig.prior.scaled(mass.mass)), mass, (*found, *report_readings(mass)), mass.warnings
    )
