"""A real stream of the Lab Streaming Layer on this machine; skipped where its library is missing."""

from __future__ import annotations

import importlib
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from solver.base.errors import InvalidValue
from solver.capture.datagram import EndOfStream, LayoutDeclaration, Sample, read_datagram
from solver.capture.lsl import LslReceiver

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
