"""Accepts the samples of one stream: each once, in order, on a clock that runs forwards; everything else is counted.

A declaration only says what samples with its number hold. The first sample decides which stream is followed, and from
which socket. Another stream takes its place once that one has ended or was silent for `SILENT`, so that neither a
stray declaration nor a sender that restarts can block a capture. What goes wrong is reported once, in one sentence; the
tally counts how often.
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
"""[s] without a sample, after which the stream counts as paused, and another sender may take its place."""
MAX_LAYOUTS = 64
"""Declarations that are remembered; the oldest is forgotten first."""
MAX_MISSING = 4096
"""Lost samples that are still known when they come late."""
RESTART_AFTER = 20
"""Samples one after the other that are refused for their number or time: then the sender has begun anew."""
MAX_LOST = 1_000_000
"""A number farther ahead is that of a sender that began anew."""
MAX_CLOCK_JUMP = 2.0
"""[s] By which a sender's clock may advance more than ours between two samples."""
MIN_STEP = 1e-3
"""[s] Between the last sample before a clock began anew and the first one after."""


@dataclass(slots=True)
class SampleCounts:
    """How many samples or datagrams came to what.

    Attributes:
        taken: samples that were followed.
        lost: that never came.
        late: that came after later ones, and were left out.
        repeated: that came more than once.
        backwards: whose time was not after that of the one before.
        early: datagrams that came before the stream's names, as for everybody who joins one that runs.
        garbled: datagrams in another format, cut off, or with names that were never declared.
        other: datagrams of another stream than the one that is followed.
        overrun: that came faster than they were taken, and were thrown away before they were looked at.
        held: too little was seen in them to be followed; the pose was held.
        unsettled: that used up the time budget before the pose had settled.
        stops: pauses of more than a second: seen while no datagram waited, or by the sender's clock and ours.
        restarts: the sender, or its clock, began anew.
    """

    taken: int = 0
    lost: int = 0
    late: int = 0
    repeated: int = 0
    backwards: int = 0
    early: int = 0
    garbled: int = 0
    other: int = 0
    overrun: int = 0
    held: int = 0
    unsettled: int = 0
    stops: int = 0
    restarts: int = 0

    DESCRIPTIONS = {  # noqa: RUF012
        "lost": "lost",
        "late": "came late and were left out",
        "repeated": "came more than once",
        "backwards": "went back in time and were left out",
        "early": "came before their names and were left out",
        "garbled": "were garbled",
        "other": "came from another sender and were left out",
        "overrun": "came faster than they could be taken",
        "held": "showed too little, the pose was held",
        "unsettled": "used up the time budget",
        "stops": "pauses of the stream",
        "restarts": "restarts of the sender or its clock",
    }

    @property
    def summary(self) -> str:
        """What to tell at the end."""
        told = [f"{getattr(self, name)} {words}" for name, words in self.DESCRIPTIONS.items() if getattr(self, name)]
        return f"{self.taken} samples taken" + (f"; {'; '.join(told)}" if told else "; none lost")


