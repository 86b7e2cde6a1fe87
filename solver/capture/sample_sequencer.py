"""Accepts each sample of one stream once, in order and with increasing times; everything else is counted.

A declaration only defines the layout of samples with its checksum. The first sample decides which stream is accepted,
and from which socket: the stream belongs to that sender until it ends, and continues after any pause. Samples of other
senders are left out. A number or clock that leaps ahead is accepted when the next sample continues it, so that a
damaged sample changes nothing. Every kind of irregularity is reported once, in one sentence, and all of them are
counted.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace

from .datagram import (
    SEQUENCE_MODULUS,
    EndOfStream,
    InvalidDatagram,
    Layout,
    LayoutDeclaration,
    LayoutMissing,
    Sample,
    layout_checksum,
    read_datagram,
)

PAUSE_AFTER = 1.0
"""[s] Time without a sample after which the stream is paused, and its sender may send other names."""
MAX_LAYOUTS = 64
"""Largest number of stored declarations; the oldest is removed first."""
MAX_MISSING = 4096
"""Largest number of lost samples that are recognised when they arrive late."""
RESTART_AFTER = 20
"""Number of successive samples with an old number or time after which the sender is assumed to have restarted; a
number that is farther ahead than this has to be continued by the next sample."""
MAX_LOST = 1_000_000
"""A number that is farther ahead means that the sender restarted."""
MAX_CLOCK_JUMP = 2.0
"""[s] Largest lead of the sender's clock over the local one between two samples."""
MIN_STEP = 1e-3
"""[s] Smallest time between the last sample before and the first one after a restart of the clock."""


@dataclass(slots=True)
class SampleCounts:
    """Numbers of samples or datagrams by outcome.

    Attributes:
        accepted: samples that were processed.
        lost: samples that never arrived.
        late: samples that arrived after later ones and were left out.
        repeated: samples that arrived more than once.
        backwards: samples whose time was not after that of the previous one.
        before_layout: datagrams that arrived before the stream's names, as always when joining a running stream.
        invalid: datagrams in another format, truncated, damaged, or with names that were never declared.
        other_stream: datagrams of another stream than the accepted one.
        overrun: datagrams that arrived too fast and were discarded unread.
        skipped: samples that were recorded but not shown, because newer ones waited.
        untracked: samples with too little data, for which the previous pose was kept.
        unconverged: samples that used up the time budget before the pose had converged.
        pauses: of more than a second, detected while no datagram waited, or from the sender's clock and the local one.
        restarts: of the sender or its clock.
    """

    accepted: int = 0
    lost: int = 0
    late: int = 0
    repeated: int = 0
    backwards: int = 0
    before_layout: int = 0
    invalid: int = 0
    other_stream: int = 0
    overrun: int = 0
    skipped: int = 0
    untracked: int = 0
    unconverged: int = 0
    pauses: int = 0
    restarts: int = 0

    DESCRIPTIONS = {  # noqa: RUF012
        "lost": "lost",
        "late": "arrived late and were left out",
        "repeated": "arrived more than once",
        "backwards": "went back in time and were left out",
        "before_layout": "arrived before their names and were left out",
        "invalid": "were invalid",
        "other_stream": "came from another sender and were left out",
        "overrun": "arrived faster than they could be processed",
        "skipped": "were recorded but not shown, because newer ones waited",
        "untracked": "had too little data, the previous pose was kept",
        "unconverged": "used up the time budget",
        "pauses": "pauses of the stream",
        "restarts": "restarts of the sender or its clock",
    }

    @property
    def summary(self) -> str:
        """A summary in one sentence."""
        others = [f"{getattr(self, name)} {text}" for name, text in self.DESCRIPTIONS.items() if getattr(self, name)]
        return f"{self.accepted} samples accepted" + (f"; {'; '.join(others)}" if others else "; none lost")


