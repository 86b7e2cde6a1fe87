"""A capture on the command line, until the stream or the user ends it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Protocol

from ..base.errors import InvalidValue
from ..base.progress import Progress
from .datagram import Sample
from .session import FollowedSample, StreamCapture
from .udp import Arrival

WAIT_TIME = 0.02
"""[s] Longest wait for the next datagram before the stop conditions are checked."""
MAX_DELAY = 0.02
"""[s] Waiting time of a sample above which a newer one is followed instead. Derived: a little more than a frame of a
screen at 60 Hz."""
PROGRESS_INTERVAL = 1.0
"""[s] Interval of progress messages."""


class Source(Protocol):
    """A source of datagrams: `UdpReceiver` or `LslReceiver`.

    Attributes:
        overrun: number of datagrams that were discarded because they were not received in time.
    """

    overrun: int

    def receive(self, timeout: float) -> list[Arrival]:
        """Wait for datagrams for at most ``timeout`` seconds, and return all that have arrived."""

    def close(self) -> None:
        """Close the source."""


@dataclass(frozen=True, slots=True)
class StopConditions:
    """Conditions that end a capture, besides the end of the stream.

    Attributes:
        silence: [s] without a sample after the first one; None: never.
        seconds: [s] after the first sample; None: never.
    """

    silence: float | None = None
    seconds: float | None = None

    def are_met(self, capture: StreamCapture, first: float | None, last: float | None, now: float) -> bool:
        """Whether the capture ends now; times [s] of `time.perf_counter`, None before the first sample."""
        if capture.sequencer.ended:
            return True
        if first is None or last is None:
            return False
        silent = self.silence is not None and now - last > self.silence
        return silent or (self.seconds is not None and now - first > self.seconds)


def run_capture(source: Source, capture: StreamCapture, until: StopConditions, progress: Progress) -> None:
    """Track and record a stream until the capture ends.

    Raises:
        InvalidValue: the stream's names do not fit the body.
        Cancelled: the reader of the progress output has ended.
    """
    capture.record()
    first: float | None = None
    last: float | None = None
    last_report = time.perf_counter()
    while True:
        found = follow_arrivals(source, capture)
        now = time.perf_counter()
        if found is not None:
            last = now
            first = now if first is None else first
        if now - last_report > PROGRESS_INTERVAL:
            last_report = now
            progress(0.0, capture.status_text)
        if until.are_met(capture, first, last, now):
            return


def follow_arrivals(source: Source, capture: StreamCapture, wait: float = WAIT_TIME) -> FollowedSample | None:
    """Process all datagrams that have arrived; the newest tracked sample.

    A sample that has waited for longer than `MAX_DELAY` is followed only if none is newer, so that the pose is never
    far behind the stream however long this program was held up; the others are followed when the take is built.

    Raises:
        InvalidValue: a stream's names do not fit the body; the datagrams after it were processed nevertheless.
    """
    newest: FollowedSample | None = None
    unfit: InvalidValue | None = None
    waiting: tuple[Sample, float] | None = None
    arrivals = source.receive(wait)
    if not arrivals:  # while datagrams wait, this program is late and not the stream
        capture.sequencer.check_pause(time.perf_counter())
    for place, arrival in enumerate(arrivals, start=1):
        try:
            sample = capture.receive(arrival.data, arrival.time, arrival.source)
        except InvalidValue as error:
            sample, unfit = None, error
        if sample is not None:
            if waiting is not None:
                capture.skip(waiting[0])
            waiting = sample, arrival.time
        late = time.perf_counter() - arrival.time > MAX_DELAY
        if waiting is not None and (not late or place == len(arrivals)):
            newest, waiting = capture.follow(*waiting) or newest, None
    if source.overrun > capture.sequencer.counts.overrun:
        capture.sequencer.counts.overrun = source.overrun
        capture.sequencer.report_once("overrun", "samples arrive faster than they can be processed: some are discarded")
    if unfit is not None:
        raise unfit
    return newest
