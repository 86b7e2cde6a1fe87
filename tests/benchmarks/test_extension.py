"""The table of the extension's figures: what a window measured is read from its files, and nothing else is made up."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.extension import NO_WHEEL, NO_WINDOW, WINDOW_ROWS, character_rows, window_rows
from benchmarks.figures.figure import FigureStatus
from benchmarks.posing import LOWERING, lower_pelvis, postured_rigs


def test_rows_of_a_window_are_not_measured_without_its_file() -> None:
    """Every row that needs a window says so."""
    found = window_rows([])
    assert [figure.what for figure in found] == [figure.what for figure in WINDOW_ROWS.values()]
    assert {(figure.value, figure.note, figure.status) for figure in found} == {
        (None, NO_WINDOW, FigureStatus.NOT_MEASURED)
    }


def test_figures_of_a_window_name_blender_and_the_day(tmp_path: Path) -> None:
    """A row has the file's value and source; rows that the file lacks stay unmeasured."""
    path = tmp_path / "window.json"
    path.write_text(
        json.dumps({"blender": "5.2.0", "day": "2026-11-28", "figures": {"round trip": 12.5, "slip": 0.01}})
    )
    found = dict(zip(WINDOW_ROWS, window_rows([path]), strict=True))
    assert (found["round trip"].value, found["slip"].value) == (12.5, 0.01)
    assert found["round trip"].data == "window, Blender 5.2.0, 2026-11-28"
    assert found["round trip"].status is FigureStatus.MET
    assert found["overlays"].value is None


def test_unknown_figures_of_a_window_are_refused(tmp_path: Path) -> None:
    """A name without a row is an error, so that no figure gets lost."""
    path = tmp_path / "window.json"
    path.write_text(json.dumps({"blender": "5.2.0", "day": "2026-11-28", "figures": {"nothing": 1.0}}))
    with pytest.raises(KeyError, match="nothing"):
        window_rows([path])


def test_characters_are_not_measured_without_their_wheel() -> None:
    """Two rows for each of five conventions, all of them without a value."""
    found = list(character_rows(None))
    assert len(found) == 10
    assert {(figure.value, figure.note) for figure in found} == {(None, NO_WHEEL)}


def test_a_pelvis_is_lowered_on_still_soles() -> None:
    """A person's pelvis gets where it is dragged to, and its soles stay."""
    rig, q = next(postured_rigs(None))
    distance, slip, obstacles = lower_pelvis(rig, q)
    assert LOWERING == 0.15
    assert distance < 1.0
    assert slip < 0.1
    assert obstacles == ()