class SampleSequencer:
    """Accepts or rejects every datagram of a stream.

    Args:
        report: receives a sentence when a kind of irregularity occurs for the first time.
    """

    def __init__(self, report: Callable[[str], None]) -> None:
        self._report, self._reported = report, set[str]()
        self.counts = SampleCounts()
        self.layout: Layout | None = None
        """Layout of the accepted stream; before its first sample the last declared one."""
        self.layout_fixed = False
        """Whether a recording needs this layout, so that no stream with other names may replace it."""
        self.ended = False
        self._declared: OrderedDict[int, Layout] = OrderedDict()
        self._source: Hashable = None
        self._next: int | None = None
        self._missing: OrderedDict[int, None] = OrderedDict()
        self._refused, self._restarted = 0, False
        self._leap: Sample | None = None
        """The previous sample, if it was left out because its number or time leapt ahead."""
        self._last: tuple[float, float] | None = None
        """[s] Time of the last accepted sample on the continuous clock, and its arrival on the local one."""
        self._offset = 0.0
        self._last_arrival: float | None = None
        """[s] Arrival of the last sample of the stream, in order or not; None before the first one."""
        self._paused = False

    def receive(self, data: bytes, arrived: float, source: Hashable = None) -> Sample | None:
        """The sample of a datagram, with its time on the continuous clock; None if there is no sample to process.

        Args:
            data: as received.
            arrived: [s] time of arrival on the local clock.
            source: socket of the sender.
        """
        try:
            layout = self._declared.get(layout_checksum(data))
            found = read_datagram(data, layout)
        except LayoutMissing as error:
            self.counts.before_layout += 1
            self.report_once("before_layout", f"{error}: left out until then")
            return None
        except InvalidDatagram as error:
            self.counts.invalid += 1
            self.report_once("invalid", f"{error}: left out")
            return None
        if isinstance(found, LayoutDeclaration):
            self._declare(found, source)
            return None
        assert layout is not None
        if isinstance(found, EndOfStream):
            if self._last_arrival is not None and (layout, source) == (self.layout, self._source):
                self._end_stream(found)
            return None
        return self._sequence_sample(found, arrived) if self._accept_stream(layout, source, arrived) else None

    def reject(self) -> None:
        """Reject the last accepted sample because its names do not fit the body; any other stream may replace it."""
        self._last_arrival = None
        self.counts.accepted -= 1
        self.counts.other_stream += 1

    def _declare(self, found: LayoutDeclaration, source: Hashable) -> None:
        """Store a layout; a sequence number far behind means that the sender restarted."""
        layout = found.layout
        self._declared[layout.checksum] = layout
        self._declared.move_to_end(layout.checksum)
        while len(self._declared) > MAX_LAYOUTS:
            self._declared.popitem(last=False)
        if self._last_arrival is None:
            self.layout = layout
        elif (layout, source) == (self.layout, self._source):
            if self._next is not None and _ahead(found.sequence, self._next) < -RESTART_AFTER:
                self._restart()
                self._next = None
            self.ended = False

    def _accept_stream(self, layout: Layout, source: Hashable, arrived: float) -> bool:
        """Whether a sample belongs to the accepted stream, or to a stream that may replace it."""
        if self._last_arrival is not None and (layout, source) == (self.layout, self._source):
            return True
        if (
            self._last_arrival is not None
            and not self.ended
            and not (source == self._source and self._is_quiet(arrived))
        ):
            words = (
                f"samples of a second sender, {_sender_name(source)}, are left out: the stream belongs to "
                f"{_sender_name(self._source)} until it ends; to follow the second one, start the capture again"
            )
        elif self.layout_fixed and layout != self.layout:
            words = "a stream with other names arrived, which needs another recording: left out until this one is saved"
        else:
            if self._last is not None:
                self._restart()
                self._next = None
            self.layout, self._source = layout, source
            return True
        self.counts.other_stream += 1
        self.report_once(words, words)
        return False

    def _sequence_sample(self, found: Sample, arrived: float) -> Sample | None:
        """The sample with its time on the continuous clock; None if it is rejected."""
        paused = self._note_arrival(arrived)
        self.counts.pauses += paused
        self.ended = False
        if self._leaps_ahead(found, arrived) or not self._check_sequence(found.sequence):
            return None
        time = self._continuous_time(found.time, arrived)
        if time is None:
            return None
        if not paused and self._last is not None:
            self.counts.pauses += min(time - self._last[0], arrived - self._last[1]) > PAUSE_AFTER
        self._last, self._refused, self._restarted = (time, arrived), 0, False
        self.counts.accepted += 1
        return replace(found, time=time)

    @property
    def is_paused(self) -> bool:
        """Whether the stream has paused."""
        return self._paused

    def check_pause(self, now: float) -> None:
        """Detect a pause at a time [s] of the local clock while no datagram waits."""
        if self._is_quiet(now) and not self._paused and not self.ended:
            self._paused = True
            self.report_once("pauses", f"no sample for {PAUSE_AFTER:g} s: waiting, the recorded samples are kept")

    def report_once(self, kind: str, words: str) -> None:
        """Report a message of a kind once."""
        if kind not in self._reported:
            self._reported.add(kind)
            self._report(words)

    def _is_quiet(self, now: float) -> bool:
        return self._last_arrival is not None and now - self._last_arrival > PAUSE_AFTER

    def _note_arrival(self, arrived: float) -> bool:
        """Store the arrival of a sample; whether it ends a detected pause."""
        paused, self._paused = self._paused, False
        if paused and self._last_arrival is not None:
            self.report_once("again", f"samples arrive again after {arrived - self._last_arrival:.1f} s")
        self._last_arrival = arrived
        return paused

    def _leaps_ahead(self, found: Sample, arrived: float) -> bool:
        """Whether a sample leaps ahead in number or time and does not continue a leap of the sample before it."""
        before, self._leap = self._leap, None
        if self._next is None or self._last is None:
            return False
        step = found.time + self._offset - self._last[0]
        if _ahead(found.sequence, self._next) <= RESTART_AFTER and step <= arrived - self._last[1] + MAX_CLOCK_JUMP:
            return False
        if before is not None and _ahead(found.sequence, before.sequence) == 1 and found.time > before.time:
            self.counts.invalid -= 1
            return False
        self._leap = found
        self.counts.invalid += 1
        return True

    def _check_sequence(self, sequence: int) -> bool:
        ahead = 0 if self._next is None else _ahead(sequence, self._next)
        if ahead > MAX_LOST or (ahead < 0 and self._refused >= RESTART_AFTER):
            self._restart()
            ahead = 0
        if ahead < 0:
            self._refused += 1
            if sequence in self._missing:
                del self._missing[sequence]
                self.counts.lost -= 1
                self.counts.late += 1
                self.report_once("late", "samples arrive after later ones: left out")
            else:
                self.counts.repeated += 1
                self.report_once("repeated", "samples arrive more than once: each is used once")
            return False
        if ahead:
            self._count_lost(sequence, ahead)
        self._next = (sequence + 1) % SEQUENCE_MODULUS
        return True

    def _count_lost(self, sequence: int, count: int) -> None:
        self.counts.lost += count
        self.report_once("lost", f"{count} {'sample was' if count == 1 else 'samples were'} lost in transit")
        for back in range(min(count, MAX_MISSING), 0, -1):
            self._missing[(sequence - back) % SEQUENCE_MODULUS] = None
        while len(self._missing) > MAX_MISSING:
            self._missing.popitem(last=False)

    def _continuous_time(self, time: float, arrived: float) -> float | None:
        """The time on the continuous clock; None if it runs backwards and the sender may recover."""
        if self._last is None:
            return time + self._offset
        step, ours = time + self._offset - self._last[0], arrived - self._last[1]
        if step <= 0.0 and self._refused < RESTART_AFTER and not self._restarted:
            self._refused += 1
            self.counts.backwards += 1
            self.report_once("backwards", f"time runs backwards, from {self._last[0]:.3f} to {time:.3f} s: left out")
            return None
        if step <= 0.0 or step > ours + MAX_CLOCK_JUMP:
            if step > 0.0:
                self.report_once("jump", f"the sender's clock jumps by {step:.6g} s: time continues without the jump")
            if not self._restarted:
                self._restart()
            self._offset += max(ours, MIN_STEP) - step
        return time + self._offset

    def _restart(self) -> None:
        self.counts.restarts += 1
        self.report_once("restarts", "the sender, or its clock, restarted: its samples continue from the last time")
        self._missing.clear()
        self._refused, self._restarted = 0, True

    def _end_stream(self, found: EndOfStream) -> None:
        if self._next is not None and not self.ended:
            ahead = _ahead(found.sequence, self._next)
            if 0 < ahead <= MAX_LOST:
                self._count_lost(found.sequence, ahead)
                self._next = found.sequence
        self.ended = True


def _ahead(sequence: int, expected: int) -> int:
    """How far a sequence number is ahead of the expected one (negative: behind), modulo `SEQUENCE_MODULUS`."""
    return (sequence - expected + SEQUENCE_MODULUS // 2) % SEQUENCE_MODULUS - SEQUENCE_MODULUS // 2


def _sender_name(source: Hashable) -> str:
    """Address and port of a socket."""
    return ":".join(map(str, source)) if isinstance(source, tuple) else str(source)
