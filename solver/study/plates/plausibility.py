"""Plausibility of mass and unit of the forces: implausible trials are left out, or are errors with a remedy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...base.errors import InvalidValue
from ...calibration.body_mass import MassEstimate
from ...options.plates import MASS
from ...skeleton.rig import GRAVITY, Rig
from ..rough_mass import MassReading
from .finding import UNKNOWN_INTERVAL, Action, Finding, compute_interval

MIN_BODY_MASS_INDEX, MAX_BODY_MASS_INDEX = 10.0, 60.0
"""[kg/m^2] Range of the body mass index of living people; 22 is typical."""
TYPICAL_BODY_MASS_INDEX = 22.0
"""[kg/m^2] The middle of the normal range of the World Health Organization (2000), 18.5 to 25."""
MAX_MASS_RATIO = 3.0
"""Factor between the mass that plates weigh and that of a robot's model: more is another unit or another robot. Chosen
on TALOS, iCub and HRP-2, whose models weigh what they do within a fifth."""
UNITS = {"kilonewtons": 1e3, "kilograms-force": GRAVITY, "pounds-force": 4.448, "newtons times ten": 0.1,
         "millinewtons": 1e-3}  # fmt: skip
"""Units in newtons that forces may have if they were read as newtons by mistake. By definition."""
MAX_OFFSET = 0.08
"""Fraction of the weight: plates that drift or were zeroed under load have offsets of up to 5 %."""
MASS_TOLERANCE = 0.03
"""Plates further from the body's mass than this fraction cause a warning. Chosen on 17 trials of six people."""
MIN_TRIALS = 3
"""Smallest number of trials whose median reading shows which of them is wrong. Derived: of two that differ none is the
wrong one."""
CAUSES = "a support or load that was not measured, a tether, another gain of the plates, or another person"
REMEDY = "leave the wrong trials out, or correct their forces"
OVERRIDE_HINT = "continue nevertheless with --report-only mass"


def check_units(rig: Rig, mass: float, trials: Sequence[str], overridden: bool) -> list[Finding]:
    """Check from the mass [kg] that the plates measure in newtons; of persons by their height.

    Raises:
        InvalidValue: the mass is not a person's of that height, or not the model's, and this finding is not overridden.
    """
    height, own = rig.provenance.get("height"), rig.prior.total_mass
    if rig.provenance.get("kind") == "human" and isinstance(height, float | int):
        value, unit, expected = mass / height**2, "kg/m^2", TYPICAL_BODY_MASS_INDEX * height**2
        compared = f"at {height:.2f} m, a body mass index of {value:.2g}"
        plausible = MIN_BODY_MASS_INDEX <= value <= MAX_BODY_MASS_INDEX
    elif own > 0.0:
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


def check_readings(readings: Sequence[MassReading], stated: float | None, overridden: bool) -> list[Finding]:
    """Find trials whose mass readings contradict the stated mass [kg] or, without it, what most trials read.

    A moving body may read less, because contacts may be unmeasured, but never more. A standing body reads the same.

    Args:
        readings: the most reliable first.
        stated: by the user; None: the median of three trials or more, or what the best standing trial reads.
        overridden: True: leave no trial out.

    Raises:
        InvalidValue: no more than half of the trials agree, and this finding is not overridden.
    """
    if len(readings) < 2 or not readings[0].is_standing:
        return []
    best = readings[0]
    usual = stated or (best.mass if len(readings) < MIN_TRIALS else float(np.median([r.mass for r in readings])))
    most, least = usual * (1.0 + MAX_OFFSET), usual / (1.0 + MAX_OFFSET)
    odd = [
        reading
        for reading in readings
        if reading.mass * (1.0 - reading.relative_width) > most or (reading.is_standing and reading.mass < least)
    ]
    if not odd:
        return []
    listed = ", ".join(f"{reading.mass:.1f}" for reading in odd)
    where = f" for standing in {best.trial}" if usual == best.mass else ""
    text = f"the plates read {listed} kg, but {usual:.1f} kg{where}: {CAUSES}"
    return [
        _leave_out(
            text,
            [reading.trial for reading in odd],
            len(readings) * (0.5 if stated is None else 1.0),
            odd[0].mass,
            overridden,
        )
    ]


