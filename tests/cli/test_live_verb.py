"""The live check as another program meets it: a client process and its lines."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.live_client import LiveClient
from solver.dance.authoring.timeline import dance_from_timeline
from solver.feasibility import CheckOptions, check_motion
from solver.rigs import hoap3, hrp2
from solver.scene.checked_frame import scene_frame
from solver.scene.motion import scene_motion
from solver.scene.rig import write_rig
from solver.scene.timeline import TIMELINE, SceneStrip, SceneTimeline
from tests.dance.static_motions import sinusoidal_motion, standing_schedule

PATIENCE = 60.0
RIG = hoap3()
TIMES = np.arange(240) / 30.0


def is_done(serial: int) -> Callable[[dict], bool]:
    """The end of a timeline's frames."""
    return lambda answer: answer["kind"] == "done" and answer["serial"] == serial


@pytest.fixture(scope="module")
def timeline() -> SceneTimeline:
    """A robot that swings on both feet."""
    shown = scene_motion(RIG, sinusoidal_motion(RIG, TIMES, size=0.2))
    strips = tuple(SceneStrip(patch.name, 0.0, float(TIMES[-1])) for patch in RIG.contacts)
    return SceneTimeline(
        "dance",
        RIG,
        TIMES,
        shown.root,
        shown.rotations,
        shown.translations,
        strips=strips,
        ground=-0.3,
        checks=CheckOptions(shrink=0.4),
    )


