"""The datagrams of a live stream, byte for byte as docs/capture.md has them: version 1, little-endian.

A stream declares once what its samples hold (`Layout`, sent again every second, so that who comes later understands it)
and then sends numbers only. SI units, world z up, quaternions xyzw.
"""

from __future__ import annotations

import math
import struct
import zlib
from dataclasses import dataclass, field

import numpy as np

from ..arrays import find_repeated
from ..errors import InvalidValue
from ..motion import POSE

MAGIC, VERSION = b"EDMC", 1
HEADER_FORMAT = struct.Struct("<4sBBHIId")
"""Magic, version, kind, number of names, layout, sequence number, time [s]."""
LAYOUT_FORMAT = struct.Struct("<BBHf")
"""Of a layout, before its names: quantity, whether a root's pose goes first, zero, samples a second."""
LAYOUT, SAMPLE, END = 0, 1, 2
"""Kinds of datagrams."""
MARKERS, SEGMENTS, JOINTS = "markers", "segments", "joints"
QUANTITIES = {MARKERS: 3, SEGMENTS: POSE, JOINTS: 1}
"""Numbers of each name: a place [m]; a quaternion xyzw and a place [m]; an angle [rad] or a length [m]."""
MAX_BYTES = 65_507
"""Bytes that UDP carries at once."""
MAX_NAMES, MAX_NAME_BYTES = 4096, 255
SEQUENCE_MODULUS = 1 << 32
"""Sequence numbers begin again at 0 after it."""
FLOAT = np.dtype("<f4")


class InvalidDatagram(InvalidValue):
    """A datagram that is none of ours; says why."""


class LayoutMissing(InvalidDatagram):
    """A datagram that came before its stream declared what samples hold: nothing is wrong with it."""


@dataclass(frozen=True, slots=True)
class Layout:
    """What the samples of a stream hold.

    Attributes:
        quantity: ``"markers"``, ``"segments"`` or ``"joints"``.
        names: C of them, unique, in the order of the numbers.
        root: whether the pose of the root, position [m] and quaternion xyzw, goes before joint values.
        rate: [1/s] samples are meant to come at; 0 where nobody knows.
    """

    quantity: str
    names: tuple[str, ...]
    root: bool = False
    rate: float = 0.0
    checksum: int = field(init=False, default=0)
    """By which samples say that they are of this layout: the CRC-32 of its body."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(self.names))
        if self.quantity not in QUANTITIES:
            raise InvalidValue(f"a stream holds {', '.join(QUANTITIES)}, not {self.quantity!r}")
        if not 0 < len(self.names) <= MAX_NAMES:
            raise InvalidValue(f"a stream has 1 to {MAX_NAMES} names, not {len(self.names)}")
        if twice := find_repeated(self.names):
            raise InvalidValue(f"names of a stream are unique; twice: {', '.join(twice)}")
        long = [name for name in self.names if not 0 < len(name.encode()) <= MAX_NAME_BYTES]
        if long:
            raise InvalidValue(f"a name has 1 to {MAX_NAME_BYTES} bytes, not {long[0][:40]!r}")
        if self.root and self.quantity != JOINTS:
            raise InvalidValue("only joint values go with the pose of the root")
        if not (math.isfinite(self.rate) and self.rate >= 0.0):
            raise InvalidValue(f"samples a second are 0 or more, not {self.rate:g}")
        if HEADER_FORMAT.size + max(self.size * FLOAT.itemsize, len(self.body)) > MAX_BYTES:
            raise InvalidValue(f"{len(self.names)} names do not fit into a datagram of {MAX_BYTES} bytes")
        object.__setattr__(self, "checksum", zlib.crc32(self.body))

    @property
    def size(self) -> int:
        """Numbers of a sample."""
        return POSE * self.root + QUANTITIES[self.quantity] * len(self.names)

    @property
    def body(self) -> bytes:
        """What follows the header."""
        names = [name.encode() for name in self.names]
        fixed = LAYOUT_FORMAT.pack(tuple(QUANTITIES).index(self.quantity), self.root, 0, self.rate)
        return fixed + b"".join(bytes([len(name)]) + name for name in names)


@dataclass(frozen=True, slots=True)
class Sample:
    """One instant.

    Attributes:
        sequence: one more than that of the sample before, modulo `SEQUENCE_MODULUS`.
        time: [s] of the sender's clock.
        values: (n,) as the layout has them; NaN where not measured.
    """

    sequence: int
    time: float
    values: np.ndarray


@dataclass(frozen=True, slots=True)
class EndOfStream:
    """The stream is over.

    Attributes:
        sequence: that the next sample would have had.
    """

    sequence: int


@dataclass(frozen=True, slots=True)
class LayoutDeclaration:
    """What samples will hold.

    Attributes:
        layout: of them.
        sequence: of the next one.
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
        raise InvalidValue(f"a sample holds {np.shape(sample.values)} values, its layout says ({layout.size},)")
    values = np.asarray(sample.values).astype(FLOAT)
    return _pack_header(layout, SAMPLE, sample.sequence, sample.time) + values.tobytes()


