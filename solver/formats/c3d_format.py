"""The C3D binary format: parameter records and the data section.

No native library is used, because the available ones crash the process on damaged files.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path

import numpy as np

from ..base.errors import InputError
from ..base.files import check_file, first_bytes

C3D_KEY = 0x50
"""By the C3D format."""
DEC = 85
"""By the C3D format."""
BYTE_ORDERS = {84: "<", DEC: "<", 86: ">"}
"""By processor: Intel, DEC, MIPS. By the C3D format."""
TEXT, BYTE, INTEGER, REAL = -1, 1, 2, 4
"""Type codes of parameters; their absolute values are sizes in bytes."""
MAX_DIMENSIONS = 7
"""By the C3D format."""
RATE_DIFFERENCE = 1e-3
"""Relative difference between two statements of one rate above which a warning is given. Measured on the recordings of
`axes_and_units.AXIS_DOMINANCE`: a tenth and ten times the value read the same."""

Parameters = Mapping[str, Mapping[str, np.ndarray | tuple[str, ...]]]
"""Values by group and name, both in capitals: arrays in the file's shape (first index fastest), or strings."""
COUNTER_MAX = 0xFFFF
"""Largest value of a 16-bit counter; a counter with this value is exhausted and ignored. By the C3D format."""
BLOCK_BYTES = 512
"""By the C3D format."""
FRAMES_AT_ONCE = 256
"""Frames that are decoded at once. Chosen on 60 markers and eight plates at 1,000 Hz, of which they take 1.5 MB."""
REMEDY = "The file is damaged: export or copy it again"
LONG_REMEDY = "Export the trial again, split into parts if it is very long"

