"""Laws of what is taken of a stream."""

from __future__ import annotations

import numpy as np
import pytest

from solver.capture.datagram import (
    MARKERS,
    SEQUENCE_MODULUS,
    Layout,
    Sample,
    end_datagram,
    layout_datagram,
    sample_datagram,
)
from solver.capture.sample_sequencer import MAX_LOST, MAX_MISSING, PAUSE_AFTER, RESTART_AFTER, SampleSequencer

LAYOUT = Layout(MARKERS, ("A", "B"), rate=100.0)
STEP = 0.01


class Stream:
    """A sender whose datagrams reach an intake one by one, on a clock of its own."""

    def __init__(self, first: int = 0) -> None:
        self.said: list[str] = []
        self.intake = SampleSequencer(self.said.append)
        self.first, self.now = first, 100.0
        self.declare()

    def declare(self, sequence: int | None = None, source: object = "one") -> None:
        """Say what samples hold."""
        number = self.first if sequence is None else sequence
        self.intake.receive(layout_datagram(LAYOUT, number, 0.0), self.now, source)

    def send(self, number: int, time: float | None = None, source: object = "one", wait: float = STEP) -> float | None:
        """Send a sample; the time that it was taken at."""
        self.now += wait
        sample = Sample(self.first + number, STEP * number if time is None else time, np.zeros(LAYOUT.size))
        found = self.intake.receive(sample_datagram(LAYOUT, sample), self.now, source)
        return None if found is None else found.time


@pytest.mark.parametrize("first", [0, SEQUENCE_MODULUS - 100])
def test_every_sample_is_accepted_once_or_counted(first: int) -> None:
    """Whatever is lost, doubled or shuffled: taken, late and lost add up to what was sent, times only rise."""
    random = np.random.default_rng(first % 7)
    stream, times = Stream(first), []
    order = np.arange(1000) + random.uniform(0.0, 2.5, 1000)  # neighbours change places
    numbers = [int(k) for k in np.argsort(order) if random.random() > 0.1]
    numbers = sorted(set(numbers) | {0, 999}, key=lambda k: order[k] if 0 < k < 999 else 2.0 * k - 500.0)
    for number in numbers:
        times += [stream.send(number)]
        if random.random() < 0.05:
            assert stream.send(number) is None
    counts = stream.intake.counts
    assert counts.accepted + counts.late + counts.lost == 1000
    assert counts.lost == 1000 - len(set(numbers))
    assert counts.late > 0
    assert counts.repeated > 0
    assert np.all(np.diff([time for time in times if time is not None]) > 0.0)
    assert len(stream.said) == 3, "lost, late and repeated are each said once"


def test_the_end_counts_what_never_came() -> None:
    """Samples that are lost just before the end are counted by the number that the end carries."""
    stream = Stream()
    stream.send(0)
    stream.intake.receive(end_datagram(LAYOUT, 5, 0.05), stream.now, "one")
    assert stream.intake.ended
    assert stream.intake.counts.lost == 4


def test_time_that_runs_backwards_is_left_out_until_the_clock_restarts() -> None:
    """Single samples from the past are dropped; a clock that stays behind counts as set back, and time goes on."""
    stream = Stream()
    for number in range(10):
        stream.send(number)
    assert stream.send(10, time=0.0) is None
    assert stream.send(11) is not None
    found = [stream.send(12 + k, time=-50.0 + STEP * k) for k in range(RESTART_AFTER + 10)]
    taken = [time for time in found if time is not None]
    assert found[0] is None
    assert len(taken) == 10
    assert taken[0] > 0.11
    assert np.all(np.diff(taken) > 0.0)
    assert (stream.intake.counts.backwards, stream.intake.counts.restarts) == (RESTART_AFTER + 1, 1)


def test_a_clock_that_leaps_does_not_stretch_the_recording() -> None:
    """A sender's clock that jumps ahead by a day is followed without the day; a true pause stays one."""
    stream = Stream()
    before = stream.send(0)
    assert before is not None
    assert stream.send(1, time=86400.0) is None  # it may be damaged
    after = stream.send(2, time=86400.0 + STEP)
    assert after is not None
    assert 0.0 < after - before < 0.1
    paused = stream.send(3, time=86400.0 + STEP + 30.0, wait=30.0)
    assert paused is not None
    assert paused - after == pytest.approx(30.0)
    assert any("jumps" in words for words in stream.said)


