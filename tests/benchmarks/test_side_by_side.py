"""The command that shows the papers beside ours."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks.papers import plots, side_by_side
from benchmarks.papers.side_by_side import main


def test_the_blocks_of_a_paper_replace_its_own_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was printed is kept in blocks, without lines about the run; other papers in the file stay."""
    monkeypatch.setattr(side_by_side, "reference_line", lambda: "")
    for name, text in (("a", "old"), ("b", "other"), ("a", "reference loop 2 s\n\n| Table I\n 2 < 3 \n\n\nTable II\n")):
        monkeypatch.setattr(side_by_side, "PAPERS", {name: lambda *_, text=text: print(text)})
        assert main(["--output", str(tmp_path / "papers.json"), name]) == 0
    found = json.loads((tmp_path / "papers.json").read_text())
    assert {name: each["blocks"] for name, each in found.items()} == {
        "a": [["| Table I", " 2 < 3"], ["Table II"]],
        "b": [["other"]],
    }


def test_every_bar_and_curve_is_drawn() -> None:
    """Each set has a bar for each name and a curve in each panel, and the legend names it once."""
    drawn = plots.bars(("hand", "foot"), [("mass", {"a": np.ones(2), "b": -np.ones(2)})], "masses").markup()
    assert drawn.count("<rect") == 4
    panels = [(axis, {"a": np.arange(3.0), "b": np.ones(3)}) for axis in "XYZ"]
    drawn = plots.curves_over_time(np.arange(3.0), panels, "curves").markup()
    assert drawn.count("<path") == 6
    assert [drawn.count(f">{name}<") for name in "ab"] == [1, 1]
