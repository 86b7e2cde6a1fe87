"""A real stream of the Lab Streaming Layer on this machine; skipped where its library is missing."""

from __future__ import annotations

import importlib
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from solver.base.errors import InvalidValue
from solver.capture.datagram import JOINTS, MARKERS, SEGMENTS, EndOfStream, LayoutDeclaration, Sample, read_datagram
from solver.capture.lsl import LslReceiver, parse_channels

CONFIGURATION = """[ports]
IPv6 = disable
[multicast]
ResolveScope = machine
[lab]
KnownPeers = {127.0.0.1}
"""
NAME, COUNT = "exciting dance test", 40


def test_samples_come_as_they_are_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Markers in millimetres come in metres, whole and in order, each at once: no one waits for the next; a stream that
    is not there is reported with those that are.
    """
    path = tmp_path / "lsl_api.cfg"
    path.write_text(CONFIGURATION)
    monkeypatch.setenv("LSLAPICFG", str(path))
    try:
        pylsl = importlib.import_module("pylsl")
    except (ImportError, RuntimeError, OSError) as error:  # it comes without its native library for an old glibc
        pytest.skip(f"pylsl is not installed, or has no native library here: {error}")
    info = pylsl.StreamInfo(NAME, "MoCap", 6, 100.0, "float32", NAME)
    channels = info.desc().append_child("channels")
    for label in (f"{marker}_{axis}" for marker in ("LASI", "RASI") for axis in "xyz"):
        channel = channels.append_child("channel")
        channel.append_child_value("label", label)
        channel.append_child_value("unit", "mm")
    outlet = pylsl.StreamOutlet(info)
    receiver = LslReceiver(NAME)
    (first,) = receiver.receive(0.0)
    layout = read_datagram(first.data, None)
    assert isinstance(layout, LayoutDeclaration)
    assert (layout.layout.names, layout.layout.rate) == (("LASI", "RASI"), 100.0)
    receiver.receive(0.1)  # opens the stream

    def push() -> None:
        outlet.wait_for_consumers(5.0)
        for k in range(COUNT):
            outlet.push_sample([1000.0 + k, 0.0, 0.0, 0.0, 0.0, 500.0])
            time.sleep(0.005)

    sender = threading.Thread(target=push)
    sender.start()
    found: list[LayoutDeclaration | Sample | EndOfStream] = []
    several, until = 0, time.monotonic() + 20.0
    while len(found) < COUNT and time.monotonic() < until:
        came = receiver.receive(5.0)
        several += len(came) < COUNT
        found += [read_datagram(arrival.data, layout.layout) for arrival in came]
    sender.join()
    receiver.close()
    assert several > 1  # not one chunk when the time is over
    samples = [sample for sample in found if isinstance(sample, Sample)]
    assert [sample.sequence for sample in samples] == list(range(COUNT))
    values = np.array([np.ravel(sample.values) for sample in samples])
    assert np.allclose(values[:, 0], 1.0 + 1e-3 * np.arange(COUNT), atol=1e-6)
    assert np.allclose(values[:, 5], 0.5)
    monkeypatch.setattr("solver.capture.lsl.SEARCH_TIMEOUT", 0.2)
    with pytest.raises(InvalidValue, match=NAME):
        LslReceiver("another")


@pytest.mark.parametrize(
    ("labels", "units", "quantity", "factors"),
    [
        (
            ["a_y", "a_x", "a_z", "b.x", "b.y", "b.z"],
            ["cm", "mm", "", "m", "m", "m"],
            MARKERS,
            [1e-3, 1e-2, 1, 1, 1, 1],
        ),
        (["knee", "slide"], ["deg", "MM"], JOINTS, [np.pi / 180.0, 1e-3]),
        (
            [f"s {axis}" for axis in ["x", "y", "z", "qx", "qy", "qz", "qw"]],
            ["mm"] * 3 + [""] * 4,
            SEGMENTS,
            [1] * 4 + [1e-3] * 3,
        ),
        (["s_qx", "s_qy", "s_qz", "s_qw"], [""] * 4, SEGMENTS, [1, 1, 1, 1, np.nan, np.nan, np.nan]),
    ],
)
def test_channels_are_read_by_their_labels(
    labels: list[str], units: list[str], quantity: str, factors: list[float]
) -> None:
    """In any order, each in its unit; segments may lack positions. What is not labelled so is a joint's value."""
    found = parse_channels(labels, units, 60.0)
    assert (found.layout.quantity, found.layout.rate) == (quantity, 60.0)
    order = {MARKERS: [1, 0, 2, 3, 4, 5], JOINTS: [0, 1], SEGMENTS: [3, 4, 5, 6, 0, 1, 2]}[quantity]
    np.testing.assert_array_equal(
        np.array(labels)[found.columns[: len(labels)]], np.array(labels)[order] if len(labels) != 4 else labels
    )
    np.testing.assert_allclose(found.factors, factors)
    with pytest.raises(InvalidValue, match="in 'ft'"):
        parse_channels(labels, ["ft"] * len(labels), 60.0)
    with pytest.raises(InvalidValue, match=r"'a' lack y|'c' lack qx, qy, qz"):
        parse_channels(["a_x", "a_z"] if quantity != SEGMENTS else [*labels, "c_qw"], [""] * 8, 60.0)
