"""The verbs of authored dances."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from solver.cli import OK, WRONG_INPUT, main
from solver.dance.keys import Keyed, Keyframe
from solver.dance.schedule import Schedule
from solver.io.keyed_file import read_keyed, write_keyed
from solver.rigs import hoap3
from tests.dance.authored import home, moved


@pytest.fixture(scope="module")
def dance(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A robot whose feet were dragged along with its root."""
    rig = hoap3(torque="peak")
    q, anchors = home(rig)
    keys = (Keyframe(0.0, q, "fixed"), Keyframe(1.0, moved(q, 0.01)), Keyframe(2.0, q, "fixed"))
    path = tmp_path_factory.mktemp("dance") / "dragged.json"
    write_keyed(path, Keyed(rig, keys, Schedule.constant(anchors, 0.0, 2.0)))
    return path


def test_check_says_what_fails(dance: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A dance with sliding feet is not feasible; the table names the check, the foot and how far."""
    assert main(["check", str(dance), "--rate", "50", "--progress", "none"]) == OK
    said = capsys.readouterr().out
    assert "not feasible" in said
    assert "slip" in said
    assert "right_sole" in said


def test_repair_writes_a_feasible_dance(dance: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The repaired file passes its own check and keeps the roles of its keys."""
    output = tmp_path / "repaired.json"
    assert main(["repair", str(dance), "--output", str(output), "--progress", "none"]) == OK
    assert main(["check", str(output), "--rate", "100", "--progress", "none"]) == OK
    assert "feasible: every check holds" in capsys.readouterr().out.splitlines()[-1]
    assert [key.role for key in read_keyed(output).keys] == ["fixed", "preferred", "fixed"]


def test_export_writes_angles_and_speeds(dance: Path, tmp_path: Path) -> None:
    """The table has time, every joint's angle and every joint's speed; speeds are the angles' slopes."""
    output = tmp_path / "dance.csv"
    assert main(["export", str(dance), "--rate", "200", "--output", str(output), "--progress", "none"]) == OK
    header = output.read_text().splitlines()[0].split(",")
    table = np.loadtxt(output, delimiter=",", skiprows=1)
    joints = (len(header) - 1) // 2
    assert table.shape == (401, 1 + 2 * joints)
    assert header[1] == "chest [rad]"
    assert header[1 + joints] == "chest speed [rad/s]"
    slopes = np.gradient(table[:, 1 : 1 + joints], table[:, 0], axis=0)
    assert np.abs(slopes[1:-1] - table[1:-1, 1 + joints :]).max() < 1e-2


def test_wrong_files_are_named(dance: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that is no dance, and an output without a known suffix, end with one line that names them."""
    assert main(["check", str(tmp_path / "dance.txt"), "--progress", "none"]) == WRONG_INPUT
    assert "dance.txt" in capsys.readouterr().err
    assert main(["export", str(dance), "--output", str(tmp_path / "dance.xyz"), "--progress", "none"]) == WRONG_INPUT
    assert "dance.xyz" in capsys.readouterr().err
