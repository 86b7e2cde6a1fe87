"""Laws of the datagrams of a live stream."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from solver.base.errors import InvalidValue
from solver.capture.datagram import (
    JOINTS,
    MARKERS,
    SEGMENTS,
    EndOfStream,
    InvalidDatagram,
    Layout,
    LayoutDeclaration,
    Sample,
    end_datagram,
    layout_datagram,
    read_datagram,
    sample_datagram,
)

DOCUMENT = Path(__file__).resolve().parent.parent.parent / "docs" / "capture.md"
LAYOUTS = [
    Layout(MARKERS, ("LASI", "RASI", "épine"), rate=100.0),
    Layout(SEGMENTS, ("pelvis", "thigh"), rate=59.94),
    Layout(JOINTS, ("knee", "elbow"), root=True),
    Layout(JOINTS, ("knee",)),
]


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: f"{layout.quantity}, {layout.size}")
def test_what_is_sent_is_what_is_read(layout: Layout) -> None:
    """Names, rate, numbers to single precision, gaps and the end arrive as they were sent."""
    found = read_datagram(layout_datagram(layout, 7, 0.5), None)
    assert isinstance(found, LayoutDeclaration)
    assert (found.layout.names, found.layout.checksum, found.sequence) == (layout.names, layout.checksum, 7)
    values = np.random.default_rng(0).normal(size=layout.size)
    values[0] = np.nan
    read = read_datagram(sample_datagram(layout, Sample(2**32 + 3, 12.25, values)), found.layout)
    assert isinstance(read, Sample)
    assert (read.sequence, read.time) == (3, 12.25)
    np.testing.assert_allclose(read.values, values, rtol=1e-7)
    ended = read_datagram(end_datagram(layout, 9, 13.0), found.layout)
    assert isinstance(ended, EndOfStream)
    assert ended.sequence == 9


def test_the_documented_bytes_are_the_bytes_that_are_sent() -> None:
    """The two datagrams that the documentation shows in hexadecimal are made by the code, byte for byte."""
    shown = [bytes.fromhex(block) for block in re.findall(r"```text\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)]
    layout = Layout(MARKERS, ("LASI", "RASI"), rate=100.0)
    sample = Sample(258, 2.58, np.array([0.25, 0.1, 1.0, np.nan, np.nan, np.nan]))
    assert shown == [layout_datagram(layout, 0, 0.0), sample_datagram(layout, sample)]


def test_whatever_comes_is_read_or_refused_in_one_way() -> None:
    """Random bytes, cut datagrams and single flipped bytes raise `InvalidDatagram` or are read."""
    layout, random = LAYOUTS[0], np.random.default_rng(1)
    good = [layout_datagram(layout, 0, 0.0), sample_datagram(layout, Sample(1, 0.0, np.zeros(9))), b"", b"EDMC"]
    damaged = [data[:cut] for data in good for cut in range(len(data))]
    for data in good[:2]:
        for place in range(len(data)):
            flipped = bytearray(data)
            flipped[place] ^= 1 << random.integers(8)
            damaged.append(bytes(flipped))
    damaged += [good[0][:4] + random.bytes(size) for size in range(80)] + [random.bytes(size) for size in range(80)]
    refused = 0
    for data in damaged:
        for known in (None, layout):
            try:
                read_datagram(data, known)
            except InvalidDatagram:
                refused += 1
    assert refused > len(damaged)


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda: Layout(MARKERS, ()), "1 to"),
        (lambda: Layout(MARKERS, ("a", "a")), "twice"),
        (lambda: Layout("colours", ("a",)), "markers, segments, joints"),
        (lambda: Layout(MARKERS, ("a",), root=True), "joint values"),
        (lambda: Layout(SEGMENTS, tuple(f"s{k}" for k in range(3000))), "do not fit"),
        (lambda: sample_datagram(LAYOUTS[0], Sample(0, 0.0, np.zeros(3))), "layout has"),
    ],
)
def test_a_layout_that_cannot_be_sent_is_refused(make: object, word: str) -> None:
    """What no datagram can carry, or no one could understand, is an error before anything is sent."""
    with pytest.raises(InvalidValue, match=word):
        make()  # type: ignore[operator]
