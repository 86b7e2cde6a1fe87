"""Status of measured figures, and the benchmark where there are no data."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks import identification, models, reference
from benchmarks.figures import subject
from benchmarks.figures.figure import (
    UNMEASURED,
    Bound,
    Figure,
    FigureStatus,
    at_least,
    at_most,
    exit_code,
    left_out,
    missing,
    row,
    summary,
    within,
)
from benchmarks.papers import rapetti2020
from benchmarks.tracking_figures import bodies, limits
from solver.identification.comparison import Comparison, FlightCheck, WrenchFit

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


MUST, AIM = at_most(1.0), at_most(0.5)


def figure(value: float | None, must: Bound | None = MUST, aim: Bound | None = AIM) -> Figure:
    return Figure("something", "simulated", value, "kg", must, aim)


@pytest.mark.parametrize(
    ("value", "must", "status"),
    [
        (0.5, MUST, FigureStatus.AIM),
        (0.6, MUST, FigureStatus.MET),
        (1.0, MUST, FigureStatus.MET),
        (0.99, MUST, FigureStatus.EDGE),
        (0.981, MUST, FigureStatus.EDGE),
        (0.979, MUST, FigureStatus.MET),
        (1.001, MUST, FigureStatus.MISSED),
        (None, MUST, FigureStatus.NOT_MEASURED),
        (0.0, at_most(0.0), FigureStatus.MET),
        (60.0, at_most(60.0), FigureStatus.MET),
        (0.8999, within(0.9, 0.1), FigureStatus.MET),
        (0.801, within(0.9, 0.1), FigureStatus.EDGE),
    ],
)
def test_a_value_is_compared_with_its_bounds(value: float | None, must: Bound, status: FigureStatus) -> None:
    """Bounds include their ends; within 2 % of one another run may miss, but counts are exact; a value that was not
    measured is neither met nor missed."""
    assert figure(value, must, at_most(0.5) if must is MUST else None).status is status


@pytest.mark.parametrize("bound", [at_most(1.0), at_least(1.0), within(1.0, 0.1), Bound(0.0, 0.0, "0")])
def test_not_a_number_misses_every_must(bound: Bound) -> None:
    """A measurement that failed must not pass."""
    assert figure(math.nan, bound).status is FigureStatus.MISSED


def test_a_row_without_must_only_informs() -> None:
    """Rows for comparison decide nothing, however bad."""
    assert figure(9.0, None).status is FigureStatus.INFORMATION
    assert exit_code([figure(9.0, None)]) == 0


def test_one_missed_must_fails_the_run() -> None:
    """The exit code is 1 if any must is missed, else 3 if one was not measured unless it was left out on purpose."""
    assert exit_code([figure(0.4), figure(0.9)]) == 0
    assert exit_code([figure(0.4), figure(1.2), figure(None)]) == 1
    assert exit_code([figure(0.4), figure(None)]) == UNMEASURED == 3
    assert exit_code([figure(0.4), figure(None, None), *left_out([figure(0.9)], "not with --quick")]) == 0


def test_the_summary_counts_and_names() -> None:
    """What was missed or not measured is listed by name, and an exit code for missing data is explained."""
    text = summary([figure(0.4), Figure("bad", "real", 2.0, "", at_most(1.0)), *missing([figure(0.1)], "no data")])
    assert "MISSED: bad (real)" in text
    assert "3 musts: 1 met, 1 missed, 1 not measured" in text
    assert "exit code" not in text
    text = summary([*missing([figure(0.1)], "no data"), *left_out([figure(0.1)], "not with --quick")])
    assert "2 not measured, 1 of them left out on purpose" in text
    assert f"exit code {UNMEASURED}" in text


def test_without_data_every_real_row_is_still_listed(tmp_path: Path) -> None:
    """The table keeps its rows where the recordings are missing, each with the reason."""
    found = identification.real(tmp_path, True)
    assert len(found) == len(identification.unmeasured())
    assert all(f.status is FigureStatus.NOT_MEASURED and "no data" in f.note and f.must for f in found)
    assert exit_code(found) == UNMEASURED


def split(trial: str, ratio: float, flight: FlightCheck | None = None) -> subject.Unseen:
    ones = np.ones(6)
    comparison = Comparison(
        trial, False, 10, WrenchFit(ratio * ones, ones), WrenchFit(ones, ones), WrenchFit(ones, ones)
    )
    return subject.Unseen(comparison, comparison, flight)


def test_the_figure_is_over_every_split_and_the_harder_one_follows() -> None:
    """The mean over all splits has its must; that without the standing trial, which is harder, has its own."""
    found = subject.unseen_figures(([split("walk", 0.9), split("jump", 0.7), split(subject.STATIC, 0.2)]), "here")
    assert [f.unit for f in found[:6]] == ["N"] * 3 + ["N m"] * 3  # what a ratio is of comes before it
    assert found[12].value == pytest.approx(0.6)
    assert found[12].must is not None
    assert found[15].value == pytest.approx(0.8)
    assert found[15].must == at_most(subject.RATIO_MUST)
    rmse = {f.what: f for f in found if "mean RMSE" in f.what}
    assert len(rmse) == 6
    assert rmse["unseen moving trials, mean RMSE Fx"].value == pytest.approx(0.8)


@pytest.mark.parametrize("slowness", [0.5, 1.0, 3.5])
def test_times_of_all_machines_are_compared_alike(slowness: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work that takes n times as long where the reference loop does is compared and printed as on an ordinary
    machine."""
    monkeypatch.setattr(reference, "loop_seconds", lambda: slowness * reference.ORDINARY)
    good, bad = (replace(figure(slowness * seconds), unit="s", timed=True) for seconds in (0.9, 1.1))
    assert (good.status, bad.status) == (FigureStatus.MET, FigureStatus.MISSED)
    first, second = row(good).splitlines()
    assert " 0.9 s " in first
    assert second.strip() == f"{slowness * 0.9:.4g} s on this machine"
    assert figure(0.9).compared_value == 0.9


