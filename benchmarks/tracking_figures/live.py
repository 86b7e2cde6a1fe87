"""A live capture over loopback: time from datagram to pose, memory, and whether lost and skipped samples are counted.

At 100 Hz on a machine of its own, and at 240 Hz on one core that it shares with a busy process.

An empty process receives the same datagrams in parallel; its waiting time is that of the machine. If it is long, the
capture's time is reported but not compared.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np

from solver.calibration import fit_calibration
from solver.capture.capture_loop import WAIT_TIME, follow_arrivals
from solver.capture.datagram import (
    EndOfStream,
    LayoutDeclaration,
    Sample,
    end_datagram,
    layout_datagram,
    read_datagram,
    sample_datagram,
)
from solver.capture.followers import FollowOptions
from solver.capture.replay import Stream, build_stream
from solver.capture.session import StreamCapture
from solver.capture.udp import UdpReceiver, UdpSender
from solver.formats.recording import read_recording
from solver.options.reading import ReadOptions
from solver.tracking import TrackingOptions

from ..figures.figure import Figure, at_most, missing
from ..marker_errors import SUBJECTS

SUBJECT, TRIAL = SUBJECTS[0], "squats1"
RATE, BUDGET = 100.0, 5e-3
"""[1/s], [s]"""
SECONDS, QUICK = 600.0, 8.0
"""[s] that a stream lasts."""
FAST, FAST_SECONDS = 240.0, 300.0
"""[1/s], [s] of the stream on a shared core."""
LOST = 0.01
"""Share of the samples that are not sent."""
WARM = 0.2
"""Share of the time after which memory counts."""
PATIENCE = 30.0
"""[s] Longest wait for the first and for the next sample."""
PAGE = 4096
IDLE = 5e-3
"""[s] An empty process that waits longer, at the 99th percentile, is on a machine too busy to judge by."""


@dataclass(frozen=True, slots=True)
class CaptureRun:
    """What a stream came to.

    Attributes:
        latencies: (N,) [s] from sending to pose, both processes' clock being one.
        empty: (K,) [s] the same of an empty process next to it, from sending to reading.
        spent: [s] of the processor for one sample, receiving and recording counted.
        growth: [MB] of memory from `WARM` to the end.
        sent: samples that the sender counted, those that it lost on purpose among them.
        taken, lost, skipped: as the capture reports; skipped ones are taken, but not followed.
    """

    latencies: np.ndarray
    empty: np.ndarray
    spent: float
    growth: float
    sent: int
    taken: int
    lost: int
    skipped: int


def live_figures(data: Path, quick: bool) -> list[Figure]:
    """A replayed recording, followed and recorded."""
    paths = [data / file for file in SUBJECT.files[:2]] + [data / next(f for f in SUBJECT.files if TRIAL in f)]
    seconds = QUICK if quick else SECONDS
    if not all(path.exists() for path in paths):
        return missing([*_rows(None, seconds), *_shared_rows(None, seconds)], "no recordings")
    recordings = [read_recording(path, ReadOptions(ragged=True)) for path in dict.fromkeys(paths)]
    found = fit_calibration(recordings[:1], mass=SUBJECT.mass, sex=SUBJECT.sex)
    stream = build_stream(next(recording for recording in recordings if recording.name == TRIAL))
    how, fast = FollowOptions(found, TrackingOptions(time_budget=BUDGET)), min(seconds, FAST_SECONDS)
    with shared_core():
        shared = run_capture(how, stream, fast, FAST)
    return [*_rows(run_capture(how, stream, seconds), seconds), *_shared_rows(shared, fast)]


@contextmanager
def shared_core() -> Iterator[None]:
    """This process, and one that is always busy, on one core, as far as the system can do it."""
    busy = multiprocessing.get_context("fork").Process(target=spin, daemon=True)
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    busy.start()
    try:
        yield
    finally:
        busy.kill()
        os.sched_setaffinity(0, cores)


def spin() -> None:
    """Be busy."""
    while True:
        pass


def run_capture(how: FollowOptions, stream: Stream, seconds: float, rate: float = RATE) -> CaptureRun:
    """Follow a stream that another process sends for so many seconds at a rate [1/s], and record it."""
    receiver = UdpReceiver(port=0)
    capture = StreamCapture(how, lambda _: None)
    capture.record()
    count = int(rate * seconds)
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    peer = context.Process(target=wait, args=(theirs,))
    peer.start()
    sender = context.Process(target=send, args=(stream, (receiver.port, ours.recv()), count, rate))
    sender.start()
    latencies, before, received_at, began = np.zeros(count), 0.0, time.perf_counter(), time.process_time()
    try:
        while not capture.sequencer.ended and time.perf_counter() - received_at < PATIENCE:
            if (found := follow_arrivals(receiver, capture)) is None:
                continue
            received_at = time.perf_counter()
            latencies[found.sample.sequence] = received_at - found.sample.time
            if before == 0.0 and found.sample.sequence > WARM * count:
                before = resident()
    finally:
        sender.join(PATIENCE)
        receiver.close()
    spent, empty = time.process_time() - began, ours.recv()
    peer.join(PATIENCE)
    growth = resident() - before
    counts = capture.sequencer.counts
    capture.discard()
    return CaptureRun(
        latencies[latencies > 0.0], empty, spent / max(counts.accepted, 1), growth, count, counts.accepted, counts.lost,
        counts.skipped,
    )  # fmt: skip


def wait(pipe: Connection) -> None:
    """Send the port, then the latency of every sample once the last has arrived or no more arrive."""
    receiver, late, received_at = UdpReceiver(port=0), [], time.perf_counter()
    pipe.send(receiver.port)
    layout, ended = None, False
    while not ended and time.perf_counter() - received_at < PATIENCE:
        for datagram in receiver.receive(WAIT_TIME):
            found = read_datagram(datagram.data, layout)
            received_at, ended = time.perf_counter(), isinstance(found, EndOfStream)
            if isinstance(found, LayoutDeclaration):
                layout = found.layout
            elif isinstance(found, Sample):
                late.append(received_at - found.time)
    receiver.close()
    pipe.send(np.array(late))


def send(stream: Stream, ports: tuple[int, int], count: int, rate: float) -> None:
    """Send samples whose time is that of their sending, ``rate`` a second; some are not sent."""
    choose, senders = np.random.default_rng(0), [UdpSender(port=port) for port in ports]

    def out(data: bytes) -> None:
        for sender in senders:
            sender.send(data)

    begun = time.perf_counter()
    for sequence in range(count):
        due = begun + sequence / rate
        time.sleep(max(due - time.perf_counter(), 0.0))
        if sequence % round(rate) == 0:
            out(layout_datagram(stream.layout, sequence, due))
        if choose.random() >= LOST:
            values = stream.values[sequence % len(stream.values)]
            out(sample_datagram(stream.layout, Sample(sequence, time.perf_counter(), values)))
    out(end_datagram(stream.layout, count, time.perf_counter()))
    for sender in senders:
        sender.close()


def resident() -> float:
    """[MB] of this process's memory that is there now; 0 where the system does not report it."""
    try:
        return PAGE * int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) / 1e6
    except OSError:
        return 0.0


