"""Markers and forces of one trial belong together, or are refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import solver
from solver.base.errors import InputError
from solver.formats.csv_tables import write_markers_csv, write_wrenches_csv
from solver.formats.opensim_storage import write_storage
from solver.formats.recording import find_recordings, pair_files, read_recording
from solver.input_checks import check_recording
from solver.options.reading import ReadOptions
from solver.scene.motion import find_trial_files, read_trials
from solver.storage.output_folder import write_folder
from tests.formats.recording_files import force_names, standing_mot, standing_trc, times, to_y_up, write_mot


def test_a_pair_becomes_one_trial_at_two_rates(tmp_path: Path) -> None:
    """Markers keep 100 Hz, forces 1000 Hz; the name is the stem."""
    recording = read_recording([standing_trc(tmp_path / "walk.trc"), standing_mot(tmp_path / "walk_grf.mot")])
    assert recording.name == "walk"
    assert recording.markers.rate == pytest.approx(100.0)
    assert recording.wrenches.rate == pytest.approx(1000.0)
    assert recording.warnings == ()


def test_csv_pairs_read_like_the_files_they_came_from(tmp_path: Path) -> None:
    """Markers and forces written as CSV and read again are the same trial."""
    first = read_recording([standing_trc(tmp_path / "walk.trc"), standing_mot(tmp_path / "walk.mot")])
    assert first.markers is not None
    assert first.wrenches is not None
    write_markers_csv(tmp_path / "w_markers.csv", first.markers)
    write_wrenches_csv(tmp_path / "w_forces.csv", first.wrenches)
    second = read_recording([tmp_path / "w_forces.csv", tmp_path / "w_markers.csv"])
    assert second.name == "w"
    np.testing.assert_allclose(second.markers.positions, first.markers.positions, atol=1e-12)
    np.testing.assert_allclose(second.wrenches.values, first.wrenches.values, atol=1e-8)


def test_forces_at_another_time_are_refused(tmp_path: Path) -> None:
    """No common time means two trials, or two clocks."""
    files = [standing_trc(tmp_path / "a.trc"), standing_mot(tmp_path / "a.mot", start=60.0)]
    with pytest.raises(InputError, match="do not overlap") as caught:
        read_recording(files)
    assert caught.value.path == files[1]


def test_a_centre_of_pressure_outside_the_body_is_refused(tmp_path: Path) -> None:
    """5 mm read as 5 m lies outside the body, until the unit is stated."""
    files = [standing_trc(tmp_path / "a.trc"), standing_mot(tmp_path / "a.mot", point=(5.0, 2.0, 0.0))]
    with pytest.raises(InputError, match="mm"):
        check_recording(read_recording(files))
    assert read_recording(files, ReadOptions(force_units="mm")).wrenches is not None


def test_markers_and_forces_in_different_axes_are_refused(tmp_path: Path) -> None:
    """Y-up markers with z-up forces are an error until the axes are stated."""
    files = [standing_trc(tmp_path / "a.trc"), standing_mot(tmp_path / "a.mot", y_up=False)]
    with pytest.raises(InputError, match="y is up"):
        read_recording(files)
    assert read_recording(files, ReadOptions(up="y", force_up="z")).wrenches is not None


@pytest.mark.parametrize("up", ["z", "x"])
def test_a_wrong_stated_axis_is_refused(tmp_path: Path, up: str) -> None:
    """Y-up files stated to be z-up contradict the body's own vertical."""
    with pytest.raises(InputError, match="State up = y"):
        read_recording([standing_trc(tmp_path / "a.trc"), standing_mot(tmp_path / "a.mot")], ReadOptions(up=up))


def test_an_empty_plate_takes_the_markers_axis(tmp_path: Path) -> None:
    """Forces that are zero throughout show no axis and need none."""
    files = [standing_trc(tmp_path / "a.trc"), write_mot(tmp_path / "a.mot", force_names(), times(), np.zeros((11, 9)))]
    wrenches = read_recording(files).wrenches
    np.testing.assert_array_equal(wrenches.values, 0.0)


