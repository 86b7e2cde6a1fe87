"""Tables of benchmarks as files, and the page that is made from them."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import pytest

from benchmarks.figures.figure import Figure, FigureStatus, at_least, at_most, within
from benchmarks.figures.table import FigureTable, MeasuredTable
from benchmarks.measured import BLOCK, PAGES, PLACE, TABLES, fill_tables, format_table

FIGURES = (
    Figure("mass | of a link", "real, x", 63.51, "kg", within(63.5, 0.4), at_most(63.52), "a < b"),
    Figure("missed", "simulated", 2.0, "ms", at_most(1.0), timed=True),
    Figure("failed", "simulated", math.nan, "", at_least(1.0)),
    Figure("at the edge", "simulated", 0.99, "", at_most(1.0)),
    Figure("walk: at the edge", "real", 3.0, "", at_most(1.0)),
    Figure("none", "real", None, "", at_most(1.0), note="no data"),
)


@pytest.fixture
def table() -> MeasuredTable:
    """Measured where the reference loop takes twice as long as on an ordinary machine."""
    return MeasuredTable("benchmarks subject --quick", "2026-01-02", 3.0, 0.5, 90.0, FIGURES)


def test_a_table_is_read_as_it_was_written(tmp_path: Path, table: MeasuredTable) -> None:
    """Bounds without ends and failed measurements included."""
    table.write(tmp_path / "new" / "table.json")
    found = MeasuredTable.read(tmp_path / "new" / "table.json")
    assert repr(found) == repr(table)  # not a number is not equal to itself
    assert [figure.must for figure in found.figures] == [figure.must for figure in FIGURES]
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["table.json"]


def test_the_command_names_no_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Folders of data and outputs differ from machine to machine."""
    output = tmp_path / "out.json"
    words = ["subject", "--data", "/somewhere", "--python", "/bin/python", "--quick", f"--output={output}"]
    run = FigureTable(words, output)
    run.measure(lambda: iter(FIGURES[:1]))
    assert run.close() == 0
    assert MeasuredTable.read(output).command == "benchmarks subject --python PYTHON --quick"
    assert "mass | of a link" in capsys.readouterr().out


def test_the_page_shows_what_was_missed(table: MeasuredTable) -> None:
    """Values that miss are bold, those at the edge and those not measured are called so; times are an ordinary
    machine's."""
    text = format_table(table)
    assert "63.5 kg | 63.5 +- 0.4 | ≤ 63.52 | a &lt; b |" in text
    assert "mass \\| of a link" in text
    assert "| 2 figures | **0.99 to 3**, missed | ≤ 1 |  | 1 missed: walk: at the edge, real |" in text
    assert "| 1 ms | ≤ 1 |" in text
    assert "| **nan**, missed | ≥ 1 |" in text
    assert "| not measured | ≤ 1 |  | no data |" in text


def test_times_are_compared_as_an_ordinary_machines(table: MeasuredTable) -> None:
    """2 ms where everything takes twice as long are 1 ms, at the edge of the bound here or there."""
    assert table.figures[1].value_on(table.reference) == pytest.approx(1.0)
    assert table.figures[1].status_on(table.reference) is FigureStatus.MET
    assert table.figures[1].status_on(1.5) is FigureStatus.MISSED


def test_a_table_of_chosen_values_is_filled(tmp_path: Path, table: MeasuredTable) -> None:
    """A value is found by both columns, and is that of an ordinary machine; a paper's block is found by all its words.
    What is not there, or several times, is an error."""
    table.write(tmp_path / "times.json")
    page = "before\n<!-- table: chosen -->\n| 7 |\n<!-- end of table -->\nafter"
    (tmp_path / "chosen.txt").write_text("| {times: failed} | {times: missed | simul} |\n", encoding="utf-8")
    assert fill_tables(page, tmp_path) == page.replace("| 7 |", "| nan | 1 |")
    (tmp_path / "papers.json").write_text(json.dumps({"a": {"blocks": [["Table I", " 2"], ["Table I, quiet"]]}}))
    page = "<!-- block: a: Table I | {} -->\nold\n<!-- end of block -->"
    assert "```text\nTable I, quiet\n```" in fill_tables(page.format("quiet"), tmp_path)
    for words in ("Table", "loud"):
        with pytest.raises(LookupError, match=f"and {words}"):
            fill_tables(page.format(words), tmp_path)
    page = "<!-- table: chosen -->\n<!-- end of table -->"
    for value in ("missed | real", "none", "unknown"):
        (tmp_path / "chosen.txt").write_text(f"| {{times: {value}}} |\n", encoding="utf-8")
        with pytest.raises(LookupError, match=r"times\.json"):
            fill_tables(page, tmp_path)


def test_the_documentation_is_made_from_its_files() -> None:
    """`python -m benchmarks measured` would change nothing; every file, and every block of a paper, has its place."""
    names, blocks = {"papers"}, 0
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert fill_tables(text, TABLES) == text
        names |= {found[2] for found in PLACE.finditer(text)}
        blocks += len({found[0] for found in BLOCK.finditer(text)})
    assert names == {path.stem for path in TABLES.iterdir()}
    papers = json.loads((TABLES / "papers.json").read_text(encoding="utf-8"))
    assert blocks == sum(len(paper["blocks"]) for paper in papers.values())
    assert len(re.findall(r"^\| (?!what )", PAGES[1].read_text(encoding="utf-8"), re.MULTILINE)) <= 150
