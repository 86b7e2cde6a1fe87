"""Analog channels of a C3D file's force plates: in SI units, less their baseline, with saturated samples found."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..base.errors import InvalidValue
from ..base.file_arrays import map_slices
from .c3d_format import C3dData
from .force_plates import CHANNEL_COUNTS, ForcePlate
from .text_files import Warn
from .wrench_checks import LOADED_FRACTION

PLATFORM_GROUP = "FORCE_PLATFORM"
FRAMES = 1024
"""Frames whose wrenches are computed at once. Chosen on eight plates at 1,000 Hz, of which they take 4 MB."""
MARGIN = 0.06
"""[s] Left out on either side of unreadable samples, so that the gap is longer than any that is bridged later."""
FORCE_UNITS = {"n": 1.0, "newton": 1.0, "newtons": 1.0, "kn": 1e3}
"""By definition."""
MOMENT_UNITS = {"nmm": 1e-3, "nm": 1.0, "ncm": 1e-2, "newtonmillimeters": 1e-3, "newtonmeters": 1.0}
"""By definition."""
MAX_BASELINE_LOAD = 0.1
"""A baseline is used if its vertical force stays below this fraction of the largest one. Measured on the recordings of
`axes_and_units.AXIS_DOMINANCE`: a tenth and ten times the value read the same."""
MIN_PLATEAU_SAMPLES = 8
"""Samples for which a channel must stay at its extreme to count as saturated. Measured on the recordings of
`axes_and_units.AXIS_DOMINANCE`: a tenth and ten times the value read the same."""
MIN_PLATEAU_RATIO = 4
"""A plateau must last this many times longer than the channel stays at any other value under load. Measured on the
recordings of `axes_and_units.AXIS_DOMINANCE`: twice the value reads the same, half of it takes two sound recordings for
saturated."""


@dataclass(frozen=True, slots=True)
class PlateChannels:
    """Channels of a plate.

    Attributes:
        content: of the file.
        columns: (c,) of the channels among all of the file.
        factors: (c,) from the file's units to N, N m and m; 1 for type 4, whose channels stay as recorded.
        baseline: (c,) of the unloaded plate, which is subtracted.
    """

    content: C3dData
    columns: np.ndarray
    factors: np.ndarray
    baseline: np.ndarray

    def read(self, frames: slice) -> np.ndarray:
        """Samples (n, c) of some frames."""
        return self.content.analogs(frames, self.columns) * self.factors - self.baseline

    def read_all(self) -> np.ndarray:
        """All samples (N, c), in a file if they are long."""
        return map_slices(self.content.frames.count, self.read, FRAMES)


def read_plate_channels(
    path: str | Path, content: C3dData, index: int, kind: int, unit_in_metres: float, warn: Warn
) -> PlateChannels:
    """Channels of a plate by its number in the file, from 0, and its type.

    Raises:
        InvalidValue: the file does not hold them, or a force has an unknown unit.
    """
    columns = find_channels(content, index, CHANNEL_COUNTS[kind])
    factors = np.ones(len(columns))
    if kind != 4:
        units = [str(unit) for unit in content.parameters["ANALOG"].get("UNITS", ())]
        of_channel = [units[n] if n < len(units) else "" for n in columns]
        for i, unit in enumerate(of_channel):
            factors[i] = _si_factor(path, unit, i, (index, kind), unit_in_metres, warn)
    return PlateChannels(content, columns, factors, np.zeros(len(columns)))


def find_channels(content: C3dData, index: int, count: int | None = None) -> np.ndarray:
    """Indices of the channels of a plate, ``count`` of them or all that it has.

    Raises:
        InvalidValue: the file does not name or hold them.
    """
    value, held = content.parameters[PLATFORM_GROUP].get("CHANNEL"), len(content.scaling[0])
    table = np.zeros((0, 0))
    if isinstance(value, np.ndarray) and value.size:
        table = value.reshape(len(value), -1, order="F")
    numbers = table[:count, index].astype(int) if table.shape[1] > index else np.zeros(0, int)
    numbers = numbers[numbers != 0] if count is None else numbers
    if len(numbers) < (count or 1):
        raise InvalidValue(f"{PLATFORM_GROUP}:CHANNEL does not name its {count or ''} channels")
    if numbers.min() < 1 or numbers.max() > held:
        odd = numbers.min() if numbers.min() < 1 else numbers.max()
        raise InvalidValue(f"it uses channel {odd}, the file has {held}")
    return numbers - 1


def _si_factor(
    path: str | Path, unit: str, index: int, plate: tuple[int, int], unit_in_metres: float, warn: Warn
) -> float:
    """Factor from the unit of a plate's (number, type) channel to SI."""
    number, kind = plate
    plain = unit.strip().lower().replace(".", "").replace("*", "").replace("-", "").replace(" ", "")
    if kind == 1 and index in (3, 4):
        return unit_in_metres
    if kind != 3 and index >= 3:
        if plain in MOMENT_UNITS:
            return MOMENT_UNITS[plain]
        called = f"plate_{number + 1} moments have unit {unit!r}"
        warn(f"{Path(path).name}: {called}; newtons times the unit of length are assumed")
        return unit_in_metres
    if plain in FORCE_UNITS or not plain:
        return FORCE_UNITS.get(plain, 1.0)
    raise InvalidValue(f"a force channel has the unit {unit!r} (ANALOG:UNITS), not newtons")


