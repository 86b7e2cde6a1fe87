"""The marker list: recognised by a real child process, edited, saved and chosen as a marker set."""

from __future__ import annotations

from pathlib import Path

import bpy
import pytest

import solver
from addon.jobs.job_messages import find_message
from addon.scene import marker_list
from solver.calibration.marker_set import load_marker_set
from solver.formats.npz import write_recording_npz
from solver.scene.study_folder import CALIBRATION_FILE
from solver.signals.trial import Recording
from solver.values.motion import Markers

HIDDEN = {"LTHI": "U1", "RTIB": "U2", "T10": "U3"}


@pytest.fixture
def recorded(own: Path, tmp_path: Path) -> Path:
    """A simulated static trial, shown and listed, with three markers of unknown names."""
    static = solver.demo.simulated_person().recordings[1].markers
    names = tuple(HIDDEN.get(name, name) for name in static.names)
    path = tmp_path / "static.npz"
    write_recording_npz(path, Recording("static", Markers(static.times[:20], names, static.positions[:20])))
    bpy.ops.exciting_dance.import_recording(directory=str(tmp_path), files=[{"name": path.name}])
    return path


def rows() -> dict[str, marker_list.MarkerListRow]:
    """Rows of the list by marker."""
    return {row.name: row for row in marker_list.marker_list(bpy.context.scene).rows}


def test_marker_set_is_recognised_edited_and_saved(recorded: Path, own: Path, tmp_path: Path) -> None:
    """The recognised locations fill the list; the user's choices survive another recognition; tracking uses them."""
    scene, ops = bpy.context.scene, bpy.ops.exciting_dance
    assert not ops.save_markers.poll()
    assert ops.find_markers() == {"FINISHED"}
    assert rows()["LASI"].place == "left asis"
    assert rows()["U1"].place == "left thigh"
    assert rows()["U1"].because == "motion"
    assert "left shank" not in rows()["LASI"].others
    marker_list.marker_list(scene).index = list(rows()).index("U2")
    assert [item.name for item in bpy.context.selected_objects] == ["U2"]
    assert ops.place_marker(where="right shank") == {"FINISHED"}
    assert rows()["U2"].because == marker_list.CHOSEN_BY_USER
    rows()["U3"].use = False
    assert ops.find_markers() == {"FINISHED"}
    assert (rows()["U2"].place, rows()["U2"].because) == ("right shank", "given")
    assert not rows()["U3"].use
    assert rows()["U1"].because == "motion"
    path = tmp_path / "mine.json"
    assert ops.save_markers(filepath=str(path)) == {"FINISHED"}
    known = load_marker_set(path)
    assert (known.locations["U1"].link, known.locations["U2"].link) == ("left_thigh", "right_shank")
    assert "U3" not in known.locations
    assert scene.exciting_dance.marker_set == str(path)
    scene.exciting_dance.height, scene.exciting_dance.sex = 1.75, "male"
    assert ops.track() == {"FINISHED"}
    (folder,) = own.glob("study-*")
    calibrated = (folder / CALIBRATION_FILE).read_text()
    assert [name for name in ("U1", "U2", "U3") if f'"{name}"' in calibrated] == ["U1", "U2"]


def test_use_markers_selects_all_certain_or_none(recorded: Path) -> None:
    """Markers are selected together: none, all with a location, or only the certain ones."""
    scene, ops = bpy.context.scene, bpy.ops.exciting_dance
    marker_list.fill_list(
        scene,
        {"markers": {"A": {"link": "head", "confidence": 0.2}, "B": {"landmark": "c7"}, "C": {"virtual": "computed"}}},
    )
    assert marker_list.marker_list(scene).index == 0
    for which, ticked in (("none", []), ("all", ["A", "B"]), ("sure", ["B"])):
        assert ops.tick_markers(which=which) == {"FINISHED"}
        assert [name for name, row in rows().items() if row.use] == ticked


def test_unknown_location_is_reported_and_nothing_is_saved(recorded: Path, tmp_path: Path) -> None:
    """A row with an unknown location is an error that suggests the nearest one, and no file is written."""
    marker_list.fill_list(bpy.context.scene, {"markers": {"A": {"landmark": "c7"}}})
    rows()["A"].place = "left shink"
    with pytest.raises(RuntimeError, match="left shank"):
        bpy.ops.exciting_dance.save_markers(filepath=str(tmp_path / "mine.json"))
    assert not (tmp_path / "mine.json").exists()
    assert bpy.context.scene.exciting_dance.marker_set == ""


def test_unrecognised_markers_are_listed(recorded: Path, tmp_path: Path) -> None:
    """If names are unknown, the error is shown and all markers are listed; chosen locations help to find the others."""
    scene = bpy.context.scene
    path = tmp_path / "nameless.npz"
    static = solver.demo.simulated_person().recordings[1].markers
    names = tuple(f"P{k:02d}" for k in range(len(static.names)))
    write_recording_npz(path, Recording("nameless", Markers(static.times[:5], names, static.positions[:5])))
    scene.exciting_dance.files.clear()
    scene.exciting_dance.files.add().path = str(path)
    with pytest.raises(RuntimeError, match="P07"):
        bpy.ops.exciting_dance.find_markers()
    item = find_message(scene, None, "markers")
    assert "P07" in item.message
    assert list(rows()) == list(names)
    assert not any(row.use for row in rows().values())
    known = load_marker_set("plug_in_gait")
    named = ("LASI", "RASI", "LKNE", "RKNE", "LANK", "RANK", "LSHO", "RSHO", "C7", "CLAV", "LELB", "RELB", "LFHD")
    for real, name in zip(static.names, names):
        if real in named:
            rows()[name].place = known.landmarks[real].replace("_", " ")
    assert bpy.ops.exciting_dance.find_markers() == {"FINISHED"}
    found = rows()[names[static.names.index("LTHI")]]
    assert (found.place, found.because, found.use) == ("left thigh", "motion", True)
    assert find_message(scene, None, "markers") is None
