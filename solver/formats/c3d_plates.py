"""The force plates of a C3D file: geometry from its parameters, wrenches from its channels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..errors import InputError, InvalidValue
from ..wrenches import Wrenches
from .axes import to_z_up
from .c3d_format import C3dData, Parameters, integer
from .force_plates import CHANNELS, ForcePlate
from .text import Warn
from .wrench_checks import NEWTON_FLOOR, centres_of_pressure, check_forces, settle_force_up

GROUP = "FORCE_PLATFORM"
GEOMETRY = {"TYPE": (1,), "CORNERS": (3, 4), "ORIGIN": (3,)}
"""Parameters of every plate and the shape of one plate's value."""
FORCE_UNITS = {"n": 1.0, "newton": 1.0, "newtons": 1.0, "kn": 1e3}
MOMENT_UNITS = {"nmm": 1e-3, "nm": 1.0, "ncm": 1e-2, "newtonmillimeters": 1e-3, "newtonmeters": 1.0}
BASELINE_LOAD = 0.1
"""A baseline is believed when its vertical force stays below this share of the largest one."""
OUTSIDE = 0.05
"""[m] a centre of pressure this far outside its plate is worth a warning."""


def plates_of(path: str | Path, parameters: Parameters, metre: float) -> tuple[ForcePlate, ...]:
    """Geometry of the plates.

    Raises:
        InputError: the parameters of the plates are missing, malformed or of an unknown type.
    """
    count = integer(path, parameters.get(GROUP, {}), f"{GROUP}:USED", 0)
    if not count:
        return ()
    kinds, corners, origins = (_values(parameters, name, shape) for name, shape in GEOMETRY.items())
    if min(len(kinds.T), corners.shape[-1], origins.shape[-1]) < count:
        raise _malformed(path, "TYPE, CORNERS or ORIGIN do not describe them all", count)
    calibrations = _values(parameters, "CAL_MATRIX", (6, 6))
    plates = []
    for k in range(count):
        name, kind, calibration = f"plate_{k + 1}", int(kinds[0, k]), None
        if kind == 4:
            if calibrations.shape[-1] <= k:
                raise _malformed(path, f"CAL_MATRIX lacks that of {name}, which is of type 4", count)
            # Forces stay newtons, moments come out in newtons times the file's unit of length.
            calibration = np.diag([1.0, 1.0, 1.0, metre, metre, metre]) @ calibrations[:, :, k]
        try:
            plate = ForcePlate(name, kind, corners[:, :, k].T * metre, origins[:, k] * metre, calibration)
            plate.rotation  # noqa: B018  raises on corners that span no surface
        except (InvalidValue, IndexError) as error:
            raise _malformed(path, str(error), count) from error
        plates.append(plate)
    return tuple(plates)


@dataclass(frozen=True, slots=True)
class PlateReading:
    """How the channels of plates are to be read.

    Attributes:
        up: the file's vertical axis.
        metre: [m] the file's unit of length.
        start: [s] time of the first sample.
        sign, missing: as in `read_c3d`.
    """

    up: str
    metre: float
    start: float
    sign: int | None = None
    missing: str = "error"


def plate_wrenches(
    path: str | Path,
    content: C3dData,
    plates: Sequence[ForcePlate],
    asked: PlateReading,
    warn: Warn,
) -> Wrenches | None:
    """Wrenches of the plates on the body about the world origin, z up; None without plates or samples.

    Raises:
        InputError: channels missing, units unknown, samples missing, or forces that contradict axis, unit or sign.
    """
    if not plates:
        return None
    parameters, analogs = content.parameters, content.analogs
    rates = {group: _values(parameters, "RATE", (1,), group) for group in ("ANALOG", "POINT")}
    rate = float(rates["ANALOG"][0, 0]) if rates["ANALOG"].size else 0.0
    frames = len(content.points)
    per_frame = len(analogs) // frames if frames else 1
    if not rate > 0.0 and rates["POINT"].size:
        rate = per_frame * float(rates["POINT"][0, 0])
    if not len(analogs) or not rate > 0.0:
        warn(f"{Path(path).name}: names {len(plates)} force plates but holds no samples of them")
        return None
    channels = [_channels(path, content, k, plate, asked.metre, warn) for k, plate in enumerate(plates)]
    rotation = to_z_up(asked.up)
    vertical = rotation.T @ np.array([0.0, 0.0, 1.0])
    values = np.stack([p.wrench(_zeroed(path, parameters, c, per_frame, p, warn), vertical)
                       for p, c in zip(plates, channels)], axis=1)  # fmt: skip
    values = np.concatenate([values[:, :, :3] @ rotation.T, values[:, :, 3:] @ rotation.T], axis=2)
    _check_missing(path, values[:, :, :3], asked.missing, warn)
    values = _on_the_body(path, plates, values, warn) if asked.sign is None else asked.sign * values
    settle_force_up("z", values[:, :, :3].sum(axis=1), path)
    measured = np.ones((len(values), 6), bool)
    unknown = [plate.name for plate in plates if not plate.moments_known]
    if unknown:
        warn(f"{Path(path).name}: ORIGIN of {', '.join(unknown)} lacks the sensor distances: moments not measured")
        measured[:, 3:] = False
    times = asked.start + np.arange(len(values)) / rate
    wrenches = Wrenches(times, tuple(plate.name for plate in plates), values, measured)
    check_forces(wrenches, path)
    _check_inside(path, plates, rotation, wrenches, warn)
    return wrenches


