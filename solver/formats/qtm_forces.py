"""Forces in the .tsv files of Qualisys Track Manager: ``NAME_f_1.tsv``, ``NAME_f_2.tsv``, one for each plate.

The header states rate, corners of the plate [mm] and, as DESCRIPTION, whether force [N], moment and centre of pressure
[mm] are in the axes of the plate, whose z axis points down, or of the laboratory. A row has frame number and time if
these were exported, then the nine numbers. The program exports the force on the plate; its reaction is used.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..base.errors import InputError, InvalidValue
from ..base.numerals import numeral
from ..values.wrenches import Wrenches
from .axes_and_units import check_up, to_z_up, up_from_forces
from .force_plates import ForcePlate, check_apart
from .qtm import CONTENT, parse_header, read_samples
from .text_files import Warn, ignore_warning, read_lines
from .trial_names import number_repeated
from .wrench_checks import (
    LOADED_FRACTION,
    MIN_FORCE,
    ForceConvention,
    check_centres_of_pressure,
    report_missing,
    resolve_force_up,
)

FORCE = "Force"
"""Value of DATA_INCLUDED in a file of forces."""
COLUMNS = tuple(f"{what}_{axis}" for what in ("Force", "Moment", "COP") for axis in "XYZ")
CORNERS = ("POSX_POSY", "NEGX_POSY", "NEGX_NEGY", "POSX_NEGY")
"""Of the plate, in the order of its quadrants."""
DESCRIPTION, NAME = "DESCRIPTION", "FORCE_PLATE_NAME"
PLATE_ENDING = re.compile(r"_f(?:_(\d+))?$", re.I)
"""What the program adds to the trial's name."""
MILLIMETRE = 1e-3
"""By definition."""
MOMENT_UNITS = {"N m": 1.0, "N mm": MILLIMETRE}
"""By definition."""
MAX_LEVER_ERROR = 0.02
"""[m] Largest distance between the centre of pressure and the line of action that force and moment give (RMS)."""


def is_forces(path: Path) -> bool:
    """Whether an export holds the forces of a plate."""
    header, _ = parse_header(read_lines(path))
    return header.get(CONTENT, ("",))[0].lower() == FORCE.lower()


def plate_files(path: Path) -> tuple[Path, ...]:
    """All plates of the trial of a force file, in the order of their numbers; empty for a missing or another file."""
    ending = PLATE_ENDING.search(path.stem)
    if path.suffix.lower() != ".tsv" or ending is None or not path.is_file():
        return ()
    trial = path.stem[: ending.start()]
    found: list[tuple[int, Path]] = []
    for file in sorted(path.parent.iterdir()):
        other = PLATE_ENDING.search(file.stem)
        if file.suffix.lower() == ".tsv" and other is not None and file.stem[: other.start()] == trial:
            found.append((int(other[1] or 0), file))
    return tuple(file for _, file in sorted(found))


def read_qtm_forces(
    path: Path, convention: ForceConvention, sign: int | None, *, missing: str = "error", warn: Warn = ignore_warning
) -> tuple[Wrenches, str]:
    """Wrenches of all plates of a trial about the world origin, z up, and the files' vertical axis.

    Args:
        path: of one plate; the others of the trial lie beside it.
        convention: its ``up`` and ``fallback_up``; if neither states the axis, that which the plates' normals follow.
        sign: 1 if the columns hold the force on the body, -1 that on the plates; None finds it, since a plate can only
            push a body up.
        missing: ``"error"`` refuses missing samples, ``"keep"`` leaves them NaN.
        warn: receives messages about irregularities.

    Raises:
        InputError: a header without corners or axes, missing samples, plates whose samples differ in number or rate, or
            moments that contradict the centre of pressure.
    """
    plates = [_read_plate(file, missing, warn) for file in plate_files(path) or (path,)]
    first = plates[0]
    for plate in plates[1:]:
        if len(plate.times) != len(first.times) or not np.allclose(plate.times, first.times, atol=1e-6):
            problem = f"has {len(plate.times)} samples from {plate.times[0]:g} to {plate.times[-1]:g} s, but "
            problem += f"{first.path.name} has {len(first.times)} from {first.times[0]:g} to {first.times[-1]:g} s"
            raise InputError(plate.path, problem, remedy="Export all plates of the trial together")
    values = np.stack([plate.wrench for plate in plates], axis=1)
    check_up(convention.up, path)
    up = convention.up if convention.up != "auto" else convention.fallback_up
    up = up or up_from_forces(-np.array([plate.geometry.rotation[:, 2] for plate in plates]))
    if up is None:
        raise InputError(path, "the plate is level along no axis", remedy="State up = x, y or z")
    rotation = to_z_up(up).T
    values = np.concatenate([values[:, :, :3] @ rotation, values[:, :, 3:] @ rotation], axis=2)
    vertical = values[:, :, 2].sum(axis=1)
    downwards = np.nanmean(vertical) < -MIN_FORCE if np.isfinite(vertical).any() else False
    values = values * (sign if sign is not None else -1 if downwards else 1)
    resolve_force_up("z", values[:, :, :3].sum(axis=1), path)
    check_apart(path, [plate.geometry for k, plate in enumerate(plates) if np.abs(values[:, k, 2]).max() > MIN_FORCE])
    result = Wrenches(first.times, number_repeated([plate.name for plate in plates]), values)
    check_centres_of_pressure(result, path)
    return result, up


