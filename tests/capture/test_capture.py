"""Laws of a live capture: what is sent is followed and kept, whatever becomes of the stream."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from solver.base.errors import InvalidValue
from solver.base.progress import silent
from solver.calibration.calibration import Calibration
from solver.capture.capture_loop import StopConditions, follow_arrivals, run_capture
from solver.capture.datagram import (
    JOINTS,
    EndOfStream,
    Layout,
    LayoutDeclaration,
    Sample,
    read_datagram,
)
from solver.capture.followers import FollowOptions
from solver.capture.replay import MAX_SLEEP, Stream, build_stream, replay, stream_datagrams
from solver.capture.server import CaptureServer, parse_request
from solver.capture.session import LiveBalance, StreamCapture
from solver.capture.takes import LatencyHistogram
from solver.capture.udp import Arrival, UdpReceiver, UdpSender
from solver.formats.recording import find_recordings
from solver.rigs import hoap3
from solver.scene import study_folder
from solver.scene.live_pose import scene_pose
from solver.scene.motion_record import MOTION
from solver.signals.trial import Recording
from solver.skeleton.rig import Rig
from solver.study.joint_motion import joints_of
from solver.tracking import Attachment, TrackingOptions
from solver.tracking.kinematics import Kinematics
from solver.values.motion import SegmentPoses
from tests.tracking.bodies import cloud, farthest, seen_from, swinging

FRAMES = 60


class Script:
    """A source that delivers datagrams as they are written here, all at the pace they are taken."""

    overrun = 0

    def __init__(self, data: Sequence[bytes], waited: float = 0.0, source: str = "here") -> None:
        self._left, self._waited, self._source = list(data), waited, source

    def receive(self, timeout: float) -> list[Arrival]:
        """The next one, which waited so many seconds."""
        came = time.perf_counter() - self._waited
        return [Arrival(self._left.pop(0), came, (self._source, 1))] if self._left else []

    def close(self) -> None:
        """Nothing is open."""


@pytest.fixture(scope="module")
def attachments(person: Rig) -> list[Attachment]:
    return cloud(person)


@pytest.fixture(scope="module")
def body(person: Rig, attachments: list[Attachment]) -> Calibration:
    return Calibration(person, tuple(attachments), "cloud", 1.75, {}, {a.marker: 0.0 for a in attachments})


@pytest.fixture(scope="module")
def poses(person: Rig) -> np.ndarray:
    """(FRAMES, nq)."""
    return swinging(person, FRAMES)


@pytest.fixture(scope="module")
def stream(person: Rig, attachments: list[Attachment], poses: np.ndarray) -> Stream:
    """The markers of the motion."""
    return build_stream(Recording("swing", seen_from(person, attachments, poses)))


def captured(how: FollowOptions, data: Sequence[bytes]) -> tuple[StreamCapture, list[str]]:
    """A capture of a script up to its end."""
    said: list[str] = []
    capture = StreamCapture(how, said.append)
    run_capture(Script(data), capture, StopConditions(silence=0.3), silent)
    return capture, said


def sent(stream: Stream) -> list[bytes]:
    """The datagrams of a stream."""
    return [data for _, data in stream_datagrams(stream)]


def test_markers_over_the_loopback_become_the_motion(
    person: Rig, body: Calibration, stream: Stream, poses: np.ndarray, tmp_path: Path
) -> None:
    """What a sender replays over UDP is followed to the configurations it was made from, and written as a study."""
    receiver = UdpReceiver(port=0)
    sender = UdpSender(port=receiver.port)
    capture = StreamCapture(FollowOptions(body), lambda _: None)
    assert capture.status_text == "waiting for a stream"
    try:
        replay(stream_datagrams(stream), sender.send, speed=50.0)
        run_capture(receiver, capture, StopConditions(), silent)
    finally:
        sender.close()
        receiver.close()
    taken = capture.build_take("swing")
    assert (capture.sequencer.counts.accepted, capture.sequencer.counts.lost, len(taken.rows)) == (FRAMES, 0, FRAMES)
    assert farthest(person, taken.rows["q"][5:], poses[5:]) < 2e-3
    half, most = capture.latencies.percentile(0.5), capture.latencies.percentile(0.99)
    assert capture.status_text.endswith(f"; latency {1e3 * half:.1f} ms, 99 % below {1e3 * most:.1f} ms")
    taken.write(tmp_path / "take")
    moved = MOTION.read(tmp_path / "take" / f"swing{study_folder.MOTION_END}")
    assert len(moved) == FRAMES
    assert moved.motion.times[0] == 0.0
    assert taken.to_study().records[0].tracked.rmse < 1e-4


def test_datagrams_are_sent_when_they_are_due(monkeypatch: pytest.MonkeyPatch) -> None:
    """At twice the speed each leaves after half its time; every second of the stream is reported with its share."""
    now, sent_at, shown = [5.0], list[float](), list[tuple[float, str]]()

    def sleep(seconds: float) -> None:
        assert 0.0 < seconds <= MAX_SLEEP
        now[0] += seconds

    monkeypatch.setattr("solver.capture.replay.time", SimpleNamespace(perf_counter=lambda: now[0], sleep=sleep))
    due = [0.0, 0.5, 1.0, 1.5, 3.0]
    note = lambda share, words: shown.append((share, words))  # noqa: E731
    assert replay(((time, b"") for time in due), lambda _: sent_at.append(now[0] - 5.0), 2.0, note, 2.0) == len(due)
    np.testing.assert_allclose(sent_at, np.divide(due, 2.0), atol=1e-9)
    assert shown == [(0.5, "sent 1 s"), (1.0, "sent 3 s")]


def test_a_stream_names_its_values_every_second_and_repeats_with_continuing_time() -> None:
    """Times from 0 on, numbers one by one, and the end with the number that the next sample would have had."""
    stream = Stream(Layout(JOINTS, ("a",), rate=2.0), 7.0 + 0.5 * np.arange(3), np.arange(3.0)[:, None])
    found = [(time, read_datagram(data, stream.layout)) for time, data in stream_datagrams(stream, 2)]
    samples = [(0.5 * k, Sample, k) for k in range(6)]
    names = [(float(k), LayoutDeclaration, 2 * k) for k in range(3)]
    expected = [*names[:1], *samples[:2], *names[1:2], *samples[2:4], *names[2:], *samples[4:], (2.5, EndOfStream, 6)]
    assert [(time, type(each), each.sequence) for time, each in found] == expected
    short = Stream(Layout(JOINTS, ("a",)), np.zeros(1), np.zeros((1, 1)))  # no rate: as at 100 Hz
    assert [time for time, _ in stream_datagrams(short, 2)] == pytest.approx([0.0, 0.0, 0.01, 0.01])


def test_percentiles_of_latencies_are_within_a_bin() -> None:
    """Of 1 to 1000 ms each percentile is at most 2.4 % too large; the shortest and the longest are bounded."""
    latencies = LatencyHistogram()
    assert latencies.percentile(0.5) == 0.0
    for seconds in (*np.arange(1, 1001) / 1000.0, 1e-9, 1e3):
        latencies.add(seconds)
    ratios = [latencies.percentile(share) / share for share in (0.1, 0.25, 0.5, 0.99)]
    assert 0.995 < min(ratios) < max(ratios) < 1.025
    assert (latencies.count, latencies.largest) == (1002, 1e3)
    assert latencies.percentile(1e-4) == pytest.approx(1e-5, rel=0.024)
    assert latencies.percentile(1.0) == pytest.approx(10.0)


def test_lost_samples_are_reported_and_bridged(body: Calibration, stream: Stream) -> None:
    """Of a stream that loses a tenth: taken and lost add up to what was sent, and the motion has no hole."""
    capture, said = captured(FollowOptions(body), [data for k, data in enumerate(sent(stream)) if k % 10 != 5])
    counts = capture.sequencer.counts
    assert counts.lost > 0
    assert counts.accepted + counts.lost == FRAMES
    assert any("lost" in words for words in said)
    study = capture.build_take("holes").to_study()
    assert np.isfinite(study.records[0].motion.q).all()
    assert f"{counts.lost} lost" in " ".join(study.warnings)


@pytest.mark.parametrize("value", [np.nan, np.inf, -1e30, 5e5])
def test_a_burst_of_no_numbers_holds_the_pose(
    person: Rig, body: Calibration, stream: Stream, poses: np.ndarray, value: float
) -> None:
    """The pose is kept during ten samples of NaN, infinities or far positions, which are reported once."""
    values = stream.values.copy()
    values[20:30] = value
    values[32, 1] = value  # of a marker, which is then missing
    capture, said = captured(FollowOptions(body), sent(replace(stream, values=values)))
    rows = capture.build_take("burst").rows
    assert capture.sequencer.counts.untracked == 10
    assert sum("the pose is kept" in words for words in said) == 1
    assert not rows["tracked"][20:30].any()
    assert (
        np.isnan(rows["errors"]).sum(axis=1).tolist() == [0] * 20 + [len(body.attachments)] * 10 + [0, 0, 1] + [0] * 27
    )
    assert np.array_equal(rows["q"][29], rows["q"][19])
    assert farthest(person, rows["q"][45:], poses[45:]) < 2e-3


def test_what_was_recorded_is_kept_when_the_stream_stops(body: Calibration, stream: Stream) -> None:
    """A stream that breaks off without an end, in the midst of garbage, leaves what came before."""
    capture, _ = captured(FollowOptions(body), ([*sent(stream)[:40], b"EDMC", b"\xff" * 100]))
    assert capture.recorded_count == 39
    assert capture.sequencer.counts.invalid == 2
    assert len(capture.build_take("part").rows) == 39


def test_nothing_recorded_is_an_error_that_says_why(body: Calibration, stream: Stream) -> None:
    """No motion is made of no stream, of garbage, or of a handful of samples."""
    said: list[str] = []
    for data, word in ((sent(stream)[:5], "too short"), ([b"x"] * 3, "3 datagrams"), ([], "no stream")):
        capture = StreamCapture(FollowOptions(body), said.append)
        capture.record()
        for each in data:
            capture.receive(each, time.perf_counter())
        with pytest.raises(InvalidValue, match=word):
            capture.build_take("none")


def test_a_backlog_is_recorded_and_its_newest_sample_followed(body: Calibration, stream: Stream) -> None:
    """Of samples that waited for seconds the last is followed, and no pause is counted; the take is that of a program
    in time.
    """

    class Backlog(Script):
        """Everything at once."""

        def receive(self, timeout: float) -> list[Arrival]:
            """All that is left, after so many seconds."""
            return [arrival for _ in range(len(self._left)) for arrival in super(Backlog, self).receive(timeout)]

    said: list[str] = []
    capture = StreamCapture(FollowOptions(body), said.append)
    capture.record()
    for each in sent(stream)[:20]:
        follow_arrivals(Script([each], waited=5.0), capture)
    newest = follow_arrivals(Backlog(sent(stream)[20:-5], waited=5.0), capture)
    assert newest is not None
    assert newest.sample.sequence == FRAMES - 5
    for each in sent(stream)[-5:]:
        follow_arrivals(Script([each], waited=5.0), capture)
    counts = capture.sequencer.counts
    assert (counts.accepted, capture.recorded_count, counts.pauses) == (FRAMES, FRAMES, 0)
    assert FRAMES - 25 < counts.skipped < FRAMES - 10
    assert sum("not shown" in words for words in said) == 1
    rows = capture.build_take("late").rows
    np.testing.assert_allclose(rows["values"], stream.values, atol=1e-6)
    in_time, _ = captured(FollowOptions(body), sent(stream))
    np.testing.assert_array_equal(rows["q"], in_time.build_take("in time").rows["q"])


def test_a_stream_that_fits_no_body_holds_no_place(body: Calibration, stream: Stream) -> None:
    """Beside a stream that cannot be followed, which is said once, another one is followed from its first sample on."""
    misfit = Stream(Layout("markers", ("A", "B")), stream.times, np.zeros((FRAMES, 6)))
    both = [each for pair in zip(sent(misfit), sent(stream)) for each in pair]

    class Both(Script):
        """Two senders, a datagram of each at a time."""

        def receive(self, timeout: float) -> list[Arrival]:
            """One of either."""
            two = [self._left.pop(0) for _ in range(min(2, len(self._left)))]
            return [Arrival(data, time.perf_counter(), (name, 1)) for data, name in zip(two, ("misfit", "fit"))]

    lines: list[dict] = []
    capture = StreamCapture(FollowOptions(body), lambda _: None)
    server = CaptureServer(Both(both), capture, lambda line: lines.append(json.loads(line)))
    server.execute(parse_request(b'{"do": "record"}'))
    for _ in range(FRAMES + 3):
        server.step(0.0)
    assert capture.recorded_count == FRAMES
    assert sum(line["kind"] == "error" for line in lines) == 1
    assert (capture.sequencer.counts.accepted, capture.sequencer.counts.other_stream) == (FRAMES, FRAMES)


def test_joint_values_are_the_configuration(poses: np.ndarray) -> None:
    """Joint values by name, in any order and with the root, give the configuration that they were read off."""
    rig = hoap3()
    q = np.tile(rig.neutral, (20, 1))
    q[:, 7:] = 0.2 * np.sin(np.arange(20)[:, None] / 5.0 + np.arange(rig.nq - 7))
    joints = joints_of(rig, np.arange(20) / 100.0, q)
    order = np.random.default_rng(0).permutation(len(joints.names))
    mixed = replace(joints, names=tuple(joints.names[k] for k in order), values=joints.values[:, order],
                    units=tuple(joints.units[k] for k in order))  # fmt: skip
    capture, _ = captured(FollowOptions(rig), sent(build_stream(Recording("robot", joints=mixed))))
    np.testing.assert_allclose(capture.build_take("robot").rows["q"], q, atol=1e-6)


def test_segments_turn_the_links_after_half_a_second_of_standing(person: Rig, poses: np.ndarray) -> None:
    """Of segments named as the links, the first half second of standing shows how they lie; then links turn as they.

    Samples without any orientation do not count as standing.
    """
    still = np.tile(person.neutral, (60, 1))
    kinematics, turns, places = Kinematics(person), [], []
    for q in np.concatenate([still, poses]):
        kinematics.update_kinematics(q)
        turns.append(kinematics.rotations.copy())
        places.append(kinematics.positions.copy())
    segments = SegmentPoses(np.arange(len(turns)) / 100.0, person.links, np.array(turns), np.array(places))
    suit = build_stream(Recording("suit", segments=segments))
    suit.values[:10] = np.nan
    capture, said = captured(FollowOptions(person), sent(suit))
    rows = capture.build_take("suit").rows
    assert (len(rows), capture.sequencer.counts.untracked) == (60 + FRAMES - 50, 10)
    assert any("stand upright" in words for words in said)
    kinematics.update_kinematics(rows["q"][-1])
    assert np.abs(kinematics.rotations - turns[-1]).max() < 0.02


@pytest.mark.parametrize(
    ("names", "word"),
    [(("A", "B"), "none of the recorded markers"), (("knee",), "joints of")],
    ids=["markers", "joints"],
)
def test_names_that_do_not_fit_the_body_are_refused(body: Calibration, names: tuple[str, ...], word: str) -> None:
    """A stream of another body is one error that names it, before any sample."""
    if len(names) > 1:
        layout, how = Layout("markers", names), FollowOptions(body)
    else:
        layout, how = Layout(JOINTS, names, root=True), FollowOptions(hoap3())
    stream = Stream(layout, np.arange(20) / 100.0, np.zeros((20, layout.size)))
    with pytest.raises(InvalidValue, match=word):
        captured(how, sent(stream))


def test_a_budget_bounds_a_sample(body: Calibration, stream: Stream) -> None:
    """With next to no time samples count as unsettled, are reported, and are tracked all the same."""
    capture, said = captured(FollowOptions(body, TrackingOptions(time_budget=1e-6)), sent(stream))
    assert capture.sequencer.counts.unconverged > FRAMES // 2
    assert any("budget" in words for words in said)
    assert np.nanmedian(capture.build_take("hurried").rows["errors"]) < 0.01


def test_memory_does_not_grow_with_the_recording(body: Calibration, stream: Stream) -> None:
    """What a capture holds in memory after many samples is what it held after few."""
    import tracemalloc

    capture = StreamCapture(FollowOptions(body), lambda _: None)
    capture.record()
    sizes = []
    tracemalloc.start()
    for _, data in stream_datagrams(stream, repeats=6):
        if (sample := capture.receive(data, time.perf_counter())) is not None:
            capture.follow(sample, time.perf_counter())
        if capture.recorded_count % (2 * FRAMES) == 0:
            sizes.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    assert capture.recorded_count == 6 * FRAMES
    assert sizes[-1] - sizes[len(sizes) // 2] < 50_000


def test_balance_of_a_body_at_rest_is_under_its_centre_of_mass() -> None:
    """Standing still the zero-moment point is the centre of mass's foot; hanging in the air there is no polygon."""
    rig = hoap3()
    watch, q = LiveBalance(rig), rig.neutral
    q[2] = rig.standing_height
    messages = [watch.update(0.01 * k, q) for k in range(30)]
    assert [found.zmp is None for found in messages] == [True] * 10 + [False] * 20  # half the window of .2 s
    assert messages[0].margin is not None
    np.testing.assert_allclose(np.asarray(messages[-1].zmp), messages[-1].com[:2], atol=1e-6)
    assert messages[-1].margin == pytest.approx(messages[0].margin, abs=1e-6)
    q[2] += 0.5
    assert watch.update(0.31, q).margin is None
    q[2] -= 0.5
    slow = [watch.update(time, q).zmp is None for time in (0.5, 0.53, 0.56, 0.59, 0.62, 0.65, 0.68, 0.76, 0.87)]
    assert slow == [True] * 5 + [False] * 3 + [True]  # six samples; none after .11 s without one


