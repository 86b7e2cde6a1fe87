"""Forces of plates in exports of Qualisys Track Manager."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest

from solver.base.errors import InputError
from solver.formats.recording import find_recordings, list_files_read, read_recording
from solver.options.reading import ReadOptions
from solver.values.wrenches import Wrenches
from tests.formats.recording_files import qtm_text

RATE, SAMPLES = 100.0, 12
FORCE = np.array([30.0, -20.0, 700.0])
"""[N] Of the plate on the body, laboratory's axes, z up."""
FREE_MOMENT = 4.0
CENTRE = np.array([0.3, -0.2, 0.0])
POINT = np.array([0.35, -0.1, 0.0])
"""[m] Centre of pressure."""
AXES = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
"""Columns: the plate's axes; its z points down, its x along the laboratory's y."""
TITLES = [f"{what}_{axis}" for what in ("Force", "Moment", "COP") for axis in "XYZ"]
EXPECTED = np.concatenate([FORCE, np.cross(POINT, FORCE) + np.array([0.0, 0.0, FREE_MOMENT])])


def plate_text(
    *,
    local: bool = True,
    leading: bool = False,
    titles: bool = True,
    about: np.ndarray | None = None,
    centre: np.ndarray = CENTRE,
    moment_unit: float = 1.0,
    on_plate: bool = True,
    load: float = 1.0,
    changes: Mapping[str, str | None] = MappingProxyType({}),
) -> str:
    """A plate under a steady load.

    Args:
        local: in the plate's axes.
        leading: with number and time of the sample.
        titles: with column titles.
        about: reference point of the moment; None: the centre.
        centre: of the plate.
        moment_unit: [N m].
        on_plate: the force on the plate, as the program exports it; its reaction otherwise.
        load: share of the force.
        changes: of the header's entries; None takes one out.
    """
    sign = -1.0 if on_plate else 1.0
    force = sign * load * FORCE
    moment = np.cross(POINT - (centre if about is None else about), force) + np.array(
        [0.0, 0.0, sign * load * FREE_MOMENT]
    )
    point = POINT if load else np.zeros(3)
    if local:
        force, moment, point = force @ AXES, moment @ AXES, (point - centre) @ AXES if load else np.zeros(3)
    corners = {
        name: centre + AXES @ [x * 0.3, y * 0.2, 0.0]
        for name, x, y in (("POSX_POSY", 1, 1), ("NEGX_POSY", -1, 1), ("NEGX_NEGY", -1, -1), ("POSX_NEGY", 1, -1))
    }
    placed = {f"{name}_{axis}": f"{1e3 * x:.3f}" for name, at in corners.items() for axis, x in zip("XYZ", at)}
    where = "local (force plate)" if local else "world (lab)"
    header: dict[str, str | None] = {
        "NO_OF_SAMPLES": str(SAMPLES), "FREQUENCY": f"{RATE:.6f}", "TIME_STAMP": "2022-06-03, 10:47:36.627\t94247.4",
        "FIRST_SAMPLE": "1", "DESCRIPTION": f"Force data in {where} coordinates", "DATA_INCLUDED": "Force",
        "FORCE_PLATE_TYPE": "Bertec", "FORCE_PLATE_MODEL": "Unknown", "FORCE_PLATE_NAME": "BERTEC 3",
        **{f"FORCE_PLATE_CORNER_{key}": value for key, value in placed.items()},
        "FORCE_PLATE_LENGTH": "600.000", "FORCE_PLATE_WIDTH": "400.000", **changes,
    }  # fmt: skip
    lines = [f"{key}\t{value}" for key, value in header.items() if value is not None]
    if titles:
        lines.append("\t".join([*["SAMPLE", "TIME"][: 2 * leading], *TITLES]))
    values = "\t".join(f"{value:.6f}" for value in (*force, *(moment / moment_unit), *(1e3 * point)))
    for k in range(SAMPLES):
        lines.append("\t".join([*[str(k + 1), f"{k / RATE:.5f}"][: 2 * leading], values]) + "\t")
    return "\r\n".join(lines) + "\r\n"


def wrenches_of(path: Path, options: ReadOptions | None = None) -> Wrenches:
    """The forces of a file."""
    found = read_recording(path, options or ReadOptions()).wrenches
    assert found is not None
    return found


@pytest.mark.parametrize("leading", [False, True])
@pytest.mark.parametrize("titles", [False, True])
@pytest.mark.parametrize("local", [False, True])
def test_the_reaction_of_a_plate_is_about_the_origin(local: bool, leading: bool, titles: bool, tmp_path: Path) -> None:
    """In the axes of the plate or of the laboratory, with number and time or without, with titles or without."""
    path = tmp_path / "stand_f_1.tsv"
    path.write_text(plate_text(local=local, leading=leading, titles=titles), newline="")
    found = wrenches_of(path)
    assert found.frames == ("BERTEC 3",)
    np.testing.assert_allclose(found.values[:, 0], np.tile(EXPECTED, (SAMPLES, 1)), atol=1e-4)
    np.testing.assert_allclose(found.times, np.arange(SAMPLES) / RATE, atol=1e-9)


