"""The functions of the command line and the add-on."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import solver
from solver.base.errors import InputError, InvalidValue
from solver.cli import OK, main
from solver.contacts.schedule import Schedule
from solver.dance.authoring.authored_dance import AUTHORED_DANCE, AuthoredDance, Keyframe
from solver.dance.authoring.repair import IMPROVED, RepairedDance
from solver.dance.workflows.repair import describe_repair
from solver.feasibility import check_motion
from solver.formats.recording import read_recording
from solver.skeleton.rig import Rig
from tests.dance.example_dances import home, shift_root

QUIET = ("--progress", "none")


@pytest.fixture(scope="module")
def dragged(strong_robot: Rig) -> AuthoredDance:
    """A robot whose root and feet are shifted by 1 cm."""
    q, anchors = home(strong_robot)
    keys = (Keyframe(0.0, q, "fixed"), Keyframe(1.0, shift_root(q, 0.01)), Keyframe(2.0, q, "fixed"))
    return AuthoredDance(strong_robot, keys, Schedule.constant(anchors, 0.0, 2.0), name="dragged")


@pytest.fixture(scope="module")
def repaired(dragged: AuthoredDance) -> solver.dance.EditedDance:
    return solver.repair(dragged)


def test_function_and_command_agree(dragged: AuthoredDance, repaired: solver.dance.EditedDance, tmp_path: Path) -> None:
    """The function and the command line write the same keys and the same sentence."""
    path = tmp_path / "dragged.json"
    AUTHORED_DANCE.write(path, dragged)
    assert main(["repair", str(path), "--output", str(tmp_path / "verb"), *QUIET]) == OK
    repaired.write(tmp_path / "function")
    one, other = (AUTHORED_DANCE.read(tmp_path / folder / "keyed.json") for folder in ("verb", "function"))
    np.testing.assert_allclose([key.q for key in one.keys], [key.q for key in other.keys], atol=1e-9)
    texts = [(tmp_path / folder / "report.txt").read_text("utf-8").splitlines()[0] for folder in ("verb", "function")]
    assert texts == [repaired.message] * 2


def test_a_repaired_dance_passes_the_check(dragged: AuthoredDance, repaired: solver.dance.EditedDance) -> None:
    """If a repair is feasible, a check of its dance is feasible, and that of the given dance fails."""
    assert repaired.feasible
    assert solver.check(repaired.dance).feasible
    before = solver.check(dragged)
    assert not before.feasible
    assert "slide" in before.message
    assert before.report.endswith(before.message)


def test_new_failures_of_a_repair_are_reported(
    dragged: AuthoredDance, repaired: solver.dance.EditedDance, strong_robot: Rig
) -> None:
    """A repair after which other checks fail is not reported as one that repaired all of them."""
    weak = replace(strong_robot, limits=replace(strong_robot.limits, torque=0.1 * strong_robot.limits.torque))
    result = repaired.details
    assert isinstance(result, RepairedDance)
    after = check_motion(weak, result.motion, repaired.dance.schedule, repaired.dance.checks)
    said = describe_repair(strong_robot, replace(result, after=after, status=IMPROVED), [])
    fresh = {f.check.name for f in after.first_failures} - {f.check.name for f in result.before.first_failures}
    assert f"but {len(fresh)} that held do" in said
    assert "checks hold again" in said


def test_a_slow_dance_is_unchanged(repaired: solver.dance.EditedDance) -> None:
    """A dance within its speed limits keeps its duration."""
    answer = solver.slow(repaired.dance)
    assert answer.status == "unchanged"
    assert answer.dance.stop == repaired.dance.stop


def test_export_writes_every_joint(repaired: solver.dance.EditedDance, strong_robot: Rig, tmp_path: Path) -> None:
    """The table has a row for each sample, and angle, speed and torque of each joint, the archive the same and the
    root; both are read back, another suffix is refused."""
    motion = solver.export(repaired.dance, tmp_path / "dance.csv", 50.0)
    rows = list(csv.reader((tmp_path / "dance.csv").read_text("utf-8").splitlines()))
    assert len(rows) == 1 + len(motion)
    assert len(rows[0]) == 1 + 3 * len(strong_robot.limits.lower)
    solver.export(repaired.dance, tmp_path / "dance.npz", 50.0)
    with np.load(tmp_path / "dance.npz") as arrays:
        table = np.array([row[1:] for row in rows[1:]], float)
        own = np.concatenate([arrays["angles"], arrays["speeds"][:, 6:], arrays["torques"]], axis=1)
        np.testing.assert_allclose(own, table, atol=1e-6)
    found = [read_recording([tmp_path / f"dance.{suffix}"]).joints for suffix in ("csv", "npz")]
    np.testing.assert_allclose(found[0].values, found[1].values, atol=1e-6)
    with pytest.raises(InputError, match="no suffix"):
        solver.export(repaired.dance, tmp_path / "dance.xyz")
    with pytest.raises(InvalidValue, match="must be positive"):
        solver.export(repaired.dance, tmp_path / "dance.csv", 0.0)


def test_a_result_is_written_completely_or_not_at_all(repaired: solver.dance.EditedDance, tmp_path: Path) -> None:
    """An invalid rate leaves no folder behind."""
    with pytest.raises(InvalidValue, match="must be positive"):
        repaired.write(tmp_path / "answer", float("nan"))
    assert list(tmp_path.iterdir()) == []