@dataclass(frozen=True, slots=True)
class _Plate:
    """A plate's file: wrench (N, 6) [N, N m] about the origin of the laboratory, its axes and the file's sign."""

    path: Path
    name: str
    geometry: ForcePlate
    times: np.ndarray
    wrench: np.ndarray


def _read_plate(path: Path, missing: str, warn: Warn) -> _Plate:
    header, start = parse_header(read_lines(path))
    if header.get(CONTENT, ("",))[0].lower() != FORCE.lower():
        remedy = f"Export the forces as TSV with their header, or rename it, since {path.name} is read as a plate"
        raise InputError(path, f"holds no {FORCE} data", place=CONTENT, remedy=remedy)
    geometry = _read_geometry(path, header)
    local = _is_local(path, header)
    times, values = read_samples(path, start, COLUMNS, header)
    vectors = values.reshape(-1, 3, 3) * [[1.0], [1.0], [MILLIMETRE]]
    absent = ~np.isfinite(vectors[:, :2]).all(axis=(1, 2))
    report_missing(path, absent, f"sample {int(np.argmax(absent)) + 1}", missing, warn)
    if local:
        vectors = vectors @ geometry.rotation.T
        vectors[:, 2] += geometry.centre
    force, moment, point = vectors.transpose(1, 0, 2)
    return _Plate(path, geometry.name, geometry, times, _wrench(path, geometry, force, moment, point, local))


def _wrench(
    path: Path, plate: ForcePlate, force: np.ndarray, moment: np.ndarray, point: np.ndarray, local: bool
) -> np.ndarray:
    """Wrench about the origin of the laboratory.

    The moment is about the centre of the plate's surface or, in the axes of the laboratory, about either that or the
    origin, in N m or N mm: that which agrees with the centre of pressure, where the plate is loaded.
    """
    normal = plate.rotation[:, 2]
    along = np.abs(force @ normal)
    loaded = along > max(LOADED_FRACTION * np.nanmax(along, initial=0.0), MIN_FORCE)
    loaded &= np.isfinite(point).all(axis=1)
    level = np.eye(3) - np.outer(normal, normal)
    choices = []
    for reference in (plate.centre,) if local else (plate.centre, np.zeros(3)):
        for unit in MOMENT_UNITS.values():
            error = (unit * moment - np.cross(point - reference, force))[loaded] @ level
            lever = np.sqrt(np.mean(np.sum(error**2, axis=1) / along[loaded] ** 2)) if loaded.any() else 0.0
            choices.append((float(lever), unit, reference))
    lever, unit, reference = min(choices, key=lambda choice: choice[0])
    if lever > MAX_LEVER_ERROR:
        problem = f"its moments put the load {1e3 * lever:.0f} mm from its centre of pressure (RMS)"
        raise InputError(path, problem, remedy="Export the forces again, or markers and forces together as C3D")
    return np.concatenate([force, unit * moment + np.cross(reference, force)], axis=1)


def _read_geometry(path: Path, header: Mapping[str, Sequence[str]]) -> ForcePlate:
    corners = np.empty((4, 3))
    for k, corner in enumerate(CORNERS):
        for axis in range(3):
            key = f"FORCE_PLATE_CORNER_{corner}_{'XYZ'[axis]}"
            text = header.get(key, ("",))[0]
            try:
                corners[k, axis] = MILLIMETRE * numeral(text)
            except ValueError:
                problem = f"{text!r} is not a number" if text else "is missing"
                raise InputError(path, problem, place=key, remedy="Export the forces with their header") from None
    ending = PLATE_ENDING.search(path.stem)
    name = header.get(NAME, ("",))[0] or f"plate {ending[1] if ending and ending[1] else 1}"
    plate = ForcePlate(name, 2, corners, np.zeros(3))
    try:
        plate.rotation  # noqa: B018  raises on corners that span no surface
    except InvalidValue as error:
        remedy = "State the plate's location in the capture program, and export again"
        raise InputError(path, str(error), place="FORCE_PLATE_CORNER", remedy=remedy) from error
    return plate


def _is_local(path: Path, header: Mapping[str, Sequence[str]]) -> bool:
    """Whether the numbers are in the axes of the plate."""
    text = " ".join(header.get(DESCRIPTION, ("",))).lower()
    if "local" in text:
        return True
    if "world" in text or "lab" in text:
        return False
    problem = f"{text!r} does not say whether the data are in local (force plate) or world (lab) coordinates"
    raise InputError(path, problem, place=DESCRIPTION, remedy="Export the forces with their header")
