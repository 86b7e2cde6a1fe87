"""Loads from recordings with and without them: simulated with a known truth, and real without a load."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from solver.cli import main
from solver.demo.examples import simulated_robot
from solver.options.study import Settings
from solver.scene.result import RESULT
from solver.study.recordings import load
from solver.study.subject_calibration import calibrate
from solver.workflow.find_load import find_load
from solver.workflow.study import Study

LINK, MASS = "right_hand", 0.4
QUICK = Settings(no_cross_validation=True)


def test_the_verb_writes_the_load_into_report_and_result(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """find-load takes files of both sets and puts a row into report.html and an entry into result.json."""
    for name, load_of in (("bare", None), ("laden", (LINK, MASS))):
        (tmp_path / name).mkdir()
        simulated_robot(load=load_of).write(tmp_path / name)
    sets = ["--before", str(tmp_path / "bare"), "--after", str(tmp_path / "laden")]
    output = tmp_path / "out"
    candidates = ["--candidates", LINK, "left_hand", "chest"]
    assert main(["find-load", *sets, "--rig", "hrp2", *candidates, "--output", str(output), "--progress", "none"]) == 0
    assert LINK in capsys.readouterr().out
    (carrier,) = RESULT.read(output / "result.json").details["added_load"]["carriers"]
    assert carrier["link"] == LINK
    assert abs(carrier["mass"] - MASS) < 1.5 * carrier["mass_half_width"] < 0.1
    page = (output / "report.html").read_text(encoding="utf-8")
    assert "Added load" in page
    assert "if one link carries all" in page


def find_where_forces_change(change: Callable[[np.ndarray], np.ndarray]) -> Study:
    """Nothing was carried, but what the plates read (N, K, 6) in the second set is changed."""
    bare = simulated_robot()
    (recording,) = bare.recordings
    wrenches = replace(recording.wrenches, values=change(recording.wrenches.values))  # type: ignore[type-var, union-attr]
    return find_load(bare.recordings, [replace(recording, wrenches=wrenches)], bare.rig, settings=QUICK)


def test_offset_plates_look_like_a_load_and_the_warning_says_so() -> None:
    """Nothing was carried, but the second set's sensors read 30 N more: some 3 kg, and what offset looks the same."""
    study = find_where_forces_change(lambda values: values + 15.0 * np.eye(6)[2])
    assert study.load.total == pytest.approx(30.0 / 9.81, abs=0.3)
    assert any("would look the same" in warning for warning in study.warnings)


def test_real_jumps_of_an_unladen_subject_carry_nothing(shared_data: Path) -> None:
    """Two drop jumps of one person on the same plates show no load."""
    folder = shared_data / "subject_a"

    def read(*names: str) -> tuple:
        return load(
            [folder / kind / f"{n}{end}" for n in names for kind, end in (("markers", ".trc"), ("forces", ".mot"))]
        )

    person = calibrate(read("static1"), sex="female", height=1.75, mass=63.5)
    jumps = find_load(read("DJ1"), read("DJ2"), person, settings=QUICK)
    assert jumps.load.carriers == ()


def test_the_plates_stay_where_the_recordings_without_a_load_show_them() -> None:
    """A load on one side shifts the pressure as moved plates would: nothing is moved, and no plate is accused."""
    study = find_where_forces_change(
        lambda values: np.dstack([values[..., :3], values[..., 3:] + np.cross([0.0, 0.03, 0.0], values[..., :3])])
    )
    assert not any("location" in warning for warning in study.warnings)
