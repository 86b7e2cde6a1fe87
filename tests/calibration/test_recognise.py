"""Marker sets that nobody wrote: names of every convention, and markers that are attached by how they move."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from solver.base.errors import InputError
from solver.calibration import detect_marker_set, fit_calibration, load_marker_set, recognise
from solver.calibration.name_recognition import read_name, read_names
from solver.formats.recording import read_recording
from solver.rigs import human
from solver.scene.marker_set import REVIEW_CONFIDENCE, MarkerRow, apply_decisions
from solver.signals.trial import Recording
from solver.tracking import Attachment
from solver.values.motion import Markers
from tests.tracking.bodies import seen_from, swinging

CONVENTIONS = {
    "left asis": ("LASI", "L_IAS", "L.ASIS", "Subject 1:LASI", "l asis", "ASISl", "LeftASIS", "WaistLFront",
                  "left_anterior_superior_iliac_spine", "EIASG", "SIAS_links"),
    "right lateral_femoral_epicondyle": ("RKNE", "R_FLE", "R.Knee.Lat", "r_knee_study", "RLFC", "RKneeOut", "r knee",
                                         "Genou_ext_D", "Knie_lat_re", "rodilla_der"),
    "right medial_femoral_epicondyle": ("RKNE_med", "Rknee_med", "R_knee_med", "RMFC", "RKM"),
    "left medial_malleolus": ("LMMAL", "L_TAM", "L_mankle", "L.Ankle.Med", "L_mankle_study"),
    "right radial_styloid": ("RWRA", "R_RSP", "R_wrist_radius", "RFAradius"),
    "left lateral_femoral_epicondyle": ("LLE", "L_le", "Lt Lat Knee", "femur_lat_epi_l"),
    "right lateral_humeral_epicondyle": ("REL", "r_el", "RHLE"),
    "right toe_tip": ("RDP1", "RBTOE", "RHLX"),
    "left fifth_metatarsal_head": ("LMT5", "L_FM5", "L_5meta", "LDMT5", "LP5MT", "L_5meta_study", "LD5M"),
    "c7": ("C7", "CV7", "Body:C7", "C7_study"),
}  # fmt: skip


@pytest.mark.parametrize("landmark", CONVENTIONS)
def test_conventions_name_the_same_place(landmark: str) -> None:
    """Names of ten conventions and five languages mean one landmark, whatever prefix, side and case."""
    for name in CONVENTIONS[landmark]:
        found = read_name(name)
        assert found is not None, name
        assert found.landmark == landmark, name


def test_names_without_meaning_are_not_interpreted() -> None:
    """Numbers and initials name no place; what several markers are called alike marks no single landmark."""
    assert [read_name(name) for name in ("P01", "Marker7", "*52", "XYZ", "U12")] == [None] * 5
    assert read_names([f"PT0{k}" for k in range(8)]) == {}
    assert read_name("Probe1").kind == "object"  # type: ignore[union-attr]


def test_names_of_links_and_joint_centres() -> None:
    """Vertebrae have no side, the head of a bone is no head, a given joint centre is one; a second one repeats it."""
    names = ("LT2", "T2", "RS4", "R_fibula_head", "RadiusHead_L", "HeadFib_R", "Head", "LHJC", "RKJC", "R_knee_jc")
    found = read_names(names)
    links = ("left_thigh", "torso", "right_shank", "right_shank", "left_forearm", "right_shank", "head")
    assert tuple(found[name].link for name in names) == (*links, "left_thigh", "right_shank", "")
    assert [found[name].kind for name in names[-3:]] == ["joint centre", "joint centre", "virtual"]


def test_built_in_sets_are_read_by_names_alone() -> None:
    """Of the sets written by hand, nine of ten landmarks are what the name says by itself; no link is wrong."""
    right = wrong = total = 0
    for name in ("plug_in_gait", "bony_landmarks", "limb_clusters", "leg_clusters", "thigh_and_shank_clusters"):
        known = load_marker_set(name)
        read = read_names(list(known.locations))
        for marker, landmark in known.landmarks.items():
            total += 1
            right += marker in read and read[marker].landmark == landmark
        for marker, place in known.locations.items():
            if marker in read and read[marker].link:
                wrong += read[marker].link != place.link
    assert wrong == 0
    assert right > 0.9 * total


@pytest.fixture(scope="module")
def person() -> Recording:
    """A person who swings all joints, with the markers of Plug-in Gait."""
    rig, known = human(1.75, 70.0, "male"), load_marker_set("plug_in_gait")
    joints = {link: joint.position for link, joint in zip(rig.links[1:], rig.joints[1:])}
    marks = [Attachment(name, place.link, place.position(joints, 1.75)) for name, place in known.locations.items()]
    return Recording("moving", seen_from(rig, marks, swinging(rig, 60, amplitude=0.5)))


def renamed(recording: Recording, names: dict[str, str]) -> Recording:
    """Every second frame of the same markers under other names."""
    markers = recording.markers
    changed = tuple(names.get(name, name) for name in markers.names)
    return Recording(recording.name, Markers(markers.times[::2], changed, markers.positions[::2]))


def test_unknown_markers_are_assigned_to_the_link_they_move_with(person: Recording, tmp_path: Path) -> None:
    """Markers whose names are hidden are found on their links; one beside the body on none; the set can be saved."""
    hidden = {"LTHI": "U1", "RTIB": "U2", "RFHD": "U4", "LELB": "U5", "RPSI": "U6", "T10": "U7"}
    other = renamed(person, hidden).markers
    beside = np.tile([3.0, 2.0, 0.5], (len(other.times), 2, 1))
    more = Markers(other.times, (*other.names, "Q9", "Wheelchair"), np.concatenate([other.positions, beside], 1))
    found = recognise([Recording("more", more)])
    known = load_marker_set("plug_in_gait")
    places = {p.marker: p for p in found.proposals}
    assert {name: places[u].place for name, u in hidden.items()} == {
        name: known.locations[name].link for name in hidden
    }
    assert all(places[u].reason == "motion" for u in hidden.values())
    assert places["Q9"].place == places["Wheelchair"].place == ""
    assert places["Wheelchair"].reason == "not of the body"
    assert "not used Q9 (moves with no link); not used Wheelchair (not of the body)" in found.summary
    again = load_marker_set(found.write(tmp_path / "mine.json"))
    assert again.locations["U1"].link == "left_thigh"
    assert again.count_matches(more.names) == len(found.used_proposals)


def test_given_entries_are_kept_and_place_the_others(person: Recording) -> None:
    """Simulated, with names that mean nothing: refused with the names; eight given entries place all others by motion.

    A given marker on the wrong link stays there, with a message that says what it moves with; a rejected one is not
    used.
    """
    hidden = {name: f"P{k:02d}" for k, name in enumerate(person.markers.names)}
    nameless = renamed(person, hidden)
    with pytest.raises(InputError, match="P07"):
        recognise([nameless])
    both = ("ASI", "KNE", "ANK", "SHO", "ELB", "FHD")
    given_names = ("C7", "CLAV", *(side + name for side in "LR" for name in both))
    known = load_marker_set("plug_in_gait")
    rows = [MarkerRow(hidden[name], known.landmarks[name]) for name in given_names]
    rows += [MarkerRow(hidden["LTIB"], "right forearm"), MarkerRow(hidden["T10"], "", use=False)]
    found = recognise([nameless], given=apply_decisions({"name": "mine", "markers": {}}, rows))
    places = {p.marker: p for p in found.proposals}
    assert all(places[hidden[name]].place == known.landmarks[name] for name in given_names)
    assert places[hidden["LTIB"]].place == "right_forearm"
    assert places[hidden["LTIB"]].reason == "given, but moves with left_shank"
    assert places[hidden["LTIB"]].confidence < REVIEW_CONFIDENCE
    assert places[hidden["T10"]].place == ""
    for name in ("LTHI", "RTHI", "RTIB", "STRN"):  # feet have no given marker
        assert places[hidden[name]].place == known.locations[name].link, name
        assert places[hidden[name]].reason == "motion"


EXTRA = {
    "VSAC": ("pelvis", (-0.1155, 0.0, -0.0438)),
    "W1": ("right_thigh", (0.06, -0.05, -0.15)),
    "RKNE_2": ("right_thigh", (0.01, 0.06, -0.41)),
    "LSHA": ("left_shank", (0.05, 0.03, -0.12)),
    "W2": ("torso", (-0.12, 0.06, 0.3)),
    "LFOO": ("left_foot", (0.06, -0.01, 0.01)),
}
"""Markers that Plug-in Gait has not: link and location [m] on it."""


def test_markers_beside_a_set_are_placed_within_2_cm(person: Recording) -> None:
    """Simulated: a built-in set, six more markers on the body, one on the floor and one that swings on a rope.

    The set's markers stay on their landmarks. The others are attached to the right link within 2 cm; those beside the
    body are left out with the reason. ``LFOO`` alone is a marker, though its name is that of a segment's origin.
    """
    rig = human(1.75, 70.0, "male")
    placed = [Attachment(name, link, np.array(at)) for name, (link, at) in EXTRA.items()]
    extra = seen_from(rig, placed, swinging(rig, 60, amplitude=0.5))
    floor = np.tile([0.3, 0.2, 0.0], (60, 1, 1))
    rope = extra.positions[:, :1] + 0.1 * np.sin(extra.times)[:, None, None]
    positions = np.concatenate([person.markers.positions, extra.positions, floor, rope], axis=1)
    names = (*person.markers.names, *extra.names, "Q1", "Q2")
    found = fit_calibration([Recording("more", Markers(extra.times, names, positions))], mass=70.0, sex="male")
    attached = {each.marker: each for each in found.attachments}
    assert attached.keys() == set(names) - {"Q1", "Q2"}
    known = load_marker_set("plug_in_gait").locations
    assert all(attached[name].link == known[name].link for name in person.markers.names)
    for name, (link, location) in EXTRA.items():
        assert attached[name].link == link, name
        assert np.linalg.norm(attached[name].position - location) < 0.02, name
    assert "not used Q1, Q2 (moves with no link)" in found.assumptions[0]
    assert any("not used: Q1, Q2" in warning for warning in found.warnings)


def test_motion_and_distance_together_overrule_a_name(person: Recording) -> None:
    """A marker with the label of another link's is placed on the link that carries it, unless a user says so."""
    wrong = renamed(person, {"LTHI": "RFRM", "RFRM": "X1"})
    for by_name, place in (
        (True, ("left_thigh", "motion")),
        (False, ("right_forearm", "given, but moves with left_thigh")),
    ):
        given = None if by_name else {"name": "mine", "markers": {"RFRM": {"link": "right_forearm"}}}
        found = recognise([wrong], given=given)
        places = {p.marker: (p.place, p.reason) for p in found.proposals}
        assert places["RFRM"] == place
        assert places["LASI"][0] == "left asis"


