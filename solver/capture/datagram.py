"""Datagrams of a live stream, as specified byte for byte in docs/capture.md: version 1, little-endian.

A stream declares what its samples hold (`Layout`, repeated every second for late receivers) and otherwise sends only
numbers. SI units, world z up, quaternions xyzw.
"""

from __future__ import annotations

import math
import struct
import zlib
from dataclasses import dataclass, field

import numpy as np

from ..base.arrays import find_repeated
from ..base.errors import InvalidValue
from ..values.motion import POSE

MAGIC, VERSION = b"EDMC", 1
HEADER_FORMAT = struct.Struct("<4sBBHIId")
"""Magic, version, kind, number of names, layout, sequence number, time [s]."""
LAYOUT_FORMAT = struct.Struct("<BBHf")
"""Start of a layout, before its names: quantity, whether the root's pose comes first, zero, samples a second."""
LAYOUT, SAMPLE, END = 0, 1, 2
"""Kinds of datagrams."""
MARKERS, SEGMENTS, JOINTS = "markers", "segments", "joints"
QUANTITIES = {MARKERS: 3, SEGMENTS: POSE, JOINTS: 1}
"""Count of numbers per name: a position [m]; a quaternion xyzw and a position [m]; an angle [rad] or a length [m]. By
definition."""
MAX_BYTES = 65_507
"""[bytes] Largest UDP datagram. By definition of UDP over IPv4: 65,535 less 28 of the headers."""
MAX_NAMES, MAX_NAME_BYTES = 4096, 255
SEQUENCE_MODULUS = 1 << 32
"""Sequence numbers are modulo this. By definition of the 32 bits of a number."""
FLOAT = np.dtype("<f4")
TIME_RESOLUTION = 1e-4
"""[s] Time that a sender's clock has to resolve in double precision: about 30,000 years from its zero."""


class InvalidDatagram(InvalidValue):
    """A datagram is not valid; the text says why."""


class LayoutMissing(InvalidDatagram):
    """A valid datagram arrived before the declaration of its layout."""


