"""The verbs of authored dances."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from solver.cli import OK, WRONG_INPUT, main
from solver.cli.exit_codes import INCOMPLETE
from solver.cli.settings_file import SETTINGS
from solver.contacts.schedule import Schedule
from solver.dance.authoring.authored_dance import AUTHORED_DANCE, AuthoredDance, Keyframe
from solver.dance.authoring.retime import speed_factor
from solver.dance.design.dance import DESIGNED_DANCE, Dance
from solver.options.checks import CheckOptions
from solver.rigs import hoap3
from solver.scene.dance_folder import SUMMARY_FILE
from solver.scene.motion import scene_motion
from solver.scene.motion_record import MOTION
from solver.scene.summary import SUMMARY
from solver.scene.timeline import TIMELINE, SceneKey, SceneStrip, SceneTimeline
from solver.skeleton.rig import Rig
from solver.storage.manifest import MANIFEST_FILE
from solver.trajectory.segment import DanceSegment
from tests.dance.example_dances import home, rotate_joints, shift_root

QUIET = ("--progress", "none")
FOLDER = {"dance.motion.npz", "keyed.json", "summary.json", "report.txt"}
FEET = ("right_sole", "left_sole")


@pytest.fixture(scope="module")
def dragged(strong_robot: Rig) -> AuthoredDance:
    """A robot whose feet were dragged along with its root."""
    q, anchors = home(strong_robot)
    keys = (
        Keyframe(0.0, q, "fixed", "start"), Keyframe(1.0, shift_root(q, 0.01), name="leant"), Keyframe(2.0, q, "fixed"),
    )  # fmt: skip
    return AuthoredDance(strong_robot, keys, Schedule.constant(anchors, 0.0, 2.0), name="dragged")


@pytest.fixture(scope="module")
def dance(dragged: AuthoredDance, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The robot's dance as an authored file."""
    path = tmp_path_factory.mktemp("dance") / "dragged.json"
    AUTHORED_DANCE.write(path, dragged)
    return path


@pytest.fixture(scope="module")
def shown(dragged: AuthoredDance) -> SceneTimeline:
    """The same dance as a scene hands it over: 24 frames a second, a strip for each foot."""
    return timeline_of(dragged, *(SceneStrip(foot, 0.0, 2.0) for foot in FEET))


def timeline_of(keyed: AuthoredDance, *strips: SceneStrip) -> SceneTimeline:
    """A keyed dance at 24 frames a second."""
    motion = keyed.motion(24.0)
    shown = scene_motion(keyed.rig, motion)
    keys = tuple(SceneKey(key.time, key.role, key.name) for key in keyed.keys)
    return SceneTimeline(
        keyed.name, keyed.rig, motion.times, shown.root, shown.rotations,
        shown.translations, keys, strips,
    )  # fmt: skip


