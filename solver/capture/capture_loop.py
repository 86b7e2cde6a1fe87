"""A capture without a window: until the stream or the user ends it, then the take is written."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Protocol

from ..errors import InvalidValue
from ..progress import Progress
from .session import Capture, FollowedSample
from .udp import Arrival

WAIT_TIME = 0.02
"""[s] for the next datagram, between looks at the clock."""
PROGRESS_INTERVAL = 1.0
"""[s] between words on how it goes."""


class Source(Protocol):
    """Where datagrams come from: `UdpReceiver`, or the laboratory's own network of streams.

    Attributes:
        overrun: datagrams that were thrown away because nobody took them.
    """

    overrun: int

    def receive(self, timeout: float) -> list[Arrival]:
        """Datagrams that have come, as soon as there is one; none after so many seconds."""

    def close(self) -> None:
        """Listen no more."""


@dataclass(frozen=True, slots=True)
class StopConditions:
    """When a capture ends by itself; always with the stream's own end.

    Attributes:
        silence: [s] without a sample after the first one; None: it waits.
        seconds: [s] after the first sample; None: as long as the stream lasts.
    """

    silence: float | None = None
    seconds: float | None = None

    def are_met(self, capture: Capture, first: float | None, last: float | None, now: float) -> bool:
        """Whether it ends now; times [s] of `time.perf_counter`, None before the first sample."""
        if capture.sequencer.ended:
            return True
        if first is None or last is None:
            return False
        silent = self.silence is not None and now - last > self.silence
        return silent or (self.seconds is not None and now - first > self.seconds)


def run_capture(source: Source, capture: Capture, until: StopConditions, progress: Progress) -> None:
    """Follow and record until it ends.

    Raises:
        InvalidValue: the stream's names do not fit the body.
        Cancelled: nobody reads the progress any more.
    """
    capture.record()
    first: float | None = None
    last: float | None = None
    told = time.perf_counter()
    while True:
        found = follow_arrivals(source, capture)
        now = time.perf_counter()
        if found is not None:
            last = now
            first = now if first is None else first
        if now - told > PROGRESS_INTERVAL:
            told = now
            progress(0.0, capture.status_text)
        if until.are_met(capture, first, last, now):
            return


def follow_arrivals(source: Source, capture: Capture, wait: float = WAIT_TIME) -> FollowedSample | None:
    """Follow all that has come; the newest of it.

    Raises:
        InvalidValue: a stream's names do not fit the body; the datagrams after it were followed all the same.
    """
    newest: FollowedSample | None = None
    unfit: InvalidValue | None = None
    arrivals = source.receive(wait)
    if not arrivals:  # while some wait, it is we who are late and not the stream
        capture.sequencer.check_pause(time.perf_counter())
    for arrival in arrivals:
        try:
            newest = capture.receive(arrival.data, arrival.time, arrival.source) or newest
        except InvalidValue as error:
            unfit = error
    if source.overrun > capture.sequencer.counts.overrun:
        capture.sequencer.counts.overrun = source.overrun
        capture.sequencer.report_once("overrun", "samples come faster than they can be followed: some are thrown away")
    if unfit is not None:
        raise unfit
    return newest