@dataclass(frozen=True, slots=True)
class Layout:
    """What the samples of a stream hold.

    Attributes:
        quantity: ``"markers"``, ``"segments"`` or ``"joints"``.
        names: C of them, unique, in the order of the numbers.
        root: whether the pose of the root, position [m] and quaternion xyzw, goes before joint values.
        rate: [1/s] nominal sample rate; 0 if unknown.
    """

    quantity: str
    names: tuple[str, ...]
    root: bool = False
    rate: float = 0.0
    checksum: int = field(init=False, default=0)
    """CRC-32 of the body, by which samples refer to their layout."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(self.names))
        if self.quantity not in QUANTITIES:
            raise InvalidValue(f"a stream holds one of {', '.join(QUANTITIES)}, not {self.quantity!r}")
        if not 0 < len(self.names) <= MAX_NAMES:
            raise InvalidValue(f"a stream has 1 to {MAX_NAMES} names, not {len(self.names)}")
        if twice := find_repeated(self.names):
            raise InvalidValue(f"names of a stream must be unique; twice: {', '.join(twice)}")
        long = [name for name in self.names if not 0 < len(name.encode()) <= MAX_NAME_BYTES]
        if long:
            raise InvalidValue(f"a name has 1 to {MAX_NAME_BYTES} bytes, not {long[0][:40]!r}")
        if self.root and self.quantity != JOINTS:
            raise InvalidValue("only joint values can include the pose of the root")
        if not (math.isfinite(self.rate) and self.rate >= 0.0):
            raise InvalidValue(f"the sample rate must be 0 or more, got {self.rate:g}")
        if HEADER_FORMAT.size + max(self.size * FLOAT.itemsize, len(self.body)) > MAX_BYTES:
            raise InvalidValue(f"{len(self.names)} names do not fit into a datagram of {MAX_BYTES} bytes")
        object.__setattr__(self, "checksum", zlib.crc32(self.body))

    @property
    def size(self) -> int:
        """Numbers of a sample."""
        return POSE * self.root + QUANTITIES[self.quantity] * len(self.names)

    @property
    def body(self) -> bytes:
        """The bytes after the header."""
        names = [name.encode() for name in self.names]
        fixed = LAYOUT_FORMAT.pack(tuple(QUANTITIES).index(self.quantity), self.root, 0, self.rate)
        return fixed + b"".join(bytes([len(name)]) + name for name in names)


@dataclass(frozen=True, slots=True)
class Sample:
    """One instant.

    Attributes:
        sequence: one more than that of the previous sample, modulo `SEQUENCE_MODULUS`.
        time: [s] of the sender's clock.
        values: (n,) as in the layout; NaN where not measured.
    """

    sequence: int
    time: float
    values: np.ndarray


@dataclass(frozen=True, slots=True)
class EndOfStream:
    """The stream has ended.

    Attributes:
        sequence: that the next sample would have had.
    """

    sequence: int


@dataclass(frozen=True, slots=True)
class LayoutDeclaration:
    """Declaration of the layout of samples.

    Attributes:
        layout: of the samples.
        sequence: of the next sample.
    """

    layout: Layout
    sequence: int


def layout_datagram(layout: Layout, sequence: int, time: float) -> bytes:
    """The datagram that declares a layout."""
    return _pack_header(layout, LAYOUT, sequence, time) + layout.body


def sample_datagram(layout: Layout, sample: Sample) -> bytes:
    """The datagram of a sample.

    Raises:
        InvalidValue: it holds another number of values.
    """
    if np.shape(sample.values) != (layout.size,):
        raise InvalidValue(f"a sample holds {np.shape(sample.values)} values, but its layout has ({layout.size},)")
    values = np.asarray(sample.values).astype(FLOAT)
    return _pack_header(layout, SAMPLE, sample.sequence, sample.time) + values.tobytes()


def end_datagram(layout: Layout, sequence: int, time: float) -> bytes:
    """The datagram that ends a stream."""
    return _pack_header(layout, END, sequence, time)


def layout_checksum(data: bytes) -> int:
    """The checksum of the layout of a datagram; 0 if the datagram is too short."""
    return int(HEADER_FORMAT.unpack_from(data)[4]) if len(data) >= HEADER_FORMAT.size else 0


def read_datagram(data: bytes, layout: Layout | None) -> LayoutDeclaration | Sample | EndOfStream:
    """Decode a datagram.

    Args:
        data: as received.
        layout: of the stream; None if none was declared yet.

    Raises:
        InvalidDatagram: it is not a datagram of this format, truncated, of another version, or of another layout.
        LayoutMissing: no layout was declared yet.
    """
    if len(data) < HEADER_FORMAT.size or data[:4] != MAGIC:
        raise InvalidDatagram("not a datagram of a motion stream")
    _, version, kind, count, number, sequence, time = HEADER_FORMAT.unpack_from(data)
    if version != VERSION:
        raise InvalidDatagram(f"a datagram of version {version}; only version {VERSION} is supported")
    if kind == LAYOUT:
        return LayoutDeclaration(_read_layout(data, count), sequence)
    if kind not in (SAMPLE, END):
        raise InvalidDatagram(f"a datagram of the unknown kind {kind}")
    if layout is None:
        raise LayoutMissing("samples arrived before their names, which follow within a second")
    if number != layout.checksum or count != len(layout.names):
        raise InvalidDatagram("a sample of another stream with other names")
    if len(data) != HEADER_FORMAT.size + (layout.size * FLOAT.itemsize if kind == SAMPLE else 0):
        raise InvalidDatagram(f"a datagram of {len(data)} bytes, but a sample of its layout has {layout.size} numbers")
    if kind == END:
        return EndOfStream(sequence)
    if not (math.isfinite(time) and math.ulp(time) < TIME_RESOLUTION):
        raise InvalidDatagram(f"a sample at {time:g} s, which is no time of a clock")
    return Sample(sequence, time, np.frombuffer(data, FLOAT, offset=HEADER_FORMAT.size).astype(float))


def _pack_header(layout: Layout, kind: int, sequence: int, time: float) -> bytes:
    return HEADER_FORMAT.pack(
        MAGIC, VERSION, kind, len(layout.names), layout.checksum, sequence % SEQUENCE_MODULUS, time
    )


def _read_layout(data: bytes, count: int) -> Layout:
    place = HEADER_FORMAT.size + LAYOUT_FORMAT.size
    try:
        quantity, root, _, rate = LAYOUT_FORMAT.unpack_from(data, HEADER_FORMAT.size)
        names = []
        for _ in range(count):
            length = data[place]
            name = data[place + 1 : place + 1 + length]
            if len(name) != length:
                raise InvalidDatagram("a truncated declaration")
            names.append(name.decode())
            place += 1 + length
        return Layout(tuple(QUANTITIES)[quantity], tuple(names), bool(root), rate)
    except InvalidDatagram:
        raise
    except (struct.error, IndexError, UnicodeDecodeError, InvalidValue) as error:
        raise InvalidDatagram(f"a declaration that cannot be read ({error})") from None