def _rows(found: CaptureRun | None, seconds: float) -> list[Figure]:
    data = f"real markers, replayed {seconds:.0f} s at {RATE:.0f} Hz, {100.0 * LOST:.0f} % left out by the sender"
    late = growth = unreported = None
    notes = ["", "", ""]
    if found is not None:
        late, growth = 1e3 * float(np.percentile(found.latencies, 99.0)), found.growth
        idle = 1e3 * float(np.percentile(found.empty, 99.0)) if len(found.empty) else np.inf
        unreported = float(abs(found.sent - found.taken - found.lost))
        notes[0] = f"{1e3 * found.spent:.1f} ms of the processor a sample; "
        notes[0] += f"median {1e3 * float(np.median(found.latencies)):.1f} ms, "
        notes[0] += f"largest {1e3 * float(found.latencies.max()):.0f} ms; an empty process that receives the same: "
        notes[0] += f"99th percentile {idle:.1f} ms"
        if idle >= 1e3 * IDLE:
            notes[0] += f"; {late:.0f} ms not compared: the machine was too busy"
            late = None
        notes[2] = f"{found.sent} sent, {found.taken} received, {found.lost} reported as lost"
    return [
        Figure("live: from sending a datagram to the pose, 99th percentile", data, late, "ms", at_most(20.0),
               at_most(10.0), notes[0]),
        Figure("live: memory that grew while recording", data, growth, "MB", at_most(5.0), None, notes[1]),
        Figure("live: samples neither received nor "
            "reported as lost", data, unreported, "", at_most(0.0), None, notes[2]),
    ]  # fmt: skip


def _shared_rows(found: CaptureRun | None, seconds: float) -> list[Figure]:
    data = f"real markers, replayed {seconds:.0f} s at {FAST:.0f} Hz, on one core beside a busy process"
    uncounted = median = late = None
    note = ""
    if found is not None:
        uncounted = float(abs(found.sent - found.taken - found.lost))
        median, late = (1e3 * float(np.percentile(found.latencies, share)) for share in (50.0, 99.0))
        note = f"{found.sent} sent, {found.taken} taken, {found.skipped} of them not followed, {found.lost} lost"
    return [
        Figure("live: samples that are neither taken nor counted", data, uncounted, "", at_most(0.0), None, note),
        Figure("live: delay of the pose, median", data, median, "ms", at_most(20.0), at_most(8.0)),
        Figure("live: delay of the pose, 99th percentile", data, late, "ms", at_most(100.0), at_most(30.0)),
    ]
