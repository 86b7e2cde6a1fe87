"""The vertical is found from a body's shape and never contradicted in silence."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from solver.base.errors import InputError
from solver.formats.axes_and_units import (
    UP_CHOICES,
    find_landmarks,
    length_in_metres,
    reconcile_up,
    resolve_up,
    to_z_up,
    up_from_extent,
    up_from_markers,
    up_from_names,
)
from solver.formats.trc import read_trc
from tests.formats.recording_files import MARKERS, STANDING, standing_trc

AXES = [up for up in UP_CHOICES if up != "auto"]


@pytest.mark.parametrize("up", AXES)
def test_the_map_to_z_up_is_a_rotation_that_lifts_the_axis_named(up: str) -> None:
    """Orthogonal, determinant 1 (right stays right), and the file's up becomes +z."""
    rotation = to_z_up(up)
    vertical = np.zeros(3)
    vertical["xyz".index(up[-1])] = -1.0 if up.startswith("-") else 1.0
    np.testing.assert_array_equal(rotation @ rotation.T, np.eye(3))
    assert np.linalg.det(rotation) == pytest.approx(1.0)
    np.testing.assert_array_equal(rotation @ vertical, [0.0, 0.0, 1.0])


def test_y_up_maps_forward_up_right_to_forward_left_up() -> None:
    """(x, y, z) with x forward, y up, z right becomes (x, -z, y)."""
    np.testing.assert_array_equal(to_z_up("y") @ [1.0, 2.0, 3.0], [1.0, -3.0, 2.0])


@pytest.mark.parametrize("up", AXES)
def test_the_vertical_of_a_standing_body_is_found_in_every_orientation(up: str) -> None:
    """However the body is turned into the file's axes, the vertical found is the one it was turned by."""
    positions = np.tile(STANDING, (4, 1, 1)) @ to_z_up(up)
    assert up_from_markers(MARKERS, positions) == up


def test_outstretched_arms_do_not_tip_the_body_over() -> None:
    """A T-pose is wider than it is high without head markers; the names of feet and shoulders decide."""
    names = (*MARKERS, "L_wrist", "R_wrist")
    wide = np.concatenate([STANDING, [[0.0, 0.85, 1.35], [0.0, -0.85, 1.35]]])
    assert np.ptp(wide[:, 1]) > np.ptp(wide[:, 2])
    assert up_from_markers(names, wide[None]) == "z"


def test_one_misleading_name_does_not_turn_the_body() -> None:
    """Metatarsals are no vertebrae, the head of the fibula is no head, and a wrong label is outvoted by the others."""
    low = find_landmarks(("R.MT1", "LT2", "R_Fibula_Head", "MT5_head", "C7", "T10", "Head"))
    assert low.high == (4, 5, 6)
    positions = np.tile(np.concatenate([STANDING, [[0.0, 0.1, 0.02]]]), (4, 1, 1))
    assert up_from_names((*MARKERS, "Chest"), positions) == "z"


def test_without_names_a_cube_of_markers_has_no_vertical() -> None:
    """Equal extents give no answer, and no answer is an error unless the axis is stated."""
    cube = np.array([[[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)]])
    assert up_from_extent(cube) is None
    with pytest.raises(InputError, match="State it"):
        resolve_up("auto", None, "cube")
    assert resolve_up("y", None, "cube") == "y"


@pytest.mark.parametrize(
    ("unit", "metres"),
    [("mm", 1e-3), ("mete", 1.0), ("Meters", 1.0), ("cm", 0.01), ("inch", 0.0254), ("inches", 0.0254), ("(mm)", 1e-3)],
)
def test_units_of_length(unit: str, metres: float) -> None:
    """Units in words, symbols, brackets and cut to four letters."""
    assert length_in_metres(unit, "file") == metres


def test_an_unknown_unit_is_named() -> None:
    """What is no length is refused by name."""
    with pytest.raises(InputError, match="furlong"):
        length_in_metres("furlong", "file")


def test_a_standing_person_s_file_is_found_y_up(tmp_path: Path) -> None:
    """A TRC as OpenSim has it: feet near the floor, the neck highest; another axis is refused with the right one."""
    markers = read_trc(standing_trc(tmp_path / "standing.trc"))[0]
    np.testing.assert_allclose(markers.positions, np.tile(STANDING, (len(markers), 1, 1)), atol=1e-6)
    for up in ("z", "x", "-y"):
        with pytest.raises(InputError, match="State up = y"):
            read_trc(tmp_path / "standing.trc", up=up)[0]


@pytest.mark.parametrize("name", ["WheelchairFront", "L.Shank.Front", "gauche_ext", "RNormalisedGRF", "SACR", "LMET1"])
def test_letters_inside_another_word_name_no_place(name: str) -> None:
    """A wheelchair holds no heel, a shank no ankle, a sacrum no acromion: such names turn no body upside down."""
    high = np.array([[[0.0, 0.0, 2.0], [0.0, 0.0, 1.0]]])
    assert up_from_names((name, "C7"), high) in (None, "-z" if name in ("SACR", "LMET1") else None)
    assert up_from_names((name, "RHEE"), high) in (None, "z" if name == "SACR" else None)


@pytest.mark.parametrize(
    "name", ["RHEE", "R.Heel", "r_heel", "RightHeel", "l heel", "LCAL2", "LLMAL", "r_5meta", "LANKin"]
)
def test_feet_are_known_by_their_whole_words(name: str) -> None:
    """Spellings of laboratories: with side, point, number or capitals."""
    assert up_from_names((name, "C7"), np.array([[[0.0, 0.0, 0.1], [0.0, 0.0, 1.5]]])) == "z"


def test_evidence_that_agrees_wins_and_contradictions_are_reported() -> None:
    """A header that alone has the floor above is overruled with a warning; a tie of equals is an error."""
    messages: list[str] = []
    found = reconcile_up(
        {"the body": None, "the plates": "z", "the extent": "z", "the header": "-z"}, "a.c3d", messages.append
    )
    assert found == "z"
    assert len(messages) == 1
    assert "-z is up by the header" in messages[0]
    for evidence in (
        {"the body": None, "the plates": None, "the extent": "x", "the header": "z"},
        {"the body": None, "the plates": "y", "the extent": "z", "the header": "z"},
    ):
        with pytest.raises(InputError, match=r"contradict each other.*--up"):
            reconcile_up(evidence, "a.c3d", messages.append)
    assert reconcile_up({"the body": None, "the plates": None}, "a.c3d", messages.append) is None
    assert len(messages) == 1


def test_a_seated_body_without_feet_stands_along_its_trunk() -> None:
    """Pelvis and sternum show the vertical where no foot has a marker."""
    assert up_from_names(("LASI", "STER"), np.array([[[0.0, 0.9, 0.0], [0.0, 1.4, 0.1]]])) == "y"
