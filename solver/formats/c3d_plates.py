"""Force plates of a C3D file: geometry from its parameters, wrenches from its channels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ..base.errors import InvalidValue
from ..base.file_arrays import map_slices
from ..options.reading import ReadOptions
from ..values.wrenches import Wrenches
from .axes_and_units import to_z_up
from .c3d_channels import (
    FRAMES,
    PlateChannels,
    find_baseline,
    find_channels,
    find_saturated,
    read_plate_channels,
    widen_samples,
)
from .c3d_format import RATE_DIFFERENCE, C3dData, Parameters, read_count
from .force_plates import CHANNEL_COUNTS, ForcePlate, check_apart
from .text_files import Warn, ignore_warning
from .wrench_checks import (
    LOADED_FRACTION,
    MIN_FORCE,
    centres_of_pressure,
    check_centres_of_pressure,
    report_missing,
    resolve_force_up,
    spread,
)

PLATFORM_GROUP = "FORCE_PLATFORM"
PARAMETER_SHAPES = {"TYPE": (1,), "CORNERS": (3, 4), "ORIGIN": (3,), "CAL_MATRIX": (6, 6)}
"""Shape of one plate's value, by parameter. By the C3D format."""
TYPES_WITH_ORIGIN = (2, 3, 4)
"""Types whose moments depend on the position of the sensors. By the C3D format."""
MIN_SIDE, MAX_SIDE = 0.02, 20.0
"""[m] Range of a plate's sides."""
MIN_LEVER = 1e-3
"""[m] Smallest plausible lever arm about a sensor's axis; smaller moments have another unit or were not recorded.
Measured on the recordings of `axes_and_units.AXIS_DOMINANCE`: a tenth and ten times the value read the same."""
OUTSIDE_MARGIN = 0.05
"""[m] A centre of pressure farther outside its plate causes a warning. Measured on the recordings of
`axes_and_units.AXIS_DOMINANCE`: half and twice the value warn of the same plates, ten times misses one."""
UNREADABLE_PLATES = "plates not read"
"""Name of the frame that represents the load of unreadable plates."""
CONTACT_FORCE = 20.0
"""[N] A plate with a smaller force is unloaded, as is usual in gait analysis; offset and noise stay below it. Measured
on the recordings of `axes_and_units.AXIS_DOMINANCE`: half and twice the value read the same."""


@dataclass(frozen=True, slots=True)
class Platforms:
    """The plates that a file names.

    Attributes:
        plates: with valid geometry.
        indices: of each among all plates that the file names, from 0.
        unreadable: the other plates.
        metre: [m] the file's unit of length.
    """

    plates: tuple[ForcePlate, ...] = ()
    indices: tuple[int, ...] = ()
    unreadable: tuple[UnreadablePlate, ...] = ()
    metre: float = 1.0


def read_platforms(path: str | Path, parameters: Parameters, unit_in_metres: float) -> Platforms:
    """Read the geometry of the plates, and what is wrong with that of the others.

    Raises:
        InputError: the number of plates is not a number.
    """
    count = read_count(path, parameters.get(PLATFORM_GROUP, {}), f"{PLATFORM_GROUP}:USED", 0)
    plates, numbers, broken = [], [], []
    for k in range(count):
        code = _plate_parameter(parameters, "TYPE", k)
        kind = None if code is None else int(code[0])
        calibration = _plate_parameter(parameters, "CAL_MATRIX", k) if kind == 4 else None
        if calibration is not None:
            # Forces stay in newtons; moments result in newtons times the file's unit of length.
            calibration = np.diag([1.0, 1.0, 1.0, unit_in_metres, unit_in_metres, unit_in_metres]) @ calibration
        try:
            plates.append(_read_plate(parameters, k, kind, unit_in_metres, calibration))
            numbers.append(k)
        except InvalidValue as error:
            broken.append(UnreadablePlate(k, kind, str(error), calibration))
    return Platforms(tuple(plates), tuple(numbers), tuple(broken), unit_in_metres)