def check_mass(
    estimate: MassEstimate, stated: float | None, standing: MassReading | None, overridden: bool
) -> list[Finding]:
    """Find trials whose plates are too far from the body's mass; check it against a standing body.

    Raises:
        InvalidValue: no more than half of the trials agree, or the trials contradict a standing body, and this finding
            is not overridden.
    """
    found = []
    odd = [trial for trial in estimate.trials if abs(trial.apparent_mass / estimate.mass - 1.0) > MAX_OFFSET]
    if stated is not None and len(odd) == len(estimate.trials):
        readings = [trial.apparent_mass for trial in odd]
        span = f"{min(readings):.1f}" + (f" to {max(readings):.1f}" if len(readings) > 1 else "")
        text = f"the specified {stated:g} kg contradict every plate: they read {span} kg"
        remedy = "specify the right mass, or none, so that the plates weigh the body"
        names = [trial.name for trial in odd]
        found.append(_refuse(text, remedy, names, float(np.median(readings)), overridden, "kg"))
    elif odd:
        listed = ", ".join(f"{trial.apparent_mass:.1f}" for trial in odd)
        text = f"the plates read {listed} kg for a body of {estimate.mass:.1f} kg: {CAUSES}, no offset"
        names = [trial.name for trial in odd]
        most = len(estimate.trials) * (0.5 if stated is None else 1.0)
        found.append(_leave_out(text, names, most, odd[0].apparent_mass, overridden))
    if standing is not None and stated is None and abs(estimate.mass / standing.mass - 1.0) > MAX_OFFSET:
        text = f"all trials together give {estimate.mass:.1f} kg, but the plates read {standing.mass:.1f} kg"
        text += f" for standing in {standing.trial}: {CAUSES}"
        names = [trial.name for trial in estimate.trials]
        found.append(_refuse(text, REMEDY, names, estimate.mass, overridden, "kg"))
    return found


def report_readings(estimate: MassEstimate) -> list[Finding]:
    """Findings of the masses that the plates read: reported where they are far off, unless `check_mass` does."""
    found = []
    for group in estimate.groups:
        is_far = MASS_TOLERANCE < abs(group.apparent_mass / estimate.mass - 1.0) < MAX_OFFSET
        text = f"the plates read {group.apparent_mass:.1f} kg for {estimate.mass:.1f} kg"
        interval = compute_interval(group.apparent_mass, group.std)
        done = Action.REPORTED if is_far else Action.NOTHING
        found.append(Finding(MASS, group.trials, group.apparent_mass, interval, "kg", done, text))
    return found


def _leave_out(text: str, trials: Sequence[str], most: float, evidence: float, overridden: bool) -> Finding:
    """A finding that leaves trials out unless it is overridden.

    Raises:
        InvalidValue: they are ``most`` or more, so that the others may be wrong, and it is not overridden.
    """
    if len(trials) >= most:
        return _refuse(text, REMEDY, trials, evidence, overridden, "kg")
    return Finding(MASS, tuple(trials), evidence, UNKNOWN_INTERVAL, "kg", Action.LEFT_OUT.unless(overridden), text)


def _refuse(text: str, remedy: str, trials: Sequence[str], evidence: float, overridden: bool, unit: str) -> Finding:
    """A finding that stops the study unless it is overridden.

    Raises:
        InvalidValue: it is not overridden.
    """
    if not overridden:
        raise InvalidValue(f"{', '.join(trials)}: {text}. {remedy[0].upper()}{remedy[1:]}; {OVERRIDE_HINT}")
    return Finding(MASS, tuple(trials), evidence, UNKNOWN_INTERVAL, unit, Action.OVERRIDDEN, f"{text}; {remedy}")
