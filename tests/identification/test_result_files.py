"""Results as files: nothing lost, nothing that is not JSON."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from solver.errors import InputError, InvalidValue
from solver.identification.result_file import inertial_entries, read_result, write_result, write_result_csv
from solver.inertials import InertialParameters

LINKS = ("pelvis", "thigh")


def result() -> dict[str, object]:
    """Two links with everything told."""
    rng = np.random.default_rng(6)
    found, prior = (InertialParameters(LINKS, rng.random((2, 10))) for _ in range(2))
    std = rng.random((2, 10))
    std[1, 3] = np.nan
    entries = inertial_entries(found, prior, std=std, determined=rng.random((2, 10)), at_bounds=("thigh.m",))
    return {**entries, "method": "consistent", "extra": {"array": np.array([1.0, np.inf]), "path": Path("a/b")}}


def test_a_round_trip_keeps_every_digit(tmp_path: Path) -> None:
    """Arrays come back bit for bit, NaN as NaN; what is not finite is null in the file, which is strict JSON."""
    tree = result()
    write_result(tmp_path / "r.json", tree)
    back = read_result(tmp_path / "r.json")
    for name in ("parameters", "prior", "std", "determined"):
        np.testing.assert_array_equal(back[name], np.asarray(tree[name]))
    assert back["links"] == list(LINKS)
    assert back["com_std"] is None
    assert back["extra"] == {"array": [1.0, None], "path": "a/b"}
    json.loads((tmp_path / "r.json").read_text(), parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


def test_the_table_has_one_row_a_parameter(tmp_path: Path) -> None:
    """Ten rows a link with units; what is unknown is empty; bounds are marked."""
    tree = result()
    write_result_csv(tmp_path / "r.csv", tree)
    rows = list(csv.DictReader((tmp_path / "r.csv").read_text().splitlines()))
    assert len(rows) == 20
    assert (rows[0]["link"], rows[0]["parameter"], rows[0]["unit"]) == ("pelvis", "m", "kg")
    assert (rows[1]["unit"], rows[4]["unit"]) == ("kg m", "kg m^2")
    assert float(rows[12]["identified"]) == pytest.approx(tree["parameters"][1, 2])  # type: ignore[index]
    assert rows[13]["standard deviation"] == ""
    assert [i for i, row in enumerate(rows) if row["at a bound"]] == [10]


def test_incomplete_results_are_not_written(tmp_path: Path) -> None:
    """A result without a prior, or with another shape, leaves no file."""
    tree = result()
    for broken in ({**tree, "prior": None}, {**tree, "std": np.zeros((3, 10))}, {**tree, "extra": object()}):
        with pytest.raises(InvalidValue):
            write_result(tmp_path / "r.json", broken)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: t[:-30], "not JSON"),
        (lambda t: "[]", "not a result"),
        (lambda t: t.replace('"version": 1', '"version": 99'), "version 99"),
        (lambda t: t.replace('"prior"', '"before"'), "lacks the entry 'prior'"),
        (lambda t: t.replace('"thigh"\n', '"thigh", "foot"\n'), "shape"),
    ],
)
def test_damaged_results_are_refused(tmp_path: Path, change: object, words: str) -> None:
    """Each damage gives one InputError that names the file."""
    write_result(tmp_path / "r.json", result())
    text = (tmp_path / "r.json").read_text()
    (tmp_path / "r.json").write_text(change(text))  # type: ignore[operator]
    with pytest.raises(InputError, match=words):
        read_result(tmp_path / "r.json")
