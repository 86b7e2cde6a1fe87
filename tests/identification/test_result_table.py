"""Results as files: no digit lost, one reader, and a table for spreadsheets."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from solver.base.differences import differences
from solver.base.errors import InvalidValue
from solver.identification.result import write_result_table
from solver.scene.determined import MASS_KIND, TABLES, DeterminedQuantity
from solver.scene.result import RESULT, SceneResult
from solver.values.inertials import InertialParameters

LINKS = ("pelvis", "thigh")


def result() -> SceneResult:
    """Two links with all optional entries."""
    rng = np.random.default_rng(6)
    found, prior = (InertialParameters(LINKS, rng.random((2, 10))) for _ in range(2))
    half_widths, lower, upper = rng.random((3, 2, 10))
    lower[1, 3] = np.nan
    mass = DeterminedQuantity(MASS_KIND, "thigh", ("thigh",), TABLES, *np.array([[3.0], [0.5], [0.7]]))
    return SceneResult(
        found, prior, half_widths, lower, upper, (mass,), "consistent", "consistent", "optimal",
        ("thigh: mass at its lower bound",), ("squats",), "pelvis",
        {"preset": "human_8hz", "base": None}, {"seconds": {"reading": 0.5}},
    )  # fmt: skip


def test_a_round_trip_keeps_every_digit(tmp_path: Path) -> None:
    """Everything is read back bit for bit, NaN as NaN, and the file is strict JSON that names its columns."""
    path = RESULT.write(tmp_path / "r.json", result())
    assert differences(RESULT.read(path), result()) == ()
    tree = json.loads(path.read_text(), parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert tree["parameters"]["links"] == list(LINKS)
    assert tree["parameters"]["values"][1][tree["columns"].index("m")] == result().parameters.masses[1]


def test_the_table_has_one_row_a_parameter(tmp_path: Path) -> None:
    """Ten rows per link with units, 95 % interval and prior; unknown values are empty; bounds are marked."""
    write_result_table(tmp_path / "r.csv", result())
    rows = list(csv.DictReader((tmp_path / "r.csv").read_text().splitlines()))
    assert len(rows) == 20
    assert (rows[0]["link"], rows[0]["parameter"], rows[0]["unit"]) == ("pelvis", "m", "kg")
    assert (rows[1]["unit"], rows[4]["unit"]) == ("kg m", "kg m2")
    assert float(rows[12]["identified"]) == pytest.approx(result().parameters.values[1, 2])
    assert float(rows[12]["upper end of 95 %"]) == pytest.approx(result().upper[1, 2])
    assert float(rows[12]["prior"]) == pytest.approx(result().prior.values[1, 2])
    assert rows[13]["lower end of 95 %"] == ""
    assert [i for i, row in enumerate(rows) if row["at a bound"]] == [10]


def test_inconsistent_files_are_refused() -> None:
    """Parameters and prior must have the same links, and every row its columns."""
    good = result()
    other = InertialParameters(("pelvis", "shank"), good.prior.values)
    with pytest.raises(InvalidValue, match="different links"):
        SceneResult(good.parameters, other)
    with pytest.raises(InvalidValue, match="half_widths has shape"):
        SceneResult(good.parameters, good.prior, np.zeros((3, 10)))
