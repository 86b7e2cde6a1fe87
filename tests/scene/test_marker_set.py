"""Marker sets for approval: rows, decisions and the file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from solver.base.errors import InputError, UnknownLandmark
from solver.calibration.marker_set import load_marker_set
from solver.scene.labels import display_name
from solver.scene.marker_set import (
    MarkerRow,
    apply_decisions,
    marker_locations,
    marker_rows,
    parse_location,
    read_marker_set_tree,
    write_marker_set_tree,
)

FOUND: dict[str, Any] = {
    "name": "recognised",
    "markers": {
        "LASI": {"landmark": "left asis", "confidence": 0.98, "because": "name and motion"},
        "U1": {
            "link": "left_thigh",
            "confidence": 0.4,
            "because": "motion",
            "seen": {"left_thigh": [0.0, 0.05, -0.1], "left_shank": [0.0, 0.04, 0.1]},
        },
        "U2": {"link": "torso", "confidence": 0.9, "because": "motion"},
        "Probe": {"virtual": "not of the body"},
    },
}


def test_location_names_are_unique() -> None:
    """Names of landmarks and links differ as displayed too, and each is parsed to its location."""
    assert len({display_name(place) for place in marker_locations()}) == len(marker_locations())
    assert all(parse_location(display_name(place).title()) == place for place in marker_locations())
    with pytest.raises(UnknownLandmark, match="left shank"):
        parse_location("left shink")


def test_rows_have_locations_and_alternatives() -> None:
    """Rows have location, confidence, reason and alternatives; uncertain ones need a review."""
    rows = {row.marker: row for row in marker_rows(FOUND)}
    assert rows["LASI"] == MarkerRow("LASI", "left asis", True, 0.98, "name and motion")
    assert rows["U1"].alternatives == ("left_shank",)
    assert [row.marker for row in rows.values() if row.needs_review] == ["U1"]
    assert not rows["Probe"].use
    assert rows["Probe"].reason == "not of the body"


def test_unchanged_rows_change_nothing() -> None:
    """Rows that are returned unchanged leave every marker unchanged."""
    assert apply_decisions(FOUND, marker_rows(FOUND))["markers"] == FOUND["markers"]


def test_decisions_come_back_from_the_file(tmp_path: Path) -> None:
    """Changed, rejected, first named and accepted again: the file is a marker set with these decisions."""
    rows = {row.marker: row for row in marker_rows(FOUND)}
    changed = [
        replace(rows["U1"], location="left shank"),
        replace(rows["U2"], use=False),
        replace(rows["Probe"], location="right_hand", use=True),
        MarkerRow("New", "right heel"),
    ]
    path = write_marker_set_tree(tmp_path / "mine.json", apply_decisions(FOUND, changed))
    known, again = load_marker_set(path), {row.marker: row for row in marker_rows(read_marker_set_tree(path))}
    assert known.locations["U1"].link == "left_shank"
    assert known.locations["U1"].offset == pytest.approx([0.0, 0.04, 0.1])
    assert (again["U1"].confidence, again["U1"].reason) == (1.0, "chosen")
    assert "U2" not in known.locations
    assert (again["U2"].location, again["U2"].use) == ("torso", False)
    assert known.locations["Probe"].link == "right_hand"
    assert known.landmarks["New"] == "right heel"
    accepted = apply_decisions(read_marker_set_tree(path), [replace(again["U2"], use=True)])
    assert accepted["markers"]["U2"] == FOUND["markers"]["U2"]


def test_a_file_without_markers_is_refused(tmp_path: Path) -> None:
    """A file that is not a marker set cannot be approved."""
    path = tmp_path / "other.json"
    path.write_text('{"name": "x"}')
    with pytest.raises(InputError, match="no markers"):
        read_marker_set_tree(path)