def end_datagram(layout: Layout, sequence: int, time: float) -> bytes:
    """The datagram that says that no sample follows."""
    return _pack_header(layout, END, sequence, time)


def layout_checksum(data: bytes) -> int:
    """The number of the layout that a datagram belongs to; 0 where it is too short to have one."""
    return int(HEADER_FORMAT.unpack_from(data)[4]) if len(data) >= HEADER_FORMAT.size else 0


def read_datagram(data: bytes, layout: Layout | None) -> LayoutDeclaration | Sample | EndOfStream:
    """What a datagram says.

    Args:
        data: as it came.
        layout: of the stream; None as long as none was declared.

    Raises:
        Garbled: it is none of ours, cut off, of another version, or of another layout.
        Early: no layout was declared yet.
    """
    if len(data) < HEADER_FORMAT.size or data[:4] != MAGIC:
        raise InvalidDatagram("no datagram of a motion stream")
    _, version, kind, count, number, sequence, time = HEADER_FORMAT.unpack_from(data)
    if version != VERSION:
        raise InvalidDatagram(f"a datagram of version {version}; version {VERSION} is understood")
    if kind == LAYOUT:
        return LayoutDeclaration(_read_layout(data, count), sequence)
    if kind not in (SAMPLE, END):
        raise InvalidDatagram(f"a datagram of the unknown kind {kind}")
    if layout is None:
        raise LayoutMissing("samples come before their names, which follow within a second")
    if number != layout.checksum or count != len(layout.names):
        raise InvalidDatagram("a sample of another stream, which holds other names")
    if kind == END:
        return EndOfStream(sequence)
    if len(data) != HEADER_FORMAT.size + layout.size * FLOAT.itemsize:
        raise InvalidDatagram(f"a sample of {len(data)} bytes, where its layout makes {layout.size} numbers")
    if not math.isfinite(time):
        raise InvalidDatagram("a sample without a time")
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
                raise InvalidDatagram("a declaration that is cut off")
            names.append(name.decode())
            place += 1 + length
        return Layout(tuple(QUANTITIES)[quantity], tuple(names), bool(root), rate)
    except InvalidDatagram:
        raise
    except (struct.error, IndexError, UnicodeDecodeError, InvalidValue) as error:
        raise InvalidDatagram(f"a declaration that cannot be read ({error})") from None


__all__ = [
    "JOINTS",
    "MARKERS",
    "SEGMENTS",
    "SEQUENCE_MODULUS",
    "EndOfStream",
    "InvalidDatagram",
    "Layout",
    "LayoutDeclaration",
    "LayoutMissing",
    "Sample",
    "end_datagram",
    "layout_checksum",
    "layout_datagram",
    "read_datagram",
    "sample_datagram",
]
