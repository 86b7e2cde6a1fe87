"""Plausibility of mass, offset, gain and unit of the forces: implausible ones are errors with a remedy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...calibration.body_mass import AGREEMENT_TOLERANCE, MassEstimate
from ...errors import InvalidValue
from ...options.plates import MASS
from ...rig import GRAVITY, Rig
from ..rough_mass import MassReading
from .finding import CERTAIN_STDS, UNKNOWN_INTERVAL, Action, Finding, compute_interval

MIN_BODY_MASS_INDEX, MAX_BODY_MASS_INDEX = 10.0, 60.0
"""[kg/m^2] Range of the body mass index of living people; 22 is typical."""
TYPICAL_BODY_MASS_INDEX = 22.0
MAX_MASS_RATIO = 3.0
"""Factor between the mass that plates weigh and that of a robot's model: more is another unit or another robot. Chosen
on TALOS, iCub and HRP-2, whose models weigh what they do within a fifth."""
UNITS = {"kilonewtons": 1e3, "kilograms-force": GRAVITY, "pounds-force": 4.448, "newtons times ten": 0.1,
         "millinewtons": 1e-3}  # fmt: skip
"""Units in newtons that forces may have if they were read as newtons by mistake."""
MAX_OFFSET = 0.08
"""Fraction of the weight: plates that drift or were zeroed under load have offsets of up to 5 %."""
CAUSES = "a load or tether in one of them, another gain of the plates, or another person"
REMEDY = "leave the wrong trials out, or correct their forces"
OVERRIDE_HINT = "continue nevertheless with --report-only mass"


def check_units(rig: Rig, mass: float, trials: Sequence[str], overridden: bool) -> list[Finding]:
    """Check from the mass [kg] that the plates measure in newtons; for persons with a known height, and for robots.

    Raises:
        InvalidValue: the mass is not a person's of that height, or not the robot's, and this finding is not overridden.
    """
    height, own = rig.provenance.get("height"), rig.prior.total_mass
    if rig.provenance.get("kind") == "human" and isinstance(height, float | int):
        value, unit, expected = mass / height**2, "kg/m^2", TYPICAL_BODY_MASS_INDEX * height**2
        compared = f"at {height:.2f} m, a body mass index of {value:.2g}"
        plausible = MIN_BODY_MASS_INDEX <= value <= MAX_BODY_MASS_INDEX
    elif not rig.is_person and own > 0.0:
        value, unit, expected, compared = mass, "kg", own, f"and the model of {rig.name} {own:.3g} kg"
        plausible = 1.0 / MAX_MASS_RATIO <= mass / own <= MAX_MASS_RATIO
    else:
        return []
    if plausible:
        return []
    shares = {name: abs(np.log(mass * newtons / expected)) for name, newtons in UNITS.items()}
    shares["body weights"] = abs(np.log(mass * GRAVITY)) if mass < 1.0 else np.inf
    nearest = min(shares, key=lambda name: shares[name])
    likely = f": the forces are in {nearest}, not in newtons" if shares[nearest] < np.log(2.0) else ""
    text = f"the plates weigh {mass:.3g} kg {compared}{likely}"
    return [_refuse(text, "export the forces in newtons, all plates summed", trials, value, overridden, unit)]


def check_readings(readings: Sequence[MassReading], overridden: bool) -> list[Finding]:
    """Check the mass readings of all trials against the best standing trial.

    A moving body may read less, because contacts may be unmeasured, but never more. A standing body reads the same.

    Args:
        readings: the most reliable first.
        overridden: True: refuse nothing.

    Raises:
        InvalidValue: a reading contradicts the standing trial, and this finding is not overridden.
    """
    if not readings or not readings[0].is_standing:
        return []
    best = readings[0]
    most, least = best.mass * (1.0 + MAX_OFFSET), best.mass / (1.0 + MAX_OFFSET)
    other = [
        reading
        for reading in readings[1:]
        if reading.mass * (1.0 - reading.relative_width) > most or (reading.is_standing and reading.mass < least)
    ]
    if not other:
        return []
    listed = ", ".join(f"{reading.mass:.1f}" for reading in other)
    text = f"the plates read {listed} kg, but {best.mass:.1f} kg for standing in {best.trial}: {CAUSES}"
    return [_refuse(text, REMEDY, [reading.trial for reading in other], other[0].mass, overridden, "kg")]


def check_mass(
    estimate: MassEstimate, stated: float | None, standing: MassReading | None, overridden: bool
) -> list[Finding]:
    """Check the plates against a specified mass [kg] and a standing body, and whether their offsets are plausible.

    Raises:
        InvalidValue: there is a contradiction or an implausible offset, and this finding is not overridden.
    """
    found = []
    readings = [trial.apparent_mass for trial in estimate.trials]
    if stated is not None and all(abs(reading / stated - 1.0) > MAX_OFFSET for reading in readings):
        span = f"{min(readings):.1f}" + (f" to {max(readings):.1f}" if len(readings) > 1 else "")
        text = f"the specified {stated:g} kg contradict every plate: they read {span} kg"
        remedy = "specify the right mass, or none, so that the plates weigh the body"
        names, middle = [trial.name for trial in estimate.trials], float(np.median(readings))
        found.append(_refuse(text, remedy, names, middle, overridden, "kg"))
    if standing is not None and abs(estimate.mass / standing.mass - 1.0) > MAX_OFFSET:
        text = f"all trials together give {estimate.mass:.1f} kg, but the plates read {standing.mass:.1f} kg"
        text += f" for standing in {standing.trial}: {CAUSES}"
        names = [trial.name for trial in estimate.trials]
        found.append(_refuse(text, REMEDY, names, estimate.mass, overridden, "kg"))
    weight = estimate.mass * GRAVITY
    for group in estimate.groups:
        offset = float(group.bias[2])
        if abs(offset) > MAX_OFFSET * weight and not found:
            text = f"the plates read {group.apparent_mass:.1f} kg for a body of {estimate.mass:.1f} kg: the difference"
            share = 100.0 * abs(offset) / weight
            text += f" ({offset:.0f} N, {share:.0f} % of the weight) is no offset but another gain, unit or person"
            found.append(_refuse(text, REMEDY, group.trials, offset, overridden, "N"))
    return found


def report_offsets(estimate: MassEstimate) -> list[Finding]:
    """Findings of the constant offsets that are removed, and of the plates without one."""
    return [
        Finding(
            MASS,
            group.trials,
            float(group.bias[2]),
            compute_interval(float(group.bias[2]), float(group.bias_std[2])),
            "N",
            Action.TAKEN_OFF if group.bias[2] else Action.NOTHING,
            f"the plates read {group.apparent_mass:.1f} kg for {estimate.mass:.1f} kg"
            + (f"; the constant offset is {group.bias[2]:.0f} N" if group.bias[2] else ""),
        )
        for group in estimate.groups
    ]


def _refuse(text: str, remedy: str, trials: Sequence[str], evidence: float, overridden: bool, unit: str) -> Finding:
    """A finding that stops the study unless it is overridden.

    Raises:
        InvalidValue: it is not overridden.
    """
    if not overridden:
        raise InvalidValue(f"{', '.join(trials)}: {text}. {remedy[0].upper()}{remedy[1:]}; {OVERRIDE_HINT}")
    return Finding(MASS, tuple(trials), evidence, UNKNOWN_INTERVAL, unit, Action.OVERRIDDEN, f"{text}; {remedy}")


MIN_TRIALS = 3
"""Smallest number of trials with unloaded plates from which the gain of one of them can be checked."""


def check_gains(estimate: MassEstimate, overridden: bool) -> tuple[list[Finding], dict[str, float]]:
    """Find trials whose plates have another gain than in the other trials; and the factors that correct it, by trial.

    A reading that is right without a load and wrong under load is a gain, not an offset.
    """
    shown = [trial for trial in estimate.trials if trial.unloaded is not None]
    found, factors = [], {}
    for trial in shown if len(shown) >= MIN_TRIALS else ():
        weighed, std = trial.apparent_mass, float(np.hypot(trial.std, estimate.std))
        if abs(weighed - estimate.mass) <= max(CERTAIN_STDS * std, AGREEMENT_TOLERANCE * estimate.mass):
            continue
        gain, spread = weighed / estimate.mass, std / estimate.mass
        low, high = compute_interval(gain, spread)
        text = (
            f"the plates read {weighed:.1f} kg for {estimate.mass:.1f} kg under load and zero without load: a gain of "
            f"{gain:.3f} ({low:.3f} to {high:.3f}, 95 %) relative to the other trials"
        )
        found.append(Finding(MASS, (trial.name,), gain, (low, high), "", Action.TAKEN_OFF.unless(overridden), text))
        if not overridden:
            factors[trial.name] = 1.0 / gain
    return found, factors
