"""Marker sets: built-in sets fit the human rig, recordings find their own, errors say what to do."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from solver.base.errors import InputError, UnknownPreset
from solver.calibration import detect_marker_set, load_marker_set, marker_sets
from solver.formats.trc import read_trc
from solver.rigs import human

RECORDINGS = {
    "subject_a/markers/squats1.trc": "thigh_and_shank_clusters",
    "subject_b/markers/run.trc": "limb_clusters",
    "subject_b/markers/static_walk.trc": "leg_clusters",
    "subject_c/subject01_walk1.trc": "limb_triads",
}


@pytest.mark.parametrize("name", marker_sets())
def test_every_place_lies_on_the_body(name: str) -> None:
    """Each marker of each set names a link of the rig and lies within 60 cm of its joint, the left ones left."""
    rig = human(1.75, 70.0, "male")
    joints = {link: rig.joints[rig.index(link)].position for link in rig.links}
    marker_set = load_marker_set(name)
    assert len(marker_set.locations) >= 17
    for marker, place in marker_set.locations.items():
        position = place.position(joints, 1.75)
        assert place.link in rig.links, marker
        assert np.linalg.norm(position) < 0.6, marker
        assert (place.std > 0.0).all(), marker
    for link in marker_set.joint_centres.values():
        assert link in rig.links


@pytest.mark.parametrize("name", marker_sets())
def test_left_and_right_landmarks_mirror(name: str) -> None:
    """A landmark's left place is the mirror image of its right one."""
    marker_set = load_marker_set(name)
    by_landmark = {landmark: marker_set.locations[m] for m, landmark in marker_set.landmarks.items()}
    mirrored = 0
    for landmark, place in by_landmark.items():
        twin = by_landmark.get(landmark.replace("left ", "right ")) if landmark.startswith("left ") else None
        if twin is not None:
            np.testing.assert_allclose(place.offset, twin.offset * [1.0, -1.0, 1.0])
            assert place.link.replace("left_", "right_") == twin.link
            mirrored += 1
    assert mirrored >= 8


@pytest.mark.parametrize("name", marker_sets())
def test_every_set_is_found_by_most_of_its_names(name: str) -> None:
    """In any order, with every seventh marker missing and two of something else beside, names find their own set."""
    names = list(load_marker_set(name).locations)
    recorded = [marker for k, marker in enumerate(reversed(names)) if k % 7 != 3]
    assert len(recorded) < len(names)
    assert detect_marker_set(["Wand1", *recorded, "Wand2"]) == load_marker_set(name)


@pytest.mark.parametrize(("file", "expected"), RECORDINGS.items())
def test_a_recording_finds_its_marker_set(shared_data: Path, file: str, expected: str) -> None:
    """The set is recognised by the marker names alone."""
    markers = read_trc(shared_data / file, ragged=True)[0]
    assert detect_marker_set(markers.names) == load_marker_set(expected)


def test_capitals_are_ignored_where_unambiguous() -> None:
    """A set is recognised by names in small letters; markers that differ in capitals alone are still distinguished."""
    marker_set = load_marker_set("plug_in_gait")
    assert detect_marker_set([name.lower() for name in marker_set.locations]) == marker_set
    assert marker_set.find_landmark("lasi") == "left asis"
    assert marker_set.find_landmark("Anna:lasi") == "left asis"


def test_an_unknown_set_lists_its_markers_and_says_how_to_write_one() -> None:
    """The error names every unmatched marker and the remedy."""
    names = [f"point_{k}" for k in range(30)]
    with pytest.raises(InputError) as caught:
        detect_marker_set(names, "dance.trc")
    text = str(caught.value)
    assert all(name in text for name in names)
    assert "dance.trc" in text
    assert "landmark" in text
    assert "marker_set" in text


def test_computed_quantities_are_no_unknown_markers() -> None:
    """Joint angles and segment axes in a C3D file count neither for nor against a set."""
    marker_set = load_marker_set("plug_in_gait")
    axes = [f"{segment}{letter}" for segment in ("PEL", "RTI", "RTO") for letter in "OALP"]
    assert marker_set.unknown_names(["LASI", "LHipAngles", *axes, "RTOE"]) == ()
    assert marker_set.unknown_names(["LASI", "Anna:LFOO", "RTIA"]) == ("Anna:LFOO", "RTIA")
    assert marker_set.unknown_names(["WAND1"]) == ("WAND1",)