@pytest.fixture(scope="module")
def path(timeline: SceneTimeline, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Its file."""
    return str(TIMELINE.write(tmp_path_factory.mktemp("live") / "a.timeline.npz", timeline))


@pytest.fixture(scope="module")
def live_client() -> Iterator[LiveClient]:
    """One server for the whole file."""
    found = LiveClient()
    yield found
    found.kill()


def test_every_frame_is_told_once_nearest_first_and_as_checked(
    live_client: LiveClient, timeline: SceneTimeline, path: str
) -> None:
    """The answers are the check of the motion that the timeline shows, from the frame looked at outwards."""
    live_client.send({"do": "look", "frame": 100}, {"do": "timeline", "serial": 1, "path": path})
    answers = live_client.receive_until(is_done(1))
    assert {answer["serial"] for answer in answers} == {1}
    frames = [scene_frame(each) for answer in answers[:-1] for each in answer["frames"]]
    distances = [abs(frame.frame - 100) for frame in frames]
    assert distances[0] == 0
    assert distances == sorted(distances)
    assert sorted(frame.frame for frame in frames) == list(range(len(TIMES)))
    keyed = dance_from_timeline(timeline, RIG)
    motion = keyed.curve().motion(RIG, TIMES)
    checks = check_motion(RIG, motion, keyed.schedule, timeline.checks)
    for frame in frames:
        assert frame.time == pytest.approx(TIMES[frame.frame])
        assert frame.comfort == pytest.approx(checks.relative_margin[frame.frame], abs=1e-6)
        assert frame.worst.check == checks.worst(frame.frame).check.name
    assert answers[-1]["failed"] == [[start, stop - 1] for start, stop in checks.failed_ranges]
    assert len(answers[-1]["failures"]) == len(checks.first_failures)


def test_excitation_follows_the_frames(live_client: LiveClient) -> None:
    """After the frames of the timeline before come its excitations, in the order of time, to the last frame."""
    answers = live_client.receive_until(lambda answer: answer.get("time") == pytest.approx(TIMES[-1]))
    assert {answer["kind"] for answer in answers} == {"excitation"}
    times = [answer["time"] for answer in answers]
    assert times == sorted(times)
    assert len(times) == 20
    assert set(answers[-1]["links"]) <= set(RIG.links)


def held_to(timeline: SceneTimeline, folder: Path, **changes: float) -> str:
    """The file of the timeline held to other checks, so that each of its frames is checked anew."""
    path = folder / f"{len(list(folder.iterdir()))}.timeline.npz"
    return str(TIMELINE.write(path, replace(timeline, checks=replace(timeline.checks, **changes))))  # type: ignore[arg-type]


def test_a_replaced_serial_never_answers_again(
    live_client: LiveClient, timeline: SceneTimeline, tmp_path: Path
) -> None:
    """From the first answer to a newer timeline on, none belongs to an older one, and every frame comes again."""
    for serial in (2, 3, 4):
        path = held_to(timeline, tmp_path, shrink=0.1 * serial)
        live_client.send({"do": "timeline", "serial": serial, "path": path, "excitation": False})
    answers = live_client.receive_until(is_done(4))
    serials = [answer["serial"] for answer in answers]
    assert serials == sorted(serials)
    last = [each["frame"] for answer in answers if answer["kind"] == "frames" and answer["serial"] == 4
            for each in answer["frames"]]  # fmt: skip
    assert sorted(last) == list(range(len(TIMES)))


def test_a_posture_is_told_before_a_timeline(live_client: LiveClient, timeline: SceneTimeline, tmp_path: Path) -> None:
    """The pose comes first even if it was asked for last; lifted off the floor, it says by how much."""
    one = replace(
        timeline, times=timeline.times[:1], root=timeline.root[:1] + np.array([0.0, 0.0, 0.5]),
        rotations=timeline.rotations[:1], translations=timeline.translations[:1],
        strips=tuple(SceneStrip(patch.name, 0.0, 0.0) for patch in RIG.contacts),
    )  # fmt: skip
    lifted = str(TIMELINE.write(tmp_path / "pose.timeline.npz", one))
    live_client.send(
        {"do": "timeline", "serial": 5, "path": held_to(timeline, tmp_path, friction=0.4), "excitation": False},
        {"do": "pose", "serial": 6, "path": lifted},
    )
    answers = live_client.receive_until(is_done(5))
    poses = [answer for answer in answers if answer["kind"] == "pose"]
    assert [answer["serial"] for answer in poses] == [6]
    assert answers.index(poses[0]) <= 1  # the timeline's first frame may have been told before the line was read
    margins = {m.check: m for m in scene_frame(poses[0]["frame"]).margins}
    assert margins["slip"].value < -0.4
    assert {foot[0] for foot in poses[0]["frame"]["feet"]} == {patch.name for patch in RIG.contacts}


def test_a_wrong_request_is_answered_and_survived(live_client: LiveClient, path: str, timeline: SceneTimeline) -> None:
    """One error says what the rig lacks; the server lives on and takes the next timeline."""
    wrong = TIMELINE.write(
        Path(path).with_name("b.timeline.npz"), replace(timeline, strips=(SceneStrip("heel", 0.0, 1.0),))
    )
    live_client.send({"do": "timeline", "serial": 8, "path": str(wrong)})
    (answer,) = live_client.receive_until(lambda _: True)
    assert (answer["kind"], answer["serial"]) == ("error", 8)
    assert "heel" in answer["message"]
    live_client.send({"do": "timeline", "serial": 9, "path": path, "excitation": False})
    assert {answer["serial"] for answer in live_client.receive_until(is_done(9))} == {9}


def test_a_timeline_that_cannot_be_read_replaces_the_one_before(
    live_client: LiveClient, timeline: SceneTimeline, path: str, tmp_path: Path
) -> None:
    """After its error nothing more is said of the older one, under neither serial."""
    live_client.send(
        {"do": "timeline", "serial": 20, "path": held_to(timeline, tmp_path, friction=0.45), "excitation": False}
    )
    live_client.receive_until(lambda answer: answer["kind"] == "frames")
    live_client.send({"do": "timeline", "serial": 21, "path": "missing.npz"})
    live_client.receive_until(lambda answer: answer["kind"] == "error" and answer["serial"] == 21)
    live_client.send({"do": "timeline", "serial": 22, "path": path, "excitation": False})
    assert {answer["serial"] for answer in live_client.receive_until(is_done(22))} == {22}


def test_what_was_asked_before_the_end_of_the_input_is_answered(
    live_client: LiveClient, timeline: SceneTimeline, tmp_path: Path
) -> None:
    """All that was asked for in the middle of work, to its last excitation; then the process ends."""
    live_client.send({"do": "timeline", "serial": 10, "path": held_to(timeline, tmp_path, friction=0.3)})
    live_client.receive_until(lambda answer: answer["kind"] == "frames")
    rest = live_client.close()
    assert [answer["kind"] for answer in rest].count("done") == 1
    assert rest[-1]["time"] == pytest.approx(TIMES[-1])
    assert (live_client.process.returncode, live_client.stderr) == (0, "")


def test_one_request_and_the_end_of_the_input(path: str) -> None:
    """As a shell may send it, without an end of line: it is answered like any other."""
    live_client = LiveClient()
    live_client.send_bytes(json.dumps({"do": "pose", "serial": 1, "path": path}).encode())
    assert [(answer["kind"], answer["serial"]) for answer in live_client.close()] == [("pose", 1)]
    assert (live_client.process.returncode, live_client.stderr) == (0, "")


def test_a_body_of_its_own_and_the_request_to_end(path: str, tmp_path: Path) -> None:
    """With a rig named, timelines of another are refused; ``end`` ends at once."""
    live_client = LiveClient(str(write_rig(tmp_path / "rig.json", hrp2())))
    live_client.send({"do": "timeline", "serial": 1, "path": path})
    answer = live_client.receive_until(lambda _: True)[0]
    assert (answer["kind"], answer["serial"]) == ("error", 1)
    assert "another rig" in answer["message"]
    live_client.send({"do": "end"})
    assert live_client.process.wait(PATIENCE) == 0
    assert live_client.close() == []


def test_a_drag_goes_on_until_the_body_is_there(timeline: SceneTimeline, tmp_path: Path) -> None:
    """From one request postures follow until the target is reached; the soles stay, and the root is the target's.

    Before a posture is grabbed, a drag is refused with what to send.
    """
    shown = scene_motion(RIG, sinusoidal_motion(RIG, TIMES, size=0.0))
    timeline = replace(
        timeline,
        root=shown.root,
        rotations=shown.rotations,
        translations=shown.translations,
        ground=standing_schedule(RIG).ground,
    )
    path = str(TIMELINE.write(tmp_path / "upright.timeline.npz", timeline))
    target = (timeline.root[0] - np.array([0.0, 0.0, 0.01])).tolist()
    goal = {"link": RIG.links[0], "point": [0.0, 0.0, 0.0], "position": target}
    client = LiveClient()
    try:
        client.send({"do": "drag", "serial": 3, "targets": []})
        refused = client.receive_until(lambda answer: answer["kind"] == "error")[-1]
        client.send({"do": "grab", "serial": 70, "path": path}, {"do": "drag", "serial": 71, "targets": [goal]})
        answers = client.receive_until(lambda answer: answer["kind"] == "error" or bool(answer.get("converged")))
    finally:
        client.kill()
    assert "grab" in refused["message"]
    postures = [answer for answer in answers if answer["kind"] == "posture"]
    assert postures[-1]["serial"] == 71
    assert postures[-1]["distance"] < 1e-3
    assert postures[-1]["obstacles"] == []
    assert all(answer["slip"] < 1e-4 for answer in postures)
    np.testing.assert_allclose(postures[-1]["translations"][0], target, atol=1e-3)
    assert np.shape(postures[-1]["rotations"]) == (len(RIG.links), 4)
