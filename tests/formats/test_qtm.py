"""Exports of Qualisys Track Manager."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from solver.base.errors import InputError
from solver.formats.recording import find_recordings, read_recording
from tests.formats.recording_files import FRAMES, MARKERS, STANDING, qtm_text, times


def write(path: Path, *, leading: bool = True, titles: bool = True, changes: Mapping[str, str] | None = None) -> Path:
    """Someone standing still."""
    path.write_text(qtm_text(leading, titles, changes or {}), newline="")
    return path


@pytest.mark.parametrize("leading", [False, True])
@pytest.mark.parametrize("titles", [False, True])
def test_markers_are_metres_z_up(leading: bool, titles: bool, tmp_path: Path) -> None:
    """Frame number, time and titles of columns may be exported or not."""
    (recording,) = find_recordings(write(tmp_path / "stand.tsv", leading=leading, titles=titles).parent)
    assert recording.markers.names == MARKERS
    assert recording.warnings == ()
    np.testing.assert_allclose(recording.markers.positions[0], STANDING, atol=1e-6)
    np.testing.assert_allclose(recording.markers.times, times(), atol=1e-9)


def test_an_external_clock_needs_times(tmp_path: Path) -> None:
    """With the times in the file its rate is known; without them it is not."""
    found = read_recording(write(tmp_path / "clock.tsv", changes={"FREQUENCY": "EXT"})).markers
    np.testing.assert_allclose(found.times, times(), atol=1e-9)
    with pytest.raises(InputError, match="FREQUENCY: has neither a frame rate nor times"):
        read_recording(write(tmp_path / "clock.tsv", changes={"FREQUENCY": "EXT"}, leading=False))


@pytest.mark.parametrize("cells", [("", "", ""), ("NULL", "NULL", "NULL"), ("0.000", "0.000", "0.000")])
def test_a_marker_that_was_not_seen_is_missing(cells: tuple[str, ...], tmp_path: Path) -> None:
    """As empty cells, as NULL and as zeros."""
    path = write(tmp_path / "gap.tsv", titles=False)
    lines = path.read_text().splitlines()
    row = lines[-3].split("\t")
    row[2:5] = cells
    lines[-3] = "\t".join(row)
    path.write_text("\n".join(lines))
    found = read_recording(path).markers
    assert np.argwhere(~found.seen).tolist() == [[FRAMES - 3, 0]]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"DATA_INCLUDED": "2D"}, "DATA_INCLUDED: holds 2D data, not 3D"),
        ({"FREQUENCY": "fast"}, "FREQUENCY: 'fast' is not a number"),
        ({"MARKER_NAMES": "\t".join(MARKERS[:-1] + MARKERS[:1])}, "MARKER_NAMES: marker names occur twice: C7"),
        ({"MARKER_NAMES": "\t".join((*MARKERS, "a", "b"))}, r"line 12: the row has 33 cells, its columns need 36"),
        ({"FREQUENCY": "50"}, "the header states 50 Hz, but the times in the file advance at 100 Hz"),
    ],
)
def test_what_is_wrong_is_one_sentence(changes: dict[str, str], words: str, tmp_path: Path) -> None:
    """Another content, no rate, names twice or too many: each names the entry or the line."""
    with pytest.raises(InputError, match=words) as caught:
        read_recording(write(tmp_path / "broken.tsv", changes=changes))
    assert caught.value.remedy


def test_tables_that_hold_no_markers_are_skipped_in_folders(tmp_path: Path) -> None:
    """Analog channels, and tables of other programs."""
    write(tmp_path / "walk.tsv")
    (tmp_path / "walk_a.tsv").write_text("TOT_NO_OF_CHAN\t1\nDATA_INCLUDED\tANALOG\n0.5\n")
    (tmp_path / "notes.tsv").write_text("a\tb\n1\t2\n")
    assert [recording.name for recording in find_recordings(tmp_path)] == ["walk"]
    with pytest.raises(InputError, match="NO_OF_FRAMES"):
        read_recording(tmp_path / "notes.tsv")