@pytest.mark.parametrize(
    ("local", "about", "unit", "on_plate"),
    [
        (False, np.zeros(3), 1.0, True), (False, CENTRE, 1e-3, True), (False, np.zeros(3), 1e-3, False),
        (True, CENTRE, 1e-3, True), (True, CENTRE, 1.0, False),
    ],
)  # fmt: skip
def test_reference_unit_and_sign_follow_from_the_data(
    local: bool, about: np.ndarray, unit: float, on_plate: bool, tmp_path: Path
) -> None:
    """Moments about the plate or the origin, in N m or N mm, of the load or its reaction: the wrench is the same."""
    path = tmp_path / "stand_f_1.tsv"
    path.write_text(plate_text(local=local, about=about, moment_unit=unit, on_plate=on_plate))
    np.testing.assert_allclose(wrenches_of(path).values[:, 0], np.tile(EXPECTED, (SAMPLES, 1)), atol=1e-4)


def test_all_plates_of_a_trial_are_read_with_its_markers(tmp_path: Path) -> None:
    """Found by their names, in a folder or when one or both are named; an unloaded plate adds nothing."""
    (tmp_path / "stand.tsv").write_text(qtm_text(), newline="")
    plates = [tmp_path / f"stand_f_{number}.tsv" for number in (1, 2, 10)]
    for path, load, beside in zip(plates, (0.25, 0.75, 0.0), (0.0, 0.25, 0.0)):
        path.write_text(plate_text(load=load, centre=CENTRE + np.array([beside, 0.0, 0.0])))
    (tmp_path / "other_f_1.tsv").write_text(plate_text())
    recording = next(each for each in find_recordings(tmp_path) if each.name == "stand")
    assert recording.markers is not None
    assert recording.wrenches.frames == ("BERTEC 3", "BERTEC 3_2", "BERTEC 3_3")
    np.testing.assert_allclose(recording.wrenches.total[0], EXPECTED, atol=1e-4)
    np.testing.assert_allclose(recording.wrenches.values[0, 2], np.zeros(6), atol=1e-9)
    named = read_recording([tmp_path / "stand.tsv", *plates[:2]])
    np.testing.assert_array_equal(named.wrenches.values, recording.wrenches.values)
    assert set(plates) <= set(list_files_read([tmp_path / "stand.tsv", plates[0]]))
    plates[1].write_text(plate_text(load=0.75))
    with pytest.raises(InputError, match="BERTEC 3 and BERTEC 3 cover the same place"):
        read_recording(plates[:2])


def test_a_missing_sample_is_refused_or_left_out(tmp_path: Path) -> None:
    """An empty cell names its sample; on request it is left out."""
    path = tmp_path / "stand_f_1.tsv"
    lines = plate_text().splitlines()
    lines[-3] = "\t" + lines[-3].partition("\t")[2]
    path.write_text("\n".join(lines))
    with pytest.raises(InputError, match=f"sample {SAMPLES - 2}: 1 of {SAMPLES} force samples are missing"):
        wrenches_of(path)
    assert np.isnan(wrenches_of(path, ReadOptions(keep_missing=True)).values[:, 0, 0]).sum() == 1


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"FORCE_PLATE_CORNER_NEGX_NEGY_Z": None}, "FORCE_PLATE_CORNER_NEGX_NEGY_Z: is missing"),
        ({"FORCE_PLATE_CORNER_NEGX_NEGY_Z": "low"}, "FORCE_PLATE_CORNER_NEGX_NEGY_Z: 'low' is not a number"),
        ({"DESCRIPTION": "--"}, "DESCRIPTION: '--' does not say whether"),
        ({"FREQUENCY": None}, "FREQUENCY: has neither a frame rate nor times"),
        ({"FORCE_PLATE_CORNER_POSX_POSY_X": "1500"}, r"its moments put the load \d+ mm from its centre of pressure"),
    ],
)
def test_what_is_wrong_is_one_sentence(changes: dict[str, str | None], words: str, tmp_path: Path) -> None:
    """No corner, no axes, no rate, or a plate elsewhere: each names the entry."""
    path = tmp_path / "stand_f_1.tsv"
    path.write_text(plate_text(local="POSX_POSY_X" not in str(changes), changes=changes))
    with pytest.raises(InputError, match=words) as caught:
        wrenches_of(path)
    assert caught.value.remedy


def test_a_missing_file_is_one_sentence(tmp_path: Path) -> None:
    """Also where its folder is missing."""
    with pytest.raises(InputError, match="does not exist"):
        read_recording(tmp_path / "none" / "stand_f_1.tsv")


def test_plates_of_different_lengths_are_refused(tmp_path: Path) -> None:
    """Plates of one trial have the same samples."""
    (tmp_path / "stand_f_1.tsv").write_text(plate_text())
    (tmp_path / "stand_f_2.tsv").write_text("\n".join(plate_text().splitlines()[:-2]))
    with pytest.raises(InputError, match=r"stand_f_2.tsv: has 10 samples.*stand_f_1.tsv has 12"):
        wrenches_of(tmp_path / "stand_f_1.tsv")
