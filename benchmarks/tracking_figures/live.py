"""A live capture at 100 Hz over loopback: time from datagram to pose, memory, and whether what is lost is told."""

from __future__ import annotations

import multiprocessing
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from solver.calibration import calibrate
from solver.capture.datagram import Sample, end_datagram, layout_datagram, sample_datagram
from solver.capture.following import Following
from solver.capture.replay import Stream, stream_of
from solver.capture.run import WAIT
from solver.capture.session import Capture
from solver.capture.udp import UdpReceiver, UdpSender
from solver.formats.recording import ReadOptions, read_recording
from solver.tracking import TrackingOptions

from ..figures.figure import Figure, at_most, missing
from ..marker_errors import SUBJECTS

SUBJECT, TRIAL = SUBJECTS[0], "squats1"
RATE, BUDGET = 100.0, 5e-3
"""[1/s], [s]"""
SECONDS, QUICK = 600.0, 8.0
"""[s] that a stream lasts."""
LOST = 0.01
"""Share of the samples that are not sent."""
WARM = 0.2
"""Share of the time after which memory counts."""
PATIENCE = 30.0
"""[s] for a sender to start, or to be heard of again."""
PAGE = 4096


@dataclass(frozen=True, slots=True)
class Lived:
    """What a stream came to.

    Attributes:
        latencies: (N,) [s] from sending to pose, both processes' clock being one.
        growth: [MB] of memory from `WARM` to the end.
        sent: samples that the sender counted, those that it lost on purpose among them.
        taken, lost: as the capture tells.
    """

    latencies: np.ndarray
    growth: float
    sent: int
    taken: int
    lost: int


def live_figures(data: Path, quick: bool) -> list[Figure]:
    """A replayed recording, followed and recorded."""
    paths = [data / file for file in SUBJECT.files[:2]] + [data / next(f for f in SUBJECT.files if TRIAL in f)]
    seconds = QUICK if quick else SECONDS
    if not all(path.exists() for path in paths):
        return missing(_rows(None, seconds), "no recordings")
    recordings = [read_recording(path, ReadOptions(ragged=True)) for path in dict.fromkeys(paths)]
    found = calibrate(recordings[:1], mass=SUBJECT.mass, sex=SUBJECT.sex)
    stream = stream_of(next(recording for recording in recordings if recording.name == TRIAL))
    return _rows(lived(Following(found, TrackingOptions(budget=BUDGET)), stream, seconds), seconds)


def lived(how: Following, stream: Stream, seconds: float) -> Lived:
    """Follow a stream that another process sends for so many seconds, and record it."""
    receiver = UdpReceiver(port=0)
    capture = Capture(how, lambda _: None)
    capture.record()
    count = int(RATE * seconds)
    sender = multiprocessing.get_context("spawn").Process(target=send, args=(stream, receiver.port, count))
    sender.start()
    latencies, before, heard = np.zeros(count), 0.0, time.perf_counter()
    try:
        while not capture.intake.ended and time.perf_counter() - heard < PATIENCE:
            for arrival in receiver.take(WAIT):
                found = capture.take(arrival.data, arrival.time, arrival.source)
                heard = time.perf_counter()
                if found is not None:
                    latencies[found.sample.sequence] = heard - found.sample.time
                    if before == 0.0 and found.sample.sequence > WARM * count:
                        before = resident()
    finally:
        sender.join(PATIENCE)
        receiver.close()
    growth = resident() - before
    tally = capture.intake.tally
    capture.drop()
    return Lived(latencies[latencies > 0.0], growth, count, tally.taken, tally.lost)


def send(stream: Stream, port: int, count: int) -> None:
    """Send samples whose time is that of their sending, one a hundredth of a second; some are not sent."""
    choose, sender = np.random.default_rng(0), UdpSender(port=port)
    begun = time.perf_counter()
    for sequence in range(count):
        due = begun + sequence / RATE
        time.sleep(max(due - time.perf_counter(), 0.0))
        if sequence % round(RATE) == 0:
            sender.send(layout_datagram(stream.layout, sequence, due))
        if choose.random() >= LOST:
            values = stream.values[sequence % len(stream.values)]
            sender.send(sample_datagram(stream.layout, Sample(sequence, time.perf_counter(), values)))
    sender.send(end_datagram(stream.layout, count, time.perf_counter()))
    sender.close()


def resident() -> float:
    """[MB] of this process's memory that is there now; 0 where the system does not tell."""
    try:
        return PAGE * int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) / 1e6
    except OSError:
        return 0.0


def _rows(found: Lived | None, seconds: float) -> list[Figure]:
    data = f"real markers, replayed {seconds:.0f} s at {RATE:.0f} Hz, {100.0 * LOST:.0f} % lost on purpose"
    late = growth = untold = None
    told = ["", "", ""]
    if found is not None:
        late, growth = 1e3 * float(np.percentile(found.latencies, 99.0)), found.growth
        untold = float(abs(found.sent - found.taken - found.lost))
        told[0] = f"median {1e3 * float(np.median(found.latencies)):.1f} ms, "
        told[0] += f"largest {1e3 * float(found.latencies.max()):.0f} ms"
        told[2] = f"{found.sent} sent, {found.taken} taken, {found.lost} told as lost"
    return [
        Figure("live: from sending a datagram to the pose, 99th percentile", data, late, "ms", at_most(20.0),
               at_most(10.0), told[0]),
        Figure("live: memory that grew while recording", data, growth, "MB", at_most(5.0), None, told[1]),
        Figure("live: samples neither taken nor told as lost", data, untold, "", at_most(0.0), None, told[2]),
    ]  # fmt: skip