def test_a_written_set_is_read(tmp_path: Path) -> None:
    """A set of one's own, with a landmark, a free marker, a joint centre and a virtual one."""
    path = tmp_path / "mine.json"
    markers = {
        "hipL": {"landmark": "left asis"},
        "quad": {"link": "left_thigh", "fraction": 0.5, "offset": [0.03, 0.02, 0.0]},
        "HJC": {"joint_centre": "left_thigh"},
        "mid": {"virtual": "middle of two"},
    }
    path.write_text(json.dumps({"name": "mine", "markers": markers, "aliases": {"hl": "hipL"}}))
    mine = load_marker_set(path)
    assert mine.find_location("hl") == mine.find_location("hipL")
    assert not mine.locations["quad"].anatomical
    assert mine.find_joint_centre("HJC") == "left_thigh"
    assert mine.find_location("mid") is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "JSON"),
        ('{"name": "x"}', "markers"),
        ('{"name": "x", "markers": {"a": {"landmark": "left elbow"}}}', "medial_humeral_epicondyle"),
        ('{"name": "x", "markers": {"a": {"offset": [0, 0, 0]}}}', "no link"),
        ("[]", "Write a marker set"),
        ("3", "Write a marker set"),
        ("[" * 100_000, "Write a marker set"),
        ('{"markers": []}', "Write a marker set"),
        (
            '{"name": "x", "markers": {"A": {"landmark": "sacrum"}}, "aliases": {"a": "B"}}',
            "alias 'a': means 'B', which is no marker of the set",
        ),
    ],
)
def test_a_broken_set_is_refused_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    """An error names the file and what is wrong with it, or shows how to write a set; an alias must name a marker."""
    path = tmp_path / "broken.json"
    path.write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        load_marker_set(path)
    assert "broken.json" in str(caught.value)


def test_a_marker_with_a_link_alone_has_a_free_location(tmp_path: Path) -> None:
    """Without an offset a marker is somewhere on its link; seen on it, where it was seen; not used, nowhere."""
    path, seen = tmp_path / "mine.json", {"left_thigh": [0.01, 0.05, -0.1]}
    markers = {
        "A": {"link": "left_thigh"},
        "B": {"link": "left_thigh", "seen": seen, "confidence": 0.4, "because": "motion"},
        "C": {"link": "left_shank", "seen": seen},
        "D": {"landmark": "left heel", "use": False},
    }
    path.write_text(json.dumps({"name": "mine", "markers": markers}))
    places = load_marker_set(path).locations
    assert places["A"].reference_joint == "left_shank"
    assert places["A"].fraction == 0.5
    assert places["B"].offset == pytest.approx([0.01, 0.05, -0.1])
    assert places["B"].std.max() < places["A"].std.min()
    assert places["C"].std == pytest.approx(places["A"].std)
    assert "D" not in places


def test_an_unknown_name_lists_the_known_sets() -> None:
    """A misspelt set names the choices."""
    with pytest.raises(UnknownPreset, match="plug_in_gait"):
        load_marker_set("plugin_gait")


def test_an_edited_set_is_read_again(tmp_path: Path) -> None:
    """A marker set corrected in an open notebook is read with its corrections."""
    path = tmp_path / "mine.json"
    path.write_text(json.dumps({"name": "mine", "markers": {"A": {"landmark": "left asis"}}}), "utf-8")
    assert set(load_marker_set(path).locations) == {"A"}
    path.write_text(json.dumps({"name": "mine", "markers": {"B": {"landmark": "left asis"}}}), "utf-8")
    assert set(load_marker_set(path).locations) == {"B"}


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"landmark": "left asis", "weight": "heavy"}, "marker 'A'.weight: 'heavy' is not a number"),
        ({"landmark": "left asis", "weight": -1.0}, "marker 'A': .*weight -1"),
        ({"landmark": "left asis", "colour": "red"}, "unknown entry 'colour'"),
        ({"landmark": ["left", "asis"]}, "marker 'A'.landmark"),
        ({"link": "left_tigh", "offset": [0, 0, 0]}, "unknown link 'left_tigh'"),
        ({"joint_centre": "left_knee"}, "unknown link 'left_knee'"),
        ({"link": "left_thigh", "offset": [0, 0]}, "marker 'A'.offset: has 2 entries"),
        ({"link": "left_thigh", "offset": [0, 0, "nan"]}, "not finite"),
        ({"link": "left_thigh", "offset": [0, 0, 0], "spread": 0}, "spread must be positive"),
        ({"link": "left_hand", "offset": [0, 0, 0], "fraction": 0.5}, "no link follows 'left_hand'"),
        ("left asis", "is not a JSON object"),
    ],
)
def test_a_wrong_marker_is_named(entry: object, message: str, tmp_path: Path) -> None:
    """The error names the file, the marker, its entry and what is wrong with it."""
    path = tmp_path / "mine.json"
    path.write_text(json.dumps({"name": "mine", "markers": {"A": entry}}), "utf-8")
    with pytest.raises(InputError, match=message) as caught:
        load_marker_set(path)
    assert "mine.json" in str(caught.value)
    assert "Write a marker set" in str(caught.value)