Group = Mapping[str, np.ndarray | tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class C3dData:
    """A C3D file as stored; its points and samples are read from the file when they are needed.

    Attributes:
        path: of the file.
        parameters: by group and name.
        frames: number and first of the frames, and harmless violations of the format.
        layout: of the data section.
        samples_per_frame: of each channel.
        scaling: offset and scale (C,) of each channel, from what is stored to ANALOG:UNITS.
    """

    path: Path
    parameters: Parameters
    frames: FrameRange
    layout: DataLayout
    samples_per_frame: int
    scaling: tuple[np.ndarray, np.ndarray]

    @property
    def sample_count(self) -> int:
        """Number of samples of each channel."""
        return self.frames.count * self.samples_per_frame

    def points(self, frames: slice = slice(None)) -> np.ndarray:
        """Points (n, M, 3) of some frames in POINT:UNITS; NaN where the file marks a point as invalid."""
        stored = self._read(frames, np.arange(4 * self.layout.points), unsigned=False)
        stored = stored.reshape(len(stored), self.layout.points, 4)
        positions = stored[:, :, :3] * self.layout.scale
        positions[~(stored[:, :, 3] >= 0.0)] = np.nan
        return positions

    def analogs(self, frames: slice = slice(None), channels: np.ndarray | None = None) -> np.ndarray:
        """Samples (n r, C) of some channels (None: all) and frames in ANALOG:UNITS, r of them a frame."""
        offset, scale = self.scaling
        channels = np.arange(len(scale)) if channels is None else channels
        if not len(channels):
            return np.zeros((0, 0))
        firsts = np.arange(4 * self.layout.points, self.layout.width, len(scale))
        stored = self._read(frames, (firsts[:, None] + channels).reshape(-1), unsigned=self.layout.unsigned)
        return (stored.reshape(-1, len(channels)) - offset[channels]) * scale[channels]

    def _read(self, frames: slice, columns: np.ndarray, *, unsigned: bool) -> np.ndarray:
        """Some numbers (n, columns) of some frames as stored."""
        layout, chosen = self.layout, range(*frames.indices(self.frames.count))
        rows, step = [np.empty((0, len(columns)))], FRAMES_AT_ONCE if chosen.step == 1 else 1
        with self.path.open("rb") as stream:
            for start in range(0, len(chosen), step):
                run = chosen[start : start + step]
                stream.seek(layout.start + run[0] * layout.width * layout.size)
                raw = stream.read(len(run) * layout.width * layout.size)
                if len(raw) < len(run) * layout.width * layout.size:
                    raise InputError(self.path, "was cut short while it was read", remedy=REMEDY)
                rows.append(layout.decode(raw, columns, unsigned))
        return np.concatenate(rows)


@dataclass(frozen=True, slots=True)
class DataLayout:
    """How the data section is stored.

    Attributes:
        start: [bytes] from the beginning of the file.
        processor: of the numbers.
        size: [bytes] of a number.
        points: points a frame.
        width: numbers a frame.
        scale: of the points.
        unsigned: whether integer samples are unsigned.
    """

    start: int
    processor: int
    size: int
    points: int
    width: int
    scale: float
    unsigned: bool

    def decode(self, raw: bytes, columns: np.ndarray, unsigned: bool) -> np.ndarray:
        """Some numbers of whole frames (n, columns)."""
        if self.size == REAL:
            picked = np.frombuffer(raw, "V4").reshape(-1, self.width)[:, columns]
            return decode_floats(picked.tobytes(), self.processor).reshape(picked.shape)
        table = np.frombuffer(raw, f"{BYTE_ORDERS[self.processor]}{'u' if unsigned else 'i'}2")
        return table.reshape(-1, self.width)[:, columns].astype(float)


def read_c3d_data(path: str | Path) -> C3dData:
    """Read the parameters of a C3D file (Intel, DEC or MIPS numbers; integer or real data).

    Raises:
        InputError: header, parameter records or data section contradict the file's size or each other.
    """
    total, content = check_file(path), first_bytes(path, COUNTER_MAX * BLOCK_BYTES)
    if len(content) < 2 * BLOCK_BYTES or content[1] != C3D_KEY or content[0] < 2:
        raise InputError(path, "is not a C3D file", place="header", remedy="Check that its suffix matches its format")
    start = (content[0] - 1) * BLOCK_BYTES
    if start + 4 > len(content):
        raise InputError(path, "the parameter section is beyond the end of the file", place="header", remedy=REMEDY)
    blocks, processor = content[start + 2], content[start + 3]
    if processor not in BYTE_ORDERS:
        raise InputError(path, f"processor type {processor} is unknown", place="parameter section", remedy=REMEDY)
    order = BYTE_ORDERS[processor]
    (data_block,) = struct.unpack(f"{order}H", content[16:18])
    data = (data_block - 1) * BLOCK_BYTES
    if not start < data <= total:
        problem = f"the data section starts at block {data_block}, outside the file"
        raise InputError(path, problem, place="header", remedy=REMEDY)
    parameters, end = _read_parameters(path, content, start + 4, data, processor)
    oddities: tuple[str, ...] = ()
    if blocks and end > start + blocks * BLOCK_BYTES:
        oddities = (f"the parameters are longer than the {blocks} blocks declared for them",)
    oddities += _compare_rates(content, processor, parameters)
    found = _describe_data(Path(path), content, (data, total), processor, parameters)
    return replace(found, frames=replace(found.frames, warnings=oddities + found.frames.warnings))


def _compare_rates(content: bytes, processor: int, parameters: Parameters) -> tuple[str, ...]:
    """A warning if the frame rates in header and parameters differ."""
    header, stated = decode_floats(content[20:24], processor)[0], parameters.get("POINT", {}).get("RATE")
    if not isinstance(stated, np.ndarray) or not stated.size or not np.isfinite(header) or header <= 0.0:
        return ()
    rate = float(np.ravel(stated)[0])
    if not rate > 0.0 or abs(header - rate) <= RATE_DIFFERENCE * rate:
        return ()
    return (f"the header states {header:g} frames a second, POINT:RATE {rate:g}; the latter is used",)


def decode_floats(raw: bytes, processor: int) -> np.ndarray:
    """Decode four-byte floating-point numbers of a processor; DEC's are IEEE numbers with swapped words, times four."""
    if processor == DEC:
        words = np.frombuffer(raw, "<u2").reshape(-1, 2)[:, ::-1]
        return np.ascontiguousarray(words).view("<f4").reshape(-1).astype(float) / 4.0
    return np.frombuffer(raw, f"{BYTE_ORDERS[processor]}f4").astype(float)


def _read_parameters(
    path: str | Path, content: bytes, position: int, limit: int, processor: int
) -> tuple[Parameters, int]:
    """Read the chain of group and parameter records from ``position``; also where it ends, at most ``limit``."""
    order = BYTE_ORDERS[processor]
    groups: dict[int, str] = {}
    found: dict[int, dict[str, np.ndarray | tuple[str, ...]]] = {}
    while position + 2 <= limit:
        length, group = struct.unpack("bb", content[position : position + 2])
        after_name = position + 2 + abs(length)
        if length == 0:
            break
        if after_name + 2 > limit or group == 0:
            raise InputError(path, "the parameter records have no end", place=f"byte {position}", remedy=REMEDY)
        name = content[position + 2 : after_name].decode("latin-1").upper()
        (offset,) = struct.unpack(f"{order}h", content[after_name : after_name + 2])
        stop = after_name + offset if offset else limit
        if not name.isprintable() or 0 != offset < 3 or stop > limit:
            raise _record_error(path, name, position)
        if group > 0:
            body = content[after_name + 2 : stop]
            found.setdefault(group, {})[name] = _read_value(path, body, name, position, processor)
        else:
            groups[-group] = name
        position = stop
        if offset == 0:
            break
    return {groups[number]: values for number, values in found.items() if number in groups}, position


def _read_value(
    path: str | Path, body: bytes, name: str, position: int, processor: int
) -> np.ndarray | tuple[str, ...]:
    """Read the value of one parameter, which must fit into its record."""
    if len(body) < 2:
        raise _record_error(path, name, position)
    kind, dimensions = struct.unpack("bb", body[:2])
    if kind not in (TEXT, BYTE, INTEGER, REAL) or not 0 <= dimensions <= MAX_DIMENSIONS:
        raise _record_error(path, name, position)
    shape = tuple(body[2 : 2 + dimensions])
    raw = body[2 + dimensions : 2 + dimensions + abs(kind) * prod(shape)]
    if len(shape) < dimensions or len(raw) < abs(kind) * prod(shape):
        raise _record_error(path, name, position)
    if kind == TEXT:
        width = shape[0] if shape else 1
        texts = [raw[i * width : (i + 1) * width] for i in range(prod(shape[1:]) if width else 0)]
        return tuple(_decode_text(text) for text in texts)
    order = BYTE_ORDERS[processor]
    flat = decode_floats(raw, processor) if kind == REAL else np.frombuffer(raw, "i1" if kind == BYTE else f"{order}i2")
    return flat.reshape(shape or (1,), order="F")


def _describe_data(
    path: Path, content: bytes, section: tuple[int, int], processor: int, parameters: Parameters
) -> C3dData:
    """The layout of points and analog samples in a data section (start, end) [bytes], and the range of frames."""
    order = BYTE_ORDERS[processor]
    points, per_frame, first, last = struct.unpack(f"{order}4H", content[2:10])
    point, analog = parameters.get("POINT", {}), parameters.get("ANALOG", {})
    used = int(read_count(path, point, "POINT:USED", points))
    channels = int(read_count(path, analog, "ANALOG:USED", 0)) if per_frame else 0
    if used != points or (per_frame > 0) != (channels > 0) or (channels and per_frame % channels):
        problem = (
            f"the header counts {points} points and {per_frame} samples a frame, the parameters {used} and {channels}"
        )
        raise InputError(path, problem, place="header", remedy=REMEDY)
    start, width, none = section[0], 4 * points + per_frame, (np.zeros(0), np.zeros(0))
    if not width:
        layout = DataLayout(start, processor, REAL, 0, 0, 1.0, False)
        return C3dData(path, parameters, FrameRange(first, 0), layout, 0, none)
    scale = _point_scale(content, processor, point) if points else _analog_scale(path, content, processor, analog)
    room, trial = section[1] - start, parameters.get("TRIAL", {})
    size, warnings = REAL if scale < 0.0 else INTEGER, tuple[str, ...]()
    other = INTEGER + REAL - size
    if not is_exact_size((first, last), trial, point, (room, width * size)) and is_exact_size(
        (first, last), trial, point, (room, width * other)
    ):
        size, kind = other, "real numbers" if other == REAL else "integers"
        warnings = (f"by the size of the file its data are {kind}, although the scale {scale:g} says otherwise",)
    if size == INTEGER and points and not scale:
        problem = "the scale of the points is missing or zero, and the data are integers"
        raise InputError(
            path, problem, place="POINT:SCALE", remedy="Export the trial again, as real numbers if possible"
        )
    counted = count_frames(path, (first, last), trial, point, (room, width * size))
    formats = analog.get("FORMAT", ())
    unsigned = bool(len(formats)) and isinstance(formats[0], str) and formats[0].upper().startswith("U")
    layout = DataLayout(start, processor, size, points, width, 1.0 if size == REAL else abs(scale), unsigned)
    counted = replace(counted, warnings=warnings + counted.warnings)
    scaling = _read_scaling(path, channels, analog, unsigned) if channels else none
    return C3dData(path, parameters, counted, layout, per_frame // max(channels, 1), scaling)


def _read_scaling(path: str | Path, channels: int, analog: Group, unsigned: bool) -> tuple[np.ndarray, np.ndarray]:
    """OFFSET and SCALE GEN_SCALE (C,) of the channels: a sample is (raw - OFFSET) SCALE GEN_SCALE."""
    offset = np.ravel(_require_numbers(path, analog, "ANALOG:OFFSET", channels))[:channels]
    scale = np.ravel(_require_numbers(path, analog, "ANALOG:SCALE", channels))[:channels]
    general = np.ravel(_require_numbers(path, analog, "ANALOG:GEN_SCALE", 1))[0]
    if unsigned:
        offset = offset.astype("i2").astype("u2")
    return offset.astype(float), scale * general


def read_count(path: str | Path, group: Mapping[str, np.ndarray | tuple[str, ...]], name: str, default: int) -> int:
    """A count; C3D's integers are unsigned where a negative one would make no sense."""
    if name.partition(":")[2] not in group:
        return default
    return int(np.ravel(_require_numbers(path, group, name, 1))[0]) & COUNTER_MAX


def _require_numbers(
    path: str | Path, group: Mapping[str, np.ndarray | tuple[str, ...]], name: str, count: int
) -> np.ndarray:
    """A parameter that must be present with at least ``count`` numbers; those beyond 255 are in NAME2, NAME3 ..."""
    key, number = name.partition(":")[2], 2
    value = group.get(key)
    while (
        isinstance(value, np.ndarray)
        and value.size < count
        and isinstance(more := group.get(f"{key}{number}"), np.ndarray)
    ):
        value, number = np.concatenate([np.ravel(value), np.ravel(more)]), number + 1
    if not isinstance(value, np.ndarray) or value.size < count or not np.isfinite(value).all():
        problem = f"{name} does not hold {count} number{'s' if count > 1 else ''}"
        raise InputError(path, problem, place="parameter section", remedy=REMEDY)
    return value


def _point_scale(content: bytes, processor: int, point: Mapping[str, np.ndarray | tuple[str, ...]]) -> float:
    """POINT:SCALE or, if that is missing or zero, the header's scale; negative for real numbers, 0 where neither is."""
    stated = point.get("SCALE")
    found = float(np.ravel(stated)[0]) if isinstance(stated, np.ndarray) and stated.size else 0.0
    for scale in (found, float(decode_floats(content[12:16], processor)[0])):
        if np.isfinite(scale) and scale:
            return scale
    return 0.0


def _analog_scale(
    path: str | Path, content: bytes, processor: int, analog: Mapping[str, np.ndarray | tuple[str, ...]]
) -> float:
    """ANALOG:GEN_SCALE, negative if the header's point scale marks the data as real numbers."""
    sign = -1.0 if decode_floats(content[12:16], processor)[0] < 0.0 else 1.0
    return sign * float(np.ravel(_require_numbers(path, analog, "ANALOG:GEN_SCALE", 1))[0])


def _decode_text(raw: bytes) -> str:
    """Decode UTF-8, or else Latin-1, without padding."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
    return text.strip(" \0")


def _record_error(path: str | Path, name: str, record: int) -> InputError:
    return InputError(path, f"the record of parameter {name!r} is inconsistent", place=f"byte {record}", remedy=REMEDY)


@dataclass(frozen=True, slots=True)
class FrameRange:
    """Range of a file's frames.

    Attributes:
        first: number of the first one, from 1.
        count: how many.
        warnings: harmless violations of the format.
    """

    first: int
    count: int
    warnings: tuple[str, ...] = ()


def count_frames(
    path: str | Path, header: tuple[int, int], trial: Group, point: Group, byte_counts: tuple[int, int]
) -> FrameRange:
    """The frames that the counters and the file's size agree on.

    A counter may be exhausted (65535), may have wrapped around, or may be missing. A counter that agrees with the size
    of the data to the last block is used; otherwise the file must be large enough for the largest count.

    Args:
        path: the file.
        header: first and last frame in the header.
        trial, point: parameters of TRIAL and POINT.
        byte_counts: [bytes] from the start of the data to the end of the file, and of one frame.

    Raises:
        InputError: the counters contradict each other and the file's size, or the data are cut short.
    """
    room, size = byte_counts
    stated, first = _stated_counts(header, trial, point)
    held = room // size
    if exact := _exact_counts(stated, room, size):
        return FrameRange(first, exact[0])
    if not stated and held:
        return FrameRange(first, held, ("its frames are counted from the file size: no counter is valid",))
    counts = set(stated.values())
    most = max(counts, default=0)
    said = ", ".join(f"{source} {count}" for source, count in stated.items()) or "no counter is valid"
    if most > held or min(counts, default=0) < 0:
        problem = f"{most} frames need {most * size} bytes, but only {room} are present ({said})"
        raise InputError(path, problem, place="data section", remedy=REMEDY)
    if len(counts) > 1 or most + COUNTER_MAX < held:
        problem = f"its counters and its size disagree on the number of frames ({said}; by size {held})"
        raise InputError(path, problem, place="header", remedy=LONG_REMEDY)
    return FrameRange(first, most)


def is_exact_size(header: tuple[int, int], trial: Group, point: Group, byte_counts: tuple[int, int]) -> bool:
    """Whether a counter agrees with the size of the data to the last block, for frames of this size; see above."""
    return bool(_exact_counts(_stated_counts(header, trial, point)[0], *byte_counts))


def _stated_counts(header: tuple[int, int], trial: Group, point: Group) -> tuple[dict[str, int], int]:
    """Numbers of frames by the counter that states them, and the number of the first frame."""
    first, last = header
    stated = {"the header": last - first + 1} if last != COUNTER_MAX else {}
    start, end = (_read_frame_count(trial.get(f"ACTUAL_{which}_FIELD")) for which in ("START", "END"))
    if end is not None:
        begin = first if start is None else start
        stated["TRIAL"] = end - begin + 1
        first = begin
    for name in ("LONG_FRAMES", "FRAMES"):
        number = _read_frame_count(point.get(name))
        if number and number != COUNTER_MAX:
            stated[f"POINT:{name}"] = number
    return stated, max(first, 1)  # some software counts from 0


def _exact_counts(stated: Mapping[str, int], room: int, size: int) -> list[int]:
    """Counts that fill the data to the last block."""
    return [count for count in stated.values() if 0 <= count <= room // size and room - count * size < BLOCK_BYTES]


def _read_frame_count(value: np.ndarray | tuple[str, ...] | None) -> int | None:
    """A number of frames: low and high word, or one number, whose integers are unsigned; real ones exceed 16 bits."""
    if not isinstance(value, np.ndarray) or not 0 < value.size <= 2 or not np.isfinite(value).all():
        return None
    if value.dtype.kind != "i":
        return round(float(np.ravel(value)[0])) if value.size == 1 else None
    low, high = (*(int(word) & COUNTER_MAX for word in np.ravel(value)), 0)[:2]
    return low + (high << 16)
