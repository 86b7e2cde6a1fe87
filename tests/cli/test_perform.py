"""The verb that holds a performance against its plan."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from solver.base.differences import differences
from solver.base.errors import InvalidValue
from solver.cli import OK, WRONG_INPUT, main
from solver.cli.exit_codes import INCOMPLETE
from solver.cli.settings_file import SETTINGS
from solver.contacts.schedule import Schedule
from solver.dance.authoring.authored_dance import AUTHORED_DANCE, AuthoredDance, Keyframe
from solver.dance.workflows.perform import perform, read_determined, read_performance
from solver.dance.workflows.performance import continuous_coordinates
from solver.dynamics.coordinates import joint_coordinates
from solver.rigs import hoap3, human
from solver.scene.motion_record import MOTION, motion_record
from solver.scene.result import RESULT, SceneResult
from solver.scene.rig import write_rig
from solver.signals import smooth_motion
from solver.skeleton.rig import Rig
from solver.storage.manifest import MANIFEST_FILE
from solver.tracking.retargeting.joint_transfer import common_links, transfer_motion
from solver.trajectory.curve import FlatCurve, sample_times
from solver.values.motion import Motion
from tests.dance.example_dances import arm_swing, home, rotate_joints
from tests.pinocchio import pin

QUIET = ("--progress", "none")
PACE, LAG = 1.1, 0.4


@pytest.fixture(scope="module")
def performer() -> Rig:
    """The person who danced: shorter, lighter, with a longer upper arm."""
    return human(1.62, 58.0, "male", lengths={"right_upper_arm": 0.31})


@pytest.fixture(scope="module")
def plan(person: Rig, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four swings of the arms."""
    path = tmp_path_factory.mktemp("plan") / "swings.json"
    AUTHORED_DANCE.write(path, arm_swing(person, 0.9, 0.8, swings=4))
    return path


