"""``moments`` from a study's folder to files."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import solver
from solver.cli import main


def run(*words: object) -> int:
    """The command line."""
    return main(["moments", *map(str, words), "--progress", "none"])


def test_the_table_holds_moments_and_intervals(
    robot_study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each coordinate has its moment, the same per kilogram, and the ends of its interval; the page has its figure."""
    output = tmp_path / "out"
    assert run(robot_study, "--output", output) == 0
    assert "residual at the root" in capsys.readouterr().out
    found = solver.load_study(robot_study).moments()["dance"]
    with (output / "dance.moments.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == len(found)
    frame = int(np.flatnonzero(np.isfinite(found.values).all(axis=1))[0])
    for k, name in enumerate(found.names):
        value = float(rows[frame][f"{name} [N m]"])
        assert value == pytest.approx(found.values[frame, k], rel=1e-9)
        assert float(rows[frame][f"{name}_per_kg [N m/kg]"]) == pytest.approx(value / found.mass, rel=1e-9)
        low, high = (float(rows[frame][f"{name}_{end} [N m]"]) for end in ("lower", "upper"))
        assert low <= value <= high
        assert 0.5 * (high - low) == pytest.approx(found.half_width[frame, k], rel=1e-6, abs=1e-9)
    page = (output / "moments.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 1
    assert found.names[-1] in page


def test_the_prior_has_no_intervals(robot_study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without the identified parameters one note says so, the moments are others, and the table has dashes."""
    assert run(robot_study, "--prior", "--output", tmp_path / "out") == 0
    printed = capsys.readouterr()
    assert "nan" not in printed.out
    assert printed.err.count("\n") == printed.err.count("without intervals") == 1
    study = solver.load_study(robot_study)
    found, other = study.moments()["dance"], study.moments(prior=True)["dance"]
    assert other.std is None
    assert any("prior" in note for note in other.notes)
    assert not np.allclose(found.values, other.values, equal_nan=True)


def test_wrong_input_is_one_line(robot_study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder that is no study, a trial that is not in it: one line with what there is, and nothing written."""
    output = tmp_path / "out"
    for words, said in (
        ((tmp_path / "none",), "does not exist"),
        ((tmp_path,), "not the folder of a study"),
        ((robot_study, "--trial", "walk"), "Known: dance"),
        ((robot_study, "--feet", "toe"), "unknown link 'toe'"),
    ):
        assert run(*words, "--output", output) == 2
        printed = capsys.readouterr().err
        assert said in printed
        assert "Traceback" not in printed
        assert not output.exists()
