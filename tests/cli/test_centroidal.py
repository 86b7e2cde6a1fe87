"""``centroidal`` from a study's folder to files."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import solver
from solver.centroidal.estimate import METHODS
from solver.centroidal.values import COM, ESTIMATE, KINEMATIC
from solver.cli import main
from solver.cli.centroidal import NAMES


def run(*words: object) -> int:
    """The command line."""
    return main(["centroidal", *map(str, words), "--progress", "none"])


def test_the_methods_on_offer_are_those_there_are() -> None:
    """The names that the help shows without loading anything are the estimators'."""
    assert set(NAMES) == set(METHODS)


def test_table_and_archive_hold_the_estimate(
    robot_study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The table holds what the archive holds, and the needed wrench is that of the estimate."""
    output = tmp_path / "out"
    assert run(robot_study, "--output", output) == 0
    printed = capsys.readouterr().out
    assert "CoM off the kinematic one" in printed
    found = ESTIMATE.read(output / "dance.centroidal.npz")
    sizes = 1e3 * np.sqrt(np.mean((found.com - found.source(KINEMATIC, COM)) ** 2, axis=0))
    assert re.search(r"dance +" + str(len(found)) + "".join(f" +{size:.1f}" for size in sizes), printed)
    assert found.method == "smoother"
    with (output / "dance.centroidal.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == len(found)
    last = rows[-1]
    np.testing.assert_allclose([float(last[f"com_{axis} [m]"]) for axis in "xyz"], found.com[-1], rtol=1e-6)
    np.testing.assert_allclose(float(last["moment_y [N m]"]), found.required_wrench[-1, 4], rtol=1e-5)


def test_a_trial_that_is_refused_is_named_once(
    robot_study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Plates that show nothing of a body that stands end in one line, which names their trial, and no folder."""
    study = solver.load_study(robot_study)
    (record,) = study.records
    assert record.trial is not None
    empty = replace(record.trial.wrenches, values=np.zeros_like(record.trial.wrenches.values))
    trial = replace(record.trial, wrenches=empty)
    replace(study, identified=None, records=(replace(record, trial=trial),)).write(tmp_path / "changed")
    assert run(tmp_path / "changed", "--output", tmp_path / "out") == 2
    told = capsys.readouterr().err
    assert "no load" in told
    assert told.count("'dance'") == 1
    assert not (tmp_path / "out").exists()