def _read_plate(
    parameters: Parameters, index: int, kind: int | None, unit_in_metres: float, calibration: np.ndarray | None
) -> ForcePlate:
    """Read one plate.

    Raises:
        InvalidValue: its geometry is incomplete or implausible.
    """
    corners, origin = _plate_parameter(parameters, "CORNERS", index), _plate_parameter(parameters, "ORIGIN", index)
    if kind is None or corners is None or (origin is None and kind in TYPES_WITH_ORIGIN):
        missing = "TYPE" if kind is None else "CORNERS" if corners is None else "ORIGIN"
        raise InvalidValue(f"{PLATFORM_GROUP}:{missing} does not describe it")
    place = np.zeros(3) if origin is None else origin * unit_in_metres
    plate = ForcePlate(plate_name(index), kind, corners.T * unit_in_metres, place, calibration)
    plate.rotation  # noqa: B018  raises on corners that span no surface
    sides = np.linalg.norm(plate.corners - np.roll(plate.corners, 1, axis=0), axis=1)
    if not MIN_SIDE < sides.min() <= sides.max() < MAX_SIDE:
        raise InvalidValue(f"its sides measure {sides.min():.3g} to {sides.max():.3g} m")
    return plate


def plate_wrenches(
    content: C3dData, platforms: Platforms, up: str, start: float, options: ReadOptions, warn: Warn
) -> Wrenches | None:
    """Wrenches of the plates on the body about the world origin, z up; None if they are unknown.

    An unreadable plate is left out, and so is every sample in which it carries load, because the sum of the other
    plates would lack this load. If its load cannot be determined, no forces are read. Samples in which a channel is
    saturated are left out too. A warning is given about each.

    Raises:
        InputError: units unknown, samples missing, or forces that contradict axis, unit or sign.
    """
    path = content.path
    if not (named := len(platforms.plates) + len(platforms.unreadable)):
        return None
    if (clock := _sample_rate(path, content, warn)) is None:
        warn(f"{Path(path).name}: names {named} force plates but holds no samples of them")
        return None
    rate, per_frame = clock
    broken, plates = list(platforms.unreadable), []
    vertical = (rotation := to_z_up(up)).T @ np.array([0.0, 0.0, 1.0])
    total = np.zeros((content.sample_count, 3))
    for k, plate in zip(platforms.indices, platforms.plates, strict=True):
        try:
            channels = read_plate_channels(path, content, k, plate.kind, platforms.metre, warn)
        except InvalidValue as error:
            broken.append(UnreadablePlate(k, None, str(error)))
            continue
        channels = replace(channels, baseline=find_baseline(channels, channels.read_all(), plate, warn))
        samples = channels.read_all()
        forces = map_slices(
            len(samples),
            lambda own: plate.wrench(samples[own], vertical)[:, :3] @ rotation.T,  # noqa: B023
        )
        total += forces
        largest = float(np.abs(forces[:, 2]).max())
        saturated = find_saturated(path, samples, plate, rate, warn)
        plates.append(_ReadPlate(plate, channels, saturated, largest, _has_moments(plate, samples)))
    lost = find_lost_samples(path, content, broken, platforms.metre, rate, warn)
    if lost is None or lost.all() or not plates:
        return None
    absent = ~np.isfinite(total).all(axis=1)
    report_missing(path, absent, f"analog sample {int(np.argmax(absent)) + 1}", options.missing, warn)
    sign = options.sign or _find_sign(path, total, warn)
    check_apart(path, [each.plate for each in plates if each.largest > CONTACT_FORCE])
    resolve_force_up("z", sign * total[~lost], path)
    measured = np.ones((len(lost), 6), bool)
    if unknown := [each.plate.name for each in plates if not each.plate.has_moments]:
        warn(f"{Path(path).name}: ORIGIN of {', '.join(unknown)} lacks the sensor distances: moments are not measured")
        measured[:, 3:] = False
    if lost_moments := [each.plate.name for each in plates if not each.has_moments]:
        said = f"the moments of {', '.join(lost_moments)} would put all load within {1e3 * MIN_LEVER:g} mm of the "
        said += "sensor's axis: their unit (ANALOG:UNITS) is wrong, or they were not recorded"
        warn(f"{Path(path).name}: {said}; moments are treated as not measured")
        measured[:, 3:] = False
    names = tuple(each.plate.name for each in plates)

    def read(frames: slice) -> np.ndarray:
        own = slice(frames.start * per_frame, frames.stop * per_frame)
        values = np.stack([each.wrench(frames, own, vertical) for each in plates], axis=1)
        values = sign * np.concatenate([values[:, :, :3] @ rotation.T, values[:, :, 3:] @ rotation.T], axis=2)
        of_lost = np.where(lost[own], np.nan, 0.0)[:, None, None] * np.ones(6)
        return np.concatenate([values, of_lost], axis=1) if lost.any() else values

    values = map_slices(content.frames.count, read, FRAMES)
    names += (UNREADABLE_PLATES,) * bool(lost.any())
    wrenches = Wrenches(start + np.arange(len(lost)) / rate, names, values, measured)
    check_centres_of_pressure(wrenches, path)
    _check_centres_inside(path, [each.plate for each in plates], rotation, wrenches, warn)
    return wrenches