def _channels(path: str | Path, content: C3dData, k: int, plate: ForcePlate, metre: float, warn: Warn) -> np.ndarray:
    """The plate's channels (N, 6 or 8) in N, N m and m; those of type 4 as recorded."""
    parameters, analogs = content.parameters, content.analogs
    wanted = CHANNELS[plate.kind]
    value = parameters[GROUP].get("CHANNEL")
    table = value.reshape(len(value), -1, order="F") if isinstance(value, np.ndarray) else np.zeros((0, 0))
    if table.shape[0] < wanted or table.shape[1] <= k:
        raise _malformed(path, f"CHANNEL does not name the {wanted} channels of {plate.name}", table.shape[1])
    numbers = table[:wanted, k].astype(int)
    if numbers.min() < 1 or numbers.max() > analogs.shape[1]:
        problem = f"{plate.name} uses channel {numbers.max()}, the file has {analogs.shape[1]}"
        raise InputError(path, problem, place=f"{GROUP}:CHANNEL", remedy="Export the trial with all its channels")
    values = analogs[:, numbers - 1]
    if plate.kind == 4:
        return values
    units = [str(unit) for unit in parameters["ANALOG"].get("UNITS", ())]
    of_channel = [units[n - 1] if n <= len(units) else "" for n in numbers]
    return values * np.array([_scale(path, unit, i, plate, metre, warn) for i, unit in enumerate(of_channel)])


def _scale(path: str | Path, unit: str, index: int, plate: ForcePlate, metre: float, warn: Warn) -> float:
    """Factor from a channel's unit to SI, by what the channel of that plate type holds."""
    plain = unit.strip().lower().replace(".", "").replace("*", "").replace("-", "").replace(" ", "")
    if plate.kind == 1 and index in (3, 4):
        return metre
    if plate.kind != 3 and index >= 3:
        if plain in MOMENT_UNITS:
            return MOMENT_UNITS[plain]
        warn(f"{Path(path).name}: {plate.name} moments have unit {unit!r}; newtons times the unit of length are taken")
        return metre
    if plain in FORCE_UNITS or not plain:
        return FORCE_UNITS.get(plain, 1.0)
    problem = f"a force channel of {plate.name} has the unit {unit!r}"
    raise InputError(path, problem, place="ANALOG:UNITS", remedy="Export the forces in newtons")


def _zeroed(
    path: str | Path, parameters: Parameters, channels: np.ndarray, per_frame: int, plate: ForcePlate, warn: Warn
) -> np.ndarray:
    """Channels less their mean over the frames that FORCE_PLATFORM:ZERO names, unless the plate was loaded then."""
    zero = _values(parameters, "ZERO", (2,))
    first, last = (int(frame) for frame in zero[:, 0]) if zero.size else (0, 0)
    if first < 1 or last < first:
        return channels
    baseline = channels[(first - 1) * per_frame : last * per_frame]
    if not len(baseline):
        return channels
    vertical = slice(4, 8) if plate.kind == 3 else slice(2, 3)
    load = np.abs(channels[:, vertical].sum(axis=1))
    if np.abs(baseline[:, vertical].sum(axis=1)).max() > BASELINE_LOAD * load.max():
        warn(f"{Path(path).name}: {plate.name} is loaded during the frames named as its zero; no zero is taken off")
        return channels
    return channels - baseline.mean(axis=0)


def _check_missing(path: str | Path, forces: np.ndarray, missing: str, warn: Warn) -> None:
    """Refuse, or report, samples that are no numbers."""
    gone = ~np.isfinite(forces).all(axis=(1, 2))
    if not gone.any():
        return
    problem = f"{int(gone.sum())} of {len(gone)} force samples are missing"
    if missing == "error":
        place = f"analog sample {int(np.argmax(gone)) + 1}"
        remedy = "Export the forces again, or read with missing = keep to leave these samples out"
        raise InputError(path, problem, place=place, remedy=remedy)
    warn(f"{Path(path).name}: {problem} and left out")


def _on_the_body(path: str | Path, plates: Sequence[ForcePlate], values: np.ndarray, warn: Warn) -> np.ndarray:
    """Plates record action or reaction by make and software; a plate can only push the body up."""
    result = values.copy()
    for kind in sorted({plate.kind for plate in plates}):
        group = [k for k, plate in enumerate(plates) if plate.kind == kind]
        if np.nanmean(values[:, group, 2].sum(axis=1)) < -NEWTON_FLOOR:
            warn(f"{Path(path).name}: plates of type {kind} hold the force on the plate; its reaction is taken")
            result[:, group] *= -1.0
    return result


def _check_inside(
    path: str | Path, plates: Sequence[ForcePlate], rotation: np.ndarray, wrenches: Wrenches, warn: Warn
) -> None:
    """Warn of centres of pressure outside their plate."""
    for plate, points in zip(plates, centres_of_pressure(wrenches).transpose(1, 0, 2)):
        points = points[np.isfinite(points).all(axis=1)]
        corners = plate.corners @ rotation.T
        low, high = corners.min(axis=0)[:2] - OUTSIDE, corners.max(axis=0)[:2] + OUTSIDE
        middle = np.median(points[:, :2], axis=0) if len(points) else 0.5 * (low + high)
        if not np.all((middle > low) & (middle < high)):
            warn(f"{Path(path).name}: the centre of pressure of {plate.name} lies outside the plate")


def _values(parameters: Parameters, name: str, shape: tuple[int, ...], group: str = GROUP) -> np.ndarray:
    """A numeric parameter as (*shape, count), count zero where it is absent or of another shape."""
    value = parameters.get(group, {}).get(name)
    if not isinstance(value, np.ndarray) or value.size == 0 or value.size % np.prod(shape):
        return np.zeros((*shape, 0))
    return value.reshape(*shape, -1, order="F")


def _malformed(path: str | Path, problem: str, count: int) -> InputError:
    remedy = "Export the trial with the geometry of its force plates"
    return InputError(path, f"{count} force plates, but {problem}", place=GROUP, remedy=remedy)