def find_baseline(channels: PlateChannels, samples: np.ndarray, plate: ForcePlate, warn: Warn) -> np.ndarray:
    """Mean (c,) of all samples (N, c) in the frames of FORCE_PLATFORM:ZERO; zero if the plate is loaded in these."""
    value = channels.content.parameters.get(PLATFORM_GROUP, {}).get("ZERO")
    zero = np.ravel(value) if isinstance(value, np.ndarray) and value.size >= 2 else np.zeros(2)
    first, last = (int(frame) for frame in zero[:2])
    per_frame = channels.content.samples_per_frame
    baseline = samples[max(first - 1, 0) * per_frame : last * per_frame]
    if first < 1 or not len(baseline):
        return channels.baseline
    vertical = slice(4, 8) if plate.kind == 3 else slice(2, 3)
    load = np.abs(samples[:, vertical].sum(axis=1))
    if np.abs(baseline[:, vertical].sum(axis=1)).max() > MAX_BASELINE_LOAD * load.max():
        name = f"{channels.content.path.name}: {plate.name}"
        warn(f"{name} is loaded in its baseline frames (ZERO); no baseline is subtracted")
        return channels.baseline
    return np.asarray(baseline.mean(axis=0))


def widen_samples(samples: np.ndarray, rate: float) -> np.ndarray:
    """Samples (N,) that are True, with all that lie within `MARGIN` of one of them."""
    around = np.ones(2 * int(np.ceil(MARGIN * rate)) + 1)
    return np.convolve(samples, around)[len(around) // 2 :][: len(samples)] > 0.0


def find_saturated(path: str | Path, channels: np.ndarray, plate: ForcePlate, rate: float, warn: Warn) -> np.ndarray:
    """Samples (N,) around those in which a channel is at the end of its range, so that the load was larger."""
    result = np.zeros(len(channels), bool)
    for channel in (channels if plate.kind != 1 else channels[:, :3]).T:
        result |= find_plateau(channel)
    if result.any():
        said = f"{int(result.sum())} of {len(result)} samples of {plate.name} are at the end of a channel's range"
        result = widen_samples(result, rate)
        warn(
            f"{Path(path).name}: {said}: the load was larger; the {int(result.sum())} samples around them are left out"
        )
    return result


def find_plateau(channel: np.ndarray) -> np.ndarray:
    """Samples (N,) of a channel (N,) that stay at its extreme value for much longer than at any other."""
    result = np.zeros(len(channel), bool)
    if len(channel) < 2 * MIN_PLATEAU_SAMPLES or not np.isfinite(channel).all():
        return result
    starts = np.concatenate([[0], 1 + np.flatnonzero(np.diff(channel))])
    lengths, levels = np.diff(starts, append=len(channel)), channel[starts]
    extreme = levels[np.argmax(np.abs(levels))]
    loaded = np.abs(levels) > LOADED_FRACTION * abs(extreme)
    at_end = levels == extreme
    others = lengths[loaded & ~at_end]
    if not len(others) or lengths[at_end].max() < max(MIN_PLATEAU_SAMPLES, MIN_PLATEAU_RATIO * others.max()):
        return result
    for start, length in zip(starts[at_end], lengths[at_end]):
        result[start : start + length] = length > 1
    return result