@pytest.mark.parametrize("declared", [True, False])
def test_a_restarted_sender_is_followed(declared: bool) -> None:
    """Numbers and time from 0 again: after its declaration at once, without one after a while, and it is reported."""
    stream = Stream()
    for number in range(500):
        stream.send(number)
    if declared:
        stream.declare(0)
    found = [stream.send(number) for number in range(100)]
    taken = [time for time in found if time is not None]
    assert len(taken) == 100 - (0 if declared else RESTART_AFTER)
    assert min(taken) > 4.99
    assert stream.intake.counts.lost == 0
    assert stream.intake.counts.restarts == 1


@pytest.mark.parametrize(
    ("sent", "outcome"),
    [
        ({"number": 1 + RESTART_AFTER}, (2, 20, 0, 0, 0)),
        ({"number": 2 + RESTART_AFTER}, (1, 0, 1, 0, 0)),
        ({"number": 1, "time": 2.0099}, (2, 0, 0, 0, 0)),
        ({"number": 1, "time": 2.0101}, (1, 0, 1, 0, 0)),
        ({"number": 1, "time": 1.01, "wait": 1.01}, (2, 0, 0, 1, 0)),
        ({"number": 1, "time": 0.99, "wait": 1.01}, (2, 0, 0, 0, 0)),
        ({"number": 1, "time": 0.0}, (1, 0, 0, 0, 1)),
        ({"number": 1, "time": 1e-6}, (2, 0, 0, 0, 0)),
    ],
)
def test_steps_of_number_and_time_have_exact_bounds(sent: dict[str, float], outcome: tuple[int, ...]) -> None:
    """A sample may be 20 numbers and 2 s ahead of our clock; a pause is longer than a second on both clocks."""
    stream = Stream()
    stream.send(0)
    stream.send(**sent)  # type: ignore[arg-type]
    counts = stream.intake.counts
    assert (counts.accepted, counts.lost, counts.invalid, counts.pauses, counts.backwards) == outcome


def test_late_samples_are_recognised_among_the_last_lost_ones() -> None:
    """A leap that the next sample continues counts as lost, of which the last 4096 are known; past a million it is a
    restart.
    """
    stream = Stream()
    numbers = [0, 5001, 5002, 5002 - MAX_MISSING, 5001 - MAX_MISSING, 5002 + MAX_LOST, 5003 + MAX_LOST]
    taken = [stream.send(number, time=STEP * k) is not None for k, number in enumerate(numbers)]
    counts = stream.intake.counts
    assert taken == [True, False, True, False, False, False, True]
    assert (counts.late, counts.repeated, counts.lost, counts.restarts) == (1, 1, 5000 + MAX_LOST, 0)
    for k, number in enumerate((5005 + 2 * MAX_LOST, 5006 + 2 * MAX_LOST), start=len(numbers)):
        stream.send(number, time=STEP * k)
    assert (counts.accepted, counts.lost, counts.restarts) == (4, 5000 + MAX_LOST, 1)


def test_a_stream_belongs_to_its_sender_until_it_ends() -> None:
    """A second sender with the same names is left out and named, the first continues after any pause."""
    stream = Stream()
    stream.send(0)
    stream.declare(0, source=("10.0.0.2", 5002))
    assert stream.send(1, source=("10.0.0.2", 5002)) is None
    assert stream.send(1) is not None
    assert stream.send(2, source=("10.0.0.2", 5002), wait=3600.0) is None
    assert stream.intake.counts.other_stream == 2
    assert "10.0.0.2:5002" in stream.said[0]
    assert stream.send(2, time=3600.0) is not None
    stream.intake.receive(end_datagram(LAYOUT, 3, 0.0), stream.now, "one")
    assert stream.send(0, source=("10.0.0.2", 5002)) is not None


@pytest.mark.parametrize("damage", [{"number": 900_000}, {"time": 1e300}, {"time": 9e9}, {"number": 70, "time": 500.0}])
def test_a_damaged_number_or_time_changes_nothing(damage: dict[str, float]) -> None:
    """One sample whose number or clock leaps ahead is left out: nothing counts as lost but itself, no time is added."""
    stream = Stream()
    for number in range(50):
        stream.send(number)
    sent = {"number": 50, "time": 50 * STEP, **damage}
    assert stream.send(int(sent["number"]), time=sent["time"]) is None
    assert stream.send(51) == pytest.approx(51 * STEP)
    counts = stream.intake.counts
    assert (counts.accepted, counts.lost, counts.invalid, counts.restarts) == (51, 1, 1, 0)


def test_a_damaged_declaration_loses_no_samples() -> None:
    """A declaration whose number is far behind the samples' counts none of them as lost."""
    stream = Stream()
    for number in range(500):
        stream.send(number)
    stream.declare(20)
    assert [stream.send(number) for number in range(500, 510)].count(None) == 0
    assert stream.intake.counts.lost == 0