@pytest.fixture(scope="module")
def study(person: Rig, performer: Rig, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two trials: the dance begun late and danced slowly, and the same on the spot."""
    folder = tmp_path_factory.mktemp("study")
    keyed = arm_swing(person, 0.9, 0.8, swings=4)
    times = sample_times(0.0, LAG + PACE * keyed.stop + 0.5, 100.0)
    y = keyed.curve().at(np.clip((times - LAG) / PACE, 0.0, keyed.stop))[0]
    q = FlatCurve.motion(_Still(y), person, times).q  # type: ignore[arg-type]
    late = transfer_motion(person, smooth_motion(person, times, q, None), performer)
    write_rig(folder / "rig.json", performer)
    MOTION.write(folder / "late.motion.npz", motion_record("late", performer, late))
    MOTION.write(
        folder / "prompt.motion.npz",
        motion_record("prompt", performer, transfer_motion(person, keyed.motion(100.0), performer)),
    )
    return folder


class _Still:
    """Coordinates without rates."""

    def __init__(self, y: np.ndarray) -> None:
        self._y = y

    def at(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What was given."""
        return self._y, np.zeros_like(self._y), np.zeros_like(self._y)


def test_a_late_and_slow_performance_is_recognised(
    plan: Path, study: Path, person: Rig, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Another body danced the same angles late and slowly: lag and pace are found, no joint is off, and it is said
    that bodies of different lengths were compared."""
    output = tmp_path / "out"
    assert main(["perform", str(plan), str(study), "--trial", "late", "--output", str(output), *QUIET]) == OK
    assert {file.name for file in output.iterdir()} == {
        "performance.json",
        "report.txt",
        MANIFEST_FILE,
        SETTINGS,
    }
    tree = json.loads((output / "performance.json").read_text(encoding="utf-8"))
    assert tree["lag"] == pytest.approx(LAG, abs=5e-3)
    assert tree["stretch"] == pytest.approx(PACE, rel=2e-3)
    assert max(joint["rmse"] for joint in tree["joints"]) < 5e-3
    assert "own lengths" in tree["notes"][0]
    promised = {row["quantity"]: row for row in tree["determined"]}
    assert promised["mass: total mass"]["planned"] == promised["mass: total mass"]["reached"] == "0.00"
    assert all(row["found"] == "" for row in promised.values())  # nothing is identified yet
    gains = {joint["joint"]: joint["gain"] for joint in tree["joints"]}
    assert len(gains) == person.nv - 6
    assert gains["right_upper_arm y"] == pytest.approx(1.0, abs=0.01)
    said = capsys.readouterr().out
    assert said.startswith(tree["message"])
    assert "10 % slower" in tree["message"]


def test_another_movement_is_not_a_performance(plan: Path, study: Path, tmp_path: Path) -> None:
    """Arms that swing against each other instead of together are compared, with exit code 1."""
    rig = MOTION.read(study / "prompt.motion.npz").rig
    q, anchors = home(rig)
    arms = [{"right_upper_arm": (1, size), "left_upper_arm": (1, -size)} for size in (0.0, 0.6, -0.6, 0.6, 0.0)]
    keys = tuple(Keyframe(0.8 * k, rotate_joints(rig, q, each)) for k, each in enumerate(arms))
    motion = AuthoredDance(rig, keys, Schedule.constant(anchors, 0.0, 3.2)).motion(100.0)
    MOTION.write(tmp_path / "other.motion.npz", motion_record("other", rig, motion))
    arguments = ["perform", str(plan), str(tmp_path / "other.motion.npz"), "--output", str(tmp_path / "out"), *QUIET]
    assert main(arguments) == INCOMPLETE


@pytest.mark.parametrize(
    ("performed", "trial", "said"),
    [
        (".", [], "has several trials, late, prompt. Choose one with --trial"),
        (".", ["--trial", "encore"], "has no trial 'encore'. Its trials are late, prompt"),
        ("nowhere", [], "does not exist"),
        ("rig.json", [], "neither the folder of a study nor a .motion.npz"),
    ],
)
def test_what_cannot_be_compared_is_one_line(
    plan: Path, study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], performed: str, trial: list[str],
    said: str,
) -> None:  # fmt: skip
    """A performance that is not there, or not one alone, ends with one line and no folder."""
    arguments = ["perform", str(plan), str(study / performed), *trial, "--output", str(tmp_path / "out")]
    assert main([*arguments, *QUIET]) == WRONG_INPUT
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert said in line
    assert list(tmp_path.iterdir()) == []


def test_a_motion_carries_its_rig(plan: Path, study: Path, performer: Rig, tmp_path: Path) -> None:
    """A motion that leaves its folder is compared as it is there: whose joints moved is in its file."""
    alone = tmp_path / "late.motion.npz"
    alone.write_bytes((study / "late.motion.npz").read_bytes())
    assert differences(read_performance(alone).rig, performer) == ()
    there, here = (perform(plan, path).performance for path in (study / alone.name, alone))
    assert differences(there, here) == ()


def test_only_joints_of_one_kind_are_common(person: Rig) -> None:
    """A robot's hinges are not a person's balls: what both call a right upper arm is not compared, and a body without
    a common joint is refused."""
    robot = hoap3()
    shared = common_links(person, robot)
    assert "right_upper_arm" not in shared
    assert common_links(person, person) == person.links[1:]
    still = Motion(np.zeros(1), home(person)[0][None], *np.zeros((2, 1, person.nv)))
    if not shared:
        with pytest.raises(InvalidValue, match="no joint in common"):
            transfer_motion(person, still, robot)


def test_transferred_motion_keeps_angles_and_speeds(person: Rig, performer: Rig) -> None:
    """On a body of other lengths every joint has the same coordinates and rates, and there and back is the same."""
    motion = arm_swing(person, 0.9, 0.8).motion(50.0)
    there = transfer_motion(person, motion, performer)
    assert np.array_equal(there.v, motion.v)
    back = transfer_motion(performer, there, person)
    assert np.array_equal(back.q, motion.q)
    assert np.array_equal(back.a, motion.a)


def test_turning_past_half_a_circle_is_no_jump(person: Rig) -> None:
    """An arm that goes round by 270 degrees has a coordinate that goes on growing."""
    q = home(person)[0]
    angles = np.radians(np.arange(0.0, 271.0, 5.0))
    turns = np.array([rotate_joints(person, person.neutral, {"right_upper_arm": (1, a)}) for a in angles])
    values = continuous_coordinates(person, turns)
    column = person.v_slices[person.index("right_upper_arm")].start - 6 + 1
    assert np.abs(np.diff(values[:, column])) == pytest.approx(np.radians(5.0))
    assert np.abs(continuous_coordinates(person, q[None])[0] - joint_coordinates(person, q)).max() < 1e-12
    assert pin.isNormalized(person.model, turns[-1])


def test_the_wrench_that_was_found_is_that_of_unused_data(person: Rig, tmp_path: Path) -> None:
    """A result's errors in data that it was fitted to do not count; without other data nothing is found."""
    errors = {"rmse_identified": [1.0, 2.0, 3.0] * 2, "rmse_prior": [2.0, 4.0, 6.0] * 2}
    for used in (True, False):
        rows = [{"used": True, **errors}, {"used": used, **errors}]
        result = SceneResult(person.prior, person.prior, details={"comparisons": rows})
        path = RESULT.write(tmp_path / "result.json", result)
        assert [one.ratio for one in read_determined(path, person)] == pytest.approx([0.5] * (not used))
