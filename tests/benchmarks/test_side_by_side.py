"""The command that shows the papers beside ours."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.papers import plots, side_by_side
from benchmarks.papers.side_by_side import PAPERS, main


def test_an_unknown_paper_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    """The message has the wrong name and the choices."""
    with pytest.raises(SystemExit, match="2"):
        main(["jovic2061"])
    assert "jovic2061: choose from ayusawa, bailly2019" in capsys.readouterr().err


def test_the_page_has_what_was_printed_and_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each paper's text, its labels and its drawings are on the page, escaped."""

    def run(_: argparse.Namespace, folder: Path) -> None:
        print("error < 2 mm")
        folder.mkdir()
        (folder / "fig5.svg").write_text("<svg/>")

    paper = replace(PAPERS["bailly2019"], run=run)
    monkeypatch.setattr(side_by_side, "PAPERS", {"bailly2019": paper})
    monkeypatch.setattr(side_by_side, "reference_line", lambda: "")
    assert main(["--output", str(tmp_path), "bailly2019"]) == 0
    page = (tmp_path / "index.html").read_text()
    assert "error &lt; 2 mm" in page
    assert paper.different in page
    assert 'src="bailly2019/fig5.svg"' in page
    assert "error < 2 mm" in (tmp_path / "bailly2019.txt").read_text()


def test_every_bar_and_curve_is_drawn() -> None:
    """Each set has a bar for each name and a curve in each panel, and the legend names it once."""
    drawn = plots.bars(("hand", "foot"), [("mass", {"a": np.ones(2), "b": -np.ones(2)})], "masses").markup()
    assert drawn.count("<rect") == 4
    panels = [(axis, {"a": np.arange(3.0), "b": np.ones(3)}) for axis in "XYZ"]
    drawn = plots.curves_over_time(np.arange(3.0), panels, "curves").markup()
    assert drawn.count("<path") == 6
    assert [drawn.count(f">{name}<") for name in "ab"] == [1, 1]