def test_samples_before_their_names_are_not_called_garbled() -> None:
    """Who joins a stream that runs is reported that the names follow, and may take it from then on."""
    said: list[str] = []
    intake = SampleSequencer(said.append)
    early = [sample_datagram(LAYOUT, Sample(k, k * STEP, np.zeros(LAYOUT.size))) for k in range(4)]
    assert [intake.receive(data, 0.01 * k, "one") for k, data in enumerate(early[:3])] == [None] * 3
    intake.receive(layout_datagram(LAYOUT, 3, 0.0), 0.03, "one")
    assert intake.receive(early[3], 0.04, "one") is not None
    assert (intake.counts.before_layout, intake.counts.invalid, intake.counts.lost, len(said)) == (3, 0, 0, 1)
    assert "3 arrived before their names" in intake.counts.summary
    assert "garbled" not in intake.counts.summary + said[0]


def test_pauses_and_invalid_datagrams_are_reported_once_and_counted() -> None:
    """A stream that stops, starts again and is garbage between is reported in a few sentences, and goes on."""
    stream = Stream()
    stream.send(0)
    stream.intake.check_pause(stream.now + 0.5)
    assert not stream.intake.is_paused
    for _ in range(5):
        stream.intake.check_pause(stream.now + PAUSE_AFTER + 0.5)
        assert stream.intake.is_paused
    for _ in range(50):
        assert stream.intake.receive(b"GET / HTTP/1.1", stream.now, "one") is None
    assert stream.send(1, wait=5.0) is not None
    assert not stream.intake.is_paused
    counts = stream.intake.counts
    assert (counts.pauses, counts.invalid, counts.lost) == (1, 50, 0)
    assert len(stream.said) == 3
    assert "50 were invalid" in counts.summary


def test_another_stream_on_the_same_port_is_left_out() -> None:
    """Samples of other names never become samples of the first ones."""
    stream, other = Stream(), Layout(MARKERS, ("C", "D"))
    stream.send(0)
    stream.intake.receive(layout_datagram(other, 0, 0.0), stream.now, "one")
    data = sample_datagram(other, Sample(1, STEP, np.zeros(other.size)))
    assert stream.intake.receive(data, stream.now, "one") is None
    assert stream.intake.layout == LAYOUT
    assert stream.intake.counts.other_stream == 1


OTHER = Layout(MARKERS, ("C", "D"))


@pytest.mark.parametrize("layout", [LAYOUT, OTHER], ids=["same names", "other names"])
@pytest.mark.parametrize("ended", [False, True])
def test_a_declaration_without_samples_blocks_no_stream(layout: Layout, ended: bool) -> None:
    """Whatever another socket declares or ends, every sample of the stream that follows is taken, and nothing ends."""
    stream = Stream()
    stream.intake = SampleSequencer(stream.said.append)
    stream.intake.receive(layout_datagram(layout, 0, 0.0), stream.now, "stray")
    if ended:
        stream.intake.receive(end_datagram(layout, 0, 0.0), stream.now, "stray")
    stream.declare()
    for number in range(200):
        if number % 50 == 0:
            stream.intake.receive(layout_datagram(layout, 7, 0.0), stream.now, "stray")
        assert stream.send(number) is not None
        assert not stream.intake.ended
    assert stream.intake.layout == LAYOUT
    assert (stream.intake.counts.accepted, stream.intake.counts.restarts, stream.said) == (200, 0, [])


def test_declarations_and_samples_may_come_from_two_sockets() -> None:
    """A sender that declares from one socket and sends its samples from another is followed whole."""
    stream = Stream()
    for number in range(100):
        stream.declare(number, source="declares")
        assert stream.send(number, source="samples") is not None
    assert stream.said == []


@pytest.mark.parametrize("pinned", [False, True])
def test_a_silent_sender_may_send_other_names_unless_a_recording_needs_the_first(pinned: bool) -> None:
    """After a second of silence its other names are followed; while something is recorded they are left out."""
    stream = Stream()
    stream.send(0)
    stream.intake.layout_fixed = pinned
    stream.intake.receive(layout_datagram(OTHER, 0, 0.0), stream.now, "one")
    data = [sample_datagram(OTHER, Sample(k, STEP * k, np.zeros(OTHER.size))) for k in range(50)]
    found = [stream.intake.receive(each, stream.now + 5.0 + STEP * k, "one") for k, each in enumerate(data)]
    assert sum(sample is not None for sample in found) == (0 if pinned else 50)
    assert stream.intake.layout == (LAYOUT if pinned else OTHER)
    assert any("until this one is saved" in words for words in stream.said) == pinned