@dataclass(frozen=True, slots=True)
class _ReadPlate:
    """A plate with its channels.

    Attributes:
        plate: its geometry.
        channels: of it.
        saturated: (N,) True around samples at the end of a channel's range.
        largest: [N] largest vertical force.
        has_moments: whether its moments are plausible.
    """

    plate: ForcePlate
    channels: PlateChannels
    saturated: np.ndarray
    largest: float
    has_moments: bool

    def wrench(self, frames: slice, samples: slice, vertical: np.ndarray) -> np.ndarray:
        """Wrenches (n, 6) in some frames, which hold these samples; NaN where it is saturated."""
        values = self.plate.wrench(self.channels.read(frames), vertical)
        values[self.saturated[samples]] = np.nan
        return values


def _sample_rate(path: str | Path, content: C3dData, warn: Warn) -> tuple[float, int] | None:
    """Samples of the plates per second and per frame; None without samples or rate.

    Each frame stores a whole number of samples, so that the frame rate determines the sample rate.
    """
    rates = {group: _parameter_array(content.parameters, "RATE", (1,), group) for group in ("ANALOG", "POINT")}
    stated, rate = (float(rates[group][0, 0]) if rates[group].size else 0.0 for group in ("ANALOG", "POINT"))
    per_frame = content.samples_per_frame
    if rate > 0.0 and stated > 0.0 and abs(stated - per_frame * rate) > RATE_DIFFERENCE * stated:
        said = f"ANALOG:RATE is {stated:g} Hz, but each frame of {rate:g} Hz holds {per_frame} samples"
        warn(f"{Path(path).name}: {said}; {per_frame * rate:g} Hz is used")
    rate = per_frame * rate if rate > 0.0 else stated
    return (rate, per_frame) if content.sample_count and rate > 0.0 else None


def _has_moments(plate: ForcePlate, channels: np.ndarray) -> bool:
    """Whether moments about a loaded plate's sensor, in channels (N, 6) [N, N m], are large enough to be plausible."""
    if plate.kind not in (2, 4):
        return True
    if plate.calibration is not None:
        channels = channels @ plate.calibration.T
    vertical = np.abs(channels[:, 2])
    loaded = vertical > max(LOADED_FRACTION * np.nanmax(vertical), MIN_FORCE)
    levers = np.hypot(channels[loaded, 3], channels[loaded, 4]) / vertical[loaded]
    return not len(levers) or bool(np.nanmax(levers) > MIN_LEVER)


def _find_sign(path: str | Path, forces: np.ndarray, warn: Warn) -> int:
    """-1 if the file holds the body's reaction on the plates, else 1: together plates can only push a body up."""
    if not np.nanmean(forces[:, 2]) < -MIN_FORCE:
        return 1
    warn(f"{Path(path).name}: its plates hold the force on the plate; its reaction is used")
    return -1


def _check_centres_inside(
    path: str | Path, plates: Sequence[ForcePlate], rotation: np.ndarray, wrenches: Wrenches, warn: Warn
) -> None:
    """Warn of centres of pressure outside their plate."""
    centres = centres_of_pressure(spread(wrenches)).transpose(1, 0, 2)
    for plate, points in zip(plates, centres):  # the readable plates come first
        points = points[np.isfinite(points).all(axis=1)]
        corners = plate.corners @ rotation.T
        low, high = corners.min(axis=0)[:2] - OUTSIDE_MARGIN, corners.max(axis=0)[:2] + OUTSIDE_MARGIN
        middle = np.median(points[:, :2], axis=0) if len(points) else 0.5 * (low + high)
        if not np.all((middle > low) & (middle < high)):
            warn(f"{Path(path).name}: the centre of pressure of {plate.name} is outside the plate")


