"""What of a stream is taken: each sample once, in order, on a clock that runs forwards; everything else is counted.

What goes wrong is said when it happens first, in one sentence; the numbers stand in the tally.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace

from .datagram import WRAP, Declared, Early, Ended, Garbled, Layout, Sample, read_datagram

SILENT = 1.0
"""[s] Without a sample, after which the stream counts as stopped, and another sender may take its place."""
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
        garbled: datagrams that were none of ours, cut off, or of another stream.
        overrun: that came faster than they were taken, and were thrown away before they were looked at.
        held: too little was seen in them to be followed; the pose was held.
        unsettled: that used up the time budget before the pose had settled.
        stops: pauses of more than a second.
        restarts: the sender, or its clock, began anew.
    """

    taken: int = 0
    lost: int = 0
    late: int = 0
    repeated: int = 0
    backwards: int = 0
    early: int = 0
    garbled: int = 0
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
        self.ended = False
        self._source: Hashable = None
        self._next: int | None = None
        self._missing: OrderedDict[int, None] = OrderedDict()
        self._refused, self._anew = 0, False
        self._time: float | None = None
        """[s] of the last sample taken, on the clock that runs forwards."""
        self._offset = 0.0
        self._arrived: float | None = None
        self._heard: float | None = None
        self._silent = False

    def datagram(self, data: bytes, arrived: float, source: Hashable = None) -> Sample | None:
        """The sample of a datagram where it is to be followed, its time on the clock that runs forwards.

        Args:
            data: as it came.
            arrived: [s] when, by our clock.
            source: who sent it.
        """
        try:
            if self._source not in (None, source) and not self._quiet(arrived):
                raise Garbled("a datagram of a second sender, while the first one still sends")
            found = read_datagram(data, self.layout)
        except Early as error:
            self.tally.early += 1
            self.once("early", f"{error}: left out until then")
            return None
        except Garbled as error:
            self.tally.garbled += 1
            self.once("garbled", f"{error}: left out")
            return None
        self._source = source
        if isinstance(found, Declared):
            self.declare(found)
            return None
        if isinstance(found, Ended):
            self._end(found)
            return None
        return self.sample(found, arrived)

    def declare(self, found: Declared) -> None:
        """What the samples hold; the first declaration counts for as long as the stream lasts."""
        if self.layout is None:
            self.layout = found.layout
        elif self.layout.number != found.layout.number:
            self.tally.garbled += 1
            self.once("other", "a stream of other names was declared, which would be another recording: left out")
            return
        if self._next is not None and _ahead(found.sequence, self._next) < -ANEW:
            self._restart()
            self._next = found.sequence
        self.ended = False

    def sample(self, found: Sample, arrived: float) -> Sample | None:
        """The same sample on the clock that runs forwards; None where it is not to be followed."""
        self._heard_again(arrived)
        self.ended = False
        if not self._in_order(found.sequence):
            return None
        time = self._clocked(found.time, arrived)
        if time is None:
            return None
        self._time, self._arrived, self._refused, self._anew = time, arrived, 0, False
        self.tally.taken += 1
        return replace(found, time=time)

    def watch(self, now: float) -> bool:
        """Whether the stream is silent at a time [s] of our clock; the first moment of it is told."""
        if self._quiet(now) and not self._silent and not self.ended:
            self._silent = True
            self.tally.stops += 1
            self.once("stops", f"nothing has come for {SILENT:g} s: waiting, what was recorded is kept")
        return self._silent

    def once(self, kind: str, words: str) -> None:
        """Say something, the first time."""
        if kind not in self._said:
            self._said.add(kind)
            self._tell(words)

    def _quiet(self, now: float) -> bool:
        return self._heard is not None and now - self._heard > SILENT

    def _heard_again(self, arrived: float) -> None:
        if self._silent and self._heard is not None:
            self._silent = False
            self.once("again", f"samples come again after {arrived - self._heard:.1f} s")
        self._heard = arrived

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