def test_wrong_files_are_refused(tmp_path: Path) -> None:
    """Unknown suffixes, missing files, two of a kind, one sample of forces, an empty folder: one error each."""
    trc = standing_trc(tmp_path / "a.trc")
    (tmp_path / "a.docx").write_text("x")
    lines = standing_mot(tmp_path / "many.mot").read_text().rstrip().split("\n")
    (tmp_path / "one.mot").write_text("\n".join([*lines[: lines.index("endheader") + 3], ""]))
    (tmp_path / "empty").mkdir()
    for paths, words in [
        ([tmp_path / "a.docx"], "not a known format"),
        ([tmp_path / "none.trc"], "does not exist"),
        ([tmp_path / "none.xyz"], "does not exist"),
        ([trc, standing_trc(tmp_path / "b.trc")], "so does"),
        ([tmp_path / "one.mot"], "holds 1 frame of forces"),
        ([], "no file"),
    ]:
        with pytest.raises(InputError, match=words):
            read_recording(paths)
    with pytest.raises(InputError, match="holds no recording"):
        find_recordings([tmp_path / "empty"])


def test_semicolons_and_decimal_commas_are_reported_with_the_remedy(tmp_path: Path) -> None:
    """Named or in a folder, a recording that a spreadsheet saved elsewhere says how to save it, other tables pass."""
    standing_trc(tmp_path / "walk.trc")
    (tmp_path / "other.csv").write_text("name;note\nwalk;1,5\n")
    assert len(pair_files([tmp_path])) == 1
    path = tmp_path / "forces.csv"
    path.write_text("time [s];plate.fx [N];plate.fy [N];plate.fz [N]\n0,00;1,5;0,0;700,2\n0,01;1,5;0,0;700,2\n")
    for given in (path, tmp_path):
        with pytest.raises(InputError, match="semicolons") as caught:
            pair_files([given])
        assert caught.value.path == path
        assert "decimal points" in caught.value.remedy


def test_folders_are_paired_by_name_and_the_rest_is_passed_over(tmp_path: Path) -> None:
    """Two subjects with trials of the same name stay apart; joint angles beside them are no forces."""
    for subject in ("s1", "s2"):
        for folder in ("markers", "forces", "ik"):
            (tmp_path / subject / folder).mkdir(parents=True)
        standing_trc(tmp_path / subject / "markers/walk.trc")
        standing_mot(tmp_path / subject / "forces/walk.mot")
        write_mot(tmp_path / subject / "ik/walk.mot", ["knee"], times(), np.zeros((11, 1)))
    pairs = pair_files([tmp_path])
    assert [name for name, _ in pairs] == ["s1_walk", "s2_walk"]
    for _, (markers, forces) in pairs:
        assert markers.parent.parent == forces.parent.parent
        assert forces.parent.name == "forces"


def test_a_laboratory_s_folder_is_its_trials(tmp_path: Path) -> None:
    """Markers and forces of each trial pair by their names, one spelt with _grf; a static trial has no forces."""
    for folder in ("markers", "forces"):
        (tmp_path / folder).mkdir()
    for name in ("jump", "squats1", "walk"):
        standing_trc(tmp_path / "markers" / f"{name}.trc")
        standing_mot(tmp_path / "forces" / f"{name}{'_grf' if name == 'walk' else ''}.mot")
    standing_trc(tmp_path / "markers" / "static.trc")
    recordings = find_recordings([tmp_path])
    assert [r.name for r in recordings] == ["jump", "squats1", "static", "walk"]
    assert [r.name for r in recordings if r.wrenches is None] == ["static"]
    assert all(r.markers is not None and not r.warnings for r in recordings)


