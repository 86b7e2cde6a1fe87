"""Plausibility checks of force files, independent of their format."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..base.errors import InputError
from ..base.file_arrays import every
from ..values.wrenches import Wrenches
from .axes_and_units import Warn, check_up, spread_frames, up_from_forces

LOADED_FRACTION = 0.2
"""A plate is loaded above this fraction of its own largest vertical force. Measured on the recordings of
`axes_and_units.AXIS_DOMINANCE`: half the value reads the same, twice changes two warnings."""
MAX_DISTANCE = 30.0
"""[m] Largest plausible distance of a centre of pressure from the origin; beyond, the unit is wrong. Measured on the
recordings of `axes_and_units.AXIS_DOMINANCE`: half and twice the value read the same, ten times takes the millimetres
of one for metres."""
MAX_CENTIMETRES = 600.0
"""Largest plausible distance of a plate from the origin in centimetres; a smaller one may be in centimetres or
millimetres. Measured on the recordings of `axes_and_units.AXIS_DOMINANCE`: a tenth and ten times the value read the
same."""
MIN_FORCE = 1.0
"""[N] With a smaller mean force a recording carries no load and determines neither axis nor sign. Measured on the
recordings of `axes_and_units.AXIS_DOMINANCE`: half the value reads the same, twice changes a warning of one."""

SAMPLE = 20_000
"""Samples, evenly spread, from which axis, unit and sign are found: as many as 20 s at 1,000 Hz have. Chosen on the
files of ../shared, of which none is longer."""
MISSING_REMEDY = "Export the forces again, or leave these samples out: --keep-missing, in Python missing='keep'"


@dataclass(frozen=True, slots=True)
class ForceConvention:
    """Conventions of the numbers in a file of forces.

    Attributes:
        up: the file's vertical axis, or ``"auto"``: that of the mean force.
        fallback_up: the vertical axis if all forces are zero.
        units: of the centre of pressure; free moments follow it (N m, N mm). None: metres, or millimetres where these
            would lie outside any laboratory.
        sign: 1 if the columns hold the force of the ground on the body, -1 if they hold that of the body on the plates.
    """

    up: str = "auto"
    fallback_up: str | None = None
    units: str | None = None
    sign: int = 1


FOUND_CONVENTION = ForceConvention()
"""Axis and unit are found from the numbers, which are forces on the body."""


def resolve_force_up(specified: str, forces: np.ndarray, path: str | Path, fallback: str | None = None) -> str:
    """The vertical axis of total forces (N, 3), which must push the body up.

    Args:
        specified: the axis, or ``"auto"``.
        forces: (N, 3) [N], the file's axes.
        path: the file they came from.
        fallback: used if all forces are zero.

    Raises:
        InputError: neither specified nor detected, contradiction, or the mean force points down.
    """
    check_up(specified, path)
    found = up_from_forces(forces)
    finite = forces[np.isfinite(forces).all(axis=1)]
    if not len(finite) or np.abs(finite.mean(axis=0)).max() < MIN_FORCE:
        if specified == "auto" and fallback is not None:
            return fallback
        if specified == "auto":
            problem = "all forces are zero and do not determine the vertical axis"
            raise InputError(path, problem, remedy="State it: up = x, y or z, or check the export")
        return specified
    if found is None:
        if specified == "auto":
            raise InputError(path, "the mean force follows no axis", remedy="State up = x, y or z, or check the export")
        return specified
    if specified == "auto" and not found.startswith("-"):
        return found
    if specified == "auto" or (found.lstrip("-") == specified.lstrip("-") and found != specified):
        problem = f"the mean force points to {found}, down: the sign is reversed"
        remedy = "If the file holds the force on the plates, read it with sign = -1"
        if specified == "auto":
            remedy += f"; if {found} is up, state up = {found}"
        raise InputError(path, problem, remedy=remedy)
    if found != specified:
        problem = f"{specified} is stated to be up, but the mean force points to {found}"
        raise InputError(path, problem, remedy=f"State up = {found}, or let it be detected (auto)")
    return specified


def centres_of_pressure(wrenches: Wrenches) -> np.ndarray:
    """`Wrenches.centres_of_pressure` (N, K, 3) [m], NaN where a plate carries little compared with its largest load."""
    vertical = wrenches.values[:, :, 2]
    peak = np.nanmax(np.where(np.isnan(vertical), 0.0, vertical), axis=0)
    with np.errstate(invalid="ignore"):
        return wrenches.centres_of_pressure((vertical > LOADED_FRACTION * peak) & (peak > MIN_FORCE))


def report_missing(path: str | Path, absent: np.ndarray, first: str, missing: str, warn: Warn) -> None:
    """Refuse, or warn of, missing samples (N,) of forces.

    Args:
        path: the file they came from.
        absent: (N,) True where a force is missing.
        first: where the first of them is.
        missing: ``"error"`` refuses them, ``"keep"`` leaves them out.
        warn: receives the warning.

    Raises:
        InputError: there are any and they are refused, or ``missing`` is unknown.
    """
    if missing not in ("error", "keep"):
        raise InputError(path, f"missing = {missing!r} is unknown", remedy="Choose error or keep")
    if not absent.any():
        return
    problem = f"{int(absent.sum())} of {len(absent)} force samples are missing"
    if missing == "error":
        raise InputError(path, problem, place=f"first in {first}", remedy=MISSING_REMEDY)
    warn(f"{Path(path).name}: {problem} and left out")


def spread(wrenches: Wrenches) -> Wrenches:
    """Evenly spread samples, as many as are needed to find axis, unit and sign."""
    step = spread_frames(len(wrenches), SAMPLE).step
    assert wrenches.measured is not None
    values = every(wrenches.values, step)
    return Wrenches(wrenches.times[::step], wrenches.frames, values, wrenches.measured[::step])


def check_centres_of_pressure(wrenches: Wrenches, path: str | Path) -> None:
    """Refuse centres of pressure outside any laboratory.

    Raises:
        InputError: the unit of the centres of pressure is not the one they were read in.
    """
    points = centres_of_pressure(spread(wrenches))
    distance = np.linalg.norm(points[np.isfinite(points).all(axis=2)], axis=1)
    if len(distance) and np.median(distance) > MAX_DISTANCE:
        problem = f"the centre of pressure lies {np.median(distance):.0f} m from the origin: it is not in metres"
        unit = "mm" if np.median(distance) > MAX_CENTIMETRES else "mm or cm, as the file has it"
        raise InputError(path, problem, remedy=f"Read the forces with force_units = {unit}")