def _plate_parameter(parameters: Parameters, name: str, k: int) -> np.ndarray | None:
    """One plate's value of a parameter; None if it is missing, of another shape, too short or not finite."""
    values = _parameter_array(parameters, name, PARAMETER_SHAPES[name])
    value = values[..., k] if values.shape[-1] > k else None
    return value if value is not None and np.isfinite(value).all() else None


def _parameter_array(
    parameters: Parameters, name: str, shape: tuple[int, ...], group: str = PLATFORM_GROUP
) -> np.ndarray:
    """A numeric parameter as (*shape, count); count is zero if it is missing or of another shape."""
    value = parameters.get(group, {}).get(name)
    if not isinstance(value, np.ndarray) or value.size == 0 or value.size % np.prod(shape):
        return np.zeros((*shape, 0))
    return value.reshape(*shape, -1, order="F")


@dataclass(frozen=True, slots=True)
class UnreadablePlate:
    """A plate that cannot be read.

    Attributes:
        index: among the plates that the file names, from 0.
        kind: C3D type; None if it is unknown or its channels cannot be read.
        problem: what is wrong with it.
        calibration: (6, 6) matrix of type 4, if present.
    """

    index: int
    kind: int | None
    problem: str
    calibration: np.ndarray | None = None


def plate_name(number: int) -> str:
    """Name of a plate by its index in the file, from 0."""
    return f"plate_{number + 1}"


def find_lost_samples(
    path: str | Path,
    content: C3dData,
    unreadable: Sequence[UnreadablePlate],
    unit_in_metres: float,
    rate: float,
    warn: Warn,
) -> np.ndarray | None:
    """Samples (N,) during or close to which unreadable plates carry load; None if that cannot be determined.

    The size of a force does not depend on the position of its plate, so that no geometry is needed to detect a load.
    """
    result = np.zeros(content.sample_count, bool)
    for plate in unreadable:
        said = f"{Path(path).name}: {plate_name(plate.index)} cannot be read ({plate.problem})"
        if (loaded := _find_loaded_samples(path, content, plate, unit_in_metres)) is None:
            more = f", nor {len(unreadable) - 1} other(s)" if len(unreadable) > 1 else ""
            warn(f"{said}{more}, and whether it carried load is unknown: no forces are read from this file")
            return None
        if loaded.any():
            loaded = widen_samples(loaded, rate)
            warn(f"{said}; the {int(loaded.sum())} of {len(loaded)} samples around its loads are left out")
        else:
            warn(f"{said} and is left out; it never carried {CONTACT_FORCE:g} N, so the others give the total force")
        result |= loaded
    return result


def _find_loaded_samples(
    path: str | Path, content: C3dData, plate: UnreadablePlate, unit_in_metres: float
) -> np.ndarray | None:
    """Samples (N,) in which a plate carries load; None if its channels do not determine it."""
    try:
        if plate.kind not in CHANNEL_COUNTS or (plate.kind == 4 and plate.calibration is None):
            raise InvalidValue("its channels have no known meaning")
        found = read_plate_channels(path, content, plate.index, plate.kind, unit_in_metres, ignore_warning)
    except InvalidValue:
        return None if _has_signal(content, plate.index) else np.zeros(content.sample_count, bool)
    square = np.array([[1.0, 1.0, 0.0], [-1.0, 1.0, 0.0], [-1.0, -1.0, 0.0], [1.0, -1.0, 0.0]])  # any, for the size
    anywhere = ForcePlate(plate_name(plate.index), plate.kind, square, np.zeros(3), plate.calibration)
    force = anywhere.wrench(found.read_all(), np.array([0.0, 0.0, 1.0]))[:, :3]
    return ~(np.linalg.norm(force, axis=1) < CONTACT_FORCE)  # NaN counts as load


def _has_signal(content: C3dData, number: int) -> bool:
    """Whether any channel of a plate differs from zero; True if its channels cannot be found."""
    try:
        samples = content.analogs(channels=find_channels(content, number))
    except InvalidValue:
        return True
    return bool((samples != 0.0).any())