class SampleSequencer:
    """Decides about every datagram of a stream.

    Args:
        report: receives a sentence where something is noticed for the first time.
    """

    def __init__(self, report: Callable[[str], None]) -> None:
        self._report, self._reported = report, set[str]()
        self.counts = SampleCounts()
        self.layout: Layout | None = None
        """Of the stream that is followed; before its first sample the one that was declared last."""
        self.layout_fixed = False
        """Whether a recording depends on the layout, so that no stream with other names may replace this one."""
        self.ended = False
        self._declared: OrderedDict[int, Layout] = OrderedDict()
        self._source: Hashable = None
        self._next: int | None = None
        self._missing: OrderedDict[int, None] = OrderedDict()
        self._refused, self._restarted = 0, False
        self._time: float | None = None
        """[s] of the last sample taken, on the clock that runs forwards."""
        self._offset = 0.0
        self._arrived: float | None = None
        self._last_arrival: float | None = None
        """[s] when the last sample of the stream came, in order or not; None before the first one."""
        self._paused = False

    def receive(self, data: bytes, arrived: float, source: Hashable = None) -> Sample | None:
        """The sample of a datagram, its time on the clock that runs forwards; None where it is not to be followed.

        Args:
            data: as it came.
            arrived: [s] when, by our clock.
            source: socket that sent it.
        """
        try:
            layout = self._declared.get(layout_checksum(data))
            found = read_datagram(data, layout)
        except LayoutMissing as error:
            self.counts.early += 1
            self.report_once("early", f"{error}: left out until then")
            return None
        except InvalidDatagram as error:
            self.counts.garbled += 1
            self.report_once("garbled", f"{error}: left out")
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
        """Leave out a sample that was accepted, because its names do not fit: any other stream may take its place."""
        self._last_arrival = None
        self.counts.taken -= 1
        self.counts.other += 1

    def _declare(self, found: LayoutDeclaration, source: Hashable) -> None:
        """Remember a layout; a number far behind says that the sender of the stream restarted."""
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
                self._next = found.sequence
            self.ended = False

    def _accept_stream(self, layout: Layout, source: Hashable, arrived: float) -> bool:
        """Whether a sample belongs to the stream that is followed, or its stream takes the place of that one."""
        if self._last_arrival is not None and (layout, source) == (self.layout, self._source):
            return True
        if self._last_arrival is not None and not self.ended and not self._is_quiet(arrived):
            words = f"samples of a second sender came within {PAUSE_AFTER:g} s of the first one's: left out"
        elif self.layout_fixed and layout != self.layout:
            words = "a stream of other names came, which would be another recording: left out until this one is kept"
        else:
            if self._time is not None:
                self._restart()
                self._next = None
            self.layout, self._source = layout, source
            return True
        self.counts.other += 1
        self.report_once(words, words)
        return False

    def _sequence_sample(self, found: Sample, arrived: float) -> Sample | None:
        """The same sample on the clock that runs forwards; None where it is not to be followed."""
        paused = self._note_arrival(arrived)
        self.counts.stops += paused
        self.ended = False
        if not self._check_sequence(found.sequence):
            return None
        time = self._continuous_time(found.time, arrived)
        if time is None:
            return None
        if not paused and self._time is not None and self._arrived is not None:
            self.counts.stops += min(arrived - self._arrived, time - self._time) > PAUSE_AFTER
        self._time, self._arrived, self._refused, self._restarted = time, arrived, 0, False
        self.counts.taken += 1
        return replace(found, time=time)

    @property
    def is_paused(self) -> bool:
        """Whether the stream has paused."""
        return self._paused

    def check_pause(self, now: float) -> None:
        """Notice a pause at a time [s] of our clock at which no datagram waits to be taken."""
        if self._is_quiet(now) and not self._paused and not self.ended:
            self._paused = True
            self.report_once("stops", f"nothing has come for {PAUSE_AFTER:g} s: waiting, what was recorded is kept")

    def report_once(self, kind: str, words: str) -> None:
        """Say something, the first time."""
        if kind not in self._reported:
            self._reported.add(kind)
            self._report(words)

    def _is_quiet(self, now: float) -> bool:
        return self._last_arrival is not None and now - self._last_arrival > PAUSE_AFTER

    def _note_arrival(self, arrived: float) -> bool:
        """Whether a pause that was noticed ends with a sample."""
        paused, self._paused = self._paused, False
        if paused and self._last_arrival is not None:
            self.report_once("again", f"samples come again after {arrived - self._last_arrival:.1f} s")
        self._last_arrival = arrived
        return paused

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
                self.report_once("late", "samples come after later ones: left out")
            else:
                self.counts.repeated += 1
                self.report_once("repeated", "samples come more than once: each is taken once")
            return False
        if ahead:
            self._count_lost(sequence, ahead)
        self._next = (sequence + 1) % SEQUENCE_MODULUS
        return True

    def _count_lost(self, sequence: int, count: int) -> None:
        self.counts.lost += count
        self.report_once("lost", f"{count} {'sample was' if count == 1 else 'samples were'} lost on the way")
        for back in range(min(count, MAX_MISSING), 0, -1):
            self._missing[(sequence - back) % SEQUENCE_MODULUS] = None
        while len(self._missing) > MAX_MISSING:
            self._missing.popitem(last=False)

    def _continuous_time(self, time: float, arrived: float) -> float | None:
        """The time on the clock that runs forwards; None where it does not, and may again."""
        if self._time is None or self._arrived is None:
            return time + self._offset
        ours, step = arrived - self._arrived, time + self._offset - self._time
        if step <= 0.0 and self._refused < RESTART_AFTER and not self._restarted:
            self._refused += 1
            self.counts.backwards += 1
            self.report_once("backwards", f"time runs backwards, from {self._time:.3f} to {time:.3f} s: left out")
            return None
        if step <= 0.0 or step > ours + MAX_CLOCK_JUMP:
            if step > 0.0:
                self.report_once(
                    "jump", f"the sender's clock leaps by {step:.6g} s at once: time goes on without the leap"
                )
            if not self._restarted:
                self._restart()
            self._offset += max(ours, MIN_STEP) - step
        return time + self._offset

    def _restart(self) -> None:
        self.counts.restarts += 1
        self.report_once("restarts", "the sender, or its clock, began anew: its samples go on where it was")
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
    """By how many a number is ahead of the one expected, below 0 behind, on the circle of `SEQUENCE_MODULUS`."""
    return (sequence - expected + SEQUENCE_MODULUS // 2) % SEQUENCE_MODULUS - SEQUENCE_MODULUS // 2


__all__ = ["SampleCounts", "SampleSequencer"]
