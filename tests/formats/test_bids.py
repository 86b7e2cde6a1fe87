"""Motion as BIDS stores it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from solver.base.errors import InputError
from solver.formats.bids import read_bids_motion
from solver.formats.recording import find_recordings, list_files_read

NAME = "sub-01_task-walk_tracksys-omc_run-1"
POINTS = ("LASI", "LHEE", "LSHO")
PLACES = np.array([[0.0, 0.1, 1.0], [0.0, 0.1, 0.0], [0.0, 0.2, 1.5]])
"""[m] anterior, left, superior."""
SIDE = np.array([0.0, 1.0, 0.0])


def write(folder: Path, *, axes: str = "ALS", frame: str = "global", places: np.ndarray = PLACES) -> Path:
    """A walk of ten samples at 50 Hz in millimetres, the rate in a description at the study's root."""
    motion = folder / "sub-01" / "motion"
    motion.mkdir(parents=True)
    (folder / "dataset_description.json").write_text("{}")
    (folder / "task-walk_motion.json").write_text('{"SamplingFrequency": 50}')
    (folder / "task-walk_channels.json").write_text(
        json.dumps({"reference_frame": {"Levels": {"global": {"SpatialAxes": axes}}}})
    )
    rows = ["name\tcomponent\ttype\ttracked_point\tunits\treference_frame", "hand_x\tx\tACCEL\thand\tm/s^2\tlocal"]
    rows += [f"{point}_{axis}\t{axis}\tPOS\t{point}\tmm\t{frame}" for point in POINTS for axis in "xyz"]
    (motion / f"{NAME}_channels.tsv").write_text("\n".join(rows) + "\n")
    lines = []
    for sample in range(10):
        moved = 1e3 * (places + 0.01 * sample)
        lines.append("\t".join(["9.81", *(f"{value:.3f}" for value in moved.ravel())]))
    (motion / f"{NAME}_motion.tsv").write_text("\n".join(lines) + "\n")
    return motion / f"{NAME}_motion.tsv"


def test_positions_become_markers(tmp_path: Path) -> None:
    """Channels of type POS are markers in metres, the rate is inherited from the study's root, and the trial is called
    without the tracking system, so that a file of forces can go with it."""
    path = write(tmp_path)
    (recording,) = find_recordings([tmp_path / "sub-01"])
    assert recording.name == "sub-01_task-walk_run-1"
    assert recording.markers.names == POINTS
    np.testing.assert_allclose(recording.markers.positions[0], PLACES, atol=1e-6)
    np.testing.assert_allclose(np.diff(recording.markers.times), 0.02)
    names = {file.name for file in list_files_read([tmp_path / "sub-01"])}
    assert names == {path.name, f"{NAME}_channels.tsv", "task-walk_motion.json", "task-walk_channels.json"}


def test_a_left_handed_frame_is_turned(tmp_path: Path) -> None:
    """Axes anterior, right, superior would reflect the body: y changes its sign, with a warning."""
    path = write(tmp_path, axes="ARS", places=PLACES * (1.0 - 2.0 * SIDE))
    words: list[str] = []
    markers, up = read_bids_motion(path, warn=words.append)
    np.testing.assert_allclose(markers.positions[0], PLACES, atol=1e-6)
    assert up == "z"
    assert "left-handed" in words[0]


def test_stated_axes_that_the_body_contradicts_are_an_error(tmp_path: Path) -> None:
    """SpatialAxes that put the feet above the shoulders are refused."""
    with pytest.raises(InputError, match="the body stands along"):
        read_bids_motion(write(tmp_path, axes="PLI"))


@pytest.mark.parametrize(
    ("end", "old", "new", "words"),
    [
        ("_channels.tsv", "\ttype\t", "\tkind\t", "lacks the columns type"),
        ("_channels.tsv", "LSHO_z\tz\tPOS", "LSHO_z\tz\tVEL", "'LSHO' has 0 channels of component z"),
        ("_channels.tsv", "\tPOS\tLASI\tmm", "\tPOS\tLASI\tfurlong", "unit of length 'furlong'"),
        ("_channels.tsv", "hand_x\tx\tACCEL\thand\tm/s^2\tlocal\n", "", "line 1: the row has 10 cells"),
        ("_motion.tsv", "9.81", "much", "line 1, column 'hand_x': 'much' is not a number"),
    ],
)
def test_what_does_not_fit_is_named(tmp_path: Path, end: str, old: str, new: str, words: str) -> None:
    """A list of channels or a table that cannot be right is one error that names file and place."""
    path = write(tmp_path)
    file = path.with_name(f"{NAME}{end}")
    file.write_text(file.read_text().replace(old, new))
    with pytest.raises(InputError) as error:
        read_bids_motion(path)
    assert words in str(error.value)
    assert error.value.path.parent == path.parent


def test_without_a_rate_or_channels_it_says_what_to_add(tmp_path: Path) -> None:
    """No rate anywhere, or no list of channels: the error names the file that is missing."""
    path = write(tmp_path)
    (tmp_path / "task-walk_motion.json").write_text("{}")
    with pytest.raises(InputError, match=rf"{NAME}_motion\.json: has no SamplingFrequency"):
        read_bids_motion(path)
    path.with_name(f"{NAME}_channels.tsv").unlink()
    with pytest.raises(InputError, match=rf"{NAME}_channels\.tsv: is missing"):
        read_bids_motion(path)


def test_other_tables_of_a_subject_are_passed_over(tmp_path: Path) -> None:
    """Tables of events, scans and angles beside the markers hold no trial of their own."""
    motion = write(tmp_path).parent
    (motion / "sub-01_task-walk_events.tsv").write_text("onset\tduration\n1\t2\n")
    (motion / "sub-01_task-walk_tracksys-imu_motion.tsv").write_text("1\n2\n")
    (motion / "sub-01_task-walk_tracksys-imu_channels.tsv").write_text(
        "name\tcomponent\ttype\ttracked_point\tunits\na\tx\tACCEL\thand\tm/s^2\n"
    )
    assert [recording.name for recording in find_recordings([tmp_path / "sub-01"])] == ["sub-01_task-walk_run-1"]