CHILDREN = {
    "opensim_judge",
    "centroidal_long",
    "long_recording",
    "jump",
    "figaroh_peer",
    "scenes",
    "measured",
    "__main__",
}
"""Parts that a benchmark runs as processes of its own, and the list of all."""


def test_every_benchmark_measures_the_machine_first() -> None:
    """Whatever module can be run prints the reference loop, by itself or with the table's heading."""
    modules = [path for path in BENCHMARKS.rglob("*.py") if "def main(" in path.read_text(encoding="utf-8")]
    modules = [path for path in modules if path.stem not in CHILDREN]
    assert len(modules) > 15
    silent = [
        path.name
        for path in modules
        if not re.search(r"(reference_line|heading|FigureTable)\(", path.read_text("utf-8"))
    ]
    assert silent == []


def test_a_benchmark_names_the_models_and_recordings_that_are_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without any of them the paper's experiments end with exit code 1 and a line for each, and write nothing."""
    monkeypatch.setattr(models, "places", lambda: [tmp_path])
    bodies.human.cache_clear()
    bodies.icub.cache_clear()
    assert rapetti2020.main(["--quick", "--data", str(tmp_path), "--output", str(tmp_path / "out")]) == 1
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("missing")]
    assert [line.split(":")[1].strip() for line in lines] == ["human 66", "human 48", "iCub", "standing", "walk", "run"]
    assert all("ROBOT_MODELS" in line for line in lines[:3])
    assert all(str(tmp_path) in line for line in lines[3:])
    assert not (tmp_path / "out").exists()
    assert exit_code(limits.limit_figures(tmp_path, True)) == UNMEASURED
    bodies.human.cache_clear()
    bodies.icub.cache_clear()