def test_forces_outside_the_markers_time_place_nobody(tmp_path: Path) -> None:
    """Somebody who steps off to another plate after the cameras stopped still stood under the markers before."""
    frame = to_y_up(np.array([[3.0, -2.0, 700.0], [0.05, 0.0, 0.0], [0.0, 0.0, 1.5]]))
    stamps = times(400, 1000.0)
    rows = np.tile(frame.reshape(-1), (len(stamps), 1))
    rows[stamps > 0.1, 3] += 3.0
    files = [standing_trc(tmp_path / "a.trc"), write_mot(tmp_path / "a.mot", force_names(), stamps, rows)]
    assert check_recording(read_recording(files)).wrenches is not None
    rows[:, 3] = 3.0
    write_mot(tmp_path / "a.mot", force_names(), stamps, rows)
    with pytest.raises(InputError, match="from the nearest marker near the floor"):
        check_recording(read_recording(files))


def test_subject_a_is_eight_trials(shared_data: Path) -> None:
    """All eight trials pair, overlap, and act under the body, without a warning."""
    recordings = find_recordings([shared_data / "subject_a"])
    names = [r.name for r in recordings]
    assert names == ["DJ1", "DJ2", "DJAsym1", "STS1", "squats1", "static1", "walking1", "walkingTI1"]
    assert all(r.markers is not None and r.wrenches is not None and not r.warnings for r in recordings)


@pytest.mark.parametrize(
    ("folder", "pairs", "alone"), [("subject_b", {"run", "walk"}, {"static_run", "static_walk"}),
                                   ("subject_c", {"subject01_walk1"}, {"subject01_static"}),
                                   ("walk_d", {"walk_d"}, set())]
)  # fmt: skip
def test_other_subjects(shared_data: Path, folder: str, pairs: set[str], alone: set[str]) -> None:
    """Dynamic trials find their forces, static ones have none."""
    recordings = find_recordings([shared_data / folder])
    assert {r.name for r in recordings if r.wrenches is not None} == pairs
    assert {r.name for r in recordings if r.wrenches is None} == alone
    assert all(r.markers is not None for r in recordings)


@pytest.mark.parametrize("door", [solver.load, read_trials, find_trial_files])
@pytest.mark.parametrize(
    "given", [str, Path, lambda path: [path], lambda path: iter((str(path),)), lambda path: {path}]
)
def test_one_path_is_as_good_as_several(
    door: Callable[[Any], Any], given: Callable[[Path], Any], tmp_path: Path
) -> None:
    """A string, a Path, or any iterable of one of them gives the same trial, of a file and of a folder."""
    file = standing_trc(tmp_path / "walk.trc")
    for path in (file, tmp_path):
        found = door(given(path))
        names = list(found) if isinstance(found, dict) else [recording.name for recording in found]
        assert names == ["walk"]


def tracked_into(folder: Path) -> None:
    """Results as `track` writes them: joint coordinates of a trial, which would be read as a recording."""
    with write_folder(folder) as building:
        write_storage(building / "walk.mot", times(), ["knee"], np.zeros((11, 1)), in_degrees=True)


@pytest.mark.parametrize("output", ["results", ".", "of/anna"])
def test_results_among_the_recordings_are_not_read(output: str, tmp_path: Path) -> None:
    """A run whose output lies in the folder of its recordings reads the same files the second time."""
    standing_trc(tmp_path / "squat.trc")
    before = pair_files(tmp_path)
    tracked_into(tmp_path / output)
    assert pair_files(tmp_path) == before
    tracked_into(tmp_path / output)
    assert pair_files(tmp_path) == before


def test_a_changed_or_named_result_is_read(tmp_path: Path) -> None:
    """A result counts as a recording where its folder or file is named and nothing else is there, or once changed."""
    tracked_into(tmp_path / "results")
    for named in (tmp_path / "results", tmp_path / "results" / "walk.mot"):
        assert [name for name, _ in pair_files(named)] == ["walk"]
    with pytest.raises(InputError, match="only results of this program"):
        pair_files(tmp_path)
    write_storage(tmp_path / "results" / "walk.mot", times(), ["knee"], np.ones((11, 1)), in_degrees=True)
    assert [name for name, _ in pair_files(tmp_path)] == ["walk"]