def test_an_accelerated_body_s_zero_moment_point_lies_behind() -> None:
    """Of a rigid body with accelerations a and f, down, the ZMP lies z / (g - f) a behind the centre of mass; there is
    none where the floor carries less than a fifth of the weight.
    """
    rig = hoap3()
    for fall in (0.0, 1.0, 7.5, 8.2):
        watch, q, found = LiveBalance(rig), rig.neutral, None
        for now in 0.01 * np.arange(40):
            q[:3] = 0.2 * now**2, -0.3 * now**2, rig.standing_height - 0.5 * fall * now**2
            found = watch.update(now, q)
        if fall < 8.0:
            behind = found.com[2] / (9.81 - fall) * np.array([0.4, -0.6])
            np.testing.assert_allclose(found.com[:2] - found.zmp, behind, rtol=1e-3)
        assert (found.zmp is None) == (fall > 8.0)


def test_a_server_shows_poses_and_keeps_takes(body: Calibration, stream: Stream, tmp_path: Path) -> None:
    """Poses come out as lines that read back; record and keep write a folder; nonsense is answered, no more."""
    lines: list[dict] = []
    capture = StreamCapture(FollowOptions(body), lambda _: None)
    server = CaptureServer(Script(sent(stream)), capture, lambda line: lines.append(json.loads(line)))
    server.execute(parse_request(b'{"do": "record"}'))
    for request in (b"nonsense", b'{"do": "keep"}', b'{"do": "keep", "folder": "x", "name": "a/b"}', None):
        server.execute(parse_request(request))
    assert [line["kind"] for line in lines] == ["error"] * 4
    for _ in range(FRAMES + 2):
        server.step(0.0)
    shown = [scene_pose(line) for line in lines if line["kind"] == "pose"]
    assert shown
    assert len(shown[-1].rotations) == len(body.rig.links)
    assert shown[-1].error is not None
    assert shown[-1].error < 1e-3
    folder = tmp_path / "take"
    server.execute(parse_request(json.dumps({"do": "keep", "folder": str(folder), "name": "one"}).encode()))
    assert (lines[-1]["kind"], lines[-1]["message"]) == ("kept", f"{FRAMES} samples accepted; none lost")
    assert capture.recorded_count == 0
    fields = ("quantity", "names", "ended", "silent", "recording", "recorded")
    states = [[line[name] for name in fields] for line in lines if line["kind"] == "state"]
    assert states[0] == ["markers", len(body.attachments), False, False, True, 0]
    assert len(MOTION.read(folder / f"one{study_folder.MOTION_END}")) == FRAMES


def test_a_replayed_take_is_the_recording(body: Calibration, stream: Stream, tmp_path: Path) -> None:
    """Joint coordinates that a take wrote can be sent again and give the same configurations."""
    capture, _ = captured(FollowOptions(body), sent(stream))
    taken = capture.build_take("again")
    taken.write(tmp_path / "take")
    found = find_recordings([tmp_path / "take" / "again.joints.csv"])[0]
    second, _ = captured(FollowOptions(body.rig), sent(build_stream(found)))
    assert farthest(body.rig, second.build_take("twice").rows["q"], taken.to_study().records[0].motion.q) < 1e-4


def test_an_occupied_port_is_reported() -> None:
    """Two receivers on one port, and an address that is none, are errors with a remedy."""
    first = UdpReceiver(port=0)
    try:
        with pytest.raises(InvalidValue, match="--port"):
            UdpReceiver(port=first.port)
    finally:
        first.close()
    with pytest.raises(InvalidValue, match="not an IP address"):
        UdpReceiver("nowhere")