def test_a_set_that_no_file_describes_is_recognised(person: Recording) -> None:
    """Landmarks under other laboratories' names, clusters under numbers: no set fits; names and motion place them."""
    known = load_marker_set("plug_in_gait")
    sided = {name: landmark.startswith(("left ", "right ")) for name, landmark in known.landmarks.items()}
    others = {name: f"{name[0]}_{name[1:]}_study" if sided[name] else f"{name}_study" for name in sided}
    clusters = {name: f"W{k}" for k, name in enumerate(known.locations) if name not in others}
    recording = renamed(person, others | clusters)
    with pytest.raises(InputError, match="no marker set fits"):
        detect_marker_set(recording.markers.names)
    found = recognise([recording])
    places = {p.marker: p for p in found.proposals}
    assert {name: places[new].place for name, new in others.items()} == {n: known.landmarks[n] for n in others}
    assert (places[clusters["LTHI"]].place, places[clusters["LTHI"]].reason) == ("left_thigh", "motion")
    assert found.calibration.rmse < 0.008


def test_a_body_without_legs_is_refused_by_its_names() -> None:
    """Where the names place no marker on the legs, and fewer say nothing, no body is posed: nothing need be seen."""
    places = load_marker_set("plug_in_gait").locations
    names = [name for name, place in places.items() if not place.link.endswith(("thigh", "shank", "foot"))]
    unseen = Markers(np.arange(5) / 100.0, (*names, *(f"W{k}" for k in range(5))), np.full((5, len(names) + 5, 3), 1.0))
    with pytest.raises(InputError, match=r"no marker is known on right_thigh, .*, left_foot .* Record every link"):
        fit_calibration([Recording("upper", unseen)], mass=70.0, sex="male")


