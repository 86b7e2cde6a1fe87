"""Streams of the Lab Streaming Layer (needs the library ``pylsl``), converted to datagrams of this program.

LSL searches streams on the whole local network, unless its configuration restricts it to this computer.
"""

from __future__ import annotations

import re
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base.errors import InvalidValue, MissingDependency
from .datagram import JOINTS, MARKERS, SEGMENTS, Layout, Sample, layout_datagram, sample_datagram
from .udp import Arrival

SEARCH_TIMEOUT = 5.0
"""[s] Longest search for a stream."""
CHUNK = 256
AXES = ("x", "y", "z")
QUATERNION_AXES = ("qx", "qy", "qz", "qw")
SUFFIX = re.compile(r"^(.+?)[\s._:-]?(q?[xyz]|qw)$", re.IGNORECASE)
LENGTH_UNITS = {"": 1.0, "m": 1.0, "meters": 1.0, "metres": 1.0, "mm": 1e-3, "millimeters": 1e-3, "cm": 1e-2}
"""By definition."""
ANGLE_UNITS = {"": 1.0, "rad": 1.0, "radians": 1.0, "deg": np.pi / 180.0, "degrees": np.pi / 180.0}
"""By definition."""
SOURCE = ("lsl", 0)


@dataclass(frozen=True, slots=True)
class Channels:
    """Mapping of a stream's channels to the numbers of a layout.

    Attributes:
        layout: of the samples.
        columns: (n,) channel of each number.
        factors: (n,) to SI.
    """

    layout: Layout
    columns: np.ndarray
    factors: np.ndarray

    def values(self, sample: Sequence[float]) -> np.ndarray:
        """The numbers of one sample."""
        return np.asarray(sample, float)[self.columns] * self.factors


def parse_channels(labels: Sequence[str], units: Sequence[str], rate: float) -> Channels:
    """Layout from the labels of a stream's channels.

    ``NAME_x``, ``_y``, ``_z`` are a marker, with ``NAME_qx`` to ``_qw`` a segment, and anything else joint values.

    Args:
        labels, units: of each channel; an empty unit means metres or radians.
        rate: [1/s]; 0 if the stream has none.

    Raises:
        InvalidValue: an unknown unit, or a name without some of its axes.
    """
    parts: dict[str, dict[str, int]] = {}
    for column, label in enumerate(labels):
        found = SUFFIX.match(label)
        if found is None:
            return _joint_channels(labels, units, rate)
        parts.setdefault(found[1], {})[found[2].lower()] = column
    turning = any("qw" in own for own in parts.values())
    wanted = (*QUATERNION_AXES, *AXES) if turning else AXES
    for name, own in parts.items():
        needed = QUATERNION_AXES if turning else AXES
        if lacking := [axis for axis in needed if axis not in own]:
            raise InvalidValue(f"channels of {name!r} lack {', '.join(lacking)}: their labels must name every axis")
    quantity = SEGMENTS if turning else MARKERS
    columns, factors = [], []
    for own in parts.values():
        for axis in wanted:
            column = own.get(axis, own[needed[0]])
            columns.append(column)
            missing = np.nan if axis not in own else 1.0
            factors.append(
                1.0 if axis in QUATERNION_AXES else missing * _unit_factor(units[column], LENGTH_UNITS, labels[column])
            )
    return Channels(Layout(quantity, tuple(parts), rate=rate), np.array(columns), np.array(factors))


def _joint_channels(labels: Sequence[str], units: Sequence[str], rate: float) -> Channels:
    known = LENGTH_UNITS | ANGLE_UNITS
    factors = [_unit_factor(unit, known, label) for unit, label in zip(units, labels)]
    return Channels(Layout(JOINTS, tuple(labels), rate=rate), np.arange(len(labels)), np.array(factors))


def _unit_factor(unit: str, known: dict[str, float], label: str) -> float:
    try:
        return known[unit.strip().lower()]
    except KeyError:
        units = ", ".join(filter(None, known))
        raise InvalidValue(f"channel {label!r} is in {unit!r}; known units are {units}") from None


class LslReceiver:
    """Receives samples of one LSL stream as datagrams, like `UdpReceiver`.

    Args:
        name: of the stream.

    Raises:
        MissingDependency: ``pylsl`` is not installed, or lacks its native library.
        InvalidValue: no stream of that name is found, or its channels have no labels.
    """

    overrun = 0

    def __init__(self, name: str) -> None:
        pylsl = _import_pylsl()
        found = pylsl.resolve_byprop("name", name, 1, SEARCH_TIMEOUT)
        if not found:
            others = ", ".join(sorted(info.name() for info in pylsl.resolve_streams(1.0))) or "none"
            raise InvalidValue(f"no LSL stream is named {name!r}; there are: {others}")
        self._inlet = pylsl.StreamInlet(found[0])
        info = self._inlet.info(SEARCH_TIMEOUT)
        labels, units = _read_description(info)
        self._channels = parse_channels(labels, units, float(info.nominal_srate()))
        self._sequence = 0
        self._waiting: deque[Arrival] = deque([self._arrival(layout_datagram(self._channels.layout, 0, 0.0))])

    def receive(self, timeout: float) -> list[Arrival]:
        """Wait for samples for at most ``timeout`` seconds, and return all that have arrived."""
        found = list(self._waiting)
        self._waiting.clear()
        first, came = self._inlet.pull_sample(timeout)  # pull_chunk would wait until the chunk is full
        samples, stamps = self._inlet.pull_chunk(0.0, CHUNK)
        if first is not None:
            samples, stamps = [first, *samples], [came, *stamps]
        for values, stamp in zip(samples, stamps):
            sample = Sample(self._sequence, float(stamp), self._channels.values(values))
            self._sequence += 1
            found.append(self._arrival(sample_datagram(self._channels.layout, sample)))
        return found

    def close(self) -> None:
        """Close the stream."""
        self._inlet.close_stream()

    @staticmethod
    def _arrival(data: bytes) -> Arrival:
        return Arrival(data, time.perf_counter(), SOURCE)


def _import_pylsl() -> Any:
    try:
        import pylsl
    except (ImportError, RuntimeError, OSError) as error:
        reason = "is not installed" if isinstance(error, ImportError) else f"cannot be loaded ({error})"
        raise MissingDependency(
            f"LSL streams need pylsl, which {reason}: pip install 'exciting-dance[lsl]'; UDP streams need no library"
        ) from None
    return pylsl


def _read_description(info: Any) -> tuple[list[str], list[str]]:
    """Labels and units of a stream's channels, from its description."""
    labels, units = [], []
    channel = info.desc().child("channels").child("channel")
    for _ in range(info.channel_count()):
        labels.append(channel.child_value("label"))
        units.append(channel.child_value("unit"))
        channel = channel.next_sibling()
    if not all(labels):
        raise InvalidValue(f"the channels of the LSL stream {info.name()!r} have no labels, so they are unknown")
    return labels, units
