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

from .datagram import WRAP, Declared, Early, Ended, Garbled, Layout, Sample, layout_number, read_datagram

SILENT = 1.0
"""[s] without a sample, after which the stream counts as paused, and another sender may take its place."""
MOST_DECLARED = 64
"""Declarations that are remembered; the oldest is forgotten first."""
REMEMBERED = 4096
"""Lost samples that are still known when they come late."""
ANEW = 20
"""Samples one after the other that are refused for their number or time: then the sender has begun anew."""
MOST_LOST = 1_000_000
"""A number farther ahead is that of a sender that began anew."""
JUMP = 2.0
"""[s] By which a sender's clock may advance more than ours between two samples."""
LEAST_STEP = 1e-3
"""[s] Between the last sample before a clock began anew and the first one after."""


@dataclass(slots=True)
class Tally:
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

    WORDS = {  # noqa: RUF012
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
    def sentence(self) -> str:
        """What to tell at the end."""
        told = [f"{getattr(self, name)} {words}" for name, words in self.WORDS.items() if getattr(self, name)]
        return f"{self.taken} samples taken" + (f"; {'; '.join(told)}" if told else "; none lost")


class Intake:
    """Decides about every datagram of a stream.

    Args:
        tell: receives a sentence where something is noticed for the first time.
    """

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell, self._said = tell, set[str]()
        self.tally = Tally()
        self.layout: Layout | None = None
        """Of the stream that is followed; before its first sample the one that was declared last."""
        self.pinned = False
        """Whether a recording depends on the layout, so that no stream with other names may replace this one."""
        self.ended = False
        self._declared: OrderedDict[int, Layout] = OrderedDict()
        self._source: Hashable = None
        self._next: int | None = None
        self._missing: OrderedDict[int, None] = OrderedDict()
        self._refused, self._anew = 0, False
        self._time: float | None = None
        """[s] of the last sample taken, on the clock that runs forwards."""
        self._offset = 0.0
        self._arrived: float | None = None
        self._heard: float | None = None
        """[s] when the last sample of the stream came, in order or not; None before the first one."""
        self._silent = False

    def datagram(self, data: bytes, arrived: float, source: Hashable = None) -> Sample | None:
        """The sample of a datagram, its time on the clock that runs forwards; None where it is not to be followed.

        Args:
            data: as it came.
            arrived: [s] when, by our clock.
            source: socket that sent it.
        """
        try:
            layout = self._declared.get(layout_number(data))
            found = read_datagram(data, layout)
        except Early as error:
            self.tally.early += 1
            self.once("early", f"{error}: left out until then")
            return None
        except Garbled as error:
            self.tally.garbled += 1
            self.once("garbled", f"{error}: left out")
            return None
        if isinstance(found, Declared):
            self._declare(found, source)
            return None
        assert layout is not None
        if isinstance(found, Ended):
            if self._heard is not None and (layout, source) == (self.layout, self._source):
                self._end(found)
            return None
        return self._sample(found, arrived) if self._admits(layout, source, arrived) else None

    def refuse(self) -> None:
        """Leave out a sample that was accepted, because its names do not fit: any other stream may take its place."""
        self._heard = None
        self.tally.taken -= 1
        self.tally.other += 1

    def _declare(self, found: Declared, source: Hashable) -> None:
        """Remember a layout; a number far behind says that the sender of the stream restarted."""
        layout = found.layout
        self._declared[layout.number] = layout
        self._declared.move_to_end(layout.number)
        while len(self._declared) > MOST_DECLARED:
            self._declared.popitem(last=False)
        if self._heard is None:
            self.layout = layout
        elif (layout, source) == (self.layout, self._source):
            if self._next is not None and _ahead(found.sequence, self._next) < -ANEW:
                self._restart()
                self._next = found.sequence
            self.ended = False

    def _admits(self, layout: Layout, source: Hashable, arrived: float) -> bool:
        """Whether a sample belongs to the stream that is followed, or its stream takes the place of that one."""
        if self._heard is not None and (layout, source) == (self.layout, self._source):
            return True
        if self._heard is not None and not self.ended and not self._quiet(arrived):
            words = f"samples of a second sender came within {SILENT:g} s of the first one's: left out"
        elif self.pinned and layout != self.layout:
            words = "a stream of other names came, which would be another recording: left out until this one is kept"
        else:
            if self._time is not None:
                self._restart()
                self._next = None
            self.layout, self._source = layout, source
            return True
        self.tally.other += 1
        self.once(words, words)
        return False

    def _sample(self, found: Sample, arrived: float) -> Sample | None:
        """The same sample on the clock that runs forwards; None where it is not to be followed."""
        paused = self._heard_again(arrived)
        self.tally.stops += paused
        self.ended = False
        if not self._in_order(found.sequence):
            return None
        time = self._clocked(found.time, arrived)
        if time is None:
            return None
        if not paused and self._time is not None and self._arrived is not None:
            self.tally.stops += min(arrived - self._arrived, time - self._time) > SILENT
        self._time, self._arrived, self._refused, self._anew = time, arrived, 0, False
        self.tally.taken += 1
        return replace(found, time=time)

    @property
    def silent(self) -> bool:
        """Whether the stream has paused."""
        return self._silent

    def watch(self, now: float) -> None:
        """Notice a pause at a time [s] of our clock at which no datagram waits to be taken."""
        if self._quiet(now) and not self._silent and not self.ended:
            self._silent = True
            self.once("stops", f"nothing has come for {SILENT:g} s: waiting, what was recorded is kept")

    def once(self, kind: str, words: str) -> None:
        """Say something, the first time."""
        if kind not in self._said:
            self._said.add(kind)
            self._tell(words)

    def _quiet(self, now: float) -> bool:
        return self._heard is not None and now - self._heard > SILENT

    def _heard_again(self, arrived: float) -> bool:
        """Whether a pause that was noticed ends with a sample."""
        paused, self._silent = self._silent, False
        if paused and self._heard is not None:
            self.once("again", f"samples come again after {arrived - self._heard:.1f} s")
        self._heard = arrived
        return paused

    def _in_order(self, sequence: int) -> bool:
        ahead = 0 if self._next is None else _ahead(sequence, self._next)
        if ahead > MOST_LOST or (ahead < 0 and self._refused >= ANEW):
            self._restart()
            ahead = 0
        if ahead < 0:
            self._refused += 1
            if sequence in self._missing:
                del self._missing[sequence]
                self.tally.lost -= 1
                self.tally.late += 1
                self.once("late", "samples come after later ones: left out")
            else:
                self.tally.repeated += 1
                self.once("repeated", "samples come more than once: each is taken once")
            return False
        if ahead:
            self._lose(sequence, ahead)
        self._next = (sequence + 1) % WRAP
        return True

    def _lose(self, sequence: int, count: int) -> None:
        self.tally.lost += count
        self.once("lost", f"{count} {'sample was' if count == 1 else 'samples were'} lost on the way")
        for back in range(min(count, REMEMBERED), 0, -1):
            self._missing[(sequence - back) % WRAP] = None
        while len(self._missing) > REMEMBERED:
            self._missing.popitem(last=False)

    def _clocked(self, time: float, arrived: float) -> float | None:
        """The time on the clock that runs forwards; None where it does not, and may again."""
        if self._time is None or self._arrived is None:
            return time + self._offset
        ours, step = arrived - self._arrived, time + self._offset - self._time
        if step <= 0.0 and self._refused < ANEW and not self._anew:
            self._refused += 1
            self.tally.backwards += 1
            self.once("backwards", f"time runs backwards, from {self._time:.3f} to {time:.3f} s: left out")
            return None
        if step <= 0.0 or step > ours + JUMP:
            if step > 0.0:
                self.once("jump", f"the sender's clock leaps by {step:.6g} s at once: time goes on without the leap")
            if not self._anew:
                self._restart()
            self._offset += max(ours, LEAST_STEP) - step
        return time + self._offset

    def _restart(self) -> None:
        self.tally.restarts += 1
        self.once("restarts", "the sender, or its clock, began anew: its samples go on where it was")
        self._missing.clear()
        self._refused, self._anew = 0, True

    def _end(self, found: Ended) -> None:
        if self._next is not None and not self.ended:
            ahead = _ahead(found.sequence, self._next)
            if 0 < ahead <= MOST_LOST:
                self._lose(found.sequence, ahead)
                self._next = found.sequence
        self.ended = True


def _ahead(sequence: int, expected: int) -> int:
    """By how many a number is ahead of the one expected, below 0 behind, on the circle of `WRAP`."""
    return (sequence - expected + WRAP // 2) % WRAP - WRAP // 2


__all__ = ["Intake", "Tally"]