def test_every_marker_of_a_laboratory_is_used(shared_data: Path) -> None:
    """Squats on a flywheel: four markers beside Plug-in Gait are placed, that of the tether is left out with a note."""
    files = [shared_data / "foreign" / f"flywheel_{name}.c3d" for name in ("standing", "squat")]
    found = fit_calibration([read_recording(file) for file in files], mass=81.0, sex="unknown")
    links = {each.marker: each.link for each in found.attachments}
    assert len(links) == 25
    assert [links[name] for name in ("LILC", "RILC", "LMT5", "RMT5")] == ["pelvis", "pelvis", "left_foot", "right_foot"]
    assert "not used TRAC (moves with no link)" in found.assumptions[0]


def test_clusters_under_the_letters_of_vertebrae(shared_data: Path) -> None:
    """Two frames of standing, clusters RT1 to LS4: thighs and shanks, not a trunk; the body fits its markers."""
    found = recognise([read_recording(shared_data / "brought" / "thigh_clusters_type3.c3d")])
    links = {"RT": "right_thigh", "LT": "left_thigh", "RS": "right_shank", "LS": "left_shank"}
    places = {p.marker: p.place for p in found.proposals}
    assert all(places[f"{name}{k}"] == link for name, link in links.items() for k in range(1, 5))
    assert len(found.used_proposals) == 34
    assert found.calibration.rmse < 0.005