def test_check_says_what_fails(dance: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A dance with sliding feet exits with 1; table, sentence and summary name the check, the foot and how far."""
    output = tmp_path / "checked"
    assert main(["check", str(dance), "--rate", "50", "--output", str(output), *QUIET]) == INCOMPLETE
    said = capsys.readouterr().out
    assert "slip" in said
    assert said.splitlines()[-1].startswith("Not feasible")
    assert "slides 1.0 cm" in said.splitlines()[-1]
    summary = SUMMARY.read(output / SUMMARY_FILE)
    assert summary.message == said.splitlines()[-1]
    assert [failure.check for failure in summary.failures] == ["slip"]
    assert summary.failures[0].links in {("right_foot",), ("left_foot",)}
    ((start, stop),) = summary.ranges
    assert start < 0.2
    assert stop > 1.8
    assert [key.name for key in summary.keys] == ["start", "leant", ""]


def test_repair_of_a_timeline_writes_a_folder(shown: SceneTimeline, tmp_path: Path) -> None:
    """A scene's timeline becomes a feasible dance: its motion at the rate asked for, keys with their roles, strips."""
    path, output = TIMELINE.write(tmp_path / "dragged.npz", shown), tmp_path / "repaired"
    assert main(["repair", str(path), "--rate", "24", "--output", str(output), *QUIET]) == OK
    assert {file.name for file in output.iterdir()} == {*FOLDER, MANIFEST_FILE, SETTINGS}
    assert main(["check", str(output / "keyed.json"), "--rate", "100", *QUIET]) == OK
    np.testing.assert_allclose(MOTION.read(output / "dance.motion.npz").scene.times, shown.times, atol=1e-9)
    summary = SUMMARY.read(output / SUMMARY_FILE)
    assert summary.feasible
    assert summary.status == "repaired"
    assert summary.failures == summary.ranges == summary.problems == ()
    assert [(key.role, key.name) for key in summary.keys] == [("fixed", "start"), ("preferred", "leant"), ("fixed", "")]
    assert sorted((strip.patch, strip.start, strip.stop) for strip in summary.strips) == [
        ("left_sole", 0.0, 2.0), ("right_sole", 0.0, 2.0),
    ]  # fmt: skip
    assert summary.moved[0][1] >= summary.moved[0][2] > 0.0
    assert set(summary.excitation) == set(summary.deviation) == set(hoap3(torque="peak").links)
    assert summary.message.splitlines() == [summary.message]
    assert "moved at most" in summary.message


def test_repair_writes_the_keys_alone(dance: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An output that ends in .json receives the dance's keys; it passes its check and keeps its roles."""
    output = tmp_path / "repaired.json"
    assert main(["repair", str(dance), "--output", str(output), *QUIET]) == OK
    assert [file.name for file in tmp_path.iterdir()] == ["repaired.json"]
    assert main(["check", str(output), "--rate", "100", *QUIET]) == OK
    assert capsys.readouterr().out.splitlines()[-1] == "Feasible: every check holds"
    assert [key.role for key in AUTHORED_DANCE.read(output).keys] == ["fixed", "preferred", "fixed"]


def test_an_impossible_fixed_key_is_told(
    dragged: AuthoredDance, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A fixed key whose feet are not where they stand: which key, when, which foot, by how many centimetres."""
    path = tmp_path / "kept.json"
    keys = tuple(replace(key, role="fixed", time=0.4 * key.time) for key in dragged.keys)
    AUTHORED_DANCE.write(path, replace(dragged, keys=keys))
    assert main(["repair", str(path), "--output", str(tmp_path / "out"), *QUIET]) == INCOMPLETE
    summary = SUMMARY.read(tmp_path / "out" / SUMMARY_FILE)
    assert not summary.feasible
    assert summary.status in ("failed", "improved")
    assert "fixed key 'leant' at 0.4 s: right sole slides 1.0 cm too far from where it is planted" in summary.message
    assert summary.problems[0] in capsys.readouterr().out


@pytest.mark.parametrize("limit", [("--seconds", "1e-9"), ("--programs", "1")])
def test_a_repair_at_its_limit_says_so(dragged: AuthoredDance, tmp_path: Path, limit: tuple[str, str]) -> None:
    """A search that may take no step, or one, writes the best it has, not feasible, and tells that it had to end."""
    rig, q = dragged.rig, dragged.keys[0].q
    far = rotate_joints(rig, q, {"chest": (0, float(rig.limits.upper[0]) + 0.8)})
    path, output = tmp_path / "bent.json", tmp_path / "out"
    AUTHORED_DANCE.write(path, replace(dragged, keys=(dragged.keys[0], Keyframe(1.0, far), dragged.keys[2])))
    assert main(["repair", str(path), *limit, "--output", str(output), *QUIET]) == INCOMPLETE
    summary = SUMMARY.read(output / SUMMARY_FILE)
    assert not summary.feasible
    assert any("limit of programs or time" in note for note in summary.notes)
    assert "chest" in summary.message


def _strips(*spans: tuple[str, float, float]) -> dict[str, object]:
    return {"strips": tuple(SceneStrip(*span) for span in spans)}


BOTH = [(foot, 0.0, 2.0) for foot in FEET]
WITHOUT_SUPPORT = [(foot, *span) for foot in FEET for span in ((0.0, 0.8), (1.4, 2.0))]
NO_POSE = {
    "times": np.zeros(0), "root": np.zeros((0, 3)), "rotations": np.zeros((0, 22, 4)),
    "translations": np.zeros((0, 22, 3)), "keys": (), "strips": (),
}  # fmt: skip


@pytest.mark.parametrize(
    ("verb", "changes", "said"),
    [
        ("repair", _strips(), "nothing carries the body, from 0.00 to 2.00 s: give each foot"),
        ("complete", _strips(), "nothing carries the body"),
        ("repair", _strips(*WITHOUT_SUPPORT), "nothing carries the body from 0.80 to 1.40 s"),
        ("check", _strips(("right_sole", 0.0, 1.5), *BOTH), "overlap from 0 to 1.5 s"),
        ("slow", _strips(("toe", 0.0, 2.0)), "unknown contact patch 'toe'"),
        ("repair", _strips(("right_sole", 1.0, 0.5)), "ends before it starts"),
        ("complete", {}, "no free key to complete: mark a key as free"),
        ("complete", {"keys": (SceneKey(0.0, "fixed"), SceneKey(1.0, "free", "a"), SceneKey(2.0, "free", "b"))},
         "must be fixed or preferred"),
        ("check", NO_POSE, "holds no pose"),
        ("export", NO_POSE, "holds no pose"),
    ],
)  # fmt: skip
def test_senseless_timelines_are_one_line(
    shown: SceneTimeline, tmp_path: Path, capsys: pytest.CaptureFixture[str], verb: str, changes: dict, said: str
) -> None:
    """What cannot be danced ends with exit code 2 and one line that says what is wrong; nothing is written."""
    path = TIMELINE.write(tmp_path / "wrong.timeline.npz", replace(shown, **changes))
    output = tmp_path / ("out.csv" if verb == "export" else "out")
    assert main([verb, str(path), "--output", str(output), *QUIET]) == WRONG_INPUT
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert said in line
    assert [file.name for file in tmp_path.iterdir()] == ["wrong.timeline.npz"]


def test_slow_respects_speeds_and_moves_keys_and_strips(dragged: AuthoredDance, tmp_path: Path) -> None:
    """Twice too fast: lasts twice as long, no joint is beyond its speed, keys and strips keep their places in it."""
    rig, q = dragged.rig, dragged.keys[0].q
    raised = Keyframe(1.0, rotate_joints(rig, q, {"left_shoulder": (0, 0.5)}), name="raised")
    planned = replace(dragged, keys=(dragged.keys[0], raised, dragged.keys[2]))
    fast = speed_factor(rig, planned.motion(500.0))[0]
    squeezed = [replace(key, time=0.5 * fast * key.time) for key in planned.keys]
    stop = squeezed[-1].time
    schedule = Schedule.constant(dragged.schedule.phases[0].anchors, 0.0, stop)
    path, output = tmp_path / "fast.json", tmp_path / "slow"
    AUTHORED_DANCE.write(path, replace(planned, keys=tuple(squeezed), schedule=schedule))
    assert main(["slow", str(path), "--output", str(output), *QUIET]) == OK
    summary, slower = SUMMARY.read(output / SUMMARY_FILE), AUTHORED_DANCE.read(output / "keyed.json")
    assert summary.status == "slowed"
    assert summary.duration == pytest.approx(2.0 * stop, rel=2e-3)
    assert speed_factor(rig, slower.motion(200.0))[0] == pytest.approx(1.0, abs=2e-3)
    assert [key.time / summary.duration for key in summary.keys] == pytest.approx([0.0, 0.5, 1.0])
    assert {(s.patch, s.start, s.stop) for s in summary.strips} == {(foot, 0.0, summary.duration) for foot in FEET}
    assert "left shoulder" in summary.message


def test_complete_fills_free_keys(dragged: AuthoredDance, tmp_path: Path) -> None:
    """Interpolation between two equal postures is that posture, whatever the free key held before."""
    q = dragged.keys[0].q
    keys = (dragged.keys[0], replace(dragged.keys[1], role="free"), dragged.keys[2])
    timeline = timeline_of(replace(dragged, keys=keys), *(SceneStrip(foot, 0.0, 2.0) for foot in FEET))
    path, output = TIMELINE.write(tmp_path / "gap.timeline.npz", timeline), tmp_path / "out"
    assert main(["complete", str(path), "--interpolate", "--output", str(output), *QUIET]) == OK
    assert {file.name for file in output.iterdir()} == {*FOLDER, MANIFEST_FILE, SETTINGS}
    summary = SUMMARY.read(output / SUMMARY_FILE)
    assert summary.feasible
    assert summary.status == "completed"
    assert summary.message == "Filled 1 free key by interpolation; every check holds"
    assert np.abs(AUTHORED_DANCE.read(output / "keyed.json").keys[1].q - q).max() < 1e-6


def test_designed_dances_have_no_keys_to_repair(
    dragged: AuthoredDance, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An archive is what it holds: a designed dance is checked, but not repaired."""
    rig = dragged.rig
    segment = DanceSegment("home", "hold", 1.0, np.zeros((6, rig.nv)), (), dragged.schedule.phases[0].anchors)
    path = tmp_path / "designed.timeline.npz"
    DESIGNED_DANCE.write(path, Dance(rig, (segment,), CheckOptions(shrink=0.4), None))
    assert main(["repair", str(path), "--output", str(tmp_path / "out"), *QUIET]) == WRONG_INPUT
    assert "is a designed dance" in capsys.readouterr().err


def test_export_writes_angles_and_speeds(dance: Path, tmp_path: Path) -> None:
    """The table has time, every joint's angle, speed and torque; speeds are the angles' slopes."""
    output = tmp_path / "dance.csv"
    assert main(["export", str(dance), "--rate", "200", "--output", str(output), *QUIET]) == OK
    header = output.read_text().splitlines()[0].split(",")
    table = np.loadtxt(output, delimiter=",", skiprows=1)
    joints = (len(header) - 1) // 3
    assert table.shape == (401, 1 + 3 * joints)
    assert header[1 + 2 * joints] == "chest torque [N m]"
    assert header[1] == "chest [rad]"
    assert header[1 + joints] == "chest speed [rad/s]"
    slopes = np.gradient(table[:, 1 : 1 + joints], table[:, 0], axis=0)
    assert np.abs(slopes[1:-1] - table[1:-1, 1 + joints : 1 + 2 * joints]).max() < 1e-2


def test_a_timeline_exports_as_the_dance_it_shows(
    dance: Path, shown: SceneTimeline, tmp_path: Path
) -> None:  # fmt: skip
    """Through a scene's frames and back, joint angles are the authored ones to 0.01 degrees."""
    path = TIMELINE.write(tmp_path / "shown.timeline.npz", shown)
    assert len(TIMELINE.read(path)) == 49
    tables = []
    for source in (dance, path):
        output = tmp_path / "table.csv"
        assert main(["export", str(source), "--rate", "50", "--output", str(output), *QUIET]) == OK
        tables.append(np.loadtxt(output, delimiter=",", skiprows=1)[:, 1:22])
    assert np.abs(tables[0] - tables[1]).max() < np.radians(0.01)


def test_wrong_files_are_named(dance: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that is no dance, and an output without a known suffix, end with one line that names them."""
    assert main(["check", str(tmp_path / "dance.txt"), *QUIET]) == WRONG_INPUT
    assert "dance.txt" in capsys.readouterr().err
    np.savez(tmp_path / "table.npz", numbers=np.zeros(3))
    assert main(["check", str(tmp_path / "table.npz"), *QUIET]) == WRONG_INPUT
    assert "numbers" in capsys.readouterr().err
    assert main(["export", str(dance), "--output", str(tmp_path / "dance.xyz"), *QUIET]) == WRONG_INPUT
    assert "dance.xyz" in capsys.readouterr().err
