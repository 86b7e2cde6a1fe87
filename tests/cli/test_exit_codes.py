"""A verb ends with 0 if it did all that was requested, and the summary's status says how it ended otherwise."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from solver.base.errors import InvalidValue
from solver.cli import main
from solver.cli.exit_codes import INCOMPLETE
from solver.dance.workflows.design import design
from solver.dance.workflows.summaries import summarise_design
from solver.options.dances import DanceOptions
from solver.rigs import hoap3
from solver.scene.dance_folder import SUMMARY_FILE
from solver.scene.motion_record import MOTION, motion_record
from solver.scene.summary import SUMMARY, SceneSummary, Status
from tests.bipeds import Biped
from tests.tracking.test_retargeting import person, squat

QUIET = ("--progress", "none")
SHORT = {"partial", "infeasible", "improved", "failed"}


@pytest.mark.parametrize("status", get_args(Status))
def test_what_falls_short_is_not_0(status: Status) -> None:
    """A status that names less than was requested is not delivered, and its verb ends with 1; every other is."""
    assert SceneSummary("repair", status, True, "done").delivered == (status not in SHORT)


def test_a_status_is_one_of_a_few_values() -> None:
    """Words of a message are no status."""
    with pytest.raises(InvalidValue, match=r"'Only partly repaired', not one of .*improved"):
        SceneSummary("repair", "Only partly repaired", False, "said")  # type: ignore[arg-type]


def test_a_partial_dance_ends_with_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Legs without a roll at the ankle dance on both feet alone: that is written, counted, explained, and not 0."""
    robot = Biped(ankle=(("pitch", "0 1 0"),)).write(tmp_path)
    output = tmp_path / "out"
    words = ["--postures", "both=1", "right=1", "--effort", "0.05", "--workers", "1"]
    assert main(["dance", str(robot), *words, "--output", str(output), *QUIET]) == INCOMPLETE
    summary = SUMMARY.read(output / SUMMARY_FILE)
    assert summary.status == "partial"
    assert "a dance of 2 postures" in summary.message
    assert "left is left out" in summary.message
    assert "sideways" in summary.message
    assert summary.message in capsys.readouterr().out


def test_a_partial_dance_names_the_pair_in_its_way() -> None:
    """Where links overlap on the way to what is missing, the message names both and the option that lets them."""
    rig = hoap3(torque="peak")
    found = design(rig, DanceOptions(postures={"both": 1}, pool=8, rounds=1, workers=1))
    why = "right is left out: the rig cannot lift its left foot: right thigh and left thigh overlap by 5.3 mm at 1.12 s"
    partial = replace(found.dance, complete=False, missing=(why,), left_out=1)
    message = summarise_design(rig, partial, found.evaluation).message
    assert "2 of 3 postures" in message
    assert why in message
    assert "--may-touch right_thigh:left_thigh" in message
    assert "--may-touch" not in found.message


def test_a_motion_that_is_not_feasible_ends_with_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A squat four times as fast as joints turn is retargeted as it is, called not feasible, and not 0."""
    path, output = tmp_path / "squat.motion.npz", tmp_path / "out"
    motion = squat(person(), seconds=1.5)
    MOTION.write(path, motion_record("squat", person(), replace(motion, times=0.25 * motion.times)))
    words = ["--keep-timing", "--no-repair", "--output", str(output), *QUIET]
    assert main(["retarget", str(path), "hoap3", *words]) == INCOMPLETE
    assert SUMMARY.read(output / SUMMARY_FILE).status == "infeasible"
    assert "Not feasible" in capsys.readouterr().out.splitlines()[-2]
