"""A marker set as people approve it: rows, decisions, and the file that stays a marker set."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from solver.calibration.markerset_file import load_marker_set
from solver.errors import InputError, UnknownPlace
from solver.scene.marker_set import (
    PlacedMarker,
    approved,
    place_named,
    placed_markers,
    places,
    read_tree,
    write_tree,
)
from solver.scene.words import spoken

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


def test_every_place_has_one_name_that_people_say() -> None:
    """Landmarks and links differ as they are said, too, and each is found again by its words."""
    assert len({spoken(place) for place in places()}) == len(places())
    assert all(place_named(spoken(place).title()) == place for place in places())
    with pytest.raises(UnknownPlace, match="left shank"):
        place_named("left shink")


def test_rows_tell_what_was_found() -> None:
    """Place, certainty, cause, and the links that it could be instead; what is not sure is to be looked at."""
    rows = {row.marker: row for row in placed_markers(FOUND)}
    assert rows["LASI"] == PlacedMarker("LASI", "left asis", True, 0.98, "name and motion")
    assert rows["U1"].others == ("left_shank",)
    assert [row.marker for row in rows.values() if row.doubtful] == ["U1"]
    assert not rows["Probe"].use
    assert rows["Probe"].because == "not of the body"


def test_nothing_decided_changes_nothing() -> None:
    """Rows that come back as they went leave every marker as it was found."""
    assert approved(FOUND, placed_markers(FOUND))["markers"] == FOUND["markers"]


def test_decisions_come_back_from_the_file(tmp_path: Path) -> None:
    """Changed, rejected, named for the first time, accepted again: the file is a marker set that says so."""
    rows = {row.marker: row for row in placed_markers(FOUND)}
    changed = [
        replace(rows["U1"], place="left shank"),
        replace(rows["U2"], use=False),
        replace(rows["Probe"], place="right_hand", use=True),
        PlacedMarker("New", "right heel"),
    ]
    path = write_tree(tmp_path / "mine.json", approved(FOUND, changed))
    known, again = load_marker_set(path), {row.marker: row for row in placed_markers(read_tree(path))}
    assert known.places["U1"].link == "left_shank"
    assert known.places["U1"].offset == pytest.approx([0.0, 0.04, 0.1])
    assert (again["U1"].confidence, again["U1"].because) == (1.0, "chosen")
    assert "U2" not in known.places
    assert (again["U2"].place, again["U2"].use) == ("torso", False)
    assert known.places["Probe"].link == "right_hand"
    assert known.landmarks["New"] == "right heel"
    accepted = approved(read_tree(path), [replace(again["U2"], use=True)])
    assert accepted["markers"]["U2"] == FOUND["markers"]["U2"]


def test_a_file_without_markers_is_refused(tmp_path: Path) -> None:
    """What is no marker set is no list to approve either."""
    path = tmp_path / "other.json"
    path.write_text('{"name": "x"}')
    with pytest.raises(InputError, match="no markers"):
        read_tree(path)
